//! The inheritance graph of the classes of a resolution.

use std::collections::BTreeMap;

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Release, Version};
use pkgres_resolver::{Resolution, Root};

use crate::registry_error::RegistryError;
use crate::set::RegistrySet;

/// A class and the release that defines it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClassNode {
    /// The package.
    pub package: PackageName,
    /// Its version.
    pub version: Version,
    /// The class.
    pub class: ClassName,
}

/// Every class of a resolution, sorted, with the classes that it extends. Releases whose classes are not known are left
/// out, and so is the class that all others extend.
///
/// # Errors
///
/// A registry cannot be read.
pub fn class_graph(
    roots: &[Root],
    provided: &[IndexRecord],
    resolution: &Resolution,
    registries: &RegistrySet,
) -> Result<BTreeMap<ClassNode, Vec<ClassNode>>, RegistryError> {
    let names: Vec<PackageName> = resolution
        .packages()
        .iter()
        .map(|package| package.name.clone())
        .collect();
    let mut records: BTreeMap<Release, IndexRecord> = BTreeMap::new();
    for supply in registries.supply(&names)? {
        for record in supply.into_records() {
            records.insert(record.release(), record);
        }
    }
    let roots = roots.iter().filter_map(Root::record);
    for record in provided.iter().chain(roots) {
        records.insert(record.release(), record.clone());
    }
    let mut graph = BTreeMap::new();
    for owner in resolution.owners() {
        let Some((name, version)) = owner.release() else {
            continue;
        };
        let Some(record) = records.get(&Release::new(name.clone(), version.clone())) else {
            continue;
        };
        for class in record.classes.iter().flatten() {
            let node = |package: &PackageName, version: &Version, class: &ClassName| ClassNode {
                package: package.clone(),
                version: version.clone(),
                class: class.clone(),
            };
            // A class is looked up in the package itself, then in what it requires, in order.
            let find = |parent: &ClassName| {
                if record.class(parent).is_some() {
                    return Some(node(name, version, parent));
                }
                owner.requires().iter().find_map(|bound| {
                    let required = bound.release();
                    let defines = records.get(&required)?.exports(parent);
                    defines.then(|| node(&bound.package, &bound.version, parent))
                })
            };
            let parents: Vec<ClassNode> = class.extends.iter().filter_map(find).collect();
            graph.insert(node(name, version, &class.name), parents);
        }
    }
    Ok(graph)
}
