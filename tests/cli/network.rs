//! The binary against a registry that it serves itself: publishing, resolving, and what happens
//! when the registry is gone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pkgres_files::{RealFileSystem, make_folder, write_file};

/// A server that ends with the test.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(data: &Path) -> Self {
        Self::start_at("127.0.0.1:0", data)
    }

    /// Likewise on a port that clients know.
    fn start_at(listen: &str, data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .args(["serve", "--listen", listen, "--data"])
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("an address");
        let token = std::fs::read_to_string(data.join("admin-token")).expect("a token");
        Self {
            child,
            address: line.trim().to_owned(),
            token: token.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the runs of a test keep what they keep.
struct User {
    home: tempfile::TempDir,
    registry: String,
    secret: String,
}

/// What a run said.
struct Said {
    exit: i32,
    stdout: String,
    stderr: String,
}

impl User {
    fn new(server: &Server) -> Self {
        Self {
            home: tempfile::tempdir().expect("a temporary folder"),
            registry: format!("acme={}", server.address),
            secret: server.token.clone(),
        }
    }

    fn run(&self, arguments: &[&str], input: &str) -> Said {
        self.run_with(arguments, input, &[])
    }

    /// Likewise with more variables of the environment.
    fn run_with(&self, arguments: &[&str], input: &str, variables: &[(&str, &str)]) -> Said {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .args(arguments)
            .envs(variables.iter().copied())
            .env("NO_COLOR", "1")
            .env("HOME", self.home.path())
            .env("PKGRES_CACHE", self.home.path().join("cache"))
            .env("PKGRES_STATE", self.home.path().join("state"))
            .env("PKGRES_CREDENTIALS", self.home.path().join("config"))
            .env("PKGRES_REGISTRY", &self.registry)
            .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdin = child.stdin.take().expect("it was piped");
        // Whoever does not read it may be done already.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        let output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let said = Said {
            exit: output.status.code().expect("it was not killed"),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(&self.secret), "the token is shown: {text}");
        }
        said
    }

    /// A run that does what it should.
    fn does(&self, arguments: &[&str]) -> Said {
        let said = self.run(arguments, "");
        assert_eq!(said.exit, 0, "{arguments:?}: {}", said.stderr);
        said
    }

    /// A run that does not; gives what it says.
    fn fails(&self, exit: i32, arguments: &[&str]) -> String {
        let said = self.run(arguments, "");
        assert_eq!(
            said.exit, exit,
            "{arguments:?}: {}{}",
            said.stdout, said.stderr
        );
        said.stderr
    }

    fn login(&self) {
        let said = self.run(&["login", "acme"], &format!("{}\n", self.secret));
        assert_eq!(said.exit, 0, "{}", said.stderr);
        assert!(
            said.stderr.starts_with("Logged in to http://127.0.0.1:"),
            "{}",
            said.stderr
        );
    }
}

/// The packages of the shop, those first that others require.
fn packages() -> Vec<String> {
    let mut folders: Vec<String> = std::fs::read_dir("../fixtures/shop")
        .expect("the fixtures are there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("manifest.yaml").is_file() && !path.ends_with("app"))
        .map(|path| {
            let path: PathBuf = path.components().skip(1).collect();
            path.to_str().expect("text").to_owned()
        })
        .collect();
    folders.sort_by_key(|folder| (!folder.ends_with("core"), folder.clone()));
    folders
}

fn publish_all(user: &User) {
    for folder in packages() {
        user.does(&["publish", &folder]);
    }
}

#[test]
fn a_package_goes_through_a_registry_and_back() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
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
fn a_registry_that_was_restored_from_an_old_copy_is_noticed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, copy) = (folder.path().join("data"), folder.path().join("copy"));
    let copy_of = |from: &Path, to: &Path| {
        let copied = Command::new("cp").arg("-r").arg(from).arg(to).status();
        assert!(copied.expect("cp runs").success());
    };
    let server = Server::start(&data);
    let mut user = User::new(&server);
    user.login();
    let token = server.token.clone();
    user.does(&["publish", "fixtures/shop/core"]);
    drop(server);
    copy_of(&data, &copy);
    let server = Server::start(&data);
    // The port is another one, and with it the address that is known.
    user.registry = format!("acme={}", server.address);
    user.secret = token;
    user.login();
    user.does(&["publish", "fixtures/shop/database-1.0.0"]);
    user.does(&["resolve", "fixtures/shop/database-1.0.0"]);
    let address = server.address.clone();
    drop(server);
    let listen = address.trim_start_matches("http://").trim_end_matches('/');
    let restored = Server::start_at(listen, &copy);
    assert_eq!(restored.address, address);
    let said = user.fails(4, &["resolve", "fixtures/shop/database-1.0.0"]);
    assert!(
        said.contains("error[PK0044]") && said.contains("went back in time"),
        "{said}"
    );
    user.does(&["cache", "forget", "acme"]);
    user.does(&["resolve", "fixtures/shop/database-1.0.0"]);
}

/// Hands out the files of a folder, as any web server does; gives its address.
fn serve_files(folder: PathBuf) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut lines = BufReader::new(stream.try_clone().expect("a copy")).lines();
            let first = lines.next().and_then(Result::ok).unwrap_or_default();
            let path = first.split_whitespace().nth(1).unwrap_or("/").to_owned();
            while lines
                .next()
                .and_then(Result::ok)
                .is_some_and(|line| !line.is_empty())
            {}
            let (status, body) = match std::fs::read(folder.join(path.trim_start_matches('/'))) {
                Ok(body) => ("200 OK", body),
                Err(_) => ("404 Not Found", Vec::new()),
            };
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
            );
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&body);
        }
    });
    address
}

#[test]
fn a_mirror_of_plain_files_will_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (data, files) = (folder.path().join("data"), folder.path().join("files"));
    let server = Server::start(&data);
    let mut user = User::new(&server);
    user.login();
    publish_all(&user);
    let resolve = ["resolve", "fixtures/shop/app", "--format", "json"];
    let from_server = user.does(&resolve).stdout;
    drop(server);
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    user.does(&["export-static", "--data", &text(&data), &text(&files)]);
    user.registry = format!("acme={}", serve_files(files.clone()));
    assert_eq!(user.does(&resolve).stdout, from_server);
    let said = user.run(&["publish", "fixtures/shop/core"], "");
    assert_eq!(said.exit, 3);
    assert!(said.stderr.contains("error[PK0047]"), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("it is a mirror, and takes no releases"),
        "{}",
        said.stderr
    );

    // A file that is not what the signed list says is refused.
    let document = files.join("index/v1/packages/org.example.!database.ndjson");
    let mut bytes = std::fs::read(&document).expect("it was exported");
    let end = bytes.len() - 3;
    bytes[end] ^= 1;
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&document, bytes).expect("it is ours");
    user.does(&["cache", "clean"]);
    let said = user.fails(4, &resolve[..2]);
    assert!(
        said.contains("error[PK0032]") && said.contains("(tried 4 times)"),
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

/// A token of another owner, to publish with.
fn another_token(server: &Server, owner: &str) -> String {
    let address = server.address.trim_start_matches("http://");
    let address = address.trim_end_matches('/');
    let body = format!(r#"{{"scopes":["publish"],"owner":"{owner}"}}"#);
    let request = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        server.token,
        body.len()
    );
    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let answer = std::io::read_to_string(stream).expect("an answer");
    let (_, document) = answer.split_once("\r\n\r\n").expect("a body");
    let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
    document["token"].as_str().expect("a token").to_owned()
}

/// Runs the documents of one name, with a registry and a user of it.
fn sessions(document: &str, address: &str, data: &Path, home: &Path) {
    let text = |path: PathBuf| path.to_str().expect("text").to_owned();
    let binary = Path::new(env!("CARGO_BIN_EXE_pkgres"));
    // For what is read from stdin: documents have no other way to redirect it.
    let programs = std::env::var("PATH").expect("there are programs");
    let folder = binary.parent().expect("a folder").display();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("pkgres", binary)
        .register_bin("ls", PathBuf::from("/bin/ls"))
        .register_bin("sh", PathBuf::from("/bin/sh"))
        .insert_var("[ADDRESS]", address.to_owned())
        .expect("it is a name for a variable");
    cases
        .env("PATH", format!("{folder}:{programs}"))
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C")
        .env("HOME", text(home.to_owned()))
        .env("PKGRES_CACHE", text(home.join("cache")))
        .env("PKGRES_STATE", text(home.join("state")))
        .env("PKGRES_CREDENTIALS", text(home.join("config")))
        .env("PKGRES_REGISTRY", format!("acme={address}"))
        .env("DATA", text(data.to_owned()))
        .env("TOKEN_FILE", text(data.join("admin-token")))
        .case(document);
    cases.run();
}

#[test]
fn a_registry_and_its_users() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let server = Server::start(&data);
    sessions(
        "../tests/cli/server/registry.md",
        &server.address,
        &data,
        folder.path(),
    );
}

#[test]
fn a_registry_with_another_key_is_not_believed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (before, data) = (folder.path().join("before"), folder.path().join("data"));
    let server = Server::start(&before);
    let user = User::new(&server);
    user.login();
    let package = "tests/cli/server/changed.in/db";
    user.does(&["publish", package]);
    let app = "tests/cli/server/changed.in/app";
    user.does(&["tree", app, "--ignore-lock"]);
    let address = server.address.clone();
    drop(server);
    let listen = address.trim_start_matches("http://").trim_end_matches('/');
    let server = Server::start_at(listen, &data);
    let other = User::new(&server);
    other.login();
    other.does(&["publish", package]);
    sessions(
        "../tests/cli/server/changed.md",
        &address,
        &data,
        user.home.path(),
    );
}
