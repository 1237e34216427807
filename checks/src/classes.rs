//! Checks the classes of a package without knowing other packages.

use std::collections::{BTreeMap, HashMap, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located};
use pkgres_manifest::{
    ClassDefinition, ClassName, ClassUsage, Contract, ContractCheck, Exclusions, Limits, ObjectId,
    ObjectModel, Package, PackageName, PackagePath, Property, PropertyHolder, Rule,
    SuggestionEffort, ValueProblem, class_cycles, did_you_mean, most_similar,
};

use crate::suggestions::Suggestions;
use crate::{ambiguous_properties, written_contracts};

/// The most classes of a cycle that are named.
const NAMED_IN_A_CYCLE: usize = 8;

/// The functions of contracts that the deployment engine knows.
const CONTRACT_FUNCTIONS: [&str; 9] = [
    "bool", "check", "class", "int", "notNull", "notOwned", "owned", "string", "template",
];

/// The usages of properties that the deployment engine knows.
const PROPERTY_USAGES: [&str; 7] = ["Config", "Const", "In", "InOut", "Out", "Runtime", "Static"];

pub(crate) fn check(
    package: &Package,
    core: Option<&PackageName>,
    effort: &mut SuggestionEffort,
    findings: &mut Vec<Diagnostic>,
) {
    let mut defined_instead =
        (!package.undefined_classes.is_empty()).then(|| DefinedInstead::new(package));
    for class in &package.undefined_classes {
        let message = format!(
            "the class `{}` is listed, but its file does not define it",
            class.value
        );
        let mut finding =
            Diagnostic::error(Code::ClassNotDefined, message).at(class.location.clone());
        let instead = defined_instead.as_mut();
        if let Some(name) = instead.and_then(|instead| instead.of(&class.value, effort)) {
            finding = finding.hint(format!("the file defines `{name}`"));
        }
        findings.push(finding);
    }
    if let Some(core) = core.filter(|core| *core != package.name()) {
        let root = core.root_class();
        for entry in &package.manifest.classes {
            if entry.name.value == root {
                let message = format!("only the core library can define `{root}`");
                findings.push(
                    Diagnostic::error(Code::ClassName, message).at(entry.name.location.clone()),
                );
            }
        }
    }
    let Some(classes) = &package.classes else {
        return;
    };
    for class in classes.values() {
        check_usage(classes, class, findings);
        check_descriptions(classes, class, findings);
        check_class(class, findings);
    }
    ambiguous_properties::check(classes, findings);
    check_cycles(classes, findings);
}

/// Checks a class by itself.
pub(crate) fn check_class(class: &ClassDefinition, findings: &mut Vec<Diagnostic>) {
    findings.extend(class.rejections.iter().cloned());
    for key in &class.unknown_keys {
        let message = format!(
            "unknown key `{}` in a class",
            Escaped::shortened(&key.value)
        );
        let mut finding = Diagnostic::warning(Code::UnknownKey, message).at(key.location.clone());
        finding = finding.maybe_hint(ClassDefinition::similar_key(&key.value).map(did_you_mean));
        findings.push(finding);
    }
    check_own_uses(class, findings);
    let mut check_contracts = |name: &str, contract: &Located<Contract>| {
        check_contract(name, contract, findings);
        written_contracts::check(name, contract, findings);
    };
    for property in &class.properties {
        check_contracts(&property.name.value, &property.contract);
    }
    let arguments = class.methods.iter().flat_map(|method| &method.arguments);
    for argument in arguments {
        check_contracts(&argument.name.value, &argument.contract);
    }
    for property in &class.properties {
        check_property_usage(property, findings);
        check_default(property, findings);
    }
    for creation in class.creations.iter().filter(|it| it.is_unquoted) {
        let class = &creation.class;
        let finding = written_contracts::unquoted_class(Code::ClassFile, class.value.as_str());
        findings.push(finding.at(class.location.clone()));
    }
}

/// Reports a class that is needed before it is loaded: the deployment engine looks up what a class imports, and its
/// meta classes, while it loads the class. An import with the full name of the class itself is skipped.
fn check_own_uses(class: &ClassDefinition, findings: &mut Vec<Diagnostic>) {
    let name = &class.name.value;
    let metas = class.described_by.iter().flat_map(|it| &it.metas);
    let own_meta = metas.into_iter().find(|meta| meta.value == *name);
    let own_import = class.imports.contains(name);
    let own_import = own_import.then(|| class.uses.iter().find(|used| used.value == *name));
    let written_short = own_import.flatten().filter(|used| {
        let span = used.location.span();
        let written = used.location.source().text().get(span.start..span.end);
        written.is_none_or(|written| written.trim_matches(['"', '\'']) != name.as_str())
    });
    let (location, problem) = match (own_meta, written_short) {
        (Some(meta), _) => (&meta.location, "is its own meta class"),
        (None, Some(import)) => (&import.location, "imports itself"),
        (None, None) => return,
    };
    let message = format!("`{name}` {problem}, so it cannot be loaded");
    findings.push(Diagnostic::error(Code::ClassCycle, message).at(location.clone()));
}

/// The classes that files define instead of the listed ones.
struct DefinedInstead<'package> {
    files: HashMap<&'package ClassName, &'package PackagePath>,
    defined: BTreeMap<&'package PackagePath, Vec<&'package ClassName>>,
    suggestions: HashMap<&'package PackagePath, Suggestions>,
}

impl<'package> DefinedInstead<'package> {
    fn new(package: &'package Package) -> Self {
        let listed = package.manifest.classes.iter();
        Self {
            files: listed
                .map(|entry| (&entry.name.value, &entry.file.value))
                .collect(),
            defined: package.classes_by_file(),
            suggestions: HashMap::new(),
        }
    }

    /// The class that a file probably defines instead of a listed one.
    fn of(&mut self, listed: &ClassName, effort: &mut SuggestionEffort) -> Option<&ClassName> {
        let file = *self.files.get(listed)?;
        match self.defined.get(file)?.as_slice() {
            [] => None,
            [only] => Some(only),
            several => {
                let suggestions = self.suggestions.entry(file).or_default();
                let known = || several.iter().copied().cloned().collect();
                suggestions.similar_to(listed, effort, known)
            }
        }
    }
}

fn check_usage(
    classes: &BTreeMap<ClassName, ClassDefinition>,
    class: &ClassDefinition,
    findings: &mut Vec<Diagnostic>,
) {
    if class.usage == ClassUsage::Meta {
        return;
    }
    for parent in &class.extends {
        let is_meta = classes
            .get(&parent.value)
            .is_some_and(|parent| parent.usage == ClassUsage::Meta);
        if is_meta {
            let message = format!(
                "`{}` is a class of objects, which cannot extend the meta class `{}`",
                class.name.value, parent.value
            );
            findings.push(Diagnostic::error(Code::Extends, message).at(parent.location.clone()));
        }
    }
}

/// Reports what the meta classes of the package cannot describe.
fn check_descriptions(
    classes: &BTreeMap<ClassName, ClassDefinition>,
    class: &ClassDefinition,
    findings: &mut Vec<Diagnostic>,
) {
    for described in &class.described_by {
        let mut before = HashSet::new();
        for meta in &described.metas {
            let Some(definition) = classes.get(&meta.value) else {
                continue;
            };
            let name = &meta.value;
            let is_again = !before.insert(name);
            let problem = if definition.usage != ClassUsage::Meta {
                format!("`{name}` is not a meta class, so it describes nothing")
            } else if !definition.attachment.applies.contains(described.target) {
                let target = described.target;
                format!("`Applies` of the meta class `{name}` does not list {target}")
            } else if is_again && !definition.attachment.is_many {
                format!("the meta class `{name}` describes the same thing twice")
            } else {
                continue;
            };
            let finding = Diagnostic::error(Code::ClassFile, problem);
            findings.push(finding.at(meta.location.clone()));
        }
    }
}

/// Reports an unknown usage, for which the deployment engine rejects the whole class.
fn check_property_usage(property: &Property, findings: &mut Vec<Diagnostic>) {
    let usage = property.usage.value.as_str();
    if PROPERTY_USAGES.contains(&usage) {
        return;
    }
    let message = format!(
        "`{}` is not a usage of a property",
        Escaped::shortened(usage)
    );
    let hint = match most_similar(usage, PROPERTY_USAGES) {
        Some(similar) => did_you_mean(similar),
        None => format!("the usages are {}", PROPERTY_USAGES.join(", ")),
    };
    let finding = Diagnostic::error(Code::PropertyUsage, message)
        .at(property.usage.location.clone())
        .hint(hint);
    findings.push(finding);
}

/// Reports a default that the contract rejects: an object without a value cannot be loaded. Which objects a contract
/// accepts is left to checks of models.
fn check_default(property: &Property, findings: &mut Vec<Diagnostic>) {
    // A text with parentheses may be a call, which only the deployment engine can evaluate.
    let default = property.default.as_ref();
    let Some(default) = default.filter(|default| !default.contains('(')) else {
        return;
    };
    let model = format!(r#"{{"?": {{"type": "Any"}}, "default": {default}}}"#);
    let read = ObjectModel::read("default.json", model.as_bytes(), &Limits::default());
    let Ok((model, _)) = read.into_result() else {
        return;
    };
    let properties = model.objects().first().map(|object| &object.properties);
    let Some((_, value)) = properties.and_then(|properties| properties.first()) else {
        return;
    };
    let mut found = ContractCheck::default();
    let nothing = Exclusions::default();
    let holder = PropertyHolder {
        object: ObjectId(0),
        path: "",
        described: None,
    };
    found.property(&model, holder, property, Some(value), &nothing);
    let problem = found.violations.into_iter().find(|violation| {
        !matches!(
            violation.problem,
            ValueProblem::NotObject(_) | ValueProblem::NotTemplate(_)
        )
    });
    if let Some(violation) = problem {
        let path = Escaped::shortened(&violation.path);
        let message = format!("the default of `{path}` {}", violation.problem);
        let finding = Diagnostic::warning(Code::Contract, message);
        findings.push(finding.at(property.contract.location.clone()));
    }
}

/// Reports calls of unknown functions in contracts, which are probably misspelt.
fn check_contract(name: &str, contract: &Located<Contract>, findings: &mut Vec<Diagnostic>) {
    for rule in contract.value.rules().into_iter().flatten() {
        let Rule::Unchecked(written) = rule else {
            continue;
        };
        let Some(function) = written
            .strip_prefix('.')
            .and_then(|call| call.split_once('('))
            .map(|(function, _)| function.trim())
            .filter(|function| !CONTRACT_FUNCTIONS.contains(function))
        else {
            continue;
        };
        let message = format!(
            "the contract of `{}` calls `{}`, which is not a contract function",
            Escaped::shortened(name),
            Escaped::shortened(function)
        );
        let finding = Diagnostic::warning(Code::Contract, message).at(contract.location.clone());
        let similar = most_similar(function, CONTRACT_FUNCTIONS).map(did_you_mean);
        findings.push(finding.maybe_hint(similar));
    }
}

/// Reports cycles of classes that extend each other.
fn check_cycles(classes: &BTreeMap<ClassName, ClassDefinition>, findings: &mut Vec<Diagnostic>) {
    for cycle in class_cycles(classes) {
        let mut named: Vec<String> = (cycle.classes.iter().take(NAMED_IN_A_CYCLE))
            .map(|name| format!("`{name}`"))
            .collect();
        let others = cycle.classes.len() - named.len();
        if others > 0 {
            named.push(format!("and {others} more"));
        }
        let message = format!("{} extend each other in a cycle", named.join(", "));
        findings.push(Diagnostic::error(Code::ClassCycle, message).at(cycle.location.clone()));
    }
}
