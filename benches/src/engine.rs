//! Universes as pkgres solves them: through registries, as `pkgres resolve` does.

use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, PackageName, ReadOptions, RegistryName, Requirement,
    Spec, Version,
};
use pkgres_registry_client::{MemoryRegistry, Registry as _, RegistrySet, advance};
use pkgres_resolver::{Request, Resolver, Step};

use crate::universe::{Dependency, Range, Universe};

/// The index records of a universe. Every release defines a class, so that class rules count.
pub fn records(universe: &Universe) -> Vec<IndexRecord> {
    let numbered = universe.packages.iter().enumerate();
    numbered
        .flat_map(|(package, releases)| {
            releases.iter().map(move |release| {
                let mut record = record(name(package), release.version, &release.dependencies);
                record.classes = Some(vec![IndexedClass {
                    name: ClassName::parse(&format!("p{package}.Main")).expect("a name"),
                    internal: false,
                    extends: Vec::new(),
                    uses: Vec::new(),
                }]);
                record
            })
        })
        .collect()
}

/// The roots of a universe.
pub fn roots(universe: &Universe) -> Vec<IndexRecord> {
    let name = PackageName::parse("root").expect("a name");
    let roots = universe.roots.iter();
    roots.map(|root| record(name.clone(), 0, root)).collect()
}

fn name(package: usize) -> PackageName {
    PackageName::parse(&format!("p{package}")).expect("a name")
}

fn record(name: PackageName, version: u32, dependencies: &[Dependency]) -> IndexRecord {
    let version = Version::parse(&format!("{version}.0.0")).expect("a version");
    let mut record = IndexRecord::new(name, version);
    record.classes = Some(Vec::new());
    record.requirements = dependencies
        .iter()
        .map(|(package, range)| Requirement {
            package: self::name(*package),
            spec: spec(*range),
            location: None,
        })
        .collect();
    record
}

fn spec(range: Range) -> Spec {
    let text = match range.high {
        None => format!(">={}.0.0", range.low),
        Some(high) => format!(">={}.0.0,<{high}.0.0", range.low),
    };
    Spec::parse(&text).expect("a spec")
}

/// A registry that holds a universe, opened: what is prepared once is prepared.
pub fn registries(records: Vec<IndexRecord>) -> RegistrySet {
    let name = RegistryName::parse("bench").expect("a name");
    let mut registry = MemoryRegistry::new(name);
    for record in records {
        registry.add_record(record);
    }
    registry.compiled().expect("memory can be reached");
    RegistrySet::new(vec![Box::new(registry)])
}

/// Solves each root; says how many have a resolution with one release of each package.
pub fn solve(registries: &RegistrySet, roots: &[IndexRecord]) -> usize {
    let mut solved = 0;
    for root in roots {
        let mut request = Request::new(root.clone());
        request.core = None;
        // What the peers do not have would only take time where there is no resolution.
        request.options.single_version = true;
        let mut resolver = Resolver::new(request);
        let attached = registries.attach_to(&mut resolver);
        attached.expect("memory can be reached");
        // Why there is no resolution is found out by going on.
        let step = advance(&mut resolver, registries, &ReadOptions::default());
        match step.expect("memory can be reached") {
            Step::Solved(_) => solved += 1,
            Step::Impossible => {}
            step => panic!("{step:?}"),
        }
    }
    solved
}
