//! What an update changes for a project, where archives come from a registry or are not there.

use std::path::Path;

use pkgres_files::{RealFileSystem, make_folder, write_file};

use crate::server::Server;
use crate::user::User;

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    let parent = path.parent().expect("it is in a folder");
    make_folder(&RealFileSystem, parent).expect("the folder is ours");
    write_file(&RealFileSystem, &path, text.as_bytes()).expect("the folder is ours");
}

/// Writes a package with one class; returns its folder.
fn package(folder: &Path, name: &str, version: &str, require: &str, class: &str) -> String {
    let package = folder.join(format!("{name}-{version}"));
    let manifest = format!(
        "FullName: {name}\nType: Library\nVersion: {version}\nRequire: {{{require}}}\nClasses: {{{name}: Class.yaml}}\n"
    );
    write(&package, "manifest.yaml", &manifest);
    write(
        &package,
        "Classes/Class.yaml",
        &format!("Name: {name}\n{class}"),
    );
    package.to_str().expect("text").to_owned()
}

#[test]
fn an_offline_run_shows_what_the_cache_can_tell() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    let home = user.home.path().to_owned();
    let old = package(&home, "org.acme.Kit", "1.0.0", "", "Methods: {stop: {}}\n");
    let new = package(&home, "org.acme.Kit", "2.0.0", "", "");
    for folder in ["fixtures/shop/core", &old, &new] {
        user.does(&["publish", folder]);
    }
    let class = "Extends: org.acme.Kit\nMethods: {run: {Body: [$this.stop()]}}\n";
    let app = package(&home, "org.acme.App", "1.0.0", "org.acme.Kit: '>=1'", class);
    user.does(&["lock", &app, "--prefer", "oldest"]);
    let effect =
        "in 2.0.0, `org.acme.Kit` no longer has the method `stop`; `org.acme.App` calls the method";

    // A new cache has the index, and no archives.
    let cache = home.join("other-cache");
    let variables = [("PKGRES_CACHE", cache.to_str().expect("text"))];
    let run = |arguments: &[&str]| {
        let run = user.run_with(&[&["outdated", &app], arguments].concat(), "", &variables);
        assert_eq!(run.exit, 0, "{}{}", run.stdout, run.stderr);
        run
    };
    let resolved = user.run_with(&["resolve", &app], "", &variables);
    assert_eq!(resolved.exit, 0, "{}", resolved.stderr);
    let offline = run(&["--offline"]);
    let row = "org.acme.Kit  1.0.0  2.0.0    2.0.0";
    assert!(offline.stdout.contains(row), "{}", offline.stdout);
    assert!(!offline.stdout.contains(effect), "{}", offline.stdout);
    for version in ["1.0.0", "2.0.0"] {
        let note = format!("the classes of org.acme.Kit {version} were not compared: ");
        assert!(offline.stderr.contains(&note), "{}", offline.stderr);
    }
    assert!(offline.stderr.contains("offline"), "{}", offline.stderr);
    let document = run(&["--offline", "--format", "json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert_eq!(document["not_compared"].as_array().map(Vec::len), Some(2));

    // The first run with the registry fills the cache.
    assert!(run(&[]).stdout.contains(effect));
    drop(server);
    let offline = run(&["--offline"]);
    assert!(offline.stdout.contains(effect), "{}", offline.stdout);
    assert!(
        !offline.stderr.contains("not compared"),
        "{}",
        offline.stderr
    );
}
