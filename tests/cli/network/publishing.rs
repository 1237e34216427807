//! What is published, and by whom.

use std::process::Command;

use pkgres_files::{RealFileSystem, make_folder, write_file};

use crate::server::{Server, another_token};
use crate::user::{Said, User, publish_all};

#[test]
fn a_package_goes_through_a_registry_and_back() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);

    // Without a token nothing is published, and it is said what to do.
    let said = user.fails(3, &["publish", "fixtures/shop/core"]);
    assert!(
        said.contains("error[PK0046]") && said.contains("`pkgres login acme`"),
        "{said}"
    );
    // To keep a token does not help where another one is sent.
    let variable = [("PKGRES_TOKEN_ACME", "not-a-token")];
    let said = user.run_with(&["publish", "fixtures/shop/core"], "", &variable);
    assert_eq!(said.exit, 3, "{}", said.stderr);
    assert!(
        said.stderr.contains("error[PK0046]")
            && said.stderr.contains("the one in PKGRES_TOKEN_ACME")
            && !said.stderr.contains("`pkgres login acme`"),
        "{}",
        said.stderr
    );
    let wrong = user.run(&["login", "acme"], "not-a-token\n");
    assert_eq!(wrong.exit, 3, "{}", wrong.stderr);
    user.login();
    let said = user.does(&["publish", "fixtures/shop/core", "--dry-run"]);
    assert!(
        said.stderr.contains("Would publish io.murano"),
        "{}",
        said.stderr
    );
    publish_all(&user);
    let again = user.does(&["publish", "fixtures/shop/core"]);
    assert!(
        again.stderr.contains("already, with the same bytes"),
        "{}",
        again.stderr
    );

    // The registry resolves as the folder does, but for the digests.
    let names = |said: &Said| {
        let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
        let packages = document["packages"].as_array().expect("a list").iter();
        packages
            .map(|package| (package["name"].clone(), package["version"].clone()))
            .collect::<Vec<_>>()
    };
    let resolve = ["resolve", "fixtures/shop/app", "--format", "json"];
    let from_folder = user.does(&[&resolve[..], &["--registry", "dir:fixtures/shop"]].concat());
    let from_registry = user.does(&resolve);
    assert_eq!(names(&from_registry), names(&from_folder));

    // What is locked can be had.
    let app = user.home.path().join("app");
    let copied = Command::new("cp")
        .arg("-r")
        .arg("fixtures/shop/app")
        .arg(&app)
        .current_dir("..")
        .status();
    assert!(copied.expect("cp runs").success());
    let app = app.to_str().expect("text");
    user.does(&["lock", app]);
    let said = user.does(&["fetch", app]);
    assert!(
        said.stderr.contains("Fetched 4 packages"),
        "{}",
        said.stderr
    );
    user.does(&["verify", app]);
    let vendored = user.home.path().join("vendored");
    #[allow(clippy::disallowed_methods)]
    std::fs::create_dir_all(&vendored).expect("a folder");
    user.does(&["vendor", vendored.to_str().expect("text"), app]);
    assert_eq!(
        std::fs::read_dir(&vendored).expect("it is there").count(),
        4
    );
    let list = user.does(&["cache", "list"]);
    assert!(list.stdout.contains("4 artifacts"), "{}", list.stdout);

    // What is withdrawn is not chosen anew, and stays locked.
    user.does(&[
        "yank",
        "org.example.WebServer",
        "2.1.0",
        "--reason",
        "broken",
    ]);
    let said = user.does(&["resolve", "fixtures/shop/app"]);
    assert!(
        said.stdout.contains("org.example.WebServer 2.0.0"),
        "{}",
        said.stdout
    );
    let said = user.does(&["lock", "--check", app]);
    assert!(said.stderr.contains("was withdrawn"), "{}", said.stderr);
    user.does(&["yank", "org.example.WebServer@2.1.0", "--undo"]);
    let said = user.does(&["resolve", "fixtures/shop/app"]);
    assert!(
        said.stdout.contains("org.example.WebServer 2.1.0"),
        "{}",
        said.stdout
    );

    // When the registry is gone, that is an error, and the cache still answers.
    drop(server);
    let said = user.fails(3, &["resolve", "fixtures/shop/app"]);
    assert!(
        said.contains("error[PK0040]") && said.contains("(tried 4 times)"),
        "{said}"
    );
    assert!(said.contains("hint: `--offline`"), "{said}");
    let said = user.does(&["resolve", "fixtures/shop/app", "--offline"]);
    assert!(
        said.stdout.contains("org.example.WebServer 2.1.0"),
        "{}",
        said.stdout
    );
    user.does(&["verify", app, "--offline"]);
    user.does(&["cache", "clean"]);
    let said = user.fails(3, &["resolve", "fixtures/shop/app", "--offline"]);
    assert!(
        said.contains("error[PK0045]") && said.contains("run once without"),
        "{said}"
    );
}

#[test]
fn a_name_that_is_easily_taken_for_another_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&folder.path().join("data"));
    let user = User::new(&server);
    user.login();
    let package = |name: &str| {
        let package = folder.path().join(name);
        let manifest = format!(
            "Format: 1.4\nType: Library\nFullName: {name}\nVersion: \"1.0.0\"\nName: Web\n\
             Require: {{io.murano: \">=0\"}}\nClasses: {{{name}: Main.yaml}}\n"
        );
        let class = format!("Name: {name}\n");
        make_folder(&RealFileSystem, &package.join("Classes")).expect("it is ours");
        for (path, text) in [("manifest.yaml", manifest), ("Classes/Main.yaml", class)] {
            write_file(&RealFileSystem, &package.join(path), text.as_bytes()).expect("it is ours");
        }
        package.to_str().expect("text").to_owned()
    };
    let said = user.does(&["publish", &package("org.acme.Web")]);
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);

    let stranger = User {
        secret: another_token(&server, "stranger"),
        ..User::new(&server)
    };
    stranger.login();
    let said = stranger.does(&["publish", &package("org.acme.Weeb"), "--format", "json"]);
    let warning = "org.acme.Weeb is easily taken for org.acme.Web, which belongs to others; if that \
                   is not meant, publish under another name";
    let document: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(document["status"], "published");
    assert_eq!(document["warnings"], serde_json::json!([warning]));
    // As text, also when the same is published again.
    let said = stranger.does(&["publish", &package("org.acme.Weeb")]);
    let told = format!("warning[PK0078]: {warning}\n");
    assert!(said.stderr.contains(&told), "{}", said.stderr);
}
