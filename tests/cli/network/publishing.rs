//! Publishing packages.

use std::path::Path;

use pkgres_files::{RealFileSystem, make_folder, write_file};
use pkgres_tests::collections::{artifact, file_name, form};

use crate::server::{Server, another_token};
use crate::user::{Finished, User, publish_all};

#[test]
fn a_package_goes_through_a_registry_and_back() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);

    // Publishing needs a token; the hint suggests to log in.
    let stderr = user.fails(3, &["publish", "fixtures/shop/core"]);
    assert!(
        stderr.contains("error[PK0046]") && stderr.contains("`pkgres login http://"),
        "{stderr}"
    );
    // If a variable has the token, logging in does not help.
    let variable = [("PKGRES_TOKEN_ACME", "not-a-token")];
    let run = user.run_with(&["publish", "fixtures/shop/core"], "", &variable);
    assert_eq!(run.exit, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("error[PK0046]")
            && run.stderr.contains("the one in PKGRES_TOKEN_ACME")
            && !run.stderr.contains("`pkgres login http://"),
        "{}",
        run.stderr
    );
    let wrong = user.run(&["login", "acme"], "not-a-token\n");
    assert_eq!(wrong.exit, 3, "{}", wrong.stderr);
    user.login();
    let run = user.does(&["publish", "fixtures/shop/core", "--dry-run"]);
    assert!(
        run.stderr.contains("Would publish io.murano"),
        "{}",
        run.stderr
    );
    // What no registry accepts is found without sending it.
    let long = data.path().join("long");
    make_folder(&RealFileSystem, &long).expect("a temporary folder");
    let author = "x".repeat(2000);
    let manifest =
        format!("Type: Library\nFullName: org.example.Long\nVersion: 1.0.0\nAuthor: {author}\n");
    write_file(
        &RealFileSystem,
        &long.join("manifest.yaml"),
        manifest.as_bytes(),
    )
    .expect("it can be written");
    let long = long.to_str().expect("text");
    for arguments in [&["publish", long, "--dry-run"][..], &["publish", long]] {
        let stderr = user.fails(3, arguments);
        assert!(
            stderr.contains("error[PK0047]") && stderr.contains("`Author` has more than the limit"),
            "{stderr}"
        );
    }
    publish_all(&user);
    let again = user.does(&["publish", "fixtures/shop/core"]);
    assert!(
        again.stderr.contains("with the same content"),
        "{}",
        again.stderr
    );

    // The registry gives the same resolution as the folder, apart from digests.
    let names = |run: &Finished| {
        let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        let packages = document["packages"].as_array().expect("a list").iter();
        packages
            .map(|package| (package["name"].clone(), package["version"].clone()))
            .collect::<Vec<_>>()
    };
    let resolve = ["resolve", "fixtures/shop/app", "--format", "json"];
    let from_folder = user.does(&[&resolve[..], &["--registry", "dir:fixtures/shop"]].concat());
    let from_registry = user.does(&resolve);
    assert_eq!(names(&from_registry), names(&from_folder));

    // Locked releases can be fetched.
    let app = user.locked_app();
    let app = app.as_str();
    let run = user.does(&["fetch", app]);
    assert!(run.stderr.contains("Fetched 4 packages"), "{}", run.stderr);
    user.does(&["verify", app]);
    let vendored = user.home.path().join("vendored");
    #[allow(clippy::disallowed_methods)]
    std::fs::create_dir_all(&vendored).expect("a folder");
    user.does(&["vendor", vendored.to_str().expect("text"), app]);
    // The folder replaces the registry, whose name the lockfile keeps.
    let folder = format!("dir:{}", vendored.display());
    user.does(&["lock", app, "--check", "--registry", &folder]);
    let run = user.does(&["lock", app, "--registry", &folder]);
    assert!(run.stderr.contains("is up to date"), "{}", run.stderr);
    // Four archives, and the record of what was written.
    assert_eq!(
        std::fs::read_dir(&vendored).expect("it is there").count(),
        5
    );
    let list = user.does(&["cache", "list"]);
    // Publishing fetched what the released classes are checked with.
    assert!(list.stdout.contains("8 artifacts"), "{}", list.stdout);

    // A yanked release is not chosen, but stays locked.
    user.does(&[
        "yank",
        "org.example.WebServer",
        "2.1.0",
        "--reason",
        "broken",
    ]);
    let run = user.does(&["resolve", "fixtures/shop/app"]);
    assert!(
        run.stdout.contains("org.example.WebServer 2.0.0"),
        "{}",
        run.stdout
    );
    let run = user.does(&["lock", "--check", app]);
    assert!(run.stderr.contains("was yanked"), "{}", run.stderr);
    user.does(&["yank", "org.example.WebServer@2.1.0", "--undo"]);
    let run = user.does(&["resolve", "fixtures/shop/app"]);
    assert!(
        run.stdout.contains("org.example.WebServer 2.1.0"),
        "{}",
        run.stdout
    );

    // A registry that is gone is an error; the cache still works.
    drop(server);
    let stderr = user.fails(3, &["resolve", "fixtures/shop/app"]);
    assert!(
        stderr.contains("error[PK0040]") && stderr.contains("(tried 4 times)"),
        "{stderr}"
    );
    assert!(stderr.contains("hint: `--offline`"), "{stderr}");
    let run = user.does(&["resolve", "fixtures/shop/app", "--offline"]);
    assert!(
        run.stdout.contains("org.example.WebServer 2.1.0"),
        "{}",
        run.stdout
    );
    let run = user.does(&["info", "org.example.WebServer", "--offline"]);
    assert!(
        run.stdout
            .contains("with `--offline`, registries on the network are not asked"),
        "{}",
        run.stdout
    );
    user.does(&["verify", app, "--offline"]);
    user.does(&["cache", "clean"]);
    let stderr = user.fails(3, &["resolve", "fixtures/shop/app", "--offline"]);
    assert!(
        stderr.contains("error[PK0045]") && stderr.contains("run once without"),
        "{stderr}"
    );
}

#[test]
#[cfg(unix)]
fn a_token_of_a_netrc_file_publishes() {
    use std::os::unix::fs::PermissionsExt as _;

    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_private(&data.path().join("data"));
    let user = User::new(&server);
    let file = user.home.path().join(".netrc");
    let stored = |password: &str| {
        let text = format!("machine 127.0.0.1 login me password {password}\n");
        write_file(&RealFileSystem, &file, text.as_bytes()).expect("the folder is ours");
        let own = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&file, own).expect("the file is ours");
    };
    stored(&server.token);
    publish_all(&user);
    let run = user.does(&["resolve", "fixtures/shop/app"]);
    assert!(
        run.stdout.contains("org.example.WebServer"),
        "{}",
        run.stdout
    );
    user.does(&["yank", "org.example.WebServer@2.1.0", "--reason", "broken"]);
    // The error says that one was sent, and which.
    stored("wrong");
    let stderr = user.fails(3, &["publish", "fixtures/shop/core"]);
    assert!(
        stderr.contains("error[PK0046]") && stderr.contains(".netrc"),
        "{stderr}"
    );
}

#[test]
fn a_package_is_published_to_the_registry_that_its_name_is_bound_to() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let start = |name: &str| Server::start(&folder.path().join(name));
    let (public, acme) = (start("public"), start("acme"));
    let user = User::new(&acme);
    user.login();
    let settings = format!(
        "[registries.public]\nlocation = \"{}\"\n\
         [registries.acme]\nlocation = \"{}\"\nnamespaces = [\"org.acme.*\"]\n",
        public.address, acme.address
    );
    let files = [
        ("pkgres.toml", settings.as_str()),
        (
            "web/manifest.yaml",
            "FullName: org.acme.Web\nType: Library\nVersion: 1.0.0\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        make_folder(&RealFileSystem, path.parent().expect("a folder")).expect("it is ours");
        write_file(&RealFileSystem, &path, text.as_bytes()).expect("it is ours");
    }
    let run = |arguments: &[&str]| {
        let mut command = user.command(arguments);
        command
            .env_remove("PKGRES_REGISTRY")
            .current_dir(folder.path());
        let output = command.output().expect("it runs");
        let stderr = String::from_utf8(output.stderr).expect("text");
        (output.status.code(), stderr)
    };
    let (exit, stderr) = run(&["publish", "web", "--registry", "public"]);
    assert_eq!(exit, Some(2), "{stderr}");
    assert!(
        stderr.contains("`org.acme.Web` is bound to the registry `acme`, so it is not published to the registry `public`")
            && stderr.contains("`pkgres publish web --registry acme` publishes it there"),
        "{stderr}"
    );
    let (exit, stderr) = run(&["publish", "web", "--registry", &public.address]);
    assert_eq!(exit, Some(2), "{stderr}");
    let (exit, stderr) = run(&["publish", "web"]);
    assert_eq!(exit, Some(0), "{stderr}");
    assert!(
        stderr.contains("Published org.acme.Web 1.0.0 to acme"),
        "{stderr}"
    );
    for arguments in [
        &["publish", "web", "--registry", &acme.address][..],
        &["owner", "list", "org.acme.Web"],
        &["yank", "org.acme.Web@1.0.0", "--reason", "broken"],
    ] {
        let (exit, stderr) = run(arguments);
        assert_eq!(exit, Some(0), "{arguments:?}: {stderr}");
    }
}

#[test]
fn the_settings_of_a_package_bind_it_wherever_the_command_runs() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let start = |name: &str| Server::start(&folder.path().join(name));
    let (public, acme) = (start("public"), start("acme"));
    let user = User::new(&acme);
    user.login();
    let above = format!("[registries.public]\nlocation = \"{}\"\n", public.address);
    let own = format!(
        "{above}[registries.acme]\nlocation = \"{}\"\nnamespaces = [\"org.acme.*\"]\n",
        acme.address
    );
    let manifest = "FullName: org.acme.Web\nType: Library\nVersion: 1.0.0\n";
    let files = [
        ("pkgres.toml", above.as_str()),
        ("web/pkgres.toml", own.as_str()),
        ("web/manifest.yaml", manifest),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        make_folder(&RealFileSystem, path.parent().expect("a folder")).expect("it is ours");
        write_file(&RealFileSystem, &path, text.as_bytes()).expect("it is ours");
    }
    // From the folder above, as from its own folder.
    for (current, package) in [("", "web"), ("", "web/manifest.yaml"), ("web", ".")] {
        let run = |arguments: &[&str]| {
            let mut command = user.command(arguments);
            command
                .env_remove("PKGRES_REGISTRY")
                .current_dir(folder.path().join(current));
            let output = command.output().expect("it runs");
            (
                output.status.code(),
                String::from_utf8(output.stderr).expect("text"),
            )
        };
        let (exit, stderr) = run(&["publish", package, "--registry", "public"]);
        assert_eq!(exit, Some(2), "{package}: {stderr}");
        let expected = "`org.acme.Web` is bound to the registry `acme`";
        assert!(stderr.contains(expected), "{package}: {stderr}");
        let (exit, stderr) = run(&["publish", package, "--dry-run"]);
        assert_eq!(exit, Some(0), "{package}: {stderr}");
        let expected = "Would publish org.acme.Web 1.0.0 to acme";
        assert!(stderr.contains(expected), "{package}: {stderr}");
    }
}

#[test]
fn a_token_for_some_names_publishes_to_a_private_registry() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_private(&folder.path().join("data"));
    let user = User::new(&server);
    user.login();
    let mine = ["--scope", "publish", "--name", "org.example.*"];
    let run = user.run(&[&["token", "create"][..], &mine].concat(), "");
    let variable = [("PKGRES_TOKEN_ACME", run.stdout.trim())];
    let publish = |secret: &[(&str, &str)]| {
        let run = user.run_with(&["publish", "fixtures/shop/database-1.0.0"], "", secret);
        (run.exit, run.stderr)
    };
    // A token that is no token is refused at once.
    let (exit, stderr) = publish(&[("PKGRES_TOKEN_ACME", "nonsense")]);
    assert_eq!(exit, 3, "{stderr}");
    assert!(!stderr.contains("not compared"), "{stderr}");
    user.does(&["publish", "fixtures/shop/core"]);
    let tried = ["publish", "fixtures/shop/database-1.0.0", "--dry-run"];
    let run = user.run_with(&tried, "", &variable);
    assert_eq!(run.exit, 0, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("so it is unknown whether the registry has the version already")
            && run
                .stderr
                .contains("Would publish org.example.Database 1.0.0"),
        "{}",
        run.stderr
    );
    let (exit, stderr) = publish(&variable);
    assert_eq!(exit, 0, "{stderr}");
    assert!(
        stderr.contains("so the version is not compared with earlier ones")
            && stderr.contains("Published org.example.Database"),
        "{stderr}"
    );
    // Without the comparison, it is still said what is not checked.
    let arguments = [
        "publish",
        "fixtures/shop/database-1.0.0",
        "--allow-incompatible",
    ];
    let run = user.run_with(&arguments, "", &variable);
    assert_eq!(run.exit, 0, "{}", run.stderr);
    let expected = "so what the package uses of others is not checked";
    assert!(
        run.stderr.matches(expected).count() == 1 && !run.stderr.contains("denies"),
        "{}",
        run.stderr
    );
}

/// Writes a package with one class of its name. Returns its folder.
fn write_package(folder: &Path, name: &str, version: &str, class: &str) -> String {
    let manifest = format!(
        "Format: 1.4\nType: Library\nFullName: {name}\nVersion: {version}\nName: Web\n\
         Require: {{io.murano: \">=0\"}}\nClasses: {{{name}: Main.yaml}}\n"
    );
    make_folder(&RealFileSystem, &folder.join("Classes")).expect("it is ours");
    for (path, text) in [("manifest.yaml", &*manifest), ("Classes/Main.yaml", class)] {
        write_file(&RealFileSystem, &folder.join(path), text.as_bytes()).expect("it is ours");
    }
    folder.to_str().expect("text").to_owned()
}

/// What only a person can judge does not stop a release, but is not silent either.
#[test]
fn publishing_says_that_there_are_differences_to_review() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&folder.path().join("data"));
    let user = User::new(&server);
    user.login();
    let package = |version: &str, contract: &str| {
        let class = format!("Name: org.acme.Web\nProperties: {{port: {{Contract: {contract}}}}}\n");
        write_package(
            &folder.path().join(version),
            "org.acme.Web",
            version,
            &class,
        )
    };
    user.does(&["publish", &package("1.0.0", "$.int()")]);
    let next = package("1.0.1", "$.int().check($ > 9)");
    for tried in [&["--dry-run"][..], &[]] {
        let run = user.does(&[&["publish", next.as_str()], tried].concat());
        let words = format!("semver org.acme.Web@1.0.0 {next}");
        let expected = format!("1 difference to org.acme.Web 1.0.0 to review: `pkgres {words}`");
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
        let run = user.does(&words.split(' ').collect::<Vec<_>>());
        assert!(run.stdout.contains("(contract-changed)"), "{}", run.stdout);
    }
    let last = package("2.0.0", "$.string()");
    let run = user.does(&["publish", &last, "--format", "json"]);
    assert!(run.stdout.contains("\"notes\": []"), "{}", run.stdout);
}

#[test]
fn publishing_a_similar_name_warns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&folder.path().join("data"));
    let user = User::new(&server);
    user.login();
    let package = |name: &str| {
        let class = format!("Name: {name}\n");
        write_package(&folder.path().join(name), name, "1.0.0", &class)
    };
    let run = user.does(&["publish", &package("org.acme.Web")]);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);

    let stranger = User {
        secret: another_token(&server, "stranger"),
        ..User::new(&server)
    };
    stranger.login();
    let run = stranger.does(&["publish", &package("org.acme.Weeb"), "--format", "json"]);
    let warning = "org.acme.Weeb is easily taken for org.acme.Web, which belongs to others; if this \
                   is not intended, publish under another name";
    let document: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(document["status"], "published");
    assert_eq!(document["warnings"], serde_json::json!([warning]));
    // As text, and for the same content again.
    let run = stranger.does(&["publish", &package("org.acme.Weeb")]);
    let expected = format!("warning[PK0078]: {warning}\n");
    assert!(run.stderr.contains(&expected), "{}", run.stderr);
}

#[test]
fn the_name_of_a_collection_is_taken() {
    use std::io::Write as _;

    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    let (kind, form) = form(
        &file_name("acme.web", "1.2.0"),
        &artifact("acme.web", "1.2.0", &[]),
    );
    let address = server.address.trim_start_matches("http://");
    let address = address.trim_end_matches('/');
    let head = format!(
        "POST /api/v3/artifacts/collections/ HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        server.token,
        form.len()
    );
    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
    let request = [head.as_bytes(), &form].concat();
    stream.write_all(&request).expect("it is sent");
    let answer = std::io::read_to_string(stream).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");

    let package = user.home.path().join("package");
    make_folder(&RealFileSystem, &package).expect("a folder");
    let manifest = "FullName: acme.web\nType: Library\nVersion: 5.0.0\n";
    write_file(
        &RealFileSystem,
        &package.join("manifest.yaml"),
        manifest.as_bytes(),
    )
    .expect("a file");
    let stderr = user.fails(3, &["publish", package.to_str().expect("text")]);
    assert!(
        stderr.contains("error[PK0047]") && stderr.contains("has releases of the ecosystem"),
        "{stderr}"
    );
}

/// A variable with a token overrides a stored one, also if the token is valid.
#[test]
fn the_hint_for_a_token_without_a_right_names_its_variable() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    let token = another_token(&server, "ann");
    let list = ["token", "list", "--registry", "acme"];
    let run = user.run_with(&list, "", &[("PKGRES_TOKEN_ACME", &token)]);
    assert_eq!(run.exit, 3, "{}", run.stderr);
    assert!(
        run.stderr
            .contains("necessary in PKGRES_TOKEN_ACME, which overrides"),
        "{}",
        run.stderr
    );
}

/// Errors that `pkgres check` finds keep a package from being published, and its warnings are shown.
#[test]
fn a_package_is_checked_before_it_is_published() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&folder.path().join("data"));
    let user = User::new(&server);
    user.login();
    let package = |name: &str, require: &str, class: &str| {
        let package = folder.path().join(name);
        let manifest = format!(
            "Format: 1.4\nType: Library\nFullName: {name}\nVersion: \"1.0.0\"\nName: Web\n\
             Require: {{io.murano: \">=0\"{require}}}\nClasses: {{{name}: Main.yaml}}\n"
        );
        let class = format!("Name: {name}\n{class}");
        make_folder(&RealFileSystem, &package.join("Classes")).expect("it is ours");
        for (path, text) in [("manifest.yaml", manifest), ("Classes/Main.yaml", class)] {
            write_file(&RealFileSystem, &package.join(path), text.as_bytes()).expect("it is ours");
        }
        package.to_str().expect("text").to_owned()
    };
    user.does(&["publish", &package("org.acme.Db", "", "")]);
    let requires = ", org.acme.Db: 1";
    let path = package("org.acme.Extends", requires, "Extends: org.acme.Db.Gone\n");
    let archive = folder.path().join("packed.zip");
    let archive = archive.to_str().expect("text");
    user.does(&["pack", &path, "--output", archive]);
    for arguments in [
        &["publish", &path][..],
        &["publish", &path, "--dry-run"],
        &["publish", archive],
    ] {
        let stderr = user.fails(1, arguments);
        let is_said = stderr.contains("error[") && stderr.contains("org.acme.Db.Gone");
        assert!(is_said, "{stderr}");
    }
    user.fails(1, &["info", "org.acme.Extends"]);
    // That a class is used which nothing defines is a warning for `check`, too.
    let contract = "Properties:\n  db:\n    Contract: $.class('org.acme.Db.Gone')\n";
    let path = package("org.acme.Contract", requires, contract);
    let run = user.does(&["publish", &path]);
    let expected = "`org.acme.Db.Gone` is used, but no required package defines it";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    // A later release of what it requires may define the class; what else is wrong stays an error.
    let path = package("org.acme.Extends", requires, "Extends: org.acme.Db.Gone\n");
    let run = user.does(&["publish", &path, "--allow-unsatisfiable"]);
    let expected = "warning[PK0013]: `org.acme.Db.Gone` is extended";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
    let usage = "Extends: org.acme.Db.Gone\nProperties:\n  db:\n    Usage: Inn\n";
    let path = package("org.acme.Usage", requires, usage);
    let stderr = user.fails(1, &["publish", &path, "--allow-unsatisfiable"]);
    assert!(stderr.contains("error[PK0055]"), "{stderr}");
    assert!(stderr.contains("warning[PK0013]"), "{stderr}");
    let right = "Properties:\n  db:\n    Contract: $.class('org.acme.Db')\n";
    let run = user.does(&["publish", &package("org.acme.Right", requires, right)]);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}
