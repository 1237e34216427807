//! Folders and index files as registries, with everything that can be wrong with them.

// Fixtures are written without ceremony.
#![allow(clippy::disallowed_methods)]

mod package_folders;

use std::error::Error;
use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::Path;

use pkgres_files::RealFileSystem;
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    ArtifactDigest, IndexRecord, Limits, PackageName, ReadOptions, RegistryName, ReleaseSource,
    write_archive,
};
use pkgres_registry_client::{
    Artifact, DirectoryRegistry, IndexFileRegistry, Namespace, PackageFolder, Registry,
    RegistryError, RegistrySet, SinglePackage,
};
use pkgres_resolver::Supply;

fn name(text: &str) -> PackageName {
    PackageName::parse(text).expect("a package name")
}

fn registry_name() -> RegistryName {
    RegistryName::parse("test").expect("a registry name")
}

/// Writes a package without classes; `extra` ends its manifest.
fn add_package(folder: &Path, package: &str, version: &str, extra: &str) {
    fs::create_dir_all(folder).expect("created");
    let manifest =
        format!("Format: 1.4\nType: Library\nFullName: {package}\nVersion: {version}\n{extra}");
    fs::write(folder.join("manifest.yaml"), manifest).expect("written");
}

fn directory(folder: &Path) -> DirectoryRegistry {
    DirectoryRegistry::open(registry_name(), folder, &ReadOptions::default())
        .expect("the folder is there")
}

fn records(registry: &dyn Registry, package: &str) -> Result<Vec<IndexRecord>, RegistryError> {
    let mut answers = registry.records(&[name(package)])?;
    Ok(answers.pop().flatten().unwrap_or_default())
}

fn versions(registry: &dyn Registry, package: &str) -> Vec<String> {
    records(registry, package)
        .expect("the registry can be read")
        .into_iter()
        .map(|record| record.version.to_string())
        .collect()
}

/// The finding that an error is, with the places that it names.
fn finding(error: &RegistryError) -> (Code, Vec<(String, usize)>) {
    let RegistryError::Invalid(finding) = error else {
        panic!("{error}");
    };
    (finding.code, places(finding))
}

fn places(finding: &Diagnostic) -> Vec<(String, usize)> {
    let labels = finding.labels.iter();
    labels
        .map(|label| {
            let location = &label.location;
            let path = Path::new(location.source().name());
            let file = path.iter().rev().take(2).collect::<Vec<_>>();
            let shown: Vec<_> = file
                .into_iter()
                .rev()
                .map(|part| part.to_string_lossy())
                .collect();
            (shown.join("/"), location.position().line)
        })
        .collect()
}

/// Packs a folder, as the command does.
fn pack(folder: &Path, archive: &Path) {
    let options = ReadOptions::default();
    let package = PackageFolder::open(folder, &options).expect("a package");
    let files = package.files().iter().map(|file| {
        let bytes = package.read(&file.path, 1 << 20).expect("readable");
        (file.path.clone(), file.executable, bytes)
    });
    let bytes = write_archive(files, &options.limits).expect("within the limits");
    pkgres_files::write_file(&RealFileSystem, archive, &bytes).expect("written");
}

#[test]
fn a_folder_holds_packages_at_any_depth_but_none_inside_another() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    add_package(&at("db/1"), "acme.Db", "1.0.0", "");
    add_package(&at("db/10"), "acme.Db", "1.10.0", "");
    add_package(&at("deep/er/web"), "acme.Web", "2.0.0", "");
    add_package(&at("deep/er/web/inside"), "acme.Inside", "1.0.0", "");
    add_package(&at(".hidden"), "acme.Hidden", "1.0.0", "");
    let registry = directory(folder.path());
    let names: Vec<String> = registry.names().map(ToString::to_string).collect();
    assert_eq!(names, ["acme.Db", "acme.Web"]);
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0", "1.10.0"]);
    let absent = registry.records(&[name("acme.Inside")]).expect("readable");
    assert_eq!(absent, [None], "absent is not an error");
    assert_eq!(registry.take_findings(), []);
}

/// The copies on a machine, whose root can be beside the projects, are no releases.
#[test]
fn the_root_of_a_machine_holds_no_packages() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = place.path();
    add_package(&folder.join("site"), "a.Site", "1.0.0", "");
    add_package(&folder.join("root/srv/site"), "a.Site", "9.0.0", "");
    let of = |folder: &Path| versions(&directory(folder), "a.Site");
    assert_eq!(of(folder), ["1.0.0", "9.0.0"]);
    for (mark, text) in [("etc/os-release", "ID=debian\n"), ("var/lib/pkgres/x", "")] {
        let mark = folder.join("root").join(mark);
        let mark_folder = mark.parent().expect("a folder");
        pkgres_files::make_folder(&RealFileSystem, mark_folder).expect("it can be made");
        std::fs::write(&mark, text).expect("it can be written");
        assert_eq!(of(folder), ["1.0.0"]);
        // It can be named.
        assert_eq!(of(&folder.join("root")), ["9.0.0"]);
        std::fs::remove_dir_all(mark_folder).expect("it can be removed");
    }
}

#[test]
fn a_missing_folder_is_unreachable() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    for path in [&folder.path().join("nowhere"), &file] {
        let opened = DirectoryRegistry::open(registry_name(), path, &ReadOptions::default());
        assert!(
            matches!(opened, Err(RegistryError::Unreachable { .. })),
            "{}",
            path.display()
        );
    }
}

#[test]
fn the_error_of_the_system_is_the_cause_of_an_unreachable_registry() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("nowhere");
    let opened = DirectoryRegistry::open(registry_name(), &path, &ReadOptions::default());
    let error = opened.expect_err("there is no such folder");
    let mut cause = Error::source(&error);
    let mut kind = None;
    while let Some(error) = cause {
        kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
        cause = error.source();
    }
    assert_eq!(kind, Some(io::ErrorKind::NotFound));
}

#[test]
fn broken_packages_are_reported_once_and_hide_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    add_package(&at("good"), "acme.Db", "1.0.0", "");
    add_package(
        &at("newer"),
        "acme.Db",
        "2.0.0",
        "Classes:\n  acme.Db: Db.yaml\n",
    );
    add_package(&at("wrong"), "acme.Db", "v3", "");
    fs::create_dir(at("zips")).expect("created");
    fs::write(at("zips/text.zip"), "no archive").expect("written");
    let registry = directory(folder.path());
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0"]);
    let mut found: Vec<_> = registry.take_findings().iter().map(places).collect();
    found.sort();
    assert_eq!(
        found,
        [
            vec![("newer/manifest.yaml".to_owned(), 6)],
            vec![("wrong/manifest.yaml".to_owned(), 4)],
            vec![("zips/text.zip".to_owned(), 1)],
        ]
    );
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0"]);
    assert_eq!(registry.take_findings(), [], "nothing is reported twice");
}

#[test]
fn packages_that_are_left_out_of_searches_are_reported_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    add_package(&at("one"), "acme.Db", "1.0.0", "");
    add_package(&at("two"), "acme.Db", "1.0.0", "Description: Another one\n");
    let registry = directory(folder.path());
    for expected in [1, 0] {
        let found = registry
            .search(&["db".to_owned()], 10)
            .expect("it is left out");
        assert_eq!(found.len(), 0);
        let requiring = registry.requiring(&name("acme.Log"));
        assert_eq!(requiring, Ok(Some(Vec::new())));
        assert_eq!(registry.take_findings().len(), expected);
    }
}

#[test]
fn paths_in_hints_are_quoted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(&folder.path().join("my db"), "acme.Db", "v3", "");
    let registry = directory(folder.path());
    let path = format!("'{}'", folder.path().join("my db").display());
    let expected = format!("`pkgres check {path}` shows why");
    let sentences = registry.unreadable(&name("acme.Db"));
    assert!(sentences[0].ends_with(&expected), "{sentences:?}");
    let hints = &registry.take_findings()[0].hints;
    assert!(hints[0].contains(&path), "{hints:?}");
}

/// A name whose only release cannot be read is not left to the next registry, however the name is written.
#[test]
fn a_package_that_cannot_be_read_keeps_its_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        ("plain/manifest.yaml", "FullName: acme.plain\nVersion: x\n"),
        (
            "quoted/manifest.yaml",
            "\"FullName\": acme.quoted\nVersion: x\n",
        ),
        (
            "blank/manifest.yaml",
            "'FullName' : 'acme.blank' # ours\nVersion: x\n",
        ),
        (
            "galaxy/galaxy.yml",
            "namespace: acme\nname: galaxy\nversion: x.y\n",
        ),
        (
            "installed/MANIFEST.json",
            r#"{"collection_info": {"namespace": "acme", "name": "installed", "version": "x"}}"#,
        ),
        ("files/acme-packed-1.0.0.tar.gz", "no archive"),
        (
            "models/declared.xml",
            "<!DOCTYPE UANodeSet><UANodeSet><Models><Model ModelUri=\"acme.declared\"/>",
        ),
        (
            "models/versioned.xml",
            "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"><Models>\
             <Model Version=\"1@2\" ModelUri = 'acme.versioned'/></Models></UANodeSet>",
        ),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("created");
        fs::write(path, text).expect("written");
    }
    let registry = directory(folder.path());
    let names = [
        "plain",
        "quoted",
        "blank",
        "galaxy",
        "installed",
        "packed",
        "declared",
        "versioned",
    ];
    for name in names {
        let name = PackageName::native(&format!("acme.{name}")).expect("a name");
        let found = registry
            .records(std::slice::from_ref(&name))
            .expect("it can be read");
        assert_eq!(found, [Some(Vec::new())], "{name}");
        assert_eq!(registry.unreadable(&name).len(), 1, "{name}");
    }
    assert_eq!(registry.take_findings().len(), files.len());
}

/// Adds a folder whose path is too long to be opened, below a folder `deep`.
fn add_unread_folder(folder: &Path) {
    let name = "x".repeat(200);
    let script = format!(
        "mkdir deep && cd -P deep && for at in $(seq 25); do mkdir {name} && cd -P {name} || exit 1; done"
    );
    let made = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder)
        .status();
    assert!(made.expect("there is a shell").success());
}

/// A folder that cannot be read is left out, but may have any package: names are not left to other registries.
#[test]
fn a_folder_that_cannot_be_read_is_left_out() {
    let [folder, other] = [(); 2].map(|()| tempfile::tempdir().expect("a temporary folder"));
    add_package(&folder.path().join("db"), "acme.Db", "1.0.0", "");
    add_package(&other.path().join("web"), "acme.Web", "1.0.0", "");
    add_unread_folder(folder.path());
    let registry = directory(folder.path());
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0"]);
    assert!(versions(&registry, "acme.Web").is_empty());
    let findings = registry.take_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(!findings[0].is_error() && findings[0].message.contains("/deep/xxx"));

    let names = ["acme.Db", "acme.Web", "acme.Unknown"].map(name);
    let is_found = |registries: &RegistrySet, names: &[PackageName]| {
        let supplies = registries
            .supply(names)
            .map_err(|error| error.to_string())?;
        Ok::<Vec<bool>, String>(supplies.iter().map(|one| *one != Supply::Unknown).collect())
    };
    let alone = RegistrySet::new(vec![Box::new(registry)]);
    assert_eq!(is_found(&alone, &names), Ok(vec![true, false, false]));
    let second = RegistryName::parse("second").expect("a registry name");
    let other = || {
        let options = ReadOptions::default();
        let registry = DirectoryRegistry::open(second.clone(), other.path(), &options);
        Box::new(registry.expect("the folder is there"))
    };
    let mut both = RegistrySet::new(vec![Box::new(directory(folder.path())), other()]);
    assert_eq!(is_found(&both, &names[..1]), Ok(vec![true]));
    let error = is_found(&both, &names).expect_err("the folder may have it");
    assert!(error.contains("/deep/xxx"), "{error}");
    let namespace = Namespace::parse("acme.Web").expect("a namespace");
    both.bind(namespace, second.clone());
    assert_eq!(is_found(&both, &names[..2]), Ok(vec![true, true]));
    let before = RegistrySet::new(vec![other(), Box::new(directory(folder.path()))]);
    assert_eq!(is_found(&before, &names), Ok(vec![true, true, false]));
}

#[test]
fn what_belongs_to_the_project_is_not_limited_by_namespaces() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(&folder.path().join("member"), "acme.Db", "0.1.0", "");
    let mut set = RegistrySet::new(vec![Box::new(
        index(folder.path(), &format!("{DB}\n")).expect("an index"),
    )]);
    let own = RegistryName::parse("workspace").expect("a name");
    let namespace = Namespace::parse("acme.*").expect("a namespace");
    set.bind(namespace, registry_name());
    let members = folder.path().join("member");
    let members = DirectoryRegistry::open(own.clone(), &members, &ReadOptions::default());
    set.push_front(Box::new(members.expect("the folder is there")));
    let supply = set.supply(&[name("acme.Db")]).expect("readable");
    let [Supply::Releases { records, source }] = supply.as_slice() else {
        panic!("{supply:?}");
    };
    assert_eq!(records[0].version.to_string(), "0.1.0");
    assert_eq!(*source, ReleaseSource::Registry(own));
}

#[test]
fn what_a_record_lacks_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        (
            "web/galaxy.yml",
            "namespace: acme\nname: web\nversion: 1.0.0\nreadme: R\nauthors: [a]\n",
        ),
        ("web/R", ""),
        (
            "web/meta/runtime.yml",
            "plugin_routing: [\nrequires_ansible: '>=99'\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has one")).expect("created");
        fs::write(path, text).expect("written");
    }
    let registry = directory(folder.path());
    let name = PackageName::native("acme.web").expect("a name");
    let found = registry.records(&[name]).expect("it can be read");
    assert_eq!(found[0].as_ref().map(Vec::len), Some(1));
    let findings = registry.take_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    let text = findings[0].to_string();
    assert!(text.contains("meta/runtime.yml is ignored"), "{text}");
    fs::write(
        folder.path().join("web/meta/runtime.yml"),
        "x: &a '>=99'\nrequires_ansible: *a\n",
    )
    .expect("written");
    let registry = directory(folder.path());
    let name = PackageName::native("acme.web").expect("a name");
    let found = registry.records(&[name]).expect("it can be read");
    let record = found[0].as_ref().and_then(|records| records.first());
    let record = record.expect("a release");
    assert_eq!(record.requirements.len(), 1);
    assert!(registry.take_findings().is_empty());
}

#[test]
fn a_duplicate_release_in_a_folder() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    add_package(&at("one"), "acme.Db", "1.0.0", "");
    add_package(&at("two"), "acme.Db", "1.0.0", "");
    assert_eq!(versions(&directory(folder.path()), "acme.Db"), ["1.0.0"]);
    add_package(&at("two"), "acme.Db", "1.0.0", "Name: another\n");
    let error = records(&directory(folder.path()), "acme.Db").expect_err("they differ");
    let expected = [("one/manifest.yaml", 3), ("two/manifest.yaml", 3)];
    assert_eq!(
        finding(&error),
        (
            Code::DuplicateRelease,
            expected.map(|(file, line)| (file.to_owned(), line)).into()
        )
    );
}

#[test]
fn a_folder_and_its_archive_are_one_release_whichever_is_found_first() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let at = |path: &str| folder.path().join(path);
    add_package(&at("b/db"), "acme.Db", "1.0.0", "");
    let digest = |registry: &DirectoryRegistry| {
        let records = records(registry, "acme.Db").expect("one release");
        records.first().and_then(|record| record.digest)
    };
    let alone = digest(&directory(folder.path()));
    assert!(matches!(alone, Some(ArtifactDigest::Tree(_))));
    for archive in ["a.zip", "b/z.zip"] {
        pack(&at("b/db"), &at(archive));
        let registry = directory(folder.path());
        assert_eq!(digest(&registry), alone, "{archive}");
        let artifact = registry.artifact(&alone.expect("a digest"));
        assert!(
            matches!(artifact, Ok(Some(Artifact::Folder(_)))),
            "{archive}"
        );
    }
    fs::create_dir(at("c")).expect("created");
    pack(&at("b/db"), &at("c/db.zip"));
    add_package(&at("b/db"), "acme.Db", "1.0.0", "Name: changed\n");
    records(&directory(folder.path()), "acme.Db").expect_err("they differ");
}

#[test]
fn an_artifact_that_changed_is_not_handed_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let package = folder.path().join("db");
    add_package(&package, "acme.Db", "1.0.0", "");
    let registry = directory(folder.path());
    let records = records(&registry, "acme.Db").expect("readable");
    let digest = records[0].digest.expect("folders have a digest");
    assert!(
        registry
            .artifact(&digest)
            .is_ok_and(|found| found.is_some())
    );
    add_package(&package, "acme.Db", "1.0.0", "Name: changed\n");
    let error = registry.artifact(&digest).expect_err("it changed");
    assert_eq!(finding(&error).0, Code::Digest);
}

/// An index of the lines.
fn index(folder: &Path, lines: &str) -> Result<IndexFileRegistry, RegistryError> {
    let path = folder.join("index.ndjson");
    fs::write(&path, lines).expect("written");
    IndexFileRegistry::open(
        registry_name(),
        &path,
        &Limits::default(),
        NonZeroUsize::MIN,
    )
}

const DB: &str = r#"{"name":"acme.Db","version":"1.0.0"}"#;
const WEB: &str = r#"{"name":"acme.Web","version":"1.0.0"}"#;

#[test]
fn lines_of_an_index_stand_in_any_order() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let lines = format!(
        "{}\n{WEB}\r\n\n{DB}\n{}",
        r#"{"name":"acme.Db","version":"1.10.0"}"#, r#"{ "version": "1.9", "name": "acme.Db" }"#
    );
    let registry = index(folder.path(), &lines).expect("an index");
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0", "1.9.0", "1.10.0"]);
    assert_eq!(versions(&registry, "acme.Web"), ["1.0.0"]);
    let absent = registry.records(&[name("acme.Other")]).expect("readable");
    assert_eq!(absent, [None]);
}

#[test]
fn a_bad_line_is_reported_with_its_place_when_its_package_is_needed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bad = r#"{"name":"acme.Db","version":"one"}"#;
    let registry = index(folder.path(), &format!("{WEB}\n\n{bad}\n")).expect("an index");
    assert_eq!(versions(&registry, "acme.Web"), ["1.0.0"], "not this one's");
    assert!(registry.take_findings().is_empty());
    assert!(versions(&registry, "acme.Db").is_empty());
    let lines = |registry: &IndexFileRegistry| -> Vec<(Code, usize)> {
        let findings = registry.take_findings().into_iter();
        let placed = findings.map(|finding| {
            let position = finding.labels[0].location.position();
            (finding.code, position.line)
        });
        placed.collect()
    };
    assert_eq!(lines(&registry), [(Code::IndexRecord, 3)]);
    // The line has no package.
    let registry = index(folder.path(), &format!("{WEB}\nnonsense\n")).expect("an index");
    assert_eq!(versions(&registry, "acme.Web"), ["1.0.0"]);
    assert_eq!(lines(&registry), [(Code::IndexRecord, 2)]);
}

#[test]
fn a_duplicate_release_in_an_index() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = index(folder.path(), &format!("{DB}\n{DB}\n")).expect("an index");
    assert_eq!(versions(&registry, "acme.Db"), ["1.0.0"]);
    let other = r#"{"name":"acme.Db","version":"1.0","yanked":true}"#;
    let registry = index(folder.path(), &format!("{DB}\n{WEB}\n{other}\n")).expect("an index");
    assert_eq!(records(&registry, "acme.Db"), Ok(Vec::new()));
    let findings = registry.take_findings();
    let [finding] = findings.as_slice() else {
        panic!("{findings:?}");
    };
    assert_eq!(finding.code, Code::DuplicateRelease);
    let lines = finding.labels.iter();
    let lines: Vec<usize> = lines.map(|label| label.location.position().line).collect();
    assert_eq!(lines, [1, 3]);
    let shown = finding.labels[1].location.source().text();
    assert_eq!(shown.trim(), other, "the line is shown");
}

#[test]
fn the_digest_of_a_record_is_read_and_its_artifact_is_elsewhere() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let digits = "ab".repeat(32);
    let line = format!(r#"{{"name":"acme.Db","version":"1.0.0","sha256":"{digits}"}}"#);
    let registry = index(folder.path(), &line).expect("an index");
    let records = records(&registry, "acme.Db").expect("readable");
    let digest = records[0].digest.expect("it has one");
    assert_eq!(digest.to_string(), digits);
    assert!(matches!(registry.artifact(&digest), Ok(None)));
}

#[test]
fn the_first_registry_that_has_a_name_has_all_of_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    add_package(&folder.path().join("db"), "acme.Db", "0.1.0", "");
    let private = directory(folder.path());
    let public = index(folder.path(), &format!("{DB}\n{WEB}\n")).expect("an index");
    let set = RegistrySet::new(vec![Box::new(private), Box::new(public)]);
    let names = ["acme.Db", "acme.Web", "acme.Other"].map(name);
    let found: Vec<Vec<String>> = set
        .supply(&names)
        .expect("readable")
        .into_iter()
        .map(|supply| match supply {
            Supply::Releases { records, .. } => records
                .into_iter()
                .map(|record| record.version.to_string())
                .collect(),
            Supply::Unknown => Vec::new(),
        })
        .collect();
    assert_eq!(found, [vec!["0.1.0"], vec!["1.0.0"], vec![]]);
}

#[cfg(unix)]
#[test]
fn only_links_to_releases_are_worth_a_word() {
    use std::os::unix::fs::symlink;

    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let packages = elsewhere.path().join("packages");
    add_package(&packages.join("db"), "a.Db", "1.0.0", "");
    let plain = elsewhere.path().join("plain");
    fs::create_dir(&plain).expect("created");

    // The root of a machine has links to many folders.
    let folder = tempfile::tempdir().expect("a temporary folder");
    symlink(&plain, folder.path().join("current")).expect("linked");
    assert_eq!(directory(folder.path()).take_findings(), []);

    symlink(&packages, folder.path().join("packages")).expect("linked");
    symlink(packages.join("db"), folder.path().join("db")).expect("linked");
    let metadata = "namespace: acme\nname: web\nversion: 1.0.0\n";
    let collection = elsewhere.path().join("acme/web");
    fs::create_dir_all(&collection).expect("created");
    fs::write(collection.join("galaxy.yml"), metadata).expect("written");
    symlink(&collection, folder.path().join("web")).expect("linked");
    symlink(elsewhere.path().join("acme"), folder.path().join("acme")).expect("linked");
    let real = folder.path().join("real");
    fs::create_dir(&real).expect("created");
    symlink(collection.join("galaxy.yml"), real.join("galaxy.yml")).expect("linked");
    let model = "<UANodeSet xmlns=\"http://opcfoundation.org/UA/2011/03/UANodeSet.xsd\"/>";
    fs::write(elsewhere.path().join("model"), model).expect("written");
    let linked = folder.path().join("Core.NodeSet2.xml");
    symlink(elsewhere.path().join("model"), linked).expect("linked");
    let findings = directory(folder.path()).take_findings();
    let messages: Vec<&str> = findings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages.len(), 6, "{messages:?}");
    for message in messages {
        assert!(
            message.ends_with("is a link, and links are not followed"),
            "{message}"
        );
    }
}

#[test]
fn the_next_reading_of_a_set_has_what_changed_on_disk() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let index = folder.path().join("index.ndjson");
    let line = |version: &str| format!("{{\"name\":\"a.Index\",\"version\":\"{version}\"}}\n");
    add_package(&folder.path().join("packages/one"), "a.One", "1.0.0", "");
    fs::write(&index, line("1.0.0")).expect("written");
    let opened = IndexFileRegistry::open(
        RegistryName::parse("index").expect("a name"),
        &index,
        &Limits::default(),
        NonZeroUsize::MIN,
    );
    let one_package = SinglePackage::new(
        Box::new(directory(&folder.path().join("packages"))),
        name("a.One"),
    );
    let first = RegistrySet::new(vec![
        Box::new(one_package),
        Box::new(opened.expect("an index")),
        Box::new(directory(&folder.path().join("packages"))),
    ]);
    let versions = |registries: &RegistrySet| -> Vec<Vec<String>> {
        let names = [name("a.One"), name("a.Index"), name("a.Two")];
        let supplies = registries.supply(&names).expect("they can be read");
        let versions = |supply| match supply {
            Supply::Releases { records, .. } => {
                let versions = records.iter().map(|record| record.version.to_string());
                versions.collect()
            }
            Supply::Unknown => Vec::new(),
        };
        supplies.into_iter().map(versions).collect()
    };
    let texts = |all: [&[&str]; 3]| all.map(|one| one.iter().map(ToString::to_string).collect());
    let before: [Vec<String>; 3] = texts([&["1.0.0"], &["1.0.0"], &[]]);
    assert_eq!(versions(&first), before);
    let now = std::time::SystemTime::UNIX_EPOCH;
    assert_eq!(
        versions(&first.reread(now).expect("nothing changed")),
        before
    );

    add_package(&folder.path().join("packages/one"), "a.One", "1.1.0", "");
    add_package(&folder.path().join("packages/two"), "a.Two", "2.0.0", "");
    let other = folder.path().join("other.ndjson");
    fs::write(&other, line("1.0.0") + &line("1.1.0")).expect("written");
    fs::rename(&other, &index).expect("replaced");
    let second = first.reread(now).expect("they can be read");
    let after: [Vec<String>; 3] = texts([&["1.1.0"], &["1.0.0", "1.1.0"], &["2.0.0"]]);
    assert_eq!(versions(&second), after);

    fs::remove_file(&index).expect("removed");
    let error = second.reread(now).err().expect("the index is gone");
    let message = error.to_diagnostic().message;
    assert!(
        message.contains("the registry `index` cannot be read"),
        "{message}"
    );
}
