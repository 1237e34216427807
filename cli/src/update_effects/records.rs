//! What an update changes for the classes of a project of another ecosystem.
//!
//! The records say which classes the project relies on, but not what these declare. So if the update replaces a release
//! with such classes, the artifacts before and after are read.

use std::collections::BTreeMap;

use pkgres_checks::{RecordReliances, compare_declarations, compare_records};
use pkgres_formats::Format;
use pkgres_manifest::{IndexRecord, Lockfile, Release, ReleaseSource};
use pkgres_registry_client::RegistrySet;

use super::{Effect, NotCompared, ProjectEffects, Replacement, records_of};
use crate::context::Context;
use crate::failure::Result;
use crate::project_uses::ProjectUses;
use crate::read_release::ReadRelease;

/// Finds what replacements in a lockfile mean for the classes of a project.
pub(super) fn find(
    format: &'static dyn Format,
    uses: &ProjectUses,
    lock: &Lockfile,
    replacements: &[Replacement],
    registries: &RegistrySet,
    context: &Context,
) -> Result<ProjectEffects> {
    let mut found = ProjectEffects::default();
    let root = &uses.record;
    if root
        .classes
        .as_ref()
        .is_none_or(|classes| classes.is_empty())
    {
        return Ok(found);
    }
    let by_file = uses.by_file();
    let inherits = format.rules().inheritance;
    let records = records_of(lock, replacements, registries)?;
    let locked = records
        .iter()
        .filter(|(release, _)| lock.packages.contains_key(release));
    let locked = locked.map(|(_, (record, _))| record);
    let mut reliances = RecordReliances::of(root, locked, inherits);
    uses.set_options(&mut reliances);
    // A release can replace several others, and be replaced by several.
    let mut known: BTreeMap<Release, Option<ReadRelease>> = BTreeMap::new();
    for replacement in replacements {
        let (before, after) = (replacement.before(), replacement.after());
        let (Some((old, _)), Some(_)) = (records.get(&before), records.get(&after)) else {
            continue;
        };
        if !reliances.are_on(old) {
            continue;
        }
        for release in [&before, &after] {
            if !known.contains_key(release) {
                let (record, source) = &records[release];
                let not_compared = &mut found.not_compared;
                let read = read(format, record, source, registries, context, not_compared);
                known.insert(release.clone(), read);
            }
        }
        let (Some(Some(old)), Some(Some(new))) = (known.get(&before), known.get(&after)) else {
            continue;
        };
        let Some(mut differences) = compare_records(&old.record, &new.record, inherits) else {
            continue;
        };
        differences.extend(compare_declarations(&old.declarations, &new.declarations));
        let effects = reliances.effects(&differences).into_iter();
        let effects = effects.map(|effect| {
            let named = by_file.get(&(&effect.class, &effect.difference.class));
            let place = named.map(|named| match &effect.difference.tasks {
                Some(tasks) => named.place_of(&tasks.options, tasks.set_it).clone(),
                None => named.at.clone(),
            });
            Effect::of_record(effect, root, place)
        });
        let effects = effects.map(|effect| (replacement.clone(), effect));
        found.effects.extend(effects);
    }
    Ok(found)
}

/// Reads a release with what its classes declare. What cannot be read is listed: the other results of the command do not
/// need it.
fn read(
    format: &'static dyn Format,
    record: &IndexRecord,
    source: &ReleaseSource,
    registries: &RegistrySet,
    context: &Context,
    not_compared: &mut Vec<NotCompared>,
) -> Option<ReadRelease> {
    let read = ReadRelease::of_registry(record, source, format, registries, context);
    let reason = match &read {
        Ok(read) if read.has_artifact => None,
        Ok(_) => Some("its registry has no artifact of it".to_owned()),
        Err(failure) => {
            let messages = failure
                .findings
                .iter()
                .map(|finding| finding.message.as_str());
            Some(messages.collect::<Vec<_>>().join("; "))
        }
    };
    not_compared.extend(reason.map(|reason| NotCompared {
        package: record.name.clone(),
        version: record.version.clone(),
        is_partial: read.is_ok(),
        reason,
    }));
    read.ok()
}
