//! Classes that override functions of interfaces which they inherit.

use std::collections::BTreeSet;

use pkgres_manifest::{ClassDefinition, PackageName, Version};

use super::{ClassConformance, InterfaceConformance, compare_function};
use crate::bound::{BoundPackages, ClassAt};
use crate::members::canonical_name;

/// Returns how the classes of a release override functions of the interfaces that they inherit from ancestors.
///
/// Functions that a class inherits unchanged are reported for the ancestor that defines them. For interfaces that the
/// class names itself, see [`conformance`](super::conformance).
pub fn inherited_conformance<'packages>(
    packages: &'packages BoundPackages,
    release: &(PackageName, Version),
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
    let overriding = classes
        .iter()
        .filter(|(_, definition)| !definition.methods.is_empty());
    overriding
        .filter_map(|(name, definition)| {
            let at = ClassAt {
                release: release.clone(),
                class: name.clone(),
            };
            let interfaces = inherited_interfaces(packages, &at, definition);
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

/// The interfaces that a class inherits, with the functions that it overrides; those without such a function are left
/// out.
fn inherited_interfaces<'packages>(
    packages: &'packages BoundPackages,
    class: &ClassAt,
    definition: &'packages ClassDefinition,
) -> Vec<InterfaceConformance<'packages>> {
    let mut seen = BTreeSet::new();
    let mut inherited = Vec::new();
    // The class itself comes first: its own interfaces are seen, and not added.
    for (ancestor, _) in packages.known_ancestry(class).known {
        let package = packages.releases.get(&ancestor.release);
        let Some(package) = package.and_then(|it| it.package.as_ref()) else {
            continue;
        };
        let implements = package.manifest.implements.iter();
        let implements = implements.filter(|entry| entry.class.value == ancestor.class);
        for interface in implements.flat_map(|entry| &entry.interfaces) {
            let Some((defining, found)) = packages.interface(&ancestor.release, &interface.value)
            else {
                continue;
            };
            if !seen.insert((defining.clone(), &interface.value)) || ancestor == *class {
                continue;
            }
            let functions = found.functions.iter().filter_map(|function| {
                let name = canonical_name(&function.name.value);
                let mut methods = definition.methods.iter();
                let method = methods.find(|it| canonical_name(&it.name.value) == name)?;
                Some(compare_function(function, &defining.1, Some(method)))
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
