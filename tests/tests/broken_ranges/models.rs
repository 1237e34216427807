//! Releases of OPC UA models that a requirement allows and that lack an extended type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pkgres_manifest::{ClassName, IndexRecord, PackageName};
use pkgres_tests::opcua::{lines, read, record_of};
use serde_json::Value;

use super::span;

pub(crate) struct BrokenModels {
    pub(crate) releases: usize,
    /// The pairs of a release and one that a requirement of it allows.
    pub(crate) pairs: usize,
    /// Those in which the second lacks a type that the first extends.
    pub(crate) broken: usize,
    /// The requirements that allow such a release.
    pub(crate) requirements: usize,
    rows: Vec<Row>,
}

/// Consecutive releases of a model with one problem.
struct Row {
    model: String,
    /// Ascending.
    versions: Vec<String>,
    problem: Problem,
}

#[derive(PartialEq, Eq)]
struct Problem {
    required: String,
    /// The releases that lack a type, ascending.
    lacking: Vec<String>,
    types: Vec<String>,
}

impl BrokenModels {
    pub(crate) fn of_corpus() -> Option<Self> {
        let lines = lines()?;
        // Drafts are no releases, nor is another content under the same version.
        let is_release = |line: &&Value| line["variant"].is_null() && line["released"] == true;
        let lines: Vec<_> = lines.iter().filter(is_release).collect();
        let records: Vec<IndexRecord> = lines
            .iter()
            .map(|line| read(&record_of(line).to_string()))
            .collect();
        let mut by_name: BTreeMap<&PackageName, Vec<&IndexRecord>> = BTreeMap::new();
        for record in &records {
            by_name.entry(&record.name).or_default().push(record);
        }
        for releases in by_name.values_mut() {
            releases.sort_by(|one, two| one.version.cmp(&two.version));
        }
        let mut found = Self {
            releases: records.len(),
            pairs: 0,
            broken: 0,
            requirements: 0,
            rows: Vec::new(),
        };
        let names = browse_names(&lines);
        for record in by_name.values().flatten() {
            found.compare(record, &by_name, &names);
        }
        Some(found)
    }

    /// Compares a release with those that its requirements allow.
    fn compare(
        &mut self,
        record: &IndexRecord,
        by_name: &BTreeMap<&PackageName, Vec<&IndexRecord>>,
        names: &BrowseNames,
    ) {
        for requirement in &record.requirements {
            let package = &requirement.package;
            let classes = record.classes.iter().flatten();
            let extended: BTreeSet<&ClassName> = classes
                .flat_map(|class| &class.extends)
                .filter(|class| is_of(class, package))
                .collect();
            let mut lacking = Vec::new();
            let mut types = BTreeSet::new();
            for release in by_name.get(package).into_iter().flatten() {
                if !requirement.spec.matches(&release.version) {
                    continue;
                }
                self.pairs += 1;
                let lacked = extended.iter().filter(|class| !release.exports(class));
                let lacked: Vec<String> =
                    lacked.map(|class| shown(package, class, names)).collect();
                if !lacked.is_empty() {
                    self.broken += 1;
                    lacking.push(release.version.to_string());
                    types.extend(lacked);
                }
            }
            if lacking.is_empty() {
                continue;
            }
            self.requirements += 1;
            let problem = Problem {
                required: package.to_string(),
                lacking,
                types: types.into_iter().collect(),
            };
            let (model, version) = (record.name.to_string(), record.version.to_string());
            match self.rows.last_mut() {
                Some(last) if last.model == model && last.problem == problem => {
                    last.versions.push(version);
                }
                _ => self.rows.push(Row {
                    model,
                    versions: vec![version],
                    problem,
                }),
            }
        }
    }

    pub(crate) fn table(&self) -> String {
        let mut text =
            "| model | requires | releases that lack a type | missing types |\n|---|---|---|---|\n"
                .to_owned();
        for row in &self.rows {
            let Problem {
                required,
                lacking,
                types,
            } = &row.problem;
            let types = match types.as_slice() {
                [one, two, _, ..] => format!("{one}, {two} and {} more", types.len() - 2),
                few => few.join(", "),
            };
            let (model, versions) = (&row.model, span(&row.versions));
            let lacking = lacking.join(", ");
            writeln!(
                text,
                "| `{model}` {versions} | `{required}` | {lacking} | {types} |"
            )
            .expect("a text can be written");
        }
        text.trim_end().to_owned()
    }
}

/// Whether a class is a type of a model.
fn is_of(class: &ClassName, package: &PackageName) -> bool {
    class
        .as_str()
        .strip_prefix(package.as_str())
        .is_some_and(|rest| rest.starts_with(';'))
}

/// The names of types, by model and identifier.
type BrowseNames = BTreeMap<(String, String), String>;

fn browse_names(lines: &[&Value]) -> BrowseNames {
    let mut names = BTreeMap::new();
    for line in lines {
        let uri = line["uri"].as_str().unwrap_or_default();
        for (id, one) in line["types"].as_object().into_iter().flatten() {
            let name = one[1].as_str().unwrap_or_default();
            names.insert((uri.to_owned(), id.clone()), name.to_owned());
        }
    }
    names
}

/// A type of a model by its name and its identifier, without the kind of type.
fn shown(package: &PackageName, class: &ClassName, names: &BrowseNames) -> String {
    let id = class
        .as_str()
        .rsplit_once(';')
        .map_or(class.as_str(), |(_, id)| id);
    let id = id.split_once('(').map_or(id, |(id, _)| id);
    let key = (package.to_string(), id.to_owned());
    let name = names
        .get(&key)
        .map(|name| name.rsplit_once(':').map_or(&**name, |(_, name)| name));
    name.map_or_else(|| format!("`{id}`"), |name| format!("{name} (`{id}`)"))
}
