//! Artifacts: unpacked as they were published, or not at all.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pkgres_engine::{
    Artifact, ArtifactSource, EntryAttributes, Identifier, Machine, Probe as _, Resource as _,
    Target as _, Watching, Wish,
};
use pkgres_manifest::{
    Archive, ArtifactDigest, Limits, PackageName, PackagePath, Release, Version, write_archive,
};
use pkgres_tests::shared;

use crate::debian::{change, is_in_order, try_change};

const STORE: &str = "/var/lib/pkgres/store";

/// A source that counts what is fetched, and has the bytes whatever the digest is.
pub(crate) struct Served {
    bytes: Vec<u8>,
    fetched: AtomicUsize,
}

impl Served {
    pub(crate) fn new(bytes: Vec<u8>) -> Arc<Self> {
        let fetched = AtomicUsize::new(0);
        Arc::new(Self { bytes, fetched })
    }

    fn fetched(&self) -> usize {
        self.fetched.load(Ordering::Relaxed)
    }
}

impl ArtifactSource for Served {
    fn fetch(&self, _: &ArtifactDigest) -> Result<Vec<u8>, String> {
        self.fetched.fetch_add(1, Ordering::Relaxed);
        Ok(self.bytes.clone())
    }
}

/// The archive of a small package.
pub(crate) fn sample() -> Vec<u8> {
    let file = |path: &str, is_program: bool, text: &str| {
        let path = PackagePath::parse(path).expect("it is a path");
        (path, is_program, text.as_bytes().to_vec())
    };
    let files = [
        file("manifest.yaml", false, "FullName: org.example.Web\n"),
        file("Resources/scripts/start", true, "#!/bin/sh\n"),
        file("Resources/page", false, "hello\n"),
    ];
    write_archive(files, &Limits::default()).expect("it is an archive")
}

pub(crate) fn artifact(digest_of: &[u8], source: Arc<dyn ArtifactSource>) -> Artifact {
    let name = PackageName::parse("org.example.Web").expect("it is a name");
    let digest = ArtifactDigest::of_archive(digest_of);
    Artifact::new(name, Version::new(1, 2, 0), digest, source)
}

fn is_there(machine: &Machine, path: impl AsRef<Path>) -> bool {
    let entry = machine.entry(path.as_ref()).expect("it can be read");
    entry.is_some()
}

#[test]
fn an_artifact_is_unpacked_and_repaired() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let bytes = sample();
    let served = Served::new(bytes.clone());
    let artifact = artifact(&bytes, served.clone());
    let Watching::UntilInOrder(watched) = artifact.watching(&machine) else {
        panic!("its folders are not known");
    };
    assert_eq!(
        watched,
        [artifact.files_path().parent().expect("it is in a folder")]
    );

    // A crash left something behind.
    let files = artifact.files_path();
    let around = files.parent().expect("it is in the store").to_owned();
    let digest = around
        .file_name()
        .and_then(|name| name.to_str())
        .expect("the digest");
    let leftover = Path::new(STORE).join(format!(".{digest}"));
    for path in leftover
        .join("files/junk")
        .ancestors()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
    {
        if !is_there(&machine, path) {
            let made = machine.make_folder(path, EntryAttributes::with_mode(0o755));
            made.expect("its parent is there");
        }
    }

    let differences = change(&machine, &artifact);
    let expected = format!(
        "artifact: org.example.Web 1.2.0, {}",
        ArtifactDigest::of_archive(&bytes)
    );
    assert_eq!(differences, [expected]);
    assert!(!is_there(&machine, &leftover));
    let script = machine.entry(&files.join("Resources/scripts/start"));
    assert_eq!(
        script.expect("it can be read").map(|entry| entry.mode),
        Some(0o755)
    );
    let page = files.join("Resources/page");
    assert_eq!(machine.read(&page, 100).expect("it is there"), b"hello\n");
    assert_eq!(
        machine
            .read(&around.join("archive.zip"), 1 << 20)
            .expect("it is there"),
        bytes
    );
    let Watching::Paths(watched) = artifact.watching(&machine) else {
        panic!("its folders are known");
    };
    assert!(
        watched.contains(&files.join("Resources/scripts")),
        "{watched:?}"
    );

    // Whatever differs is found, and repaired with the archive that is there.
    let plain = EntryAttributes::with_mode(0o644);
    let repaired = |differs: &Path| {
        let differences = change(&machine, &artifact);
        let start = format!("artifact: {} differs -> ", differs.display());
        assert!(differences[0].starts_with(&start), "{differences:?}");
        assert_eq!(machine.read(&page, 100).expect("it is there"), b"hello\n");
    };
    machine
        .write_file(&page, b"HELLO\n", plain)
        .expect("its folder is there");
    repaired(&page);
    machine.remove(&page).expect("it is there");
    repaired(&page);
    machine
        .set_attributes(&page, EntryAttributes::with_mode(0o4755))
        .expect("it is there");
    repaired(&page);
    let added = files.join("Resources/added");
    machine
        .write_file(&added, b"", plain)
        .expect("its folder is there");
    repaired(&added);
    assert!(!is_there(&machine, &added));
    machine.remove(&page).expect("it is there");
    machine
        .make_link(&page, Path::new("/etc/shadow"))
        .expect("its folder is there");
    repaired(&page);
    assert_eq!(served.fetched(), 1);
    let archive = around.join("archive.zip");
    machine
        .write_file(&archive, b"damaged", plain)
        .expect("its folder is there");
    repaired(&archive);
    assert_eq!(served.fetched(), 2);
    assert!(is_in_order(&machine, &artifact));
}

#[test]
fn an_artifact_with_another_digest_is_not_unpacked() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let bytes = sample();
    for position in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut changed = bytes.clone();
        changed[position] ^= 1;
        let is = ArtifactDigest::of_archive(&changed);
        let error = try_change(&machine, &artifact(&bytes, Served::new(changed)));
        let wanted = ArtifactDigest::of_archive(&bytes);
        assert_eq!(
            error.expect_err("a bit differs").to_string(),
            format!(
                "the artifact of org.example.Web 1.2.0 has the digest {is} instead of {wanted}: it is not unpacked"
            )
        );
        assert!(!is_there(&machine, "/var"), "nothing is written");
    }
}

#[test]
fn the_artifact_of_a_folder_is_compared_by_its_files() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let machine = Machine::root_folder(folder.path()).expect("it is a folder");
    let bytes = sample();
    let archive = Archive::open("sample", bytes.clone(), &Limits::default()).expect("it is valid");
    let digests = archive.files().map(|file| {
        let bytes = archive.read(&file.path).expect("it is there");
        (&file.path, pkgres_manifest::sha256(&bytes))
    });
    let digest = ArtifactDigest::of_tree(digests);
    let of_tree = |source| {
        let name = PackageName::parse("org.example.Web").expect("it is a name");
        Artifact::new(name, Version::new(1, 2, 0), digest, source)
    };
    let file = PackagePath::parse("Resources/page").expect("it is a path");
    let other = [(file, false, b"HELLO\n".to_vec())];
    let other = write_archive(other, &Limits::default()).expect("it is an archive");
    let error = try_change(&machine, &of_tree(Served::new(other)));
    let error = error.expect_err("its files differ").to_string();
    assert!(error.ends_with("it is not unpacked"), "{error}");
    assert!(!is_there(&machine, "/var"), "nothing is written");

    change(&machine, &of_tree(Served::new(bytes)));
    let text = digest.to_string();
    let (_, text) = text.split_once(':').expect("it is a digest of a tree");
    let page = Path::new(STORE).join(text).join("files/Resources/page");
    assert_eq!(machine.read(&page, 100).expect("it is there"), b"hello\n");
}

#[test]
fn hostile_archives_are_not_unpacked() {
    let Some(script) = shared::path("security/make_bad_inputs.py") else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder for the test");
    let cases = folder.path().join("cases");
    let made = Command::new("python3").arg(&script).arg(&cases).output();
    let made = made.expect("python3 makes the cases");
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let index = std::fs::read(cases.join("index.json")).expect("an index");
    let index: Vec<serde_json::Value> = serde_json::from_slice(&index).expect("it is JSON");
    let mut counts = [0, 0];
    for case in &index {
        let text = |key: &str| case[key].as_str().unwrap_or_default();
        let expected = text("expect") == "accept";
        // The rules about packages are those of publishing and locking.
        if text("kind") != "zip" || !(expected || text("rule").starts_with("zip")) {
            continue;
        }
        let bytes = std::fs::read(cases.join(text("path"))).expect("the case is there");
        let root = tempfile::tempdir().expect("a folder for the test");
        let machine = Machine::root_folder(root.path()).expect("it is a folder");
        let artifact = artifact(&bytes, Served::new(bytes.clone()));
        let changed = try_change(&machine, &artifact);
        assert_eq!(changed.is_ok(), expected, "{}: {changed:?}", text("path"));
        assert_eq!(is_there(&machine, "/var"), expected, "{}", text("path"));
        if expected {
            assert!(is_in_order(&machine, &artifact), "{}", text("path"));
        }
        counts[usize::from(expected)] += 1;
    }
    assert!(counts[0] > 100 && counts[1] > 0, "{counts:?}");
}

#[test]
fn artifacts_of_required_releases_go_first() {
    let bytes = sample();
    let required = PackageName::parse("org.example.Db").expect("it is a name");
    let artifact = artifact(&bytes, Served::new(bytes.clone()))
        .with_required([Release::new(required, Version::new(3, 0, 1))]);
    let release = |text: &str| Identifier::Other("artifact".to_owned(), text.to_owned());
    assert!(
        artifact
            .identifiers()
            .contains(&release("org.example.Web@1.2.0"))
    );
    assert!(
        artifact
            .wishes()
            .contains(&Wish::after(release("org.example.Db@3.0.1")))
    );
    assert_eq!(
        artifact.files_path(),
        PathBuf::from(STORE).join(hexadecimal(&bytes)).join("files")
    );
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digest = pkgres_manifest::sha256(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
