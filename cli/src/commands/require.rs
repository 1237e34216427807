//! `pkgres add` and `pkgres remove`

use std::collections::BTreeSet;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::diagnostic::{Diagnostic, Escaped, Span};
use pkgres_manifest::{LockDiff, PackageName, ReadOptions, RequirementEdit, Spec};
use pkgres_resolver::Update;
use serde_json::json;

use crate::args::{AddArgs, ProjectArgs, RemoveArgs, WriteArgs};
use crate::commands::lock::{LockText, Written, write_lock};
use crate::commands::package_name;
use crate::compatible::compatible;
use crate::earlier_lock::EarlierLock;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_modes::refuse_modes;
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::Project;
use crate::registries;
use crate::show::{self, counted};

pub(crate) fn add(args: &AddArgs, output: &mut Output) -> Result<Exit> {
    refuse_modes("add", &args.write)?;
    let asked = args
        .packages
        .iter()
        .map(|text| asked(text))
        .collect::<Result<Vec<_>>>()?;
    refuse_twice(asked.iter().map(|(package, _)| package))?;
    let options = registries::read_options(&args.project.registry)?;
    let project = Project::open(&args.project.manifest, &options)?;
    let edits = |spec_of: &dyn Fn(&PackageName) -> Spec| -> Vec<RequirementEdit> {
        let edits = asked.iter().map(|(package, spec)| {
            let spec = spec.clone().or_else(|| required(&project, package));
            let spec = spec.unwrap_or_else(|| spec_of(package));
            RequirementEdit::Set(package.clone(), spec)
        });
        edits.collect()
    };
    // What a package is compatible with is known once it is known which version there can be.
    let open = edits(&|_| Spec::parse("*").expect("a star is a spec"));
    let edited = edit(&project, &open, &options)?;
    let lock = read_lock(&project, &options, output)?;
    let resolution = match solve(&edited, &lock, &args.project, &options, output)? {
        Solved::Yes(resolution, _) => resolution,
        Solved::No(exit) => return Ok(exit),
    };
    let edits = edits(&|package| {
        let chosen = resolution.package(package);
        chosen.map_or_else(Spec::any, |chosen| compatible(&chosen.version))
    });
    let edited = edit(&project, &edits, &options)?;
    finish(
        &project,
        &edited,
        &edits,
        &Task {
            project: &args.project,
            write: &args.write,
            lock: Some(&lock).filter(|_| !args.no_lock),
            verb: "Added",
            options: &options,
        },
        output,
    )
}

pub(crate) fn remove(args: &RemoveArgs, output: &mut Output) -> Result<Exit> {
    refuse_modes("remove", &args.write)?;
    let asked = args
        .packages
        .iter()
        .map(|text| package_name(text))
        .collect::<Result<Vec<_>>>()?;
    refuse_twice(&asked)?;
    let options = registries::read_options(&args.project.registry)?;
    let project = Project::open(&args.project.manifest, &options)?;
    let edits: Vec<RequirementEdit> = asked.into_iter().map(RequirementEdit::Remove).collect();
    let edited = edit(&project, &edits, &options)?;
    let lock = if args.no_lock {
        None
    } else {
        Some(read_lock(&project, &options, output)?)
    };
    finish(
        &project,
        &edited,
        &edits,
        &Task {
            project: &args.project,
            write: &args.write,
            lock: lock.as_ref(),
            verb: "Removed",
            options: &options,
        },
        output,
    )
}

/// What a project requires of a package already.
fn required(project: &Project, package: &PackageName) -> Option<Spec> {
    let mut requirements = project.package.manifest.requirements.iter();
    let requirement = requirements.find(|requirement| requirement.package == *package)?;
    Some(requirement.spec.clone())
}

/// `NAME` or `NAME@SPEC`.
fn asked(text: &str) -> Result<(PackageName, Option<Spec>)> {
    let (name, spec) = match text.split_once('@') {
        Some((name, spec)) => (name, Some(spec)),
        None => (text, None),
    };
    let name = package_name(name)?;
    if spec == Some("") {
        let message = format!("`{text}`: a spec is expected after `@`");
        return Err(Failure::usage(message));
    }
    let spec = spec
        .map(|spec| Spec::parse(spec).map_err(|error| Failure::usage(format!("{name}: {error}"))))
        .transpose()?;
    Ok((name, spec))
}

/// Refuses a package that is named twice: only one of what was asked for could hold.
fn refuse_twice<'name>(packages: impl IntoIterator<Item = &'name PackageName>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for package in packages {
        if !seen.insert(package) {
            return Err(Failure::usage(format!("`{package}` is named twice")));
        }
    }
    Ok(())
}

/// The project with other requirements, before anything is written.
fn edit(project: &Project, edits: &[RequirementEdit], options: &ReadOptions) -> Result<Project> {
    let manifest = &project.package.manifest;
    let text = manifest
        .with_requirements(edits, options)
        .map_err(without_place)?;
    project.with_manifest(&text, options)
}

/// What is wrong with an edit. What is not in the manifest has no place there.
fn without_place(mut finding: Diagnostic) -> Diagnostic {
    if let [label] = finding.labels.as_slice()
        && label.location.span() == Span::default()
    {
        let name = Escaped::new(label.location.source().name()).to_string();
        finding.message = format!("{name}: {}", finding.message);
        finding.labels.clear();
    }
    finding
}

/// Reads the lockfile that there is, and says what there is to say about it.
fn read_lock(project: &Project, options: &ReadOptions, output: &mut Output) -> Result<EarlierLock> {
    let earlier = EarlierLock::read(project, options)?;
    output.notes(earlier.note());
    Ok(earlier)
}

/// Solves with what is locked staying where it can.
fn solve(
    project: &Project,
    lock: &EarlierLock,
    args: &ProjectArgs,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Solved> {
    let mut problem = Problem::of_project(project, &args.registry, &args.policy, options)?;
    if lock.is_whole() {
        problem.request.update = Some(Update::default());
    }
    problem.request.locked = lock.locked();
    problem.solve(output)
}

/// What is to be done, and how.
struct Task<'args> {
    project: &'args ProjectArgs,
    write: &'args WriteArgs,
    /// The lockfile to replace, unless it is to be left alone.
    lock: Option<&'args EarlierLock>,
    verb: &'static str,
    options: &'args ReadOptions,
}

/// Solves with the requirements as they are to be, then writes the manifest and the lockfile.
fn finish(
    before: &Project,
    edited: &Project,
    edits: &[RequirementEdit],
    task: &Task<'_>,
    output: &mut Output,
) -> Result<Exit> {
    let mut locked = None;
    if let Some(earlier) = task.lock {
        match solve(edited, earlier, task.project, task.options, output)? {
            Solved::Yes(resolution, _) => {
                let lock = resolution.to_lockfile().expect("the roots are packages");
                // Neither file is written if the other one cannot be.
                let text = LockText::of(&lock, task.options)?;
                let diff = earlier.diff(&lock);
                locked = Some((resolution.len(), diff, text, &earlier.bytes));
            }
            Solved::No(exit) => return Ok(exit),
        }
    }
    let text = edited.package.manifest.source().text();
    let is_new = text != before.package.manifest.source().text();
    if is_new && !task.write.dry_run {
        write_file(&RealFileSystem, &before.manifest, text.as_bytes())?;
    }
    let mut written: Option<(Written, LockDiff, usize)> = None;
    if let Some((packages, diff, text, bytes)) = locked {
        let (bytes, dry_run) = (bytes.as_deref(), task.write.dry_run);
        let result = write_lock(before, &text, bytes, dry_run, task.options)?;
        written = Some((result, diff, packages));
    }
    tell(before, edits, is_new, written.as_ref(), task, output);
    Ok(Exit::Done)
}

fn tell(
    before: &Project,
    edits: &[RequirementEdit],
    is_new: bool,
    written: Option<&(Written, LockDiff, usize)>,
    task: &Task<'_>,
    output: &mut Output,
) {
    if output.is_json() {
        let requirements: Vec<serde_json::Value> = edits
            .iter()
            .map(|edit| match edit {
                RequirementEdit::Set(package, spec) => {
                    json!({"package": package, "spec": spec.written()})
                }
                RequirementEdit::Remove(package) => json!({"package": package, "spec": null}),
            })
            .collect();
        output.json(&json!({
            "schema_version": 1,
            "status": if task.write.dry_run { "would_edit" } else { "edited" },
            "manifest_changed": is_new,
            "requirements": requirements,
            "changes": written.map(|(_, diff, _)| show::changes_json(diff)),
        }));
        return;
    }
    for edit in edits {
        output.note(&match edit {
            RequirementEdit::Set(package, spec)
                if required(before, package).as_ref() == Some(spec) =>
            {
                format!(
                    "{package} is required already, as \"{spec}\": `{package}@SPEC` changes that"
                )
            }
            RequirementEdit::Set(package, spec) => {
                format!("{} {package} \"{spec}\"", task.verb)
            }
            RequirementEdit::Remove(package) => format!("{} {package}", task.verb),
        });
    }
    if let Some((result, diff, packages)) = written {
        let lines = show::changes(diff);
        output.notes(&lines);
        output.note(&result.summary(*packages, lines.len()));
    } else if task.write.dry_run {
        output.note("Nothing was written");
    } else {
        let changed = edits.iter().filter(|edit| match edit {
            RequirementEdit::Set(package, spec) => required(before, package).as_ref() != Some(spec),
            RequirementEdit::Remove(_) => true,
        });
        let manifest = match changed.count() {
            0 => "is as it was".to_owned(),
            count => format!("has {} changed", counted(count, "requirement")),
        };
        output.note(&format!(
            "The manifest {manifest}; the lockfile was left alone"
        ));
    }
}
