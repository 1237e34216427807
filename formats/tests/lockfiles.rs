//! Lockfiles of other ecosystems are read as they were written.

use std::collections::BTreeMap;

use pkgres_formats::{ECOSYSTEMS, ansible, opcua};
use pkgres_manifest::{
    Bindings, Ecosystem, Limits, LockedPackage, LockedRequirement, Lockfile, PackageName,
    RegistryName, Release, ReleaseSource, Version,
};

/// A lockfile with a root that requires a package, which requires another one.
fn lockfile(
    ecosystem: &'static dyn Ecosystem,
    names: [&str; 3],
    spec: &str,
    versions: [Version; 2],
) -> Lockfile {
    let [root, one, two] = names.map(|name| PackageName::native(name).expect("a name"));
    let [of_one, of_two] = versions;
    let source = ReleaseSource::Registry(RegistryName::parse("default").expect("a name"));
    let package = |requires: Bindings| LockedPackage {
        source: source.clone(),
        digest: None,
        requires,
    };
    let bound = LockedRequirement {
        spec: ecosystem.spec(spec).expect("a range"),
        version: of_one.clone(),
    };
    Lockfile {
        ecosystem,
        roots: BTreeMap::from([(root, BTreeMap::from([(one.clone(), bound)]))]),
        packages: BTreeMap::from([
            (
                Release::new(one, of_one),
                package([(two.clone(), of_two.clone())].into_iter().collect()),
            ),
            (Release::new(two, of_two), package(Bindings::default())),
        ]),
        ..Lockfile::default()
    }
}

fn read(text: &str) -> Lockfile {
    let limits = Limits::default();
    let read = Lockfile::read_of_ecosystems("pkgres.lock", text.as_bytes(), &limits, ECOSYSTEMS);
    read.into_result().expect("it was written by this crate").0
}

#[test]
fn ranges_of_collections_stay_as_written() {
    let versions = ["8.7.1", "6.1.1"].map(|version| Version::parse(version).expect("a version"));
    let names = ["requirements.yml", "ansible.netcommon", "ansible.utils"];
    let lock = lockfile(ansible::ECOSYSTEM, names, ">=2.5.1,!=3.0.0", versions);
    let text = lock.to_text();
    assert!(text.contains("ecosystem: ansible\n"), "{text}");
    assert!(text.contains("spec: \">=2.5.1,!=3.0.0\"\n"), "{text}");
    assert_eq!(read(&text), lock);
    // A reader that knows class packages only does not take it for one of them.
    let alone = Lockfile::read("pkgres.lock", text.as_bytes(), &Limits::default());
    assert!(alone.value().is_none());
}

#[test]
fn a_version_of_ansible_core_stays_as_written() {
    let collection = Version::parse("1.0.0").expect("a version");
    let core = ansible::ansible_core_version("2.17.0rc1").expect("a version");
    let names = ["requirements.yml", "acme.net", "ansible-core"];
    let lock = lockfile(ansible::ECOSYSTEM, names, "*", [collection, core]);
    let text = lock.to_text();
    assert!(
        text.contains("version: \"2.17.0rc1\"\n  order: 2.17.0-rc1\n"),
        "{text}"
    );
    let again = read(&text);
    assert_eq!(again, lock);
    assert_eq!(again.to_text(), text);
    // Earlier lockfiles have the same version in another form.
    let earlier = text.replace("\"2.17.0rc1\"\n  order: 2.17.0-rc1", "2.17.0-rc1");
    assert_eq!(read(&earlier.replace("\"2.17.0rc1\"", "2.17.0-rc1")), lock);
}

#[test]
fn versions_of_models_keep_their_place_in_the_order() {
    // The text of the first version does not say that its model has a ModelVersion, which decides its place.
    let place = Version::parse("2.5.3-b.1").expect("a version");
    let newer = Version::native("1.05.03@2023-12-15", &place);
    let other = opcua::ECOSYSTEM.version("@2017-07-14").expect("a version");
    let names = [
        "http://acme.example/Pump/",
        "http://opcfoundation.org/UA/",
        "http://acme.example/Motor/",
    ];
    let spec = ">=1.04@2019-11-20";
    let lock = lockfile(opcua::ECOSYSTEM, names, spec, [newer.clone(), other]);
    let text = lock.to_text();
    assert!(text.contains("version: \"@2017-07-14\"\n"), "{text}");
    let again = read(&text);
    assert_eq!(again, lock);
    let bound = again.roots.values().flat_map(BTreeMap::values).next();
    assert_eq!(bound.map(|bound| &bound.version), Some(&newer));
    assert_eq!(again.to_text(), text);
}
