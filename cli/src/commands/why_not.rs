//! `pkgres why-not`: why a version is not in the resolution. It tries an update to that version, without
//! writing it.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, sentence_list};
use pkgres_manifest::{PackageName, Version};
use pkgres_resolver::{Locked, PackageUpdate, Resolution, Update, UpdateTarget};
use serde_json::json;

use crate::args::WhyNotArgs;
use crate::commands::info::{Releases, releases_of};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lockfile::lock_of;
use crate::named_packages::{not_part_of, release_name};
use crate::output::Output;
use crate::project::Project;
use crate::show;
use crate::solve::task_with_lock;
use crate::solve_task::Searched;

pub(super) fn run(args: &WhyNotArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if args.solve.mode.frozen {
        let from = context.settings.from("frozen");
        return Err(Failure::usage(format!(
            "`why-not` needs the registries, which `--frozen`{from} does not read"
        )));
    }
    let (name, version) = release_name(&args.name)?;
    let project = Project::open(&args.solve.manifest, context)?;
    let task = task_with_lock(&args.solve, &project, context, output)?;
    let mut again = task_with_lock(&args.solve, &project, context, output)?;
    // They were reported by the first solve.
    again.warnings.clear();
    again.existing_lock = None;
    let locations = again.searched.clone();
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    let chosen = versions_of(&name, &resolution);
    if chosen.is_empty() {
        let failure = not_part_of(&name, None, &resolution, context);
        return Err(Failure {
            exit: Exit::Failed,
            ..failure
        });
    }
    let releases = releases_of(std::slice::from_ref(&name), &registries, context)?;
    let newest = releases.iter().flatten().find_map(Releases::newest);
    let version = match (version, newest) {
        (Some(version), _) => {
            let records = releases.iter().flatten().flat_map(Releases::records);
            let mut versions = records.map(|record| &record.version);
            let known = versions.find(|known| version.names_release(known));
            known.cloned().unwrap_or(version)
        }
        (None, Some(newest)) => newest.version.clone(),
        (None, None) => {
            let message = format!("no registry has a package `{name}`");
            return Err(Diagnostic::error(Code::UnknownPackage, message).into());
        }
    };
    if chosen.contains(&version) {
        report(&name, &version, "in_resolution", output);
        output.note(&format!("{name} {version} is in the resolution"));
        return Ok(Exit::Done);
    }
    again.request.locked = Locked::from_lockfile(&lock_of(&resolution));
    let update = PackageUpdate {
        from: chosen.clone(),
        to: UpdateTarget::Exactly(version.clone()),
    };
    again.request.update = Some(Update {
        packages: BTreeMap::from([(name.clone(), update)]),
    });
    match again.search(context, output)?.0 {
        Searched::Solved(moved) => {
            let mut excluded = moved.excluded().into_iter();
            let excluded = excluded.find(|one| one.name == name && one.version == version);
            let status = if excluded.is_some() {
                "excluded"
            } else {
                "possible"
            };
            report(&name, &version, status, output);
            let command = context
                .invocation
                .command(&format!("update {name} --precise {version}"));
            let lock = context.invocation.command("lock");
            let is_locked = project.lockfile(context)?.is_some();
            let because = if is_locked {
                "it is locked or preferred"
            } else {
                "it is preferred"
            };
            output.note(&match excluded.map(|one| one.exclusion) {
                Some(exclusion) => {
                    let was = show::excluded_because(exclusion);
                    format!("{name} {version} {was}, so it is chosen only if it is requested")
                }
                None => format!(
                    "Nothing prevents {name} {version}: {} is chosen because {because}",
                    sentence_list(&chosen, "and")
                ),
            });
            output.note(&if is_locked {
                format!("hint: `{command}` moves to it")
            } else {
                format!("hint: `{lock}` writes a lockfile, and `{command}` moves to it")
            });
            Ok(Exit::Done)
        }
        Searched::Conflict(conflict) => {
            if output.is_json() {
                output.json(&show::conflict_document(&conflict));
            } else {
                output.data(&show::proof(&conflict, &locations));
            }
            Ok(Exit::Failed)
        }
    }
}

/// The versions of a package in a resolution.
fn versions_of(name: &PackageName, resolution: &Resolution) -> BTreeSet<Version> {
    let packages = resolution.packages().iter();
    packages
        .filter(|package| package.name == *name)
        .map(|package| package.version.clone())
        .collect()
}

fn report(name: &PackageName, version: &Version, status: &str, output: &mut Output) {
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": status,
            "package": name,
            "version": version,
            "conflict": null,
        }));
    }
}
