//! `pkgres lock`

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::{Lockfile, PackageName, ReadOptions, Version};
use pkgres_registry_client::{LockCase, LockContent, LockQuestion, RootFile, check_lock};
use pkgres_resolver::{LockCheck, LockReport, Locked, Staleness};
use serde_json::json;

use crate::args::{Format, LockArgs};
use crate::commands::modes::lock_missing;
use crate::commands::solve::{Problem, Solved};
use crate::commands::workspace;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::{Found, Project, locked_for_update, parse_lock};
use crate::registries;
use crate::settings;
use crate::show::{self, counted};

/// A lockfile that was written, or would have been.
pub(crate) struct Written {
    /// The lockfile.
    pub(crate) file: String,
    /// Whether it holds something else than before.
    pub(crate) is_new: bool,
    /// Whether it was written.
    pub(crate) on_disk: bool,
}

impl Written {
    /// What happened, as one word.
    pub(crate) fn status(&self) -> &'static str {
        if self.is_new && !self.on_disk {
            "would_lock"
        } else {
            "locked"
        }
    }

    /// What happened, as one line.
    pub(crate) fn summary(&self, packages: usize, changes: usize) -> String {
        let packages = counted(packages, "package");
        let suffix = match changes {
            0 => String::new(),
            count => format!(" ({})", counted(count, "change")),
        };
        match (self.is_new, self.on_disk) {
            (false, _) => format!("The lockfile is up to date: {packages}"),
            (true, true) => format!("Locked {packages}{suffix}"),
            (true, false) => format!("Would lock {packages}{suffix}; nothing was written"),
        }
    }
}

/// Writes a lockfile, unless it would stay as it is or nothing is to be written.
pub(crate) fn write_lock(
    project: &Project,
    lock: &Lockfile,
    before: Option<&[u8]>,
    dry_run: bool,
) -> Result<Written> {
    let path = project.lock_path();
    let text = lock.to_text();
    let is_new = before != Some(text.as_bytes());
    let is_written = is_new && !dry_run;
    if is_written {
        write_file(&RealFileSystem, &path, text.as_bytes())?;
    }
    Ok(Written {
        file: path.to_string_lossy().into_owned(),
        is_new,
        on_disk: is_written,
    })
}

pub(crate) fn run(args: &LockArgs, output: &mut Output) -> Result<Exit> {
    if args.frozen {
        let from = settings::current().from("frozen");
        return Err(Failure::usage(format!(
            "`--frozen` is set{from}: the lockfile is to be taken as it is"
        )));
    }
    if args.locked && (args.dry_run || args.ignore_lock || args.accept_changed) {
        let from = settings::current().from("locked");
        return Err(Failure::usage(format!(
            "`--locked` is set{from}: the lockfile is not to change"
        )));
    }
    if let [manifest] = args.manifest.as_slice()
        && !args.workspace
    {
        return lock_one(args, manifest, None, output);
    }
    workspace::lock_all(args, output)
}

/// Locks a project, or checks its lockfile. Where several projects were solved together, `agreed` is
/// what they agreed on.
pub(crate) fn lock_one(
    args: &LockArgs,
    manifest: &Path,
    agreed: Option<&BTreeSet<(PackageName, Version)>>,
    output: &mut Output,
) -> Result<Exit> {
    let options = registries::read_options(&args.registry)?;
    let found = Found::at(manifest, &options)?;
    if args.check || args.locked {
        return check(args, found, &options, output);
    }
    let project = found.read(&options, |_, _| {})?;
    let problem = Problem::of_project(&project, &args.registry, &args.policy, &options)?;
    write(&project, problem, args, agreed, &options, output)
}

/// Solves and writes the lockfile, unless it would stay as it is.
fn write(
    project: &Project,
    mut problem: Problem,
    args: &LockArgs,
    agreed: Option<&BTreeSet<(PackageName, Version)>>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    let path = project.lock_path();
    let before = project.lock_bytes(options)?;
    if let Some(bytes) = &before {
        if args.ignore_lock {
            // The versions are chosen afresh. What a version holds is not a matter of choice.
            let saved = Locked::salvaged(Lockfile::salvage(bytes));
            problem.request.locked.artifacts = saved.artifacts;
        } else {
            let (locked, note) = locked_for_update(&path, bytes, options)?;
            problem.request.locked = locked;
            if let Some(note) = note {
                output.note(note);
            }
        }
    }
    problem.accept_changed = args.accept_changed;
    let old = problem.request.locked.clone();
    if let Some(agreed) = agreed {
        problem.request.locked = Locked {
            artifacts: old.artifacts.clone(),
            ..Locked::preferring(agreed.clone())
        };
    }
    let resolution = match problem.solve(output)? {
        Solved::Yes(resolution, _) => resolution,
        Solved::No(exit) => return Ok(exit),
    };
    let lock = resolution.to_lockfile();
    let written = write_lock(project, &lock, before.as_deref(), args.dry_run)?;
    let changes = show::lock_changes(&old, &lock, &resolution);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": written.status(),
            "file": written.file,
            "written": written.on_disk,
            "changes": changes.iter().map(show::LockChange::to_json).collect::<Vec<_>>(),
            "notes": show::notes(&resolution),
        }));
        return Ok(Exit::Done);
    }
    output.notes(&changes);
    output.notes(show::notes(&resolution));
    output.note(&written.summary(resolution.len(), 0));
    Ok(Exit::Done)
}

/// Checks the lockfile without searching or writing.
fn check(
    args: &LockArgs,
    found: Found,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    let path = found.lock_path();
    // What is wrong with the project is said before what is wrong with its registries.
    let problem = Problem::in_folder(&found.folder, &args.registry, &args.policy, options);
    let question = (problem.as_ref().ok()).and_then(|problem| ask(args, &found, problem, options));
    let known = question
        .as_ref()
        .and_then(|(question, _)| question.known_to_fit(|path| found.file(path, options).ok()));
    let (report, count) = match known {
        Some(count) => (LockReport::default(), count),
        None => look(found, problem, question, options, output)?,
    };
    match output.format {
        Format::Json => output.json(&report_json(&report)),
        Format::Github => {
            let file = path.to_string_lossy();
            output.data(&show::staleness_annotations(&report.stale, &file));
        }
        _ => {
            let mode = if args.locked {
                show::locked_mode()
            } else {
                String::new()
            };
            tell(&report, count, &mode, output);
        }
    }
    Ok(if report.stale.iter().any(Staleness::is_violation) {
        Exit::Integrity
    } else if report.stale.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// The question whether the lockfile fits, and what was in the lockfile, as far as that can be said
/// without going through it.
fn ask(
    args: &LockArgs,
    found: &Found,
    problem: &Problem,
    options: &ReadOptions,
) -> Option<(LockQuestion, LockContent)> {
    let path = found.lock_path();
    let checked = registries::checked_locks(&args.registry)?;
    let lock = checked.content(&path, &options.limits)?;
    let question = checked.question(LockCase {
        path: &path,
        lock,
        manifest: &found.bytes,
        request: &problem.request,
        registries: &problem.registries,
        options,
    });
    Some((question?, lock))
}

/// Goes through the lockfile; says what there is to say about it, and how many releases it holds.
fn look(
    found: Found,
    problem: Result<Problem>,
    question: Option<(LockQuestion, LockContent)>,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<(LockReport, usize)> {
    let mut files = Vec::new();
    let project = found.read(options, |path, bytes| {
        files.push(RootFile::new(path.clone(), bytes));
    })?;
    let problem = problem?.with_root(&project);
    let Some(bytes) = project.lock_bytes(options)? else {
        return Err(lock_missing("beside the manifest"));
    };
    let lock = parse_lock(&project.lock_path(), &bytes, options).map_err(|mut failure| {
        // A damaged or unmerged lockfile is one that does not fit.
        failure.exit = Exit::Failed;
        failure
    })?;
    let count = lock.packages.len();
    let progress = output.progress("Checking the lockfile");
    let report = check_lock(LockCheck::new(problem.request, lock), &problem.registries);
    drop(progress);
    let findings = problem.registries.take_findings();
    output.findings(&findings);
    let report = report?;
    if let Some((question, content)) = question
        && findings.is_empty()
        && content == LockContent::of(&bytes)
    {
        question.remember(&report, count, &files, &problem.registries);
    }
    Ok((report, count))
}

fn tell(report: &LockReport, count: usize, mode: &str, output: &mut Output) {
    for (name, version) in &report.yanked {
        output.note(&format!(
            "warning: {name} {version} was withdrawn; the lock goes on holding it"
        ));
    }
    if report.stale.is_empty() {
        output.note(&format!(
            "The lockfile is up to date: {}",
            counted(count, "package")
        ));
        return;
    }
    let text = show::staleness(&report.stale, output.is_styled(), mode);
    output.say(&text);
}

fn report_json(report: &LockReport) -> serde_json::Value {
    let yanked: Vec<serde_json::Value> = report
        .yanked
        .iter()
        .map(|(name, version)| json!({"package": name, "version": version}))
        .collect();
    json!({
        "schema_version": 1,
        "status": if report.stale.is_empty() { "up_to_date" } else { "stale" },
        "stale": report.stale.iter().map(show::staleness_json).collect::<Vec<_>>(),
        "yanked": yanked,
    })
}
