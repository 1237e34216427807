//! Contracts of object models hold in every resolution, whichever phase of the solver finds it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    IndexRecord, Limits, Lockfile, ObjectModel, Package, PackageManifest, PackageName, ReadOptions,
    Release, Version,
};
use pkgres_resolver::{
    CompiledIndex, LockCheck, Locked, ModelNotLockable, ModelRoot, ObjectRequirement, Owner,
    Request, Resolution, Resolver, Root, Staleness, Step, Supply,
};
use pkgres_tests::build::{Build, package, release, spec, version};
use pkgres_tests::drive::{Packages, advance, attached, source};

/// A package with one class, named like the package, with properties in lines of YAML.
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

/// A model in JSON. The class of each object comes from the package of the same name.
fn model(text: &str) -> Root {
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    let (model, _) = model.into_result().expect("the test writes a model");
    let model = Arc::new(model);
    Root::Model(ModelRoot::new(Arc::clone(&model), |object| {
        ObjectRequirement {
            package: package(model.object(object).class.as_str()),
            spec: spec("*"),
        }
    }))
}

fn request(root: Root) -> Request {
    let mut request = Request::of_roots(vec![root]);
    request.core = None;
    request
}

/// The packages of a test, with the classes of all their releases.
struct Registry {
    records: Vec<IndexRecord>,
    classes: BTreeMap<PackageName, Arc<Package>>,
}

impl Registry {
    fn classes_of(&self, name: &PackageName) -> Option<Arc<Package>> {
        self.classes.get(name).cloned()
    }

    fn supply(&self, name: &PackageName) -> Supply {
        let records = self.records.iter().filter(|record| record.name == *name);
        let records = records.cloned().collect();
        Supply::Releases {
            source: source(),
            records,
        }
    }

    /// The resolution of a request, if there is one. With `beforehand`, the solver need not ask for
    /// anything.
    fn solve(&self, request: Request, beforehand: bool) -> Option<Resolution> {
        self.answer(Resolver::new(request), beforehand)
    }

    /// The resolution that a solver finds, if there is one.
    fn answer(&self, mut resolver: Resolver, beforehand: bool) -> Option<Resolution> {
        if beforehand {
            let names: BTreeSet<&PackageName> =
                self.records.iter().map(|record| &record.name).collect();
            for name in names {
                let provided = resolver.provide(name, self.supply(name));
                provided.expect("the records are of the package");
            }
            for record in &self.records {
                let classes = self.classes_of(&record.name);
                let provided = resolver.provide_classes(&record.name, &record.version, classes);
                provided.expect("the release was provided");
            }
        }
        let mut packages = OnDemand {
            registry: self,
            beforehand,
        };
        match advance(&mut resolver, &mut packages) {
            Step::Solved(resolution) => Some(*resolution),
            Step::Impossible => None,
            other => panic!("{other:?}"),
        }
    }
}

/// The packages of a registry, for a solver that asks for them.
struct OnDemand<'registry> {
    registry: &'registry Registry,
    /// Whether all classes were provided before the first step.
    beforehand: bool,
}

impl Packages for OnDemand<'_> {
    fn supply(&mut self, name: &PackageName) -> Supply {
        self.registry.supply(name)
    }

    fn classes(&mut self, release: &Release) -> Option<Arc<Package>> {
        assert!(!self.beforehand, "the classes of {release:?} were provided");
        self.registry.classes_of(&release.name)
    }
}

fn version_of(resolution: &Resolution, name: &str) -> Option<Version> {
    let found = resolution.package(&package(name));
    found.map(|found| found.version.clone())
}

/// A package whose class holds objects of class `V`, of any version or of version 1, and two versions of
/// `V`.
fn registry_with_holder() -> Registry {
    let holder = "  any: {Contract: $}\n  old: {Contract: !yaql \"$.class(V, null, '1')\"}\n";
    Registry {
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

/// A model with an object of class `V` in a property of its holder.
fn holding(property: &str) -> Root {
    model(&format!(
        r#"{{"?": {{"id": "h", "type": "H"}}, "{property}": {{"?": {{"id": "v", "type": "V"}}}}}}"#
    ))
}

/// A lock does not record contracts, so a lock whose releases are all still allowed may violate one.
#[test]
fn a_lock_that_violates_a_contract_is_not_the_answer() {
    let registry = registry_with_holder();
    let first = registry.solve(request(holding("any")), false);
    let first = first.expect("every contract allows it");
    assert_eq!(version_of(&first, "V"), Some(version("2")));
    for beforehand in [false, true] {
        let mut again = request(holding("old"));
        again.locked = first.to_locked();
        let again = registry.solve(again, beforehand);
        let again = again.expect("V 1 meets the contract");
        assert_eq!(version_of(&again, "V"), Some(version("1")));
    }
    let mut same = request(holding("any"));
    same.locked = first.to_locked();
    let same = registry.solve(same, false).expect("nothing changed");
    assert_eq!(same.to_locked(), first.to_locked());
    assert_eq!(same.stats().steps, 0, "the lock is the answer");
}

/// The roots of a lockfile are names, and a model has none.
#[test]
fn a_resolution_with_a_model_has_no_lockfile() {
    let registry = registry_with_holder();
    let found = registry.solve(request(holding("any")), false);
    let found = found.expect("every contract allows it");
    assert_eq!(found.roots()[0].owner, Owner::ObjectModel);
    assert_eq!(found.to_lockfile(), Err(ModelNotLockable));

    let record = Box::new(release("A", "1").requires("H", "*"));
    let found = registry.solve(request(Root::Package(record)), false);
    let found = found.expect("there is an H");
    let lock = found.to_lockfile().expect("the root is a package");
    let read = Lockfile::read("pkgres.lock", lock.to_text().as_bytes(), &Limits::default());
    let (read, _) = read.into_result().expect("what is written can be read");
    assert_eq!(read.to_text(), lock.to_text());
    assert_eq!(Locked::from_lockfile(&read), found.to_locked());
}

/// A lockfile does not record the bindings of objects.
#[test]
fn no_lockfile_fits_a_model() {
    let record = || Root::Package(Box::new(release("A", "1").requires("H", "*")));
    let registry = registry_with_holder();
    let found = registry
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
            let provided = check.provide(&name, registry.supply(&name));
            provided.expect("the records are of the package");
        }
        assert_eq!(check.report().stale, stale);
    }
}

/// Packages require the core library implicitly, objects do not.
#[test]
fn objects_have_no_implicit_requirement() {
    let registry = Registry {
        records: vec![release("H", "0.1.0").defines("H.Object", &[])],
        classes: BTreeMap::new(),
    };
    let object = || {
        let text = br#"{"?": {"id": "o", "type": "H.Object"}}"#;
        let model = ObjectModel::read("model.json", text, &Limits::default());
        let (model, _) = model.into_result().expect("the test writes a model");
        Root::Model(ModelRoot::new(Arc::new(model), |_| ObjectRequirement {
            package: package("H"),
            spec: spec("*"),
        }))
    };
    let rooted = || Root::Package(Box::new(release("A", "1")));
    for (root, is_implied) in [(object(), false), (rooted(), true)] {
        let mut request = request(root);
        request.core = Some(package("H"));
        let found = registry.solve(request, false).expect("there is an H");
        let [bound] = &found.roots()[0].requires[..] else {
            panic!("the root requires only the core library");
        };
        assert_eq!(bound.is_implied, is_implied);
    }
}

/// The model is not a package in the search, so a package of any name can be next to it.
#[test]
fn a_model_can_be_a_root_beside_packages() {
    let registry = registry_with_holder();
    let with = |name: &str, spec: &str| {
        let mut request = request(holding("old"));
        let record = release(name, "1").requires("V", spec);
        request.roots.insert(0, Root::Package(Box::new(record)));
        request
    };
    for name in ["A", "the_object_model"] {
        let found = registry.solve(with(name, "*"), false);
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
        let found = registry.solve(request, false);
        assert_eq!(found, None, "V 2 does not meet the contract");
    }
}

/// The internal name of the model does not hide a package of that name.
#[test]
fn a_package_with_the_internal_name_of_the_model_is_an_ordinary_package() {
    let records = vec![
        release("H", "1")
            .requires("the_object_model", "1")
            .defines("H", &[]),
        release("the_object_model", "1"),
    ];
    let holder = r#"{"?": {"id": "h", "type": "H"}}"#;
    let index = Arc::new(CompiledIndex::compile(&records));
    let registry = Registry {
        records,
        classes: BTreeMap::from([(package("H"), classes("H", "  any: {Contract: $}\n"))]),
    };
    let attached = registry.answer(attached(request(model(holder)), index), false);
    let provided = registry.solve(request(model(holder)), false);
    for found in [attached, provided] {
        let found = found.expect("there is a version 1");
        assert_eq!(version_of(&found, "the_object_model"), Some(version("1")));
    }
}

#[test]
fn several_models_are_a_conflict() {
    let mut request = request(holding("any"));
    request.roots.push(holding("old"));
    let mut resolver = Resolver::new(request);
    assert_eq!(resolver.step(), Step::Impossible);
    let Step::Conflict(conflict) = resolver.step() else {
        panic!("a request has at most one model");
    };
    assert_eq!(conflict.summary, "several roots are object models");
    assert_eq!(conflict.reasons[0].owner, None);
}

/// A release that a contract does not allow may be chosen next to one that it allows.
#[test]
fn a_package_is_split_to_meet_a_contract() {
    let holder = "  old: {Contract: !yaql \"$.class(B, null, '1')\"}\n";
    let registry = Registry {
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
        let found = registry.solve(request(model(held)), beforehand);
        let found = found.expect("C has B 1, and W has B 2");
        let of_c = found.package(&package("C")).expect("the model needs it");
        assert_eq!(of_c.requires[0].version, version("1"));
        let mut single = request(model(held));
        single.options.single_version = true;
        assert!(registry.solve(single, beforehand).is_none());
    }
}

/// The release of an object's class may define the wanted class internally. A contract then excludes
/// that release, not the releases that define the class for others.
#[test]
fn an_internal_class_can_violate_a_contract() {
    let holder = "  old: {Contract: !yaql \"$.class(X.B, null, '1')\"}\n";
    let mut registry = Registry {
        records: vec![
            // H finds an X.B of its own, in whose place the contract allows any.
            release("H", "1").defines("H", &[]).hides("X.B", &[]),
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
        assert_eq!(registry.solve(request(model(held)), beforehand), None);
    }
    let heir = release("X", "1.1").defines("X", &["X.B"]).hides("X.B", &[]);
    registry.records.push(heir);
    for beforehand in [false, true] {
        let found = registry.solve(request(model(held)), beforehand);
        let found = found.expect("X 1.1 has an old X.B of its own");
        assert_eq!(version_of(&found, "X"), Some(version("1.1")));
    }
}

/// Solving again with the bindings that were found as the lock gives the same bindings.
#[test]
fn locked_objects_keep_their_releases_of_a_split_package() {
    let holder = "  any: {Contract: $}\n  old: {Contract: !yaql \"$.class(V, null, '1')\"}\n";
    let registry = Registry {
        records: vec![
            release("H", "1").defines("H", &[]).hides("V", &[]),
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
    let requiring = |spec_text: &str| {
        let read = ObjectModel::read("model.json", held.as_bytes(), &Limits::default());
        let (read, _) = read.into_result().expect("the test writes a model");
        let read = Arc::new(read);
        let model = Arc::clone(&read);
        request(Root::Model(ModelRoot::new(read, |object| {
            let class = model.object(object).class.as_str();
            let is_first = model.object(object).id.as_deref() == Some("one");
            ObjectRequirement {
                package: package(class),
                spec: spec(if is_first { spec_text } else { "*" }),
            }
        })))
    };
    let versions = |found: &Resolution| -> Vec<Version> {
        let bound = found.roots()[0].requires.iter();
        bound.map(|bound| bound.version.clone()).collect()
    };
    let first = registry.solve(requiring("2"), false);
    let first = first.expect("one object has V 2, the other one V 1");
    let expected = ["1", "2", "1"].map(version);
    assert_eq!(versions(&first), expected);
    let mut again = requiring(">=1");
    again.locked = first.to_locked();
    let again = registry.solve(again, false).expect("it is still allowed");
    assert_eq!(versions(&again), expected, "though V 1 would do for both");
    assert_eq!(again.stats().steps, 0);
}

/// A contract may name a class that no release defines or extends: then no object meets it. A release
/// with unknown classes defines the class all the same.
#[test]
fn a_class_that_only_a_contract_names_is_looked_up() {
    let holder = "  any: {Contract: !yaql \"$.class(U.Thing)\"}\n";
    let with = |other: IndexRecord| Registry {
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
        let unregistry = with(release("U", "1").opaque());
        assert_eq!(unregistry.solve(request(holding("any")), beforehand), None);
        let without = with(release("U", "1"));
        assert_eq!(without.solve(request(holding("any")), beforehand), None);
    }
}

/// The model lacks the value, and the engine takes it from the declaration of the most derived class; the others only
/// validate it. Source: `set_property` in `murano/dsl/murano_object.py`.
#[test]
fn a_default_of_the_nearest_declaration_is_the_value_for_all() {
    let solved = |heir: &str| {
        let registry = Registry {
            records: vec![
                release("P", "1").defines("P", &[]),
                release("H", "1").requires("P", "1").defines("H", &["P"]),
                release("M", "1").requires("H", "1").defines("M", &["H"]),
            ],
            classes: BTreeMap::from([
                (
                    package("P"),
                    classes("P", "  s: {Contract: $.string().notNull()}\n"),
                ),
                (package("H"), classes("H", heir)),
                (package("M"), classes("M", "  other: {Contract: $}\n")),
            ]),
        };
        let object = model(r#"{"?": {"id": "m", "type": "M"}}"#);
        let found = [false, true].map(|beforehand| {
            let request = request(object.clone());
            registry.solve(request, beforehand).is_some()
        });
        assert_eq!(found[0], found[1]);
        found[0]
    };
    for (heir, expected) in [
        ("  other: {Contract: $}\n", false),
        ("  s: {Contract: $.string()}\n", false),
        ("  s: {Contract: $.string(), Default: k}\n", true),
        ("  s: {Contract: $.string().notNull(), Default: k}\n", true),
        (
            "  s: {Contract: $.string().notNull(), Usage: Runtime}\n",
            true,
        ),
    ] {
        assert_eq!(solved(heir), expected, "{heir}");
    }
}

/// Whether a model with an object of class `H`, which declares these properties, has a resolution.
fn is_solved(properties: &str, values: &str) -> bool {
    let registry = Registry {
        records: vec![
            release("H", "1").requires("V", "*").defines("H", &[]),
            release("V", "1").defines("V", &[]).defines("W", &["V"]),
        ],
        classes: BTreeMap::from([
            (package("H"), classes("H", properties)),
            (
                package("V"),
                classes("V", "  x: {Contract: $.int().notNull()}\n"),
            ),
        ]),
    };
    let root = model(&format!(r#"{{"?": {{"id": "h", "type": "H"}}, {values}}}"#));
    registry.solve(request(root), false).is_some()
}

/// The engine sets these properties itself, whatever the model says.
#[test]
fn values_of_properties_that_are_not_from_the_model_are_ignored() {
    for (usage, expected) in [
        ("In", false),
        ("Out", false),
        ("Const", false),
        ("Static", true),
        ("Config", true),
        ("Runtime", true),
    ] {
        let properties = format!("  p: {{Contract: $.int(), Usage: {usage}}}\n");
        assert_eq!(is_solved(&properties, r#""p": "x""#), expected, "{usage}");
    }
}

#[test]
fn whole_numbers_have_any_length() {
    let int = "  p: {Contract: $.int()}\n";
    let long = "1234567890".repeat(10);
    // Murano's engine cuts fractions off.
    for value in [long.as_str(), "2.0", "2.5", "1e3", "-5", r#"" 7 ""#, "true"] {
        assert!(is_solved(int, &format!(r#""p": {value}"#)), "{value}");
    }
    for value in [r#""2.5""#, r#""2.0""#, r#""""#, r#""-""#, "[]"] {
        assert!(!is_solved(int, &format!(r#""p": {value}"#)), "{value}");
    }
}

/// A template without a header is checked as an object of its class, except what the contract excludes.
#[test]
fn templates_without_a_header_are_checked() {
    let template = |more: &str| format!("  p: {{Contract: !yaql '$.template(V{more})'}}\n");
    assert!(is_solved(&template(""), r#""p": {"x": 1}"#));
    assert!(!is_solved(&template(""), r#""p": {"x": "a"}"#));
    assert!(!is_solved(&template(""), r#""p": {}"#));
    let excluded = template(", excludeProperties => [x]");
    assert!(is_solved(&excluded, r#""p": {"x": "a"}"#));
    assert!(is_solved(&excluded, r#""p": {}"#));
}

/// An object that is written in another one belongs to the holders of that one, too.
#[test]
fn owned_objects_may_be_nested_deeper() {
    let properties = |rule: &str| {
        format!("  p: {{Contract: $}}\n  q: {{Contract: !yaql '$.class(V).{rule}()'}}\n")
    };
    let values = r#""p": {"?": {"id": "o", "type": "H"}, "p": {"?": {"id": "v", "type": "V"}, "x": 1}}, "q": "v""#;
    assert!(is_solved(&properties("owned"), values));
    assert!(!is_solved(&properties("notOwned"), values));
}
