//! Preparing a release that stands alone, as nearly every root does.
//!
//! Many problems are often solved with one index, each of which brings a root of its own. What
//! [`compile_together`](super::together::compile_together) does to find what thousands of releases have in common would take longer
//! than to solve most of these problems.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{IndexRecord, Requirement};

use super::classes::classes;
use super::releases::{digests, is_plain, release_flags};
use crate::index::column::{Column, Lists};
use crate::index::versions::Versions;
use crate::index::{
    ALL_FLAGS, CompiledIndex, EdgeNumbers, FirstSeen, NAMES_PRERELEASE, PLAIN, Texts, to_u32,
};

/// So many requirements are compared with each other more quickly than they are sorted into tables.
const FEW: usize = 16;

/// Whether a release is one that [`compile_alone`] pays for.
pub(super) fn can_be_alone(record: &IndexRecord) -> bool {
    let requirements = &record.requirements;
    let is_own = |requirement: &Requirement| requirement.package == record.name;
    requirements.len() <= FEW && !requirements.iter().any(is_own)
}

/// Prepares the only release of a package, if it [can be](can_be_alone). The outcome is that of
/// [`compile_together`](super::together::compile_together), to the byte.
pub(super) fn compile_alone(record: &IndexRecord) -> CompiledIndex {
    let requirements = &record.requirements;
    let mut names = Vec::with_capacity(requirements.len() + 1);
    names.push(record.name.as_str());
    names.extend(requirements.iter().map(|one| one.package.as_str()));
    names.sort_unstable();
    names.dedup();
    let number = |name: &str| names.binary_search(&name).expect("it is one of them");
    let own = number(record.name.as_str());

    let mut specs: FirstSeen<&str> = FirstSeen::with_room(requirements.len());
    let mut edges: Vec<EdgeNumbers> = Vec::with_capacity(requirements.len());
    let mut groups = 0;
    for requirement in requirements {
        let target = to_u32(number(requirement.package.as_str()));
        let spec = specs.number(requirement.spec.written());
        // What is required of one package is one group, for the index has none of them.
        let same = edges.iter().find(|[before, ..]| *before == target);
        let group = same.map_or(groups, |[.., group]| *group);
        groups = groups.max(group + 1);
        edges.push([target, spec, group]);
    }
    let flags = release_flags(record);
    let mut index = CompiledIndex {
        names: Texts::of(&names),
        first_release: Column::of_static(&FIRST_RELEASE[FEW + 1 - own..][..=names.len()]),
        package_flags: package_flags(flags, own, names.len()),
        versions: Versions::of(std::iter::once(&record.version)),
        release_flags: Column::of_static(&RELEASE_FLAGS[usize::from(flags)..][..1]),
        digests: digests(&[record]),
        edges: Lists {
            starts: Column::of_static(&STARTS_OF_ONE[requirements.len()]),
            items: edges.into(),
        },
        // The release has each of them.
        words: Column::of_static(&EACH[..groups as usize]),
        specs: Texts::of(specs.things()),
        spec_flags: spec_flags(requirements, specs.things()),
        locations: locations(requirements),
        ..CompiledIndex::default()
    };
    classes(&mut index, &[record]);
    index.work_out_inheritance();
    index
}

/// The flags of specs.
fn spec_flags(requirements: &[Requirement], specs: &[&str]) -> Column<u8> {
    let naming = requirements
        .iter()
        .filter(|requirement| requirement.spec.names_prerelease());
    let naming: Vec<&str> = naming.map(|one| one.spec.written()).collect();
    if naming.is_empty() {
        return Column::of_static(&NO_FLAGS[..specs.len()]);
    }
    let flags = specs
        .iter()
        .map(|spec| u8::from(naming.contains(spec)) * NAMES_PRERELEASE);
    flags.collect::<Vec<u8>>().into()
}

/// The flags of so many packages, one of which has the release with these flags.
fn package_flags(flags: u8, own: usize, names: usize) -> Column<u8> {
    if is_plain(flags) {
        return Column::of_static(&PLAIN_FLAGS[..names]);
    }
    let mut package_flags = vec![PLAIN; names];
    package_flags[own] = 0;
    package_flags.into()
}

/// Where requirements are written, if that is known of any.
fn locations(requirements: &[Requirement]) -> Vec<Option<Location>> {
    if requirements.iter().all(|one| one.location.is_none()) {
        return Vec::new();
    }
    let locations = requirements.iter().map(|one| one.location.clone());
    locations.collect()
}

// Columns that are the same for most releases: memory would cost more than what it holds.

/// Where the releases of names begin: those up to the one that has it before the only one, the others
/// after it.
static FIRST_RELEASE: [u32; 2 * (FEW + 2)] = {
    let mut first = [0; 2 * (FEW + 2)];
    let mut at = FEW + 2;
    while at < first.len() {
        first[at] = 1;
        at += 1;
    }
    first
};

/// The sets of releases that require something, each of which has the only one.
static EACH: [u64; FEW] = [1; FEW];

static PLAIN_FLAGS: [u8; FEW + 1] = [PLAIN; FEW + 1];

static NO_FLAGS: [u8; FEW] = [0; FEW];

/// For each number of requirements where those of the only release begin and end.
static STARTS_OF_ONE: [[u32; 2]; FEW + 1] = {
    let mut starts = [[0; 2]; FEW + 1];
    let mut count: u32 = 0;
    while (count as usize) < starts.len() {
        starts[count as usize][1] = count;
        count += 1;
    }
    starts
};

/// The flags that a release can have, each at its own place.
static RELEASE_FLAGS: [u8; ALL_FLAGS as usize + 1] = {
    let mut all = [0; ALL_FLAGS as usize + 1];
    let mut flags: u8 = 0;
    while (flags as usize) < all.len() {
        all[flags as usize] = flags;
        flags += 1;
    }
    all
};

#[cfg(test)]
mod tests {
    use pkgres_manifest::diagnostic::{SourceText, Span};
    use pkgres_manifest::{ArtifactDigest, Limits};

    use super::super::together::compile_together;
    use super::*;

    fn record(rest: &str) -> IndexRecord {
        let line = format!(r#"{{"name":"org.acme.Web","version":"1.0.0"{rest}}}"#);
        IndexRecord::parse_line(&line, &Limits::default()).expect("a record")
    }

    /// All of an index, and what follows from it.
    fn told(index: &CompiledIndex) -> (Option<Vec<u8>>, String, String) {
        let locations = format!("{:?}", index.locations);
        let defined = index.inheritance().defined_classes().to_vec();
        let inheritance = format!("{:?} {defined:?}", index.inheritance());
        (index.to_bytes(&[0; 32]), locations, inheritance)
    }

    fn is_the_same(record: &IndexRecord) {
        assert!(can_be_alone(record));
        let alone = compile_alone(record);
        let together = compile_together(vec![record]);
        assert_eq!(told(&alone), told(&together), "{record:?}");
    }

    #[test]
    fn what_is_required_twice_is_compiled_once() {
        let mut record = record(r#","require":[["b.B","1"],["c.C","1"]]"#);
        let mut requirements = record.requirements.to_vec();
        let source = SourceText::new("manifest.yaml", "Require:");
        let location = Location::new(&source, Span::default());
        requirements[1].location = Some(location.clone());
        requirements.extend(requirements.clone());
        record.requirements = requirements.clone().into();
        is_the_same(&record);
        // Whatever is said of a package, it is the same one.
        requirements[2].spec = "2".parse().expect("a spec");
        record.requirements = requirements.into();
        is_the_same(&record);
    }

    #[test]
    fn it_is_what_is_compiled_otherwise() {
        let requirements = [
            "",
            r#""require":[]"#,
            r#""require":[["b.B","1"]]"#,
            r#""require":[["z.Z","*"],["b.B","1.0.0-rc.1"],["c.C","*"],["d.D","2"]]"#,
        ];
        let classes = [
            "",
            r#""classes":{}"#,
            r#""classes":{"org.acme.Web":{},"org.acme.Other":{}}"#,
            r#""classes":{"org.acme.Web":{"extends":["b.B","org.acme.Other"]}}"#,
            r#""classes":{"org.acme.A":{}},"internal":{"org.acme.Web":{"extends":["b.B"]}}"#,
        ];
        let others = ["", r#""yanked":true"#];
        for requirements in requirements {
            for classes in classes {
                for other in others {
                    let parts = [requirements, classes, other];
                    let parts = parts.iter().filter(|part| !part.is_empty());
                    let rest: String = parts.map(|part| format!(",{part}")).collect();
                    is_the_same(&record(&rest));
                }
            }
        }
    }

    #[test]
    fn its_name_may_stand_anywhere_among_those_that_it_requires() {
        for count in 0..=FEW {
            for own in 0..=count {
                // The names of those before its own one come before it.
                let name = |at: usize| if at < own { "a" } else { "z" };
                let required = (0..count).map(|at| format!(r#"["{}.P{at}","{at}"]"#, name(at)));
                let required: Vec<String> = required.collect();
                is_the_same(&record(&format!(r#","require":[{}]"#, required.join(","))));
            }
        }
    }

    #[test]
    fn what_is_said_of_the_release_is_kept() {
        let mut prerelease = record(r#","require":[["b.B","1"],["z.Z","1"]]"#);
        prerelease.version = "1.0.0-rc.1".parse().expect("a version");
        is_the_same(&prerelease);
        let mut with_digest = record(r#","yanked":true"#);
        with_digest.digest = Some(ArtifactDigest::Archive([7; 32]));
        is_the_same(&with_digest);
    }

    #[test]
    fn what_it_is_not_meant_for_is_compiled_otherwise() {
        let mut own = record(r#","require":[["b.B","1"]]"#);
        let mut requirements = own.requirements.to_vec();
        requirements[0].package = own.name.clone();
        own.requirements = requirements.into();
        assert!(!can_be_alone(&own));
        let many: Vec<String> = (0..=FEW).map(|at| format!(r#"["p.P{at}","*"]"#)).collect();
        let many = record(&format!(r#","require":[{}]"#, many.join(",")));
        assert!(!can_be_alone(&many));
    }
}
