//! Rules that apply to every ecosystem.

use pkgres_formats::ECOSYSTEMS;

/// A version as each ecosystem writes it.
fn example_of(ecosystem: &str) -> &'static str {
    match ecosystem {
        "murano" | "ansible" => "1.2.3",
        "opcua" => "1.2.3@2024-01-31",
        other => panic!("no example of {other}"),
    }
}

/// Lockfiles have the ranges that commands write.
#[test]
fn written_ranges_can_be_read() {
    for ecosystem in ECOSYSTEMS.iter() {
        let id = ecosystem.id();
        let version = ecosystem.version(example_of(id)).expect(id);
        let spec = ecosystem.compatible_with(&version);
        assert!(spec.matches(&version), "{id}: {spec}");
        let again = ecosystem.spec(spec.written()).expect(id);
        assert_eq!(again.set(), spec.set(), "{id}: {spec}");
    }
}
