//! Links and special files in the folder of a registry, which are not read.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::Command;

use super::program::{pkgres, write};

/// Whatever has the name of a release, or leads to one, could be missed otherwise.
#[test]
fn what_could_be_a_release_and_is_not_read_is_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let installed = "home/collections/ansible_collections/acme/net/galaxy.yml";
    write(&folder.join(installed), "namespace: acme\nname: net\n");
    write(&folder.join("requirements.yml"), "collections: []\n");
    write(&folder.join("registry/README.md"), "");
    for (target, link) in [
        ("../home/collections", "registry/collections"),
        ("gone.zip", "registry/org.example.Db-1.0.0.zip"),
        ("gone.tar.gz", "registry/acme-web-1.0.0.tar.gz"),
        ("gone.txt", "registry/notes.txt"),
        ("acme-loop-1.0.0.tar.gz", "registry/acme-loop-1.0.0.tar.gz"),
    ] {
        symlink(target, folder.join(link)).expect("a link can be made");
    }
    let pipe = folder.join("registry/acme-db-1.0.0.tar.gz");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    let output = pkgres(
        folder,
        &["resolve", "requirements.yml", "--registry", "dir:registry"],
    );
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for expected in [
        "registry/collections is a link, and links are not followed",
        "registry/acme-web-1.0.0.tar.gz is a link to a file that does not exist",
        "registry/acme-db-1.0.0.tar.gz is not a regular file, so it is not read",
        "registry/acme-loop-1.0.0.tar.gz is a link that cannot be followed",
    ] {
        assert!(stderr.contains(expected), "{stderr}");
    }
    // Neither has anything to do with collections.
    for other in ["notes.txt", "org.example.Db-1.0.0.zip"] {
        assert!(!stderr.contains(other), "{stderr}");
    }
}
