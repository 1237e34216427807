//! Packages, as dpkg and apt install them.

use std::path::Path;

use pkgres_engine::{
    EntryAttributes, Identifier, Input, Package, Probe as _, Resource, Target as _, Wish,
};

use crate::debian::{Debian, change, is_in_order, try_change};

/// Builds packages, and a repository with them that apt does not know yet.
pub(crate) const REPOSITORY: &str = r#"
set -e
mkdir -p /repository && cd /repository
package() {
    folder=$(mktemp -d)
    mkdir -p "$folder/DEBIAN" "$folder/etc"
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n' "$1" "$2" \
        >"$folder/control"
    [ -z "$3" ] || printf 'Depends: %s\n' "$3" >>"$folder/control"
    printf 'Description: sample\n' >>"$folder/control"
    cp "$folder/control" "$folder/DEBIAN/control" && rm "$folder/control"
    echo "version $2" >"$folder/etc/$1.conf"
    echo "/etc/$1.conf" >"$folder/DEBIAN/conffiles"
    chmod 0755 "$folder"
    dpkg-deb --build "$folder" "$1_$2.deb" >/dev/null
    cat "$folder/DEBIAN/control" >>Packages
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$1_$2.deb" "$(stat -c %s "$1_$2.deb")" \
        "$(sha256sum "$1_$2.deb" | cut -d' ' -f1)" >>Packages
}
package sample 1.0
package sample 2.0
package sample-plugin 1.0 sample
package other 1.0
echo 'deb [trusted=yes] file:/repository ./' >/etc/apt/sources.list
"#;

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
