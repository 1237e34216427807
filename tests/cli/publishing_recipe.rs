//! The workflow of the book that publishes packages, run against a registry.

#[expect(dead_code, reason = "one kind of server is enough here")]
#[path = "network/server.rs"]
mod server;

use std::path::Path;

use serde_json::Value;

use self::server::Server;
use crate::program::write;
use crate::steps::{Done, Machine, recipe};

/// A library in a folder of a repository, with a class.
fn library(repository: &Path, folder: &str, name: &str, requires: &str, extends: &str) {
    let folder = repository.join("packages").join(folder);
    let manifest = format!(
        "Format: MuranoPL/1.0\nType: Library\nFullName: org.example.{name}\nName: {name}\nVersion: 1.0.0\n\
         {requires}Classes:\n  org.example.{name}: Class.yaml\n"
    );
    write(&folder.join("manifest.yaml"), &manifest);
    let class = format!("Name: org.example.{name}\n{extends}");
    write(&folder.join("Classes/Class.yaml"), &class);
}

/// What the steps of a run printed. Installing the program is the action's own step, which the test of releases runs.
fn published(machine: &Machine, workflow: &Value) -> Vec<Done> {
    let steps = workflow["jobs"]["publish"]["steps"].as_array();
    let steps = steps.expect("the job has steps").iter();
    let scripts: Vec<Value> = steps
        .filter(|step| step["run"].is_string())
        .cloned()
        .collect();
    machine.run(&scripts.into())
}

#[test]
fn every_package_of_a_repository_is_published_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let server = Server::start(&folder.join("data"));
    let repository = folder.join("repository");
    let settings = format!("[registries.acme]\nlocation = \"{}\"\n", server.address);
    write(&repository.join("pkgres.toml"), &settings);
    library(&repository, "base", "Base", "", "");
    let requires = "Require:\n  org.example.Base: 1\n";
    let extends = "Extends: org.example.Base\n";
    library(&repository, "web", "Web", requires, extends);
    let mut machine = Machine::new(&repository, &folder.join("files"));
    machine.express("secrets.PKGRES_TOKEN_ACME", server.token.trim());
    let program = Path::new(trycmd::cargo::cargo_bin!("pkgres"));
    let programs = program.parent().expect("the program is in a folder");
    let path = std::env::var("PATH").expect("a PATH");
    let home = folder.display().to_string();
    for (name, value) in [
        ("PATH", format!("{}:{path}", programs.display())),
        ("HOME", home.clone()),
        ("PKGRES_CACHE", format!("{home}/cache")),
        ("PKGRES_STATE", format!("{home}/state")),
        ("NO_COLOR", "1".to_owned()),
    ] {
        machine.set(name, &value);
    }
    let text = recipe("docs/publishing.md", "name: publish");
    let workflow: Value = serde_saphyr::from_str(&text).expect("the recipe is YAML");

    let done = published(&machine, &workflow);
    for said in [
        "Published org.example.Base 1.0.0",
        "Published org.example.Web 1.0.0",
    ] {
        assert!(
            done.iter().any(|done| done.text.contains(said)),
            "{said}: {}",
            shown(&done)
        );
    }
    let done = published(&machine, &workflow);
    assert!(done.iter().all(|done| done.is_success), "{}", shown(&done));
    assert!(
        shown(&done).contains("already has org.example.Web 1.0.0"),
        "{}",
        shown(&done)
    );

    write(
        &repository.join("packages/web/Classes/Class.yaml"),
        "Name: org.example.Web\nExtends: org.example.Base\nMethods: {}\n",
    );
    let done = published(&machine, &workflow);
    assert!(done.iter().any(|done| !done.is_success), "{}", shown(&done));
}

fn shown(done: &[Done]) -> String {
    let scripts = done
        .iter()
        .map(|done| format!("{}\n{}", done.script, done.text));
    scripts.collect()
}
