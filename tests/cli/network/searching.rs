//! Searching a registry on the network.

use crate::server::Server;
use crate::user::User;

// Tests write files as plainly as a user would.
#[allow(clippy::disallowed_methods)]
#[test]
fn a_search_finds_parts_of_class_names_and_several_words() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
    let user = User::new(&server);
    user.does(&["login", "acme", "--token-file", &token_file(&data)]);
    user.does(&["publish", "fixtures/shop/core"]);
    user.does(&["publish", "fixtures/shop/database-1.2.0"]);
    let found = |words: &[&str]| {
        let shown = user.does(&[&["search"], words].concat()).stdout;
        let names = shown.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect::<Vec<String>>()
    };
    // Only a class of the core library has this in its name.
    assert_eq!(found(&["ENVIRON"]), ["io.murano"]);
    assert_eq!(found(&["environ", "object"]), ["io.murano"]);
    assert_eq!(found(&["environ", "database"]), [""; 0]);
    assert_eq!(found(&["example", "data"]), ["org.example.Database"]);
    // A word with spaces is a phrase, which can be anywhere, and names of interfaces are found, too.
    let manifest = "FullName: org.example.Contracts\nType: Library\nVersion: 1.0.0\nTags: [highly available]\n\
                    Interfaces:\n  org.example.contract.Startable: Startable.yaml\n";
    let package = data.path().join("contracts");
    for (path, text) in [
        ("manifest.yaml", manifest),
        (
            "Interfaces/Startable.yaml",
            "Name: org.example.contract.Startable\nFunctions: {start: {}}\n",
        ),
    ] {
        let path = package.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    }
    user.does(&["publish", package.to_str().expect("text")]);
    assert_eq!(found(&["startab"]), ["org.example.Contracts"]);
    assert_eq!(found(&["example data"]), [""; 0]);
    assert_eq!(found(&["highly  available"]), ["org.example.Contracts"]);
    assert_eq!(found(&["ly avail", "contracts"]), ["org.example.Contracts"]);
    assert_eq!(found(&["available highly"]), [""; 0]);
    let shown = user.does(&["info", "org.example.Contracts"]).stdout;
    assert!(
        shown.contains("interfaces:\n  org.example.contract.Startable\n"),
        "{shown}"
    );
}

#[test]
fn galaxy_servers_are_left_out_of_a_search() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start(&data.path().join("data"));
    let user = User::new(&server);
    let galaxy = format!("hub=galaxy:{}", server.address);
    let other = "shop=dir:fixtures/shop";
    let words = ["search", "example.Data"];
    let message = user.fails(3, &[&words[..], &["--registry", &galaxy]].concat());
    assert!(message.contains("cannot be searched"), "{message}");
    let both = ["--registry", &galaxy, "--registry", other];
    let found = user.does(&[&words[..], &both].concat());
    assert!(
        found.stdout.starts_with("org.example.Database "),
        "{}",
        found.stdout
    );
    assert!(
        found.stderr.starts_with("not searched: "),
        "{}",
        found.stderr
    );
    let found = user.does(&[&words[..], &both, &["--format", "json"]].concat());
    assert!(
        found.stdout.contains(r#""is_complete": false"#),
        "{}",
        found.stdout
    );
    // A hint to search would lead nowhere.
    let info = ["info", "acme.nothing", "--registry", &galaxy];
    let message = user.fails(1, &info);
    assert!(!message.contains("pkgres search"), "{message}");
}

fn token_file(data: &tempfile::TempDir) -> String {
    let path = data.path().join("data/admin-token");
    path.to_str().expect("text").to_owned()
}
