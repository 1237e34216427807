//! Programs that run for long: a reading sees one state of a registry, and the next one what changed since.

use std::time::SystemTime;

use pkgres_manifest::diagnostic::Code;
use pkgres_registry_client::{Registry, RegistrySet};
use pkgres_resolver::Supply;

use crate::fake::{Fake, World, name};
use crate::{NOW, assert_says, connect, options, rejection, some, versions};

/// Some hours after the time of all tests.
fn later(hours: i64) -> SystemTime {
    let now: jiff::Timestamp = NOW.parse().expect("a time");
    (now + jiff::SignedDuration::from_hours(hours)).into()
}

fn reread(registry: &dyn Registry, at: SystemTime) -> Box<dyn Registry> {
    let reread = registry.reread(at).expect("no request is sent");
    reread.expect("a registry on the network may have changed")
}

/// The numbers of versions of packages in a set.
fn supplied(registries: &RegistrySet, names: &[&str]) -> Vec<Option<usize>> {
    let names: Vec<_> = names.iter().map(|text| name(text)).collect();
    let supplies = registries.supply(&names).expect("it can be read");
    let count = |supply| match supply {
        Supply::Releases { records, .. } => Some(records.len()),
        Supply::Unknown => None,
    };
    supplies.into_iter().map(count).collect()
}

#[test]
fn the_next_reading_has_new_releases_and_requests_only_these() {
    for (is_mirror, has_cache) in [(false, true), (false, false), (true, true), (true, false)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut world = World::new();
        world.is_mirror = is_mirror;
        world.add("a.A", "1.0.0", &[]);
        world.add("a.B", "1.0.0", &[]);
        let fake = Fake::of(&world);
        let mut options = options(folder.path());
        if !has_cache {
            options.cache_folder = None;
        }
        let first = connect(&fake, options);
        let names = ["a.A", "a.B", "a.C"];
        let before = vec![some(&["1.0.0"]), some(&["1.0.0"]), None];
        assert_eq!(versions(&first, &names).expect("it can be read"), before);

        world.add("a.A", "1.1.0", &[]);
        world.add("a.C", "1.0.0", &[]);
        fake.becomes(&world);
        fake.take_requests();
        let second = reread(&first, later(1));
        assert_eq!(fake.take_paths(), [""; 0], "before it is asked");
        let now = vec![
            some(&["1.0.0", "1.1.0"]),
            some(&["1.0.0"]),
            some(&["1.0.0"]),
        ];
        let found = versions(second.as_ref(), &names).expect("it can be read");
        assert_eq!(found, now, "mirror: {is_mirror}, cache: {has_cache}");
        let requests = fake.take_requests();
        assert!(!requests.is_empty());
        let is_known = |request: &crate::fake::Received| {
            request.path.contains("config.json") || request.path.contains("a.B")
        };
        assert!(
            !requests.iter().any(is_known),
            "the configuration and a.B are known"
        );
        // The first reading goes on with its state.
        assert_eq!(versions(&first, &names).expect("it was read"), before);
        assert_eq!(fake.take_paths(), [""; 0]);
    }
}

#[test]
fn the_next_reading_judges_the_state_at_its_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    world.expires = "2026-06-02T00:00:00Z".parse().expect("a time");
    let fake = Fake::of(&world);
    let first = connect(&fake, options(folder.path()));
    versions(&first, &["a.A"]).expect("its state is valid for a day");
    versions(reread(&first, later(20)).as_ref(), &["a.A"]).expect("it is valid still");
    let finding = rejection(reread(&first, later(25)).as_ref(), "a.A");
    assert_says(&finding, Code::Untrusted, &["expired on 2026-06-02"]);
    // Without a folder for states, the last one is remembered all the same.
    let mut options = options(folder.path());
    options.state_folder = None;
    let first = connect(&fake, options);
    versions(&first, &["a.A"]).expect("it can be read");
    world.serial -= 1;
    world.packages.clear();
    fake.becomes(&world);
    let finding = rejection(reread(&first, later(1)).as_ref(), "a.A");
    assert_says(&finding, Code::Untrusted, &["went back in time"]);
}

#[test]
fn limits_hold_for_a_reading() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut world = World::new();
    for package in ["a.A", "a.B", "a.C"] {
        world.add(package, "1.0.0", &[]);
    }
    let fake = Fake::of(&world);
    let mut options = options(folder.path());
    options.limits.packages = 2;
    let mut registries = RegistrySet::new(vec![Box::new(connect(&fake, options))]);
    for package in ["a.A", "a.B", "a.C", "a.None"] {
        assert_eq!(supplied(&registries, &["a.A"]), [Some(1)], "{package}");
        let found = supplied(&registries, &[package]);
        assert_eq!(found, [(package != "a.None").then_some(1)]);
        let third = if package == "a.B" { "a.C" } else { "a.B" };
        if package == "a.B" {
            let names = [name(third), name("a.Other")];
            let error = registries.supply(&names).expect_err("too many");
            assert_says(
                &error.to_diagnostic(),
                Code::Limit,
                &["more than 2 packages"],
            );
        }
        registries = registries.reread(later(1)).expect("no request is sent");
    }
}
