//! Fetching: what is reported as fetched is in the cache, and errors name the release.

use pkgres_files::{RealFileSystem, write_file};
use pkgres_tests::small_disk::SmallDisk;

use crate::server::Server;
use crate::user::{User, publish_all};

/// A user with a locked application, and its registry.
fn prepared() -> (tempfile::TempDir, Server, User, String) {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    publish_all(&user);
    let app = user.locked_app();
    (data, server, user, app)
}

/// Asserts that nothing can be fetched into a cache, although the other commands work.
fn assert_not_kept(user: &User, app: &str, cache: &str) {
    let variable = [("PKGRES_CACHE", cache)];
    let run = user.run_with(&["fetch", app], "", &variable);
    assert_eq!(run.exit, 2, "{}", run.stderr);
    assert!(!run.stderr.contains("Fetched"), "{}", run.stderr);
    assert!(
        run.stderr
            .contains("io.murano 0.2.0: not kept in the cache: cannot"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("PKGRES_CACHE"), "{}", run.stderr);
    let run = user.run_with(&["verify", app], "", &variable);
    assert_eq!(run.exit, 0, "{}", run.stderr);
}

#[test]
fn what_is_fetched_is_in_the_cache() {
    let (_data, server, user, app) = prepared();
    let app = app.as_str();
    // There is no cache.
    let stderr = user.fails(2, &["fetch", app, "--no-cache"]);
    assert!(
        stderr.contains("io.murano 0.2.0: not kept in the cache")
            && stderr.contains("`--no-cache`")
            && stderr.contains("pkgres verify"),
        "{stderr}"
    );
    let run = user.run_with(&["fetch", app], "", &[("PKGRES_NO_CACHE", "1")]);
    assert_eq!(run.exit, 2, "{}", run.stderr);
    assert!(run.stderr.contains("PKGRES_NO_CACHE"), "{}", run.stderr);
    user.does(&["verify", app, "--no-cache"]);
    // Packages in folders need none.
    let folder = ["--registry", "shop=dir:fixtures/shop"];
    user.does(&[&["lock", app, "--accept-changed"], &folder[..]].concat());
    user.does(&[&["fetch", app, "--no-cache"], &folder[..]].concat());
    user.does(&["lock", app, "--accept-changed"]);
    // The cache is a file.
    let file = user.home.path().join("file");
    write_file(&RealFileSystem, &file, b"").expect("the folder is ours");
    assert_not_kept(&user, app, file.to_str().expect("text"));
    // It cannot be written, or is full.
    if let Some(disk) = SmallDisk::mount(1) {
        let cache = disk.path().join("cache");
        let cache = cache.to_str().expect("text");
        disk.fill();
        assert_not_kept(&user, app, cache);
        disk.make_read_only();
        assert_not_kept(&user, app, cache);
        disk.resize(8);
        let variable = [("PKGRES_CACHE", cache)];
        let run = user.run_with(&["fetch", app], "", &variable);
        assert_eq!(run.exit, 0, "{}", run.stderr);
    }
    // What ends well is there.
    let run = user.does(&["fetch", app]);
    assert!(run.stderr.contains("Fetched 4 packages"), "{}", run.stderr);
    drop(server);
    user.does(&["fetch", app, "--offline"]);
    user.does(&["fetch", app]);
}

#[test]
fn errors_about_artifacts_name_the_release() {
    let (data, server, user, app) = prepared();
    // Publishing fetched some of them.
    user.does(&["cache", "clean"]);
    let app = app.as_str();
    // Other bytes than those that were locked.
    let store = data.path().join("data");
    let mut folders = vec![store];
    let mut archives = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("readable") {
            let path = entry.expect("an entry").path();
            let is_archive = |path: &std::path::Path| {
                std::fs::read(path).is_ok_and(|bytes| bytes.starts_with(b"PK\x03\x04"))
            };
            if path.is_dir() {
                folders.push(path);
            } else if is_archive(&path) {
                archives.push(path);
            }
        }
    }
    assert!(archives.len() >= 4, "{archives:?}");
    for path in archives {
        let mut bytes = std::fs::read(&path).expect("readable");
        bytes[40] ^= 1;
        write_file(&RealFileSystem, &path, &bytes).expect("the folder is ours");
    }
    let vendored = user.home.path().join("vendored");
    let vendor = ["vendor", vendored.to_str().expect("text"), app];
    for arguments in [&["fetch", app][..], &["verify", app], &vendor] {
        let run = user.run(arguments, "");
        assert!(matches!(run.exit, 3 | 4), "{}", run.stderr);
        assert!(
            run.stderr.contains("]: io.murano 0.2.0: "),
            "{}",
            run.stderr
        );
    }
    // The registry is gone.
    drop(server);
    for arguments in [&["fetch", app][..], &["verify", app], &vendor] {
        let stderr = user.fails(3, arguments);
        assert!(
            stderr.contains("error[PK0040]: io.murano 0.2.0: the registry `acme`"),
            "{stderr}"
        );
    }
    let stderr = user.fails(3, &["fetch", app, "--offline"]);
    assert!(stderr.contains("io.murano 0.2.0, "), "{stderr}");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the registry loses files")]
fn a_registry_without_an_archive_that_it_lists_is_named() {
    let (data, server, user, app) = prepared();
    user.does(&["cache", "clean"]);
    let blobs = data.path().join("data/blobs/sha256");
    std::fs::remove_dir_all(blobs).expect("there are archives");
    let stderr = user.fails(3, &["fetch", &app]);
    assert!(
        stderr.contains("error[PK0040]: the registry `acme`")
            && stderr.contains("has no archive of io.murano 0.2.0, which it lists")
            && stderr.contains("hint: ask its operator to restore the archives"),
        "{stderr}"
    );
    assert!(!stderr.contains("index files"), "{stderr}");
    drop(server);
}

#[test]
fn a_machine_that_only_fetched_needs_no_network() {
    let (_data, server, user, app) = prepared();
    user.does(&["cache", "clean"]);
    let app = app.as_str();
    let stderr = user.fails(3, &["tree", app, "--offline"]);
    assert!(stderr.contains("error[PK0045]"), "{stderr}");
    user.does(&["fetch", app]);
    drop(server);
    for arguments in [
        &["tree", app][..],
        &["plan", app, "--target", "rootfs:."],
        &["resolve", app, "--locked"],
        &["lock", app, "--check"],
        &["why", "io.murano", app],
        &["outdated", app],
        &["fetch", app, "--locked"],
    ] {
        user.does(&[arguments, &["--offline"]].concat());
    }
}

/// Without a folder for the trusted state, each run would trust the first answer.
#[test]
fn a_registry_is_not_used_without_a_place_for_its_state() {
    let (_data, _server, user, app) = prepared();
    let run = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = user.command(arguments);
        command
            .env_remove("PKGRES_STATE")
            .env_remove("XDG_STATE_HOME")
            .env_remove("HOME")
            .envs(variables.iter().copied());
        let output = command.output().expect("the binary runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), stderr)
    };
    let app = app.as_str();
    for arguments in [
        &["resolve", app][..],
        &["lock", app],
        &["fetch", app],
        &["outdated", app],
    ] {
        // A relative folder is none.
        for variables in [&[][..], &[("HOME", "home")]] {
            let (exit, stderr) = run(arguments, variables);
            assert_eq!(exit, Some(2), "{arguments:?} {stderr}");
            assert!(
                stderr.contains("no folder to store the state of the registry `acme`")
                    && stderr.contains("PKGRES_STATE")
                    && stderr.contains("PKGRES_NO_STATE=1"),
                "{stderr}"
            );
        }
        let state = user.home.path().join("another");
        let state = state.to_str().expect("text");
        for variable in [
            ("PKGRES_STATE", state),
            ("XDG_STATE_HOME", state),
            ("HOME", state),
            ("PKGRES_NO_STATE", "1"),
        ] {
            let (exit, stderr) = run(arguments, &[variable]);
            assert_eq!(exit, Some(0), "{arguments:?} {variable:?} {stderr}");
        }
    }
    // Folders have no state, and what is frozen is read from no registry.
    let folders = [
        "resolve",
        app,
        "--registry",
        "dir:fixtures/shop",
        "--ignore-lock",
    ];
    assert_eq!(run(&folders, &[]).0, Some(0));
}
