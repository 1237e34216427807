//! Uses that exclude versions.
//!
//! By default, uses never exclude a version: a release can be chosen although its classes use a class that no required
//! release defines. To let uses exclude versions, each used class becomes the parent of an internal class of its own.
//! Nothing extends such a class, so it takes part in no cycle, and it has one parent, so it inherits nothing in two
//! versions.
//!
//! A class that no release of a required package defines is missing whatever is chosen: letting it exclude versions
//! would exclude every release that uses it. The same holds for classes of packages that are not required, which are
//! present if something else requires them. Such uses are left out, and reported ([`UnmetUse`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass, PackageName, Release, ReleaseSource};
use pkgres_resolver::{Resolution, ResolvedPackage, Supply};

use super::RegistrySet;
use crate::registry_error::RegistryError;
use crate::threads::lock;

/// A class that a release uses and that no version of a package that it requires defines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnmetUse {
    /// The release.
    pub release: Release,
    /// The class that it uses.
    pub used: ClassName,
    /// The first class that uses it.
    pub using_class: ClassName,
}

/// What strict uses depend on besides the registries.
#[derive(Debug, Default)]
pub(super) struct StrictUses {
    /// The releases that the host provides. They precede registries for their names.
    provided: Vec<IndexRecord>,
    /// The package that all releases require, which records do not state.
    core: Option<PackageName>,
    /// What the releases of packages define, if they are all known in full.
    known: Mutex<BTreeMap<PackageName, Arc<Definitions>>>,
}

impl StrictUses {
    /// The same for registries that may have other releases now.
    pub(super) fn for_new_reading(&self) -> Self {
        Self {
            provided: self.provided.clone(),
            core: self.core.clone(),
            known: Mutex::default(),
        }
    }

    /// Forgets what packages define, because another registry may have them now.
    pub(super) fn forget(&mut self) {
        self.known = Mutex::default();
    }
}

/// The classes that any release of a package defines.
#[derive(Debug, Default)]
struct Definitions {
    /// Whether there may be more.
    may_be_more: bool,
    classes: BTreeSet<ClassName>,
    /// The classes that have moved to packages that are not required, and where to.
    moved: BTreeMap<ClassName, BTreeSet<ClassName>>,
}

impl Definitions {
    fn of(records: &[IndexRecord]) -> Self {
        let mut all = Self::default();
        for record in records {
            let Some(classes) = &record.classes else {
                all.may_be_more = true;
                continue;
            };
            let exported = classes.iter().filter(|class| !class.internal);
            all.classes.extend(exported.map(|class| class.name.clone()));
            for (class, target) in moved_classes(record) {
                all.moved.entry(class).or_default().insert(target);
            }
        }
        all
    }

    fn defines(&self, class: &ClassName) -> bool {
        let any = || {
            let (module, _) = class.as_str().rsplit_once('.')?;
            ClassName::native(&format!("{module}.*")).ok()
        };
        self.may_be_more
            || self.classes.contains(class)
            || any().is_some_and(|any| self.classes.contains(&any))
    }
}

/// What can be said about a use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Some versions of required packages may define the class.
    Excludes,
    /// The class has moved to a package that is required, too.
    Moved,
    /// No version of a required package defines it.
    Unmet,
}

impl RegistrySet {
    /// Lets uses exclude versions, as what classes extend does. Compiled indexes are not used then. `provided` are the
    /// releases that the host provides, and `core` is the core library that all others require, if there is one.
    #[must_use]
    pub fn with_strict_uses(self, provided: Vec<IndexRecord>, core: Option<PackageName>) -> Self {
        let strict = StrictUses {
            provided,
            core,
            known: Mutex::default(),
        };
        Self {
            strict_uses: Some(strict),
            ..self
        }
    }

    /// Lets the uses of releases exclude versions, as what their classes extend does. Returns the uses that exclude none
    /// because they are never met. Does nothing if uses [are not strict](Self::with_strict_uses).
    pub fn apply_strict_uses(&self, records: &mut [IndexRecord]) -> Vec<UnmetUse> {
        let Some(strict) = &self.strict_uses else {
            return Vec::new();
        };
        let mut unmet = Vec::new();
        let definitions = self.definitions(strict, records);
        for record in records {
            let required = required_by(record, strict);
            let required: Vec<&Definitions> = required
                .into_iter()
                .filter_map(|name| definitions.get(name).map(AsRef::as_ref))
                .collect();
            let release = record.release();
            let own = record.clone();
            let kind_of = |class: &ClassName| kind_of_use(class, &own, &required);
            apply(record, |used, user| match kind_of(used) {
                Use::Excludes => true,
                Use::Moved => false,
                Use::Unmet => {
                    unmet.push(UnmetUse {
                        release: release.clone(),
                        used: used.clone(),
                        using_class: user.clone(),
                    });
                    false
                }
            });
        }
        unmet
    }

    /// The uses of the releases of a resolution that exclude no version because they are never met, in order.
    ///
    /// # Errors
    ///
    /// A registry cannot be read.
    pub fn unmet_uses(&self, resolution: &Resolution) -> Result<Vec<UnmetUse>, RegistryError> {
        if self.strict_uses.is_none() {
            return Ok(Vec::new());
        }
        let chosen = resolution.packages().iter();
        let chosen: BTreeSet<Release> = chosen
            .filter(|one| matches!(one.source, ReleaseSource::Registry(_)))
            .map(ResolvedPackage::release)
            .collect();
        // Several releases of a package can be chosen side by side.
        let names: BTreeSet<PackageName> = chosen.iter().map(|one| one.name.clone()).collect();
        let names: Vec<PackageName> = names.into_iter().collect();
        let supplies = self.supply_as_recorded(&names)?;
        let mut records: Vec<IndexRecord> = supplies
            .into_iter()
            .flat_map(Supply::into_records)
            .filter(|record| chosen.contains(&record.release()))
            .collect();
        let mut unmet = self.apply_strict_uses(&mut records);
        unmet.sort();
        Ok(unmet)
    }

    /// What the releases of all packages that some releases require define.
    fn definitions(
        &self,
        strict: &StrictUses,
        records: &[IndexRecord],
    ) -> BTreeMap<PackageName, Arc<Definitions>> {
        let uses_others = |record: &&IndexRecord| {
            let mut classes = record.classes.iter().flatten();
            classes.any(|class| !class.uses.is_empty())
        };
        let using = records.iter().filter(uses_others);
        let names: BTreeSet<PackageName> = using
            .flat_map(|record| required_by(record, strict).into_iter().cloned())
            .collect();
        let mut found = BTreeMap::new();
        let mut open = Vec::new();
        // Other threads can go on while registries are read below.
        let before = lock(&strict.known);
        for name in names {
            match before.get(&name) {
                Some(definitions) => {
                    found.insert(name, Arc::clone(definitions));
                }
                None => open.push(name),
            }
        }
        drop(before);
        let is_provided = |name: &PackageName| strict.provided.iter().any(|one| one.name == *name);
        let (of_host, open): (Vec<_>, Vec<_>) = open.into_iter().partition(is_provided);
        let of_host = of_host.into_iter().map(|name| {
            let provided = strict.provided.iter().filter(|one| one.name == name);
            let provided: Vec<IndexRecord> = provided.cloned().collect();
            (name, Definitions::of(&provided))
        });
        // If a registry cannot be read, the solver finds that out, if it needs the registry.
        let supplies = self.supply_as_recorded(&open);
        let supplies = supplies.unwrap_or_else(|_| vec![Supply::Unknown; open.len()]);
        let others = open.into_iter().zip(supplies).map(|(name, supply)| {
            let definitions = match supply {
                Supply::Releases { records, .. } => Definitions::of(&records),
                // A root may have that name.
                Supply::Unknown => Definitions {
                    may_be_more: true,
                    ..Definitions::default()
                },
            };
            (name, definitions)
        });
        let read: Vec<(PackageName, Definitions)> = of_host.chain(others).collect();
        let mut known = lock(&strict.known);
        for (name, definitions) in read {
            let definitions = Arc::new(definitions);
            if !definitions.may_be_more {
                known.insert(name.clone(), Arc::clone(&definitions));
            }
            found.insert(name, definitions);
        }
        found
    }
}

/// The packages whose classes a release can use: those that it requires, but the host, which has none.
fn required_by<'record>(
    record: &'record IndexRecord,
    strict: &'record StrictUses,
) -> Vec<&'record PackageName> {
    let (host, has_core) = host_and_core(record);
    let required = record.requirements.iter().map(|one| &one.package);
    let required = required.filter(|name| Some(name.as_str()) != host);
    required
        .chain(strict.core.iter().filter(|_| has_core))
        .collect()
}

/// The name of the host in the ecosystem of a record, if it can be required, and whether releases require a core
/// library.
#[cfg(feature = "index")]
fn host_and_core(record: &IndexRecord) -> (Option<&'static str>, bool) {
    let format = pkgres_formats::find(record.ecosystem.id());
    format.map_or((None, false), |format| {
        let rules = format.rules();
        (rules.host, rules.has_core_library)
    })
}

/// The same without formats: there are only class packages.
#[cfg(not(feature = "index"))]
fn host_and_core(_: &IndexRecord) -> (Option<&'static str>, bool) {
    (None, true)
}

/// The classes of a release that have moved to packages that it does not require, with those that are used instead.
#[cfg(feature = "index")]
fn moved_classes(record: &IndexRecord) -> BTreeMap<ClassName, ClassName> {
    let format = pkgres_formats::find(record.ecosystem.id());
    let moved = format.map(|format| format.moved_classes(record));
    let moved = moved.into_iter().flatten();
    moved
        .map(|(class, target)| (class.clone(), target.clone()))
        .collect()
}

/// The same without formats: classes of class packages do not move.
#[cfg(not(feature = "index"))]
fn moved_classes(_: &IndexRecord) -> BTreeMap<ClassName, ClassName> {
    BTreeMap::new()
}

/// What can be said about a use of a release. `required` has the definitions of what it requires.
fn kind_of_use(class: &ClassName, user: &IndexRecord, required: &[&Definitions]) -> Use {
    let is_there =
        |class: &ClassName| user.defines(class) || required.iter().any(|one| one.defines(class));
    let moved = required.iter().filter_map(|one| one.moved.get(class));
    if moved.flatten().any(is_there) {
        Use::Moved
    } else if is_there(class) {
        Use::Excludes
    } else {
        Use::Unmet
    }
}

/// Adds an internal class for each class that a release uses and does not define itself, if `excludes` returns true for
/// it and the first class that uses it.
fn apply(record: &mut IndexRecord, mut excludes: impl FnMut(&ClassName, &ClassName) -> bool) {
    let moved = moved_classes(record);
    let Some(classes) = &mut record.classes else {
        return;
    };
    let own: BTreeSet<&ClassName> = classes.iter().map(|class| &class.name).collect();
    // The first of several classes that use one represents all of them.
    let mut used: BTreeMap<&ClassName, &ClassName> = BTreeMap::new();
    for class in classes
        .iter()
        .filter(|class| !moved.contains_key(&class.name))
    {
        for target in class.uses.iter().filter(|target| !own.contains(target)) {
            used.entry(target).or_insert(&class.name);
        }
    }
    used.retain(|used, user| excludes(used, user));
    let added: Vec<IndexedClass> = used
        .into_iter()
        .enumerate()
        .map(|(number, (used, user))| IndexedClass {
            name: user.of_use_by(number),
            internal: true,
            extends: vec![used.clone()],
            implements: Vec::new(),
            uses: Vec::new(),
        })
        .collect();
    if added.is_empty() {
        return;
    }
    classes.change(|classes| {
        classes.extend(added);
        classes.sort();
    });
}
