//! Real packages of the Murano catalog: they load, resolve, and give the expected findings.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use pkgres_checks::{Defines, RequiredPackages, check_package};
use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{
    ClassName, IndexRecord, Limits, PackageName, ReadOptions, RegistryName, Spec, Version,
};
use pkgres_registry_client::{
    Answer, DirectoryRegistry, PackageFolder, Registry as _, RegistrySet, built_in_core_library,
    drive, read_provided,
};
use pkgres_resolver::{Conflict, Request, Resolution, Resolver};
use pkgres_tests::shared;

fn open(folder: &std::path::Path) -> DirectoryRegistry {
    let name = RegistryName::parse("corpus").expect("a name");
    DirectoryRegistry::open(name, folder, &ReadOptions::default()).expect("the corpus can be read")
}

fn manifests(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                rest.push(path);
            } else if path.ends_with("manifest.yaml") {
                found.push(path);
            }
        }
    }
    found
}

fn resolve(
    root: &IndexRecord,
    provided: &[IndexRecord],
    registries: &RegistrySet,
) -> Result<Box<Resolution>, Box<Conflict>> {
    let mut request = Request::new(root.clone());
    request.host_releases = provided.to_vec();
    let mut resolver = Resolver::new(request);
    match drive(&mut resolver, registries, &ReadOptions::default()).expect("the corpus is there") {
        Answer::Solved(resolution) => Ok(resolution),
        Answer::Conflict(conflict) => Err(conflict),
        Answer::GaveUp { steps } => panic!("gave up after {steps} steps"),
        Answer::Cancelled => panic!("the solver is not cancelled"),
    }
}

#[test]
fn the_built_in_core_library_is_the_public_one() {
    let Some(folder) = shared::path("corpus/murano/io.murano") else {
        return;
    };
    let options = ReadOptions::default();
    let folder = PackageFolder::open(&folder, &options).expect("it can be read");
    let (package, _) = folder.package(&options).into_result().expect("a package");
    let mut public = package.index_record();
    // What is built in has no content.
    public.digest = None;
    let class_names = |record: &IndexRecord| -> BTreeSet<ClassName> {
        let classes = record.classes.iter().flatten();
        classes.map(|class| class.name.clone()).collect()
    };
    let built_in = built_in_core_library();
    assert_eq!(class_names(&built_in), class_names(&public));
    assert_eq!(built_in.to_line(), public.to_line());
}

#[test]
fn every_package_resolves_or_fails_for_the_true_reason() {
    let Some(folder) = shared::path("corpus") else {
        return;
    };
    let registry = open(&folder);
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records: Vec<IndexRecord> = registry
        .records(&names)
        .expect("no release is listed twice")
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    assert_eq!(registry.take_findings(), [], "everything can be read");
    assert_eq!(records.len(), 39);
    assert_eq!(manifests(&folder).len(), 39);

    let registries = RegistrySet::new(vec![Box::new(open(&folder))]);
    let mut unsolved: BTreeMap<String, String> = BTreeMap::new();
    for record in &records {
        match resolve(record, &[], &registries) {
            Ok(_) => {}
            Err(conflict) => {
                assert_eq!(conflict.code, Code::UnknownPackage, "{}", record.name);
                unsolved.insert(record.name.to_string(), conflict.summary);
            }
        }
    }
    let missing = |package: &str| format!("no registry has a package `{package}`");
    let expected: BTreeMap<String, String> = [
        (
            "com.intel.magnum.plugin.MagnumBayApp",
            "murano.plugins.magnum",
        ),
        ("com.mirantis.PaloAlto", "org.openstack.networkingSfc"),
        (
            "io.murano.apps.example.plugin.DemoApp",
            "murano.plugins.example",
        ),
        ("org.getcloudify.murano", "io.murano.plugins.cloudify"),
    ]
    .map(|(package, required)| (package.to_owned(), missing(required)))
    .into();
    assert_eq!(unsolved, expected);

    // Three of the four require plug-ins, which the host provides.
    let plugins = "
        {\"name\":\"murano.plugins.magnum\",\"version\":\"0.0.0\"}
        {\"name\":\"murano.plugins.example\",\"version\":\"0.0.0\"}
        {\"name\":\"io.murano.plugins.cloudify\",\"version\":\"0.0.0\"}
    ";
    let provided =
        read_provided("plugins.ndjson", plugins, &Limits::default()).expect("three records");
    for record in &records {
        let solved = resolve(record, &provided, &registries).is_ok();
        assert_eq!(
            solved,
            record.name.as_str() != "com.mirantis.PaloAlto",
            "{}",
            record.name
        );
    }
}

#[test]
fn a_null_spec_means_zero() {
    let Some(folder) = shared::path("corpus") else {
        return;
    };
    let registry = open(&folder);
    let wordpress = PackageName::parse("com.example.WordPress").expect("a name");
    let apache = PackageName::parse("com.example.apache.ApacheHttpServer").expect("a name");
    let records = registry
        .records(&[wordpress, apache.clone()])
        .expect("records");
    assert_eq!(
        records[1].as_ref().map(Vec::len),
        Some(2),
        "there are 0.0.0 and 1.0.0"
    );
    let root = records[0].as_ref().expect("WordPress is there")[0].clone();
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let resolution = resolve(&root, &[], &registries).expect("a resolution");
    let chosen = resolution.package(&apache).expect("it is required");
    assert_eq!(chosen.version.to_string(), "0.0.0");
}

/// The classes of the corpus.
struct Corpus(BTreeMap<PackageName, Vec<IndexRecord>>);

impl RequiredPackages for Corpus {
    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Defines {
        let Some(records) = self.0.get(package) else {
            return Defines::Unknown;
        };
        let matching = records
            .iter()
            .filter(|record| spec.matches(&record.version));
        if matching.into_iter().any(|record| record.exports(class)) {
            Defines::Yes
        } else {
            Defines::No
        }
    }

    fn classes(&self, package: &PackageName) -> Vec<ClassName> {
        let classes = self.0.get(package).into_iter().flatten();
        classes
            .flat_map(|record| record.classes.iter().flatten())
            .map(|class| class.name.clone())
            .collect()
    }

    fn newest(&self, package: &PackageName) -> Option<Version> {
        let records = self.0.get(package).into_iter().flatten();
        records.map(|record| record.version.clone()).max()
    }
}

#[test]
fn checks_find_the_known_mistakes_of_real_packages() {
    let Some(folder) = shared::path("corpus") else {
        return;
    };
    let registry = open(&folder);
    let names: Vec<PackageName> = registry.names().cloned().collect();
    let records = registry.records(&names).expect("records");
    let corpus = Corpus(
        names
            .iter()
            .cloned()
            .zip(records.into_iter().map(Option::unwrap_or_default))
            .collect(),
    );
    let options = ReadOptions::default();
    let core = PackageName::default_core_library();
    let mut class_files = BTreeSet::new();
    let mut errors: Vec<String> = Vec::new();
    for manifest in manifests(&folder) {
        let folder = manifest.parent().expect("a manifest is in a folder");
        let package = PackageFolder::open(folder, &options).expect("a package folder");
        let (package, warnings) = package.package(&options).into_result().expect("it loads");
        assert_eq!(warnings, [], "{}", manifest.display());
        for class in package.classes.iter().flat_map(BTreeMap::values) {
            if package.manifest.format.has_class_files() {
                class_files.insert(class.name.location.source().name().to_owned());
            }
        }
        let findings = check_package(&package, Some(&core), &corpus);
        errors.extend(
            findings
                .iter()
                .filter(|finding| finding.is_error())
                .map(|finding| format!("{}: {}", package.name(), finding.message)),
        );
    }
    assert_eq!(class_files.len(), 121, "every class file is read");
    assert_eq!(
        errors,
        ["com.example.conflang.puppet.MySQLPuppet: the class \
             `com.example.conflang.puppet.MySQLPuppet` is listed, but its file does not define it"]
    );
}
