//! Contracts of object models: whichever way a resolution comes about, they are met.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    IndexRecord, Limits, ObjectModel, Package, PackageManifest, PackageName, ReadOptions,
    RegistryName, ReleaseSource, Version,
};
use pkgres_resolver::{
    Locked, ModelRoot, ObjectDemand, Request, Resolution, Resolver, Root, SolveOptions, Step,
    Supply,
};
use pkgres_tests::build::{Build, package, release, spec, version};

/// A package with one class of its own name, whose properties are given as lines of YAML.
fn classes(name: &str, properties: &str) -> Arc<Package> {
    let manifest = format!("FullName: {name}\nType: Application\nClasses: {{{name}: C.yaml}}\n");
    let source = SourceText::new("manifest.yaml", manifest);
    let options = ReadOptions::default();
    let manifest = PackageManifest::parse(&source, &options).into_result();
    let (manifest, _) = manifest.expect("the test writes a manifest");
    let class = format!("Name: {name}\nProperties:\n{properties}");
    let package = Package::assemble(manifest, &options, |_| Some(class.clone().into_bytes()));
    let (package, _) = package.into_result().expect("the test writes a class");
    Arc::new(package)
}

/// A model in JSON whose objects take their classes from packages of the same names.
fn model(text: &str) -> Root {
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = model.into_result().expect("the test writes a model");
    let objects = model.objects().iter().map(|object| ObjectDemand {
        package: package(object.class.as_str()),
        spec: spec("*"),
    });
    Root::Model(ModelRoot {
        objects: objects.collect(),
        model: Arc::new(model),
    })
}

fn request(root: Root) -> Request {
    Request {
        roots: vec![root],
        core: None,
        provided: Vec::new(),
        locked: Locked::default(),
        overrides: BTreeMap::new(),
        options: SolveOptions::default(),
        update: None,
    }
}

/// What packages there are, and the classes of all their releases.
struct Known {
    records: Vec<IndexRecord>,
    classes: BTreeMap<PackageName, Arc<Package>>,
}

impl Known {
    fn classes_of(&self, name: &PackageName) -> Option<Arc<Package>> {
        self.classes.get(name).cloned()
    }

    /// Solves a request; `None` if there is no resolution. With `beforehand`, nothing has to be
    /// asked for.
    fn solve(&self, request: Request, beforehand: bool) -> Option<Resolution> {
        let mut resolver = Resolver::new(request);
        let provide = |resolver: &mut Resolver, name: &PackageName| {
            let records = self.records.iter().filter(|record| record.name == *name);
            let records = records.cloned().collect();
            let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a name"));
            resolver.provide(name, Supply::Releases { source, records });
        };
        if beforehand {
            for record in &self.records {
                provide(&mut resolver, &record.name);
            }
            for record in &self.records {
                let classes = self.classes_of(&record.name);
                resolver.provide_classes(&record.name, &record.version, classes);
            }
        }
        loop {
            match resolver.step() {
                Step::Need(names) => {
                    for name in names {
                        provide(&mut resolver, &name);
                    }
                }
                Step::NeedClasses(releases) => {
                    assert!(!beforehand, "{releases:?} were provided");
                    for (name, version) in releases {
                        resolver.provide_classes(&name, &version, self.classes_of(&name));
                    }
                }
                Step::Solved(resolution) => return Some(*resolution),
                Step::Impossible => return None,
                other => panic!("{other:?}"),
            }
        }
    }
}

fn version_of(resolution: &Resolution, name: &str) -> Option<Version> {
    let found = resolution.package(&package(name));
    found.map(|found| found.version.clone())
}

/// A lock says nothing of contracts: that all its releases are still allowed is not enough.
#[test]
fn a_lock_that_breaks_a_contract_is_not_the_answer() {
    let holder = "  any: {Contract: $}\n  old: {Contract: \"$.class(V, null, '1')\"}\n";
    let known = Known {
        records: vec![
            release("H", "1").requires("V", "*").defines("H", &[]),
            release("V", "1").defines("V", &[]),
            release("V", "2").defines("V", &[]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("V"), classes("V", "  x: {Contract: $}\n")),
        ]),
    };
    let with = |property: &str| {
        model(&format!(
            r#"{{"?": {{"id": "h", "type": "H"}}, "{property}": {{"?": {{"id": "v", "type": "V"}}}}}}"#
        ))
    };
    let first = known.solve(request(with("any")), false);
    let first = first.expect("no contract speaks against it");
    assert_eq!(version_of(&first, "V"), Some(version("2")));
    for beforehand in [false, true] {
        let mut again = request(with("old"));
        again.locked = Locked::from_lockfile(&first.to_lockfile());
        let again = known.solve(again, beforehand);
        let again = again.expect("V 1 meets the contract");
        assert_eq!(version_of(&again, "V"), Some(version("1")));
    }
    let mut same = request(with("any"));
    same.locked = Locked::from_lockfile(&first.to_lockfile());
    let same = known.solve(same, false).expect("nothing changed");
    assert_eq!(same.to_lockfile(), first.to_lockfile());
    assert_eq!(same.stats().steps, 0, "the lock is the answer");
}
