//! A class with everything that it inherits from.

use std::collections::{BTreeSet, VecDeque};

use pkgres_manifest::{ClassDefinition, ClassName, IndexRecord, PackageName, Version};

use super::backend::RegistryBackend;
use crate::problem::{Problem, ProblemCode};

/// The most classes whose files are read.
const MAX_CLASSES: usize = 16;

/// A class and the release that its definition is from.
#[derive(Debug)]
pub(crate) struct ClassPart {
    pub(crate) package: PackageName,
    pub(crate) version: Version,
    pub(crate) definition: ClassDefinition,
}

/// A class and its ancestors.
#[derive(Debug, Default)]
pub(crate) struct Lineage {
    /// The class, then its parents, then theirs.
    pub(crate) parts: Vec<ClassPart>,
    /// The ancestors that no release in the registry defines.
    pub(crate) unknown: Vec<ClassName>,
    /// Whether there are more ancestors than are read.
    pub(crate) is_partial: bool,
}

impl RegistryBackend {
    /// A class of a release with its ancestors. Those of other packages are from the newest release that the
    /// requirements permit; a resolution may have another one.
    pub(crate) fn lineage(
        &self,
        record: &IndexRecord,
        class: &ClassName,
    ) -> Result<Lineage, Problem> {
        let core = self.options.read.core.as_ref();
        let root_class = core.and_then(|core| ClassName::parse(&format!("{core}.Object")).ok());
        let mut lineage = Lineage::default();
        let mut seen = BTreeSet::from([class.clone()]);
        let mut rest = VecDeque::from([(class.clone(), record.clone())]);
        while let Some((class, record)) = rest.pop_front() {
            if lineage.parts.len() == MAX_CLASSES {
                lineage.is_partial = true;
                break;
            }
            let Some(definition) = self.class_definition(&record, &class)? else {
                lineage.unknown.push(class);
                continue;
            };
            let stated = definition.extends.iter().map(|parent| parent.value.clone());
            let mut parents: Vec<ClassName> = stated.collect();
            if parents.is_empty() {
                parents.extend(root_class.clone().filter(|root| *root != class));
            }
            for parent in parents {
                if !seen.insert(parent.clone()) {
                    continue;
                }
                match self.release_of_parent(&record, &parent)? {
                    Some(release) => rest.push_back((parent, release)),
                    None => lineage.unknown.push(parent),
                }
            }
            lineage.parts.push(ClassPart {
                package: record.name.clone(),
                version: record.version.clone(),
                definition,
            });
        }
        Ok(lineage)
    }

    /// The release that a parent of a class of a release is from.
    fn release_of_parent(
        &self,
        record: &IndexRecord,
        parent: &ClassName,
    ) -> Result<Option<IndexRecord>, Problem> {
        let has = |record: &IndexRecord| {
            record
                .classes
                .iter()
                .flatten()
                .any(|class| class.name == *parent)
        };
        if has(record) {
            return Ok(Some(record.clone()));
        }
        for package in self.definers(parent)? {
            let required = record
                .requirements
                .iter()
                .find(|known| known.package == package);
            let is_core = self.options.read.core.as_ref() == Some(&package);
            if required.is_none() && !is_core {
                continue;
            }
            let spec = required.map(|required| &required.spec);
            match self.release_for_spec(&package, spec) {
                Ok(release) if has(&release) => return Ok(Some(release)),
                Ok(_) => {}
                Err(problem)
                    if matches!(
                        problem.code,
                        ProblemCode::NoSuchVersion | ProblemCode::NoSuchPackage
                    ) => {}
                Err(problem) => return Err(problem),
            }
        }
        Ok(None)
    }
}
