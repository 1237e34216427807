//! Writes interfaces from existing classes: the functions of one class, or those that most classes of a package have.

use std::collections::BTreeMap;

use pkgres_manifest::{Argument, ArgumentUsage, ClassName, Method, Release, yaml_word};

use super::is_function;
use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::EffectiveMembers;

/// Returns the text of an interface with the functions that at least half of some classes of a release have, with the
/// signatures of the first class that has each. `None` if there is no such class.
///
/// Inherited methods count, those of the core library do not. Contracts are copied as they are written, unless they
/// name classes, whose names would mean nothing without the namespaces of the class file.
pub fn interface_text(
    packages: &BoundPackages,
    release: &Release,
    classes: &[ClassName],
    name: &ClassName,
) -> Option<String> {
    let mut functions: BTreeMap<&str, (usize, &Method)> = BTreeMap::new();
    let mut count = 0;
    for class in classes {
        let at = ClassAt {
            release: release.clone(),
            class: class.clone(),
        };
        if packages.definition(&at).is_none() {
            continue;
        }
        count += 1;
        for (name, method) in EffectiveMembers::of(packages, &at).methods {
            if is_function(name) && !packages.is_of_core(&method.class) {
                functions.entry(name).or_insert((0, method.member)).0 += 1;
            }
        }
    }
    if count == 0 {
        return None;
    }
    functions.retain(|_, (having, _)| *having * 2 >= count);
    let mut text = format!("Name: {}\n", yaml_word(name.as_str()));
    text.push_str(if functions.is_empty() {
        "Functions: {}\n"
    } else {
        "Functions:\n"
    });
    for (name, (_, method)) in functions {
        let name = yaml_word(name);
        if method.arguments.is_empty() {
            text.push_str(&format!("  {name}: {{}}\n"));
            continue;
        }
        text.push_str(&format!("  {name}:\n    Arguments:\n"));
        for argument in &method.arguments {
            push_argument(&mut text, argument);
        }
    }
    Some(text)
}

fn push_argument(text: &mut String, argument: &Argument) {
    let mut keys = Vec::new();
    if let Some(contract) = written_contract(argument) {
        keys.push(format!("Contract: {contract}"));
    }
    match argument.usage {
        ArgumentUsage::Standard => {}
        ArgumentUsage::VarArgs => keys.push("Usage: VarArgs".to_owned()),
        ArgumentUsage::KwArgs => keys.push("Usage: KwArgs".to_owned()),
    }
    if let Some(default) = &argument.default {
        // JSON is YAML.
        keys.push(format!("Default: {default}"));
    }
    let name = yaml_word(&argument.name.value);
    if keys.is_empty() {
        text.push_str(&format!("    - {name}: {{}}\n"));
        return;
    }
    text.push_str(&format!("    - {name}:\n"));
    for key in keys {
        text.push_str(&format!("        {key}\n"));
    }
}

/// The contract as it is written, if it is a line that means the same elsewhere.
fn written_contract(argument: &Argument) -> Option<&str> {
    let contract = &argument.contract;
    let span = contract.location.span();
    // Without a contract, the place is that of the name.
    if span == argument.name.location.span() || !contract.value.classes().is_empty() {
        return None;
    }
    let text = contract
        .location
        .source()
        .text()
        .get(span.start..span.end)?;
    let is_line = !text.contains(['\n', '#']) && !text.is_empty();
    is_line.then_some(text)
}
