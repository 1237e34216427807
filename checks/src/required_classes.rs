//! Checks the classes that a package takes from the packages that it requires.
//!
//! A class name means the package's own class or, if there is none, the class of the first requirement that
//! defines it, beginning with the core library. If no required package defines a class, it is an error to
//! extend it, and a warning to use it. If a package is unknown, findings that depend on it are not reported. That no
//! registry has it is reported if a class may extend one of its classes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Located};
use pkgres_manifest::{
    ClassDefinition, ClassName, Package, PackageName, Requirement, Spec, SuggestionEffort, Version,
    did_you_mean, most_similar_name,
};

use crate::suggestions::Suggestions;

/// Whether a required package defines a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Defines {
    /// A matching version defines the class.
    Yes,
    /// No matching version defines it.
    No,
    /// The package or its classes are unknown.
    Unknown,
}

/// The classes of required packages, which the caller knows from registries or elsewhere.
pub trait RequiredPackages {
    /// Whether a version of the package that matches the spec defines the class for others.
    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Defines;

    /// Whether a version of the package that matches the spec defines the interface.
    fn defines_interface(
        &self,
        _package: &PackageName,
        _spec: &Spec,
        _interface: &ClassName,
    ) -> Defines {
        Defines::Unknown
    }

    /// The interfaces that any version of the package defines, for "did you mean".
    fn interfaces(&self, _package: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    /// The classes that any version of the package defines for others, for "did you mean".
    fn classes(&self, package: &PackageName) -> Vec<ClassName>;

    /// The newest known version of the package. Prereleases and yanked versions do not count.
    fn newest(&self, package: &PackageName) -> Option<Version>;

    /// The newest known version of the package that matches the spec. Prereleases and yanked versions do not count.
    fn newest_matching(&self, _package: &PackageName, _spec: &Spec) -> Option<Version> {
        None
    }

    /// Whether a version of the package that matches the spec was looked for, and there is none. Then it is said that
    /// its classes were not checked.
    fn is_missing(&self, _package: &PackageName, _spec: &Spec) -> bool {
        false
    }
}

/// The package that a name refers to.
enum Origin {
    Own,
    Required(PackageName),
    Nowhere,
    /// This package may define it, and is unknown.
    Unknown(PackageName),
}

pub(crate) fn check(
    package: &Package,
    core: Option<&PackageName>,
    required: &dyn RequiredPackages,
    effort: &mut SuggestionEffort,
    findings: &mut Vec<Diagnostic>,
) {
    let unspecified = Spec::unspecified();
    let stated = &package.manifest.requirements;
    let implicit_core = core.filter(|core| {
        let is_named = stated.iter().any(|required| required.package == **core);
        *core != package.name() && !is_named
    });
    if let Some(core) = implicit_core {
        findings.extend(newer_core(package, core, &unspecified, required));
    }
    let Some(classes) = &package.classes else {
        return;
    };
    let stated = stated.iter().map(|stated| (&stated.package, &stated.spec));
    let implicit = implicit_core.map(|core| (core, &unspecified));
    let mut names = RequiredNames {
        package,
        classes,
        required,
        requirements: implicit.into_iter().chain(stated).collect(),
        used: core.cloned().into_iter().collect(),
        any_unknown: false,
        unknown_parents: BTreeSet::new(),
    };
    names.check_classes(effort, findings);
    names.check_implemented(findings);
    names.check_missing(findings);
    names.check_unused(findings);
}

/// The names in a package, and what they refer to.
struct RequiredNames<'package> {
    package: &'package Package,
    /// The classes of the package itself.
    classes: &'package BTreeMap<ClassName, ClassDefinition>,
    required: &'package dyn RequiredPackages,
    /// The requirements, beginning with the implicit one on the core library.
    requirements: Vec<(&'package PackageName, &'package Spec)>,
    /// The required packages that a name refers to.
    used: HashSet<PackageName>,
    /// Whether it is unknown what a name refers to.
    any_unknown: bool,
    /// The required packages that are unknown, and may define what a class extends.
    unknown_parents: BTreeSet<PackageName>,
}

impl RequiredNames<'_> {
    /// The first requirement that defines something; unknown if an earlier one may define it.
    fn first_defining(&self, defines: impl Fn(&PackageName, &Spec) -> Defines) -> Origin {
        for (package, spec) in &self.requirements {
            if spec.set().is_empty() {
                continue;
            }
            match defines(package, spec) {
                Defines::Yes => return Origin::Required((*package).clone()),
                Defines::Unknown => return Origin::Unknown((*package).clone()),
                Defines::No => {}
            }
        }
        Origin::Nowhere
    }

    fn origin_of_class(&self, class: &ClassName) -> Origin {
        if self.classes.contains_key(class) {
            return Origin::Own;
        }
        self.first_defining(|package, spec| self.required.defines(package, spec, class))
    }

    fn origin_of_interface(&self, interface: &ClassName) -> Origin {
        if self.package.interfaces.contains_key(interface) {
            return Origin::Own;
        }
        self.first_defining(|package, spec| {
            (self.required).defines_interface(package, spec, interface)
        })
    }

    /// Records that the package uses a name of this origin. Returns whether anything defines the name.
    fn record_use(&mut self, origin: Origin) -> bool {
        match origin {
            Origin::Own => {}
            Origin::Required(package) => {
                self.used.insert(package);
            }
            Origin::Unknown(_) => self.any_unknown = true,
            Origin::Nowhere => return false,
        }
        true
    }

    /// Checks the classes that the package extends and uses.
    fn check_classes(&mut self, effort: &mut SuggestionEffort, findings: &mut Vec<Diagnostic>) {
        let mut suggestions = Suggestions::default();
        let mut seen = HashSet::new();
        for class in self.classes.values() {
            let parents = class.extends.iter().map(|parent| (parent, true));
            let uses = class.uses.iter().map(|used| (used, false));
            for (named, is_parent) in parents.chain(uses) {
                let origin = self.origin_of_class(&named.value);
                if let Origin::Required(package) = &origin
                    && !is_parent
                    && seen.insert(&named.value)
                {
                    findings.extend(self.newest_lacks(package, named));
                }
                if is_parent && let Origin::Unknown(package) = &origin {
                    self.unknown_parents.insert(package.clone());
                }
                let is_defined = self.record_use(origin);
                if !is_defined {
                    let known = || {
                        let others = self.requirements.iter();
                        let others = others.flat_map(|(package, _)| self.required.classes(package));
                        self.classes.keys().cloned().chain(others).collect()
                    };
                    let similar = suggestions.similar_to(&named.value, effort, known);
                    findings.push(self.undefined_class(named, is_parent, similar));
                }
            }
        }
    }

    /// The finding on a class that is only used, if the newest version that the manifest allows lacks it: uses exclude no
    /// version, so that this one is chosen.
    fn newest_lacks(
        &self,
        package: &PackageName,
        named: &Located<ClassName>,
    ) -> Option<Diagnostic> {
        let class = &named.value;
        let mut requirements = self.requirements.iter();
        let (_, spec) = requirements.find(|(required, _)| *required == package)?;
        let newest = self.required.newest_matching(package, spec)?;
        let exactly = Spec::exactly(&newest);
        if !matches!(self.required.defines(package, &exactly, class), Defines::No) {
            return None;
        }
        let message = format!(
            "`{class}` is used, and {newest}, the newest version of `{package}` that `{}` allows, does not define it",
            spec.written()
        );
        let finding = Diagnostic::warning(Code::RangeTooWide, message).at(named.location.clone());
        let mut stated = self.package.manifest.requirements.iter();
        let stated = stated.find(|requirement| requirement.package == *package);
        let finding = match stated.and_then(|requirement| requirement.location.clone()) {
            Some(location) => finding.label(location, "the range is stated here"),
            None => finding,
        };
        Some(finding.hint("`--strict-uses` excludes the versions that lack it"))
    }

    /// The finding on a class that no required package defines.
    fn undefined_class(
        &mut self,
        named: &Located<ClassName>,
        is_parent: bool,
        similar: Option<&ClassName>,
    ) -> Diagnostic {
        let class = &named.value;
        let mut finding = if is_parent {
            let message = format!("`{class}` is extended, but no required package defines it");
            Diagnostic::error(Code::ClassUnavailable, message)
        } else {
            let message = format!("`{class}` is used, but no required package defines it");
            Diagnostic::warning(Code::UndefinedUse, message)
        };
        finding = finding.at(named.location.clone());
        let hint = match similar {
            Some(similar) if similar == class => self.other_versions_define(class),
            Some(similar) => Some(did_you_mean(similar)),
            None => None,
        };
        finding.hints.extend(hint);
        let interface = self.origin_of_interface(class);
        let is_interface = matches!(interface, Origin::Own | Origin::Required(_));
        if let Origin::Required(package) = interface {
            self.used.insert(package);
        }
        if is_interface {
            finding = finding.hint(format!(
                "`{class}` is an interface: the manifest names it under `Implements`"
            ));
        }
        finding
    }

    /// The hint that a required package defines a class, but in no version that the manifest allows.
    fn other_versions_define(&self, class: &ClassName) -> Option<String> {
        let any = Spec::any();
        let mut requirements = self.requirements.iter();
        let (package, spec) = requirements.find(|(package, _)| {
            matches!(self.required.defines(package, &any, class), Defines::Yes)
        })?;
        Some(format!(
            "other versions of `{package}` than `{}` define it",
            spec.written()
        ))
    }

    /// Checks the interfaces that the package implements.
    fn check_implemented(&mut self, findings: &mut Vec<Diagnostic>) {
        for implementation in &self.package.manifest.implements {
            for interface in &implementation.interfaces {
                let origin = self.origin_of_interface(&interface.value);
                let is_defined = self.record_use(origin);
                if !is_defined {
                    let finding = undefined_interface(&implementation.class.value, interface);
                    findings.push(finding.hint(self.meant_by_interface(&interface.value)));
                }
            }
        }
    }

    /// What an interface that no required package defines may mean.
    fn meant_by_interface(&self, interface: &ClassName) -> String {
        if matches!(
            self.origin_of_class(interface),
            Origin::Own | Origin::Required(_)
        ) {
            return format!("`{interface}` is a class, and no interface");
        }
        let others = self.requirements.iter();
        let others: Vec<ClassName> = others
            .flat_map(|(package, _)| self.required.interfaces(package))
            .collect();
        let known = self.package.interfaces.keys().chain(&others);
        match most_similar_name(interface.as_str(), known.map(ClassName::as_str)) {
            Some(similar) => did_you_mean(similar),
            None => how_to_require(interface, self.required),
        }
    }

    /// Reports requirements on packages that do not exist, and would have to define what a class extends.
    fn check_missing(&self, findings: &mut Vec<Diagnostic>) {
        for requirement in &self.package.manifest.requirements {
            let Requirement { package, spec, .. } = requirement;
            if !self.unknown_parents.contains(package) || !self.required.is_missing(package, spec) {
                continue;
            }
            let message = format!(
                "no registry has a version of `{package}` that `{}` allows, so what the classes extend was not checked",
                spec.written()
            );
            let finding = Diagnostic::warning(Code::ClassesNotRead, message);
            findings.push(match &requirement.location {
                Some(location) => finding.at(location.clone()),
                None => finding,
            });
        }
    }

    /// Reports requirements on packages that no name refers to.
    fn check_unused(&self, findings: &mut Vec<Diagnostic>) {
        if self.any_unknown {
            return;
        }
        for requirement in &self.package.manifest.requirements {
            let package = &requirement.package;
            // An empty spec is reported already, and explains why none of the classes is found.
            if requirement.spec.set().is_empty() || self.used.contains(package) {
                continue;
            }
            // A package without classes and interfaces is required for something else, such as its resources.
            let has_classes = !self.required.classes(package).is_empty();
            if !has_classes && self.required.interfaces(package).is_empty() {
                continue;
            }
            let message = format!("`{package}` is required, but none of its classes is used");
            let mut finding = Diagnostic::warning(Code::UnusedRequirement, message);
            if let Some(location) = &requirement.location {
                finding = finding.at(location.clone());
            }
            findings.push(finding);
        }
    }
}

/// The finding that the implicit requirement on the core library excludes its newest version.
fn newer_core(
    package: &Package,
    core: &PackageName,
    implicit: &Spec,
    required: &dyn RequiredPackages,
) -> Option<Diagnostic> {
    let newest = required.newest(core)?;
    if implicit.matches(&newest) {
        return None;
    }
    if package.manifest.format.is_heat_hot() {
        let message = format!(
            "a package of format Heat.HOT requires the core library `{core}` implicitly, so its newest version, {newest}, is excluded"
        );
        return Some(
            Diagnostic::warning(Code::CoreUnpinned, message)
                .label(
                    package.manifest.name.location.clone(),
                    "only 0.x versions are accepted",
                )
                .hint(format!(
                    "an override of `{core}` in pkgres.toml lets another version in"
                )),
        );
    }
    let message = format!(
        "the manifest does not require the core library `{core}`, so its newest version, {newest}, is excluded"
    );
    let finding = Diagnostic::warning(Code::CoreUnpinned, message)
        .label(
            package.manifest.name.location.clone(),
            "only 0.x versions are accepted",
        )
        .hint(format!(
            "add `{core}: {}` to `Require`, or `{core}: 0` to keep 0.x",
            newest.major()
        ));
    Some(finding)
}

/// How to get the package of an interface that no required package defines.
fn how_to_require(interface: &ClassName, required: &dyn RequiredPackages) -> String {
    let any = Spec::any();
    let mut packages = interface.enclosing_packages();
    let defining = packages.find(|package| {
        matches!(
            required.defines_interface(package, &any, interface),
            Defines::Yes
        )
    });
    match defining {
        Some(package) => format!("`{package}` defines it: add it to `Require`"),
        None => "add the package that defines it to `Require`".to_owned(),
    }
}

/// The finding on an interface that no required package defines.
pub(crate) fn undefined_interface(class: &ClassName, interface: &Located<ClassName>) -> Diagnostic {
    let message = format!(
        "`{class}` implements `{}`, but no required package defines that interface",
        interface.value
    );
    Diagnostic::error(Code::Interface, message).at(interface.location.clone())
}
