//! Roots that cannot be there together, whatever there is of other packages.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{PackageName, Version};

use super::{Conflict, Reason, ReasonKind};
use crate::request::Root;

/// The conflict of roots that have one name, each of which is to be the only candidate of it. Of
/// several such names the first is told.
pub(crate) fn several_roots_of_one_name(roots: &[Root]) -> Option<Conflict> {
    let mut by_name: BTreeMap<PackageName, Vec<Version>> = BTreeMap::new();
    for root in roots {
        let version = match root {
            Root::Package(record) => record.version.clone(),
            Root::Model(_) => Version::ZERO,
        };
        by_name.entry(root.name()).or_default().push(version);
    }
    let (name, mut versions) = by_name
        .into_iter()
        .find(|(_, versions)| versions.len() > 1)?;
    versions.sort();
    let shown: Vec<String> = (versions.iter())
        .map(|version| format!("{name} {version}"))
        .collect();
    versions.dedup();
    let reason = Reason {
        kind: ReasonKind::Wanted,
        owner: name.clone(),
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: true,
        text: format!("{} are roots", shown.join(" and ")),
    };
    Some(Conflict {
        code: Code::NoVersion,
        summary: format!("several roots have the name `{name}`"),
        packages: vec![name],
        reasons: vec![reason],
        is_minimal: true,
        hints: Vec::new(),
        repairs: Vec::new(),
    })
}
