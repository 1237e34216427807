//! `pkgres lock --check`: whether a lockfile is up to date, without searching or writing.
//!
//! The cache remembers which lockfiles were up to date, by the content of everything that the answer depends on. Such
//! a lockfile is not even parsed.

use pkgres_manifest::Release;
use std::path::Path;

use pkgres_manifest::diagnostic::sentence_list;
use pkgres_registry_client::{
    LockCheckInputs, LockCheckKey, LockContent, RegistrySet, RootFile, check_lock,
};
use pkgres_resolver::{LockCheck, LockReport};
use serde_json::{Value, json};

use super::agreement::Disagreement;
use super::proposal::AgreedReleases;
use crate::args::{Format, LockArgs};
use crate::capabilities::stale_capabilities;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_owner::require_own_lock;
use crate::lockfile::{lock_missing_beside, parse_checked_lock, read_lock_bytes};
use crate::output::Output;
use crate::project::Project;
use crate::read_manifest::ManifestFile;
use crate::registries::ConfiguredRegistry;
use crate::show::{self, Annotation, counted};
use crate::solve_task::SolveTask;
use crate::yank_reasons::YankReasons;

/// Checks the lockfile of a project; `manifest` is its path on the command line. `agreed` are the releases that several
/// projects agreed on, if they were solved together.
pub(super) fn check(
    args: &LockArgs,
    manifest: &Path,
    manifest_file: ManifestFile,
    agreed: Option<&AgreedReleases>,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let path = manifest_file.lock_path();
    let folder = manifest_file.folder.clone();
    // Errors of the project are reported before errors of its registries.
    let task = SolveTask::in_folder(&manifest_file.folder, context);
    let key = (task.as_ref().ok()).and_then(|task| cache_key(&manifest_file, task, context));
    let options = &context.read_options;
    let known = key
        .as_ref()
        .and_then(|(key, _)| key.has_passed(|path| manifest_file.file(path, options).ok()));
    let checked = match known {
        Some(count) => Checked {
            count,
            ..Checked::default()
        },
        None => check_content(manifest_file, task, key, context, output)?,
    };
    let disagreement = match agreed {
        Some(agreed) if checked.report.stale.is_empty() => {
            Disagreement::of_lockfile(manifest, agreed, &args.options(), context, output)?
        }
        _ => Disagreement::default(),
    };
    let registries = context.registries.for_root(Some(&folder))?;
    note_skipped_registries(["Checked against", "against"], &registries, context, output);
    Ok(show_report(
        args,
        &path,
        &checked,
        &disagreement,
        context,
        output,
    ))
}

/// Checks the lockfile of a project of another ecosystem.
pub(super) fn check_foreign(
    args: &LockArgs,
    project: &Project,
    context: &Context,
    output: &mut Output,
) -> Result<Exit> {
    let task = SolveTask::of_project(project, context)?;
    let CheckedEntries { checked, .. } = check_entries(project, task, context, output)?;
    let none = Disagreement::default();
    let path = project.lock_path();
    let registries = project.registries(context)?;
    note_skipped_registries(["Checked against", "against"], &registries, context, output);
    Ok(show_report(args, &path, &checked, &none, context, output))
}

/// Reports which registries were not read with `--offline`. `words` are what was done, and its preposition.
pub(in crate::commands) fn note_skipped_registries(
    [done, preposition]: [&str; 2],
    registries: &[ConfiguredRegistry],
    context: &Context,
    output: &mut Output,
) {
    let skipped = context.registries.skipped_offline(registries);
    if !skipped.is_empty() {
        output.remarks([format!(
            "{done} the cache only, because of `--offline`, and not {preposition} {}",
            sentence_list(&skipped, "and")
        )]);
    }
}

/// What is reported of a lockfile.
#[derive(Default)]
struct Checked {
    report: LockReport,
    /// The number of locked releases.
    count: usize,
    yank_reasons: YankReasons,
}

/// Shows a report, and returns the exit code that it means.
fn show_report(
    args: &LockArgs,
    path: &Path,
    checked: &Checked,
    disagreement: &Disagreement,
    context: &Context,
    output: &mut Output,
) -> Exit {
    let report = &checked.report;
    match output.format() {
        Format::Json => output.json(&to_json(checked, disagreement)),
        Format::Github => {
            let file = path.to_string_lossy();
            for yanked in warnings(checked) {
                let warning = Annotation::warning_of_file("yanked release", &yanked, &file);
                output.annotations([warning]);
            }
            output.annotations(show::staleness_annotations(&report.stale, &file));
            if !disagreement.is_empty() {
                let finding = disagreement.finding("", context);
                output.annotations([Annotation::of_file(&finding, &file)]);
            }
        }
        _ => {
            let mode = if args.locked {
                show::locked_mode(context)
            } else {
                String::new()
            };
            print(checked, disagreement, &mode, context, output);
        }
    }
    match Exit::of_lock_check(&report.stale) {
        Exit::Done if !disagreement.is_empty() => Exit::Failed,
        exit => exit,
    }
}

/// The key of the check in the cache, with the content of the lockfile; `None` if the cache cannot have it.
fn cache_key(
    manifest_file: &ManifestFile,
    task: &SolveTask,
    context: &Context,
) -> Option<(LockCheckKey, LockContent)> {
    let workspace = context.workspace().ok()?;
    // Members change without a new version: an earlier answer does not hold.
    if workspace.is_some_and(|workspace| workspace.requires_members(&manifest_file.folder)) {
        return None;
    }
    let path = manifest_file.lock_path();
    let checked = context.registries.checked_locks()?;
    let options = &context.read_options;
    let lock = checked.content(&path, &options.limits)?;
    let key = checked.key(LockCheckInputs {
        path: &path,
        lock,
        manifest: &manifest_file.bytes,
        request: &task.request,
        registries: &task.registries,
        options,
    });
    Some((key?, lock))
}

/// Checks the lockfile entry by entry.
fn check_content(
    manifest_file: ManifestFile,
    task: Result<SolveTask>,
    key: Option<(LockCheckKey, LockContent)>,
    context: &Context,
    output: &mut Output,
) -> Result<Checked> {
    let mut files = Vec::new();
    let package = manifest_file.parse(&context.read_options, |path, bytes| {
        files.push(RootFile::new(path.clone(), bytes));
    })?;
    let project = Project::new(manifest_file, package, context);
    let task = task?.with_root(&project, context)?;
    let entries = check_entries(&project, task, context, output)?;
    let checked = entries.checked;
    if let Some((key, content)) = key
        && !entries.has_findings
        && content == LockContent::of(&entries.bytes)
    {
        key.remember(&checked.report, checked.count, &files, &entries.registries);
    }
    Ok(checked)
}

/// What a check of the entries of a lockfile found.
struct CheckedEntries {
    checked: Checked,
    registries: RegistrySet,
    /// The content of the lockfile.
    bytes: Vec<u8>,
    /// Whether a registry reported something.
    has_findings: bool,
}

/// Checks the lockfile of a project entry by entry.
fn check_entries(
    project: &Project,
    task: SolveTask,
    context: &Context,
    output: &mut Output,
) -> Result<CheckedEntries> {
    let path = project.lock_path();
    let Some(bytes) = read_lock_bytes(&path, context)? else {
        let missing = lock_missing_beside(&project.manifest, context);
        if output.format() == Format::Github {
            let manifest = project.manifest.to_string_lossy();
            let findings = missing.findings.iter();
            output.annotations(findings.map(|finding| Annotation::of_file(finding, &manifest)));
            return Err(Failure::reported(missing.exit));
        }
        return Err(missing);
    };
    let lock = parse_checked_lock(&path, &bytes, context)?;
    // What differs from the lockfile of another root helps nobody.
    require_own_lock(project, lock.roots.keys(), context)?;
    let count = lock.packages.len();
    let check = LockCheck::new(task.request, lock.clone());
    let report = output.during(
        "Checking the lockfile",
        context.registries.activity(),
        || check_lock(check, &task.registries, &context.read_options),
    );
    let findings = task.registries.take_findings();
    output.findings(&findings);
    let mut report = report?;
    if report.stale.is_empty() {
        report.stale = stale_capabilities(&lock, project, &task.registries, context)?;
    }
    let yanked = report.yanked.iter();
    let yank_reasons = YankReasons::find(
        yanked.map(|Release { name, version }| (name, version)),
        &task.registries,
    );
    Ok(CheckedEntries {
        checked: Checked {
            report,
            count,
            yank_reasons,
        },
        registries: task.registries,
        bytes,
        has_findings: !findings.is_empty(),
    })
}

/// The warnings about locked releases that were yanked.
fn warnings(checked: &Checked) -> Vec<String> {
    let yanked = checked
        .report
        .yanked
        .iter()
        .map(|Release { name, version }| {
            let reason = checked.yank_reasons.in_parentheses(name, version);
            format!("{name} {version} was yanked{reason}; the lockfile still has it")
        });
    yanked.collect()
}

fn print(
    checked: &Checked,
    disagreement: &Disagreement,
    mode: &str,
    context: &Context,
    output: &mut Output,
) {
    let report = &checked.report;
    for yanked in warnings(checked) {
        output.note(&format!("warning: {yanked}"));
    }
    if !disagreement.is_empty() {
        output.findings(&[disagreement.finding(mode, context)]);
        return;
    }
    if report.stale.is_empty() {
        output.note(&format!(
            "The lockfile is up to date: {}",
            counted(checked.count, "package")
        ));
        return;
    }
    output.findings(&show::staleness(&report.stale, mode, context));
}

fn to_json(checked: &Checked, disagreement: &Disagreement) -> Value {
    let report = &checked.report;
    let yanked = report.yanked.iter().map(|Release { name, version }| {
        let reason = checked.yank_reasons.get(name, version);
        json!({"package": name, "version": version, "reason": reason})
    });
    let yanked: Vec<Value> = yanked.collect();
    let stale = report.stale.iter().map(show::staleness_json);
    let stale: Vec<Value> = stale.chain(disagreement.to_json()).collect();
    json!({
        "schema_version": 1,
        "status": if stale.is_empty() { "up_to_date" } else { "stale" },
        "stale": stale,
        "yanked": yanked,
    })
}
