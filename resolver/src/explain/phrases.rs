//! Versions and classes as parts of a sentence.

use pkgres_manifest::{ClassName, Version};

use crate::universe::{PackageId, ReleaseId, Universe};

/// The number of versions that are listed before "and n more".
pub(super) const LISTED_VERSIONS: usize = 4;

/// The subject of a reason: versions of a package.
pub(super) struct Subject {
    /// `Db 1.2.0 to 1.9.0`
    pub(super) text: String,
    /// The versions, ascending.
    pub(super) versions: Vec<Version>,
    /// Whether these are all candidates, of several.
    pub(super) is_every_version: bool,
    /// Whether the text is singular, as "every version of" is.
    is_singular: bool,
}

impl Subject {
    /// The subject for releases of a package, ascending.
    pub(super) fn new(universe: &Universe, package: PackageId, releases: &[ReleaseId]) -> Self {
        let version = |release: ReleaseId| universe.catalog.version(release).clone();
        let versions: Vec<Version> = releases.iter().copied().map(version).collect();
        // A package can have as many reasons as releases, which are not compared with all others.
        let compared = if versions.len() > 1 {
            universe.catalog.candidate_releases(package)
        } else {
            Vec::new()
        };
        let all: Vec<(Version, bool)> = compared
            .into_iter()
            .map(|release| {
                let found =
                    releases.binary_search_by_key(&release.index, |included| included.index);
                (version(release), found.is_ok())
            })
            .collect();
        let is_every_version =
            versions.len() > 1 && all.iter().all(|(_, is_included)| *is_included);
        let name = universe.catalog.name(package).as_str();
        let (text, is_singular) = match versions.as_slice() {
            [] => (name.to_owned(), true),
            [_] if universe.catalog.is_file(package) => (name.to_owned(), true),
            [only] => (format!("{name} {only}"), true),
            _ => version_list(name, &all),
        };
        Self {
            text,
            versions,
            is_every_version,
            is_singular,
        }
    }

    /// The verb in the number of the subject.
    pub(super) fn verb(&self, singular: &'static str, plural: &'static str) -> &'static str {
        if self.is_singular { singular } else { plural }
    }
}

/// Several versions in few words, and whether the words are singular. `all` has each candidate,
/// ascending, and whether it is included.
fn version_list(name: &str, all: &[(Version, bool)]) -> (String, bool) {
    let (included, excluded) = (runs(all, true), runs(all, false));
    let count = all.iter().filter(|(_, is_included)| *is_included).count();
    if excluded.is_empty() {
        return (format!("every version of {name}"), true);
    }
    let is_short = excluded.len() < included.len() && excluded.len() <= LISTED_VERSIONS;
    if count > LISTED_VERSIONS && is_short {
        let excluded: Vec<&str> = excluded.iter().map(|(text, _)| text.as_str()).collect();
        let text = format!("every version of {name} but {}", excluded.join(", "));
        return (text, true);
    }
    let listed = &included[..included.len().min(LISTED_VERSIONS)];
    let more = count - listed.iter().map(|(_, count)| count).sum::<usize>();
    let listed: Vec<&str> = listed.iter().map(|(text, _)| text.as_str()).collect();
    let listed = listed.join(", ");
    let text = match more {
        0 => format!("{name} {listed}"),
        more => format!("{name} {listed} and {more} more"),
    };
    (text, false)
}

/// The versions that are included, or excluded, as ranges with the number of versions in each.
/// Three or more consecutive versions are a range.
fn runs(all: &[(Version, bool)], is_included: bool) -> Vec<(String, usize)> {
    let mut runs = Vec::new();
    for run in all.chunk_by(|(_, one), (_, other)| one == other) {
        match run {
            [(_, included), ..] if *included != is_included => {}
            [(first, _), _, .., (last, _)] => runs.push((format!("{first} to {last}"), run.len())),
            few => runs.extend(few.iter().map(|(version, _)| (version.to_string(), 1))),
        }
    }
    runs
}

/// How a class refers to what another package defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Extends,
    Implements,
    /// It uses a class, and uses are binding.
    Uses,
}

impl Edge {
    /// The edge that leads to a class or interface.
    pub(super) fn to(class: &ClassName) -> Self {
        if class.is_of_interface() {
            Self::Implements
        } else {
            Self::Extends
        }
    }

    /// The verb in the singular and in the plural.
    pub(super) fn verbs(self) -> [&'static str; 2] {
        match self {
            Self::Extends => ["extends", "extend"],
            Self::Implements => ["implements", "implement"],
            Self::Uses => ["uses", "use"],
        }
    }
}

/// A class and a number of others in words, and the verb of an edge for them. `kind` is the word for such a class.
pub(super) fn some_classes(
    kind: &str,
    class: &ClassName,
    more: usize,
    edge: Edge,
) -> (String, &'static str) {
    let [singular, plural] = edge.verbs();
    match more {
        0 => (format!("the {kind} {class}"), singular),
        1 => (format!("the {kind} {class} and another one"), plural),
        more => (format!("the {kind} {class} and {more} others"), plural),
    }
}

pub(super) fn kind_and_name(class: &ClassName) -> (&'static str, ClassName) {
    match class.interface_name() {
        Some(interface) => ("interface", interface),
        None => ("class", class.clone()),
    }
}

/// A class or interface by its name, with its kind if it is an interface.
pub(super) fn named(class: &ClassName) -> String {
    match class.interface_name() {
        Some(interface) => format!("interface {interface}"),
        None => class.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words for the versions 0.0.0, 1.0.0 and so on, of which those marked `x` are included.
    fn marked(marks: &str) -> String {
        let version = |major| Version::parse(&format!("{major}.0.0")).expect("a version");
        let marks = marks.chars().zip(0..);
        let all: Vec<_> = marks
            .map(|(mark, major)| (version(major), mark == 'x'))
            .collect();
        let (text, is_singular) = version_list("Db", &all);
        assert_eq!(is_singular, text.starts_with("every version"), "{text}");
        text
    }

    #[test]
    fn consecutive_versions_are_reported_as_a_range() {
        for (marks, expected) in [
            ("xx", "every version of Db"),
            ("xx.", "Db 0.0.0, 1.0.0"),
            ("xxx.", "Db 0.0.0 to 2.0.0"),
            ("x.x", "Db 0.0.0, 2.0.0"),
            ("xxx.xxxx", "every version of Db but 3.0.0"),
            (".xxx.xxxx", "Db 1.0.0 to 3.0.0, 5.0.0 to 8.0.0"),
            (
                "xx...x.x.xxxx",
                "every version of Db but 2.0.0 to 4.0.0, 6.0.0, 8.0.0",
            ),
            ("x.x.x.x.xx.", "Db 0.0.0, 2.0.0, 4.0.0, 6.0.0 and 2 more"),
            (".x.xxxxx.x.", "Db 1.0.0, 3.0.0 to 7.0.0, 9.0.0"),
        ] {
            assert_eq!(marked(marks), expected, "{marks}");
        }
    }
}
