//! Universes and packages from files that lie beside the project.
//!
//! They are looked for in the folder that `PKGRES_SHARED` names, or else in `../shared`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::universe::{Range, Release, Universe};

fn shared(path: &str) -> PathBuf {
    let folder = std::env::var_os("PKGRES_SHARED").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
        PathBuf::from,
    );
    folder.join(path)
}

/// The folder of a package that requires several others, and the folder that they are in. The
/// package is a published one if those are there, else an example of the project.
pub fn real_package() -> (PathBuf, PathBuf) {
    let corpus = shared("corpus");
    let package = corpus.join("murano-apps/WordPress/package");
    if package.is_dir() {
        return (package, corpus);
    }
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/shop");
    (fixtures.join("app"), fixtures)
}

/// A random registry of the `pubgrub` crate, if the file is there. Every release in turn is the
/// only one that the root requires.
pub fn random_registry(name: &str) -> Option<Universe> {
    let text = std::fs::read_to_string(shared(&format!("scenarios/{name}.jsonl"))).ok()?;
    let number = |value: &Value| {
        let number = value.as_u64().expect("a number");
        u32::try_from(number).expect("a small number")
    };
    let mut packages: BTreeMap<u32, Vec<Release>> = BTreeMap::new();
    let mut roots = Vec::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).expect("a row is JSON");
        let Some(package) = row.get("p").map(number) else {
            continue;
        };
        let version = number(&row["v"]);
        let dependencies = row["deps"].as_object().expect("dependencies");
        let dependencies = dependencies.iter().map(|(target, ranges)| {
            let target: usize = target.parse().expect("a package's number");
            let range = Range {
                low: number(&ranges[0][0]),
                high: Some(&ranges[0][1])
                    .filter(|high| !high.is_null())
                    .map(number),
                except: None,
            };
            (target, range)
        });
        let release = Release::new(version, dependencies.collect());
        packages.entry(package).or_default().push(release);
        roots.push(vec![(package as usize, Range::only(version))]);
    }
    let mentioned = packages
        .values()
        .flatten()
        .flat_map(|release| &release.dependencies)
        .map(|(target, _)| *target);
    let last = mentioned.max().unwrap_or(0).max(packages.len());
    let last = last.max(packages.keys().last().map_or(0, |last| *last as usize));
    let mut by_number = vec![Vec::new(); last + 1];
    for (package, mut releases) in packages {
        releases.sort_by_key(|release| release.version);
        by_number[package as usize] = releases;
    }
    Some(Universe {
        name: name.to_owned(),
        packages: by_number,
        roots,
    })
}
