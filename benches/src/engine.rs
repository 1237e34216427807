//! Universes as pkgres solves them: through registries, as `pkgres resolve` does.

use std::time::Duration;

use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, PackageName, ReadOptions, RegistryName, Requirement,
    Shared, Spec, Version,
};
use pkgres_registry_client::{MemoryRegistry, Registry as _, RegistrySet, drive_to_verdict};
use pkgres_resolver::{Conflict, Request, Resolution, ResolvedPackage, Resolver, Step};

use crate::check::Answer;
use crate::measure::thread_time;
use crate::peers::{Peer, Timeout};
use crate::universe::{Dependency, Range, Release, Universe};

/// The index records of a universe.
fn records(universe: &Universe) -> impl Iterator<Item = IndexRecord> {
    let numbered = universe.packages.iter().enumerate();
    numbered.flat_map(|(package, releases)| {
        releases.iter().map(move |release| {
            let mut record = record(name(package), release.version, &release.dependencies);
            record.classes = Some(classes(package, release).into());
            record
        })
    })
}

fn classes(package: usize, release: &Release) -> Vec<IndexedClass> {
    let defined = (0..u32::BITS).filter(|number| release.defines(*number));
    let class = |number| IndexedClass {
        name: class(package, number),
        internal: false,
        extends: match number {
            0 => {
                let extended = release.extends.iter();
                extended
                    .map(|(target, number)| self::class(*target, *number))
                    .collect()
            }
            _ => Vec::new(),
        },
        implements: Vec::new(),
        uses: Vec::new(),
    };
    defined.map(class).collect()
}

fn class(package: usize, number: u32) -> ClassName {
    ClassName::parse(&format!("p{package}.C{number}")).expect("a name")
}

/// A release of a core library.
fn core_library() -> IndexRecord {
    let mut core = record(PackageName::parse("core").expect("a name"), 0, &[]);
    let root_class = IndexedClass {
        name: core.name.root_class(),
        internal: false,
        extends: Vec::new(),
        implements: Vec::new(),
        uses: Vec::new(),
    };
    core.classes = Some(vec![root_class].into());
    core
}

/// The roots of a universe.
fn roots(universe: &Universe) -> Vec<IndexRecord> {
    let name = PackageName::parse("root").expect("a name");
    let roots = universe.roots.iter();
    roots.map(|root| record(name.clone(), 0, root)).collect()
}

/// The releases of a universe as an index file.
pub fn index(universe: &Universe) -> String {
    let lines = records(universe).map(|record| record.to_line());
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The manifest of a root.
pub fn manifest(universe: &Universe, root: usize) -> String {
    let mut text = String::from(
        "Format: MuranoPL/1.4\nType: Application\nFullName: root\nName: Root\nVersion: 0.0.0\nRequire:\n",
    );
    for (package, range) in &universe.roots[root] {
        text += &format!("  {}: \"{}\"\n", name(*package), spec(*range));
    }
    text
}

fn name(package: usize) -> PackageName {
    PackageName::parse(&format!("p{package}")).expect("a name")
}

fn record(name: PackageName, version: u32, dependencies: &[Dependency]) -> IndexRecord {
    let version = Version::parse(&format!("{version}.0.0")).expect("a version");
    let mut record = IndexRecord::new(name, version);
    record.classes = Some(Shared::default());
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
    let mut text = format!(">={}.0.0", range.low);
    if let Some(high) = range.high {
        text += &format!(",<{high}.0.0");
    }
    if let Some(except) = range.except {
        text += &format!(",!={except}.0.0");
    }
    Spec::parse(&text).expect("a spec")
}

/// Our own solver with a registry that holds a universe, opened: what is prepared once is
/// prepared.
pub struct Pkgres {
    registries: RegistrySet,
    roots: Vec<IndexRecord>,
    core: Option<PackageName>,
    found: Option<Box<Resolution>>,
}

impl Pkgres {
    /// Makes a universe ready, on a core library if there is to be one: then every release requires
    /// that as well, and every class that says nothing of what it extends extends one of its classes.
    pub fn new(universe: &Universe, has_core: bool) -> Self {
        let name = RegistryName::parse("bench").expect("a name");
        let mut registry = MemoryRegistry::new(name);
        let core = has_core.then(core_library);
        if let Some(core) = &core {
            registry.add_record(core.clone());
        }
        for record in records(universe) {
            registry.add_record(record);
        }
        registry.compiled().expect("memory can be reached");
        Self {
            registries: RegistrySet::new(vec![Box::new(registry)]),
            roots: roots(universe),
            core: core.map(|core| core.name),
            found: None,
        }
    }

    /// Why a root has no answer, if it has none, and how long it took to find out that there is none and
    /// then why.
    pub fn explain(&self, root: usize) -> Option<(Box<Conflict>, [Duration; 2])> {
        let mut resolver = self.resolver(root);
        let begun = thread_time();
        let Step::Impossible = self.advance(&mut resolver) else {
            return None;
        };
        let found = thread_time();
        let Step::Conflict(conflict) = self.advance(&mut resolver) else {
            unreachable!("what is impossible has a reason");
        };
        Some((
            conflict,
            [
                found.saturating_sub(begun),
                thread_time().saturating_sub(found),
            ],
        ))
    }

    fn resolver(&self, root: usize) -> Resolver {
        let mut request = Request::new(self.roots[root].clone());
        request.core.clone_from(&self.core);
        // Features that the peers lack would only take time where there is no resolution.
        request.options.single_version = true;
        let mut resolver = Resolver::new(request);
        let attached = self.registries.attach_to(&mut resolver);
        attached.expect("memory can be reached");
        resolver
    }

    fn advance(&self, resolver: &mut Resolver) -> Step {
        let step = drive_to_verdict(resolver, &self.registries, &ReadOptions::default());
        step.expect("memory can be reached")
    }
}

impl Peer for Pkgres {
    /// There is no way to break it off: it always says how it ends.
    fn solve(&mut self, root: usize, _: Duration) -> Result<bool, Timeout> {
        self.found = None;
        let mut resolver = self.resolver(root);
        // Why there is no resolution is found out by going on.
        match self.advance(&mut resolver) {
            Step::Solved(resolution) => {
                self.found = Some(resolution);
                Ok(true)
            }
            Step::Impossible => Ok(false),
            Step::GaveUp { .. } => Err(Timeout),
            step => panic!("{step:?}"),
        }
    }

    fn take_answer(&mut self) -> Answer {
        let Some(resolution) = self.found.take() else {
            return Answer::new();
        };
        let number = |text: &str| text.parse::<usize>().expect("a number");
        let asked_for = |package: &&ResolvedPackage| Some(&package.name) != self.core.as_ref();
        let packages = resolution.packages().iter().filter(asked_for);
        let packages = packages.map(|package| {
            let version = package.version.to_string();
            let major = version.split('.').next().expect("a version has numbers");
            let package = number(&package.name.as_str()[1..]);
            let major = u32::try_from(number(major)).expect("a small number");
            (package, major)
        });
        packages.collect()
    }
}
