//! Checks the classes that a package takes from the packages that it requires.
//!
//! A class name means the package's own class or, if there is none, the class of the first requirement that
//! defines it, beginning with the core library. If no required package defines a class, it is an error to
//! extend it, and a warning to use it. If a package is unknown, findings that depend on it are not reported.

use std::collections::HashSet;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Located};
use pkgres_manifest::{ClassName, Package, PackageName, Spec, Version, most_similar_name};

use crate::suggestions::{Effort, Suggestions};

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
}

/// The package that a class name refers to.
enum Origin {
    Own,
    Required(PackageName),
    Nowhere,
    Unknown,
}

pub(crate) fn check(
    package: &Package,
    core: Option<&PackageName>,
    required: &dyn RequiredPackages,
    effort: &mut Effort,
    findings: &mut Vec<Diagnostic>,
) {
    let unspecified = Spec::unspecified();
    let is_named = |core: &&PackageName| {
        let mut named = package.manifest.requirements.iter();
        named.any(|required| required.package == **core)
    };
    let implicit_core = core.filter(|core| *core != package.name() && !is_named(core));
    if let Some(core) = implicit_core {
        findings.extend(newer_core(package, core, &unspecified, required));
    }
    let Some(classes) = &package.classes else {
        return;
    };
    let requirements: Vec<(&PackageName, &Spec)> = implicit_core
        .map(|core| (core, &unspecified))
        .into_iter()
        .chain(
            package
                .manifest
                .requirements
                .iter()
                .map(|requirement| (&requirement.package, &requirement.spec)),
        )
        .collect();
    let first_defining = |defines: &dyn Fn(&PackageName, &Spec) -> Defines| {
        let mut unknown = false;
        for (package, spec) in &requirements {
            if spec.set().is_empty() {
                continue;
            }
            match defines(package, spec) {
                Defines::Yes => return Origin::Required((*package).clone()),
                Defines::Unknown => unknown = true,
                Defines::No => {}
            }
        }
        if unknown {
            Origin::Unknown
        } else {
            Origin::Nowhere
        }
    };
    let origin = |class: &ClassName| {
        if classes.contains_key(class) {
            return Origin::Own;
        }
        first_defining(&|package, spec| required.defines(package, spec, class))
    };
    let mut used: HashSet<PackageName> = core.cloned().into_iter().collect();
    let mut any_unknown = false;
    let mut suggestions = Suggestions::default();
    for class in classes.values() {
        for (named, is_parent) in class
            .extends
            .iter()
            .map(|parent| (parent, true))
            .chain(class.uses.iter().map(|named| (named, false)))
        {
            match origin(&named.value) {
                Origin::Own => {}
                Origin::Required(package) => {
                    used.insert(package);
                }
                Origin::Unknown => any_unknown = true,
                Origin::Nowhere => {
                    let known = || {
                        let others = requirements.iter();
                        let others = others.flat_map(|(package, _)| required.classes(package));
                        classes.keys().cloned().chain(others).collect()
                    };
                    let similar = suggestions.similar_to(&named.value, effort, known);
                    let name = &named.value;
                    let mut finding = nowhere(named, is_parent, similar);
                    if similar == Some(&named.value) {
                        // A version that the manifest does not allow defines it.
                        let any = Spec::any();
                        let defines = |package: &PackageName| {
                            matches!(required.defines(package, &any, name), Defines::Yes)
                        };
                        let defining = requirements.iter().find(|(package, _)| defines(package));
                        finding.hints = match defining {
                            Some((package, spec)) => {
                                vec![format!(
                                    "other versions of `{package}` than `{}` define it",
                                    spec.written()
                                )]
                            }
                            None => Vec::new(),
                        };
                    }
                    let defining = first_defining(&|package, spec| {
                        required.defines_interface(package, spec, name)
                    });
                    let is_required = matches!(defining, Origin::Required(_));
                    if let Origin::Required(package) = defining {
                        used.insert(package);
                    }
                    if is_required || package.interfaces.contains_key(name) {
                        finding = finding.hint(format!(
                            "`{name}` is an interface: the manifest names it under `Implements`"
                        ));
                    }
                    findings.push(finding);
                }
            }
        }
    }
    for implementation in &package.manifest.implements {
        for interface in &implementation.interfaces {
            let name = &interface.value;
            if package.interfaces.contains_key(name) {
                continue;
            }
            match first_defining(&|package, spec| required.defines_interface(package, spec, name)) {
                Origin::Own => {}
                Origin::Required(package) => {
                    used.insert(package);
                }
                Origin::Unknown => any_unknown = true,
                Origin::Nowhere => {
                    let mut finding = undefined_interface(&implementation.class.value, interface);
                    let others = requirements.iter();
                    let others: Vec<ClassName> = others
                        .flat_map(|(package, _)| required.interfaces(package))
                        .collect();
                    let known = package.interfaces.keys().chain(&others);
                    let known = known.map(ClassName::as_str);
                    if !matches!(origin(name), Origin::Nowhere | Origin::Unknown) {
                        finding = finding.hint(format!("`{name}` is a class, and no interface"));
                    } else if let Some(similar) = most_similar_name(name.as_str(), known) {
                        finding = finding.hint(format!("did you mean `{similar}`?"));
                    } else {
                        finding = finding.hint(how_to_require(name, required));
                    }
                    findings.push(finding);
                }
            }
        }
    }
    for requirement in &package.manifest.requirements {
        // An empty spec is reported already, and explains why none of the classes is found.
        let is_empty = requirement.spec.set().is_empty();
        if any_unknown || is_empty || used.contains(&requirement.package) {
            continue;
        }
        // A package without classes and interfaces is required for something else, such as its resources.
        let target = &requirement.package;
        if required.classes(target).is_empty() && required.interfaces(target).is_empty() {
            continue;
        }
        let message = format!(
            "`{}` is required, but none of its classes is used",
            requirement.package
        );
        let mut finding = Diagnostic::warning(Code::UnusedRequirement, message);
        if let Some(location) = &requirement.location {
            finding = finding.at(location.clone());
        }
        findings.push(finding);
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
    let message = format!(
        "the manifest does not require the core library `{core}`, so that {newest}, its newest \
         version, is not accepted"
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

fn nowhere(named: &Located<ClassName>, is_parent: bool, similar: Option<&ClassName>) -> Diagnostic {
    let class = &named.value;
    let mut finding = if is_parent {
        let message = format!("`{class}` is extended, but no required package defines it");
        Diagnostic::error(Code::ClassUnavailable, message)
    } else {
        let message = format!("`{class}` is used, but no required package defines it");
        Diagnostic::warning(Code::UndefinedUse, message)
    };
    if let Some(similar) = similar {
        finding = finding.hint(format!("did you mean `{similar}`?"));
    }
    finding.at(named.location.clone())
}
