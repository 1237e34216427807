//! Levels of statuses, and baselines.

use pkgres_checks::{Baseline, Level, Levels, Platform, conformance_findings};
use pkgres_manifest::ConformanceStatus;

use crate::packages::{Text, bind, conformance_of_last, facts};

fn platforms() -> [Platform; 2] {
    ["os=Debian", "os=Windows"].map(|platform| Platform {
        name: platform.to_owned(),
        facts: facts(platform),
    })
}

fn texts() -> [Text; 2] {
    let interface = Text::new("org.example.iface", "1.0.0").interfaces(&[(
        "org.example.iface.I",
        "Functions:\n  a: {}\n  b: {Arguments: [x: {}]}\n  c: {Supported: {os: Debian}}\n  d: {NotApplicable: {os: Windows}}\n",
    )]);
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[("org.example.M", "Methods: {b: {}, d: {}, e: {}}\n")])
        .implements("org.example.M", &["org.example.iface.I"]);
    [interface, module]
}

/// The findings as severity, function and platforms.
fn found(levels: &Levels, baseline: &Baseline) -> (Vec<String>, Baseline) {
    let (packages, releases) = bind(&texts());
    let classes = conformance_of_last(&packages, &releases);
    let found = conformance_findings(&classes, &platforms(), levels, baseline);
    let findings = found.findings.iter();
    let findings = findings.map(|finding| format!("{}[{}]", finding.severity, finding.code));
    let baseline = Baseline {
        entries: found.violations,
    };
    (findings.collect(), baseline)
}

#[test]
fn each_status_has_a_level() {
    let (default, _) = found(&Levels::default(), &Baseline::default());
    assert_eq!(
        default,
        [
            "warning[PK0101]",
            "error[PK0102]",
            "warning[PK0101]",
            "error[PK0104]",
            "warning[PK0103]"
        ]
    );
    let mut levels = Levels::default();
    for status in ConformanceStatus::ALL {
        levels.set(status, Level::Allow);
    }
    assert!(found(&levels, &Baseline::default()).0.is_empty());
    for status in ConformanceStatus::ALL {
        levels.set(status, Level::Deny);
    }
    let (all, _) = found(&levels, &Baseline::default());
    // The function that Windows does not support, too.
    assert_eq!(all.len(), 6);
    assert!(all.iter().all(|finding| finding.starts_with("error")));
}

#[test]
fn facts_that_a_platform_does_not_have_are_reported_once() {
    let interface = Text::new("org.example.iface", "1.0.0").interfaces(&[(
        "org.example.iface.I",
        "Functions:\n  a: {Supported: {role: web, os: Debian}}\n",
    )]);
    let mut module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[("org.example.M", ""), ("org.example.N", "")]);
    for class in ["org.example.M", "org.example.N"] {
        module = module.implements(class, &["org.example.iface.I"]);
    }
    let (packages, releases) = bind(&[interface, module]);
    let classes = conformance_of_last(&packages, &releases);
    let (levels, baseline) = (Levels::default(), Baseline::default());
    let found = conformance_findings(&classes, &platforms(), &levels, &baseline);
    let unknown: Vec<&str> = found
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .filter(|message| message.contains("unknown"))
        .collect();
    assert_eq!(
        unknown,
        ["the fact `role` is unknown on os=Debian, os=Windows, so it matches nothing there"]
    );
}

#[test]
fn a_baseline_leaves_out_what_it_knows() {
    let (_, baseline) = found(&Levels::default(), &Baseline::default());
    let text = baseline.to_text();
    assert_eq!(
        text,
        "# Known violations of interfaces: class, interface, function, status.\n\
         org.example.M - e deprecated\n\
         org.example.M org.example.iface.I a not-implemented\n\
         org.example.M org.example.iface.I b signature-mismatch\n\
         org.example.M org.example.iface.I c not-implemented\n\
         org.example.M org.example.iface.I d conflict\n"
    );
    let read = Baseline::read("baseline", &text).expect("it was written like this");
    assert_eq!(read, baseline);
    let (findings, violations) = found(&Levels::default(), &read);
    assert!(findings.is_empty());
    assert_eq!(violations, baseline, "they are still violations");
    // Another status of a known function is new.
    let less = text.replace("a not-implemented", "a conflict");
    let less = Baseline::read("baseline", &less).expect("it is valid");
    assert_eq!(found(&Levels::default(), &less).0, ["warning[PK0101]"]);
    let errors = Baseline::read(
        "baseline",
        "a b c\n\n# fine\na - f implemented\na b c good\n",
    );
    let places: Vec<String> = errors
        .expect_err("two lines are wrong")
        .iter()
        .map(|error| error.labels[0].location.to_string())
        .collect();
    assert_eq!(places, ["baseline:1:1", "baseline:5:1"]);
}
