//! Models without versions that fit together: what is wrong beside the conflicts is found as well.

use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, check_objects};
use pkgres_manifest::{
    Limits, ObjectModel, Package, PackageManifest, ReadOptions, RegistryName, VersionPin,
};
use pkgres_registry_client::{
    Answer, MemoryRegistry, ObjectReleases, RegistrySet, releases_in_conflict,
    releases_without_contracts, solve,
};
use pkgres_resolver::{
    BoundRequirement, ContractScope, ModelRoot, ObjectRequirement, Request, Root,
};
use pkgres_tests::build::{package, spec};

/// Packages with one class each: name, version, requirements, parent and properties.
const PACKAGES: &[(&str, &str, &str, &str, &str)] = &[
    ("Db", "1.0.0", "", "", "name: $.string().notNull()"),
    ("Db", "2.0.0", "", "", "name: $.string().notNull()"),
    (
        "Shop",
        "1.0.0",
        "Db: 1",
        "",
        "port: $.int()\n  db: $.class(Db)\n  spare: $.class(Db)\n  part: $.template(Db, excludeProperties => [name])",
    ),
    ("Broken", "1.0.0", "Absent: 1", "", "port: $.int()"),
    ("BigShop", "1.0.0", "Shop: 1", "Shop", "size: $.int()"),
];

fn text_of_class(name: &str, parent: &str, properties: &str) -> String {
    let parent = if parent.is_empty() {
        String::new()
    } else {
        format!("Extends: {parent}\n")
    };
    let lines = properties.lines().map(|line| {
        let (name, contract) = line.trim().split_once(": ").expect("a property");
        format!("  {name}: {{Contract: !yaql \"{contract}\"}}\n")
    });
    format!(
        "Name: {name}\n{parent}Properties:\n{}",
        lines.collect::<String>()
    )
}

fn registries() -> RegistrySet {
    let mut registry = MemoryRegistry::new(RegistryName::parse("default").expect("a name"));
    let options = ReadOptions::with_core(None);
    for (name, version, requires, parent, properties) in PACKAGES {
        let manifest = format!(
            "FullName: {name}\nType: Application\nVersion: {version}\nRequire: {{{requires}}}\n\
             Classes: {{{name}: C.yaml}}\n"
        );
        let manifest = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
        let (manifest, _) = manifest.into_result().expect("the manifest is valid");
        let class = text_of_class(name, parent, properties).into_bytes();
        let package = Package::assemble(manifest, &options, |_| Some(class.clone()));
        let (package, _) = package.into_result().expect("the class is valid");
        registry.add_package(Arc::new(package));
    }
    RegistrySet::new(vec![Box::new(registry)])
}

/// What is found in a model: places of violated contracts, and messages.
fn found(model: &str) -> (Vec<String>, Vec<String>) {
    let registries = registries();
    let options = ReadOptions::with_core(None);
    let model = ObjectModel::read("model.yaml", model.as_bytes(), &Limits::default());
    let model = Arc::new(model.into_result().expect("the model is valid").0);
    let mut request = Request::of_roots(Vec::new());
    request.core = None;
    let requirements = model.objects().iter().map(|object| {
        let spec = match &object.version {
            VersionPin::Exact(version) => spec(&format!("={version}")),
            _ => spec("*"),
        };
        let package = package(object.class.as_str());
        // Objects of this class are as if their version was gone.
        (package.as_str() != "Gone").then_some(ObjectRequirement { package, spec })
    });
    let requirements: Vec<Option<ObjectRequirement>> = requirements.collect();
    let versions = if requirements.iter().all(Option::is_some) {
        let root = ModelRoot::new(Arc::clone(&model), |object| {
            requirements[object.0].clone().expect("all are there")
        });
        let first = Request {
            roots: vec![Root::Model(
                root.clone().with_contracts(ContractScope::Classes),
            )],
            ..request.clone()
        };
        let answer = solve(first, &registries, &options).expect("memory can be read");
        let Answer::Conflict(conflict) = answer else {
            panic!("{answer:?}");
        };
        releases_in_conflict(&root, *conflict, &request, &registries, &options)
    } else {
        releases_without_contracts(&model, &requirements, &request, &registries, &options)
    };
    let ObjectReleases {
        violated,
        releases,
        resolution,
        ..
    } = versions.expect("memory can be read");
    let mut packages = BoundPackages::default();
    for resolved in resolution
        .iter()
        .flat_map(|resolution| resolution.packages())
    {
        let package = registries.package(&resolved.name, &resolved.version, &options);
        let requires = resolved.requires.iter();
        let requires = requires.map(BoundRequirement::release);
        packages.releases.insert(
            resolved.release(),
            BoundPackage {
                package: package.expect("memory can be read"),
                requires: requires.collect(),
            },
        );
    }
    let report = check_objects(&model, &packages, &releases, &violated);
    let shown = violated
        .iter()
        .map(|place| format!("{}.{}", model.shown(place.holder), place.path));
    let messages = report.findings.into_iter().map(|finding| finding.message);
    (shown.collect(), messages.collect())
}

#[test]
fn one_finding_does_not_hide_independent_others() {
    let cases: &[(&str, &[&str], &[&str])] = &[
        // A conflict between pinned objects, and a wrong value in each of them.
        (
            "?: {id: shop, type: Shop, version: 1.0.0}\nport: x\n\
             db:\n  ?: {id: db, type: Db, version: 2.0.0}\n  name: [a]\n",
            &["`shop`.db"],
            &[
                "`port` of the object `shop` must be an integer, as `Shop` requires",
                "`name` of the object `db` must be text, as `Db` requires",
            ],
        ),
        // Two independent conflicts, one of them by name; the contract that is met stays one.
        (
            "- ?: {id: one, type: Shop}\n  db: {?: {id: new, type: Db, version: 2.0.0}, name: a}\n  \
             spare: {?: {id: old, type: Db}, name: a}\n\
             - ?: {id: two, type: Shop}\n  db: {?: {id: other, type: Shop}, port: y}\n",
            &["`one`.db", "`two`.db"],
            &["`port` of the object `other` must be an integer, as `Shop` requires"],
        ),
        // A package without a resolution does not matter to the others, also to those that inherit.
        (
            "- ?: {id: broken, type: Broken}\n  port: x\n\
             - ?: {id: big, type: BigShop}\n  port: x\n  size: x\n",
            &[],
            &[
                "the values of the object `broken` are not checked: the version of its class is not known",
                "`port` of the object `big` must be an integer, as `Shop` requires",
                "`size` of the object `big` must be an integer, as `BigShop` requires",
            ],
        ),
        // The class of an object decides which values in the objects inside it count.
        (
            "- ?: {id: gone, type: Gone}\n  part: {?: {id: part, type: Db}}\n\
             - ?: {id: shop, type: Shop}\n  part: {?: {id: right, type: Db}}\n  port: x\n",
            &[],
            &[
                "the values of the object `gone` are not checked: the version of its class is not known",
                "the values of the object `part` are not checked: it is inside the object `gone`, \
                 whose version is not known",
                "`port` of the object `shop` must be an integer, as `Shop` requires",
            ],
        ),
    ];
    for (model, places, messages) in cases {
        let (found_places, found_messages) = found(model);
        assert_eq!(found_places, *places, "{model}");
        assert_eq!(found_messages, *messages, "{model}");
    }
}
