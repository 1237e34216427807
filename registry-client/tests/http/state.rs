//! Registries that go back in time, hold something back, or are not who they were.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_registry_client::protocol::{IndexDocument, SigningKey};
use pkgres_registry_client::{Address, HttpRegistry};

use crate::fake::{Fake, Received, Reply, World};
use crate::{assert_says, connect, options, rejection, some, versions};

/// A registry that was read once, and then becomes something else.
fn after(change: impl FnOnce(&mut World)) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut change = Some(change);
    // Whether the documents are still in the cache or not makes no difference.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    world.add("a.A", "1.1.0", &[]);
    let fake = Fake::of(&world);
    versions(&connect(&fake, options(folder.path())), &["a.A"]).expect("it can be read");
    if let Some(change) = change.take() {
        change(&mut world);
    }
    fake.becomes(&world);
    for keeps_cache in [true, false] {
        let mut options = options(folder.path());
        if !keeps_cache {
            options.cache_folder = None;
        }
        let registry = connect(&fake, options);
        findings.extend(
            versions(&registry, &["a.A"])
                .err()
                .map(|error| error.to_diagnostic()),
        );
    }
    findings
}

fn assert_rejected(change: impl FnOnce(&mut World), part: &str) {
    let findings = after(change);
    assert_eq!(findings.len(), 2, "with the cache and without: {part}");
    for finding in findings {
        assert_says(&finding, Code::Untrusted, &["`acme` is not trusted", part]);
    }
}

#[test]
fn a_newer_state_follows_the_trusted_one() {
    assert_eq!(after(|_| {}), []);
    assert_eq!(after(|world| world.add("a.A", "1.2.0", &[])), []);
}

#[test]
fn a_registry_that_goes_back_is_rejected() {
    assert_rejected(
        |world| {
            world
                .packages
                .values_mut()
                .for_each(|records| records.truncate(1));
            world.serial -= 1;
        },
        "went back in time",
    );
}

#[test]
fn a_registry_with_two_faces_is_rejected() {
    assert_rejected(
        |world| {
            world
                .packages
                .values_mut()
                .for_each(|records| records.truncate(1));
        },
        "different states",
    );
}

#[test]
fn an_expired_state_is_rejected() {
    let expired = "2026-05-31T00:00:00Z".parse().expect("a time");
    assert_rejected(|world| world.expires = expired, "expired on 2026-05-31");
}

#[test]
fn another_key_is_rejected() {
    let other = SigningKey::from_bytes(&[8; 32]);
    assert_rejected(
        |world| world.key = Some(other),
        "but the trusted key is ed25519:",
    );
}

#[test]
fn a_missing_signature_is_rejected() {
    assert_rejected(|world| world.key = None, "not signed any more");
}

/// Checks that the first response of a registry is rejected, with this message.
fn assert_untrusted(answer: impl FnMut(&Received) -> Reply + Send + 'static, part: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(answer);
    let finding = rejection(&connect(&fake, options(folder.path())), "a.A");
    assert_says(&finding, Code::Untrusted, &[part]);
}

#[test]
fn a_document_that_does_not_belong_to_the_state_is_rejected() {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let mut older = world.clone();
    world.add("a.A", "1.1.0", &[]);
    older.serial = world.serial;
    // The state is the new one, and the document with its proof the old one.
    let answer = move |request: &Received| {
        if request.path != "/index/v1/batch" {
            return world.answer(request);
        }
        let text = |reply: Reply| String::from_utf8(reply.body).expect("text");
        let (old, new) = (text(older.answer(request)), text(world.answer(request)));
        let document = &old[..old.find(r#"{"status":"complete""#).expect("the end")];
        let end = &new[new.find(r#"{"status":"complete""#).expect("the end")..];
        Reply::new(200, format!("{document}{end}"))
    };
    assert_untrusted(answer, "the document of a.A does not belong");
}

#[test]
fn the_list_of_a_mirror_has_to_belong_to_the_state() {
    let mut world = World::new();
    world.is_mirror = true;
    world.add("a.A", "1.0.0", &[]);
    let mut other = world.clone();
    other.add("a.B", "1.0.0", &[]);
    let answer = move |request: &Received| match request.path.as_str() {
        "/index/v1/names.ndjson" => other.answer(request),
        _ => world.answer(request),
    };
    assert_untrusted(answer, "the list of packages does not belong");
}

#[test]
fn the_key_of_the_settings_is_trusted_from_the_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let fake = Fake::of(&world);
    let with_key = |byte: u8| {
        let mut options = options(folder.path());
        options.state_folder = None;
        options.key = Some(SigningKey::from_bytes(&[byte; 32]).public());
        connect(&fake, options)
    };
    assert!(versions(&with_key(7), &["a.A"]).is_ok());
    let finding = rejection(&with_key(9), "a.A");
    assert_says(
        &finding,
        Code::Untrusted,
        &["but the trusted key is ed25519:"],
    );
    assert!(finding.hints[0].contains("`pkgres cache forget acme`"));
}

#[test]
fn a_package_that_is_held_back_is_missed() {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &["a.Held"]);
    world.add("a.Z", "1.0.0", &[]);
    for (package, missed) in [("a.Held", "a.Held"), ("a.A", "a.Held")] {
        for (proves, is_signed) in [(false, true), (true, true), (false, false)] {
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mut world = world.clone();
            world.proves_absence = proves;
            if !is_signed {
                world.key = None;
            }
            let fake = Fake::of(&world);
            let registry = connect(&fake, options(folder.path()));
            if proves || !is_signed {
                versions(&registry, &[package]).expect("it can be read");
            } else {
                let finding = rejection(&registry, package);
                let reason = format!("it does not prove that its signed state is without {missed}");
                assert_says(
                    &finding,
                    Code::Untrusted,
                    &["`acme` is not trusted", &reason],
                );
            }
        }
    }
}

/// A server that ends and leaves a mirror behind is seen from the cache of before, and trusted no
/// more than it proves.
#[test]
fn a_registry_that_becomes_a_mirror_must_prove_its_packages() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let fake = Fake::of(&world);
    let read = |names: &[&str]| versions(&connect(&fake, options(folder.path())), names);
    assert_eq!(read(&["a.A"]).expect("it is there"), [some(&["1.0.0"])]);
    world.add("a.B", "2.0.0", &[]);
    world.is_mirror = true;
    let unsigned = World {
        key: None,
        ..world.clone()
    };
    fake.becomes(&unsigned);
    let rejected = read(&["a.A", "a.B"])
        .expect_err("nothing is proved")
        .to_diagnostic();
    assert_says(&rejected, Code::Untrusted, &["not signed any more"]);
    fake.becomes(&world);
    let found = read(&["a.A", "a.B", "a.None"]).expect("it is there");
    assert_eq!(found, [some(&["1.0.0"]), some(&["2.0.0"]), None]);
}

#[test]
fn a_mirror_during_an_update_is_read_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut older = World::new();
    older.is_mirror = true;
    older.add("a.A", "1.0.0", &[]);
    let mut world = older.clone();
    world.add("a.B", "1.0.0", &[]);
    let mut is_first = true;
    let fake = Fake::start(move |request| {
        // The list of the state before, once.
        if request.path == "/index/v1/names.ndjson" && std::mem::take(&mut is_first) {
            return older.answer(request);
        }
        world.answer(request)
    });
    let registry = connect(&fake, options(folder.path()));
    let found = versions(&registry, &["a.A", "a.B"]).expect("they are there");
    assert_eq!(found, [some(&["1.0.0"]), some(&["1.0.0"])]);
}

/// A document that was only found to be out of date belongs to no state, whichever server sends the state later.
#[test]
fn a_document_that_was_not_fetched_anew_is_not_taken_for_a_new_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    world.add("a.B", "1.0.0", &[]);
    let fake = Fake::of(&world);
    let on = |days: i64| {
        let mut options = options(folder.path());
        options.now += jiff::SignedDuration::from_hours(24 * days);
        connect(&fake, options)
    };
    assert!(versions(&on(0), &["a.A"]).is_ok());
    // For a while it is a mirror, which gets other requests.
    world.add("a.A", "1.1.0", &[]);
    world.is_mirror = true;
    fake.becomes(&world);
    assert!(versions(&on(0), &["a.B"]).is_ok());
    // The configuration of a registry is requested again after a day.
    world.is_mirror = false;
    fake.becomes(&world);
    let found = versions(&on(2), &["a.A"]).expect("it is there");
    assert_eq!(found, [some(&["1.0.0", "1.1.0"])]);
}

#[test]
fn documents_of_another_serial_than_the_state_are_rejected() {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let answer = move |request: &Received| {
        let reply = world.answer(request);
        if request.path != "/index/v1/batch" {
            return reply;
        }
        let text = String::from_utf8(reply.body).expect("text");
        let (here, there) = (r#""complete","serial":2,"#, r#""complete","serial":3,"#);
        assert!(text.contains(here), "{text}");
        Reply::new(200, text.replace(here, there))
    };
    assert_untrusted(answer, "the documents belong to the serial 3");
}

/// Only cached documents may be reported as unchanged.
#[test]
fn only_a_cached_document_can_be_unchanged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let records = world.packages.values().next().expect("a package");
    let digest = IndexDocument::render(&mut records.clone()).digest;
    let fake = Fake::start(move |request| {
        let mut request = request.clone();
        if request.path == "/index/v1/batch" {
            // As if the client had sent the digest of the document.
            let names = format!(r#"{{"names":{{"a.A":"{digest}"}},"closure":true}}"#);
            request.body = names.into_bytes();
        }
        world.answer(&request)
    });
    let finding = rejection(&connect(&fake, options(folder.path())), "a.A");
    let part = "the document of a.A did not change, which is not in the cache";
    assert_says(&finding, Code::RegistryUnreachable, &[part]);
}

#[test]
fn what_cannot_be_forgotten_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let address = Address::parse("https://packages.example.org").expect("an address");
    let mut options = options(folder.path());
    let forgotten = HttpRegistry::forget(&address, &options);
    assert!(!forgotten.expect("there is nothing"));

    let file = folder.path().join("file");
    #[allow(clippy::disallowed_methods)]
    std::fs::write(&file, "no folder").expect("the file is written");
    options.state_folder = Some(file);
    let error = HttpRegistry::forget(&address, &options).expect_err("a file has no entries");
    assert!(error.to_string().starts_with("cannot remove "), "{error}");
}
