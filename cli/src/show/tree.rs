//! A resolution as a tree of requirements, the inverted tree of a package, and the paths to one.

use std::path::Path;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{PackageName, ReleaseSource, Version};
use pkgres_resolver::{
    BoundRequirement, Owner, RequirementPath, Requirer, Resolution, ResolvedPackage,
};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::resolution::requirement_json;
use super::tree_printer::{MAX_LEVELS, TreeGraph, TreePrinter};

/// The tree of each root. A subtree that was shown before is replaced by `(*)`. The core library, which everything
/// requires, appears directly below the roots only, unless it has several releases. `root_file` is the root of the
/// project, if it belongs to another ecosystem than class packages. `depth` limits the levels below a root. `is_frozen` is
/// set if the resolution was read from a lockfile.
pub(crate) fn tree(
    resolution: &Resolution,
    root_file: Option<&Path>,
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
    let graph = Requirements {
        packages,
        hidden: core.filter(|_| !several_cores),
        is_frozen,
    };
    let mut printer = TreePrinter::new(&graph, depth);
    for root in resolution.roots() {
        let title = owner_title(&root.owner, root_file);
        printer.tree(&title, root.requires.iter().collect());
    }
    printer.into_text()
}

/// The title of an owner of requirements. A file is shown with its folder: files of several projects often have one name.
fn owner_title(owner: &Owner, root_file: Option<&Path>) -> String {
    match (owner, root_file) {
        (Owner::File { .. }, Some(path)) => Escaped::path(path).to_string(),
        _ => owner.to_string(),
    }
}

/// The requirements of each release.
struct Requirements<'a> {
    packages: FxHashMap<(&'a PackageName, &'a Version), &'a ResolvedPackage>,
    /// The package that is not shown below other packages.
    hidden: Option<&'a PackageName>,
    /// Whether the resolution was read from a lockfile.
    is_frozen: bool,
}

impl Requirements<'_> {
    /// The note about a requirement that is overridden.
    fn override_note(&self, bound: &BoundRequirement) -> Option<String> {
        let written = bound.overridden.as_ref()?;
        // A folder that overrides a package allows any version of it.
        let spec = bound.spec.in_words();
        // A lockfile has the override, but not the requirement that it replaces.
        Some(if self.is_frozen {
            format!(" (overridden with {spec})")
        } else {
            format!(" (overridden: {written} -> {spec})")
        })
    }
}

impl<'a> TreeGraph for Requirements<'a> {
    type Edge = &'a BoundRequirement;
    type Node = (&'a PackageName, &'a Version);

    fn node(&self, edge: Self::Edge) -> Self::Node {
        (&edge.package, &edge.version)
    }

    fn edges(&self, node: Self::Node) -> Vec<Self::Edge> {
        let package = self.packages.get(&node).copied();
        let requires = package.into_iter().flat_map(|package| &package.requires);
        requires
            .filter(|required| Some(&required.package) != self.hidden)
            .collect()
    }

    fn label(&self, edge: Self::Edge) -> String {
        let mut label = self.title(self.node(edge));
        label.extend(self.override_note(edge));
        let Some(package) = self.packages.get(&self.node(edge)) else {
            return label + " (root)";
        };
        label.push_str(match package.source {
            ReleaseSource::Host => " (host)",
            ReleaseSource::BuiltIn => " (built in)",
            ReleaseSource::Registry(_) => "",
        });
        if package.yanked {
            label.push_str(" (yanked)");
        }
        label
    }

    fn title(&self, (name, version): Self::Node) -> String {
        format!("{name} {version}")
    }
}

/// The inverted tree of a package: what requires it, and what requires that. One tree for each of its versions, or
/// for the one that is named. `root_file` is as in [`tree`].
pub(crate) fn inverted(
    resolution: &Resolution,
    root_file: Option<&Path>,
    package: &PackageName,
    version: Option<&Version>,
    depth: Option<usize>,
) -> String {
    let mut requirers: FxHashMap<(&PackageName, &Version), Vec<Requirer>> = FxHashMap::default();
    for owner in resolution.owners() {
        for bound in owner.requires() {
            let release = (&bound.package, &bound.version);
            requirers.entry(release).or_default().push(Requirer {
                owner: owner.owner(),
                spec: bound.spec.clone(),
                is_implied: bound.is_implied,
                version: bound.version.clone(),
            });
        }
    }
    let graph = Requirers {
        requirers: &requirers,
        root_file,
    };
    let mut printer = TreePrinter::new(&graph, depth);
    let versions = resolution.packages().iter();
    let versions = versions.filter(|release| version.is_none_or(|named| release.version == *named));
    for release in versions.filter(|release| release.name == *package) {
        let root = format!("{} {}", release.name, release.version);
        printer.tree(&root, graph.of(&release.name, &release.version));
    }
    printer.into_text()
}

/// The requirers of each release.
struct Requirers<'a> {
    requirers: &'a FxHashMap<(&'a PackageName, &'a Version), Vec<Requirer>>,
    root_file: Option<&'a Path>,
}

impl<'a> Requirers<'a> {
    fn of(&self, name: &'a PackageName, version: &'a Version) -> Vec<&'a Requirer> {
        let requirers = self.requirers.get(&(name, version));
        requirers.into_iter().flatten().collect()
    }
}

impl<'a> TreeGraph for Requirers<'a> {
    type Edge = &'a Requirer;
    type Node = &'a Owner;

    fn node(&self, edge: Self::Edge) -> Self::Node {
        &edge.owner
    }

    fn edges(&self, node: Self::Node) -> Vec<Self::Edge> {
        let release = node.release();
        release.map_or_else(Vec::new, |(name, version)| self.of(name, version))
    }

    fn label(&self, edge: Self::Edge) -> String {
        let implied = if edge.is_implied { ", implied" } else { "" };
        let owner = self.title(&edge.owner);
        format!("{owner} (requires {}{implied})", edge.spec)
    }

    fn title(&self, node: Self::Node) -> String {
        owner_title(node, self.root_file)
    }
}

/// The inverted trees of all packages that have several releases.
pub(crate) fn duplicates(
    resolution: &Resolution,
    root_file: Option<&Path>,
    depth: Option<usize>,
) -> String {
    let texts: Vec<String> = resolution
        .side_by_side()
        .iter()
        .map(|entry| inverted(resolution, root_file, &entry.name, None, depth))
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

/// Each path as indented lines below its root. `root_file` is as in [`tree`].
pub(crate) fn paths(paths: &[RequirementPath], root_file: Option<&Path>) -> String {
    let mut text = String::new();
    for path in paths {
        text.push_str(&format!("{}\n", owner_title(&path.root, root_file)));
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
