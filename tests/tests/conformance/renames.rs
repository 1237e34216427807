//! Suggestions of methods that are probably meant by a missing function.

use pkgres_checks::{Baseline, Levels, Platform, conformance_findings};
use pkgres_manifest::ConformanceStatus::{Deprecated, NotImplemented};

use crate::packages::{Text, bind, conformance_of_last, facts, status};

/// The suggestions for the functions of an interface that a class lacks.
fn renames(interface: &str, class: &str) -> Vec<(String, Option<String>)> {
    let interface =
        Text::new("org.example.iface", "1.0.0").interfaces(&[("org.example.iface.I", interface)]);
    let module = Text::new("org.example.Module", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[("org.example.Module", class)])
        .implements("org.example.Module", &["org.example.iface.I"]);
    let (packages, releases) = bind(&[interface, module]);
    let classes = conformance_of_last(&packages, &releases);
    let functions = classes[0].interfaces[0].functions.iter();
    functions
        .filter(|function| !function.is_present())
        .map(|function| {
            let similar = function.similar.map(str::to_owned);
            (function.name.to_owned(), similar)
        })
        .collect()
}

#[test]
fn a_method_that_holds_where_the_interface_locks() {
    let interface = Text::new("org.example.iface", "1.0.0").interfaces(&[(
        "org.example.iface.Pkg",
        "Functions: {lock: {Arguments: [name: {}]}, install: {}}\n",
    )]);
    let module = Text::new("org.example.Apt", "1.0.0")
        .requires("org.example.iface", "1.0.0")
        .classes(&[(
            "org.example.Apt",
            "Methods: {hold: {Arguments: [name: {}]}, install: {}}\n",
        )])
        .implements("org.example.Apt", &["org.example.iface.Pkg"]);
    let (packages, releases) = bind(&[interface, module]);
    let classes = conformance_of_last(&packages, &releases);
    let of = |function| status(&classes, "org.example.Apt", function, &facts("os=Debian"));
    assert_eq!(of("lock"), Some(NotImplemented));
    assert_eq!(of("hold"), Some(Deprecated));
    let platform = Platform {
        name: String::new(),
        facts: facts("os=Debian"),
    };
    let found = conformance_findings(
        &classes,
        &[platform],
        &Levels::default(),
        &Baseline::default(),
    );
    let messages: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        messages,
        [
            "manifest.yaml:7:21: warning[PK0101]: `org.example.Apt` does not implement `lock` of `org.example.iface.Pkg`; hint: if `hold` is this function, rename it",
            "Classes/org.example.Apt.yaml:2:11: warning[PK0103]: `hold` of `org.example.Apt` is in no interface that the class implements",
        ]
    );
}

#[test]
fn similar_names_come_before_equal_signatures() {
    let missing = |name: &str, similar: Option<&str>| (name.to_owned(), similar.map(str::to_owned));
    assert_eq!(
        renames(
            "Functions: {list_packages: {}, lock: {}}\n",
            "Methods: {list_package: {}, hold: {}}\n"
        ),
        [
            missing("list_packages", Some("list_package")),
            missing("lock", Some("hold"))
        ]
    );
    // Either could be meant.
    assert_eq!(
        renames(
            "Functions: {lock: {}, freeze: {}}\n",
            "Methods: {hold: {}}\n"
        ),
        [missing("lock", None), missing("freeze", None)]
    );
    assert_eq!(
        renames("Functions: {lock: {}}\n", "Methods: {hold: {}, keep: {}}\n"),
        [missing("lock", None)]
    );
    // It cannot be called in the same way.
    assert_eq!(
        renames(
            "Functions: {lock: {Arguments: [name: {}]}}\n",
            "Methods: {hold: {}}\n"
        ),
        [missing("lock", None)]
    );
}
