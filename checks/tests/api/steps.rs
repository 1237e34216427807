//! Steps between versions.

use pkgres_checks::{Bump, Impact};
use pkgres_manifest::Version;

fn version(text: &str) -> Version {
    Version::parse(text).expect("a version")
}

#[test]
fn the_step_between_two_versions() {
    for (old, new, expected) in [
        ("1.2.3", "1.2.3", Bump::None),
        ("1.2.3", "1.2.2", Bump::None),
        ("1.2.3", "1.2.3-rc1", Bump::None),
        ("1.2.3", "1.2.4", Bump::Patch),
        ("1.2.3", "1.3.0", Bump::Minor),
        ("0.2.3", "0.3.0", Bump::Minor),
        ("1.2.3", "2.0.0", Bump::Major),
        ("0.2.3", "1.0.0", Bump::Major),
        ("1.2.3", "2.0.0-rc1", Bump::Major),
        // Nothing was promised before the release.
        ("2.0.0-rc1", "2.0.0-rc2", Bump::Major),
        ("2.0.0-rc1", "2.0.0", Bump::Major),
        ("2.0.0-rc1", "2.0.1", Bump::Patch),
    ] {
        assert_eq!(
            Bump::between(&version(old), &version(new)),
            expected,
            "{old} {new}"
        );
    }
}

#[test]
fn the_version_after_a_step() {
    for (bump, from, expected) in [
        (Bump::Patch, "1.2.3", "1.2.4"),
        (Bump::Minor, "1.2.3", "1.3.0"),
        (Bump::Major, "1.2.3", "2.0.0"),
        (Bump::Major, "0.0.0", "1.0.0"),
        (Bump::Minor, "2.0.0-rc1", "2.0.0"),
        (Bump::None, "1.2.3", "1.2.3"),
    ] {
        assert_eq!(bump.after(&version(from)), version(expected));
        assert!(Bump::between(&version(from), &bump.after(&version(from))) >= bump);
    }
}

#[test]
fn what_an_impact_needs() {
    assert_eq!(Bump::needed_for(Impact::Major), Bump::Major);
    assert_eq!(Bump::needed_for(Impact::Minor), Bump::Minor);
    assert_eq!(Bump::needed_for(Impact::Review), Bump::Patch);
    assert_eq!(Bump::needed_for(Impact::Patch), Bump::Patch);
}
