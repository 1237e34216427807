//! Servers with the Galaxy API.

mod artifacts;
mod credentials;
mod server;

use std::ops::ControlFlow;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    ArtifactDigest, IndexRecord, Lockfile, PackageName, ReadOptions, RegistryName, Version,
};
use pkgres_registry_client::http::{HttpOptions, Secret, TokenExchange};
use pkgres_registry_client::{
    Address, Answer, Artifact, GalaxyRegistry, Registry as _, RegistrySet, WantedArtifact,
    check_lock, solve,
};
use pkgres_resolver::{ClassRules, LockCheck, PrereleasePolicy, Request};
use serde_json::json;

use crate::fake::{Fake, Received, Reply};
use crate::{assert_says, options};
use server::{Galaxy, artifact};

const TCP: (&str, &str) = ("plugins/module_utils/tcp.py", "def connect(): pass\n");
const PAGE: (&str, &str) = (
    "plugins/action/page.py",
    "from ansible_collections.acme.net.plugins.module_utils.tcp import connect\n",
);

/// A server whose newest `acme.net` lacks what `acme.web` imports.
fn world() -> Galaxy {
    let mut galaxy = Galaxy::new();
    galaxy.add("acme.web", "3.0.0", &[("acme.net", ">=1.0.0")], &[PAGE]);
    for minor in 0..5 {
        galaxy.add("acme.net", &format!("1.{minor}.0"), &[], &[TCP]);
    }
    for minor in 0..3 {
        galaxy.add(
            "acme.net",
            &format!("2.{minor}.0"),
            &[],
            &[("plugins/x.py", "")],
        );
    }
    galaxy
}

fn collection(text: &str) -> PackageName {
    PackageName::native(text).expect("a name")
}

fn connect(fake: &Fake, options: HttpOptions) -> GalaxyRegistry {
    let address = Address::parse(&fake.address).expect("an address");
    let name = RegistryName::parse("hub").expect("a name");
    GalaxyRegistry::new(name, address, &ReadOptions::default(), options)
}

fn versions(registry: &GalaxyRegistry, name: &str) -> Result<Option<Vec<String>>, Diagnostic> {
    let records = registry.records(&[collection(name)]);
    let mut records = records.map_err(|error| error.to_diagnostic())?;
    Ok(records.remove(0).map(|records| {
        let versions = records.iter().map(|record| record.version.to_string());
        versions.collect()
    }))
}

/// Reads a collection from a server with a function of its own.
fn read_through(
    answer: impl FnMut(&Received) -> Reply + Send + 'static,
    name: &str,
) -> (Result<Option<Vec<String>>, Diagnostic>, Vec<Diagnostic>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(answer);
    let registry = connect(&fake, options(folder.path()));
    let found = versions(&registry, name);
    (found, registry.take_findings())
}

/// A request for `acme.web`, as a `requirements.yml` makes it.
fn request() -> Request {
    let line = r#"{"name":"requirements.yml","version":"0.0.0"}"#;
    let root = IndexRecord::parse_line(line, &pkgres_manifest::Limits::default()).expect(line);
    let any = pkgres_formats::ansible::ECOSYSTEM
        .spec("*")
        .expect("a range");
    let mut request = Request::new(root.with_requirement(collection("acme.web"), any));
    request.core = None;
    request.options.classes = ClassRules::Definition;
    request.options.single_version = true;
    request.options.prerelease = PrereleasePolicy::IfNamed;
    request.options.host_package_of_unknown_version = Some(collection_core());
    request
}

fn collection_core() -> PackageName {
    PackageName::native("ansible-core").expect("a name")
}

/// Solves; the packages of the answer with their versions.
fn solved(request: Request, registry: GalaxyRegistry) -> (Vec<String>, Option<Lockfile>) {
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    match solve(request, &registries, &ReadOptions::default()).expect("the server answers") {
        Answer::Solved(resolution) => {
            let packages = resolution.packages().iter();
            let packages = packages.map(|one| format!("{} {}", one.name, one.version));
            (packages.collect(), resolution.to_lockfile().ok())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn releases_are_listed_over_all_pages() {
    let mut galaxy = world();
    galaxy.page = 3;
    let (found, findings) = read_through(galaxy.answers(), "acme.net");
    let found = found.expect("the server answers").expect("it is there");
    assert_eq!(found.len(), 8);
    assert_eq!(found.last().map(String::as_str), Some("2.2.0"));
    assert!(findings.is_empty(), "{findings:?}");
    let (found, _) = read_through(world().answers(), "acme.gone");
    assert_eq!(found, Ok(None));
}

/// Documents may be compressed on the way. Some servers say the same of artifacts, which are gzip files themselves.
#[test]
fn documents_are_decompressed_and_artifacts_are_not() {
    use std::io::Write as _;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let galaxy = world();
    let mut answer = galaxy.answers();
    let fake = Fake::start(move |request| {
        let mut reply = answer(request);
        let accepted = request.headers.get("accept-encoding").map(String::as_str);
        if reply.status == 200 && accepted == Some("gzip") {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder
                .write_all(&reply.body)
                .expect("memory can be written");
            reply.body = encoder.finish().expect("memory can be written");
        }
        reply.with("Content-Encoding", "gzip")
    });
    let (packages, _) = solved(request(), connect(&fake, options(folder.path())));
    assert_eq!(packages, ["acme.net 1.4.0", "acme.web 3.0.0"]);
}

#[test]
fn modules_decide_and_only_what_may_be_chosen_is_downloaded() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(world().answers());
    let (packages, lock) = solved(request(), connect(&fake, options(folder.path())));
    assert_eq!(packages, ["acme.net 1.4.0", "acme.web 3.0.0"]);
    let paths = fake.take_paths();
    let downloads = |paths: &[String]| -> Vec<String> {
        let downloads = paths
            .iter()
            .filter_map(|path| path.split("/download/").nth(1));
        downloads.map(str::to_owned).collect()
    };
    // 2.2.0 first, then two more, then up to four: 1.4.0 is enough, three are read ahead.
    assert_eq!(downloads(&paths).len(), 8, "{paths:?}");

    // The next run knows all of it, whichever answer it is asked for.
    let (again, _) = solved(request(), connect(&fake, options(folder.path())));
    assert_eq!(again, packages);
    assert_eq!(
        fake.take_paths(),
        [
            "GET /",
            "GET /api/",
            "GET /api/v3/collections/acme/web/",
            "GET /api/v3/collections/acme/net/"
        ]
    );
    let mut offline = options(folder.path());
    offline.offline = true;
    assert_eq!(solved(request(), connect(&fake, offline)).0, packages);
    assert!(fake.take_paths().is_empty());

    // The lock is right, and a lock with the newest version is not.
    let lock = lock.expect("it can be locked");
    let check = |lock: Lockfile, classes: ClassRules| {
        let registry = connect(&fake, options(folder.path()));
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        let mut request = request();
        request.options.classes = classes;
        let report = check_lock(
            LockCheck::new(request, lock),
            &registries,
            &ReadOptions::default(),
        );
        report.expect("the server answers").stale.len()
    };
    assert_eq!(check(lock.clone(), ClassRules::Definition), 0);

    let mut unchecked = request();
    unchecked.options.classes = ClassRules::Ignored;
    let other = tempfile::tempdir().expect("a temporary folder");
    fake.take_paths();
    let (newest, wrong) = solved(unchecked, connect(&fake, options(other.path())));
    assert_eq!(newest, ["acme.net 2.2.0", "acme.web 3.0.0"]);
    assert!(downloads(&fake.take_paths()).is_empty());
    let wrong = wrong.expect("it can be locked");
    assert_eq!(check(wrong.clone(), ClassRules::Ignored), 0);
    assert_eq!(check(wrong, ClassRules::Definition), 1);
}

#[test]
fn what_is_impossible_is_a_conflict() {
    let mut galaxy = Galaxy::new();
    galaxy.add("acme.web", "3.0.0", &[("acme.net", ">=2.0.0")], &[PAGE]);
    galaxy.add("acme.net", "1.0.0", &[], &[TCP]);
    galaxy.add("acme.net", "2.0.0", &[], &[]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(galaxy.answers());
    let registry = connect(&fake, options(folder.path()));
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let answer = solve(request(), &registries, &ReadOptions::default());
    let Answer::Conflict(conflict) = answer.expect("the server answers") else {
        panic!("there is no solution");
    };
    let reasons: Vec<&str> = conflict
        .reasons
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert!(reasons.join("\n").contains("tcp"), "{reasons:?}");
}

/// Otherwise, hints would say that `--prerelease allow` helps.
#[test]
fn a_prerelease_without_the_module_is_no_part_of_a_conflict() {
    let mut galaxy = Galaxy::new();
    galaxy.add("acme.web", "3.0.0", &[("acme.net", ">=2.0.0")], &[PAGE]);
    galaxy.add("acme.net", "1.0.0", &[], &[TCP]);
    galaxy.add("acme.net", "2.0.0", &[], &[]);
    galaxy.add("acme.net", "2.1.0-beta.1", &[], &[]);
    let conflict_of = |galaxy: &Galaxy| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fake = Fake::start(galaxy.clone().answers());
        let registry = connect(&fake, options(folder.path()));
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        let answer = solve(request(), &registries, &ReadOptions::default());
        let Answer::Conflict(conflict) = answer.expect("the server answers") else {
            panic!("there is no solution");
        };
        format!("{:?} {:?}", conflict.reasons, conflict.hints)
    };
    let conflict = conflict_of(&galaxy);
    assert!(!conflict.contains("--prerelease"), "{conflict}");
    assert!(!conflict.contains("UnnamedPrerelease"), "{conflict}");
    galaxy.add("acme.net", "2.1.0-beta.2", &[], &[TCP]);
    let conflict = conflict_of(&galaxy);
    let hint = "`--prerelease allow` lets acme.net 2.1.0-beta.2 in";
    assert!(conflict.contains(hint), "{conflict}");
}

/// Only hints of a conflict depend on prereleases that nothing names.
#[test]
fn a_prerelease_that_cannot_be_read_does_not_hide_a_conflict() {
    let mut galaxy = Galaxy::new();
    galaxy.add("acme.web", "3.0.0", &[("acme.net", ">=2.0.0")], &[PAGE]);
    galaxy.add("acme.net", "1.0.0", &[], &[TCP]);
    galaxy.add("acme.net", "2.0.0", &[], &[]);
    galaxy.add("acme.net", "2.1.0-beta.1", &[], &[TCP]);
    let mut answer = galaxy.answers();
    let fake = Fake::start(move |request| {
        if request.path.ends_with("acme-net-2.1.0-beta.1.tar.gz") {
            return Reply::new(403, "no");
        }
        answer(request)
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = connect(&fake, options(folder.path()));
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let answer = solve(request(), &registries, &ReadOptions::default());
    assert!(matches!(answer, Ok(Answer::Conflict(_))), "{answer:?}");
    let paths = fake.take_paths();
    let is_asked = paths.iter().any(|path| path.ends_with("beta.1.tar.gz"));
    assert!(is_asked, "{paths:?}");
}

#[test]
fn a_collection_that_changed_is_read_again_and_known_releases_are_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut galaxy = world();
    let fake = Fake::start(galaxy.clone().answers());
    let read = || {
        let registry = connect(&fake, options(folder.path()));
        let found = versions(&registry, "acme.net").expect("the server answers");
        (found.expect("it is there").len(), fake.take_paths())
    };
    assert_eq!(read().0, 8);
    galaxy.add("acme.net", "2.3.0", &[], &[]);
    // The server says that nothing changed.
    fake.answer(galaxy.clone().answers());
    assert_eq!(read().0, 8);
    galaxy.updated_at = "2026-05-02T00:00:00Z".to_owned();
    fake.answer(galaxy.answers());
    let (count, paths) = read();
    assert_eq!(count, 9);
    assert_eq!(paths.len(), 5, "{paths:?}");
    assert_eq!(paths[4], "GET /api/v3/collections/acme/net/versions/2.3.0/");
}

#[test]
fn a_faulty_release_is_left_out_with_a_warning() {
    let mut galaxy = world();
    let bytes = artifact("acme.net", "3.0.0", &json!({}), &[TCP]);
    galaxy.add_artifact(
        "acme.net",
        "3.0.0",
        &json!({"acme.x": "1.x"}),
        bytes.clone(),
    );
    galaxy.add_artifact("acme.net", "3.1", &json!({}), bytes);
    galaxy.add_artifact("acme.net", "../x", &json!({}), Vec::new());
    let (found, findings) = read_through(galaxy.answers(), "acme.net");
    assert_eq!(
        found
            .expect("the server answers")
            .expect("it is there")
            .len(),
        8
    );
    let findings: Vec<String> = findings.iter().map(|one| one.message.clone()).collect();
    assert_eq!(findings.len(), 3, "{findings:?}");
    for (finding, expected) in findings
        .iter()
        .zip(["acme.net 3.0.0", "acme.net 3.1", "../x"])
    {
        assert!(finding.contains(expected), "{finding}");
        assert!(finding.contains("`hub`"), "{finding}");
    }
}

#[test]
fn a_broken_artifact_is_left_out_and_another_release_is_chosen() {
    for broken in [
        b"no archive".to_vec(),
        artifact("acme.net", "9.9.9", &json!({}), &[TCP]),
        artifact("acme.evil", "2.3.0", &json!({}), &[TCP]),
    ] {
        let mut galaxy = world();
        galaxy.add_artifact("acme.net", "2.3.0", &json!({}), broken);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fake = Fake::start(galaxy.answers());
        let registries = RegistrySet::new(vec![Box::new(connect(&fake, options(folder.path())))]);
        let answer = solve(request(), &registries, &ReadOptions::default());
        let Answer::Solved(resolution) = answer.expect("the server answers") else {
            panic!("there is another release");
        };
        assert_eq!(resolution.packages()[0].version, Version::new(1, 4, 0));
        let findings = registries.take_findings();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_says(
            &findings[0],
            Code::BrokenPackage,
            &["acme.net 2.3.0", "is ignored"],
        );
    }
}

#[test]
fn a_collection_whose_releases_are_all_ignored_is_not_called_unknown() {
    let mut galaxy = Galaxy::new();
    galaxy.add_artifact("acme.net", "1.0.0", &json!({"acme.x": "1.x"}), Vec::new());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(galaxy.answers());
    let registry = connect(&fake, options(folder.path()));
    assert_eq!(versions(&registry, "acme.net"), Ok(Some(Vec::new())));
    let sentences = registry.unreadable(&collection("acme.net"));
    assert_eq!(sentences.len(), 1);
    assert!(sentences[0].ends_with("has `acme.net`, but its only release is ignored: see above"));
    assert_eq!(registry.unreadable(&collection("acme.none")), [""; 0]);
}

#[test]
fn a_server_that_states_other_requirements_than_the_artifact_is_reported() {
    let mut galaxy = world();
    let bytes = artifact("acme.net", "2.3.0", &json!({"acme.any": "<2"}), &[TCP]);
    galaxy.add_artifact("acme.net", "2.3.0", &json!({"acme.any": "*"}), bytes);
    galaxy.add("acme.any", "1.0.0", &[], &[]);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(galaxy.answers());
    let registries = RegistrySet::new(vec![Box::new(connect(&fake, options(folder.path())))]);
    let answer = solve(request(), &registries, &ReadOptions::default());
    assert!(matches!(answer, Ok(Answer::Solved(_))));
    let findings = registries.take_findings();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_says(
        &findings[0],
        Code::Digest,
        &["acme.net 2.3.0 requires acme.any *, and its artifact requires acme.any <2"],
    );
}

/// Changes the answer for a path.
fn with(path: &'static str, body: &'static str) -> impl FnMut(&Received) -> Reply + Send + 'static {
    let galaxy = world();
    move |request| {
        if request.path.starts_with(path) {
            Reply::new(200, body)
        } else {
            galaxy.answer(request)
        }
    }
}

#[test]
fn hostile_answers_are_errors_that_name_the_server() {
    const LIST: &str = "/api/v3/collections/acme/net/versions/?";
    for (path, body, expected) in [
        (LIST, "[]", "list of versions"),
        (LIST, "{}", "neither `data` nor `results`"),
        (LIST, "<html>", "the answer is a web page"),
        (LIST, "<list>", "list of versions"),
        (
            LIST,
            r#"{"data":[],"links":{"next":"/api/v3/collections/acme/net/versions/?limit=100"}}"#,
            "form a cycle",
        ),
        (
            LIST,
            r#"{"data":[],"links":{"next":"https://evil.example/x"}}"#,
            "on another server: https://evil.example/x",
        ),
        (
            LIST,
            r#"{"data":[],"links":{"next":"https://["}}"#,
            "no address",
        ),
        ("/api/v3/collections/acme/net/", "[1]", "the collection"),
        (
            "/api/",
            r#"{"available_versions":{"v3":"https://evil.example/v3/"}}"#,
            "on another server",
        ),
        (
            "/api/",
            r#"{"available_versions":{"v2":"v2/"}}"#,
            "only `v2`",
        ),
        (
            "/api/",
            r#"{"available_versions":["v3"]}"#,
            "versions of its API",
        ),
        ("/api/", "{}", "is this the address of a Galaxy server"),
    ] {
        let (found, _) = read_through(with(path, body), "acme.net");
        let finding = found.expect_err(body);
        let parts = ["`hub`", "127.0.0.1", expected];
        assert_says(&finding, Code::RegistryUnreachable, &parts);
    }
    let (found, _) = read_through(|_| Reply::new(404, ""), "acme.net");
    let finding = found.expect_err("it is no server");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["is this the address"],
    );
}

#[test]
fn huge_answers_and_endless_pages_are_errors() {
    let huge = with("/api/v3/collections/acme/net/", " ");
    let mut huge = huge;
    let (found, _) = read_through(
        move |request| {
            let mut reply = huge(request);
            if reply.body == b" " {
                reply.body = vec![b' '; 5 << 20];
            }
            reply
        },
        "acme.net",
    );
    let finding = found.expect_err("it is huge");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["more than the limit of 4194304 bytes"],
    );

    let galaxy = world();
    let mut page = 0;
    let (found, _) = read_through(
        move |request| {
            if request.path.contains("/versions/?") {
                page += 1;
                let next = format!("/api/v3/collections/acme/net/versions/?page={page}");
                return Reply::new(
                    200,
                    json!({"data": [], "links": {"next": next}}).to_string(),
                );
            }
            galaxy.answer(request)
        },
        "acme.net",
    );
    let finding = found.expect_err("it never ends");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["more than 1000 pages"],
    );
}

#[test]
fn a_busy_server_is_asked_again_and_a_dead_one_is_no_absent_collection() {
    for status in [429, 502, 520] {
        let (galaxy, mut left) = (world(), 2);
        let (found, _) = read_through(
            move |request| {
                if request.path.ends_with("/acme/net/") && left > 0 {
                    left -= 1;
                    return Reply::new(status, "busy");
                }
                galaxy.answer(request)
            },
            "acme.net",
        );
        assert_eq!(found.expect("it answers").expect("it is there").len(), 8);
    }
    let galaxy = world();
    let (found, _) = read_through(
        move |request| {
            if request.path.ends_with("/versions/1.2.0/") {
                Reply::new(503, "dead")
            } else {
                galaxy.answer(request)
            }
        },
        "acme.net",
    );
    let finding = found.expect_err("it does not answer");
    assert_says(
        &finding,
        Code::RegistryUnreachable,
        &["503", "(tried 3 times)"],
    );
}
