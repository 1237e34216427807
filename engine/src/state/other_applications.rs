//! Other applications that reverse the same resource on the machine.
//!
//! Each keeps what it found, even if it found the resource as it wants it, and changed nothing. If an application goes,
//! and another one came to the resource after it, the resource has to stay as the other one wants it. What was there before the first of them is what the other one has to restore
//! one day: its record is [handed over](OtherRecord::extended_by).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_manifest::{PropertyValue, ResourceDescription, ResourceId};

use super::record::{Record, is_absence};
use super::storage::StateLocation;
use crate::target::{Probe, Target, TargetError};

/// The applications on a machine whose states are in the same folder, with the names of their records.
#[derive(Debug, Default)]
pub(super) struct OtherApplications(Vec<(StateLocation, BTreeSet<String>)>);

impl OtherApplications {
    pub(super) fn find(probe: &dyn Probe, own: &StateLocation) -> Result<Self, TargetError> {
        let others = own.others(probe)?.into_iter();
        let others = others.filter_map(|other| {
            let names = other.record_names(probe).ok()?;
            Some((other, names.into_iter().collect()))
        });
        Ok(Self(others.collect()))
    }

    /// Their records of a resource. One that cannot be read is that application's own problem.
    pub(super) fn records(&self, probe: &dyn Probe, id: &ResourceId) -> Vec<OtherRecord> {
        let records = self.0.iter().filter_map(|(location, names)| {
            let path = location.record(id);
            let name = path.file_name()?.to_str()?;
            let record = names
                .contains(name)
                .then(|| location.read_record(probe, &path));
            Some(OtherRecord {
                location: location.clone(),
                record: record?.ok()?,
            })
        });
        records.collect()
    }

    /// For each record, that of the application which was the next to come to the resource.
    pub(super) fn next_records(
        &self,
        probe: &dyn Probe,
        records: &BTreeMap<ResourceId, Record>,
    ) -> BTreeMap<ResourceId, OtherRecord> {
        let next = records.values().filter_map(|own| {
            let others = self.records(probe, &own.resource).into_iter();
            let later = others.filter(|other| other.record.position > own.position);
            let next = later.min_by_key(|other| other.record.position)?;
            Some((own.resource.clone(), next))
        });
        next.collect()
    }
}

/// The record that another application has of a resource.
#[derive(Debug)]
pub(super) struct OtherRecord {
    location: StateLocation,
    pub(super) record: Record,
}

impl OtherRecord {
    /// What is left to restore of an earlier record: the properties that the other application leaves alone.
    pub(super) fn rest_of(&self, before: &ResourceDescription) -> Option<ResourceDescription> {
        let other = self.record.before.as_ref()?;
        if is_absence(before) || is_absence(other) {
            return None;
        }
        let mut rest = before.clone();
        for key in other.properties.keys() {
            rest.properties.take(key);
        }
        let is_empty = rest.properties.keys().next().is_none();
        (!is_empty).then_some(rest)
    }

    /// Hands an earlier record over: from then on, this application restores what was there before both.
    pub(super) fn take_over(
        &self,
        target: &dyn Target,
        earlier: &Record,
        contents: &Path,
    ) -> Result<(), TargetError> {
        let Some(record) = self.extended_by(earlier, contents) else {
            return Ok(());
        };
        for digest in record.contents.difference(&self.record.contents) {
            let path = contents.join(digest);
            let size = target.entry(&path)?.map_or(0, |entry| entry.size);
            let content = target.read(&path, size)?;
            self.location.write_content(target, digest, &content)?;
        }
        self.location.write_record(target, &record)
    }

    /// The record with what an earlier one says; `None` if nothing changes. `contents` has those of the earlier one.
    fn extended_by(&self, earlier: &Record, contents: &Path) -> Option<Record> {
        let before = earlier.before.as_ref()?;
        // It was gone when this application came, so that what was there first is lost.
        if self.record.before.as_ref().is_some_and(is_absence) {
            return None;
        }
        let mut record = self.record.clone();
        if is_absence(before) {
            record.before = Some(before.clone());
            record.contents.clear();
            return Some(record);
        }
        let mut extended = before.clone();
        let keys: Vec<String> = before.properties.keys().map(str::to_owned).collect();
        for key in keys {
            let value = extended.properties.take(&key)?.value;
            extended = extended.with(&key, self.moved(value, contents));
        }
        let moved = Record {
            before: Some(extended),
            position: record.position,
            after: record.after.clone(),
            ..earlier.clone()
        };
        let kept = record.contents.iter();
        let kept = kept.map(|digest| (digest.clone(), Vec::new())).collect();
        Some(match moved.extended(record.before, &kept) {
            Some(extended) => extended,
            None => moved,
        })
    }

    /// A value that refers to a content, which is now kept for this application.
    fn moved(&self, value: PropertyValue, contents: &Path) -> PropertyValue {
        let PropertyValue::Text(text) = value else {
            return value;
        };
        match PathBuf::from(&text).strip_prefix(contents) {
            Ok(digest) => {
                let path = self.location.contents().join(digest);
                PropertyValue::Text(path.to_string_lossy().into_owned())
            }
            Err(_) => PropertyValue::Text(text),
        }
    }
}
