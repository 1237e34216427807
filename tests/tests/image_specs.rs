//! Validation files that operators used in production: image specs of Sahara's plug-ins. The lints find in them what
//! reading them with care finds, and nothing else.

use pkgres_checks::check_validation;
use pkgres_manifest::{ReadOptions, Validation, ValidatorCheck, read_validation_file};
use pkgres_tests::shared;

/// Each spec with its findings.
const FINDINGS: [(&str, &[&str]); 4] = [
    (
        "ambari.yaml",
        &[
            "7:9: PK0097 the choice `2.4.3.0` has no case",
            "94:28: PK0096 `centos/unlimited_security_artifacts` asks for `unlimited_security_location`, which is not an argument",
        ],
    ),
    (
        "cdh_v5_7_0.yaml",
        &[
            "7:9: PK0097 the choice `oracle-java` has no case",
            "12:5: PK0072 the key `hidden` has no meaning in an argument",
        ],
    ),
    (
        "mapr.yaml",
        &[
            "11:5: PK0072 the key `hidden` has no meaning in an argument",
            "14:14: PK0110 `1` is not text for every YAML reader",
            "18:5: PK0072 the key `hidden` has no meaning in an argument",
        ],
    ),
    (
        "spark.yaml",
        &[
            "16:9: PK0097 the choice `oracle-java` has no case",
            "44:36: PK0096 `common/install_spark` asks for `cdh_version`, which is not an argument",
        ],
    ),
];

/// A spec with its findings, or `None` if the shared data is missing.
fn read(name: &str) -> Option<(Validation, Vec<String>)> {
    let file = shared::path("corpus/image-specs")?.join(name);
    let bytes = std::fs::read(file).expect("it can be read");
    let read = read_validation_file(name, &bytes, &ReadOptions::default());
    let (validation, mut findings) = read.into_result().expect("it is valid");
    // Their scripts are not part of the data.
    findings.extend(check_validation(&validation, |_| true));
    let shown = findings.iter().map(|finding| {
        let position = finding.labels[0].location.position();
        let (line, column) = (position.line, position.column);
        format!("{line}:{column}: {} {}", finding.code, finding.message)
    });
    let shown = shown.collect();
    Some((validation, shown))
}

#[test]
fn lints_find_the_known_mistakes_of_real_specs_and_nothing_else() {
    for (name, expected) in FINDINGS {
        if let Some((_, found)) = read(name) {
            assert_eq!(found, expected, "{name}");
        }
    }
}

#[test]
fn every_validator_of_real_specs_is_read() {
    let counts = |name: &str| {
        let (validation, _) = read(name)?;
        let mut counts = [0_usize; 5];
        validation.visit(|validator| match &validator.check {
            ValidatorCheck::Packages(packages) => counts[0] += packages.len(),
            ValidatorCheck::Script(_) => counts[1] += 1,
            ValidatorCheck::CopyScript(_) => counts[2] += 1,
            ValidatorCheck::OsCase(_) => counts[3] += 1,
            ValidatorCheck::ArgumentCase(_) => counts[4] += 1,
            _ => {}
        });
        Some(counts)
    };
    // Counted with another YAML reader.
    for (name, expected) in [
        ("mapr.yaml", [119, 14, 11, 4, 2]),
        ("spark.yaml", [6, 9, 0, 4, 1]),
    ] {
        if let Some(counts) = counts(name) {
            assert_eq!(counts, expected, "{name}");
        }
    }
}
