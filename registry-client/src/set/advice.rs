//! What registries know that would mend a conflict, though the solver was not told of it.

use std::collections::BTreeSet;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ClassName, PackageName};
use pkgres_resolver::{Conflict, Hint, HintKind, ReasonKind};

use super::RegistrySet;
use crate::registry::RegistryError;

impl RegistrySet {
    /// Puts what only registries know before the hints of a conflict: which package may have been meant,
    /// which packages define a class that is extended, and releases that are not looked at because a
    /// registry that goes first has the package.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn advise(&self, conflict: &mut Conflict) -> Result<(), RegistryError> {
        let advice = match conflict.code {
            Code::UnknownPackage => self.what_was_meant(conflict),
            Code::ClassUnavailable => self.who_defines(conflict)?,
            Code::NoVersion => self.what_is_shadowed(conflict)?.into_iter().collect(),
            _ => Vec::new(),
        };
        conflict.hints.splice(0..0, advice);
        Ok(())
    }

    /// The packages with similar names, which nobody may have required so that the solver does not know
    /// them. They take the place of those that it knows and that are less similar.
    fn what_was_meant(&self, conflict: &mut Conflict) -> Vec<Hint> {
        let unknown = conflict
            .reasons
            .iter()
            .filter_map(|reason| match &reason.kind {
                ReasonKind::Requires { package, .. } if reason.clashes => Some(package.clone()),
                _ => None,
            });
        let unknown: BTreeSet<PackageName> = unknown.collect();
        let mut advice = Vec::new();
        for package in unknown {
            let mut hints = conflict.hints.iter().enumerate();
            let known = hints.find_map(|(at, hint)| match &hint.kind {
                HintKind::Similar { unknown, meant } if *unknown == package => {
                    Some((at, meant.clone()))
                }
                _ => None,
            });
            let preferred = known.map(|(at, meant)| {
                conflict.hints.remove(at);
                meant
            });
            // Whoever requires something here was not meant.
            let others = &conflict.packages;
            if let Some(meant) = self.similar_package(&package, preferred.as_ref(), others) {
                advice.push(Hint::similar(package, meant));
            }
        }
        advice
    }

    fn who_defines(&self, conflict: &Conflict) -> Result<Vec<Hint>, RegistryError> {
        let mut advice = Vec::new();
        let lacked = |class: &ClassName| {
            let mut reasons = conflict.reasons.iter();
            reasons.any(|reason| matches!(&reason.kind, ReasonKind::Lacks { class: lacked } if lacked == class))
        };
        for reason in &conflict.reasons {
            let ReasonKind::Extends { class } = &reason.kind else {
                continue;
            };
            // What is required may have the class in other versions, which the reasons say.
            if lacked(class) {
                continue;
            }
            let owner = reason.owner.as_ref();
            let defining = self.defining(class)?;
            if let Some(package) = defining.iter().find(|package| Some(*package) != owner) {
                let owner = reason.owner_name();
                advice.push(Hint::packages(format!(
                    "{package} defines the class {class}, and {owner} does not require it"
                )));
            } else if let Some((similar, package)) = self.similar_class(class)? {
                advice.push(Hint::packages(format!(
                    "{package} defines a class of a similar name: {similar}"
                )));
            }
        }
        Ok(advice)
    }
}
