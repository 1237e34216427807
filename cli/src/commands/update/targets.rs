//! Which locked releases are to move, and where to.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Lockfile, PackageName, Version};
use pkgres_resolver::{Moving, Target};

use crate::args::UpdateArgs;
use crate::commands::{listed, release_name, unknown};
use crate::failure::{Failure, Result};
use crate::given;

/// The packages that are named as `NAME` or, if only one of the locked versions is meant, as
/// `NAME@VERSION`.
pub(super) fn named(args: &UpdateArgs, lock: &Lockfile) -> Result<BTreeMap<PackageName, Moving>> {
    let mut from: BTreeMap<PackageName, BTreeSet<Version>> = BTreeMap::new();
    for text in &args.packages {
        let (name, versions) = locked(text, lock)?;
        from.entry(name).or_default().extend(versions);
    }
    let to = match &args.precise {
        None => Target::Newest,
        Some(_) if from.len() != 1 => {
            return Err(Failure::usage("`--precise` goes with one package"));
        }
        Some(text) => {
            let version = Version::parse(text)
                .map_err(|error| Failure::usage(format!("--precise: {error}")))?;
            if let Some(ambiguous) = args.packages.iter().find(|text| !text.contains('@')) {
                refuse_several(ambiguous, &version, &from)?;
            }
            Target::Exactly(version)
        }
    };
    let moving = |from| Moving {
        from,
        to: to.clone(),
    };
    Ok(from
        .into_iter()
        .map(|(name, from)| (name, moving(from)))
        .collect())
}

/// Whether what was named is locked.
pub(super) fn is_held(text: &str, lock: &Lockfile) -> bool {
    locked(text, lock).is_ok()
}

/// A package, and the versions of it that are meant: the one that is named, or all that are locked.
fn locked(text: &str, lock: &Lockfile) -> Result<(PackageName, BTreeSet<Version>)> {
    let (name, version) = release_name(text)?;
    let releases = lock.packages.keys().filter(|(known, _)| *known == name);
    let held: BTreeSet<Version> = releases.map(|(_, version)| version.clone()).collect();
    if held.is_empty() {
        let message = format!("the lockfile does not hold `{name}`");
        let known = lock.packages.keys().map(|(known, _)| known.as_str());
        return Err(unknown(&name, message, known));
    }
    let Some(version) = version else {
        return Ok((name, held));
    };
    if !held.contains(&version) {
        let message = format!(
            "the lockfile holds `{name}` at {}, and not at {version}",
            listed(&held)
        );
        return Err(Failure::usage(message));
    }
    Ok((name, BTreeSet::from([version])))
}

/// Which of several releases is to be at a version has to be said.
fn refuse_several(
    name: &str,
    to: &Version,
    from: &BTreeMap<PackageName, BTreeSet<Version>>,
) -> Result<()> {
    let several = from.values().find(|versions| versions.len() > 1);
    let Some((first, versions)) = several.and_then(|versions| Some((versions.first()?, versions)))
    else {
        return Ok(());
    };
    let message = format!(
        "the lockfile holds `{name}` at {}: which of them is to be {to}?",
        listed(versions)
    );
    let command = given::command(&format!("update {name}@{first} --precise {to}"));
    Err(Diagnostic::error(Code::Usage, message)
        .hint(format!("`{command}` moves that one"))
        .into())
}
