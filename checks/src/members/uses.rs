//! Reports uses of members that do not exist, in the bodies of methods.

use std::collections::{BTreeMap, HashMap, HashSet};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located};
use pkgres_manifest::{
    CallArguments, ClassDefinition, ClassUsage, Contract, MemberUse, ObjectCreation, Release, Rule,
    SuggestionEffort, did_you_mean,
};

use super::{CallMismatch, EffectiveMembers, INITIALIZER, Signature, is_input, is_required};
use crate::bound_packages::{BoundPackages, ClassAt};

/// The functions of the deployment engine and of YAQL that can be called on every object, and are no methods of it.
const ENGINE_METHODS: &[&str] = &[
    "cast", "find", "getAttr", "id", "is", "let", "metadata", "name", "owner", "psuper", "require",
    "setAttr", "str", "super", "type", "typeinfo",
];

/// Whether a call of this name is right whatever methods a class has.
pub(crate) fn is_of_the_engine(name: &str) -> bool {
    ENGINE_METHODS.contains(&name)
}

/// Returns an error for each use of a member that no class has, and for each call and each creation of an object
/// with wrong arguments, in the classes of a release. A contract of templates that excludes an undefined property is a
/// warning.
///
/// Members are looked up in the class, in its ancestors and in the classes of the packages that the release is bound
/// to. Nothing is reported that depends on a class which is not among `packages`.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::sync::Arc;
///
/// use pkgres_checks::{BoundPackage, BoundPackages, check_member_uses};
/// use pkgres_manifest::{Package, PackageManifest, ReadOptions};
///
/// let text = b"FullName: org.acme.Web\nType: Application\nClasses: {org.acme.Web: Web.yaml}\n";
/// let options = ReadOptions::with_core(None);
/// let (manifest, _) = PackageManifest::read("manifest.yaml", text, &options)
///     .into_result()
///     .expect("the manifest is valid");
/// let class = b"Name: org.acme.Web\nMethods:\n  deploy:\n    Body: $this.install(force => true)\n";
/// let (package, _) = Package::assemble(manifest, &options, |_| Some(class.to_vec()))
///     .into_result()
///     .expect("the class is valid");
/// let release = package.release();
/// let bound = BoundPackage {
///     package: Some(Arc::new(package)),
///     requires: Vec::new(),
/// };
/// let packages = BoundPackages {
///     root_class: None,
///     releases: BTreeMap::from([(release.clone(), bound)]),
/// };
/// assert_eq!(
///     check_member_uses(&packages, &release)[0].message,
///     "`org.acme.Web` has no method `install`"
/// );
/// ```
pub fn check_member_uses(packages: &BoundPackages, release: &Release) -> Vec<Diagnostic> {
    let package = packages.releases.get(release);
    let package = package.and_then(|bound| bound.package.as_ref());
    let Some(classes) = package.and_then(|package| package.classes.as_ref()) else {
        return Vec::new();
    };
    let mut check = UseCheck {
        packages,
        release,
        classes: BTreeMap::new(),
        effort: SuggestionEffort::default(),
        findings: Vec::new(),
    };
    for class in classes.values() {
        check.parents(class);
        check.class(class);
    }
    check.findings
}

/// A check in progress.
struct UseCheck<'packages> {
    packages: &'packages BoundPackages,
    release: &'packages Release,
    /// The classes that were looked up.
    classes: BTreeMap<ClassAt, UsedClass<'packages>>,
    effort: SuggestionEffort,
    findings: Vec<Diagnostic>,
}

impl<'packages> UseCheck<'packages> {
    /// The members of a class, and the effort that is left for hints.
    fn used(&mut self, class: &ClassAt) -> (&mut UsedClass<'packages>, &mut SuggestionEffort) {
        let packages = self.packages;
        let classes = self.classes.entry(class.clone());
        let used = classes.or_insert_with(|| UsedClass::of(EffectiveMembers::of(packages, class)));
        (used, &mut self.effort)
    }

    /// Reports meta classes of other packages that a class of objects extends, and other classes that are used as
    /// meta classes.
    fn parents(&mut self, class: &ClassDefinition) {
        for meta in &class.metas {
            let found = self.packages.lookup(self.release, &meta.value);
            let definition = found.and_then(|found| self.packages.definition(&found));
            if definition.is_some_and(|definition| definition.usage == ClassUsage::Class) {
                let message = format!(
                    "`{}` describes `{}`, but it is no meta class",
                    meta.value, class.name.value
                );
                let finding = Diagnostic::error(Code::ClassFile, message);
                self.findings.push(finding.at(meta.location.clone()));
            }
        }
        if class.usage == ClassUsage::Meta {
            return;
        }
        for parent in &class.extends {
            let found = self.packages.lookup(self.release, &parent.value);
            let Some(found) = found.filter(|found| found.release != *self.release) else {
                continue;
            };
            let definition = self.packages.definition(&found);
            if definition.is_some_and(|definition| definition.usage == ClassUsage::Meta) {
                let message = format!(
                    "`{}` is a class of objects, which cannot extend the meta class `{}` of {} {}",
                    class.name.value, parent.value, found.release.name, found.release.version
                );
                let finding = Diagnostic::error(Code::Extends, message);
                self.findings.push(finding.at(parent.location.clone()));
            }
        }
    }

    fn class(&mut self, class: &ClassDefinition) {
        let at = ClassAt {
            release: self.release.clone(),
            class: class.name.value.clone(),
        };
        let (own, effort) = self.used(&at);
        let uses = class.member_uses.iter();
        let found: Vec<Diagnostic> = uses
            .filter_map(|used| own.wrong_use(class, used, effort))
            .collect();
        self.findings.extend(found);
        for creation in &class.creations {
            let Some(at) = self.packages.lookup(self.release, &creation.class.value) else {
                continue;
            };
            let found = self.used(&at).0.wrong_creation(creation);
            self.findings.extend(found);
        }
        let properties = class.properties.iter().map(|it| &it.contract);
        let arguments = class.methods.iter().flat_map(|it| &it.arguments);
        for contract in properties.chain(arguments.map(|it| &it.contract)) {
            self.exclusions(contract);
        }
    }

    /// Reports properties that a template excludes although its class has none of the name: the engine accepts no
    /// description of that class.
    fn exclusions(&mut self, contract: &Located<Contract>) {
        for rule in contract.value.rules().into_iter().flatten() {
            let Rule::Template(constraint) = rule else {
                continue;
            };
            let Some(at) = self.packages.lookup(self.release, constraint.described()) else {
                continue;
            };
            let (described, effort) = self.used(&at);
            if !described.members.unknown.is_empty() {
                continue;
            }
            let names = constraint.excluded.iter();
            let names = names.map(|path| path.split('.').next().unwrap_or(path));
            let unknown: Vec<Diagnostic> = names
                .filter(|name| !described.members.properties.contains_key(name))
                .map(|name| {
                    let similar = described.similar_property(name, effort);
                    let shown = Escaped::shortened(name);
                    let message = format!(
                        "the template excludes `{shown}`, but `{}` has no property of this name",
                        constraint.described()
                    );
                    Diagnostic::warning(Code::MemberUnavailable, message)
                        .at(contract.location.clone())
                        .maybe_hint(similar.map(did_you_mean))
                })
                .collect();
            self.findings.extend(unknown);
        }
    }
}

/// A class whose members are used, with what checks of many uses need.
struct UsedClass<'packages> {
    members: EffectiveMembers<'packages>,
    /// The signatures of the methods that were called, by name.
    signatures: HashMap<&'packages str, Signature<'packages>>,
    /// The properties that every object needs a value for.
    required: Vec<&'packages str>,
}

impl<'packages> UsedClass<'packages> {
    fn of(members: EffectiveMembers<'packages>) -> Self {
        let required = members.properties.iter();
        let required = required.filter(|(_, declared)| is_required(declared.member) == Some(true));
        Self {
            required: required.map(|(name, _)| *name).collect(),
            signatures: HashMap::new(),
            members,
        }
    }

    fn similar_method(&self, name: &str, effort: &mut SuggestionEffort) -> Option<&'packages str> {
        effort.most_similar(name, self.members.methods.keys().copied())
    }

    fn similar_property(
        &self,
        name: &str,
        effort: &mut SuggestionEffort,
    ) -> Option<&'packages str> {
        effort.most_similar(name, self.members.properties.keys().copied())
    }

    /// The error for a use of a member in a class, which is this one.
    fn wrong_use(
        &mut self,
        class: &ClassDefinition,
        used: &MemberUse,
        effort: &mut SuggestionEffort,
    ) -> Option<Diagnostic> {
        let (name, owner) = (used.member.value.as_str(), &class.name.value);
        let shown = Escaped::shortened(name);
        let members = &self.members;
        let is_complete = members.unknown.is_empty();
        let (message, similar) = match &used.call {
            Some(call) => match members.method(name) {
                Some(method) => {
                    let signatures = self.signatures.entry(&method.name.value);
                    let signature = signatures.or_insert_with(|| Signature::of(&method.arguments));
                    let mismatch = signature.accepts(call).err()?;
                    let declared = &method.name.location;
                    let message = format!("`{shown}` of `{owner}` {}", mismatch.message());
                    let finding = Diagnostic::error(Code::MemberUnavailable, message)
                        .at(used.member.location.clone())
                        .label(declared.clone(), "the method is declared here");
                    return Some(finding);
                }
                None if !is_complete || members.has_imports || is_of_the_engine(name) => {
                    return None;
                }
                None => (
                    format!("`{owner}` has no method `{shown}`"),
                    self.similar_method(name, effort),
                ),
            },
            None if !is_complete || members.properties.contains_key(name) => return None,
            None => (
                format!("`{owner}` has no property `{shown}`"),
                self.similar_property(name, effort),
            ),
        };
        let finding =
            Diagnostic::error(Code::MemberUnavailable, message).at(used.member.location.clone());
        Some(finding.maybe_hint(similar.map(did_you_mean)))
    }

    /// The error for a creation of an object of this class.
    fn wrong_creation(&mut self, creation: &ObjectCreation) -> Option<Diagnostic> {
        let class = &creation.class.value;
        let given = &creation.arguments.named;
        let members = &self.members;
        let initializer = members.method(INITIALIZER);
        let signatures = self.signatures.entry(INITIALIZER);
        let signature = signatures.or_insert_with(|| {
            Signature::of(initializer.map_or(&[][..], |method| &method.arguments))
        });
        let is_property = |name: &str| {
            let property = members.properties.get(name);
            property.is_some_and(|property| is_input(property.member))
        };
        let of_initializer = CallArguments {
            positional: 0,
            named: (given.iter())
                .filter(|name| !is_property(name) || signature.has(name))
                .cloned()
                .collect(),
        };
        let problem = match signature.accepts(&of_initializer) {
            _ if !members.unknown.is_empty() => None,
            Err(mismatch) => Some(match mismatch {
                CallMismatch::Unknown(name) => {
                    let name = Escaped::shortened(&name);
                    format!("`{class}` has no property `{name}` that can be set")
                }
                other => format!("the initializer of `{class}` {}", other.message()),
            }),
            Ok(()) => None,
        };
        let problem = problem.or_else(|| {
            let given: HashSet<&str> = given.iter().map(String::as_str).collect();
            let mut required = self.required.iter();
            let missing = required.find(|name| !given.contains(*name));
            missing.map(|name| {
                let name = Escaped::shortened(name);
                format!("an object of `{class}` needs a value for the property `{name}`")
            })
        })?;
        let finding = Diagnostic::error(Code::MemberUnavailable, problem);
        Some(finding.at(creation.class.location.clone()))
    }
}
