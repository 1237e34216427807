//! Pinning a model: from its text to the pinned text, and the check of that.

use std::sync::{Arc, LazyLock};

use pkgres_checks::{
    BoundPackage, BoundPackages, check_model, check_pinned, check_previous_versions,
};
use pkgres_manifest::diagnostic::SourceText;
use pkgres_manifest::{
    Limits, ObjectId, ObjectModel, Package, PackageManifest, Pins, ReadOptions, RegistryName,
};
use pkgres_registry_client::{
    Answer, FinishedPlan, MemoryRegistry, RegistrySet, drive, finish_plan,
};
use pkgres_resolver::{
    BoundRequirement, ContractScope, Fallback, Locked, ModelPlan, Request, Resolution, Resolver,
    Root, SolveOptions,
};

use crate::Shape;
use crate::documents::{of_parts, show};

const MIB: usize = 1 << 20;

/// The class of a shop, which holds databases.
const SHOP: &str = "\
Name: a.Shop
Properties:
  port: {Contract: $.int().notNull(), Default: 80}
  databases: {Contract: [$.class(a.Db).notNull()], Default: []}
  described: {Contract: [$.class(a.Db).notNull()], Default: []}
";

const DB: &str = "Name: a.Db\nProperties:\n  name: {Contract: $.string().notNull()}\n";

/// A package with one class.
fn package(manifest: &str, class: &'static str) -> Arc<Package> {
    let options = ReadOptions::default();
    let source = SourceText::new("manifest.yaml", manifest.to_owned());
    let manifest = PackageManifest::parse(&source, &options).into_result();
    let (manifest, _) = manifest.expect("a manifest");
    let package = Package::assemble(manifest, &options, |_| Some(class.as_bytes().to_vec()));
    let (package, _) = package.into_result().expect("a package");
    Arc::new(package)
}

/// Shops, and databases in three versions.
static REGISTRIES: LazyLock<RegistrySet> = LazyLock::new(|| {
    let name = RegistryName::parse("memory").expect("a name");
    let mut registry = MemoryRegistry::new(name);
    registry.add_package(package(
        "FullName: a.Shop\nType: Application\nVersion: 1.0.0\nRequire: {a.Db: '>=1,<3'}\n\
         Classes: {a.Shop: Shop.yaml}\n",
        SHOP,
    ));
    for version in 1..=3 {
        registry.add_package(package(
            &format!(
                "FullName: a.Db\nType: Library\nVersion: {version}.0.0\n\
                 Classes: {{a.Db: Db.yaml}}\n"
            ),
            DB,
        ));
    }
    for name in ["a.One", "a.Two"] {
        registry.add_package(package(
            &format!(
                "FullName: {name}\nType: Library\nVersion: 1.0.0\nClasses: {{a.Twice: Twice.yaml}}\n"
            ),
            "Name: a.Twice\n",
        ));
    }
    RegistrySet::new(vec![Box::new(registry)])
});

/// The resolution of a model, if its contracts can be met.
fn resolution(model: &Arc<ObjectModel>, contracts: ContractScope) -> Option<Box<Resolution>> {
    let plan = ModelPlan::new(
        Arc::clone(model),
        &Locked::default(),
        &[],
        SolveOptions::default(),
        Fallback::Never,
    );
    let planned = match finish_plan(plan, &REGISTRIES).expect("memory can be read") {
        FinishedPlan::Planned(planned) => planned,
        FinishedPlan::Wrong(wrong) => {
            show(&wrong.findings);
            return None;
        }
    };
    let root = Root::Model(planned.root.with_contracts(contracts));
    let mut request = Request::of_roots(vec![root]);
    request.core = None;
    let mut resolver = Resolver::new(request);
    match drive(&mut resolver, &REGISTRIES, &ReadOptions::default()).expect("memory can be read") {
        Answer::Solved(resolution) => Some(resolution),
        Answer::Conflict(conflict) => {
            assert!(!conflict.summary.is_empty());
            None
        }
        answer => panic!("{answer:?}"),
    }
}

/// The packages of a resolution with their classes.
fn bound(resolution: &Resolution) -> BoundPackages {
    let mut bound = BoundPackages::default();
    for package in resolution.packages() {
        let options = ReadOptions::default();
        let classes = REGISTRIES.package(&package.name, &package.version, &options);
        let requires = package.requires.iter();
        let requires = requires.map(BoundRequirement::release);
        let release = BoundPackage {
            package: classes.expect("memory can be read"),
            requires: requires.collect(),
        };
        bound.releases.insert(package.release(), release);
    }
    bound
}

/// Pins a model, and checks what is written, as `pin` and `pin --check` do.
fn pin(input: &[u8]) {
    let limits = Limits::default();
    let read = |text: &[u8]| match ObjectModel::read("model.json", text, &limits).into_result() {
        Ok((model, _)) => Some(Arc::new(model)),
        Err(findings) => {
            show(&findings);
            None
        }
    };
    let Some(model) = read(input) else { return };
    let Some(found) = resolution(&model, ContractScope::All) else {
        return;
    };
    let mut pins = Pins::default();
    for (number, bound) in found.roots()[0].requires.iter().enumerate() {
        pins.objects.insert(ObjectId(number), bound.release());
    }
    for package in found.packages() {
        let versions = pins.packages.entry(package.name.clone()).or_default();
        versions.insert(package.version.clone());
    }
    let text = model.with_pins(&pins, &limits).expect("pins fit the model");
    let pinned = read(text.as_bytes()).expect("what is written is a model");
    assert!(check_pinned(&pinned).is_empty());
    let found = resolution(&pinned, ContractScope::Classes).expect("it was found before");
    let report = check_model(&pinned, &bound(&found));
    show(&pkgres_manifest::diagnostic::capped(report.findings));
    show(&check_previous_versions(&pinned, &pins.packages));
}

/// Models on one line.
pub(crate) fn shapes() -> Vec<Shape> {
    let parts = [
        (
            "objects",
            "{\"Objects\": [{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"a.Shop\"}, \"port\": #}",
            "]}",
        ),
        (
            "objects in a property",
            "{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}, \"databases\": [{\"?\": {\"id\": \"d\", \"type\": \"a.Db\"}, \"name\": \"d\"}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"a.Db\"}, \"name\": \"d\"}",
            "]}",
        ),
        (
            "references",
            "{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}, \"databases\": [{\"?\": {\"id\": \"d\", \"type\": \"a.Db\"}, \"name\": \"d\"}",
            ", \"d\"",
            "]}",
        ),
        (
            "objects without a header",
            "{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}, \"described\": [{\"name\": \"d\"}",
            ", {\"name\": \"d#\"}",
            "]}",
        ),
        (
            "objects with wrong values",
            "{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}, \"databases\": [{\"?\": {\"id\": \"d\", \"type\": \"a.Db\"}, \"name\": \"d\"}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"a.Db\"}}",
            "]}",
        ),
        (
            "objects of unknown classes",
            "{\"Objects\": [{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"no.C#\"}}",
            "]}",
        ),
        (
            "objects of one unknown class without ids",
            "{\"Objects\": [{\"?\": {\"type\": \"a.Shop\"}}",
            ", {\"?\": {\"type\": \"no.C\"}}",
            "]}",
        ),
        (
            "objects of a class that two packages define",
            "{\"Objects\": [{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"a.Twice\"}}",
            "]}",
        ),
        (
            "objects whose package is gone",
            "{\"Objects\": [{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"no.C#\", \"package\": \"no.P#\", \"version\": \"1.0.0\"}}",
            "]}",
        ),
        (
            "objects whose version is gone",
            "{\"Objects\": [{\"?\": {\"id\": \"s\", \"type\": \"a.Shop\"}}",
            ", {\"?\": {\"id\": \"i#\", \"type\": \"a.Db\", \"package\": \"a.Db\", \"version\": \"7.0.#\"}}",
            "]}",
        ),
    ];
    let parts = parts.iter();
    parts
        .map(|parts| of_parts("pin", pin, 16 * MIB, "", *parts))
        .collect()
}
