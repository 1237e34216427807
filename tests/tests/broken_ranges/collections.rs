//! Releases of collections that a range allows and that lack what is imported.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pkgres_formats::ansible::{ANSIBLE_CORE, narrowed_range};
use pkgres_manifest::{ClassName, IndexRecord, PackageName, Requirement, Version};
use pkgres_tests::ansible::{Releases, releases};

use super::span;

/// The most classes that a row names.
const NAMED_CLASSES: usize = 2;

pub(crate) struct BrokenCollections {
    pub(crate) releases: usize,
    /// The pairs of a release that imports something and one that its range allows.
    pub(crate) pairs: usize,
    /// Those in which the second lacks something that the first imports.
    pub(crate) broken: usize,
    /// Those in which it lacks a whole module.
    pub(crate) without_module: usize,
    /// The collection and its version, and the dependency and the version that lacks something.
    pub(crate) broken_pairs: BTreeSet<[String; 4]>,
    rows: Vec<Row>,
}

/// Consecutive releases of a collection with one problem.
struct Row {
    dependency: String,
    collection: String,
    /// Ascending.
    versions: Vec<String>,
    /// The position of the last one among all releases of the collection.
    position: usize,
    problem: Problem,
}

#[derive(PartialEq, Eq)]
struct Problem {
    range: String,
    /// How many of the allowed versions lack something.
    lacking: usize,
    allowed: usize,
    /// What the newest of them lacks.
    lacked: Vec<String>,
    right: Option<String>,
}

impl BrokenCollections {
    pub(crate) fn of_corpus() -> Option<Self> {
        let all = releases()?;
        let mut by_name: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
        for record in all.values() {
            by_name.entry(&record.name).or_default().push(record);
        }
        for releases in by_name.values_mut() {
            releases.sort_by(|one, two| one.version.cmp(&two.version));
        }
        let mut found = Self {
            releases: all.len(),
            pairs: 0,
            broken: 0,
            without_module: 0,
            broken_pairs: BTreeSet::new(),
            rows: Vec::new(),
        };
        let modules = modules(&all);
        let positioned = by_name
            .values()
            .flat_map(|releases| releases.iter().enumerate());
        for (position, record) in positioned {
            for requirement in &record.requirements {
                if requirement.package.as_str() != ANSIBLE_CORE {
                    let of_dependency = by_name.get(&requirement.package);
                    let of_dependency = of_dependency.map_or(&[][..], Vec::as_slice);
                    found.compare((position, record), requirement, of_dependency, &modules);
                }
            }
        }
        found.rows.sort_by(|one, two| {
            (&one.dependency, &one.collection).cmp(&(&two.dependency, &two.collection))
        });
        Some(found)
    }

    /// Compares a release with those that one of its requirements allows.
    fn compare(
        &mut self,
        (position, record): (usize, &IndexRecord),
        requirement: &Requirement,
        releases: &[&IndexRecord],
        modules: &BTreeSet<ClassName>,
    ) {
        let imported = imported(record, &requirement.package);
        if imported.is_empty() {
            return;
        }
        let mut fits: Vec<(&Version, bool)> = Vec::new();
        let mut lacked_by_newest = Vec::new();
        for release in releases {
            if !requirement.spec.matches(&release.version) {
                continue;
            }
            self.pairs += 1;
            let lacks = |class: &&&ClassName| !release.defines(class);
            let lacked: Vec<&ClassName> = imported.iter().filter(lacks).copied().collect();
            fits.push((&release.version, lacked.is_empty()));
            if !lacked.is_empty() {
                self.broken += 1;
                self.broken_pairs.insert(
                    [
                        record.name.as_str(),
                        &record.version.to_string(),
                        release.name.as_str(),
                        &release.version.to_string(),
                    ]
                    .map(str::to_owned),
                );
                let is_module = |class: &&ClassName| {
                    modules.contains(*class) || !exports_module_of(release, class)
                };
                self.without_module += usize::from(lacked.iter().any(is_module));
                lacked_by_newest = lacked;
            }
        }
        if lacked_by_newest.is_empty() {
            return;
        }
        let prefix = format!("{}.plugins.", requirement.package);
        let shown = |class: &&ClassName| class.as_str().trim_start_matches(&prefix).to_owned();
        let range = requirement.spec.written().to_string();
        let problem = Problem {
            lacking: fits.iter().filter(|(_, fits)| !fits).count(),
            allowed: fits.len(),
            lacked: lacked_by_newest.iter().map(shown).collect(),
            right: narrowed_range(&range, &fits),
            range,
        };
        let (collection, dependency) = (record.name.to_string(), requirement.package.to_string());
        let version = record.version.to_string();
        let mut same = self.rows.iter_mut().rev();
        let last = same.find(|row| row.collection == collection && row.dependency == dependency);
        match last {
            Some(last) if last.problem == problem && last.position + 1 == position => {
                last.versions.push(version);
                last.position = position;
            }
            _ => self.rows.push(Row {
                dependency,
                collection,
                versions: vec![version],
                position,
                problem,
            }),
        }
    }

    /// How many collections the page names, each with every dependency once.
    pub(crate) fn named(&self) -> usize {
        let rows = self.rows.iter();
        let named: BTreeSet<_> = rows.map(|row| (&row.dependency, &row.collection)).collect();
        named.len()
    }

    /// A table for each dependency.
    pub(crate) fn tables(&self) -> String {
        let mut text = String::new();
        for rows in self
            .rows
            .chunk_by(|one, two| one.dependency == two.dependency)
        {
            let head = "| collection | range | versions that lack something | missing in the newest of them | correct range |\n|---|---|---:|---|---|";
            write!(text, "\n### {}\n\n{head}\n", rows[0].dependency)
                .expect("a text can be written");
            for row in rows {
                writeln!(text, "{}", row.line()).expect("a text can be written");
            }
        }
        text.trim().to_owned()
    }
}

impl Row {
    fn line(&self) -> String {
        let Problem {
            range,
            lacking,
            allowed,
            lacked,
            right,
        } = &self.problem;
        let mut what: Vec<String> = lacked.iter().map(|class| format!("`{class}`")).collect();
        let more = what.len().saturating_sub(NAMED_CLASSES);
        what.truncate(NAMED_CLASSES);
        let mut what = what.join(", ");
        if more > 0 {
            write!(what, " and {more} more").expect("a text can be written");
        }
        let right = match right {
            Some(right) => format!("`{right}`"),
            None => "none".to_owned(),
        };
        let (collection, versions) = (&self.collection, span(&self.versions));
        format!(
            "| {collection} {versions} | `{range}` | {lacking} of {allowed} | {what} | {right} |"
        )
    }
}

/// What a release needs of a dependency, each once and in order.
fn imported<'record>(
    record: &'record IndexRecord,
    package: &PackageName,
) -> Vec<&'record ClassName> {
    let prefix = format!("{package}.");
    let classes = record.classes.iter().flatten();
    let extended = classes.flat_map(|class| &class.extends);
    let of_package = extended.filter(|class| class.as_str().starts_with(&prefix));
    let each_once: BTreeSet<&ClassName> = of_package.collect();
    each_once.into_iter().collect()
}

/// Whether a release has the module that a name is in.
fn exports_module_of(release: &IndexRecord, class: &ClassName) -> bool {
    let above = class.as_str().rsplit_once('.').map(|(above, _)| above);
    let module = above.and_then(|above| ClassName::native(above).ok());
    module.is_some_and(|module| release.exports(&module))
}

/// The classes that are modules in some release, because others are below them.
fn modules(all: &Releases) -> BTreeSet<ClassName> {
    let classes = all
        .values()
        .flat_map(|record| record.classes.iter().flatten());
    let above = classes.filter_map(|class| class.name.as_str().rsplit_once('.'));
    above
        .filter_map(|(above, _)| ClassName::native(above).ok())
        .collect()
}
