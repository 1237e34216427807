//! How many requests it takes, and what is kept.

use pkgres_files::{FileSystem as _, RealFileSystem, write_file};
use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ClassName, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, Namespace, Registry as _, RegistrySet, drive};
use pkgres_resolver::{Request, Resolver};

use crate::fake::{Fake, Reply, World, name, record};
use crate::{assert_says, connect, options, rejection, some, versions};

/// A registry in which 1,000 packages are required, a thousand deep.
fn deep() -> World {
    let mut world = World::new();
    for number in 0..1000 {
        let next = format!("org.acme.P{}", number + 1);
        let requires: &[&str] = if number < 999 { &[&next] } else { &[] };
        world.add(&format!("org.acme.P{number}"), "1.0.0", requires);
        world.add(&format!("org.acme.P{number}"), "1.1.0", requires);
    }
    world
}

/// Resolves a root that requires one package; says how many packages the answer has.
fn resolve(registries: &RegistrySet, package: &str) -> usize {
    let line = format!(r#"{{"name":"a.Root","version":"1.0.0","require":[["{package}","1"]]}}"#);
    let mut request = Request::new(record(&line));
    request.core = None;
    let mut resolver = Resolver::new(request);
    match drive(&mut resolver, registries, &ReadOptions::default()).expect("it can be read") {
        Answer::Solved(resolution) => resolution.packages().len(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_thousand_packages_take_two_requests_and_then_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = deep();
    let fake = Fake::of(&world);
    let resolve = || {
        let registry = connect(&fake, options(folder.path()));
        let registries = RegistrySet::new(vec![Box::new(registry)]);
        resolve(&registries, "org.acme.P0")
    };
    assert_eq!(resolve(), 1000);
    let cold = fake.take_paths();
    assert_eq!(cold, ["GET /index/config.json", "POST /index/v1/batch"]);
    assert_eq!(resolve(), 1000);
    let since = format!("GET /index/v1/changes?since={}&limit=10000", world.serial);
    assert_eq!(fake.take_paths(), std::slice::from_ref(&since));
    // Something else changed: what is at hand is proved to be right, and does not come again.
    world.add("org.acme.Other", "1.0.0", &[]);
    fake.becomes(&world);
    assert_eq!(resolve(), 1000);
    assert_eq!(
        fake.take_paths(),
        [since, "POST /index/v1/batch".to_owned()]
    );
}

#[test]
fn names_that_the_protocol_does_not_have_are_not_requested() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::of(&World::new());
    let registry = connect(&fake, options(folder.path()));
    let model = PackageName::native("http://acme.example/Pump/").expect("a name");
    let found = registry.records(std::slice::from_ref(&model));
    assert_eq!(found.expect("it is absent"), [None]);
    let class = ClassName::native("http://acme.example/Pump/;i=1").expect("a name");
    assert_eq!(
        registry.defining(&class).expect("nothing defines it"),
        [] as [PackageName; 0]
    );
    let description = registry.description(&model).expect("it is absent");
    assert!(description.is_none());
    assert_eq!(fake.take_paths(), [] as [&str; 0]);
    // Others are looked up all the same.
    let found = registry.records(&[model, name("org.acme.Web")]);
    assert_eq!(found.expect("they are absent"), [None, None]);
    assert_eq!(
        fake.take_paths(),
        ["GET /index/config.json", "POST /index/v1/batch"]
    );
}

#[test]
fn classes_of_a_similar_name_are_found_in_packages_that_were_looked_up() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    let line = r#"{"name":"org.acme.Web","version":"1.0.0","classes":{"org.acme.Site":{}}}"#;
    world
        .packages
        .insert(name("org.acme.Web"), vec![record(line)]);
    let fake = Fake::of(&world);
    let registry = connect(&fake, options(folder.path()));
    assert_eq!(registry.defined_classes(), [] as [ClassName; 0]);
    let found = registry.records(&[name("org.acme.Web"), name("org.acme.None")]);
    assert_eq!(found.expect("it can be read").len(), 2);
    let site = ClassName::parse("org.acme.Site").expect("a name");
    assert_eq!(registry.defined_classes(), [site]);
}

/// Buckets refuse access to files that do not exist, have a page for them, or redirect to one.
#[test]
fn a_mirror_that_hides_what_it_does_not_have_knows_its_classes() {
    let mut world = World::new();
    world.is_mirror = true;
    world.add("a.A", "1.0.0", &[]);
    let line = r#"{"name":"org.acme.Web","version":"1.0.0","classes":{"org.acme.Site":{}}}"#;
    world
        .packages
        .insert(name("org.acme.Web"), vec![record(line)]);
    let page = "<!DOCTYPE html><html></html>";
    let denied = "<Code>AccessDenied</Code>";
    for (status, body) in [(403, denied), (200, page), (302, "")] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let of_world = world.clone();
        let fake = Fake::start(move |request| {
            if request.path.starts_with("/index/v1/classes/") {
                return Reply::new(status, body).with("Location", "/missing");
            }
            if request.path == "/missing" {
                return Reply::new(200, page);
            }
            of_world.answer(request)
        });
        let registry = connect(&fake, options(folder.path()));
        for (class, expected) in [
            ("org.acme.Site", vec![name("org.acme.Web")]),
            ("org.acme.None", vec![]),
        ] {
            let class = ClassName::parse(class).expect("a name");
            let found = registry.defining(&class).expect("the documents say so");
            assert_eq!(found, expected, "{status} {class}");
        }
    }
    // A server says itself what it does not have.
    world.is_mirror = false;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(move |request| {
        if request.path.starts_with("/index/v1/classes/") {
            return Reply::new(403, "");
        }
        world.answer(request)
    });
    let registry = connect(&fake, options(folder.path()));
    let class = ClassName::parse("org.acme.Site").expect("a name");
    registry.defining(&class).expect_err("it is refused");
}

#[test]
fn a_mirror_sends_each_document_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.is_mirror = true;
    world.add("a.A", "1.0.0", &["a.B", "a.C"]);
    world.add("a.B", "1.0.0", &["a.D", "a.None"]);
    world.add("a.C", "1.0.0", &["a.D"]);
    world.add("a.D", "1.0.0", &["a.A"]);
    world.add("a.Unused", "1.0.0", &[]);
    for is_signed in [true, false] {
        if !is_signed {
            world.key = None;
        }
        let fake = Fake::of(&world);
        let read = |names: &[&str]| {
            let registry = connect(&fake, options(folder.path()));
            versions(&registry, names).expect("it can be read")
        };
        let all = ["a.A", "a.B", "a.C", "a.D", "a.None"];
        let one = some(&["1.0.0"]);
        let expected = [one.clone(), one.clone(), one.clone(), one, None];
        assert_eq!(read(&all), expected);
        let mut cold = fake.take_paths();
        cold.sort();
        let mut wanted = vec!["GET /index/config.json", "GET /index/v1/names.ndjson"];
        wanted.extend([
            "GET /index/v1/packages/a.!a.ndjson",
            "GET /index/v1/packages/a.!b.ndjson",
            "GET /index/v1/packages/a.!c.ndjson",
            "GET /index/v1/packages/a.!d.ndjson",
        ]);
        if is_signed {
            wanted.push("GET /index/v1/snapshot.json");
        }
        assert_eq!(cold, wanted);
        assert_eq!(read(&all), expected);
        let refreshed = if is_signed {
            "GET /index/v1/snapshot.json"
        } else {
            "GET /index/v1/names.ndjson"
        };
        assert_eq!(fake.take_paths(), [refreshed]);
    }
}

#[test]
fn truncated_packages_are_requested() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    for package in ["a.A", "a.B", "a.C", "a.D", "a.E"] {
        world.add(package, "1.0.0", &[]);
    }
    world.add(
        "a.All",
        "1.0.0",
        &["a.A", "a.B", "a.C", "a.D", "a.E", "a.None"],
    );
    world.room = 2;
    let fake = Fake::of(&world);
    let registry = connect(&fake, options(folder.path()));
    let one = some(&["1.0.0"]);
    assert_eq!(
        versions(&registry, &["a.All"]).expect("read"),
        std::slice::from_ref(&one)
    );
    let before = registry.requests();
    let all = ["a.A", "a.B", "a.C", "a.D", "a.E", "a.None"];
    let found = versions(&registry, &all).expect("read");
    assert_eq!(found[..5], [(); 5].map(|()| one.clone()));
    assert_eq!(found[5], None);
    assert_eq!(registry.requests(), before, "all of it was fetched at once");
}

/// The answer to some may leave out more packages than were asked for.
#[test]
fn a_registry_may_leave_out_more_than_it_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    for package in ["a.B", "a.C", "a.D"] {
        world.add(package, "1.0.0", &[]);
    }
    world.add("a.A", "1.0.0", &["a.C", "a.D"]);
    world.room = 1;
    let fake = Fake::of(&world);
    let registry = connect(&fake, options(folder.path()));
    let one = some(&["1.0.0"]);
    let found = versions(&registry, &["a.A", "a.B"]).expect("read");
    assert_eq!(found, [one.clone(), one]);
}

#[test]
fn changes_are_noticed() {
    for is_signed in [true, false] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut world = World::new();
        if !is_signed {
            world.key = None;
        }
        world.add("a.A", "1.0.0", &["a.B"]);
        world.add("a.B", "1.0.0", &[]);
        let fake = Fake::of(&world);
        let read = || {
            let registry = connect(&fake, options(folder.path()));
            versions(&registry, &["a.A", "a.B", "a.C"]).expect("it can be read")
        };
        let (one, two) = (some(&["1.0.0"]), some(&["1.0.0", "1.1.0"]));
        assert_eq!(read(), [one.clone(), one.clone(), None]);
        world.add("a.B", "1.1.0", &[]);
        world.add("a.C", "1.0.0", &[]);
        fake.becomes(&world);
        assert_eq!(read(), [one.clone(), two.clone(), one.clone()]);
        fake.take_requests();
        assert_eq!(read(), [one.clone(), two, one]);
        assert_eq!(fake.take_requests().len(), 1);
    }
}

#[test]
fn offline_the_cache_answers_or_names_missing_packages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &["a.B", "a.None"]);
    world.add("a.B", "1.0.0", &[]);
    world.add("a.Other", "1.0.0", &[]);
    let fake = Fake::of(&world);
    let offline = || {
        let mut options = options(folder.path());
        options.offline = true;
        connect(&fake, options)
    };
    let finding = rejection(&offline(), "a.A");
    assert_says(&finding, Code::Offline, &["`acme`", "a.A"]);
    versions(&connect(&fake, options(folder.path())), &["a.A"]).expect("it can be read");
    fake.take_requests();
    let one = some(&["1.0.0"]);
    let found = versions(&offline(), &["a.A", "a.B", "a.None"]).expect("it is in the cache");
    assert_eq!(found, [one.clone(), one, None]);
    let finding = rejection(&offline(), "a.Other");
    assert_says(&finding, Code::Offline, &["a.Other"]);
    assert!(fake.take_requests().is_empty(), "no request was sent");
}

#[test]
fn a_damaged_cache_is_ignored() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let fake = Fake::of(&world);
    let read = || versions(&connect(&fake, options(folder.path())), &["a.A"]).expect("read");
    read();
    let registries = folder.path().join("cache/registries");
    let entry = std::fs::read_dir(registries).expect("it was made").next();
    let path = entry
        .expect("one registry")
        .expect("it can be read")
        .path()
        .join("documents");
    let whole = std::fs::read(&path).expect("it was written");
    for damage in 0..3 {
        let mut bytes = whole.clone();
        match damage {
            0 => bytes.truncate(bytes.len() - 1),
            1 => *bytes.last_mut().expect("not empty") ^= 1,
            _ => bytes.clear(),
        }
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&path, bytes).expect("it is ours");
        assert_eq!(read(), [some(&["1.0.0"])]);
    }
}

#[test]
fn a_bound_name_is_looked_up_in_its_registry_only() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut public = World::new();
    public.add("org.acme.Private", "99.0.0", &[]);
    public.add("org.public.Lib", "1.0.0", &[]);
    let mut private = World::new();
    private.add("org.acme.Private", "1.0.0", &["org.public.Lib"]);
    let (public, private) = (Fake::of(&public), Fake::of(&private));
    let open = |fake: &Fake, text: &str| {
        let address = pkgres_registry_client::Address::parse(&fake.address).expect("an address");
        let registry = RegistryName::parse(text).expect("a name");
        let limits = pkgres_manifest::Limits::default();
        let options = options(folder.path());
        Box::new(pkgres_registry_client::HttpRegistry::new(
            registry, address, &limits, options,
        ))
    };
    // The public registry is preferred, and yet it gets no request.
    let mut registries = RegistrySet::new(vec![open(&public, "public"), open(&private, "private")]);
    let namespace = Namespace::parse("org.acme.*").expect("a namespace");
    registries.bind(namespace, RegistryName::parse("private").expect("a name"));
    assert_eq!(resolve(&registries, "org.acme.Private"), 2);
    for asked in public.take_requests() {
        let body = String::from_utf8(asked.body).expect("text");
        assert!(
            !body.contains("Private") && !asked.path.contains("private"),
            "{body}"
        );
    }
    assert_eq!(
        registries
            .supply(&[name("org.acme.None")])
            .expect("read")
            .len(),
        1
    );
    assert!(public.take_requests().is_empty());
}

#[test]
fn artifacts_are_fetched_once_and_checked() {
    use pkgres_registry_client::protocol::Digest;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    let (digest, other) = (Digest::of(b"artifact"), Digest::of(b"other"));
    world.blobs.insert(digest, b"artifact".to_vec());
    world.blobs.insert(other, b"not it".to_vec());
    let fake = Fake::of(&world);
    let registry = || connect(&fake, options(folder.path()));
    let found = registry().artifact_bytes(&digest).expect("it is there");
    assert_eq!(found.as_deref(), Some(&b"artifact"[..]));
    fake.take_requests();
    registry()
        .artifact_bytes(&digest)
        .expect("it is in the cache");
    assert!(fake.take_requests().is_empty());
    let none = registry()
        .artifact_bytes(&Digest::of(b"none"))
        .expect("it answers");
    assert_eq!(none, None);
    let error = registry()
        .artifact_bytes(&other)
        .expect_err("it is another");
    assert_says(
        &error.to_diagnostic(),
        Code::Digest,
        &["tried 3 times", "/blobs/sha256/"],
    );
    let error = registry()
        .artifact(&pkgres_manifest::ArtifactDigest::Archive(digest.0))
        .expect_err("it is no archive");
    assert_eq!(error.to_diagnostic().code, Code::Archive);
}

/// Prepared indexes are read from the cache, looked up by name where names are bound,
/// or made anew where the cache is damaged.
#[test]
fn a_prepared_index_answers_as_lookups_by_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    for number in 0..40 {
        let name = |number| format!("org.acme.P{number}");
        let (one, two) = (name(2 * number + 1), name(2 * number + 2));
        let requires = [one.as_str(), two.as_str()];
        let requires = if number < 19 { &requires[..] } else { &[] };
        world.add(&name(number), "1.0.0", requires);
        world.add(&name(number), "1.1.0", requires);
    }
    let fake = Fake::of(&world);
    let answer = |is_bound: bool, offline: bool| {
        let mut options = options(folder.path());
        options.threads = std::num::NonZeroUsize::new(3).expect("not zero");
        options.offline = offline;
        let registry = connect(&fake, options);
        let mut registries = RegistrySet::new(vec![Box::new(registry)]);
        if is_bound {
            let acme = RegistryName::parse("acme").expect("a name");
            let all = Namespace::parse("org.acme.*").expect("a namespace");
            registries.bind(all, acme);
        }
        let line = r#"{"name":"a.Root","version":"1.0.0","require":[["org.acme.P0","1"]]}"#;
        let mut request = Request::new(record(line));
        request.core = None;
        let mut resolver = Resolver::new(request);
        let answer = drive(&mut resolver, &registries, &ReadOptions::default());
        let Ok(Answer::Solved(resolution)) = answer else {
            panic!("{answer:?}");
        };
        resolution
    };
    let by_name = answer(true, false);
    assert_eq!(by_name.packages().len(), 39);
    let cache = folder.path().join("cache").join("registries");
    let cache = std::fs::read_dir(cache).expect("a folder").next();
    let cache = cache.expect("one registry").expect("a folder").path();
    let prepared = || {
        let entries = std::fs::read_dir(&cache).expect("a folder");
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths
            .filter(|path| path.to_string_lossy().contains("prepared-"))
            .collect::<Vec<_>>()
    };
    assert!(
        prepared().is_empty(),
        "packages looked up by name are not stored"
    );
    assert_eq!(answer(false, false), by_name);
    let kept = prepared();
    assert_eq!(kept.len(), 1);
    let whole = std::fs::read(&kept[0]).expect("it can be read");
    fake.take_paths();
    assert_eq!(answer(false, false), by_name);
    assert_eq!(answer(false, true), by_name, "offline");
    assert_eq!(fake.take_paths().len(), 1);
    // Damage anywhere costs time and nothing else.
    write_file(&RealFileSystem, &kept[0], &whole[..whole.len() / 2]).expect("it can be written");
    assert_eq!(answer(false, false), by_name);
    assert!(std::fs::read(&kept[0]).is_ok_and(|bytes| bytes == whole));
    RealFileSystem.remove(&kept[0]).expect("it can be removed");
    let documents = cache.join("documents");
    let mut bytes = std::fs::read(&documents).expect("it can be read");
    let last = bytes.len() - 9;
    bytes[last] ^= 1;
    write_file(&RealFileSystem, &documents, &bytes).expect("it can be written");
    fake.take_paths();
    assert_eq!(answer(false, false), by_name);
    let asked = fake.take_paths();
    assert_eq!(
        asked.len(),
        2,
        "a damaged document is requested again: {asked:?}"
    );
    assert_eq!(asked[1], "POST /index/v1/batch");
    assert!(std::fs::read(&kept[0]).is_ok_and(|bytes| bytes == whole));
}

/// A request has at most six words.
#[test]
fn all_words_of_a_long_search_count() {
    let world = World::new();
    let fake = Fake::start(move |request| {
        let Some(query) = request.path.strip_prefix("/v1/packages?q=") else {
            return world.answer(request);
        };
        let query = query.split('&').next().unwrap_or_default();
        let words: Vec<&str> = query.split('+').collect();
        assert!(words.len() <= 6, "{query}");
        // One of the packages lacks the last word.
        let names = if words.contains(&"seven") {
            vec!["a.A", "a.C"]
        } else {
            vec!["a.A", "a.B"]
        };
        let packages: Vec<_> = names
            .into_iter()
            .map(|name| serde_json::json!({"name": name, "title": "", "description": ""}))
            .collect();
        let page = serde_json::json!({"packages": packages});
        Reply::new(200, page.to_string())
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registry = connect(&fake, options(folder.path()));
    let words = ["one", "two", "three", "four", "five", "six", "seven"].map(str::to_owned);
    let found = registry.search(&words, 10).expect("an answer");
    let names: Vec<&str> = found.iter().map(|found| found.name.as_str()).collect();
    assert_eq!(names, ["a.A"]);
}
