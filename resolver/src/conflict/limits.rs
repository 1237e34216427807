//! What an update wants and keeps, as reasons.

use pkgres_manifest::ReleaseSource;

use crate::encoding::{Encoding, Fact};
use crate::universe::PackageId;

use super::reason::{Reason, ReasonKind};
use super::subject::candidates;

/// That versions of a package were asked for, or that the lock holds some.
pub(super) fn limit(encoding: &Encoding<'_>, fact: &Fact, package: PackageId) -> Reason {
    let (universe, limits) = (&*encoding.universe, encoding.limits());
    let wish = limits.wish(package);
    let is_wanted = matches!(fact, Fact::Wanted { .. });
    let (kind, versions, allowed) = if let Some(wish) = wish.filter(|_| is_wanted) {
        (ReasonKind::Wanted, wish.versions.clone(), &wish.allowed)
    } else {
        let mut versions = universe.locked_versions(package).to_vec();
        versions.sort();
        versions.dedup();
        (ReasonKind::Stays, versions, &limits.stays[&package])
    };
    let name = universe.name(package);
    let listed: Vec<String> = versions.iter().map(ToString::to_string).collect();
    let listed = listed.join(", ");
    let mut text = match kind {
        ReasonKind::Wanted => format!("{name} {listed} was asked for"),
        _ => format!("the lock holds {name} at {listed}"),
    };
    if allowed.is_empty() {
        if universe.source(package) == Some(&ReleaseSource::Host) {
            let supplied = candidates(universe, package);
            let supplied = supplied
                .into_iter()
                .map(|release| universe.version(release));
            let supplied: Vec<String> = supplied.map(ToString::to_string).collect();
            text.push_str(&format!(", and the host supplies {}", supplied.join(", ")));
        } else {
            text.push_str(", and there is no such version");
        }
    }
    Reason {
        text,
        kind,
        owner: Some(name.clone()),
        versions,
        every_version: false,
        location: None,
        source: None,
        clashes: true,
    }
}
