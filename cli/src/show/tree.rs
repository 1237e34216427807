//! A resolution as a tree of requirements, the inverted tree of a package, and the paths to one.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;

use pkgres_manifest::{PackageName, ReleaseSource, Version};
use pkgres_resolver::{
    BoundRequirement, Owner, RequirementPath, Requirer, Resolution, ResolvedPackage,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use super::resolution::requirement_json;

/// The levels below a root, or below what is continued, that are indented. What is deeper is continued at the margin: a
/// chain of packages would otherwise take space with the square of its length.
const MAX_LEVELS: usize = 48;

/// The tree of each root. A subtree that was shown before is replaced by `(*)`. The core library, which everything
/// requires, appears directly below the roots only, unless it has several releases. `depth` limits the levels below
/// a root. `is_frozen` is set if the resolution was read from a lockfile.
pub(crate) fn tree(
    resolution: &Resolution,
    core: Option<&PackageName>,
    depth: Option<usize>,
    is_frozen: bool,
) -> String {
    let packages: FxHashMap<(&PackageName, &Version), &ResolvedPackage> = resolution
        .packages()
        .iter()
        .map(|package| ((&package.name, &package.version), package))
        .collect();
    let several_cores = resolution
        .side_by_side()
        .iter()
        .any(|entry| Some(&entry.name) == core);
    let mut printer = Printer {
        packages,
        hidden: core.filter(|_| !several_cores),
        shown: FxHashSet::default(),
        depth: depth.unwrap_or(usize::MAX),
        is_frozen,
        continued: VecDeque::new(),
        text: String::new(),
    };
    for root in resolution.roots() {
        printer.line(&root.owner.to_string());
        printer.below(&root.requires, 0);
        while let Some(((name, version), levels)) = printer.continued.pop_front() {
            if printer.shown.insert((name, version)) {
                let package = printer.packages.get(&(name, version)).copied();
                let requires = package.map_or(&[][..], |package| &package.requires);
                printer.line(&format!("{name} {version} (continued)"));
                printer.below(requires, levels);
            }
        }
    }
    printer.text
}

struct Printer<'a> {
    packages: FxHashMap<(&'a PackageName, &'a Version), &'a ResolvedPackage>,
    hidden: Option<&'a PackageName>,
    shown: FxHashSet<(&'a PackageName, &'a Version)>,
    depth: usize,
    /// Whether the resolution was read from a lockfile.
    is_frozen: bool,
    /// The releases whose requirements are printed later, with the levels above them.
    continued: VecDeque<((&'a PackageName, &'a Version), usize)>,
    text: String,
}

/// A release whose requirements are being printed.
struct Open<'a> {
    requirements: Vec<&'a BoundRequirement>,
    next: usize,
    /// The length of the line prefix of this level.
    prefix: usize,
}

impl<'a> Printer<'a> {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("writing to a string does not fail");
    }

    /// Prints requirements and what is below them, depth first and without recursion. There are `above` levels above
    /// them.
    fn below(&mut self, requirements: &'a [BoundRequirement], above: usize) {
        let hidden = self.hidden.filter(|_| above > 0);
        let requirements = requirements.iter();
        let requirements = requirements.filter(|required| Some(&required.package) != hidden);
        let mut stack = vec![Open {
            requirements: if self.depth <= above {
                Vec::new()
            } else {
                requirements.collect()
            },
            next: 0,
            prefix: 0,
        }];
        let mut prefix = String::new();
        while let Some(open) = stack.last_mut() {
            let Some(bound) = open.requirements.get(open.next).copied() else {
                stack.pop();
                continue;
            };
            open.next += 1;
            let is_last = open.next == open.requirements.len();
            prefix.truncate(open.prefix);
            let line = &mut self.text;
            line.push_str(&prefix);
            line.push_str(if is_last {
                "\u{2514}\u{2500}\u{2500} "
            } else {
                "\u{251c}\u{2500}\u{2500} "
            });
            write!(line, "{} {}", bound.package, bound.version).expect("writing does not fail");
            let key = (&bound.package, &bound.version);
            let package = self.packages.get(&key).copied();
            let levels = above + stack.len();
            let is_deepest = levels >= self.depth;
            let is_continued = !is_deepest && stack.len() >= MAX_LEVELS;
            // A subtree that is cut off here can still fit elsewhere.
            let first_time = if is_deepest || is_continued {
                !self.shown.contains(&key)
            } else {
                self.shown.insert(key)
            };
            if let Some(written) = &bound.overridden {
                // A folder that overrides a package allows any version of it.
                let spec = bound.spec.in_words();
                // A lockfile has the override, but not the requirement that it replaces.
                let note = if self.is_frozen {
                    format!(" (overridden with {spec})")
                } else {
                    format!(" (overridden: {written} -> {spec})")
                };
                line.push_str(&note);
            }
            let below: Vec<&BoundRequirement> = package
                .into_iter()
                .flat_map(|package| &package.requires)
                .filter(|required| Some(&required.package) != self.hidden)
                .collect();
            match package {
                None => line.push_str(" (root)"),
                Some(package) => {
                    match package.source {
                        ReleaseSource::Host => line.push_str(" (host)"),
                        ReleaseSource::BuiltIn => line.push_str(" (built in)"),
                        ReleaseSource::Registry(_) => {}
                    }
                    if package.yanked {
                        line.push_str(" (yanked)");
                    }
                }
            }
            if !first_time && !below.is_empty() {
                line.push_str(" (*)");
            }
            if first_time && is_continued && !below.is_empty() {
                line.push_str(" (continued below)");
                self.continued.push_back((key, levels));
            }
            line.push('\n');
            if first_time && !is_deepest && !is_continued {
                prefix.push_str(if is_last { "    " } else { "\u{2502}   " });
                stack.push(Open {
                    requirements: below,
                    next: 0,
                    prefix: prefix.len(),
                });
            }
        }
    }
}

/// The inverted tree of a package: what requires it, and what requires that. One tree for each of its versions, or
/// for the one that is named.
pub(crate) fn inverted(
    resolution: &Resolution,
    package: &PackageName,
    version: Option<&Version>,
    depth: Option<usize>,
) -> String {
    let depth = depth.unwrap_or(usize::MAX);
    let mut all: FxHashMap<(&PackageName, &Version), Vec<Requirer>> = FxHashMap::default();
    for owner in resolution.owners() {
        for bound in owner.requires() {
            let requirers = all.entry((&bound.package, &bound.version)).or_default();
            requirers.push(Requirer {
                owner: owner.owner(),
                spec: bound.spec.clone(),
                is_implied: bound.is_implied,
                version: bound.version.clone(),
            });
        }
    }
    let requirers_of = |name: &PackageName, version: &Version| {
        all.get(&(name, version)).cloned().unwrap_or_default()
    };
    let mut text = String::new();
    let mut shown: BTreeSet<Owner> = BTreeSet::new();
    let mut continued: VecDeque<((PackageName, Version), usize)> = VecDeque::new();
    let versions = resolution.packages().iter();
    let versions = versions.filter(|release| version.is_none_or(|named| release.version == *named));
    for release in versions.filter(|release| release.name == *package) {
        text.push_str(&format!("{} {}\n", release.name, release.version));
        let mut above = 0;
        let mut stack = vec![(requirers_of(&release.name, &release.version), 0)];
        loop {
            let Some((requirers, next)) = stack.last_mut() else {
                let Some(((name, version), levels)) = continued.pop_front() else {
                    break;
                };
                text.push_str(&format!("{name} {version} (continued)\n"));
                above = levels;
                stack.push((requirers_of(&name, &version), 0));
                continue;
            };
            let Some(requirer) = requirers.get(*next).cloned() else {
                stack.pop();
                continue;
            };
            *next += 1;
            let levels = stack.len();
            for (level, (requirers, next)) in stack.iter().enumerate() {
                text.push_str(match (level + 1 == levels, *next == requirers.len()) {
                    (true, true) => "\u{2514}\u{2500}\u{2500} ",
                    (true, false) => "\u{251c}\u{2500}\u{2500} ",
                    (false, true) => "    ",
                    (false, false) => "\u{2502}   ",
                });
            }
            text.push_str(&format!(
                "{} (requires {}{})",
                requirer.owner,
                requirer.spec,
                if requirer.is_implied { ", implied" } else { "" }
            ));
            let below = requirer.owner.release();
            let below = below.map_or_else(Vec::new, |(name, version)| requirers_of(name, version));
            if above + levels >= depth {
                text.push('\n');
                continue;
            }
            if levels >= MAX_LEVELS && !below.is_empty() {
                let Some((name, version)) = requirer.owner.release() else {
                    continue;
                };
                let release = (name.clone(), version.clone());
                if shown.insert(requirer.owner) {
                    text.push_str(" (continued below)\n");
                    continued.push_back((release, above + levels));
                } else {
                    text.push_str(" (*)\n");
                }
                continue;
            }
            if shown.insert(requirer.owner) {
                text.push('\n');
                stack.push((below, 0));
            } else {
                text.push_str(if below.is_empty() { "\n" } else { " (*)\n" });
            }
        }
    }
    text
}

/// The inverted trees of all packages that have several releases.
pub(crate) fn duplicates(resolution: &Resolution, depth: Option<usize>) -> String {
    let texts: Vec<String> = resolution
        .side_by_side()
        .iter()
        .map(|entry| inverted(resolution, &entry.name, None, depth))
        .collect();
    texts.join("\n")
}

/// The requirers of a package, or of the named release, as JSON.
pub(crate) fn requirers_json(
    resolution: &Resolution,
    package: &PackageName,
    version: Option<&Version>,
) -> Value {
    let requirers: Vec<Value> = resolution
        .requirers(package)
        .iter()
        .filter(|requirer| version.is_none_or(|named| requirer.version == *named))
        .map(requirement_json)
        .collect();
    json!({"package": package, "required_by": requirers})
}

/// The packages with several releases, each with its requirers, as JSON.
pub(crate) fn duplicates_json(resolution: &Resolution) -> Vec<Value> {
    resolution
        .side_by_side()
        .iter()
        .map(|entry| requirers_json(resolution, &entry.name, None))
        .collect()
}

/// Each path as indented lines below its root.
pub(crate) fn paths(paths: &[RequirementPath]) -> String {
    let mut text = String::new();
    for path in paths {
        text.push_str(&format!("{}\n", path.root));
        for (depth, step) in path.steps.iter().enumerate() {
            let indent = "    ".repeat((depth + 1).min(MAX_LEVELS));
            let (package, spec, version) = (&step.package, step.spec.in_words(), &step.version);
            let note = if step.is_override { " (override)" } else { "" };
            text.push_str(&format!(
                "{indent}requires {package} {spec}{note}: {version}\n"
            ));
        }
    }
    text
}

/// Each path as a JSON list, with the root as its first element.
pub(crate) fn paths_json(paths: &[RequirementPath]) -> Vec<Vec<Value>> {
    paths
        .iter()
        .map(|path| {
            let (name, version) = (path.root.name(), path.root.version());
            let root = json!({"package": name, "version": version, "spec": null});
            let steps = path.steps.iter().map(|step| {
                let mut step_json = json!({
                    "package": step.package,
                    "version": step.version,
                    "spec": step.spec.written(),
                });
                if step.is_override {
                    step_json["override"] = json!(true);
                }
                step_json
            });
            std::iter::once(root).chain(steps).collect()
        })
        .collect()
}
