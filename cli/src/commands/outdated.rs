//! `pkgres outdated`

use pkgres_registry_client::{BlockingRequirement, Outdated, outdated};
use pkgres_resolver::{Locked, Request};
use serde_json::{Value, json};

use crate::args::OutdatedArgs;
use crate::exit::Exit;
use crate::failure::Result;
use crate::given;
use crate::lock_modes::take_frozen;
use crate::output::Output;
use crate::problem::{Problem, Solved};
use crate::project::Project;
use crate::registries;
use crate::show::counted;
use crate::solve::problem_with_lock;

/// How many requirements are told that hold one package back. Nearly everything may hold back the core
/// library.
const HOLDERS_AT_MOST: usize = 3;

pub(crate) fn run(args: &OutdatedArgs, output: &mut Output) -> Result<Exit> {
    let solve = &args.solve;
    let options = registries::read_options(&solve.registry)?;
    let project = Project::open(&solve.manifest, &options)?;
    let problem = if solve.mode.frozen {
        Problem::of_project(&project, &solve.registry, &solve.policy, &options)?
    } else {
        problem_with_lock(solve, &project, &options, output)?
    };
    // What could be newer is not a matter of what is locked.
    let request = Request {
        locked: Locked::default(),
        ..problem.request.clone()
    };
    let (resolution, registries) = if solve.mode.frozen {
        let resolution = take_frozen(solve, &options)?;
        (Box::new(resolution), problem.registries)
    } else {
        match problem.solve_with_registries(output)? {
            (Solved::Yes(resolution, _), registries) => (resolution, registries),
            (Solved::No(exit), _) => return Ok(exit),
        }
    };
    let progress = output.progress("Looking for newer versions");
    let found = outdated(&request, &resolution, &registries, &options);
    drop(progress);
    let found = found?;
    output.findings(&registries.take_findings());
    let exit = if args.exit_code && !found.is_empty() {
        Exit::Pending
    } else {
        Exit::Done
    };
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if found.is_empty() { "up_to_date" } else { "outdated" },
            "packages": found.iter().map(to_json).collect::<Vec<_>>(),
        }));
        return Ok(exit);
    }
    output.data(&table(&found));
    let held_back = found
        .iter()
        .filter(|entry| entry.allowed.as_ref() != Some(&entry.latest))
        .count();
    let movable = found
        .iter()
        .filter(|entry| {
            entry
                .allowed
                .as_ref()
                .is_some_and(|allowed| *allowed != entry.now)
        })
        .count();
    let all = resolution.len();
    let packages = counted(all, "package");
    output.note(&match found.len() {
        0 if all == 1 => "The only package is the latest".to_owned(),
        0 => format!("All of {packages} are the latest"),
        count => {
            let are = if count == 1 { "is" } else { "are" };
            let moved = match movable {
                0 => String::new(),
                count => format!("`{}` moves {count}, ", given::command("update")),
            };
            format!("{count} of {packages} {are} outdated: {moved}{held_back} held back")
        }
    });
    Ok(exit)
}

/// The releases as a table; what holds one back stands on the lines below it.
fn table(found: &[Outdated]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let allowed = |entry: &Outdated| {
        let allowed = entry.allowed.as_ref();
        allowed.map_or_else(|| "-".to_owned(), ToString::to_string)
    };
    let mut rows = vec![["package", "now", "allowed", "latest"].map(str::to_owned)];
    rows.extend(found.iter().map(|entry| {
        [
            entry.package.to_string(),
            entry.now.to_string(),
            allowed(entry),
            entry.latest.to_string(),
        ]
    }));
    let widths: Vec<usize> = (0..4)
        .map(|column| rows.iter().map(|row| row[column].len()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
        let Some(entry) = at.checked_sub(1).map(|at| &found[at]) else {
            continue;
        };
        for holder in entry.held_back_by.iter().take(HOLDERS_AT_MOST) {
            text.push_str(&format!("  held back by {}\n", holder_text(entry, holder)));
        }
        if let Some(more) = entry.held_back_by.len().checked_sub(HOLDERS_AT_MOST + 1) {
            let others = counted(more + 1, "other");
            text.push_str(&format!("  and by {others}, which `--format json` names\n"));
        }
        for line in &entry.because {
            text.push_str(&format!("  held back: {line}\n"));
        }
    }
    text
}

fn holder_text(entry: &Outdated, holder: &BlockingRequirement) -> String {
    let place = holder.location.as_ref();
    let place = place.map(|location| format!(" ({location})"));
    let place = place.unwrap_or_default();
    let BlockingRequirement { owner, spec, .. } = holder;
    if holder.is_override {
        format!("the override of {} with {spec}", entry.package)
    } else {
        format!("{owner}, which requires {spec}{place}")
    }
}

fn to_json(entry: &Outdated) -> Value {
    let held_back_by: Vec<Value> = entry
        .held_back_by
        .iter()
        .map(|holder| {
            json!({
                "package": holder.owner.name(),
                "version": holder.owner.version(),
                "spec": holder.spec.written(),
                "override": holder.is_override,
            })
        })
        .collect();
    json!({
        "package": entry.package,
        "now": entry.now,
        "allowed": entry.allowed,
        "latest": entry.latest,
        "held_back_by": held_back_by,
        "because": entry.because,
    })
}
