//! The order of releases, against a comparison that is written from the rules.

use std::cmp::Ordering;

use pkgres_formats::opcua::{ECOSYSTEM, ModelRelease};
use pkgres_manifest::Version;
use proptest::prelude::*;

/// What a model states, as the rules compare it.
#[derive(Debug, Clone)]
struct Stated {
    version: Option<String>,
    /// Seconds since 1970.
    published: Option<i64>,
    model_version: Option<String>,
}

impl Stated {
    fn release(&self) -> ModelRelease {
        let published = self.published.map(|seconds| {
            let time = jiff::Timestamp::from_second(seconds).expect("it is in range");
            time.to_string()
        });
        ModelRelease::new(
            self.version.as_deref(),
            published.as_deref(),
            self.model_version.as_deref(),
        )
        .expect("the parts are valid")
    }

    /// Compares what requirements compare: `ModelVersion` if both have one, else whether they have one; then the date.
    fn cmp_required(&self, other: &Self) -> Ordering {
        let semantic = |text: &String| semver::Version::parse(text).expect("it is semantic");
        let model_version = match (&self.model_version, &other.model_version) {
            (Some(one), Some(two)) => semantic(one).cmp_precedence(&semantic(two)),
            (one, two) => one.is_some().cmp(&two.is_some()),
        };
        model_version.then(self.published.cmp(&other.published))
    }

    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = |stated: &Self| -> Vec<u128> {
            let text = stated.version.clone().unwrap_or_default();
            let parts = text.split(|next: char| !next.is_ascii_digit());
            let parts = parts.filter(|part| !part.is_empty());
            parts
                .map(|part| part.parse().expect("it is short"))
                .collect()
        };
        self.cmp_required(other)
            .then_with(|| numbers(self).cmp(&numbers(other)))
    }
}

fn stated() -> impl Strategy<Value = Stated> {
    let number = prop_oneof![
        Just("0"),
        Just("1"),
        Just("00"),
        Just("01"),
        Just("10"),
        Just("2")
    ];
    let version = proptest::collection::vec(number, 0..4).prop_map(|parts| parts.join("."));
    let version = prop_oneof![
        version.prop_map(Some),
        Just(None),
        Just(Some("1.0 RC".to_owned())),
        Just(Some("18446744073709551616.1".to_owned())),
    ];
    let published = prop_oneof![
        Just(None),
        Just(Some(-62_135_596_800)),
        Just(Some(0)),
        Just(Some(1_702_598_400)),
        (1_702_598_390_i64..1_702_598_410).prop_map(Some),
        Just(Some(253_402_200_000)),
    ];
    let prerelease = prop_oneof![
        Just(""),
        Just("-0"),
        Just("-1"),
        Just("-rc"),
        Just("-rc.1"),
        Just("-rc.1.0"),
        Just("-rc.a"),
        Just("-rc.10"),
        Just("-a.0.1"),
        Just("-0.1"),
        Just("-1.0"),
        Just("-z"),
    ];
    let triple = prop_oneof![
        Just("0.0.0"),
        Just("1.0.0"),
        Just("1.5.2"),
        Just("1.5.10"),
        Just("2.0.0")
    ];
    let model_version = (triple, prerelease).prop_map(|(triple, pre)| format!("{triple}{pre}"));
    let model_version = prop_oneof![Just(None), model_version.prop_map(Some)];
    (version, published, model_version).prop_map(|(version, published, model_version)| Stated {
        version: version.filter(|text| !text.is_empty()),
        published,
        model_version,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn places_are_ordered_by_the_rules(one in stated(), two in stated()) {
        let (first, second) = (one.release(), two.release());
        prop_assert_eq!(first.to_version().cmp(&second.to_version()), one.cmp(&two));
        prop_assert_eq!(first.cmp_by_rules(&second), one.cmp(&two));
        // A requirement is a least release; the numbers of `Version` do not count.
        let is_any = one.published.is_none() && one.model_version.is_none();
        let is_enough = is_any || two.cmp_required(&one).is_ge();
        prop_assert_eq!(first.to_spec().matches(&second.to_version()), is_enough);
    }

    #[test]
    fn releases_are_read_from_their_texts(stated in stated()) {
        let release = stated.release();
        let version = release.to_version();
        prop_assert_eq!(ModelRelease::of(&version), Some(release.clone()));
        prop_assert_eq!(ModelRelease::read(&release.full_text()), Some(release.clone()));
        let stored = Version::from_stored(&version.to_stored()).expect("it was stored");
        prop_assert_eq!(ModelRelease::of(&stored), Some(release.clone()));
        let spec = release.to_spec();
        prop_assert_eq!(ECOSYSTEM.spec(spec.written()).expect("it was written"), spec);
        if release.model_version().is_none() {
            prop_assert_eq!(ECOSYSTEM.version(&version.to_string()).expect("it was written"), version);
        }
    }
}

#[test]
fn releases_are_written_with_their_dates() {
    for (version, published, written) in [
        (
            Some("1.05.03"),
            Some("2023-12-15T00:00:00Z"),
            "1.05.03@2023-12-15",
        ),
        (
            Some("1.00.02"),
            Some("2024-02-02T12:00:00Z"),
            "1.00.02@2024-02-02T12:00:00Z",
        ),
        (
            Some("1.0 "),
            Some("2017-10-11T14:00:00+02:00"),
            "1.0@2017-10-11T12:00:00Z",
        ),
        (None, Some("2017-07-14"), "@2017-07-14"),
        (Some("1.00"), None, "1.00@"),
        (
            Some("1.1"),
            Some("2020-01-01T00:00:00.25"),
            "1.1@2020-01-01T00:00:00.25Z",
        ),
        (Some(""), Some(""), "@"),
        (Some("1"), Some("2023-12-31T24:00:00Z"), "1@2024-01-01"),
        (
            Some("1"),
            Some("2023-12-31T24:00:00.000+02:00"),
            "1@2023-12-31T22:00:00Z",
        ),
        (
            Some("1"),
            Some("9999-12-31T23:59:59Z"),
            "1@9999-12-31T23:59:59Z",
        ),
        (Some("1"), Some("9999-12-31"), "1@9999-12-31"),
        (Some("1"), Some("0001-01-01T00:00:00Z"), "1@0001-01-01"),
    ] {
        let release = ModelRelease::new(version, published, None).expect(written);
        assert_eq!(release.to_string(), written);
    }
    for (version, published, model_version) in [
        (Some("1@2"), None, None),
        (Some("1\n2"), None, None),
        (None, Some("yesterday"), None),
        (None, Some("2023-02-30T00:00:00Z"), None),
        (None, Some("-000001-01-01T00:00:00Z"), None),
        (None, Some("2023-12-31T24:00:01Z"), None),
        (None, Some("2023-12-31T24:00:00."), None),
        (None, Some("9999-12-31T24:00:00Z"), None),
        (None, Some("9999-12-31T23:59:59-01:00"), None),
        (None, None, Some("one")),
        (None, None, Some("18446744073709551615.0.0")),
    ] {
        let read = ModelRelease::new(version, published, model_version);
        assert!(read.is_err(), "{version:?} {published:?} {model_version:?}");
    }
}

#[test]
fn the_longest_texts_have_places() {
    let version = "1.".repeat(49) + "1";
    let model_version = "0.0.0-".to_owned() + &"a.".repeat(26) + "a";
    let release = ModelRelease::new(
        Some(&version),
        Some("9999-12-31T23:59:59.9999999Z"),
        Some(&model_version),
    );
    let release = release.expect("it is within the limits");
    assert_eq!(ModelRelease::of(&release.to_version()), Some(release));
}

#[test]
fn errors_say_how_versions_and_requirements_are_written() {
    let error = ECOSYSTEM.version("1.05.03").expect_err("it has no date");
    assert_eq!(
        error.to_string(),
        "`1.05.03` is not a version: a release of a model is written `VERSION@DATE`, as in `1.05.03@2023-12-15`"
    );
    let error = ECOSYSTEM
        .spec("^1.05@2023-12-15")
        .expect_err("it is no requirement");
    assert!(error.to_string().contains(">=VERSION@DATE"), "{error}");
}

#[test]
fn a_spec_is_written_in_one_line_whatever_blanks_it_had() {
    for (text, written) in [
        ("1.05 \n@ 2023-12-15\t", "1.05@2023-12-15"),
        ("== \t1.05@2023-12-15 (1.5.3)", "=1.05@2023-12-15 (1.5.3)"),
        (">=\n1.05 @2023-12-15", ">=1.05@2023-12-15"),
    ] {
        let spec = ECOSYSTEM.spec(text).expect("a spec");
        assert_eq!(spec.written(), written);
        assert_eq!(ECOSYSTEM.spec(written).as_ref(), Ok(&spec));
    }
}

#[test]
fn a_version_alone_is_no_minimum() {
    let stated = ModelRelease::new(Some("9.0"), None, None).expect("a release");
    let spec = stated.to_spec();
    assert_eq!(spec.written(), "*");
    assert!(spec.matches(&ECOSYSTEM.version("1.0@2020-01-01").expect("a version")));
    let spec = ECOSYSTEM.spec(">=9.0@").expect("a spec");
    assert_eq!(spec.written(), "*");
}
