//! Checks whether objects are of the classes that contracts name.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location};
use pkgres_manifest::{ClassConstraint, ConstrainedObject, ContractPlace, ObjectId, ValueProblem};

use super::ModelCheck;
use crate::bound_packages::ClassAt;

/// A contract on the class of an object that a contract describes.
pub(super) struct ConstrainedClass<'a> {
    /// The object of the model that the value is written in, and the path of the value.
    pub(super) place: ContractPlace,
    pub(super) constraint: &'a ClassConstraint,
    /// The beginning of the mapping that describes the object.
    pub(super) described: usize,
    pub(super) location: Location,
}

impl ModelCheck<'_> {
    /// The finding on an object that is not of the class that a contract names. An object is also of the classes that
    /// its own class inherits.
    pub(super) fn wrong_class(
        &self,
        constrained: &ConstrainedObject<'_>,
        parent_object: ObjectId,
    ) -> Option<Diagnostic> {
        let class = self.classes[constrained.object.0].as_ref()?;
        let message = self.wrong_class_of(
            constrained.constraint,
            class,
            &constrained.path,
            parent_object,
        )?;
        let location = self.model.object(constrained.object).location.clone();
        Some(Diagnostic::error(Code::ModelContract, message).at(location))
    }

    /// Reports the objects without `type` that are not of a class that a contract names.
    pub(super) fn constrained_descriptions(&mut self) {
        for constrained in std::mem::take(&mut self.constrained) {
            let described = self.described.get(&constrained.described);
            let Some(class) = described.filter(|_| !self.known.contains(&constrained.place)) else {
                continue;
            };
            let ContractPlace { holder, path } = &constrained.place;
            if let Some(message) = self.wrong_class_of(constrained.constraint, class, path, *holder)
            {
                let finding = Diagnostic::error(Code::ModelContract, message);
                self.report.findings.push(finding.at(constrained.location));
            }
        }
    }

    /// The message on an object of a class that is not the one of a contract.
    fn wrong_class_of(
        &self,
        constraint: &ClassConstraint,
        class: &ClassAt,
        path: &str,
        parent_object: ObjectId,
    ) -> Option<String> {
        let expected = &constraint.class;
        let root = self.packages.root_class.as_ref();
        let ancestry = self.packages.known_ancestry(class);
        let mut known = ancestry.known.iter();
        let found = known.find(|(at, _)| at.class == *expected);
        let is_unknown = ancestry.unknown.iter().any(|class| Some(class) != root);
        let spec = constraint.spec.as_ref();
        let wrong_version = match found {
            Some((at, _)) => {
                let spec = spec.filter(|_| self.checks_versions);
                let spec = spec.filter(|spec| !spec.matches(&at.release.version))?;
                Some((spec, &at.release))
            }
            None if is_unknown || Some(expected) == root => return None,
            None => None,
        };
        let path = Escaped::shortened(path);
        let problem = ValueProblem::NotObject(expected.clone());
        let of_object = self.of_object(parent_object);
        Some(match wrong_version {
            Some((spec, release)) => format!(
                "`{path}`{of_object} {problem} in the versions `{spec}`, and it is of {release}"
            ),
            None if self.value_of == Some(parent_object) => format!("`{path}` {problem}"),
            None => format!(
                "`{path}`{of_object} {problem}, and `{}` is none",
                class.class
            ),
        })
    }
}
