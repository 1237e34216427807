//! Packages, as dpkg and apt install them.

use std::path::Path;

use pkgres_engine::{
    Difference, DriveOptions, EntryAttributes, GraphBuilder, Identifier, Input, NodeStatus,
    Outcome, Package, Probe as _, Resource, Target as _, Wish, attempt, drive,
};

use pkgres_manifest::{MetaParameters, ResourceId};
use pkgres_tests::debian::REPOSITORY;

use crate::debian::{Debian, change, is_in_order, try_change};

fn transactions(debian: &Debian) -> usize {
    let log = debian
        .machine()
        .read(Path::new("/var/log/apt/history.log"), 1 << 20);
    let log = String::from_utf8(log.unwrap_or_default()).expect("the log is text");
    log.matches("Start-Date").count()
}

#[test]
fn packages_are_installed_pinned_and_removed() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);

    let sample = Package::new("sample");
    assert!(is_in_order(machine, &sample.clone().absent()));
    // apt does not know it before it reads its lists again.
    assert_eq!(change(machine, &sample), ["sample: any version"]);
    let pinned = sample.clone().with_version("1.0");
    assert_eq!(change(machine, &pinned), ["sample: 2.0 -> 1.0"]);
    assert!(is_in_order(machine, &sample), "any version is fine");

    // What was changed on the machine stays.
    let attributes = EntryAttributes::with_mode(0o644);
    machine
        .write_file(Path::new("/etc/sample.conf"), b"mine\n", attributes)
        .expect("its folder is there");
    change(machine, &sample.clone().with_version("2.0"));
    assert_eq!(debian.text("/etc/sample.conf"), "mine\n");

    let error = try_change(machine, &sample.clone().with_version("3.0"))
        .expect_err("there is no such version");
    let message = error.to_string();
    let expected = "E: Version '3.0' for 'sample' was not found";
    assert!(message.ends_with(expected), "{message}");

    // A package that another one needs is not removed with it.
    let plugin = Package::new("sample-plugin");
    change(machine, &plugin);
    let error = try_change(machine, &sample.clone().absent()).expect_err("the plugin needs it");
    assert_eq!(
        error.to_string(),
        "other packages need sample: sample-plugin; they have to be absent as well"
    );
    let before = transactions(&debian);
    let (sample_gone, plugin_gone) = (sample.clone().absent(), plugin.absent());
    let both = group(&[&sample_gone, &plugin_gone]).expect("they fit together");
    let removed = change(machine, both.as_ref());
    assert_eq!(removed, ["sample: remove 2.0", "sample-plugin: remove 1.0"]);
    assert_eq!(transactions(&debian), before + 1);
    // Configuration files stay, which does not make it installed.
    let state = debian.shell("dpkg-query -W -f '${db:Status-Abbrev}' sample");
    assert_eq!(state, "rc ");
    assert!(is_in_order(machine, &sample_gone));
    assert!(!is_in_order(machine, &sample));

    let before = transactions(&debian);
    let other = Package::new("other");
    let both = group(&[&pinned, &other]).expect("they fit together");
    assert_eq!(
        change(machine, both.as_ref()),
        ["sample: 1.0", "other: any version"]
    );
    assert_eq!(transactions(&debian), before + 1);
}

#[test]
fn a_package_that_cannot_be_installed_does_not_keep_others_from_it() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    let (sample, missing) = (Package::new("sample"), Package::new("missing-package"));
    change(machine, &Package::new("other"));
    let mut builder = GraphBuilder::new();
    let packages = [
        ("other", Package::new("other")),
        ("sample", sample.clone()),
        ("missing-package", missing),
    ];
    for (name, package) in packages {
        let id = ResourceId::new("package", name).expect("it is an identity");
        builder.add(id, package, MetaParameters::default());
    }
    let graph = builder.build().expect("it has no cycle");
    assert_eq!(graph.nodes().len(), 1, "they are one group");
    let (_control, controlled) = std::sync::mpsc::channel();
    let options = DriveOptions::default();
    let ending = drive(graph, debian.shared_machine(), &options, controlled, |_| {});
    let [(_, other), (_, installed), (_, missing)] = &ending.nodes[..] else {
        panic!("{:?}", ending.nodes);
    };
    assert_eq!([other, installed], [&NodeStatus::InOrder; 2]);
    let NodeStatus::Failed(message) = missing else {
        panic!("{missing:?}");
    };
    assert!(
        message.contains("Unable to locate package missing-package"),
        "{message}"
    );
    assert!(is_in_order(machine, &sample));
}

#[test]
fn a_dry_run_finds_what_apt_would_refuse() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    let plan = |package: &Package| match attempt(package, machine, &Input::default(), true) {
        Outcome::Pending(differences) => Ok(shown(&differences)),
        Outcome::Impossible(differences, error) => Err((shown(&differences), error.to_string())),
        other => panic!("{other:?}"),
    };
    let (sample, needy) = (Package::new("sample"), Package::new("needy"));
    let pinned = sample.clone().with_version("1.0");
    // apt has no lists yet, and new ones may have everything.
    assert_eq!(
        plan(&pinned),
        Ok("sample: 1.0, which is not in the lists of apt".to_owned())
    );
    assert_eq!(plan(&needy), Ok("needy: any version".to_owned()));
    change(machine, &pinned);

    let missing = sample.clone().with_version("3.0");
    assert_eq!(
        plan(&missing),
        Ok("sample: 1.0 -> 3.0, which is not in the lists of apt".to_owned())
    );
    assert_eq!(
        plan(&sample.clone().with_version("2.0")),
        Ok("sample: 1.0 -> 2.0".to_owned())
    );
    let (differences, error) = plan(&needy).expect_err("nothing is called nowhere");
    assert_eq!(differences, "needy: any version");
    assert!(error.contains("unmet dependencies"), "{error}");
    assert!(
        !try_change(machine, &needy)
            .expect_err("so it fails")
            .to_string()
            .is_empty()
    );

    change(machine, &Package::new("sample-plugin"));
    let (differences, error) = plan(&sample.absent()).expect_err("the plugin needs it");
    assert_eq!(differences, "sample: remove 1.0");
    assert_eq!(
        error,
        "other packages need sample: sample-plugin; they have to be absent as well"
    );
}

/// Without its cache, apt reads signed lists by way of temporary files, also to simulate.
#[test]
fn a_dry_run_needs_no_cache_of_apt() {
    let Some(debian) = Debian::new() else { return };
    let signed = "ls /var/lib/apt/lists/*InRelease && rm -f /var/cache/apt/*.bin";
    debian.shell(signed);
    let outcome = attempt(
        &Package::new("sl"),
        debian.machine(),
        &Input::default(),
        true,
    );
    let Outcome::Pending(differences) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(shown(&differences), "sl: any version");
}

fn shown(differences: &[Difference]) -> String {
    let shown: Vec<String> = differences.iter().map(Difference::to_string).collect();
    shown.join("; ")
}

#[test]
fn a_transaction_that_was_interrupted_is_ended() {
    let Some(debian) = Debian::new() else { return };
    let machine = debian.machine();
    debian.shell(REPOSITORY);
    // As if dpkg had been killed between unpacking and configuring.
    debian.shell(
        "dpkg --unpack /repository/sample_1.0.deb \
         && sed -n '/^Package: sample$/,/^$/p' /var/lib/dpkg/status | sed '/^$/d' >/var/lib/dpkg/updates/0001",
    );
    let sample = Package::new("sample");
    assert!(!is_in_order(machine, &sample), "it is not configured");
    change(machine, &Package::new("other"));
    assert!(is_in_order(machine, &sample));
}

#[test]
fn packages_of_other_systems_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir(folder.path().join("etc")).expect("the folder exists");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(folder.path().join("etc/os-release"), "ID=fedora\n").expect("the folder exists");
    let machine = pkgres_engine::Machine::root_folder(folder.path()).expect("it is a folder");
    let error = try_change(&machine, &Package::new("sample")).expect_err("it has no dpkg");
    assert_eq!(
        error.to_string(),
        "packages can be handled on Debian and what derives from it, not on the family `redhat`"
    );
    for name in ["", "--force", "sample-", "a b", "../sample.deb", "sample=1"] {
        let error = Package::new(name).check(&machine, &Input::default());
        let error = error.expect_err("that is no name").to_string();
        assert!(error.contains("cannot be the name of a package"), "{error}");
    }
    let package = Package::new("sample").with_version("1 -o");
    let error = package
        .check(&machine, &Input::default())
        .expect_err("that is no version");
    assert_eq!(
        error.to_string(),
        "`1 -o` cannot be the version of a package"
    );
}

#[test]
fn packages_that_contradict_each_other_are_not_grouped() {
    let (one, two) = (
        Package::new("sample"),
        Package::new("sample").with_version("1.0"),
    );
    assert_eq!(one.group(), two.group());
    assert!(group(&[&one, &two]).is_none());
    let gone = Package::new("other").absent();
    assert_ne!(one.group(), gone.group());
    let grouped = group(&[&two, &Package::new("other")]).expect("they fit together");
    let package = |name: &str| Identifier::Package(name.to_owned());
    assert_eq!(grouped.identifiers(), [package("sample"), package("other")]);
    let service = |name: &str| Wish::before(Identifier::Service(name.to_owned()));
    assert_eq!(grouped.wishes(), [service("sample"), service("other")]);
}

fn group(members: &[&dyn Resource]) -> Option<Box<dyn Resource>> {
    members[0].grouped(members)
}
