//! Collections that a run installs and then keeps as they are locked, whatever happens to them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::watched::{Watched, pkgres, write};

/// The folder of the case with a package that locks collections, and a registry of them.
const CASE: &str = "../tests/cli/deployment-collections.in";

/// A registry of collections.
pub(crate) fn registry() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(CASE);
    format!("dir:{}", folder.join("collections").display())
}

/// Writes a package with resources, and locks the collections that they name and then the package.
pub(crate) fn lock_site(folder: &Path, resources: &str) {
    let site = folder.join("site");
    for folder in [&site, &site.join("ansible")] {
        std::fs::create_dir(folder).expect("a new folder");
    }
    let manifest =
        "FullName: org.example.Site\nType: Application\nVersion: 1.0.0\nResources: r.yaml\n";
    for (path, text) in [
        ("manifest.yaml", manifest),
        ("r.yaml", resources),
        ("ansible/requirements.yml", "collections:\n- acme.web\n"),
    ] {
        write(&site.join(path), text);
    }
    for root in ["site/ansible/requirements.yml", "site"] {
        let locked = pkgres(folder)
            .args(["lock", root, "--quiet", "--registry", &registry()])
            .status();
        assert!(locked.expect("the program starts").success());
    }
}

/// The files below a folder with their content, in order.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("it is a folder") {
            let path = entry.expect("it can be read").path();
            if path.is_dir() {
                open.push(path);
            } else {
                let content = std::fs::read(&path).expect("it is a file");
                files.push((path, content));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn whatever_happens_to_installed_collections_is_noticed_and_repaired() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("root")).expect("a new folder");
    let resources = "Package:\n- collections: /c\n  lockfile: ansible/pkgres.lock\n";
    lock_site(folder.path(), resources);
    let registry = registry();
    let arguments = ["site", "--target", "rootfs:root", "--registry", &registry];
    let mut watched = Watched::start(folder.path(), &arguments);
    assert_eq!(watched.next("changed")["resource"], "collections:/c");
    watched.next("converged");

    let installed = folder.path().join("root/c");
    let whole = files(&installed);
    let acme = installed.join("ansible_collections/acme");
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program)
            .args(arguments)
            .current_dir(&acme)
            .status();
        assert!(status.expect("the program starts").success());
    };
    let source = "../acme.web-3.4.0.info";
    let damages: [(&str, &[&str]); 7] = [
        ("sed", &["-i", "1s/^/# /", "web/plugins/modules/page.py"]),
        ("rm", &["web/README.md"]),
        ("cp", &["web/README.md", "web/plugins/modules/more.py"]),
        // At once: a repair could begin while `rm -r` is still busy.
        ("mv", &["web/plugins", "../../../../plugins"]),
        ("mv", &["network", "../../../../network"]),
        ("mv", &[source, "../../../../source"]),
        ("mv", &["network", "gone"]),
    ];
    for (program, arguments) in damages {
        run(program, arguments);
        let (changed, cause) = watched.next_change();
        assert_eq!(changed["resource"], "collections:/c", "{arguments:?}");
        // It is watched, and not only checked from time to time.
        assert_eq!(cause, "\"noticed\"", "{arguments:?}");
        watched.next("converged");
        // What is in no locked collection is left alone.
        run("rm", &["-rf", "gone"]);
        assert!(files(&installed) == whole, "{program} {arguments:?}");
    }
    watched.interrupt();
    assert_eq!(watched.next("ended")["status"], "interrupted");
    let status = watched.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
}
