//! `pkgres pin --check`

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use pkgres_checks::{BoundPackages, check_objects, check_pinned, check_previous_versions};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, capped};
use pkgres_manifest::{ContractPlace, ObjectModel, Release, VersionPin};
use pkgres_registry_client::{
    ObjectReleases, RegistrySet, releases_in_conflict, releases_without_contracts,
};
use pkgres_resolver::{Conflict, ContractScope, Resolution};
use serde_json::{Value, json};

use super::{PinInput, Plan, Planned, Unplanned, used_packages};
use crate::bound_release::bound_packages;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::invocation::quoted;
use crate::output::Output;
use crate::show::{self, counted};
use crate::solve_task::{Searched, SolveTask, lists_all, report_conflict};

/// A model and versions to check it with.
struct Checkable {
    model: Arc<ObjectModel>,
    /// The errors in the headers of objects.
    findings: Vec<Diagnostic>,
    /// What contradicts each other.
    conflicts: Vec<Conflict>,
    /// The contracts that take part in these conflicts.
    violated: BTreeSet<ContractPlace>,
    /// The releases that define the classes of the objects, as far as there are any.
    releases: Vec<Option<Release>>,
    resolution: Option<Box<Resolution>>,
    registries: RegistrySet,
}

/// Checks a model: that every object is pinned, that the versions exist and fit together, and that the values satisfy
/// the contracts. Whatever can be checked without versions that fit together is checked without them.
pub(super) fn run(
    model: ObjectModel,
    path: &Path,
    input: PinInput,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let mut findings = check_pinned(&model);
    let is_pinned = findings.is_empty();
    let checkable = match Planned::find(model, input, context)? {
        Plan::Planned(planned) => with_versions(*planned, context, output)?,
        Plan::Wrong(unplanned) => with_some_versions(*unplanned, context)?,
    };
    let Checkable {
        model, conflicts, ..
    } = &checkable;
    findings.extend(checkable.findings.iter().cloned());
    let packages = match &checkable.resolution {
        Some(resolution) => bound_packages(resolution, &checkable.registries, context)?,
        None => BoundPackages::default(),
    };
    let report = check_objects(model, &packages, &checkable.releases, &checkable.violated);
    findings.extend(report.findings);
    let not_checked = report.not_checked;
    if is_pinned
        && checkable.findings.is_empty()
        && conflicts.is_empty()
        && let Some(resolution) = &checkable.resolution
    {
        findings.extend(check_previous_versions(model, &used_packages(resolution)));
    }
    findings.extend(
        not_checked
            .iter()
            .map(|written| contract_not_checked(written)),
    );
    hint_at_pinning(&mut findings, path, context);
    if path != Path::new("-") && conflicts.is_empty() {
        suggest_pinning(&mut findings, path, context);
    }
    let wrong = findings.iter().filter(|finding| finding.is_error()).count();
    let warnings = findings.iter().filter(|it| it.is_warning()).count();
    let errors = wrong + conflicts.len();
    let findings = capped(findings);
    if !conflicts.is_empty() || !checkable.findings.is_empty() {
        output.remarks(separate_versions(&checkable));
    }
    let objects = model.objects().len();
    if output.is_json() {
        let mut document = document(conflicts, errors);
        document["objects"] = json!(objects);
        document["diagnostics"] = show::diagnostics_json(&findings);
        document["not_checked"] = json!(not_checked);
        output.json(&document);
    } else {
        output.findings(&findings);
        output.note(&format!(
            "Checked {}: {}, {}",
            counted(objects, "object"),
            counted(errors, "error"),
            counted(warnings, "warning")
        ));
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Adds the command that pins a model to the errors about missing versions, unless there are others: then nothing can be
/// pinned yet.
fn suggest_pinning(findings: &mut [Diagnostic], path: &Path, context: &Context) {
    let is_missing = |finding: &Diagnostic| finding.code == Code::ModelUnpinned;
    if findings.iter().any(|it| it.is_error() && !is_missing(it)) {
        return;
    }
    let words = format!("pin {} --in-place", quoted(path));
    let command = context.invocation.command_for_none(&words);
    for finding in findings
        .iter_mut()
        .filter(|it| is_missing(it) && it.is_error())
    {
        finding.add_hint(format!("`{command}` writes what is missing"));
    }
}

/// Replaces hints that are options for pinning, which a check does not take, by commands that pin the model.
fn hint_at_pinning(findings: &mut [Diagnostic], path: &Path, context: &Context) {
    let target = if path == Path::new("-") {
        ""
    } else {
        " --in-place"
    };
    let of_gone = findings.iter_mut().filter(|it| it.code == Code::ModelGone);
    for hint in of_gone.flat_map(|finding| &mut finding.hints) {
        let option = hint.strip_prefix('`').and_then(|hint| hint.split_once('`'));
        let Some((options, effect)) = option.filter(|(options, _)| options.starts_with("--"))
        else {
            continue;
        };
        let words = format!("pin {} {options}{target}", quoted(path));
        let command = context.invocation.command_for_none(&words);
        *hint = format!("`{command}`{effect}");
    }
}

/// The answer in JSON without the findings: the conflicts, or whether the check passed.
fn document(conflicts: &[Conflict], errors: usize) -> Value {
    let Some((first, others)) = conflicts.split_first() else {
        return json!({
            "schema_version": 1,
            "status": if errors == 0 { "passed" } else { "failed" },
        });
    };
    let mut document = show::conflict_document(first);
    if !others.is_empty() {
        document["other_conflicts"] = others.iter().map(show::conflict_json).collect();
    }
    document
}

/// The warning about a contract with an expression that cannot be checked.
fn contract_not_checked(contract: &str) -> Diagnostic {
    let shown = Escaped::shortened(contract);
    Diagnostic::warning(Code::ContractNotChecked, format!("not checked: `{shown}`"))
}

/// Finds versions with which the values of a model are right, or else those with which its objects are of the right
/// classes, so that all wrong values can be found. Conflicts between classes are reported.
fn with_versions(
    mut planned: Planned,
    context: &Context,
    output: &mut Output,
) -> Result<Checkable> {
    let mut registries = std::mem::take(&mut planned.registries);
    let mut versions = ObjectReleases::default();
    for contracts in [ContractScope::All, ContractScope::Classes] {
        let request = planned.request(contracts);
        let lists_all = lists_all(&request, &context.invocation);
        let searched;
        (searched, registries) = SolveTask::new(registries, request).search(context, output)?;
        match searched {
            Searched::Solved(resolution) => {
                versions.resolution = Some(resolution);
                break;
            }
            // Wrong values are found by the check.
            Searched::Conflict(_) if contracts == ContractScope::All => {}
            Searched::Conflict(conflict) => {
                versions = releases_in_conflict(
                    &planned.root,
                    *conflict,
                    &planned.request,
                    &registries,
                    &context.read_options,
                )?;
                if !output.is_json() {
                    for conflict in &versions.conflicts {
                        report_conflict(conflict, &[], &lists_all, output);
                    }
                }
            }
        }
    }
    if let (Some(resolution), []) = (&versions.resolution, &*versions.releases) {
        let bound = resolution.roots()[0].requires.iter();
        let releases = bound.map(|bound| Some(bound.release()));
        versions.releases = releases.collect();
    }
    Ok(Checkable {
        model: planned.model,
        findings: Vec::new(),
        conflicts: versions.conflicts,
        violated: versions.violated,
        releases: versions.releases,
        resolution: versions.resolution,
        registries,
    })
}

/// Finds versions for the objects without errors in their headers.
fn with_some_versions(unplanned: Unplanned, context: &Context) -> Result<Checkable> {
    let Unplanned {
        model,
        wrong,
        request,
        registries,
    } = unplanned;
    let versions = releases_without_contracts(
        &model,
        &wrong.objects,
        &request,
        &registries,
        &context.read_options,
    )?;
    Ok(Checkable {
        model,
        findings: wrong.findings,
        conflicts: Vec::new(),
        violated: BTreeSet::new(),
        releases: versions.releases,
        resolution: versions.resolution,
        registries,
    })
}

/// The remark that names the versions with which objects that are not pinned are checked.
fn separate_versions(checkable: &Checkable) -> Option<String> {
    let objects = checkable.model.objects().iter().zip(&checkable.releases);
    let chosen = objects.filter(|(object, _)| !matches!(object.version, VersionPin::Exact(_)));
    let chosen: BTreeSet<_> = chosen.filter_map(|(_, release)| release.as_ref()).collect();
    if chosen.is_empty() {
        return None;
    }
    let shown: Vec<String> = (chosen.iter())
        .map(|Release { name, version }| format!("{name} {version}"))
        .collect();
    let shown = shown.join(", ");
    Some(format!(
        "Objects that are not pinned are checked with {shown}, which need not fit together"
    ))
}
