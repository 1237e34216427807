//! What changes from one release of a model to the next, compared with a count of our own on the lines of the corpus.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_checks::{RecordRule, compare_records};
use pkgres_manifest::IndexRecord;
use pkgres_tests::opcua;
use serde_json::{Map, Value};

/// The types of a line by id.
fn types(line: &Value) -> &Map<String, Value> {
    line["types"].as_object().expect("there are types")
}

/// The supertypes and interfaces of a type, as far as they count as parents.
fn parents(one: &Value) -> BTreeSet<&str> {
    // A type of objects inherits from its interfaces, too.
    let lists = if one[0] == "ObjectType" { 2..4 } else { 2..3 };
    let lists = lists.filter_map(|at| one[at].as_array()).flatten();
    lists.filter_map(Value::as_str).collect()
}

/// All types above one.
fn above<'line>(types: &'line Map<String, Value>, id: &str) -> BTreeSet<&'line str> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut rest = vec![id.to_owned()];
    while let Some(id) = rest.pop() {
        for parent in types.get(&id).map(parents).unwrap_or_default() {
            if found.insert(parent) {
                rest.push(parent.to_owned());
            }
        }
    }
    found
}

/// The ids of types that are gone, have another name, or lost a parent.
fn expected(old: &Value, new: &Value) -> [BTreeSet<String>; 3] {
    let (old, new) = (types(old), types(new));
    let mut found = [const { BTreeSet::new() }; 3];
    for (id, one) in old {
        let Some(other) = new.get(id).filter(|other| other[0] == one[0]) else {
            found[0].insert(id.clone());
            continue;
        };
        if other[1] != one[1] {
            found[1].insert(id.clone());
        }
        if !parents(one).is_subset(&above(new, id)) {
            found[2].insert(id.clone());
        }
    }
    found
}

/// The same, as the comparison finds it.
fn compared(old: &IndexRecord, new: &IndexRecord) -> [BTreeSet<String>; 3] {
    let rules = [
        RecordRule::ClassRemoved,
        RecordRule::ClassRenamed,
        RecordRule::AncestorLost,
    ];
    let differences = compare_records(old, new, true).expect("the types are known");
    let id = |class: &str| {
        let id = class.rsplit(';').next().expect("there is an id");
        id.split('(').next().expect("it has no class").to_owned()
    };
    rules.map(|rule| {
        let found = differences.iter().filter(|it| it.rule == rule);
        found.map(|it| id(it.class.as_str())).collect()
    })
}

#[test]
fn types_that_vanish_move_or_are_renamed_are_found() {
    let Some(lines) = opcua::lines() else {
        return;
    };
    let mut releases: BTreeMap<String, Vec<(IndexRecord, Value)>> = BTreeMap::new();
    let is_release = |line: &Value| line["released"] == true && line.get("variant").is_none();
    for line in lines.into_iter().filter(is_release) {
        let record = opcua::read(&opcua::record_of(&line).to_string());
        let name = record.name.as_str().to_owned();
        releases.entry(name).or_default().push((record, line));
    }
    let mut steps = 0;
    let mut with = [0; 3];
    for releases in releases.values_mut() {
        releases.sort_by(|(one, _), (other, _)| one.version.cmp(&other.version));
        for pair in releases.windows(2) {
            let [(old, before), (new, after)] = pair else {
                continue;
            };
            let found = compared(old, new);
            let step = format!("{} {} -> {}", new.name, old.version, new.version);
            assert_eq!(found, expected(before, after), "{step}");
            steps += 1;
            for (count, found) in with.iter_mut().zip(&found) {
                *count += usize::from(!found.is_empty());
            }
        }
    }
    assert_eq!((steps, with), (78, [14, 5, 12]));
}
