//! Commands that change registries and accounts at the same time: the change of each command that succeeds is kept.
//!
//! `ROUNDS` sets how often each is tried.

use pkgres_files::{RealFileSystem, make_folder, write_file};
use pkgres_tests::writers::{WRITERS, at_once, rounds};

use crate::server::Server;
use crate::user::User;

#[test]
fn every_token_that_was_stored_is_there() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let servers: Vec<Server> = (0..WRITERS)
        .map(|number| Server::start_alone(&data.path().join(number.to_string())))
        .collect();
    let mut user = User::new(&servers[0]);
    let tokens: Vec<String> = servers
        .iter()
        .enumerate()
        .map(|(number, server)| {
            let file = data.path().join(format!("token{number}"));
            write_file(&RealFileSystem, &file, server.token.as_bytes()).expect("it is ours");
            file.to_str().expect("text").to_owned()
        })
        .collect();
    let login = |user: &User, number: usize| {
        user.command(&[
            "login",
            &servers[number].address,
            "--token-file",
            &tokens[number],
        ])
    };
    for round in 0..rounds() {
        let done = at_once(|number| login(&user, number));
        assert_eq!(done.len(), WRITERS, "{done:?}");
        // Half of them log out while the others log in again.
        let is_out = |number: usize| (number + round).is_multiple_of(2);
        let done = at_once(|number| {
            if is_out(number) {
                user.command(&["logout", &servers[number].address])
            } else {
                login(&user, number)
            }
        });
        assert_eq!(done.len(), WRITERS, "{done:?}");
        for (number, server) in servers.iter().enumerate() {
            user.secret.clone_from(&server.token);
            let run = user.run(&["whoami", &server.address], "");
            assert_eq!(run.exit == 0, !is_out(number), "{number}: {}", run.stderr);
        }
    }
}

#[test]
fn every_change_of_a_registry_is_there() {
    let data = tempfile::tempdir().expect("a temporary folder");
    let server = Server::start_alone(&data.path().join("data"));
    let user = User::new(&server);
    user.login();
    for round in 0..rounds() {
        let folders: Vec<String> = (0..WRITERS)
            .map(|number| {
                let folder = user.home.path().join(format!("p{round}.{number}"));
                make_folder(&RealFileSystem, &folder).expect("the folder is ours");
                let manifest = format!(
                    "Type: Library\nFullName: a.P\nVersion: {round}.{number}.0\nRequire: {{}}\n"
                );
                let path = folder.join("manifest.yaml");
                write_file(&RealFileSystem, &path, manifest.as_bytes()).expect("it is ours");
                folder.to_str().expect("text").to_owned()
            })
            .collect();
        let done = at_once(|number| user.command(&["publish", &folders[number]]));
        assert_eq!(done.len(), WRITERS, "{done:?}");
        let done = at_once(|number| {
            let release = format!("a.P@{round}.{number}.0");
            user.command(&["yank", &release, "--reason", "old"])
        });
        assert_eq!(done.len(), WRITERS, "{done:?}");
        let info = user.does(&["info", "a.P", "--format", "json"]).stdout;
        let info: serde_json::Value = serde_json::from_str(&info).expect("JSON");
        let versions = info["versions"].as_array().expect("a list");
        for number in 0..WRITERS {
            let version = format!("{round}.{number}.0");
            let published = versions.iter().find(|it| it["version"] == version.as_str());
            assert_eq!(
                published.map(|it| &it["yanked"]),
                Some(&true.into()),
                "{info}"
            );
        }
        let owner = |number: usize| format!("o{round}-{number}");
        let done = at_once(|number| user.command(&["owner", "add", "a.P", &owner(number)]));
        let owners = user.does(&["owner", "list", "a.P"]).stdout;
        assert!(!done.is_empty(), "{owners}");
        for number in 0..WRITERS {
            let is_owner = owners.lines().any(|line| line.trim() == owner(number));
            assert_eq!(is_owner, done.contains(&number), "{done:?}: {owners}");
        }
    }
}
