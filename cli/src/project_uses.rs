//! The uses in the files around a root, as classes of the root: a class for each file.

use std::collections::{BTreeMap, BTreeSet};

use pkgres_checks::RecordReliances;
use pkgres_formats::ProjectUse;
use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};

/// A root with the files around it.
pub(crate) struct ProjectUses {
    /// The root, with a class for each file.
    pub(crate) record: IndexRecord,
    uses: Vec<(ClassName, ProjectUse)>,
}

impl ProjectUses {
    pub(crate) fn new(root: &IndexRecord, uses: Vec<ProjectUse>) -> Self {
        let uses = uses.into_iter().map(|one| (class_of_file(&one.file), one));
        let uses: Vec<(ClassName, ProjectUse)> = uses.collect();
        let mut of_files: BTreeMap<&ClassName, BTreeSet<ClassName>> = BTreeMap::new();
        for (file, one) in &uses {
            let of_file = of_files.entry(file).or_default();
            of_file.insert(one.class.clone());
        }
        let of_files = of_files.into_iter().map(|(name, uses)| {
            let mut class = IndexedClass::new(name.clone());
            class.uses = uses.into_iter().collect();
            class
        });
        let of_files: Vec<IndexedClass> = of_files.collect();
        let record = root.clone();
        let record = if uses.is_empty() {
            record
        } else {
            let known = record.classes.as_deref().unwrap_or_default().to_vec();
            record.with_classes(known.into_iter().chain(of_files))
        };
        Self { record, uses }
    }

    /// The uses of classes by files, by both.
    pub(crate) fn by_file(&self) -> BTreeMap<(&ClassName, &ClassName), &ProjectUse> {
        let uses = self.uses.iter();
        let uses = uses.map(|(file, one)| ((file, &one.class), one));
        uses.collect()
    }

    /// States the options that tasks set, as far as they are known.
    pub(crate) fn set_options(&self, reliances: &mut RecordReliances) {
        for (file, one) in &self.uses {
            if let Some(options) = one.options.clone() {
                reliances.set_options(file, &one.class, options);
            }
        }
    }
}

/// The name of the class for a file: its path, in which `_` replaces characters that class names cannot have.
fn class_of_file(path: &str) -> ClassName {
    let plain = |next: char| next.is_ascii_alphanumeric() || matches!(next, '_' | '-' | '.' | '/');
    let replaced: String = path
        .chars()
        .map(|next| if plain(next) { next } else { '_' })
        .collect();
    ClassName::native(&replaced)
        .or_else(|_| ClassName::native("_"))
        .expect("this is a name")
}
