//! Models that Murano's engine loads or refuses: `pin` and `pin --check` give its answer.
//!
//! Nearly all expected answers were measured with murano 16.0.0 (`MuranoDslExecutor.load`). It loads no class whose
//! unrelated parents both declare a property: there, the rows have the answers of pkgres.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use pkgres_checks::{BoundPackage, BoundPackages, check_model_of};
use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{
    Limits, ObjectModel, Package, PackageManifest, ReadOptions, RegistryName, Release, Version,
};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, solve};
use pkgres_resolver::{ModelRoot, ObjectRequirement, Request, Root, SolveOptions};
use pkgres_tests::build::{package, spec};

/// The classes that every case has.
const CLASSES: &[(&str, &str)] = &[
    ("Y", "Properties:\n  w:\n    Contract: $\n"),
    ("Z", "Properties:\n  w:\n    Contract: $\n"),
    ("B", ""),
    ("S", "Extends: B\n"),
];

/// A package with class `X` and some others; those of a case precede those that every case has.
fn read_package(classes: &[(&str, &str)]) -> Arc<Package> {
    let known = CLASSES
        .iter()
        .filter(|(name, _)| !classes.iter().any(|(own, _)| own == name));
    let all: Vec<&(&str, &str)> = classes.iter().chain(known).collect();
    let mut manifest = "FullName: A\nType: Library\nVersion: 1.0.0\nClasses:\n".to_owned();
    let mut text = String::new();
    for (name, body) in &all {
        writeln!(manifest, "  A.{name}: C.yaml").expect("there is memory");
        write!(text, "---\nNamespaces: {{=: A}}\nName: {name}\n{body}").expect("there is memory");
    }
    let options = ReadOptions::with_core(None);
    let manifest = PackageManifest::read("manifest.yaml", manifest.as_bytes(), &options);
    let (manifest, _) = manifest.into_result().expect("the manifest is valid");
    let read = Package::assemble(manifest, &options, |_| Some(text.clone().into_bytes()));
    let (package, _) = read.into_result().expect("the classes are right");
    Arc::new(package)
}

/// An object `a` of class `X` with these properties, in JSON.
fn read_model(properties: &str) -> Arc<ObjectModel> {
    let separator = if properties.is_empty() { "" } else { ", " };
    let text = format!(r#"{{"?": {{"id": "a", "type": "A.X"}}{separator}{properties}}}"#);
    let model = ObjectModel::read("model.json", text.as_bytes(), &Limits::default());
    Arc::new(model.into_result().expect("the model is valid").0)
}

/// Solves a model whose objects all have classes of one package. Returns the outcome.
fn answer(read: &Arc<Package>, model: &Arc<ObjectModel>, max_steps: u64) -> Answer {
    let mut registry = MemoryRegistry::new(RegistryName::parse("default").expect("a name"));
    registry.add_package(Arc::clone(read));
    let registries = RegistrySet::new(vec![Box::new(registry)]);
    let root = ModelRoot::new(Arc::clone(model), |_| ObjectRequirement {
        package: package("A"),
        spec: spec("*"),
    });
    let mut request = Request::of_roots(vec![Root::Model(root)]);
    request.core = None;
    request.options.max_steps = max_steps;
    let options = ReadOptions::with_core(None);
    solve(request, &registries, &options).expect("memory can be read")
}

/// Whether the solver and the check accept the properties of an object `a` of class `X`.
fn verdicts(classes: &[(&str, &str)], properties: &str) -> (bool, bool) {
    let read = read_package(classes);
    let model = read_model(properties);
    let answer = answer(&read, &model, SolveOptions::DEFAULT_MAX_STEPS);
    let release = Release::new(package("A"), Version::new(1, 0, 0));
    let bound = BoundPackage {
        package: Some(read),
        requires: Vec::new(),
    };
    let packages = BoundPackages {
        root_class: None,
        releases: BTreeMap::from([(release.clone(), bound)]),
    };
    let report = check_model_of(&model, &packages, |_| Some(release.clone()));
    let has_errors = report.findings.iter().any(Diagnostic::is_error);
    (matches!(answer, Answer::Solved(_)), !has_errors)
}

fn assert_verdict(classes: &[(&str, &str)], properties: &str, expected: bool) {
    let shown = format!("{classes:?}: {properties}");
    assert_eq!(
        verdicts(classes, properties),
        (expected, expected),
        "{shown}"
    );
}

/// A class body with property `v`.
fn with_property(contract: &str, more: &str) -> String {
    format!("Properties:\n  v:\n    Contract: {contract}\n{more}")
}

/// Contracts of `v`, values, and whether the engine accepts them.
#[test]
fn values_of_one_contract() {
    for (contract, value, expected) in [
        // An object that is described belongs to its holder.
        ("$.class(Y).notOwned()", r#"{"w": 1}"#, false),
        (
            "$.class(Y).notOwned()",
            r#"{"?": {"id": "k"}, "w": 1}"#,
            false,
        ),
        (
            "$.class(Y).notOwned()",
            r#"{"?": {"id": "k", "type": "A.Y"}}"#,
            false,
        ),
        ("[$.class(Y).notOwned()]", r#"[{"w": 1}]"#, false),
        (
            "{$.string(): $.class(Y).notOwned()}",
            r#"{"a": {"w": 1}}"#,
            false,
        ),
        ("$.class(Y).owned()", r#"{"w": 1}"#, true),
        ("$.class(Y).notOwned()", "null", true),
        // An object that names no class is of the default one, which has to meet the contract.
        ("$.class(Y, X)", "{}", false),
        ("$.class(Y, X)", r#"{"?": {"id": "k"}}"#, false),
        ("$.class(Y, X)", "null", true),
        (
            "$.class(Y, X)",
            r#"{"?": {"id": "k", "type": "A.Y"}}"#,
            true,
        ),
        ("$.template(Y, X)", "{}", false),
        ("$.class(B, S)", "{}", true),
        ("$.template(B, S)", "{}", true),
        ("$.class(S, B)", "{}", false),
        ("$.class(B, S, '>=9')", "{}", false),
        ("$.class(B, S, '1')", "{}", true),
        ("$.class(Y, Y, '>=9')", "{}", false),
        // A second function gets the object that the first one made.
        ("$.class(Y).class(Z)", "{}", false),
        ("$.template(Y).class(Z)", "{}", false),
        ("$.class(S).class(B)", "{}", true),
        ("$.class(Y).template(Y)", "{}", true),
        // Where no contract reads an object without `type` as one, it is a mapping whose header is one more key.
        ("{x: $.int()}", r#"{"?": {"id": "k"}, "x": 1}"#, true),
        ("{x: $.int()}", r#"{"?": {"id": "k"}, "x": "y"}"#, false),
        ("{$.string(): $}", r#"{"?": {"id": "k"}, "w": 1}"#, true),
        ("{$.string(): $.int()}", r#"{"?": {"id": "k"}}"#, false),
        ("$", r#"{"?": {"id": "k"}}"#, true),
        ("$.string()", r#"{"?": {"id": "k"}}"#, false),
        ("$.int()", r#"{"?": {"id": "k"}}"#, false),
    ] {
        let class = with_property(contract, "");
        assert_verdict(&[("X", &class)], &format!(r#""v": {value}"#), expected);
    }
}

/// The contract of `w` in an object of class `Y` that is described in `v`, and what is referred to.
#[test]
fn owners_are_described_objects() {
    for (contract, properties, expected) in [
        (
            "$.class(Z).owned()",
            r#""u": {"?": {"id": "z", "type": "A.Z"}}, "v": {"w": "z"}"#,
            false,
        ),
        (
            "$.class(Z).owned()",
            r#""v": {"w": {"?": {"id": "z", "type": "A.Z"}}}, "u": "z""#,
            true,
        ),
        (
            "$.class(Z).notOwned()",
            r#""u": {"?": {"id": "z", "type": "A.Z"}}, "v": {"w": "z"}"#,
            true,
        ),
        (
            "$.class(Z).notOwned()",
            r#""u": {"?": {"id": "z", "type": "A.Z"}}, "v": {"?": {"id": "k"}, "w": "z"}"#,
            true,
        ),
        (
            "$.class(Z).owned()",
            r#""u": {"?": {"id": "z", "type": "A.Z"}}, "v": {"?": {"id": "y", "type": "A.Y"}, "w": "z"}"#,
            false,
        ),
        (
            "$.class(Z).notOwned()",
            r#""v": {"w": {"?": {"id": "z", "type": "A.Z"}}}"#,
            false,
        ),
    ] {
        let holder =
            "Properties:\n  u:\n    Contract: $.class(Z)\n  v:\n    Contract: $.class(Y)\n";
        let described = format!("Properties:\n  w:\n    Contract: {contract}\n");
        assert_verdict(&[("X", holder), ("Y", &described)], properties, expected);
    }
}

/// The contracts of `u` and `v`, and an object without `type` that one of them describes and the other refers to.
#[test]
fn references_to_objects_without_type_are_checked() {
    for (u, v, properties, expected) in [
        (
            "$.class(Z)",
            "$.class(Y)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            false,
        ),
        (
            "$.class(Z)",
            "$.class(Y)",
            r#""u": "k", "v": {"?": {"id": "k"}}"#,
            false,
        ),
        (
            "$.class(Y)",
            "$.class(Y)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            true,
        ),
        (
            "$.class(B)",
            "$.class(S)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            true,
        ),
        (
            "$.class(S)",
            "$.class(B, S)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            true,
        ),
        (
            "$.class(S)",
            "$.class(B)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            false,
        ),
        (
            "$.class(Y).owned()",
            "$.class(Y).notOwned()",
            r#""v": "k", "u": {"?": {"id": "k"}}"#,
            false,
        ),
        (
            "$.class(Y).owned()",
            "$.class(Y).owned()",
            r#""v": "k", "u": {"?": {"id": "k"}}"#,
            true,
        ),
        (
            "$.string()",
            "$.class(Y)",
            r#""v": {"?": {"id": "k"}}, "u": "k""#,
            true,
        ),
    ] {
        let class = format!("Properties:\n  u:\n    Contract: {u}\n  v:\n    Contract: {v}\n");
        assert_verdict(&[("X", &class)], properties, expected);
    }
}

/// The declaration of `v` in class `X`, that of its parent `P`, the value, and the verdict.
#[test]
fn parents_look_at_what_the_nearest_contract_made() {
    for (own, parent, value, expected) in [
        ("$.int()", "$.string()", Some("5"), false),
        ("$.string()", "$.int()", Some("5"), false),
        ("$", "$.int()", Some(r#""5""#), false),
        ("$", "$.int()", Some("5"), true),
        ("$", "$.int()", Some("5.5"), false),
        ("$", "$.int()", Some("true"), false),
        ("$.int()", "$.int()", Some(r#""5""#), true),
        ("$", "$.bool()", Some("5"), false),
        ("$.bool()", "$.bool()", Some("5"), true),
        ("[$.int()]", "$.notNull()", Some("null"), true),
        ("[$]", "$.string()", Some(r#""a""#), false),
        ("$", "[$.int()]", Some("5"), true),
        ("$", "[$.int()]", Some("null"), true),
        (
            "{j: $}",
            "{k: $.notNull()}",
            Some(r#"{"j": 1, "k": 2}"#),
            false,
        ),
        ("{k: $}", "{k: $.notNull()}", Some(r#"{"k": 2}"#), true),
        (
            "$",
            "$.class(Y)",
            Some(r#"{"?": {"id": "y", "type": "A.Y"}}"#),
            false,
        ),
        ("$.string()", "$.class(Y)", Some(r#""text""#), false),
        (
            "$.class(Y)",
            "$.class(Y)",
            Some(r#"{"?": {"id": "y", "type": "A.Y"}}"#),
            true,
        ),
        ("$.class(S)", "$.class(B)", Some("{}"), true),
        ("$.class(B)", "$.class(S)", Some("{}"), false),
        ("$.template(Y)", "$.class(Y)", Some("{}"), true),
        ("$.class(Y)", "$.class(Y).notOwned()", Some("{}"), true),
        ("$.class(Y).owned()", "$.class(Y)", Some("{}"), true),
        (
            "$.int().notNull()\n    Default: 5",
            "$.int().notNull()",
            None,
            true,
        ),
        ("$.int()\n    Default: 5", "$.int().notNull()", None, true),
        ("$.int().notNull()", "$.int()\n    Default: 5", None, false),
        ("$.int()", "$.int().notNull()\n    Default: 5", None, false),
        (
            "$.string()\n    Usage: Runtime",
            "$.int().notNull()",
            Some("5"),
            true,
        ),
        (
            "$.string()\n    Usage: Runtime",
            "$.int().notNull()",
            None,
            true,
        ),
        ("$\n    Usage: Static", "$.int().notNull()", None, true),
        ("$\n    Usage: Out", "$.int().notNull()", None, false),
        ("$", "$.int()\n    Usage: Runtime", Some(r#""abc""#), false),
        ("$", "$.int()\n    Usage: Static", Some(r#""abc""#), false),
    ] {
        let class = format!("Extends: P\n{}", with_property(own, ""));
        let parent = with_property(parent, "");
        let properties = value.map_or_else(String::new, |value| format!(r#""v": {value}"#));
        assert_verdict(&[("X", &class), ("P", &parent)], &properties, expected);
    }
}

/// A value that an earlier deployment did not leave is null.
#[test]
fn missing_values_of_out_properties_are_null() {
    for (usage, expected) in [
        ("In", false),
        ("Out", false),
        ("Runtime", true),
        ("Static", true),
        ("Config", true),
    ] {
        let class = with_property("$.string().notNull()", &format!("    Usage: {usage}\n"));
        assert_verdict(&[("X", &class)], "", expected);
    }
}

/// The nearest declaration may be that of another parent. The engine loads no class with two unrelated declarations, so
/// the first one counts here.
#[test]
fn the_nearest_declaration_of_the_whole_ancestry_counts() {
    let required = with_property("$.int().notNull()", "");
    let heir = format!(
        "Extends: B\n{}",
        with_property("$.int()", "    Default: 5\n")
    );
    let runtime = with_property("$.int()", "    Usage: Runtime\n");
    for (extends, parent, base, expected) in [
        ("P, B", &heir, &required, true),
        ("P, B", &runtime, &required, true),
        ("B, P", &runtime, &required, false),
        ("B, P", &required, &runtime, true),
    ] {
        let class = format!("Extends: [{extends}]\n");
        let classes = [
            ("X", class.as_str()),
            ("P", parent.as_str()),
            ("B", base.as_str()),
            ("S", ""),
        ];
        assert_verdict(&classes, "", expected);
    }
}

/// The engine looks up the classes that a contract names before it looks at the value. The declaration of `v` in class
/// `X`, the rest of that declaration, the value, and the verdict.
#[test]
fn classes_of_contracts_are_found_whatever_the_value_is() {
    let gone = "$.class('A.Gone')";
    let (items, entry, entries) = (
        format!("[{gone}]"),
        format!("{{k: {gone}}}"),
        format!("{{$.string(): {gone}}}"),
    );
    for (contract, more, value, expected) in [
        (gone, "", None, false),
        (gone, "", Some("null"), false),
        ("$.template('A.Gone')", "", None, false),
        ("$.int().class('A.Gone')", "", None, false),
        ("$.class(Y, 'A.Gone')", "", None, false),
        (
            "$.class(Y, 'A.Gone')",
            "",
            Some(r#"{"?": {"id": "y", "type": "A.Y"}}"#),
            false,
        ),
        ("$.class(Y)", "", None, true),
        (gone, "    Usage: Out\n", None, false),
        (gone, "    Usage: Static\n", None, true),
        (gone, "    Usage: Config\n", None, false),
        (gone, "    Usage: Runtime\n", None, true),
        (gone, "    Usage: Runtime\n    Default: null\n", None, false),
        (gone, "    Default: null\n", None, false),
        (&items, "", None, true),
        (&items, "", Some("[]"), true),
        (&items, "", Some("[null]"), false),
        (&items, "    Default: []\n", None, true),
        (&entry, "", None, false),
        (&entry, "", Some("{}"), false),
        (&entry, "    Default: {}\n", None, false),
        (&entries, "", Some("{}"), true),
        (&entries, "", Some(r#"{"a": null}"#), false),
    ] {
        let class = with_property(contract, more);
        let properties = value.map_or_else(String::new, |value| format!(r#""v": {value}"#));
        assert_verdict(&[("X", &class)], &properties, expected);
    }
    for (own, value, expected) in [
        ("$", None, false),
        ("$", Some("null"), false),
        ("$\n    Default: null", None, false),
        ("$\n    Usage: Static", None, true),
    ] {
        let class = format!("Extends: P\n{}", with_property(own, ""));
        let parent = with_property(gone, "");
        let properties = value.map_or_else(String::new, |value| format!(r#""v": {value}"#));
        assert_verdict(&[("X", &class), ("P", &parent)], &properties, expected);
    }
}

/// Only plain scalars, and those with a tag, are expressions; others are texts. Contracts of `v`, values, and verdicts.
#[test]
fn quoted_contracts_are_texts() {
    for (contract, value, expected) in [
        ("'$.int().notNull()'", "5", false),
        ("'$.int().notNull()'", r#""$.int().notNull()""#, true),
        ("\"$\"", "5", false),
        ("\"$\"", r#""$""#, true),
        ("!yaql '$.int()'", "5", true),
        ("!yaql '$.int()'", r#""x""#, false),
        ("|\n      $.int()", "5", false),
        ("|\n      $.int()", r#""$.int()\n""#, true),
        ("|-\n      $.int()", r#""$.int()""#, true),
        ("!yaql |\n      $.int()", "5", true),
        ("!yaql |\n      $.int()", r#""x""#, false),
        ("['$.int()']", "[5]", false),
        ("['$.int()']", r#"["$.int()"]"#, true),
        ("[$.int(), '1']", "[]", true),
        ("[$.int(), '1']", r#"[5, "1"]"#, true),
        ("[$.int(), 1]", "[]", false),
        ("[$.int(), true]", "[]", false),
        ("[$.int(), true]", "[5, 6]", true),
        ("{'$.string()': $.int().notNull()}", r#"{"a": 5}"#, false),
        (
            "{'$.string()': $.int().notNull()}",
            r#"{"$.string()": 5}"#,
            true,
        ),
        ("{!yaql '$.string()': $.int()}", r#"{"a": "x"}"#, false),
    ] {
        let class = with_property(contract, "");
        assert_verdict(&[("X", &class)], &format!(r#""v": {value}"#), expected);
    }
}

/// A long line of classes that all declare a property with many items: the look at each item by each class counts.
#[test]
fn looks_at_values_are_bounded() {
    let declares = "Properties:\n  v:\n    Contract: [$.int()]\n";
    let names: Vec<String> = (0..100).map(|number| format!("L{number}")).collect();
    let bodies: Vec<String> = (names.iter().skip(1))
        .map(|parent| format!("Extends: {parent}\n{declares}"))
        .chain([declares.to_owned()])
        .collect();
    let first = format!("Extends: L0\n{declares}");
    let mut classes = vec![("X", first.as_str())];
    classes.extend(
        names
            .iter()
            .zip(&bodies)
            .map(|(name, body)| (name.as_str(), body.as_str())),
    );
    let read = read_package(&classes);
    let items = ["1"; 1000].join(", ");
    let model = read_model(&format!(r#""v": [{items}]"#));
    assert!(matches!(answer(&read, &model, 10_000), Answer::Solved(_)));
    assert!(matches!(answer(&read, &model, 1000), Answer::GaveUp { .. }));
}
