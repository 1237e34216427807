//! Random deployments with every kind of resource that the program has, on a real Debian system: the first run brings
//! everything into order, and the second one changes nothing, neither by its own report nor in any file.
//!
//! The kinds of the engine have a test of their own in its folder `tests/kinds`, with more of what each of them can do.
//! `SEEDS=100 cargo test --test cli every_kind` runs more deployments.

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_tests::debian::{DebianSystem, REPOSITORY, UNSUPERVISED_WEB};
use pkgres_tests::random::Random;
use pkgres_tests::seeds;

use crate::kept_collections::{lock_site, registry};
use crate::watched::{pkgres, write};

/// The kinds, and whether there can be several resources of it here.
const KINDS: [(&str, bool); 11] = [
    ("artifact", false),
    ("collections", true),
    ("directory", true),
    ("exec", true),
    ("file", true),
    ("group", true),
    ("link", true),
    ("package", false),
    ("query", true),
    ("service", false),
    ("user", true),
];

/// The most resources of a random deployment; a `query` comes with a file that has its answer.
const MOST_RESOURCES: usize = 12;

/// The deployments of each run of the tests.
const DEPLOYMENTS: u64 = 4;

/// A resources file as it is written.
#[derive(Default)]
struct Resources {
    text: String,
    ids: Vec<String>,
}

impl Resources {
    /// A random one: `first` come first, in this order.
    fn random(random: &mut Random, first: &[&'static str]) -> Self {
        let mut resources = Self {
            text: "Package:\n".to_owned(),
            ids: Vec::new(),
        };
        let count = random.between(4, MOST_RESOURCES).max(first.len());
        let mut single = BTreeSet::new();
        for number in 0..count {
            let random_kind = || *random.pick(&KINDS);
            let given = first.get(number);
            let given = given.and_then(|given| KINDS.iter().find(|(kind, _)| kind == given));
            let (kind, has_several) = given.copied().unwrap_or_else(random_kind);
            if has_several || single.insert(kind) {
                resources.add(random, kind, number);
            }
        }
        resources
    }

    fn add(&mut self, random: &mut Random, kind: &str, number: usize) {
        let path = format!("/r{number}");
        let (name, properties) = match kind {
            "artifact" => ("org.example.Site".to_owned(), String::new()),
            "collections" => (
                format!("/usr/share/c{number}"),
                "lockfile: ansible/pkgres.lock".to_owned(),
            ),
            "directory" => (
                path,
                random.pick(&["mode: 0750", "state: absent"]).to_string(),
            ),
            "exec" => {
                let guard = match random.below(3) {
                    0 => format!("creates: {path}"),
                    1 => format!("unless: [test, -e, {path}]"),
                    _ => format!("only_if: [sh, -c, '! test -e {path}']"),
                };
                (
                    format!("make-{number}"),
                    format!("command: [touch, {path}]\n  {guard}"),
                )
            }
            "file" => {
                let properties = [
                    "content: \"of ${package.name}\"\n  mode: 0640",
                    "source: ansible/requirements.yml",
                    "copy_of: /etc/debian_version",
                    "state: absent",
                ];
                (path, random.pick(&properties).to_string())
            }
            "group" => {
                let properties = [
                    format!("number: {}", 3_000 + number),
                    "state: absent".to_owned(),
                ];
                (format!("g{number}"), random.pick(&properties).clone())
            }
            "link" => (path, format!("target: ${{package.files}}/to-{number}")),
            "package" => {
                let properties = ["version: '1.0'", "version: '2.0'", "state: absent"];
                ("sample".to_owned(), random.pick(&properties).to_string())
            }
            "query" => (
                format!("ask-{number}"),
                "command: [cat, /etc/debian_version]".to_owned(),
            ),
            "service" => {
                let properties = ["enabled: true", "enabled: false", "state: stopped"];
                ("web".to_owned(), random.pick(&properties).to_string())
            }
            "user" => {
                let properties = [
                    "system: true\n  groups: [adm]",
                    "comment: \"a #b\"\n  shell: /bin/sh",
                    "state: absent",
                ];
                (format!("u{number}"), random.pick(&properties).to_string())
            }
            other => panic!("there is no resource of the kind {other}"),
        };
        // Whatever names the files of the package comes after the artifact.
        let after: BTreeSet<String> = (0..random.below(3))
            .filter(|_| !self.ids.is_empty() && kind != "artifact")
            .map(|_| format!("'{}'", random.pick(&self.ids)))
            .collect();
        let after: Vec<String> = after.into_iter().collect();
        let id = format!("{kind}:{name}");
        self.text += &format!("- {kind}: {name}\n");
        if !properties.is_empty() {
            self.text += &format!("  {properties}\n");
        }
        if !after.is_empty() {
            self.text += &format!("  after: [{}]\n", after.join(", "));
        }
        if kind == "query" {
            self.text +=
                &format!("- file: /answer-{number}\n  receives: {{content: {{'{id}': stdout}}}}\n");
        }
        self.ids.push(id);
    }
}

/// The kinds that the program lists if it does not know one.
fn known_kinds() -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(
        &folder.path().join("manifest.yaml"),
        "FullName: org.example.Site\nType: Application\nResources: r.yaml\n",
    );
    write(
        &folder.path().join("r.yaml"),
        "Package:\n- nothing-like-that: a\n",
    );
    let output = pkgres(folder.path()).args(["check", "."]).output();
    let stderr = output.expect("the program starts").stderr;
    let stderr = String::from_utf8(stderr).expect("the output is text");
    let (_, kinds) = stderr
        .split_once("hint: the kinds are ")
        .unwrap_or_else(|| panic!("no kinds are listed: {stderr}"));
    let kinds = kinds.lines().next().unwrap_or_default().split(", ");
    kinds
        .map(|kind| kind.trim_matches('`').to_owned())
        .collect()
}

#[test]
fn every_kind_is_tested_and_documented() {
    let tested: BTreeSet<String> = KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect();
    assert_eq!(tested, known_kinds());
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (page, around) in [
        ("resources.md", ["\n## `", "`\n"]),
        ("deployment.md", ["\n| `", "`"]),
    ] {
        let text = std::fs::read_to_string(docs.join(page)).expect("the page is there");
        for kind in &tested {
            let mention = format!("{}{kind}{}", around[0], around[1]);
            // Kinds with the same properties share a row.
            let shared = format!("`, `{kind}`");
            let is_there = text.contains(&mention) || text.contains(&shared);
            assert!(is_there, "{page} does not describe `{kind}`");
        }
    }
}

/// Applies a package to a system.
fn apply(system: &DebianSystem, folder: &Path, more: &[&str]) -> (Option<i32>, String) {
    // The program is started beside the system, and sees it.
    let program = pkgres(folder);
    let mut command = system.command(program.get_program());
    for (name, value) in program.get_envs() {
        // The state is where it usually is.
        if name != "PKGRES_STATE" {
            command.env(name, value.unwrap_or_default());
        }
    }
    let output = command
        .arg("apply")
        .arg(folder.join("site"))
        .arg("--target")
        .arg(format!("rootfs:{}", system.root().display()))
        .args(["--registry", &registry()])
        .args(more)
        .output()
        .expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code(),
        String::from_utf8(text).expect("the output is text"),
    )
}

/// A line for each file of a system that says when it was changed last. Each run writes its own state.
fn files(system: &DebianSystem) -> Vec<String> {
    let list =
        "find / -xdev -path /var/lib/pkgres/state -prune -o -printf '%p %y %m %U %G %s %C@ %l\\n'";
    system.shell(list).lines().map(str::to_owned).collect()
}

/// Applies a package twice to a new system.
fn apply_twice(resources: &Resources, about: &str) {
    let Some(system) = DebianSystem::start() else {
        return;
    };
    system.shell(REPOSITORY);
    system.shell(UNSUPERVISED_WEB);
    let folder = tempfile::tempdir().expect("a temporary folder");
    lock_site(folder.path(), &resources.text);
    let text = &resources.text;
    let (code, said) = apply(&system, folder.path(), &[]);
    assert_eq!(code, Some(0), "{about}: {said}\n{text}");
    let once = files(&system);
    let (code, said) = apply(&system, folder.path(), &[]);
    assert_eq!(code, Some(0), "{about}: {said}\n{text}");
    assert!(
        said.ends_with("is up to date: 0 changes made\n"),
        "{about}: {said}\n{text}"
    );
    let twice = files(&system);
    let differing: Vec<_> = twice.iter().filter(|line| !once.contains(line)).collect();
    assert!(once == twice, "{about}: {differing:?}\n{text}");
}

#[test]
fn a_second_run_of_a_random_deployment_changes_nothing() {
    for seed in 0..seeds::count(DEPLOYMENTS) {
        let mut random = Random::new(seed);
        // The first one has all kinds.
        let mut first: Vec<&str> = Vec::new();
        if seed == 0 {
            first.extend(KINDS.map(|(kind, _)| kind));
            random.shuffle(&mut first);
        }
        apply_twice(
            &Resources::random(&mut random, &first),
            &format!("seed {seed}"),
        );
    }
}
