//! `pkgres update`

mod targets;
mod workspace;

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::{LockDiff, Lockfile, Package, PackageName};
use pkgres_resolver::{Locked, Reason, ReasonKind, Resolution, Update, UpdateReport};
use serde_json::{Value, json};

use crate::args::UpdateArgs;
use crate::commands::lock::{LockText, Written, write_lock};
use crate::exit::Exit;
use crate::failure::Result;
use crate::given;
use crate::lock_modes::refuse_modes;
use crate::members;
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::{Project, lock_missing, parse_lock};
use crate::registries;
use crate::show;

/// How many versions that are held back are told of one package.
const HELD_BACK_AT_MOST: usize = 2;

pub(crate) fn run(args: &UpdateArgs, output: &mut Output) -> Result<Exit> {
    refuse_modes("update", &args.write)?;
    if args.workspace {
        return workspace::run(args, output);
    }
    update_one(args, output)
}

fn update_one(args: &UpdateArgs, output: &mut Output) -> Result<Exit> {
    let options = registries::read_options(&args.project.registry)?;
    let project = Project::open(&args.project.manifest, &options)?;
    let mut problem = Problem::of_project(
        &project,
        &args.project.registry,
        &args.project.policy,
        &options,
    )?;
    let Some(bytes) = project.lock_bytes(&options)? else {
        return Err(lock_missing("to update"));
    };
    let lock = parse_lock(&project.lock_path(), &bytes, &options)?;
    let asked = Asked::of(args, &lock)?;
    problem.request.locked = asked.locked;
    problem.request.update = asked.update;
    let resolution = match problem.solve(output)? {
        Solved::Yes(resolution, _) => resolution,
        Solved::No(exit) => return Ok(exit),
    };
    let updated = resolution.to_lockfile().expect("the roots are packages");
    let written = write_lock(
        &project,
        &LockText::of(&updated, &options)?,
        Some(&bytes),
        args.write.dry_run,
        &options,
    )?;
    let diff = LockDiff::between(&lock, &updated);
    let report = report(&resolution, std::slice::from_ref(&project.package));
    tell(&resolution, &report, &diff, &asked.named, &written, output);
    if !diff.is_empty() && members::are_solved_together(&project.folder, &options)? {
        let check = given::command_on_all("lock --workspace --check");
        let update = given::command_on_all("update --workspace");
        output.note(&format!(
            "The members of the workspace are solved together: `{check}` says whether they still agree, and `{update}` is about all of them"
        ));
    }
    Ok(Exit::Done)
}

/// What an update is to do.
struct Asked {
    /// The packages that were named; all if there are none.
    named: BTreeSet<PackageName>,
    locked: Locked,
    update: Option<Update>,
}

impl Asked {
    /// What the arguments say of what is locked.
    fn of(args: &UpdateArgs, lock: &Lockfile) -> Result<Self> {
        let packages = targets::named(args, lock)?;
        Ok(if packages.is_empty() {
            Self {
                named: BTreeSet::new(),
                locked: Locked::keeping_releases_of(lock),
                update: None,
            }
        } else {
            Self {
                named: packages.keys().cloned().collect(),
                locked: Locked::from_lockfile(lock),
                update: Some(Update { packages }),
            }
        })
    }
}

/// What the update did. With nothing named, that is not looked at.
fn report(resolution: &Resolution, roots: &[Arc<Package>]) -> UpdateReport {
    let Some(report) = resolution.update() else {
        return UpdateReport {
            moved: Vec::new(),
            held_back: Vec::new(),
            is_minimal: false,
        };
    };
    let mut report = report.clone();
    for root in roots {
        report.locate_classes(root);
    }
    report
}

fn tell(
    resolution: &Resolution,
    report: &UpdateReport,
    diff: &LockDiff,
    named: &BTreeSet<PackageName>,
    written: &Written,
    output: &mut Output,
) {
    if output.is_json() {
        let mut answer = written.answer(diff);
        answer["moved"] = moved_json(report).into();
        answer["held_back"] = held_back_json(report).into();
        answer["notes"] = show::notes(resolution).into();
        output.json(&answer);
        return;
    }
    let changes = show::changes(diff);
    output.notes(&changes);
    tell_why(report, named, output);
    output.notes(show::notes(resolution));
    output.note(&written.summary(resolution.len(), changes.len()));
}

/// Why packages moved that were not named, and what stands in the way of others.
fn tell_why(report: &UpdateReport, named: &BTreeSet<PackageName>, output: &mut Output) {
    for moved in &report.moved {
        if named.contains(&moved.package) || moved.because.is_empty() {
            continue;
        }
        output.note(&format!("{} had to move:", moved.package));
        for reason in &moved.because {
            output.note(&format!("  {}", reason.text));
        }
    }
    for held_back in report
        .held_back
        .iter()
        .take(HELD_BACK_AT_MOST.max(named.len()))
    {
        let (package, version) = (&held_back.package, &held_back.version);
        let are_held_back = match held_back.alike.len() {
            0 => "is held back".to_owned(),
            count => format!(
                "and {} are held back",
                show::counted(count, "other version")
            ),
        };
        output.note(&format!("{package} {version} {are_held_back}:"));
        let reasons = held_back.because.reasons.iter();
        let is_news = |reason: &&Reason| {
            let ReasonKind::Wanted { dropped_by } = &reason.kind else {
                return true;
            };
            dropped_by.is_some()
        };
        for reason in reasons.filter(is_news) {
            output.note(&format!("  {}", show::reason_line(reason)));
        }
    }
}

fn moved_json(report: &UpdateReport) -> Vec<Value> {
    let moved = report.moved.iter();
    moved
        .map(|moved| {
            let because: Vec<&str> = moved.because.iter().map(|it| it.text.as_str()).collect();
            json!({
                "package": moved.package,
                "from": moved.from,
                "to": moved.to,
                "because": because,
            })
        })
        .collect()
}

fn held_back_json(report: &UpdateReport) -> Vec<Value> {
    let held_back = report.held_back.iter();
    held_back
        .map(|held_back| {
            json!({
                "package": held_back.package,
                "version": held_back.version,
                "alike": held_back.alike,
                "because": show::conflict_json(&held_back.because),
            })
        })
        .collect()
}
