//! Which packages define classes, and which extend them.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_manifest::{ClassName, IndexReader, IndexRecord, PackageName, Version};
use pkgres_registry_client::protocol::ClassDocument;

use super::Registry;
use crate::problem::Problem;

/// A class that extends another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Extender {
    pub(crate) class: ClassName,
    pub(crate) package: PackageName,
    /// The newest release in which it does.
    pub(crate) version: Version,
}

/// Who extends some classes.
#[derive(Debug, Default)]
pub(crate) struct Extenders {
    /// By the class that is extended; each list is sorted.
    pub(crate) of: BTreeMap<ClassName, Vec<Extender>>,
    /// Whether there were more packages than were looked at.
    pub(crate) is_partial: bool,
}

impl Registry {
    /// The packages that define a class for others, sorted.
    pub(crate) fn definers(&self, class: &ClassName) -> Result<Vec<PackageName>, Problem> {
        match self.node.class(class)? {
            Some(document) => Ok(ClassDocument::parse(&document.body)?.packages),
            None => Ok(Vec::new()),
        }
    }

    /// Looks in the releases of at most `limit` packages for classes that extend some.
    pub(crate) fn extenders(
        &self,
        classes: &BTreeSet<ClassName>,
        packages: impl IntoIterator<Item = PackageName>,
        limit: usize,
    ) -> Result<Extenders, Problem> {
        let mut found = Extenders::default();
        let mut reader = IndexReader::new(self.settings.read.limits.clone());
        for (at, package) in packages.into_iter().enumerate() {
            if at == limit {
                found.is_partial = true;
                break;
            }
            let Some(document) = self.node.package(&package)? else {
                continue;
            };
            let text = std::str::from_utf8(&document.body).map_err(Problem::internal)?;
            // Looking for a text is far cheaper than reading records.
            let is_named = |class: &ClassName| text.contains(class.as_str());
            if !classes.iter().any(is_named) {
                continue;
            }
            let mut newest: BTreeMap<(ClassName, ClassName), Version> = BTreeMap::new();
            for line in text.lines() {
                let record = reader
                    .read_line(line, &|span| {
                        use pkgres_manifest::diagnostic::{Location, SourceText};
                        Location::new(&SourceText::new("index document", line), span)
                    })
                    .map_err(Problem::internal)?;
                note(&mut newest, &record, classes);
            }
            for ((parent, class), version) in newest {
                found.of.entry(parent).or_default().push(Extender {
                    class,
                    package: package.clone(),
                    version,
                });
            }
        }
        for extenders in found.of.values_mut() {
            extenders.sort();
        }
        Ok(found)
    }
}

/// Notes what a release extends. Lines are in the order of versions: the last one is the newest.
fn note(
    newest: &mut BTreeMap<(ClassName, ClassName), Version>,
    record: &IndexRecord,
    classes: &BTreeSet<ClassName>,
) {
    if record.yanked {
        return;
    }
    for class in record.classes.iter().flatten() {
        for parent in &class.extends {
            if classes.contains(parent) {
                let pair = (parent.clone(), class.name.clone());
                newest.insert(pair, record.version.clone());
            }
        }
    }
}
