//! The folder of a root, which can hold files that are not part of the package.

use pkgres_files::{RealFileSystem, make_folder};

use super::program::{pkgres, write};

/// A project folder can have links and large files; only an archive cannot have links.
#[test]
#[cfg(unix)]
fn only_the_manifest_and_class_files_of_a_root_are_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: org.example.Root\nVersion: 1.0.0\n",
    );
    write(&folder.join("index.ndjson"), "");
    std::os::unix::fs::symlink("/", folder.join("everything")).expect("a link can be made");
    let registry = "index:index.ndjson";
    let tree = ["tree", "--no-core-library", "--registry", registry];
    let output = pkgres(folder, &tree);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(output.stdout, b"org.example.Root 1.0.0\n");
    let output = pkgres(folder, &["pack", "--output", "../x.zip"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("everything"), "{stderr}");
}

/// A project can be untrusted: links must not lead to class files outside of it.
#[test]
#[cfg(unix)]
fn class_files_of_a_root_are_not_read_through_links() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    for folder in [&root, &outside] {
        make_folder(&RealFileSystem, folder).expect("a temporary folder can be written");
    }
    write(
        &root.join("manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: org.example.Root\nVersion: 1.0.0\n\
         Classes: {org.example.Root: Root.yaml}\n",
    );
    write(&root.join("index.ndjson"), "");
    write(&outside.join("Root.yaml"), "Name: Root\nExtends: secret\n");
    std::os::unix::fs::symlink(&outside, root.join("Classes")).expect("a link can be made");
    let tree = [
        "tree",
        "--no-core-library",
        "--registry",
        "index:index.ndjson",
    ];
    let output = pkgres(&root, &tree);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("Classes: this is a link"), "{stderr}");
    assert!(!stderr.contains("secret"), "{stderr}");
}

/// A project that a link names has the same neighbours and settings as from inside.
#[test]
#[cfg(unix)]
fn a_link_to_a_project_stands_for_the_project() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    for (place, name, rest) in [
        ("real/shop", "Shop", "Require: {org.example.Db: '1'}\n"),
        ("real/db", "Db", ""),
        ("links/db", "Db", ""),
    ] {
        let place = folder.join(place);
        make_folder(&RealFileSystem, &place).expect("a temporary folder can be written");
        let manifest = format!(
            "Format: 1.4\nType: Library\nFullName: org.example.{name}\nVersion: 1.0.0\n{rest}"
        );
        write(&place.join("manifest.yaml"), &manifest);
    }
    let link = folder.join("links/shop");
    std::os::unix::fs::symlink("../real/shop", link).expect("a link can be made");
    write(&folder.join("links/pkgres.toml"), "prefer = \"no such\"\n");
    let lock = |options: &[&str]| {
        let options = ["lock", "links/shop", "--no-core-library"]
            .iter()
            .chain(options);
        let output = pkgres(folder, &options.copied().collect::<Vec<_>>());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        stderr
    };
    let expected = "  + org.example.Db 1.0.0\nLocked 1 package\n";
    assert_eq!(lock(&[]), expected);

    write(
        &folder.join("real/pkgres.toml"),
        "[registries.near]\nlocation = \"dir:.\"\n",
    );
    let expected = "  ~ org.example.Db 1.0.0 source default -> near\nLocked 1 package\n";
    assert_eq!(lock(&["--ignore-lock"]), expected);
}

/// A lockfile over the size limit can still be replaced.
#[test]
fn a_lockfile_that_is_too_large_can_be_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: org.example.Root\nVersion: 1.0.0\n",
    );
    write(&folder.join("index.ndjson"), "");
    write(&folder.join("pkgres.lock"), "");
    let lock = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.join("pkgres.lock"))
        .expect("it was written");
    lock.set_len((32 << 20) + 1)
        .expect("a file can be made larger");
    let run = |arguments: &[&str]| {
        let options = ["--no-core-library", "--registry", "index:index.ndjson"];
        let output = pkgres(folder, &[arguments, &options[..]].concat());
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    for arguments in [&["lock"][..], &["lock", "--check"], &["tree"]] {
        let (code, stderr) = run(arguments);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.starts_with("error[PK0001]"), "{stderr}");
        assert!(stderr.contains(" --ignore-lock` replaces it"), "{stderr}");
    }
    let (code, stderr) = run(&["lock", "--ignore-lock"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("too large to be read"), "{stderr}");
    assert_eq!(run(&["lock", "--check"]).0, Some(0));
}

#[test]
fn a_folder_with_many_broken_packages_is_told_briefly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("index.ndjson"),
        "{\"name\":\"org.example.Db\",\"version\":\"1.0.0\"}\n",
    );
    for number in 0..25 {
        write(&folder.join(format!("{number}.zip")), "no archive");
    }
    let search = [
        "search",
        "Db",
        "--registry",
        "dir:.",
        "--registry",
        "index:index.ndjson",
    ];
    let output = pkgres(folder, &search);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        stderr.matches("a package cannot be read").count(),
        20,
        "{stderr}"
    );
    assert!(
        stderr.contains("5 more warnings about the registries omitted"),
        "{stderr}"
    );
}

/// Two files of one folder share the lockfile there: that of one is not lost to the other. A file that was renamed
/// still has its lockfile.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn the_lockfile_of_another_root_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let requirements = "collections: []\n";
    write(&folder.join("requirements.yml"), requirements);
    write(&folder.join("dev.yml"), requirements);
    write(
        &folder.join("manifest.yaml"),
        "FullName: org.example.App\nType: Application\n",
    );
    let lock = |root: &str| {
        pkgres(
            folder,
            &["lock", root, "--registry", "dir:.", "--no-core-library"],
        )
    };
    let locked = || std::fs::read_to_string(folder.join("pkgres.lock")).expect("a lockfile");
    assert!(lock("requirements.yml").status.success());
    let before = locked();
    // A file has no version, and none is made up for it.
    for format in ["cyclonedx", "spdx"] {
        let arguments = ["export", "requirements.yml", "--frozen", "--format", format];
        let output = pkgres(folder, &arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("requirements.yml"), "{text}");
        assert!(
            !text.contains("0.0.0") && !text.contains("requirements.yml@"),
            "{text}"
        );
    }
    for other in ["dev.yml", "manifest.yaml"] {
        let output = lock(other);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        let message = "pkgres.lock is the lockfile of requirements.yml, and not of ";
        assert!(stderr.contains(message), "{stderr}");
        assert_eq!(locked(), before);
    }
    std::fs::rename(folder.join("requirements.yml"), folder.join("site.yml")).expect("a name");
    let output = lock("site.yml");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(locked().contains("site.yml"), "{}", locked());
}

/// Each member of a workspace has one heading, and a note about all of them is printed once.
#[test]
#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn members_have_one_heading_and_notes_are_not_repeated() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write(
        &folder.join("pkgres.toml"),
        "[workspace]\nmembers = [\"apps/*\"]\n",
    );
    write(
        &folder.join("index.ndjson"),
        "{\"name\":\"org.example.Db\",\"version\":\"1.0.0\"}\n{\"name\":\"org.example.Db\",\"version\":\"2.0.0\"}\n",
    );
    for member in ["one", "two"] {
        let path = folder.join("apps").join(member);
        make_folder(&RealFileSystem, &path).expect("a folder");
        let manifest = format!(
            "FullName: org.example.{member}\nType: Application\nRequire:\n  org.example.Db: 1\n"
        );
        write(&path.join("manifest.yaml"), &manifest);
    }
    // Both streams lead to one file, as they do on a terminal.
    let merged = |arguments: &[&str]| {
        let file = std::fs::File::create(folder.join("output")).expect("a file");
        let status = crate::program::command(folder, arguments)
            .args(["--registry", "index:index.ndjson"])
            .stdout(file.try_clone().expect("the same file"))
            .stderr(file)
            .status();
        assert!(status.expect("the program starts").success());
        std::fs::read_to_string(folder.join("output")).expect("text")
    };
    let locked = merged(&["lock", "--workspace"]);
    assert_eq!(locked.matches("using the built-in").count(), 1, "{locked}");
    let outdated = merged(&["outdated", "--workspace"]);
    assert_eq!(outdated.matches("apps/one:").count(), 1, "{outdated}");
    assert!(!outdated.contains("org.example.one:"), "{outdated}");
}
