//! Contracts of object models: whichever way a resolution comes about, they are met.

use std::collections::BTreeMap;
use std::sync::Arc;

use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    IndexRecord, Limits, Lockfile, ObjectModel, Package, PackageManifest, PackageName, ReadOptions,
    RegistryName, ReleaseSource, Version,
};
use pkgres_resolver::{
    CompiledIndex, LockCheck, Locked, ModelNotLockable, ModelRoot, ObjectDemand, Owner, Request,
    Resolution, Resolver, Root, SolveOptions, Staleness, Step, Supply,
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
    let model = Arc::new(model);
    Root::Model(ModelRoot::new(Arc::clone(&model), |object| ObjectDemand {
        package: package(model.object(object).class.as_str()),
        spec: spec("*"),
    }))
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

    fn supply(&self, name: &PackageName) -> Supply {
        let records = self.records.iter().filter(|record| record.name == *name);
        let records = records.cloned().collect();
        let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a name"));
        Supply::Releases { source, records }
    }

    /// Solves a request; `None` if there is no resolution. With `beforehand`, nothing has to be
    /// asked for.
    fn solve(&self, request: Request, beforehand: bool) -> Option<Resolution> {
        self.answer(Resolver::new(request), beforehand)
    }

    /// Lets a solver answer.
    fn answer(&self, mut resolver: Resolver, beforehand: bool) -> Option<Resolution> {
        let provide = |resolver: &mut Resolver, name: &PackageName| {
            resolver.provide(name, self.supply(name));
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

/// A holder of objects of class V, of any version or of an old one, and two versions of V.
fn holder_of_versions() -> Known {
    let holder = "  any: {Contract: $}\n  old: {Contract: \"$.class(V, null, '1')\"}\n";
    Known {
        records: vec![
            release("H", "1").requires("V", "*").defines("H", &[]),
            release("V", "1").defines("V", &[]),
            release("V", "2").defines("V", &[]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("V"), classes("V", "  x: {Contract: $}\n")),
        ]),
    }
}

/// A holder of an object of class V in a property.
fn holding(property: &str) -> Root {
    model(&format!(
        r#"{{"?": {{"id": "h", "type": "H"}}, "{property}": {{"?": {{"id": "v", "type": "V"}}}}}}"#
    ))
}

/// A lock says nothing of contracts: that all its releases are still allowed is not enough.
#[test]
fn a_lock_that_breaks_a_contract_is_not_the_answer() {
    let known = holder_of_versions();
    let first = known.solve(request(holding("any")), false);
    let first = first.expect("no contract speaks against it");
    assert_eq!(version_of(&first, "V"), Some(version("2")));
    for beforehand in [false, true] {
        let mut again = request(holding("old"));
        again.locked = first.to_locked();
        let again = known.solve(again, beforehand);
        let again = again.expect("V 1 meets the contract");
        assert_eq!(version_of(&again, "V"), Some(version("1")));
    }
    let mut same = request(holding("any"));
    same.locked = first.to_locked();
    let same = known.solve(same, false).expect("nothing changed");
    assert_eq!(same.to_locked(), first.to_locked());
    assert_eq!(same.stats().steps, 0, "the lock is the answer");
}

/// A lockfile has names as its roots. A model has none, so no file is made that cannot be read.
#[test]
fn a_lockfile_is_only_made_of_what_it_can_hold() {
    let known = holder_of_versions();
    let found = known.solve(request(holding("any")), false);
    let found = found.expect("no contract speaks against it");
    assert_eq!(found.roots()[0].owner, Owner::ObjectModel);
    assert_eq!(found.to_lockfile(), Err(ModelNotLockable));

    let record = Box::new(release("A", "1").requires("H", "*"));
    let found = known.solve(request(Root::Package(record)), false);
    let found = found.expect("there is an H");
    let lock = found.to_lockfile().expect("the root is a package");
    let read = Lockfile::read("pkgres.lock", lock.to_text().as_bytes(), &Limits::default());
    let (read, _) = read.into_result().expect("what is written can be read");
    assert_eq!(read.to_text(), lock.to_text());
    assert_eq!(Locked::from_lockfile(&read), found.to_locked());
}

/// No lockfile has what objects of a model are bound to, so none fits a request with a model.
#[test]
fn no_lockfile_fits_a_model() {
    let record = || Root::Package(Box::new(release("A", "1").requires("H", "*")));
    let known = holder_of_versions();
    let found = known
        .solve(request(record()), false)
        .expect("there is an H");
    let lock = found.to_lockfile().expect("the root is a package");
    for (has_model, stale) in [(false, Vec::new()), (true, vec![Staleness::ModelNotLocked])] {
        let mut request = request(record());
        if has_model {
            request.roots.push(holding("any"));
        }
        let mut check = LockCheck::new(request, lock.clone());
        for name in check.needs() {
            check.provide(&name, known.supply(&name));
        }
        assert_eq!(check.report().stale, stale);
    }
}

/// Every package requires the core library, whether that is written or not. Objects demand what
/// somebody wrote.
#[test]
fn what_an_object_demands_is_not_implied() {
    let known = Known {
        records: vec![release("H", "0.1.0").defines("H.Object", &[])],
        classes: BTreeMap::new(),
    };
    let object = || {
        let text = br#"{"?": {"id": "o", "type": "H.Object"}}"#;
        let model = ObjectModel::read("model.json", text, &Limits::default());
        let (model, _) = model.into_result().expect("the test writes a model");
        Root::Model(ModelRoot::new(Arc::new(model), |_| ObjectDemand {
            package: package("H"),
            spec: spec("*"),
        }))
    };
    let rooted = || Root::Package(Box::new(release("A", "1")));
    for (root, is_implied) in [(object(), false), (rooted(), true)] {
        let mut request = request(root);
        request.core = Some(package("H"));
        let found = known.solve(request, false).expect("there is an H");
        let [bound] = &found.roots()[0].requires[..] else {
            panic!("the root requires the core library alone");
        };
        assert_eq!(bound.is_implied, is_implied);
    }
}

/// What stands for a model in the search is no package: one of any name may be beside it.
#[test]
fn a_model_can_be_a_root_beside_packages() {
    let known = holder_of_versions();
    let with = |name: &str, spec: &str| {
        let mut request = request(holding("old"));
        let record = release(name, "1").requires("V", spec);
        request.roots.insert(0, Root::Package(Box::new(record)));
        request
    };
    for name in ["A", "the_object_model"] {
        let found = known.solve(with(name, "*"), false);
        let found = found.expect("V 1 meets the contract");
        assert_eq!(version_of(&found, "V"), Some(version("1")));
        let roots: Vec<&Owner> = found.roots().iter().map(|root| &root.owner).collect();
        let release = Owner::Release {
            name: package(name),
            version: version("1"),
        };
        assert_eq!(roots, [&release, &Owner::ObjectModel]);

        let mut request = with(name, "2");
        request.options.single_version = true;
        let found = known.solve(request, false);
        assert_eq!(found, None, "V 2 does not meet the contract");
    }
}

/// Nor is it the package of that name which others require.
#[test]
fn a_package_that_is_called_like_what_stands_for_a_model_is_required_as_any_other() {
    let records = vec![
        release("H", "1")
            .requires("the_object_model", "1")
            .defines("H", &[]),
        release("the_object_model", "1"),
    ];
    let holder = r#"{"?": {"id": "h", "type": "H"}}"#;
    let index = Arc::new(CompiledIndex::compile(&records));
    let known = Known {
        records,
        classes: BTreeMap::from([(package("H"), classes("H", "  any: {Contract: $}\n"))]),
    };
    let mut resolver = Resolver::new(request(model(holder)));
    let source = ReleaseSource::Registry(RegistryName::parse("test").expect("a name"));
    resolver.attach(source, index);
    let attached = known.answer(resolver, false);
    let provided = known.solve(request(model(holder)), false);
    for found in [attached, provided] {
        let found = found.expect("there is a version 1");
        assert_eq!(version_of(&found, "the_object_model"), Some(version("1")));
    }
}

#[test]
fn there_is_one_model_at_most() {
    let mut request = request(holding("any"));
    request.roots.push(holding("old"));
    let mut resolver = Resolver::new(request);
    assert_eq!(resolver.step(), Step::Impossible);
    let Step::Conflict(conflict) = resolver.step() else {
        panic!("only one of them can be there");
    };
    assert_eq!(conflict.summary, "several roots are object models");
    assert_eq!(conflict.reasons[0].owner, None);
}

/// What a contract does not allow may stand beside what it does.
#[test]
fn a_package_is_split_so_that_a_contract_is_met() {
    let holder = "  old: {Contract: \"$.class(B, null, '1')\"}\n";
    let known = Known {
        records: vec![
            release("H", "1")
                .requires("W", "*")
                .requires("B", "*")
                .defines("H", &[]),
            release("W", "1").requires("B", "2").defines("W", &[]),
            release("C", "1").requires("B", "*").defines("C", &["B"]),
            release("B", "1").defines("B", &[]),
            release("B", "2").defines("B", &[]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("C"), classes("C", "  x: {Contract: $}\n")),
            (package("B"), classes("B", "  x: {Contract: $}\n")),
        ]),
    };
    let held = r#"{"?": {"id": "h", "type": "H"}, "old": {"?": {"id": "c", "type": "C"}}}"#;
    for beforehand in [false, true] {
        let found = known.solve(request(model(held)), beforehand);
        let found = found.expect("C has B 1, and W has B 2");
        let of_c = found.package(&package("C")).expect("the model needs it");
        assert_eq!(of_c.requires[0].version, version("1"));
        let mut single = request(model(held));
        single.options.single_version = true;
        assert!(known.solve(single, beforehand).is_none());
    }
}

/// The release that is asked for one class may have the wanted one for itself alone: what is ruled
/// out is that release, not those that define the wanted class for others.
#[test]
fn a_class_that_its_heir_brings_along_can_break_a_contract() {
    let holder = "  old: {Contract: \"$.class(X.B, null, '1')\"}\n";
    let mut known = Known {
        records: vec![
            release("H", "1").defines("H", &[]),
            release("X", "1").defines("X", &[]).defines("X.B", &[]),
            release("X", "2").defines("X", &["X.B"]).hides("X.B", &[]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("X"), classes("X", "  x: {Contract: $}\n")),
        ]),
    };
    let held = r#"{"?": {"id": "h", "type": "H"}, "old": {"?": {"id": "x", "type": "X"}}}"#;
    for beforehand in [false, true] {
        assert_eq!(known.solve(request(model(held)), beforehand), None);
    }
    let heir = release("X", "1.1").defines("X", &["X.B"]).hides("X.B", &[]);
    known.records.push(heir);
    for beforehand in [false, true] {
        let found = known.solve(request(model(held)), beforehand);
        let found = found.expect("X 1.1 has an old X.B of its own");
        assert_eq!(version_of(&found, "X"), Some(version("1.1")));
    }
}

/// Objects that have several releases of a package have them again when what was found is solved
/// for as it is.
#[test]
fn what_objects_have_of_a_split_package_stays() {
    let holder = "  any: {Contract: $}\n  old: {Contract: \"$.class(V, null, '1')\"}\n";
    let known = Known {
        records: vec![
            release("H", "1").defines("H", &[]),
            release("V", "1").defines("V", &[]),
            release("V", "2").defines("V", &[]),
            release("V", "3").defines("V", &[]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("V"), classes("V", "  x: {Contract: $}\n")),
        ]),
    };
    let held = r#"{"?": {"id": "h", "type": "H"},
        "any": {"?": {"id": "one", "type": "V"}},
        "old": {"?": {"id": "two", "type": "V"}}}"#;
    let demanding = |spec_text: &str| {
        let read = ObjectModel::read("model.json", held.as_bytes(), &Limits::default());
        let (read, _) = read.into_result().expect("the test writes a model");
        let read = Arc::new(read);
        let demanded = Arc::clone(&read);
        request(Root::Model(ModelRoot::new(read, |object| {
            let class = demanded.object(object).class.as_str();
            let is_first = demanded.object(object).id.as_deref() == Some("one");
            ObjectDemand {
                package: package(class),
                spec: spec(if is_first { spec_text } else { "*" }),
            }
        })))
    };
    let versions = |found: &Resolution| -> Vec<Version> {
        let bound = found.roots()[0].requires.iter();
        bound.map(|bound| bound.version.clone()).collect()
    };
    let first = known.solve(demanding("2"), false);
    let first = first.expect("one object has V 2, the other one V 1");
    let expected = ["1", "2", "1"].map(version);
    assert_eq!(versions(&first), expected);
    let mut again = demanding(">=1");
    again.locked = first.to_locked();
    let again = known.solve(again, false).expect("it is still allowed");
    assert_eq!(versions(&again), expected, "though V 1 would do for both");
    assert_eq!(again.stats().steps, 0);
}

/// A contract may name a class that no release which was looked at defines or extends. One of which
/// nobody knows what it defines has it all the same.
#[test]
fn a_class_that_only_a_contract_names_is_looked_for() {
    let holder = "  any: {Contract: \"$.class(U.Thing)\"}\n";
    let with = |other: IndexRecord| Known {
        records: vec![
            release("H", "1").requires("U", "*").defines("H", &[]),
            release("V", "1").defines("V", &[]),
            other,
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", holder)),
            (package("V"), classes("V", "  x: {Contract: $}\n")),
        ]),
    };
    for beforehand in [false, true] {
        let unknown = with(release("U", "1").opaque());
        assert_eq!(unknown.solve(request(holding("any")), beforehand), None);
        // Nobody has the class: that is the fault of the package, not of the model.
        let without = with(release("U", "1"));
        assert!(without.solve(request(holding("any")), beforehand).is_some());
    }
}
