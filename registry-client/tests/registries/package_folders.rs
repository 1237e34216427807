//! Which files of a package folder are packed.

use std::fs;

use pkgres_manifest::ReadOptions;
use pkgres_registry_client::PackageFolder;

use crate::{add_package, places};

#[test]
fn files_are_left_out_by_rules_that_can_be_seen() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(folder.path(), "acme.Web", "1.0.0", "");
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    };
    for path in [
        ".git/config",
        ".env",
        "pkgres.lock",
        "acme.Web-1.0.0.zip",
        "acme.Other-1.0.0.zip",
        "Resources/.htaccess",
        "Resources/.well-known/x",
        "Resources/.DS_Store",
        "Resources/notes~",
        "Resources/pkgres.lock",
        "Resources/large.iso",
        "third-party/acme.Db-1.0.0.zip",
        "acme.Vendored-1.0.0.zip",
        "Resources/acme.Vendored-1.0.0.zip",
        "Resources/.pkgres-pkgres.lock.1-1.tmp",
        "machine/srv/page",
        "machine/var/lib/pkgres/acme.Web/applied.json",
        "image/etc/os-release",
    ] {
        write(path, "x");
    }
    // Only the archives that are listed were written by a command, whatever else is in their folder.
    write("third-party/.pkgres-vendored", "acme.Db-1.0.0.zip\n");
    write(".pkgres-vendored", "acme.Vendored-1.0.0.zip\n");
    write("Resources/.pkgres-vendored", "acme.Vendored-1.0.0.zip\n");
    let shown = || {
        let package = PackageFolder::open(folder.path(), &ReadOptions::default());
        let package = package.expect("a package");
        let taken = package.files().iter();
        let taken: Vec<String> = taken.map(|file| file.path.to_string()).collect();
        let excluded = package.excluded().iter();
        let excluded: Vec<String> = excluded
            .map(|excluded| format!("{} {:?}", excluded.path, excluded.reason))
            .collect();
        (taken, excluded)
    };
    let (taken, excluded) = shown();
    assert_eq!(
        taken,
        [
            ".env",
            "Resources/.htaccess",
            "Resources/.well-known/x",
            "Resources/large.iso",
            "Resources/pkgres.lock",
            "acme.Other-1.0.0.zip",
            "image/etc/os-release",
            "manifest.yaml",
        ]
    );
    assert_eq!(
        excluded,
        [
            ".git/ Leftover",
            ".pkgres-vendored OfPkgres",
            "Resources/.DS_Store Leftover",
            "Resources/.pkgres-pkgres.lock.1-1.tmp OfPkgres",
            "Resources/.pkgres-vendored OfPkgres",
            "Resources/acme.Vendored-1.0.0.zip Vendored",
            "Resources/notes~ Leftover",
            "acme.Vendored-1.0.0.zip Vendored",
            "acme.Web-1.0.0.zip Archive",
            "machine/ Deployed",
            "pkgres.lock OfProject",
            "third-party/ Vendored",
        ]
    );
    write(".pkgresignore", "# secrets\n/.env\n*.iso\n!notes~\n");
    let (taken, excluded) = shown();
    assert!(taken.contains(&"Resources/notes~".to_owned()));
    assert!(excluded.contains(&".env Ignored".to_owned()));
    assert!(excluded.contains(&".pkgresignore OfProject".to_owned()));
    assert!(excluded.contains(&"Resources/large.iso Ignored".to_owned()));
    write(".pkgresignore", "\u{feff}*.iso\n\u{feff}/.env\n");
    let (_, excluded) = shown();
    assert!(excluded.contains(&"Resources/large.iso Ignored".to_owned()));
    assert!(!excluded.contains(&".env Ignored".to_owned()));
    write(".pkgresignore", "[z-a]\n");
    let unreadable = PackageFolder::open(folder.path(), &ReadOptions::default());
    unreadable.expect_err("the pattern is invalid");
    write(
        ".pkgresignore",
        "*.iso\n<<<<<<< HEAD\n*.a\n=======\n*.b\n>>>>>>> b\n",
    );
    let unmerged = PackageFolder::open(folder.path(), &ReadOptions::default());
    let error = unmerged.expect_err("the markers are no patterns");
    assert!(error.message.contains("merge conflict markers"), "{error}");
    assert_eq!(places(&error)[0].1, 2);
}

#[test]
fn names_in_a_package_folder_differ_on_every_file_system() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(folder.path(), "acme.Web", "1.0.0", "");
    let resources = folder.path().join("Resources");
    fs::create_dir_all(&resources).expect("created");
    for name in ["Stra\u{df}e", "STRASSE"] {
        fs::write(resources.join(name), "x").expect("written");
    }
    if fs::read_dir(&resources).expect("it is there").count() < 2 {
        return;
    }
    let package = PackageFolder::open(folder.path(), &ReadOptions::default());
    let error = package.expect_err("they are the same elsewhere");
    assert!(
        error.message.contains("are the same on some file systems"),
        "{error}"
    );
}

/// An archive without them would not be a package.
#[test]
fn files_that_a_package_needs_cannot_be_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let classes = "Classes: {acme.Web: web/Web.yaml}\n";
    add_package(folder.path(), "acme.Web", "1.0.0", classes);
    let class_folder = folder.path().join("Classes/web");
    fs::create_dir_all(&class_folder).expect("created");
    fs::write(class_folder.join("Web.yaml"), "Name: acme.Web\n").expect("written");
    fs::write(class_folder.join("Notes.yaml"), "x").expect("written");
    let read = |rules: &str| {
        fs::write(folder.path().join(".pkgresignore"), rules).expect("written");
        let options = ReadOptions::default();
        let package = PackageFolder::open(folder.path(), &options).expect("it can be read");
        let findings = package.package(&options).into_result().err();
        let findings = findings.unwrap_or_default().into_iter();
        let shown = findings.map(|finding| (finding.message.clone(), places(&finding)[0].1));
        shown.collect::<Vec<_>>()
    };
    let needed = |path: &str, line: usize| {
        let because = "which is not packed: ignored by .pkgresignore";
        vec![(format!("the package needs `{path}`, {because}"), line)]
    };
    let class = "Classes/web/Web.yaml";
    assert_eq!(read("# all\nmanifest.yaml\n"), needed("manifest.yaml", 2));
    assert_eq!(read("*.md\nClasses/\r\n"), needed(class, 2));
    assert_eq!(read("web\n!web\nweb  \nx\n"), needed(class, 3));
    assert_eq!(read("*.yaml\n!manifest.yaml\n"), needed(class, 1));
    assert_eq!(read("*.yaml\n!manifest.yaml\n!Web.yaml\n"), []);
}

#[test]
fn braces_in_ignore_files_are_plain_characters() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(folder.path(), "acme.Web", "1.0.0", "");
    let resources = folder.path().join("Resources");
    fs::create_dir_all(&resources).expect("created");
    for name in ["x.txt", "{x,y}.txt", "}", "a{", "b", "{"] {
        fs::write(resources.join(name), "x").expect("written");
    }
    let rules = "{x,y}.txt\n}\n[a{]{\n\\{\n";
    fs::write(folder.path().join(".pkgresignore"), rules).expect("written");
    let package = PackageFolder::open(folder.path(), &ReadOptions::default());
    let package = package.expect("a package");
    let taken = package.files().iter().map(|file| file.path.to_string());
    let taken: Vec<String> = taken
        .filter(|path| path.starts_with("Resources/"))
        .collect();
    assert_eq!(taken, ["Resources/b", "Resources/x.txt"]);
}
