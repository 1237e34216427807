//! Finds the references of a root in its record, for formats that know nothing more.

use pkgres_manifest::diagnostic::{Diagnostic, Location};
use pkgres_manifest::{ClassName, IndexRecord, Requirement};

use super::{ClassReference, ReferenceCheck, References, somewhere_in};
use crate::lookup::ReleaseLookup;
use crate::rules::Rules;

/// The findings about what the classes of a record extend and use of other packages. `path` is that of the root.
pub(crate) fn check_record(
    record: &IndexRecord,
    path: &str,
    rules: Rules,
    known: &dyn ReleaseLookup,
) -> Vec<Diagnostic> {
    let root = RecordReferences::new(record, path, known);
    let check = ReferenceCheck {
        record,
        root: &root,
        rules,
        known,
        path,
    };
    check.findings()
}

/// The references that the record of a root has: what its classes extend is needed, what they use is not.
struct RecordReferences<'check> {
    record: &'check IndexRecord,
    /// The releases of the packages that the root requires.
    required: Vec<(&'check Requirement, Vec<IndexRecord>)>,
    path: &'check str,
}

impl<'check> RecordReferences<'check> {
    fn new(record: &'check IndexRecord, path: &'check str, known: &dyn ReleaseLookup) -> Self {
        let requirements = record.requirements.iter();
        let required = requirements.map(|one| {
            let releases = known.releases(&one.package);
            (one, releases.unwrap_or_default())
        });
        Self {
            record,
            required: required.collect(),
            path,
        }
    }

    /// The requirement on the package that a class belongs to, as far as releases of it are known to define the class.
    fn requirement_of(&self, class: &ClassName) -> Option<&Requirement> {
        let mut required = self.required.iter();
        let (requirement, _) = required
            .find(|(_, releases)| releases.iter().any(|one| one.defines(class)))
            // With one requirement only, it is clear whose class is missing.
            .or_else(|| self.required.first().filter(|_| self.required.len() == 1))?;
        Some(requirement)
    }
}

impl References for RecordReferences<'_> {
    fn references(&self) -> Vec<ClassReference> {
        let mut references = Vec::new();
        for class in self.record.classes.iter().flatten() {
            let extended = class.extends.iter().map(|to| (to, true));
            let used = class.uses.iter().map(|to| (to, false));
            for (to, is_needed) in extended.chain(used) {
                if self.record.defines(to) {
                    continue;
                }
                let Some(requirement) = self.requirement_of(to) else {
                    continue;
                };
                references.push(ClassReference {
                    from: class.name.to_string(),
                    to: to.clone(),
                    package: requirement.package.clone(),
                    is_needed,
                    is_unguarded: is_needed,
                    at: None,
                });
            }
        }
        references.sort();
        references.dedup();
        references
    }

    fn place_of(&self, reference: &ClassReference) -> Location {
        let mut required = self.required.iter();
        let requirement = required.find(|(one, _)| one.package == reference.package);
        let place = requirement.and_then(|(one, _)| one.location.clone());
        place.unwrap_or_else(|| somewhere_in(self.path))
    }

    fn verb(&self, reference: &ClassReference) -> &'static str {
        if reference.is_needed {
            "extends"
        } else {
            "uses"
        }
    }
}
