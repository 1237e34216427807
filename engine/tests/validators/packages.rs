//! Packages on a real Debian system, with a repository of its own. All changes go to an overlay.

use std::path::Path;

use pkgres_engine::{Command, EntryAttributes, Overlay, Target as _};

use crate::support::{debian_root, findings, reconcile, skipped, test};

/// Builds two versions of a package, and makes them the only ones that `apt-get` knows.
const REPOSITORY: &str = r#"
set -e
mkdir -p /repository
cd /repository
: > Packages
for version in 1.0-1 2.0-1; do
    mkdir -p build/DEBIAN build/etc
    echo "$version" > build/etc/pkgres-sample
    printf '/etc/pkgres-sample\n' > build/DEBIAN/conffiles
    printf 'Package: pkgres-sample\nVersion: %s\nArchitecture: all\nMaintainer: Sample <sample@example.org>\nDescription: A sample\n' \
        "$version" > build/DEBIAN/control
    dpkg-deb --build build "sample_$version.deb" > /dev/null
    {
        cat build/DEBIAN/control
        printf 'Filename: ./sample_%s.deb\nSize: %s\nSHA256: %s\n\n' "$version" \
            "$(stat -c %s "sample_$version.deb")" "$(sha256sum "sample_$version.deb" | cut -d' ' -f1)"
    } >> Packages
done
rm -rf build /etc/apt/sources.list.d/*
echo 'deb [trusted=yes] file:/repository ./' > /etc/apt/sources.list
apt-get -o APT::Sandbox::User=root update > /dev/null
echo 'APT::Sandbox::User "root";' > /etc/apt/apt.conf.d/00root
"#;

#[test]
fn packages_are_installed_pinned_and_recognized() {
    let Some(root) = debian_root() else {
        return;
    };
    let place = tempfile::tempdir().expect("a folder for the overlay");
    let overlay = match Overlay::new(&root, place.path()) {
        Ok(overlay) => overlay,
        Err(error) => {
            skipped(&error.to_string());
            return;
        }
    };
    let machine = overlay.machine();
    let output = machine
        .run(&Command::new("/bin/sh").arguments(["-c", REPOSITORY]))
        .expect("it runs");
    assert!(output.is_success(), "{:?}", output.last_words());

    let any = "validators: [{package: [bash, pkgres-sample]}]\n";
    let old = "validators: [{package: [{pkgres-sample: {version: 1.0-1}}, bash]}]\n";
    let missing = "v.yaml:1:15: error[PK0111]: `pkgres-sample` is not installed";
    assert_eq!(findings(&test(any, machine)), [missing]);
    assert_eq!(findings(&reconcile(any, machine)), [] as [&str; 0]);
    assert!(test(any, machine).is_passed());
    assert_eq!(
        findings(&test(old, machine)),
        ["v.yaml:1:15: error[PK0111]: `pkgres-sample` is installed in version 2.0-1, not 1.0-1"]
    );
    assert_eq!(findings(&reconcile(old, machine)), [] as [&str; 0]);
    assert!(test(old, machine).is_passed());
    // Twice is as good as once.
    assert_eq!(findings(&reconcile(old, machine)), [] as [&str; 0]);

    // The configuration stays, and `dpkg` still knows the package, but it is not installed.
    let remove = Command::new("dpkg").arguments(["--remove", "pkgres-sample"]);
    assert!(machine.run(&remove).expect("it runs").is_success());
    let state = Command::new("dpkg").arguments(["-s", "pkgres-sample"]);
    assert!(machine.run(&state).expect("it runs").is_success());
    assert_eq!(findings(&test(any, machine)), [missing]);

    let unknown = "validators: [{package: pkgres-no-such-package}]\n";
    let found = findings(&reconcile(unknown, machine));
    let expected = "v.yaml:1:15: error[PK0111]: `pkgres-no-such-package` is not installed, and the installation failed: ";
    assert!(found[0].starts_with(expected), "{found:?}");

    machine
        .write_file(Path::new("/etc/x"), b"", EntryAttributes::with_mode(0o600))
        .expect("it can be written");
    assert!(
        !root.join("etc/x").exists(),
        "the root below stays as it is"
    );
    assert!(!root.join("repository").exists());
}
