//! Stubs: let a host call the functions of an interface on any class. A stub also answers for functions that the class
//! lacks.

use std::collections::BTreeMap;
use std::fmt;

use pkgres_manifest::diagnostic::{Diagnostic, Escaped};
use pkgres_manifest::{ClassName, Facts, Version};
use serde_json::Value;

use super::{Capability, ClassConformance, ReturnSchema, ReturnViolation};

/// The result of a returned value that violates its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strictness {
    /// The call fails, which tests of conformance need.
    Fail,
    /// The call has a warning, so a platform in production goes on.
    #[default]
    Warn,
}

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError<Failure: fmt::Debug + fmt::Display> {
    /// The class should have the function, but does not.
    #[error("`{class}` does not implement `{function}` of `{interface}`")]
    NotImplemented {
        /// The class.
        class: ClassName,
        /// The interface.
        interface: ClassName,
        /// The function.
        function: String,
    },
    /// The interface does not list the platform as one that supports the function.
    #[error("`{interface}` does not support `{function}` on this platform ({facts})")]
    NotSupported {
        /// The interface.
        interface: ClassName,
        /// The function.
        function: String,
        /// The platform.
        facts: Facts,
    },
    /// The interface has removed the function.
    #[error("`{interface}` removed `{function}` in {version}")]
    Removed {
        /// The interface.
        interface: ClassName,
        /// The function.
        function: String,
        /// The version of the interface's package that removed it.
        version: Version,
    },
    /// The class and the interface contradict each other.
    #[error("`{function}` of `{class}` contradicts its interface: {reason}")]
    Conflict {
        /// The class.
        class: ClassName,
        /// The function.
        function: String,
        /// The reason.
        reason: String,
    },
    /// Neither the class nor an interface of it has the function.
    #[error("`{class}` has no function `{function}`")]
    Unknown {
        /// The class.
        class: ClassName,
        /// The function.
        function: String,
    },
    /// The returned value violates the schema of the interface.
    #[error("`{function}` of `{class}` returned what its interface does not allow: {}", violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Returned {
        /// The class.
        class: ClassName,
        /// The function.
        function: String,
        /// What is wrong.
        violations: Vec<ReturnViolation>,
    },
    /// The interface does not say what the function returns, because its schema is wrong.
    #[error("{}", .0.message)]
    Interface(Box<Diagnostic>),
    /// The function itself failed.
    #[error("{0}")]
    Failed(Failure),
}

/// Something that a caller should know of a call with an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallWarning {
    /// Callers should not rely on the function.
    #[error("`{function}` is deprecated{}", successor.as_ref().map_or_else(String::new, |it| format!("; call `{it}` instead")))]
    Deprecated {
        /// The function.
        function: String,
        /// What to call instead.
        successor: Option<String>,
        /// The version of the interface's package that removes it.
        removed_in: Option<Version>,
    },
    /// The signature of the function differs from that of the interface.
    #[error("`{function}` does not have the signature of its interface: {difference}")]
    Signature {
        /// The function.
        function: String,
        /// The first difference.
        difference: String,
    },
    /// The returned value violates the schema of the interface.
    #[error("`{function}` returned what its interface does not allow: {violation}")]
    Returned {
        /// The function.
        function: String,
        /// What is wrong.
        violation: ReturnViolation,
    },
}

/// The answer of a call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The returned value.
    pub value: Value,
    /// Whether nothing was called, because the function does not apply on the platform.
    pub is_default: bool,
    /// Warnings for the caller.
    pub warnings: Vec<CallWarning>,
}

/// A function of a class on a platform.
#[derive(Debug)]
struct Stub {
    interface: Option<ClassName>,
    capability: Capability,
    /// The schema of the returned values, or what is wrong with it.
    returns: Result<Option<ReturnSchema>, Box<Diagnostic>>,
}

impl Stub {
    /// The value that a call returns where the function does not apply.
    fn default(&self) -> Result<Value, Box<Diagnostic>> {
        match self.returns.as_ref().map_err(Clone::clone)? {
            Some(returns) => returns
                .default()
                .cloned()
                .map_err(|it| Box::new(it.clone())),
            None => Ok(Value::Null),
        }
    }
}

/// The functions of a class on a platform, for a host that calls them by name.
///
/// ```
/// # use pkgres_checks::{BoundPackage, BoundPackages, conformance};
/// # use pkgres_manifest::{Package, PackageManifest, ReadOptions};
/// use pkgres_checks::{CallError, ClassStubs, Strictness};
/// use pkgres_manifest::Facts;
/// # let manifest = b"FullName: acme.Web\nType: Library\n\
/// #     Classes: {acme.Web: Web.yaml}\nInterfaces: {acme.Service: Service.yaml}\n\
/// #     Implements: {acme.Web: acme.Service}\n";
/// # let options = ReadOptions::with_core(None);
/// # let (manifest, _) = PackageManifest::read("manifest.yaml", manifest, &options)
/// #     .into_result()
/// #     .expect("the manifest is valid");
/// # let (package, _) = Package::assemble(manifest, &options, |path| {
/// #     Some(match path.as_str() {
/// #         "Classes/Web.yaml" => b"Methods: {start: {}}".to_vec(),
/// #         _ => b"Functions:\n  start: {Returns: {type: object, required: [changed]}}\n\
/// #               \x20 freeze: {Supported: {os: Plan9}}\n".to_vec(),
/// #     })
/// # })
/// # .into_result()
/// # .expect("the package is valid");
/// # let release = package.release();
/// # let mut packages = BoundPackages::default();
/// # packages.releases.insert(release.clone(), BoundPackage {
/// #     package: Some(package.into()),
/// #     requires: Vec::new(),
/// # });
///
/// let classes = conformance(&packages, &release);
/// let facts = Facts::from_pairs([("os", "Debian")]);
/// let stubs = ClassStubs::new(&classes[0], &facts, Strictness::Fail);
///
/// let run = || Ok::<_, String>(serde_json::json!({"changed": true, "since": "12:00"}));
/// assert!(stubs.call("start", run).is_ok());
/// let run = || Ok::<_, String>(serde_json::json!({"started": true}));
/// assert!(matches!(stubs.call("start", run), Err(CallError::Returned { .. })));
/// let run = || Ok::<_, String>(serde_json::Value::Null);
/// assert!(matches!(stubs.call("freeze", run), Err(CallError::NotSupported { .. })));
/// ```
#[derive(Debug)]
pub struct ClassStubs {
    class: ClassName,
    facts: Facts,
    strictness: Strictness,
    stubs: BTreeMap<String, Stub>,
}

impl ClassStubs {
    /// Returns the stubs of a class on a platform. An invalid schema is an error of calls of that function.
    pub fn new(class: &ClassConformance<'_>, facts: &Facts, strictness: Strictness) -> Self {
        let of_interfaces = class.interfaces.iter().flat_map(|interface| {
            let functions = interface.functions.iter();
            functions.map(|function| (Some(&interface.interface.value), function))
        });
        let undeclared = class.undeclared.iter().map(|function| (None, function));
        let mut stubs = BTreeMap::new();
        for (interface, conformance) in of_interfaces.chain(undeclared) {
            let Some(capability) = conformance.capability(facts) else {
                continue;
            };
            let function = conformance.function;
            let returns = function.map_or(Ok(None), ReturnSchema::of);
            // If several interfaces have the function, the first one counts.
            stubs.entry(conformance.name.to_owned()).or_insert(Stub {
                interface: interface.cloned(),
                capability,
                returns,
            });
        }
        Self {
            class: class.class.value.clone(),
            facts: facts.clone(),
            strictness,
            stubs,
        }
    }

    /// The effect of a call of a function; `None` if neither the class nor any of its interfaces has the function.
    pub fn capability(&self, function: &str) -> Option<&Capability> {
        self.stubs.get(function).map(|stub| &stub.capability)
    }

    /// What is to be known before a call of a function; an error if it may not be called.
    fn warning<Failure: fmt::Debug + fmt::Display>(
        &self,
        function: &str,
        stub: &Stub,
    ) -> Result<Option<CallWarning>, CallError<Failure>> {
        let (class, function) = (self.class.clone(), function.to_owned());
        let interface = stub.interface.clone().unwrap_or_else(|| class.clone());
        Err(match &stub.capability {
            Capability::Implemented | Capability::NotApplicable => return Ok(None),
            Capability::Deprecated {
                removed_in: Some(version),
                is_removed: true,
                ..
            } => CallError::Removed {
                interface,
                function,
                version: version.clone(),
            },
            Capability::Deprecated {
                successor,
                removed_in,
                ..
            } => {
                return Ok(Some(CallWarning::Deprecated {
                    function,
                    successor: successor.clone(),
                    removed_in: removed_in.clone(),
                }));
            }
            // Whether this call is one of those that are wrong is up to the engine.
            Capability::SignatureMismatch(differences) => {
                let difference = differences.first().map(ToString::to_string);
                return Ok(Some(CallWarning::Signature {
                    function,
                    difference: difference.unwrap_or_default(),
                }));
            }
            Capability::NotImplemented => CallError::NotImplemented {
                class,
                interface,
                function,
            },
            Capability::NotSupported => CallError::NotSupported {
                interface,
                function,
                facts: self.facts.clone(),
            },
            Capability::Conflict(reason) => CallError::Conflict {
                class,
                function,
                reason: reason.clone(),
            },
        })
    }

    /// Calls a function. `run` calls the method of the class, and is only called if the class has it and it may be
    /// called.
    pub fn call<Failure: fmt::Debug + fmt::Display>(
        &self,
        function: &str,
        run: impl FnOnce() -> Result<Value, Failure>,
    ) -> Result<Answer, CallError<Failure>> {
        let Some(stub) = self.stubs.get(function) else {
            return Err(CallError::Unknown {
                class: self.class.clone(),
                function: function.to_owned(),
            });
        };
        if stub.capability == Capability::NotApplicable {
            return Ok(Answer {
                value: stub.default().map_err(CallError::Interface)?,
                is_default: true,
                warnings: Vec::new(),
            });
        }
        let mut warnings = Vec::new();
        warnings.extend(self.warning(function, stub)?);
        let returns = stub.returns.as_ref();
        let returns = returns.map_err(|invalid| CallError::Interface(invalid.clone()))?;
        let value = run().map_err(CallError::Failed)?;
        let checked = returns.as_ref().map_or(Ok(()), |it| it.check(&value));
        if let Err(violations) = checked {
            if self.strictness == Strictness::Fail {
                return Err(CallError::Returned {
                    class: self.class.clone(),
                    function: function.to_owned(),
                    violations,
                });
            }
            warnings.extend(
                violations
                    .into_iter()
                    .map(|violation| CallWarning::Returned {
                        function: Escaped::shortened(function).to_string(),
                        violation,
                    }),
            );
        }
        Ok(Answer {
            value,
            is_default: false,
            warnings,
        })
    }
}
