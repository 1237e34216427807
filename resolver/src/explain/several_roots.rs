//! Requests that contradict themselves: several roots of one name, or several models.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{IndexRecord, PackageName, Version};

use super::conflict::{Conflict, Reason, ReasonKind};
use crate::request::Root;

/// The conflict of roots that exclude each other: several with one name, each of which would be its
/// only candidate, or several models. If several names conflict, the first is reported.
pub(crate) fn several_roots_of_one_name(roots: &[Root]) -> Option<Conflict> {
    if roots.len() < 2 {
        return None;
    }
    let mut by_name: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
    let mut models = 0;
    for root in roots {
        match root {
            Root::Package(record) | Root::File(record) => {
                by_name.entry(&record.name).or_default().push(record);
            }
            Root::Model(_) => models += 1,
        }
    }
    let of_one_name = by_name.into_iter().find(|(_, records)| records.len() > 1);
    if let Some((name, records)) = of_one_name {
        let mut versions: Vec<Version> = (records.iter())
            .map(|record| record.version.clone())
            .collect();
        versions.sort();
        let shown: Vec<String> = (versions.iter())
            .map(|version| format!("{name} {version}"))
            .collect();
        versions.dedup();
        let summary = format!("several roots have the name `{name}`");
        let text = format!("{} are roots", shown.join(" and "));
        return Some(conflict_of_roots(
            summary,
            text,
            Some(name.clone()),
            versions,
        ));
    }
    (models > 1).then(|| {
        let summary = "several roots are object models".to_owned();
        let text = format!("{models} object models are roots");
        conflict_of_roots(summary, text, None, Vec::new())
    })
}

/// A conflict that has only roots.
fn conflict_of_roots(
    summary: String,
    text: String,
    owner: Option<PackageName>,
    versions: Vec<Version>,
) -> Conflict {
    let packages = owner.clone().into_iter().collect();
    let reason = Reason {
        kind: ReasonKind::Wanted { dropped_by: None },
        owner,
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: true,
        text,
    };
    Conflict {
        code: Code::NoVersion,
        summary,
        packages,
        reasons: vec![reason],
        is_minimal: true,
        is_smallest: true,
        hints: Vec::new(),
        repairs: Vec::new(),
    }
}
