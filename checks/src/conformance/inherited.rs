//! Checks classes that override functions of interfaces which they inherit.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pkgres_manifest::diagnostic::Located;
use pkgres_manifest::{ClassDefinition, ClassName, Method, Release, SuggestionEffort};

use super::{
    ClassConformance, InterfaceConformance, NamedInterface, compare_class, compare_function,
};
use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::canonical_name;

/// Returns how the classes of a release override functions of the interfaces that they inherit from ancestors.
///
/// Functions that a class inherits unchanged are reported for the ancestor that defines them. For interfaces that the
/// class names itself, see [`conformance`](super::conformance).
pub fn inherited_conformance<'packages>(
    packages: &'packages BoundPackages,
    release: &Release,
) -> Vec<ClassConformance<'packages>> {
    let bound = packages.releases.get(release);
    let package = bound.and_then(|bound| bound.package.as_ref());
    let classes = package.and_then(|package| package.classes.as_ref());
    let known = packages
        .releases
        .values()
        .filter_map(|it| it.package.as_ref());
    // Most packages have nothing to do with interfaces: their ancestors need no walk.
    let has_any = known
        .into_iter()
        .any(|it| !it.manifest.implements.is_empty());
    let (true, Some(classes)) = (has_any, classes) else {
        return Vec::new();
    };
    let named = NamedInterfaces::of(packages, |_| true);
    let overriding = classes
        .iter()
        .filter(|(_, definition)| !definition.methods.is_empty());
    overriding
        .filter_map(|(name, definition)| {
            let at = ClassAt {
                release: release.clone(),
                class: name.clone(),
            };
            let interfaces = inherited_interfaces(packages, &named, &at, definition);
            (!interfaces.is_empty()).then(|| ClassConformance {
                class: &definition.name,
                is_defined: true,
                interfaces,
                undeclared: Vec::new(),
                unknown: BTreeSet::new(),
            })
        })
        .collect()
}

/// Returns the conformance of a class to all interfaces that it implements, inherited ones included; `None` if the
/// release knows no class of the name.
pub fn class_conformance<'packages>(
    packages: &'packages BoundPackages,
    release: &Release,
    class: &ClassName,
) -> Option<ClassConformance<'packages>> {
    let at = packages.lookup(release, class)?;
    let definition = packages.definition(&at)?;
    let ancestry = packages.known_ancestry(&at).known;
    let releases: BTreeSet<&Release> = ancestry.iter().map(|(at, _)| &at.release).collect();
    let named = NamedInterfaces::of(packages, |release| releases.contains(release));
    let mut seen = BTreeSet::new();
    let mut interfaces: Vec<NamedInterface<'packages>> = Vec::new();
    for (ancestor, _) in &ancestry {
        for &interface in named.of_class(ancestor) {
            let found = packages.interface(&ancestor.release, &interface.value);
            let defining = found.as_ref().map(|(release, _)| release.clone());
            if seen.insert((defining, &interface.value)) {
                interfaces.push((interface, found));
            }
        }
    }
    let mut effort = SuggestionEffort::default();
    let compared = compare_class(
        packages,
        &at.release,
        &definition.name,
        interfaces,
        &mut effort,
    );
    Some(compared)
}

/// The interfaces that manifests say their classes implement.
struct NamedInterfaces<'packages> {
    by_class:
        BTreeMap<(&'packages Release, &'packages ClassName), Vec<&'packages Located<ClassName>>>,
}

impl<'packages> NamedInterfaces<'packages> {
    /// Those in the manifests of some releases.
    fn of(packages: &'packages BoundPackages, includes: impl Fn(&Release) -> bool) -> Self {
        let mut by_class: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (release, bound) in packages.releases.iter().filter(|(it, _)| includes(it)) {
            let package = bound.package.iter();
            for entry in package.flat_map(|package| &package.manifest.implements) {
                let interfaces = by_class.entry((release, &entry.class.value)).or_default();
                interfaces.extend(&entry.interfaces);
            }
        }
        Self { by_class }
    }

    /// Those of a class, in the order of its manifest.
    fn of_class<'all>(&'all self, class: &'all ClassAt) -> &'all [&'packages Located<ClassName>] {
        let interfaces = self.by_class.get(&(&class.release, &class.class));
        interfaces.map_or(&[], Vec::as_slice)
    }
}

/// The interfaces that a class inherits, with the functions that it overrides; those without such a function are left
/// out.
fn inherited_interfaces<'packages>(
    packages: &'packages BoundPackages,
    named: &NamedInterfaces<'packages>,
    class: &ClassAt,
    definition: &'packages ClassDefinition,
) -> Vec<InterfaceConformance<'packages>> {
    let mut methods: HashMap<&str, &Method> = HashMap::new();
    for method in &definition.methods {
        methods
            .entry(canonical_name(&method.name.value))
            .or_insert(method);
    }
    let mut seen = BTreeSet::new();
    let mut inherited = Vec::new();
    // The class itself comes first: its own interfaces are seen, and not added.
    for (ancestor, _) in packages.known_ancestry(class).known {
        for &interface in named.of_class(&ancestor) {
            let Some((defining, found)) = packages.interface(&ancestor.release, &interface.value)
            else {
                continue;
            };
            if !seen.insert((defining.clone(), &interface.value)) || ancestor == *class {
                continue;
            }
            let functions = found.functions.iter().filter_map(|function| {
                let method = methods.get(canonical_name(&function.name.value))?;
                Some(compare_function(function, &defining.version, Some(method)))
            });
            let functions: Vec<_> = functions.collect();
            if !functions.is_empty() {
                inherited.push(InterfaceConformance {
                    interface,
                    definition: Some((defining, found)),
                    functions,
                });
            }
        }
    }
    inherited
}
