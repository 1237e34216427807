//! Searching a registry on the network.

use crate::server::Server;
use crate::user::User;

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
    // A word with a space is one text, as in other registries.
    assert_eq!(found(&["example data"]), [""; 0]);
}

fn token_file(data: &tempfile::TempDir) -> String {
    let path = data.path().join("data/admin-token");
    path.to_str().expect("text").to_owned()
}
