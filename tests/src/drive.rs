//! The loop that lets a solver answer, for all tests that need no registries.
//!
//! `pkgres_registry_client` has the loop for programs. It needs a registry; here, whatever is
//! [`Packages`] provides a solver with the packages that it needs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Package, PackageName, RegistryName, Release, ReleaseSource};
use pkgres_resolver::{CompiledIndex, Request, Resolver, Step, Supply};

/// The packages for a solver.
pub trait Packages {
    /// Attaches an index that has some of the packages that are needed. Returns false if there is
    /// none; then each package is provided by itself.
    fn attach(&mut self, resolver: &mut Resolver, needed: &[PackageName]) -> bool {
        let _ = (resolver, needed);
        false
    }

    /// All releases of a package.
    fn supply(&mut self, name: &PackageName) -> Supply;

    /// The classes of a release, which only object models need.
    ///
    /// # Panics
    ///
    /// Unless a test sets the classes.
    fn classes(&mut self, release: &Release) -> Option<Arc<Package>> {
        panic!("the classes of {release:?} are needed for no model")
    }
}

/// No packages, beside those that the solver has already.
#[derive(Debug)]
pub struct NoPackages;

impl Packages for NoPackages {
    fn supply(&mut self, _: &PackageName) -> Supply {
        Supply::Unknown
    }
}

/// Packages by their records.
#[derive(Debug)]
pub struct Records(BTreeMap<PackageName, Vec<IndexRecord>>);

impl Records {
    /// Packages with these releases, which keep their order.
    pub fn new(records: impl IntoIterator<Item = IndexRecord>) -> Self {
        let mut by_name: BTreeMap<PackageName, Vec<IndexRecord>> = BTreeMap::new();
        for record in records {
            by_name.entry(record.name.clone()).or_default().push(record);
        }
        Self(by_name)
    }

    /// All releases of a package.
    pub fn supply_of(&self, name: &PackageName) -> Supply {
        match self.0.get(name) {
            None => Supply::Unknown,
            Some(records) => Supply::Releases {
                source: source(),
                records: records.clone(),
            },
        }
    }

    /// The packages in the order of their names, each with its releases.
    pub fn by_name(&self) -> &BTreeMap<PackageName, Vec<IndexRecord>> {
        &self.0
    }
}

impl Packages for Records {
    fn supply(&mut self, name: &PackageName) -> Supply {
        self.supply_of(name)
    }
}

/// The registry that all packages of tests come from.
pub fn source() -> ReleaseSource {
    ReleaseSource::Registry(RegistryName::parse("test").expect("a valid name"))
}

/// A solver that has all packages of an index.
pub fn attached(request: Request, index: Arc<CompiledIndex>) -> Resolver {
    let mut resolver = Resolver::new(request);
    let attached = resolver.attach(source(), index);
    attached.expect("no dates are needed");
    resolver
}

/// Runs a solver to the end: if there is no resolution, until it reports the conflict.
///
/// # Panics
///
/// If the solver asks twice for a package.
pub fn drive(resolver: &mut Resolver, packages: &mut impl Packages) -> Step {
    let mut asked = BTreeSet::new();
    loop {
        match meet_needs(resolver, packages, &mut asked) {
            Step::Impossible => {}
            step => return step,
        }
    }
}

/// Runs a solver until it needs nothing. If there is no resolution, this ends before the solver
/// finds out why.
///
/// # Panics
///
/// If the solver asks twice for a package.
pub fn advance(resolver: &mut Resolver, packages: &mut impl Packages) -> Step {
    meet_needs(resolver, packages, &mut BTreeSet::new())
}

fn meet_needs(
    resolver: &mut Resolver,
    packages: &mut impl Packages,
    asked: &mut BTreeSet<PackageName>,
) -> Step {
    loop {
        match resolver.step() {
            Step::Need(names) => {
                if packages.attach(resolver, &names) {
                    continue;
                }
                for name in names {
                    assert!(!asked.contains(&name), "{name} was provided before");
                    let provided = resolver.provide(&name, packages.supply(&name));
                    provided.expect("the records are of the package");
                    asked.insert(name);
                }
            }
            Step::NeedClasses(releases) => {
                for release in releases {
                    let classes = packages.classes(&release);
                    let provided =
                        resolver.provide_classes(&release.name, &release.version, classes);
                    provided.expect("the release was provided");
                }
            }
            step => return step,
        }
    }
}
