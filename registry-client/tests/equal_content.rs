//! Releases whose content is in several forms, or in several versions of which one is locked.

// Fixtures are written without ceremony.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use pkgres_manifest::{
    ArtifactDigest, IndexRecord, Limits, Lockfile, PackageName, ReadOptions, RegistryName, Spec,
    Version, write_archive,
};
use pkgres_registry_client::{
    Answer, DirectoryRegistry, IndexFileRegistry, PackageFolder, Registry, RegistrySet,
    WantedArtifact, check_lock, solve,
};
use pkgres_resolver::{LockCheck, LockReport, Locked, Request, Resolution, Staleness};

const COLLECTION: &str = "acme.network";

fn native(text: &str) -> PackageName {
    PackageName::native(text).expect("a name")
}

fn open(name: &str, folder: &Path) -> Box<dyn Registry> {
    let name = RegistryName::parse(name).expect("a name");
    let options = ReadOptions::default();
    Box::new(DirectoryRegistry::open(name, folder, &options).expect("the folder is there"))
}

fn messages(registries: &RegistrySet, folder: &Path) -> Vec<String> {
    let findings = registries.take_findings();
    let folder = format!("{}/", folder.to_string_lossy());
    let messages = findings
        .iter()
        .map(|finding| finding.message.replace(&folder, ""));
    messages.collect()
}

/// A request for any version of a package.
fn request(package: &str, lock: Option<&Lockfile>) -> Request {
    let mut root = IndexRecord::new(native("acme.Root"), Version::new(1, 0, 0))
        .with_requirement(native(package), Spec::parse("*").expect("a spec"));
    if package == COLLECTION {
        root.ecosystem = pkgres_formats::ansible::ECOSYSTEM;
    }
    let mut request = Request::new(root);
    request.core = None;
    request.options.host_package_of_unknown_version = Some(native("ansible-core"));
    request.locked = lock.map(Locked::from_lockfile).unwrap_or_default();
    request
}

fn resolved(package: &str, lock: Option<&Lockfile>, registries: &RegistrySet) -> Resolution {
    let options = ReadOptions::default();
    match solve(request(package, lock), registries, &options).expect("it can be read") {
        Answer::Solved(resolution) => *resolution,
        other => panic!("{other:?}"),
    }
}

fn locked(package: &str, registries: &RegistrySet) -> Lockfile {
    let resolution = resolved(package, None, registries);
    resolution.to_lockfile().expect("it has no model")
}

fn checked(package: &str, lock: &Lockfile, registries: &RegistrySet) -> LockReport {
    let check = LockCheck::new(request(package, None), lock.clone());
    check_lock(check, registries, &ReadOptions::default()).expect("it can be read")
}

/// Checks that a lock holds, and that nothing would write another one.
fn assert_kept(package: &str, lock: &Lockfile, registries: &RegistrySet) {
    assert_eq!(checked(package, lock, registries).stale, []);
    let resolution = resolved(package, Some(lock), registries);
    assert_eq!(resolution.to_lockfile().as_ref(), Ok(lock));
    for digest in lock.packages.values().filter_map(|locked| locked.digest) {
        let artifact = registries.artifact(&digest).expect("it can be read");
        assert!(artifact.is_some(), "{digest}");
    }
}

fn digest(lock: &Lockfile) -> ArtifactDigest {
    let locked = lock.packages.values().next().expect("a release");
    locked.digest.expect("it has one")
}

/// Writes a class package.
fn write_package(folder: &Path, author: &str) {
    fs::create_dir_all(folder).expect("created");
    let manifest = format!("FullName: acme.Db\nType: Library\nVersion: 1.0.0\nAuthor: {author}\n");
    fs::write(folder.join("manifest.yaml"), manifest).expect("written");
}

fn pack(folder: &Path, archive: &Path, executable: bool) {
    let options = ReadOptions::default();
    let package = PackageFolder::open(folder, &options).expect("a package");
    let files = package.files().iter().map(|file| {
        let bytes = package.read(&file.path, 1 << 20).expect("readable");
        (file.path.clone(), executable, bytes)
    });
    let bytes = write_archive(files, &options.limits).expect("within the limits");
    fs::write(archive, bytes).expect("written");
}

#[test]
fn a_lock_of_an_archive_holds_beside_its_folder() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    write_package(&at("source"), "acme");
    fs::create_dir(at("packages")).expect("created");
    pack(&at("source"), &at("packages/db.zip"), false);
    let registries = || RegistrySet::new(vec![open("acme", &at("packages"))]);
    let lock = locked("acme.Db", &registries());
    assert!(matches!(digest(&lock), ArtifactDigest::Archive(_)));

    // The folder is found before or after the archive.
    for folder in ["packages/a", "packages/z"] {
        write_package(&at(folder), "acme");
        assert_kept("acme.Db", &lock, &registries());
        let alone = locked("acme.Db", &registries());
        assert!(
            matches!(digest(&alone), ArtifactDigest::Tree(_)),
            "{folder}"
        );
        assert_kept("acme.Db", &alone, &registries());
        fs::remove_dir_all(at(folder)).expect("removed");
        // What was locked as a folder is an archive now.
        assert_kept("acme.Db", &alone, &registries());
    }
}

#[test]
fn archives_with_equal_files_are_one_release() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    write_package(&at("source"), "acme");
    fs::create_dir(at("packages")).expect("created");
    pack(&at("source"), &at("packages/b.zip"), false);
    let registries = || RegistrySet::new(vec![open("acme", &at("packages"))]);
    let lock = locked("acme.Db", &registries());
    pack(&at("source"), &at("packages/a.zip"), true);
    let other = locked("acme.Db", &registries());
    assert_ne!(digest(&lock), digest(&other));
    assert_kept("acme.Db", &lock, &registries());
    assert_kept("acme.Db", &other, &registries());
}

/// Packs an installed collection, as `ansible-galaxy collection build` does.
fn build(folder: &Path, artifact: &Path) {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    let mut rest = vec![PathBuf::new()];
    let mut files = BTreeSet::new();
    while let Some(below) = rest.pop() {
        for entry in fs::read_dir(folder.join(&below)).expect("readable") {
            let entry = entry.expect("readable");
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                rest.push(path);
            } else {
                files.insert(path);
            }
        }
    }
    // Artifacts begin with their manifest.
    let manifest = PathBuf::from("MANIFEST.json");
    files.remove(&manifest);
    for path in std::iter::once(&manifest).chain(&files) {
        let from = folder.join(path);
        archive.append_path_with_name(from, path).expect("packed");
    }
    let bytes = archive.into_inner().expect("packed").finish();
    fs::write(artifact, bytes.expect("compressed")).expect("written");
}

/// Copies the collection of the fixtures.
fn install(folder: &Path) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/cli/install.in/collections/ansible_collections/acme/network");
    let mut rest = vec![PathBuf::new()];
    while let Some(below) = rest.pop() {
        fs::create_dir_all(folder.join(&below)).expect("created");
        for entry in fs::read_dir(fixture.join(&below)).expect("readable") {
            let entry = entry.expect("readable");
            let path = below.join(entry.file_name());
            if entry.path().is_dir() {
                rest.push(path);
            } else {
                fs::copy(entry.path(), folder.join(&path)).expect("copied");
            }
        }
    }
}

#[test]
fn an_artifact_and_what_is_installed_from_it_are_one_release() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    install(&at("collections/acme/network"));
    let registries = || RegistrySet::new(vec![open("acme", &at("collections"))]);
    let installed = locked(COLLECTION, &registries());
    assert!(matches!(digest(&installed), ArtifactDigest::Tree(_)));

    let artifact = at("collections/acme-network-1.10.0.tar.gz");
    build(&at("collections/acme/network"), &artifact);
    assert_kept(COLLECTION, &installed, &registries());
    let lock = locked(COLLECTION, &registries());
    assert!(matches!(digest(&lock), ArtifactDigest::Archive(_)));
    assert_kept(COLLECTION, &lock, &registries());
    assert_eq!(messages(&registries(), place.path()), [""; 0]);

    // What Python compiles there is not part of the release.
    let compiled = at("collections/acme/network/plugins/module_utils/__pycache__");
    fs::create_dir(&compiled).expect("created");
    fs::write(compiled.join("tcp.pyc"), "bytes").expect("written");
    assert_kept(COLLECTION, &lock, &registries());
    assert_kept(COLLECTION, &installed, &registries());
}

#[test]
fn a_locked_content_is_used_although_there_is_another_one() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    install(&at("collections/acme/network"));
    let registries = || RegistrySet::new(vec![open("acme", &at("collections"))]);
    let artifact = at("collections/acme-network-1.10.0.tar.gz");
    build(&at("collections/acme/network"), &artifact);
    let lock = locked(COLLECTION, &registries());
    fs::write(at("collections/acme/network/plugins/added.py"), "X = 1\n").expect("written");

    let with_two = registries();
    assert_kept(COLLECTION, &lock, &with_two);
    assert_eq!(
        messages(&with_two, place.path()),
        [
            "acme.network 1.10.0 has two contents: collections/acme-network-1.10.0.tar.gz has the \
          locked digest and is used, collections/acme/network is not"
        ]
    );
    // The artifact alone is looked for when it is verified, vendored or installed.
    let fetching = RegistrySet::new(vec![open("acme", &at("collections"))]);
    let name = RegistryName::parse("acme").expect("a name");
    let (package, version) = (native(COLLECTION), Version::new(1, 10, 0));
    let wanted = WantedArtifact {
        package: &package,
        version: &version,
        digest: digest(&lock),
    };
    fetching.artifacts(&[(&name, wanted)], &mut |_, found| {
        assert!(matches!(found, Ok(Some(_))), "{found:?}");
        ControlFlow::Continue(())
    });
    assert_eq!(
        messages(&fetching, place.path()),
        [
            "acme.network 1.10.0 has two contents: collections/acme-network-1.10.0.tar.gz has the \
          locked digest and is used, collections/acme/network is not"
        ]
    );
    let without_lock = registries();
    let answer = solve(
        request(COLLECTION, None),
        &without_lock,
        &ReadOptions::default(),
    );
    assert!(matches!(answer, Ok(Answer::Conflict(_))), "{answer:?}");
    assert_eq!(
        messages(&without_lock, place.path()),
        ["acme.network 1.10.0 has two contents, so it is not used: \
          collections/acme/network and collections/acme-network-1.10.0.tar.gz"]
    );
}

#[test]
fn a_registry_with_the_same_content_in_another_form_is_no_violation() {
    let place = tempfile::tempdir().expect("a folder");
    let at = |path: &str| place.path().join(path);
    install(&at("installed/acme/network"));
    fs::create_dir(at("hub")).expect("created");
    build(
        &at("installed/acme/network"),
        &at("hub/acme-network-1.10.0.tar.gz"),
    );
    let hub = || open("hub", &at("hub"));
    let lock = locked(COLLECTION, &RegistrySet::new(vec![hub()]));

    let both = || RegistrySet::new(vec![open("local", &at("installed")), hub()]);
    let report = checked(COLLECTION, &lock, &both());
    let [Staleness::SourceDiffers { .. }] = report.stale.as_slice() else {
        panic!("{report:?}");
    };
    let mut tight = ReadOptions::default();
    tight.limits.archive_entries = 1;
    let check = LockCheck::new(request(COLLECTION, None), lock.clone());
    let report = check_lock(check, &both(), &tight).expect("it can be read");
    assert!(
        report.stale.iter().any(Staleness::is_violation),
        "an artifact over the limits is not compared: {report:?}"
    );
    let registries = both();
    let resolution = resolved(COLLECTION, Some(&lock), &registries);
    let after = resolution.to_lockfile().expect("it has no model");
    // The digest is that of the registry, so that the lock also holds without the other one.
    assert_kept(
        COLLECTION,
        &after,
        &RegistrySet::new(vec![open("local", &at("installed"))]),
    );
    let options = ReadOptions::default();
    assert_eq!(registries.changed_contents(&resolution, &options), []);
    assert!(registries.have_equal_content(&digest(&lock), &digest(&after), &options));

    fs::write(at("installed/acme/network/README.md"), "changed").expect("written");
    let report = checked(COLLECTION, &lock, &both());
    assert!(
        report.stale.iter().any(Staleness::is_violation),
        "{report:?}"
    );
}

#[test]
fn a_locked_line_of_an_index_is_used_although_there_is_another_one() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("index.ndjson");
    let line = |digit: &str, more: &str| {
        let digest = digit.repeat(64);
        format!("{{\"name\":\"acme.Db\",\"version\":\"1.0.0\",\"sha256\":\"{digest}\"{more}}}\n")
    };
    let registries = |lines: &[String]| {
        fs::write(&path, lines.concat()).expect("written");
        let name = RegistryName::parse("acme").expect("a name");
        let limits = Limits::default();
        let opened = IndexFileRegistry::open(name, &path, &limits, NonZeroUsize::MIN);
        RegistrySet::new(vec![
            Box::new(opened.expect("an index")) as Box<dyn Registry>
        ])
    };
    let lock = locked("acme.Db", &registries(&[line("a", "")]));
    let with_two = registries(&[line("b", ""), line("a", "")]);
    assert_eq!(checked("acme.Db", &lock, &with_two).stale, []);
    let resolution = resolved("acme.Db", Some(&lock), &with_two);
    assert_eq!(resolution.to_lockfile().as_ref(), Ok(&lock));
    assert_eq!(
        messages(&with_two, place.path()),
        [
            "acme.Db 1.0.0 appears twice with different content: the line with the locked digest is used"
        ]
    );
    // Two lines with the locked digest contradict each other.
    let contradicting = registries(&[line("a", ""), line("a", ",\"yanked\":true")]);
    let report = checked("acme.Db", &lock, &contradicting);
    assert!(
        matches!(report.stale[..], [Staleness::Gone { .. }]),
        "{report:?}"
    );
}
