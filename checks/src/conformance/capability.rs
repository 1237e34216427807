//! Capabilities: what happens if a function of an interface is called, on one platform or on every platform.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ConformanceStatus, FactMatch, Facts, InterfaceFunction, Version};

use super::signature::SignatureDifference;

/// The effect of a call of an interface's function with a class on a platform.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Capability {
    /// The class has the function.
    Implemented,
    /// The class has the function, but callers should not rely on it.
    Deprecated {
        /// What to call instead.
        successor: Option<String>,
        /// The version of the interface's package that removes it or did.
        removed_in: Option<Version>,
        /// Whether it is removed already, so that a call fails.
        is_removed: bool,
    },
    /// The class should have the function, but does not.
    NotImplemented,
    /// The interface does not list the platform as one that supports the function.
    NotSupported,
    /// The function does not apply on the platform: a call returns the [default](super::ReturnSchema::default).
    NotApplicable,
    /// Some call that the interface allows is wrong.
    SignatureMismatch(Vec<SignatureDifference>),
    /// The interface and the class contradict each other; with the reason.
    Conflict(String),
}

impl Capability {
    /// The status.
    pub fn status(&self) -> ConformanceStatus {
        match self {
            Self::Implemented => ConformanceStatus::Implemented,
            Self::Deprecated { .. } => ConformanceStatus::Deprecated,
            Self::NotImplemented => ConformanceStatus::NotImplemented,
            Self::NotSupported => ConformanceStatus::NotSupported,
            Self::NotApplicable => ConformanceStatus::NotApplicable,
            Self::SignatureMismatch(_) => ConformanceStatus::SignatureMismatch,
            Self::Conflict(_) => ConformanceStatus::Conflict,
        }
    }
}

/// The status of a class for a function of an interface, on every platform.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct FunctionConformance<'packages> {
    /// The function's name.
    pub name: &'packages str,
    /// The function, unless no interface of the class has it.
    pub function: Option<&'packages InterfaceFunction>,
    /// The place where the class or its nearest ancestor has the function.
    pub implemented_at: Option<Location>,
    /// The differences between the signatures that make some call wrong.
    pub differences: Vec<SignatureDifference>,
    /// Other differences: of defaults and contracts, which nothing here evaluates.
    pub notes: Vec<String>,
    /// A method of the class with a similar name that no interface has, if the function is missing.
    pub similar: Option<&'packages str>,
    /// Whether the interface's package has removed the function by its own word.
    pub(super) is_removed: bool,
    /// Whether the interface announces to remove the function.
    pub(super) is_deprecated: bool,
}

/// A case of a function that depends on facts, and its condition; none for what holds otherwise.
pub type CapabilityCase = (ConformanceStatus, Option<String>);

impl FunctionConformance<'_> {
    /// Whether the class has the function.
    pub fn is_present(&self) -> bool {
        self.implemented_at.is_some()
    }

    /// Whether a class without the function violates the interface. One that is deprecated need not be there.
    pub fn is_required(&self) -> bool {
        !self.is_deprecated && !self.is_removed
    }

    /// Whether the interface itself says of a platform both that it supports the function and that the function makes
    /// no sense there.
    pub fn is_contradictory(&self, facts: &Facts) -> bool {
        let matches =
            |platforms: &Option<FactMatch>| platforms.as_ref().is_some_and(|it| it.matches(facts));
        let function = self.function.filter(|_| !self.is_removed);
        function.is_some_and(|it| matches(&it.supported) && matches(&it.not_applicable))
    }

    /// The effect of a call of the function on a platform; `None` if neither the class nor the interface has the
    /// function any more.
    pub fn capability(&self, facts: &Facts) -> Option<Capability> {
        if self.is_removed {
            return self.is_present().then(|| self.deprecated());
        }
        let matches = |platforms: Option<&FactMatch>| platforms.map(|it| it.matches(facts));
        let function = self.function;
        let supported = matches(function.and_then(|it| it.supported.as_ref()));
        let not_applicable = matches(function.and_then(|it| it.not_applicable.as_ref()));
        let not_applicable = not_applicable == Some(true);
        if self.is_contradictory(facts) {
            let reason = "the interface says both that the platform supports the function and that it \
                          does not apply there";
            return Some(Capability::Conflict(reason.to_owned()));
        }
        Some(match (self.is_present(), not_applicable) {
            (true, true) => {
                let reason = "the class has the function, but the interface says that it does not \
                              apply on the platform";
                Capability::Conflict(reason.to_owned())
            }
            (true, false) => self.present(),
            (false, true) => Capability::NotApplicable,
            (false, false) if supported == Some(false) => Capability::NotSupported,
            (false, false) => Capability::NotImplemented,
        })
    }

    /// What a call does where the function makes sense, if the class has it.
    fn present(&self) -> Capability {
        if !self.differences.is_empty() {
            Capability::SignatureMismatch(self.differences.clone())
        } else if self.is_deprecated {
            self.deprecated()
        } else {
            Capability::Implemented
        }
    }

    fn deprecated(&self) -> Capability {
        let deprecated = self.function.and_then(|it| it.deprecated.as_ref());
        let successor = deprecated.and_then(|it| it.successor.as_ref());
        Capability::Deprecated {
            successor: successor.map(|successor| successor.value.clone()),
            removed_in: deprecated.and_then(|it| it.removed_in.clone()),
            is_removed: self.is_removed,
        }
    }

    /// Whether the class has the function on a platform that the interface does not list.
    pub fn is_beyond_support(&self, facts: &Facts) -> bool {
        let supported = self.function.and_then(|it| it.supported.as_ref());
        self.is_present() && supported.is_some_and(|supported| !supported.matches(facts))
    }

    /// The status on every platform: cases with conditions on facts. The first case whose condition holds counts; the
    /// last one has no condition. Empty if neither the class nor the interface has the function any more.
    pub fn cases(&self) -> Vec<CapabilityCase> {
        if self.is_removed {
            let deprecated = (ConformanceStatus::Deprecated, None);
            return self
                .is_present()
                .then_some(deprecated)
                .into_iter()
                .collect();
        }
        let supported = self.function.and_then(|it| it.supported.as_ref());
        let not_applicable = self.function.and_then(|it| it.not_applicable.as_ref());
        let mut cases = Vec::new();
        if let (Some(supported), Some(not_applicable)) = (supported, not_applicable) {
            let both = format!("({not_applicable}) and ({supported})");
            cases.push((ConformanceStatus::Conflict, Some(both)));
        }
        if let Some(not_applicable) = not_applicable {
            let status = if self.is_present() {
                ConformanceStatus::Conflict
            } else {
                ConformanceStatus::NotApplicable
            };
            cases.push((status, Some(not_applicable.to_string())));
        }
        if self.is_present() {
            cases.push((self.present().status(), None));
        } else if let Some(supported) = supported {
            let supported = Some(supported.to_string());
            cases.push((ConformanceStatus::NotImplemented, supported));
            cases.push((ConformanceStatus::NotSupported, None));
        } else {
            cases.push((ConformanceStatus::NotImplemented, None));
        }
        // If the class has the function, every platform on which it does not apply is a conflict.
        if let [(first, _), (second, _), ..] = cases.as_slice()
            && first == second
        {
            cases.remove(0);
        }
        cases
    }
}
