//! `pkgres lock --check`: whether a lockfile fits, without searching or writing.

use std::path::Path;

use pkgres_manifest::ReadOptions;
use pkgres_registry_client::{LockCase, LockContent, LockQuestion, RootFile, check_lock};
use pkgres_resolver::{LockCheck, LockReport, Staleness};
use serde_json::json;

use super::agreement::{Disagreement, disagreement};
use super::proposal::Agreed;
use crate::args::{Format, LockArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::members;
use crate::output::Output;
use crate::problem::Problem;
use crate::project::{Found, lock_missing, parse_lock};
use crate::registries;
use crate::show::{self, counted};

/// Checks the lockfile of a project, which is the one that a path names. Where several projects were solved
/// together, `agreed` is what they agreed on.
pub(super) fn check(
    args: &LockArgs,
    manifest: &Path,
    found: Found,
    agreed: Option<&Agreed>,
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
    let disagreement = match agreed {
        Some(agreed) if report.stale.is_empty() => {
            match disagreement(args, manifest, agreed, options, output)? {
                Ok(disagreement) => disagreement,
                Err(exit) => return Ok(exit),
            }
        }
        _ => Disagreement::default(),
    };
    match output.format {
        Format::Json => output.json(&report_json(&report, &disagreement)),
        Format::Github => {
            let file = path.to_string_lossy();
            output.data(&show::staleness_annotations(&report.stale, &file));
            if !disagreement.is_empty() {
                output.data(&show::annotation_of_file(&disagreement.finding(""), &file));
            }
        }
        _ => {
            let mode = if args.locked {
                show::locked_mode()
            } else {
                String::new()
            };
            tell(&report, &disagreement, count, &mode, output);
        }
    }
    Ok(if report.stale.iter().any(Staleness::is_violation) {
        Exit::Integrity
    } else if report.stale.is_empty() && disagreement.is_empty() {
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
    // Members are worked on: what is known of them is never what was known before.
    if !matches!(members::requires_others(&found.folder, options), Ok(false)) {
        return None;
    }
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
    let problem = problem?.with_root(&project, options)?;
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

fn tell(
    report: &LockReport,
    disagreement: &Disagreement,
    count: usize,
    mode: &str,
    output: &mut Output,
) {
    for (name, version) in &report.yanked {
        output.note(&format!(
            "warning: {name} {version} was withdrawn; the lock goes on holding it"
        ));
    }
    if !disagreement.is_empty() {
        output.findings(&[disagreement.finding(mode)]);
        return;
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

fn report_json(report: &LockReport, disagreement: &Disagreement) -> serde_json::Value {
    let yanked: Vec<serde_json::Value> = report
        .yanked
        .iter()
        .map(|(name, version)| json!({"package": name, "version": version}))
        .collect();
    let stale = report.stale.iter().map(show::staleness_json);
    let stale: Vec<serde_json::Value> = stale.chain(disagreement.to_json()).collect();
    json!({
        "schema_version": 1,
        "status": if stale.is_empty() { "up_to_date" } else { "stale" },
        "stale": stale,
        "yanked": yanked,
    })
}
