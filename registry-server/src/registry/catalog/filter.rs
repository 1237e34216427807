//! Finding releases in the catalog.

use std::collections::HashMap;

use pkgres_manifest::Version;

use super::{CatalogEntry, no_such_entry};
use crate::problem::Problem;
use crate::registry::RegistryBackend;
use crate::store::catalog::{self, CatalogRow, Order, Wanted};

/// How many rows are read at once where most of them may not fit.
const BATCH: u64 = 1000;

/// What releases are looked for. What is empty does not matter.
#[derive(Debug)]
pub(crate) struct Filter {
    /// What the database looks at.
    pub(crate) wanted: Wanted,
    pub(crate) ids: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<String>,
    /// All of them have to hold.
    pub(crate) versions: Vec<VersionTest>,
    /// One of them has to be found, in small letters.
    pub(crate) words: Vec<String>,
    pub(crate) order: Order,
    pub(crate) is_descending: bool,
    pub(crate) limit: usize,
    /// The id behind which the answer begins.
    pub(crate) marker: Option<String>,
}

/// How versions are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    Greater,
}

/// Something that a version has to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VersionTest {
    Compared(Comparison, Version),
    OneOf(Vec<Version>),
    /// The newest of its package among those that fit otherwise.
    Latest,
}

impl VersionTest {
    fn holds(&self, version: &Version) -> bool {
        match self {
            Self::Compared(comparison, other) => {
                let order = version.without_build().cmp(&other.without_build());
                match comparison {
                    Comparison::Less => order.is_lt(),
                    Comparison::AtMost => order.is_le(),
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                    Comparison::AtLeast => order.is_ge(),
                    Comparison::Greater => order.is_gt(),
                }
            }
            Self::OneOf(versions) => versions
                .iter()
                .any(|other| version.without_build() == other.without_build()),
            Self::Latest => true,
        }
    }
}

impl Filter {
    fn fits(&self, row: &CatalogRow, version: &Version) -> bool {
        let any = |wanted: &[String], found: &[String]| {
            wanted.is_empty() || wanted.iter().any(|one| found.contains(one))
        };
        (self.ids.is_empty() || self.ids.contains(&row.id))
            && any(&self.categories, &row.categories)
            && any(&self.tags, &row.tags)
            && self.name.as_ref().is_none_or(|name| row.name == *name)
            && self.kind.as_ref().is_none_or(|kind| row.kind == *kind)
            && self.versions.iter().all(|test| test.holds(version))
    }

    /// Whether the answer depends on all rows together.
    fn needs_all(&self) -> bool {
        !self.words.is_empty() || self.versions.contains(&VersionTest::Latest)
    }
}

/// Where words are found first, in the order of fields; nothing if they are not.
fn rank(words: &[String], entry: &CatalogEntry) -> Option<usize> {
    if words.is_empty() {
        return Some(0);
    }
    let row = &entry.row;
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word.as_str()))
    };
    let classes =
        || crate::store::releases::exported(&entry.record).any(|class| has(class.as_str()));
    let found: [&dyn Fn() -> bool; 7] = [
        &|| has(&row.name),
        &|| has(&row.package),
        &|| has(&row.description),
        &|| row.categories.iter().any(|category| has(category)),
        &|| row.tags.iter().any(|tag| has(tag)),
        &classes,
        &|| has(&row.author),
    ];
    found.iter().position(|field| field())
}

impl RegistryBackend {
    /// The releases that fit, sorted; at most as many as the filter says.
    pub(crate) fn catalog(&self, filter: &Filter) -> Result<Vec<CatalogEntry>, Problem> {
        let marker = match &filter.marker {
            None => None,
            Some(id) => {
                let found = self
                    .database
                    .read(|transaction| catalog::get(transaction, id))?;
                Some(found.ok_or_else(no_such_entry)?)
            }
        };
        if filter.needs_all() {
            return self.ranked(filter, marker.as_ref());
        }
        let mut found = Vec::new();
        self.each(filter, marker, &mut |entry| {
            found.push(entry);
            found.len() < filter.limit
        })?;
        Ok(found)
    }

    /// The releases that fit best, for what cannot be said before all of them were seen.
    fn ranked(
        &self,
        filter: &Filter,
        marker: Option<&CatalogRow>,
    ) -> Result<Vec<CatalogEntry>, Problem> {
        let wants_newest = filter.versions.contains(&VersionTest::Latest);
        let mut newest: HashMap<String, Version> = HashMap::new();
        // What has none of the words is not kept, but may be the newest.
        let mut ranked: Vec<(usize, CatalogEntry)> = Vec::new();
        self.each(filter, None, &mut |entry| {
            if wants_newest {
                let version = &entry.record.version;
                match newest.get_mut(&entry.row.package) {
                    Some(known) if *known < *version => known.clone_from(version),
                    Some(_) => {}
                    None => {
                        newest.insert(entry.row.package.clone(), version.clone());
                    }
                }
            }
            if let Some(rank) = rank(&filter.words, &entry) {
                ranked.push((rank, entry));
            }
            true
        })?;
        if wants_newest {
            ranked
                .retain(|(_, entry)| newest.get(&entry.row.package) == Some(&entry.record.version));
        }
        // Stable: equal ranks stay in the order of the rows.
        ranked.sort_by_key(|(rank, _)| *rank);
        let begin = match marker {
            None => 0,
            Some(marker) => {
                let at = ranked
                    .iter()
                    .position(|(_, entry)| entry.row.id == marker.id);
                at.map_or(ranked.len(), |at| at + 1)
            }
        };
        let page = ranked.into_iter().skip(begin).take(filter.limit);
        Ok(page.map(|(_, entry)| entry).collect())
    }

    /// Hands on the releases that fit, in order, until enough were seen.
    fn each(
        &self,
        filter: &Filter,
        mut after: Option<CatalogRow>,
        sink: &mut dyn FnMut(CatalogEntry) -> bool,
    ) -> Result<(), Problem> {
        let order = (filter.order, filter.is_descending);
        // The first rows are usually enough.
        let mut batch = if filter.needs_all() {
            BATCH
        } else {
            filter.limit as u64
        };
        loop {
            let rows = self.database.read(|transaction| {
                catalog::list(transaction, &filter.wanted, order, after.as_ref(), batch)
            })?;
            let is_last = (rows.len() as u64) < batch;
            after = rows.last().cloned();
            for row in rows {
                let entry = self.entry(row)?;
                let has_class = filter.wanted.class.is_empty()
                    || crate::store::releases::exported(&entry.record)
                        .any(|class| class.as_str() == filter.wanted.class);
                if has_class && filter.fits(&entry.row, &entry.record.version) && !sink(entry) {
                    return Ok(());
                }
            }
            if is_last {
                return Ok(());
            }
            batch = BATCH;
        }
    }
}
