//! `pkgres update --workspace`: all members, each by itself or solved together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Lockfile, PackageName, ReadOptions, Version, most_similar_name};
use serde_json::json;

use super::{Asked, held_back_json, moved_json, report, targets, tell_why, update_one};
use crate::args::{LockArgs, UpdateArgs};
use crate::commands::lock::{Agreed, agree, agree_otherwise, lock_agreed, settle};
use crate::commands::several::{Ended, Several};
use crate::commands::{listed, release_name};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::{Project, parse_lock};
use crate::{registries, show};

pub(super) fn run(args: &UpdateArgs, output: &mut Output) -> Result<Exit> {
    let options = registries::read_options(&args.project.registry)?;
    let several = Several::of_workspace(&options)?;
    if several.one_solve {
        update_together(args, &several, output)
    } else {
        update_apart(args, several, &options, output)
    }
}

/// Updates what all members agree on, and locks the part of each.
fn update_together(args: &UpdateArgs, several: &Several, output: &mut Output) -> Result<Exit> {
    let lock_args = LockArgs::of_workspace(&args.project, args.write.dry_run);
    let manifests = &several.manifests;
    // What they agree on as they are locked is what there is to update.
    let before = match agree(&lock_args, manifests, output)? {
        Ok(agreement) => agreement.resolution,
        Err(exit) => return Ok(exit),
    };
    let before = before.to_lockfile().expect("the roots are packages");
    let asked = Asked::of(args, &before)?;
    let (locked, update) = (asked.locked, asked.update);
    let moved = match agree_otherwise(&lock_args, manifests, locked, update, output)? {
        Ok(agreement) => agreement,
        Err(exit) => return Ok(exit),
    };
    let wanted = moved.releases.clone();
    let report = report(&moved.resolution, &moved.roots);
    let agreement = match settle(&lock_args, manifests, moved, output)? {
        Ok(agreement) => agreement,
        Err(exit) => return Ok(exit),
    };
    let is_lost = |name: &&PackageName| {
        let now = releases_of(&agreement.releases, name);
        releases_of(&wanted, name) != now
    };
    if let Some(name) = asked.named.iter().find(is_lost) {
        return Err(would_not_stay(name, &wanted, &agreement.releases));
    }
    let words = words(args);
    let lock = |args: &LockArgs, output: &mut Output| {
        let lock = |manifest: &Path, output: &mut Output| {
            lock_agreed(args, manifest, &agreement, &asked.named, &words, output)
        };
        several.each("Locking", lock, output)
    };
    // All are written, or none.
    let trial = LockArgs::of_workspace(&args.project, true);
    let mut can_be_written = false;
    Output::keep(output.manner(), |output| {
        can_be_written = lock(&trial, output).exit == Exit::Done;
    });
    let ended = lock(if can_be_written { &lock_args } else { &trial }, output);
    let exit = ended.exit;
    let resolution = &agreement.resolution;
    if output.is_json() {
        let mut document = ended.document();
        document["side_by_side"] = json!(show::side_by_side_json(resolution));
        document["moved"] = moved_json(&report).into();
        document["held_back"] = held_back_json(&report).into();
        output.json(&document);
        return Ok(exit);
    }
    if exit == Exit::Done {
        tell_why(&report, &asked.named, output);
        output.notes(show::side_by_side(resolution));
        output.note(&summary(&ended, args));
    } else {
        output.note(&ended.looked_at("Looked at"));
    }
    Ok(exit)
}

/// A move is wanted that is undone as soon as what all agree on is looked for again: where they can agree
/// on one release of a package they do, and what is locked is preferred, and no more than that.
fn would_not_stay(name: &PackageName, wanted: &Agreed, agreed: &Agreed) -> Failure {
    let split: BTreeSet<&PackageName> = wanted
        .iter()
        .map(|(name, _)| name)
        .filter(|name| releases_of(wanted, name).len() > 1)
        .filter(|name| releases_of(agreed, name).len() <= 1)
        .collect();
    let split: Vec<String> = split.iter().map(|name| format!("`{name}`")).collect();
    let message = if split.is_empty() {
        format!("`{name}` could be moved, but would not stay: others prefer what there was")
    } else {
        format!(
            "`{name}` could be moved only with several releases of {}, and the members can agree on one",
            split.join(", ")
        )
    };
    let finding = Diagnostic::error(Code::LockStale, message).hint(format!(
        "if a member requires that version of {name}, it stays"
    ));
    Failure {
        findings: vec![finding],
        exit: Exit::Failed,
    }
}

/// The releases of a package.
fn releases_of<'agreed>(agreed: &'agreed Agreed, name: &PackageName) -> Vec<&'agreed Version> {
    let releases = agreed.iter().filter(|(known, _)| known == name);
    releases.map(|(_, version)| version).collect()
}

/// The command, without the options that say what it is about.
fn words(args: &UpdateArgs) -> String {
    let precise = args
        .precise
        .iter()
        .flat_map(|version| ["--precise", version]);
    let words = args.packages.iter().map(String::as_str).chain(precise);
    std::iter::once("update")
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Updates each member by itself; if packages are named, those that have any of them.
fn update_apart(
    args: &UpdateArgs,
    mut several: Several,
    options: &ReadOptions,
    output: &mut Output,
) -> Result<Exit> {
    let named = named(args, &several.manifests, options)?;
    several
        .manifests
        .retain(|manifest| named.contains_key(manifest));
    let update = |manifest: &Path, output: &mut Output| {
        let mut args = args.clone();
        args.packages.clone_from(&named[manifest]);
        manifest.clone_into(&mut args.project.manifest);
        update_one(&args, output)
    };
    let ended = several.each("Updating", update, output);
    let exit = ended.exit;
    if output.is_json() {
        output.json(&ended.document());
    } else {
        output.note(&summary(&ended, args));
    }
    Ok(exit)
}

fn summary(ended: &Ended, args: &UpdateArgs) -> String {
    if args.write.dry_run {
        ended.looked_at("Looked at")
    } else {
        ended.changed("Updated")
    }
}

/// The members that have any of the packages that are named, and which; all members if none is named.
fn named(
    args: &UpdateArgs,
    manifests: &[PathBuf],
    options: &ReadOptions,
) -> Result<BTreeMap<PathBuf, Vec<String>>> {
    if args.packages.is_empty() {
        let all = manifests
            .iter()
            .map(|manifest| (manifest.clone(), Vec::new()));
        return Ok(all.collect());
    }
    let mut locks: Vec<(&PathBuf, Lockfile)> = Vec::new();
    for manifest in manifests {
        let project = Project::open(manifest, options)?;
        if let Some(bytes) = project.lock_bytes(options)? {
            let lock = parse_lock(&project.lock_path(), &bytes, options)?;
            locks.push((manifest, lock));
        }
    }
    let mut named: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for text in &args.packages {
        let (name, version) = release_name(text)?;
        let mut is_held = false;
        for (manifest, lock) in &locks {
            if targets::is_held(text, lock) {
                let texts = named.entry((*manifest).clone()).or_default();
                texts.push(text.clone());
                is_held = true;
            }
        }
        if !is_held {
            let known = locks.iter().flat_map(|(_, lock)| lock.packages.keys());
            return Err(held_by_none(&name, version.as_ref(), known));
        }
    }
    Ok(named)
}

/// What was named is in none of the lockfiles, which hold these releases.
fn held_by_none<'lock>(
    name: &PackageName,
    version: Option<&Version>,
    known: impl Iterator<Item = &'lock (PackageName, Version)> + Clone,
) -> Failure {
    let held = known.clone().filter(|(known, _)| known == name);
    let held: BTreeSet<Version> = held.map(|(_, version)| version.clone()).collect();
    if let Some(version) = version.filter(|_| !held.is_empty()) {
        let held = listed(&held);
        let message =
            format!("the lockfiles of the workspace hold `{name}` at {held}, and not at {version}");
        return Failure::usage(message);
    }
    let message = format!("no lockfile of the workspace holds `{name}`");
    let similar = most_similar_name(name.as_str(), known.map(|(known, _)| known.as_str()));
    let hint = similar.map(|similar| format!("did you mean `{similar}`?"));
    let finding = Diagnostic::error(Code::Usage, message);
    hint.into_iter().fold(finding, Diagnostic::hint).into()
}
