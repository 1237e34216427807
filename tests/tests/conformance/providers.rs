//! Real providers of two virtual modules, by the signatures of their functions.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pkgres_checks::{ClassConformance, conformance, interface_text};
use pkgres_manifest::{ConformanceStatus, Facts};
use pkgres_tests::shared;
use serde_json::Value;

use crate::packages::{Text, bind, class};

/// The class file of a provider.
fn class_file(functions: &Value) -> String {
    let mut text = "Methods:\n".to_owned();
    let names = |value: &Value| -> Vec<String> {
        let names = value.as_array().into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    for (name, signature) in functions.as_object().expect("functions by name") {
        writeln!(text, "  {name}:\n    Arguments:").expect("writing to a string does not fail");
        for required in names(&signature["req"]) {
            writeln!(text, "    - \"{required}\": {{}}").expect("likewise");
        }
        for optional in names(&signature["opt"]) {
            writeln!(text, "    - \"{optional}\": {{Default: null}}").expect("likewise");
        }
        for (key, usage) in [("var", "VarArgs"), ("kw", "KwArgs")] {
            if let Some(name) = signature[key].as_str() {
                writeln!(text, "    - \"{name}\": {{Usage: {usage}}}").expect("likewise");
            }
        }
    }
    text
}

/// The providers of a virtual module as classes that implement what at least half of them have.
fn providers(module: &str) -> Option<(Vec<Text>, usize)> {
    let path = shared::path("reference/data/provider_signatures.json")?;
    let text = std::fs::read_to_string(path).expect("the facts can be read");
    let facts: Value = serde_json::from_str(&text).expect("the facts are JSON");
    let providers = facts[module].as_object().expect("providers by name");
    let classes: Vec<(String, String)> = providers
        .iter()
        .map(|(name, functions)| (format!("salt.{name}"), class_file(functions)))
        .collect();
    let borrowed: Vec<(&str, &str)> = classes
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let plain = Text::new("salt.Modules", "1.0.0").classes(&borrowed);
    let (packages, releases) = bind(std::slice::from_ref(&plain));
    let names: Vec<_> = borrowed.iter().map(|(name, _)| class(name)).collect();
    let interface = interface_text(&packages, &releases[0], &names, &class("salt.iface.Module"));
    let interface = interface.expect("there are classes");
    let (_, body) = interface
        .split_once('\n')
        .expect("the first line is the name");
    let functions = body
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let count = functions.count();
    let interfaces = Text::new("salt.iface", "1.0.0").interfaces(&[("salt.iface.Module", body)]);
    let mut modules = plain.requires("salt.iface", "1.0.0");
    for (name, _) in &borrowed {
        modules = modules.implements(name, &["salt.iface.Module"]);
    }
    Some((vec![interfaces, modules], count))
}

fn counts(classes: &[ClassConformance<'_>]) -> BTreeMap<&'static str, usize> {
    let facts = Facts::default();
    let mut counts = BTreeMap::new();
    for function in classes.iter().flat_map(ClassConformance::functions) {
        let status = function.capability(&facts).map(|it| it.status());
        let status = status.expect("nothing is removed");
        *counts.entry(status.as_str()).or_default() += 1;
    }
    counts
}

#[test]
fn providers_of_packages_and_services_have_the_known_counts() {
    for (module, provider_count, functions, implemented, missing, deprecated) in [
        ("pkg", 21, 11, 188, 43, 168),
        ("service", 17, 14, 204, 34, 38),
    ] {
        let Some((texts, function_count)) = providers(module) else {
            return;
        };
        assert_eq!(function_count, functions, "{module}");
        let (packages, releases) = bind(&texts);
        let classes = conformance(&packages, &releases[1]);
        assert_eq!(classes.len(), provider_count, "{module}");
        let counts = counts(&classes);
        let count = |status: ConformanceStatus| counts.get(status.as_str()).copied().unwrap_or(0);
        // By names alone, a function with another signature is implemented.
        let mismatches = count(ConformanceStatus::SignatureMismatch);
        assert_eq!(
            count(ConformanceStatus::Implemented) + mismatches,
            implemented,
            "{module}"
        );
        assert!(
            mismatches > 0,
            "{module}: the signatures of providers differ"
        );
        assert_eq!(
            count(ConformanceStatus::NotImplemented),
            missing,
            "{module}"
        );
        assert_eq!(count(ConformanceStatus::Deprecated), deprecated, "{module}");
    }
}
