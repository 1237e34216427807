//! Searches the catalog.
//!
//! The database filters and sorts by its columns; what it cannot do, such as comparing versions, is
//! done here, batch by batch. Only a search for words or for the newest versions has to see all rows.

use std::collections::{HashMap, HashSet};

use pkgres_manifest::{PackageName, Version};

use super::entries::CatalogEntry;
use crate::access::Principal;
use crate::problem::Problem;
use crate::registry::access_checks::no_such_entry;
use crate::registry::backend::RegistryBackend;
use crate::store::catalog::{self, CatalogRow, Order, RowFilter};
use crate::store::releases::exported;

/// How many rows are read at once if the first ones were not enough. A row can have a long description.
const BATCH: u64 = 50;

/// The conditions of a search in the catalog. An empty list is no condition.
#[derive(Debug)]
pub(crate) struct CatalogFilter {
    /// The conditions that the database checks.
    pub(crate) rows: RowFilter,
    /// Who searches. Of the rows that its owner sees, a token shows those that it may see.
    pub(crate) principal: Option<Principal>,
    pub(crate) ids: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) tags: Vec<String>,
    pub(crate) name: Option<String>,
    pub(crate) kind: Option<String>,
    /// The version has to pass all of the tests.
    pub(crate) versions: Vec<VersionTest>,
    /// One of the words has to occur; they are in lower case.
    pub(crate) words: Vec<String>,
    pub(crate) order: Order,
    pub(crate) is_descending: bool,
    pub(crate) limit: usize,
    /// The id of the release after which the results begin.
    pub(crate) marker: Option<String>,
}

/// A comparison of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    Greater,
}

/// A condition on a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum VersionTest {
    Compared(Comparison, Version),
    OneOf(Vec<Version>),
    /// The newest release of its package that meets the other conditions.
    Latest,
}

impl VersionTest {
    /// Whether a version passes, as far as that depends on it alone.
    fn passes(&self, version: &Version) -> bool {
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

    /// Whether the condition names the versions that it wants, so that a yanked one is meant as well.
    fn is_exact(&self) -> bool {
        matches!(self, Self::Compared(Comparison::Equal, _) | Self::OneOf(_))
    }
}

impl CatalogFilter {
    /// Whether the token of the principal permits seeing a row that the owner of the token sees.
    fn permits(&self, row: &CatalogRow) -> Result<bool, Problem> {
        let Some(principal) = self.principal.as_ref().filter(|_| !row.is_public) else {
            return Ok(row.is_public);
        };
        let name = PackageName::parse(&row.package).map_err(Problem::internal)?;
        Ok(principal.require_to_see(&name).is_ok())
    }

    /// Whether a row meets the conditions that the database did not check.
    fn matches(&self, CatalogEntry { row, record }: &CatalogEntry) -> bool {
        let any = |expected: &[String], found: &[String]| {
            expected.is_empty() || expected.iter().any(|one| found.contains(one))
        };
        (self.ids.is_empty() || self.ids.contains(&row.id))
            && any(&self.categories, &row.categories)
            && any(&self.tags, &row.tags)
            && self.name.as_ref().is_none_or(|name| row.name == *name)
            && self.kind.as_ref().is_none_or(|kind| row.kind == *kind)
            && (self.versions.iter()).all(|test| test.passes(&record.version))
            && !(record.yanked && self.chooses_versions())
    }

    /// Whether versions are chosen by a condition, as the engine of Murano does: then yanked releases are none of them.
    fn chooses_versions(&self) -> bool {
        let is_exact = self.versions.iter().any(VersionTest::is_exact);
        !self.versions.is_empty() && !is_exact && self.ids.is_empty()
    }

    /// Whether the result depends on all rows together.
    fn needs_all(&self) -> bool {
        !self.words.is_empty() || self.versions.contains(&VersionTest::Latest)
    }
}

/// The first field with one of the words, in the order of relevance; none if no field has one.
fn rank(words: &[String], entry: &CatalogEntry) -> Option<usize> {
    if words.is_empty() {
        return Some(0);
    }
    let row = &entry.row;
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().any(|word| text.contains(word.as_str()))
    };
    let classes = || exported(&entry.record).any(|class| has(class.as_str()));
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

/// A release that a search finds.
struct RankedRelease {
    /// The field with one of the words, in the order of relevance.
    rank: usize,
    id: String,
}

impl RegistryBackend {
    /// The releases that meet the conditions, sorted, up to the limit.
    pub(crate) fn catalog(&self, filter: &CatalogFilter) -> Result<Vec<CatalogEntry>, Problem> {
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

    /// The releases by relevance, for a result that depends on all rows. Only those of the result are in memory as a
    /// whole, because anybody may search.
    fn ranked(
        &self,
        filter: &CatalogFilter,
        marker: Option<&CatalogRow>,
    ) -> Result<Vec<CatalogEntry>, Problem> {
        let wants_newest = filter.versions.contains(&VersionTest::Latest);
        // A release without the words is no result, but may be the newest of its package.
        let mut newest: HashMap<String, (Version, String)> = HashMap::new();
        let mut ranked: Vec<RankedRelease> = Vec::new();
        self.each(filter, None, &mut |entry| {
            let rank = rank(&filter.words, &entry);
            let CatalogEntry { row, record } = entry;
            if wants_newest {
                match newest.get_mut(&row.package) {
                    Some((known, _)) if *known >= record.version => {}
                    Some(known) => *known = (record.version, row.id.clone()),
                    None => {
                        newest.insert(row.package.clone(), (record.version, row.id.clone()));
                    }
                }
            }
            if let Some(rank) = rank {
                ranked.push(RankedRelease { rank, id: row.id });
            }
            true
        })?;
        if wants_newest {
            let newest: HashSet<String> = newest.into_values().map(|(_, id)| id).collect();
            ranked.retain(|release| newest.contains(&release.id));
        }
        // Stable: equal ranks stay in the order of the rows.
        ranked.sort_by_key(|release| release.rank);
        let begin = match marker {
            None => 0,
            Some(marker) => {
                let at = ranked.iter().position(|release| release.id == marker.id);
                at.map_or(ranked.len(), |at| at + 1)
            }
        };
        let page = ranked.into_iter().skip(begin).take(filter.limit);
        let rows = self.database.read(|transaction| {
            let rows = page.map(|release| catalog::get(transaction, &release.id));
            rows.collect::<Result<Vec<_>, _>>()
        })?;
        // One that was deleted meanwhile is left out.
        let rows = rows.into_iter().flatten();
        rows.map(|row| self.entry(row)).collect()
    }

    /// Passes the releases that meet the conditions to `sink`, in order, until it returns false.
    fn each(
        &self,
        filter: &CatalogFilter,
        mut after: Option<CatalogRow>,
        sink: &mut dyn FnMut(CatalogEntry) -> bool,
    ) -> Result<(), Problem> {
        let order = (filter.order, filter.is_descending);
        // Usually the first rows are enough.
        let mut batch = if filter.needs_all() {
            BATCH
        } else {
            filter.limit as u64
        };
        loop {
            let rows = self.database.read(|transaction| {
                catalog::list(transaction, &filter.rows, order, after.as_ref(), batch)
            })?;
            let is_last = (rows.len() as u64) < batch;
            after = rows.last().cloned();
            for row in rows {
                if !filter.permits(&row)? {
                    continue;
                }
                let entry = self.entry(row)?;
                let has_class = filter.rows.class.as_ref().is_none_or(|wanted| {
                    exported(&entry.record).any(|class| class.as_str() == wanted)
                });
                if has_class && filter.matches(&entry) && !sink(entry) {
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
