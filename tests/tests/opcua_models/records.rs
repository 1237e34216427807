//! What is read of the corpus, and of files that an SDK ships.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_formats::opcua::NodeSets;
use pkgres_formats::{Format as _, FormatFile};
use pkgres_manifest::{IndexRecord, ReadOptions};
use pkgres_tests::opcua::{lines, read, record_of};

#[test]
fn all_releases_are_read_and_written() {
    let Some(lines) = lines() else { return };
    assert_eq!(lines.len(), 242);
    let mut positions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in &lines {
        let record = read(&record_of(line).to_string());
        assert_eq!(record.ecosystem.id(), "opcua");
        let types = line["types"].as_object().expect("there are types");
        let classes = record.classes.as_ref().expect("classes are known");
        let exported = classes.iter().filter(|class| !class.internal).count();
        assert_eq!(exported, types.len() * 2, "{}", record.name);
        let written = record.to_line();
        let again = read(&written);
        assert_eq!(again, record, "{written}");
        assert_eq!(again.to_line(), written);
        let position = format!("{} {}", record.name, record.version.in_order());
        positions
            .entry(position)
            .or_default()
            .insert(record.version.to_string());
    }
    // No two versions of a model have the same place in the order.
    assert!(positions.values().all(|versions| versions.len() == 1));
}

/// Files that an SDK ships, if `PKGRES_NODESETS` names their folder: those that are in the corpus have its types.
#[test]
fn files_have_the_types_that_the_corpus_has() {
    let (Some(lines), Some(folder)) = (lines(), std::env::var_os("PKGRES_NODESETS")) else {
        return;
    };
    let mut known: BTreeMap<(String, String), Vec<IndexRecord>> = BTreeMap::new();
    for line in &lines {
        let record = read(&record_of(line).to_string());
        let key = (record.name.to_string(), record.version.to_string());
        known.entry(key).or_default().push(record);
    }
    let mut compared = 0;
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry can be read").path())
        .collect();
    entries.sort();
    for path in entries {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let path = path.to_string_lossy();
        let file = FormatFile {
            path: &path,
            bytes: &bytes,
        };
        if !NodeSets.is_release_name(file.name()) || NodeSets.release_extent(&file).is_none() {
            continue;
        }
        let read = NodeSets.read_releases(&file, &(), &ReadOptions::default());
        let (releases, _) = read
            .into_result()
            .unwrap_or_else(|errors| panic!("{errors:?}"));
        for release in releases {
            let mut record = release.record;
            let key = (record.name.to_string(), record.version.to_string());
            let Some(candidates) = known.get(&key) else {
                continue;
            };
            record
                .requirements
                .iter_mut()
                .for_each(|one| one.location = None);
            // The corpus has the uses of types and of other nodes in one list.
            let uses = |record: &IndexRecord| -> BTreeSet<String> {
                let classes = record.classes.iter().flatten();
                classes
                    .flat_map(|class| class.uses.iter().map(ToString::to_string))
                    .collect()
            };
            let extends = |record: &IndexRecord| -> BTreeMap<String, Vec<String>> {
                let classes = record
                    .classes
                    .iter()
                    .flatten()
                    .filter(|class| !class.internal);
                classes
                    .map(|class| {
                        let mut extends: Vec<String> =
                            class.extends.iter().map(ToString::to_string).collect();
                        extends.sort();
                        (class.name.to_string(), extends)
                    })
                    .collect()
            };
            let differences: Vec<String> = candidates
                .iter()
                .map(|other| {
                    let (one, two) = (uses(other), uses(&record));
                    let lacking: Vec<&String> = one.difference(&two).collect();
                    let more: Vec<&String> = two.difference(&one).collect();
                    format!(
                        "requirements {}, extends {}, labels {}, lacking {lacking:?}, more {more:?}",
                        other.requirements == record.requirements,
                        extends(other) == extends(&record),
                        other.labels == record.labels
                    )
                })
                .collect();
            let same = "requirements true, extends true, labels true, lacking [], more []";
            assert!(
                differences.iter().any(|found| found == same),
                "{path} {key:?}: {differences:#?}"
            );
            compared += 1;
        }
    }
    assert!(compared >= 10, "{compared} releases were compared");
}
