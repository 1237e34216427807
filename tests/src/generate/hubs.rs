//! Universes of a few packages around one or two hubs that all of them require, each in its own
//! version. Several packages define the same classes, so the order of class lookup decides what a
//! class inherits.

use pkgres_manifest::IndexRecord;

use crate::build::{Build as _, release};
use crate::random::Random;
use crate::universe::Universe;

/// Classes that any of the packages may define.
const SHARED: [&str; 3] = ["S.K", "S.L", "S.M"];

/// A package that the others require, and how many releases it has.
type Hub = (&'static str, usize);

pub(super) fn universe(random: &mut Random) -> Universe {
    let mut names = ["O", "W", "V", "P"];
    random.shuffle(&mut names);
    let names = &names[..random.between(2, 4)];
    let mut hubs: Vec<Hub> = vec![("Z", random.between(2, 3))];
    if random.chance(40) {
        hubs.push(("Y", 2));
    }
    let mut records = Vec::new();
    for (at, (hub, count)) in hubs.iter().enumerate().rev() {
        for version in 1..=*count {
            let mut record = release(hub, &version.to_string());
            for (lower, count) in &hubs[at + 1..] {
                if random.chance(50) {
                    record = record.requires(lower, &spec(random, *count));
                }
            }
            let own = format!("{hub}.K");
            record = with_classes(random, record, &records, (&own, 85), 25);
            records.push(record);
        }
    }
    for (at, name) in names.iter().enumerate().rev() {
        let releases = if random.chance(80) { 1 } else { 2 };
        for version in 1..=releases {
            let mut record = release(name, &version.to_string());
            for (hub, count) in &hubs {
                if random.chance(75) {
                    record = record.requires(hub, &spec(random, *count));
                }
            }
            for other in &names[at + 1..] {
                if random.chance(55) {
                    record = record.requires(other, "*");
                }
            }
            random.shuffle(&mut record.requirements);
            let own = format!("{name}.A");
            record = with_classes(random, record, &records, (&own, 75), 30);
            records.push(record);
        }
    }
    let mut root = release("R", "1").requires(names[0], "*");
    for name in &names[1..] {
        if random.chance(35) {
            root = root.requires(name, "*");
        }
    }
    for (hub, count) in &hubs {
        if random.chance(20) {
            root = root.requires(hub, &spec(random, *count));
        }
    }
    random.shuffle(&mut root.requirements);
    root = with_classes(random, root, &records, ("R.A", 30), 0);
    Universe::new(root, records)
}

fn spec(random: &mut Random, releases: usize) -> String {
    match random.weighted(&[60, 20, 20]) {
        0 => random.between(1, releases).to_string(),
        1 => "*".to_owned(),
        _ => format!(">={}", random.between(1, releases)),
    }
}

/// Defines a class of the release's own and shared classes, each with a probability in percent. They
/// extend some classes of required packages.
fn with_classes(
    random: &mut Random,
    mut record: IndexRecord,
    records: &[IndexRecord],
    (own, chance): (&str, usize),
    shared: usize,
) -> IndexRecord {
    let required = records.iter().filter(|other| {
        let mut requirements = record.requirements.iter();
        requirements.any(|requirement| requirement.package == other.name)
    });
    let classes = required.flat_map(|other| other.classes.iter().flatten());
    let mut known: Vec<String> = classes.map(|class| class.name.to_string()).collect();
    known.sort();
    known.dedup();
    let mut names = Vec::new();
    if random.chance(chance) {
        names.push(own);
    }
    names.extend(SHARED.into_iter().filter(|_| random.chance(shared)));
    for name in names {
        let others = known.iter().filter(|class| *class != name);
        let extends: Vec<&str> = (others.map(String::as_str))
            .filter(|_| random.chance(45))
            .collect();
        record = record.defines(name, &extends);
    }
    record
}
