//! The findings about interfaces, and about the classes that implement them, for `pkgres check --interfaces`.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located};
use pkgres_manifest::{
    ClassName, ConformanceStatus, FactMatch, Facts, Interface, InterfaceFunction, Package,
};

use super::{
    Baseline, BaselineEntry, Capability, ClassConformance, FunctionConformance,
    InterfaceConformance, Level, Levels, ReturnSchema,
};
use crate::required_classes::undefined_interface;

/// A platform with its name in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Platform {
    /// The name.
    pub name: String,
    /// The facts.
    pub facts: Facts,
}

/// The findings on conformance, and all violations, those of the baseline included.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ConformanceFindings {
    /// The findings.
    pub findings: Vec<Diagnostic>,
    /// Every violation.
    pub violations: BTreeSet<BaselineEntry>,
}

/// Returns what is wrong with the interfaces of a package by themselves: schemas that are none, functions that the
/// package's own version should no longer have, and implementing classes that do not exist.
pub(crate) fn check_interfaces(package: &Package) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for implementation in &package.manifest.implements {
        let class = &implementation.class;
        let classes = package.classes.as_ref();
        if classes.is_some_and(|classes| !classes.contains_key(&class.value)) {
            let message = format!("the package does not define the class `{}`", class.value);
            let finding = Diagnostic::error(Code::Interface, message);
            findings.push(finding.at(class.location.clone()));
        }
    }
    for interface in package.interfaces.values() {
        findings.extend(check_interface(interface));
        for function in &interface.functions {
            let version = &package.manifest.version;
            let deprecated = function.deprecated.as_ref();
            if deprecated.is_some_and(|deprecated| deprecated.is_removed_in(version)) {
                let name = Escaped::shortened(&function.name.value);
                let message = format!("`{name}` should have been removed by version {version}");
                let finding = Diagnostic::warning(Code::Interface, message);
                findings.push(finding.at(function.name.location.clone()));
            }
        }
    }
    findings
}

/// Returns what is wrong with an interface by itself: schemas of returned values that are none, and functions without a
/// valid value for platforms on which they do not apply.
pub fn check_interface(interface: &Interface) -> Vec<Diagnostic> {
    let problem = |function: &InterfaceFunction| {
        let schema = match ReturnSchema::of(function) {
            Ok(schema) => schema?,
            Err(invalid) => return Some(*invalid),
        };
        let is_needed = function.not_applicable.is_some() || schema.has_own_default();
        schema.default().err().filter(|_| is_needed).cloned()
    };
    interface.functions.iter().filter_map(problem).collect()
}

/// Returns the findings on the classes of a release on some platforms. Violations of the baseline are none.
pub fn conformance_findings(
    classes: &[ClassConformance<'_>],
    platforms: &[Platform],
    levels: &Levels,
    baseline: &Baseline,
) -> ConformanceFindings {
    let mut reporter = Reporter {
        platforms,
        levels,
        baseline,
        found: ConformanceFindings::default(),
        facts_reported: BTreeSet::new(),
        contradictions_reported: BTreeSet::new(),
    };
    for class in classes {
        reporter.class(class);
    }
    reporter.found
}

struct Reporter<'run> {
    platforms: &'run [Platform],
    levels: &'run Levels,
    baseline: &'run Baseline,
    found: ConformanceFindings,
    /// The places of keys that were reported as unknown facts.
    facts_reported: BTreeSet<(String, usize)>,
    /// The places of functions that were reported as contradictory.
    contradictions_reported: BTreeSet<(String, usize)>,
}

impl Reporter<'_> {
    fn class(&mut self, class: &ClassConformance<'_>) {
        let name = &class.class.value;
        for interface in &class.interfaces {
            self.interface(class, interface);
        }
        for function in &class.undeclared {
            self.function(class, None, function);
        }
        if class.is_defined && !class.unknown.is_empty() {
            let unknown: Vec<String> = class.unknown.iter().map(|it| format!("`{it}`")).collect();
            let message = format!(
                "`{name}` may inherit functions from {}, whose methods are unknown",
                unknown.join(", ")
            );
            let finding = Diagnostic::warning(Code::Interface, message);
            let location = class.class.location.clone();
            self.found.findings.push(finding.at(location));
        }
    }

    fn interface(&mut self, class: &ClassConformance<'_>, interface: &InterfaceConformance<'_>) {
        if interface.definition.is_none() {
            let finding = undefined_interface(&class.class.value, interface.interface);
            self.found.findings.push(finding);
        }
        for function in &interface.functions {
            self.unknown_facts(function);
            self.contradiction(interface.interface, function);
            self.function(class, Some(interface.interface), function);
        }
    }

    /// Warns about facts that an interface names and platforms do not have.
    fn unknown_facts(&mut self, conformance: &FunctionConformance<'_>) {
        let Some(function) = conformance.function else {
            return;
        };
        let matches = [&function.supported, &function.not_applicable];
        for key in matches.into_iter().flatten().flat_map(FactMatch::keys) {
            let place = &key.location;
            let without: Vec<&str> = (self.platforms.iter())
                .filter(|platform| !platform.facts.has(&key.value))
                .map(|platform| platform.name.as_str())
                .collect();
            let place = (place.source().name().to_owned(), place.span().start);
            if without.is_empty() || !self.facts_reported.insert(place) {
                continue;
            }
            let message = format!(
                "the fact `{}` is unknown{}, so it matches nothing there",
                Escaped::shortened(&key.value),
                on(&without)
            );
            let finding = Diagnostic::warning(Code::Interface, message);
            self.found.findings.push(finding.at(key.location.clone()));
        }
    }

    /// Reports an interface that contradicts itself on some platforms. No class can do anything about it.
    fn contradiction(
        &mut self,
        interface: &Located<ClassName>,
        conformance: &FunctionConformance<'_>,
    ) {
        let level = self.levels.of(ConformanceStatus::Conflict);
        let platforms: Vec<&str> = (self.platforms.iter())
            .filter(|platform| conformance.is_contradictory(&platform.facts))
            .map(|platform| platform.name.as_str())
            .collect();
        let Some(function) = conformance.function else {
            return;
        };
        let place = &function.name.location;
        let key = (place.source().name().to_owned(), place.span().start);
        let is_reported = platforms.is_empty() || level == Level::Allow;
        if is_reported || !self.contradictions_reported.insert(key) {
            return;
        }
        let message = format!(
            "`{}` of `{}` is both supported and not applicable{}",
            Escaped::shortened(&function.name.value),
            interface.value,
            on(&platforms)
        );
        let finding = level.finding(Code::Interface, message);
        let finding = finding.at(place.clone());
        let hint = "change `Supported` or `NotApplicable`, so that only one of them matches";
        self.found.findings.push(finding.hint(hint));
    }

    fn function(
        &mut self,
        class: &ClassConformance<'_>,
        interface: Option<&Located<ClassName>>,
        function: &FunctionConformance<'_>,
    ) {
        let mut by_status: BTreeMap<ConformanceStatus, (Capability, Vec<&str>)> = BTreeMap::new();
        for platform in self.platforms {
            if function.is_contradictory(&platform.facts) {
                continue;
            }
            let Some(capability) = function.capability(&platform.facts) else {
                continue;
            };
            let status = capability.status();
            let same = by_status
                .entry(status)
                .or_insert_with(|| (capability, Vec::new()));
            same.1.push(&platform.name);
        }
        for (status, (capability, platforms)) in by_status {
            let level = self.levels.of(status);
            if !function.is_present() && !function.is_required() {
                continue;
            }
            if level == Level::Allow || status == ConformanceStatus::Implemented {
                continue;
            }
            let entry = BaselineEntry {
                class: class.class.value.clone(),
                interface: interface.map(|interface| interface.value.clone()),
                function: function.name.to_owned(),
                status,
            };
            let is_known = self.baseline.entries.contains(&entry);
            self.found.violations.insert(entry);
            if !is_known {
                let on = on(&platforms);
                let finding = finding(class, interface, function, &capability, level, &on);
                self.found.findings.push(finding);
            }
        }
    }
}

/// The finding on a function. `on` has the platforms in words.
fn finding(
    class: &ClassConformance<'_>,
    interface: Option<&Located<ClassName>>,
    function: &FunctionConformance<'_>,
    capability: &Capability,
    level: Level,
    on: &str,
) -> Diagnostic {
    let message = message(&class.class.value, interface, function, capability, on);
    let named_at = interface.map_or(&class.class.location, |interface| &interface.location);
    let implemented_at = function.implemented_at.as_ref();
    let finding = level.finding(code(capability), message);
    let mut finding = finding.at(implemented_at.unwrap_or(named_at).clone());
    if let Some(declared) = function.function {
        finding = finding.label(
            declared.name.location.clone(),
            "declared in the interface here",
        );
    }
    match (capability, function.similar) {
        (Capability::NotImplemented, Some(similar)) => {
            let similar = Escaped::shortened(similar);
            finding.hint(format!("if `{similar}` is this function, rename it"))
        }
        (
            Capability::Deprecated {
                successor: Some(successor),
                ..
            },
            _,
        ) => finding.hint(format!("`{}` replaces it", Escaped::shortened(successor))),
        _ => finding,
    }
}

fn code(capability: &Capability) -> Code {
    match capability {
        Capability::NotImplemented | Capability::NotSupported | Capability::NotApplicable => {
            Code::NotImplemented
        }
        Capability::SignatureMismatch(_) => Code::SignatureMismatch,
        Capability::Deprecated { .. } => Code::DeprecatedFunction,
        Capability::Conflict(_) => Code::InterfaceConflict,
        Capability::Implemented => Code::Interface,
    }
}

fn message(
    class: &ClassName,
    interface: Option<&Located<ClassName>>,
    function: &FunctionConformance<'_>,
    capability: &Capability,
    on: &str,
) -> String {
    let name = Escaped::shortened(function.name);
    let of = interface.map_or("its interface", |interface| interface.value.as_str());
    match capability {
        Capability::NotImplemented => {
            format!("`{class}` does not implement `{name}` of `{of}`{on}")
        }
        Capability::NotSupported => {
            format!("`{class}` does not have `{name}`, which `{of}` does not support{on}")
        }
        Capability::NotApplicable => {
            format!("`{name}` of `{of}` does not apply to `{class}`{on}")
        }
        Capability::SignatureMismatch(differences) => {
            let differences: Vec<String> = differences.iter().map(ToString::to_string).collect();
            let differences = differences.join(", ");
            format!("`{name}` of `{class}` does not match `{of}`: {differences}")
        }
        Capability::Deprecated {
            removed_in,
            is_removed,
            ..
        } => match (function.function, removed_in) {
            (None, _) => {
                format!("`{name}` of `{class}` is in no interface that the class implements")
            }
            (Some(_), Some(removed)) if *is_removed => {
                format!("`{class}` has `{name}`, which `{of}` removed in {removed}")
            }
            (Some(_), Some(removed)) => {
                format!("`{class}` has `{name}`, which `{of}` removes in {removed}")
            }
            (Some(_), None) => format!("`{class}` has `{name}`, which is deprecated in `{of}`"),
        },
        Capability::Conflict(reason) => {
            format!("`{name}` of `{class}` contradicts `{of}`{on}: {reason}")
        }
        Capability::Implemented => String::new(),
    }
}

/// The platforms in words; nothing if there is only one without a name.
fn on(platforms: &[&str]) -> String {
    if platforms.iter().all(|name| name.is_empty()) {
        return String::new();
    }
    let names: Vec<String> = platforms
        .iter()
        .map(|name| Escaped::shortened(name).to_string())
        .collect();
    format!(" on {}", names.join(", "))
}
