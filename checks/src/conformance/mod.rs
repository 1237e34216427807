//! Conformance: checks whether classes have the functions of the interfaces that they implement.
//!
//! # Problem
//!
//! A caller who knows an interface wants to call its functions on every class that implements it, always in the same
//! way. Classes lack functions, have others, or have them with other arguments; some functions do not apply on some
//! platforms.
//!
//! # Idea
//!
//! [`conformance`] compares the classes of a release with their interfaces once, without a platform: which functions
//! a class has, inherited ones included, and how their signatures differ. [`FunctionConformance::capability`] then says
//! in constant time what that means on a platform with some [`Facts`](pkgres_manifest::Facts). [`ClassStubs`] does the
//! same for a host at each call. Nothing is evaluated: contracts and defaults are compared as they are written.
//!
//! # Cost
//!
//! Linear in the classes, apart from their ancestors, and in the functions of their interfaces. Only suggestions of
//! other names compare pairs of names, within the bound of all suggestions.

mod capability;
mod findings;
mod generate_interfaces;
mod inherited;
mod levels;
mod renames;
mod return_schemas;
mod signature;
mod stubs;

pub use capability::{Capability, CapabilityCase, FunctionConformance};
pub(crate) use findings::check_interfaces;
pub use findings::{ConformanceFindings, Platform, check_interface, conformance_findings};
pub use generate_interfaces::interface_text;
pub use inherited::{class_conformance, inherited_conformance};
pub use levels::{Baseline, BaselineEntry, Level, Levels};
pub use return_schemas::{ReturnSchema, ReturnViolation};
pub use signature::SignatureDifference;
pub(crate) use signature::compare as compare_signatures;
pub use stubs::{Answer, CallError, CallWarning, ClassStubs, Strictness};

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Located;
use pkgres_manifest::{
    ClassName, Interface, InterfaceFunction, Method, Release, SuggestionEffort, Version,
    is_identifier,
};

use crate::bound_packages::{BoundPackages, ClassAt};
use crate::members::{EffectiveMembers, callable_name, canonical_name, is_private};
use renames::{Candidate, renames};
use signature::Comparison;

/// A class with one of its interfaces.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InterfaceConformance<'packages> {
    /// The interface, where the manifest names it.
    pub interface: &'packages Located<ClassName>,
    /// The release that defines the interface, and the definition; `None` if no bound release does.
    pub definition: Option<(Release, &'packages Interface)>,
    /// The functions, in the order of the interface.
    pub functions: Vec<FunctionConformance<'packages>>,
}

/// A class with all of its interfaces.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClassConformance<'packages> {
    /// The class, where the manifest says that it implements something.
    pub class: &'packages Located<ClassName>,
    /// Whether the release defines the class.
    pub is_defined: bool,
    /// The interfaces, in the order of the manifest.
    pub interfaces: Vec<InterfaceConformance<'packages>>,
    /// The public methods that no interface of the class has, by name. Methods of the core library do not count.
    pub undeclared: Vec<FunctionConformance<'packages>>,
    /// Ancestors that are unknown. Functions that the class may inherit from them are left out.
    pub unknown: BTreeSet<ClassName>,
}

/// Returns how the classes of a release stand to the interfaces that its manifest says they implement.
///
/// ```
/// use pkgres_checks::{BoundPackage, BoundPackages, conformance};
/// use pkgres_manifest::{ConformanceStatus, Facts, Package, PackageManifest, ReadOptions};
///
/// let manifest = b"FullName: acme.Web\nType: Library\n\
///     Classes: {acme.Web: Web.yaml}\nInterfaces: {acme.Service: Service.yaml}\n\
///     Implements: {acme.Web: acme.Service}\n";
/// let options = ReadOptions::with_core(None);
/// let (manifest, _) = PackageManifest::read("manifest.yaml", manifest, &options)
///     .into_result()
///     .expect("the manifest is valid");
/// let (package, _) = Package::assemble(manifest, &options, |path| {
///     Some(match path.as_str() {
///         "Classes/Web.yaml" => b"Methods: {start: {}}".to_vec(),
///         _ => b"Functions: {start: {}, stop: {}}".to_vec(),
///     })
/// })
/// .into_result()
/// .expect("the package is valid");
/// let release = package.release();
/// let mut packages = BoundPackages::default();
/// packages.releases.insert(release.clone(), BoundPackage {
///     package: Some(package.into()),
///     requires: Vec::new(),
/// });
/// let classes = conformance(&packages, &release);
/// let functions = &classes[0].interfaces[0].functions;
/// let status = |at: usize| functions[at].capability(&Facts::default()).map(|it| it.status());
/// assert_eq!(status(0), Some(ConformanceStatus::Implemented));
/// assert_eq!(status(1), Some(ConformanceStatus::NotImplemented));
/// ```
pub fn conformance<'packages>(
    packages: &'packages BoundPackages,
    release: &Release,
) -> Vec<ClassConformance<'packages>> {
    let bound = packages.releases.get(release);
    let Some(package) = bound.and_then(|bound| bound.package.as_ref()) else {
        return Vec::new();
    };
    let mut effort = SuggestionEffort::default();
    let implements = package.manifest.implements.iter();
    implements
        .map(|entry| {
            let interfaces = entry.interfaces.iter().map(|interface| {
                let definition = packages.interface(release, &interface.value);
                (interface, definition)
            });
            let interfaces = interfaces.collect();
            compare_class(packages, release, &entry.class, interfaces, &mut effort)
        })
        .collect()
}

/// An interface where a manifest names it, with its definition.
type NamedInterface<'packages> = (
    &'packages Located<ClassName>,
    Option<(Release, &'packages Interface)>,
);

fn compare_class<'packages>(
    packages: &'packages BoundPackages,
    release: &Release,
    class: &'packages Located<ClassName>,
    interfaces: Vec<NamedInterface<'packages>>,
    effort: &mut SuggestionEffort,
) -> ClassConformance<'packages> {
    let at = ClassAt {
        release: release.clone(),
        class: class.value.clone(),
    };
    let is_defined = packages.definition(&at).is_some();
    let members = EffectiveMembers::of(packages, &at);
    let declared: BTreeSet<&str> = interfaces
        .iter()
        .filter_map(|(_, definition)| definition.as_ref())
        .flat_map(|(_, definition)| &definition.functions)
        .map(|function| canonical_name(&function.name.value))
        .collect();
    let is_complete = interfaces
        .iter()
        .all(|(_, definition)| definition.is_some());
    let undeclared: Vec<Candidate<'packages>> = members
        .methods
        .iter()
        .filter(|(name, method)| {
            let is_of_core = packages.is_of_core(&method.class);
            is_function(name) && !declared.contains(*name) && !is_of_core
        })
        .map(|(name, method)| (*name, method.member))
        .collect();
    let interfaces = interfaces.into_iter().map(|(interface, definition)| {
        let functions = definition.as_ref().filter(|_| is_defined);
        let functions = functions.map(|(defining, definition)| {
            let functions = definition.functions.iter();
            functions.filter_map(|function| {
                let method = members.method(&function.name.value);
                let compared = compare_function(function, &defining.version, method);
                // It may be inherited.
                let is_known = compared.is_present() || members.unknown.is_empty();
                is_known.then_some(compared)
            })
        });
        InterfaceConformance {
            interface,
            functions: functions.into_iter().flatten().collect(),
            definition,
        }
    });
    let mut interfaces: Vec<_> = interfaces.collect();
    suggest_renames(&mut interfaces, &undeclared, effort);
    let undeclared = undeclared.iter().filter(|_| is_complete);
    let undeclared = undeclared.map(|(name, method)| FunctionConformance {
        name: callable_name(name),
        function: None,
        implemented_at: Some(method.name.location.clone()),
        differences: Vec::new(),
        notes: Vec::new(),
        similar: None,
        is_removed: false,
        is_deprecated: true,
    });
    ClassConformance {
        class,
        is_defined,
        interfaces,
        undeclared: undeclared.collect(),
        unknown: members.unknown,
    }
}

/// Suggests for each missing function of some interfaces a method with another name.
fn suggest_renames<'packages>(
    interfaces: &mut [InterfaceConformance<'packages>],
    undeclared: &[Candidate<'packages>],
    effort: &mut SuggestionEffort,
) {
    let functions = interfaces.iter_mut().flat_map(|it| &mut it.functions);
    let mut missing: Vec<&mut FunctionConformance<'packages>> = functions
        .filter(|function| !function.is_present() && !function.is_removed)
        .collect();
    let wanted: Vec<&InterfaceFunction> = missing
        .iter()
        .filter_map(|missing| missing.function)
        .collect();
    let found = renames(&wanted, undeclared, effort);
    for (missing, similar) in missing.iter_mut().zip(found) {
        missing.similar = similar;
    }
}

fn compare_function<'packages>(
    function: &'packages InterfaceFunction,
    version: &Version,
    method: Option<&Method>,
) -> FunctionConformance<'packages> {
    let comparison =
        method.map(|method| signature::compare(&function.arguments, &method.arguments));
    let Comparison { differences, notes } = comparison.unwrap_or_default();
    let deprecated = function.deprecated.as_ref();
    FunctionConformance {
        name: &function.name.value,
        function: Some(function),
        implemented_at: method.map(|method| method.name.location.clone()),
        differences,
        notes,
        similar: None,
        is_removed: deprecated.is_some_and(|it| it.is_removed_in(version)),
        is_deprecated: deprecated.is_some_and(|it| it.is_announced_in(version)),
    }
}

/// Whether a method can be a function: it is neither private nor one that only the engine calls.
fn is_function(name: &str) -> bool {
    !is_private(name) && is_identifier(name)
}

impl ClassConformance<'_> {
    /// All functions, those of interfaces first.
    pub fn functions(&self) -> impl Iterator<Item = &FunctionConformance<'_>> {
        let of_interfaces = self.interfaces.iter().flat_map(|it| &it.functions);
        of_interfaces.chain(&self.undeclared)
    }
}
