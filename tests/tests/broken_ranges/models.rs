//! Releases of OPC UA models that a requirement allows and that lack an extended type.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use pkgres_manifest::{ClassName, IndexRecord, PackageName, Spec};
use pkgres_tests::opcua::{lines, read, record_of};
use serde_json::{Value, json};

use super::span;

pub(crate) struct BrokenModels {
    pub(crate) releases: usize,
    /// The pairs of a release and one that a requirement of it allows.
    pub(crate) pairs: usize,
    /// Those in which the second lacks a type that the first extends.
    pub(crate) broken: usize,
    /// The requirements that allow such a release.
    pub(crate) requirements: usize,
    /// The model, its version, the required model and the release of it that lacks a type.
    pub(crate) broken_pairs: BTreeSet<[String; 4]>,
    /// The types of each release, by the model and its version.
    pub(crate) types: BTreeMap<[String; 2], BTreeSet<String>>,
    rows: Vec<Row>,
}

/// Consecutive releases of a model with one problem.
struct Row {
    model: String,
    /// Ascending.
    versions: Vec<String>,
    /// The position of the last one among all releases of the model.
    position: usize,
    problem: Problem,
}

#[derive(PartialEq, Eq)]
struct Problem {
    required: String,
    /// The minimum that is stated.
    stated: String,
    /// The releases that lack a type, ascending.
    lacking: Vec<String>,
    types: Vec<String>,
    /// The oldest allowed release that, as a minimum, allows only releases with all types.
    right: Option<String>,
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
            broken_pairs: BTreeSet::new(),
            types: lines.iter().zip(&records).map(types_of).collect(),
            rows: Vec::new(),
        };
        let about = About {
            names: browse_names(&lines),
            minimums: minimums(&lines, &records),
        };
        for releases in by_name.values() {
            for (position, record) in releases.iter().enumerate() {
                found.compare((position, record), &by_name, &about);
            }
        }
        Some(found)
    }

    /// Compares a release with those that its requirements allow.
    fn compare(
        &mut self,
        (position, record): (usize, &IndexRecord),
        by_name: &BTreeMap<&PackageName, Vec<&IndexRecord>>,
        about: &About,
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
            let mut allowed: Vec<(&IndexRecord, bool)> = Vec::new();
            for release in by_name.get(package).into_iter().flatten() {
                if !requirement.spec.matches(&release.version) {
                    continue;
                }
                self.pairs += 1;
                let lacked = extended.iter().filter(|class| !release.exports(class));
                let lacked: Vec<String> = lacked
                    .map(|class| shown(package, class, &about.names))
                    .collect();
                allowed.push((release, lacked.is_empty()));
                if !lacked.is_empty() {
                    self.broken += 1;
                    self.broken_pairs.insert([
                        record.name.to_string(),
                        record.version.to_string(),
                        package.to_string(),
                        release.version.to_string(),
                    ]);
                    lacking.push(release.version.to_string());
                    types.extend(lacked);
                }
            }
            if lacking.is_empty() {
                continue;
            }
            self.requirements += 1;
            // A minimum is not the same as a place in the order: releases of one date are allowed together.
            let is_right = |minimum: &&IndexRecord| {
                let spec = &about.minimums[&(minimum.name.clone(), minimum.version.to_string())];
                let mut now = (allowed.iter()).filter(|(one, _)| spec.matches(&one.version));
                now.all(|(_, has_all)| *has_all)
            };
            let right = allowed.iter().map(|(one, _)| *one).find(is_right);
            let problem = Problem {
                required: package.to_string(),
                stated: requirement.spec.written().to_owned(),
                lacking,
                types: types.into_iter().collect(),
                right: right.map(|release| release.version.to_string()),
            };
            let (model, version) = (record.name.to_string(), record.version.to_string());
            let mut same = self.rows.iter_mut().rev();
            let last = same.find(|row| row.model == model && row.problem == problem);
            match last {
                Some(last) if last.position + 1 == position => {
                    last.versions.push(version);
                    last.position = position;
                }
                _ => self.rows.push(Row {
                    model,
                    versions: vec![version],
                    position,
                    problem,
                }),
            }
        }
    }

    pub(crate) fn table(&self) -> String {
        let mut text =
            "| model | requires | releases that lack a type | missing types | correct minimum |\n|---|---|---|---|---|\n"
                .to_owned();
        for row in &self.rows {
            let Problem {
                required,
                stated,
                lacking,
                types,
                right,
            } = &row.problem;
            let types = match types.as_slice() {
                [one, two, _, ..] => format!("{one}, {two} and {} more", types.len() - 2),
                few => few.join(", "),
            };
            let (model, versions) = (&row.model, span(&row.versions));
            let lacking = lacking.join(", ");
            let right = right.as_deref().unwrap_or("none");
            writeln!(
                text,
                "| `{model}` {versions} | `{required}` {stated} | {lacking} | {types} | {right} |"
            )
            .expect("a text can be written");
        }
        text.trim_end().to_owned()
    }
}

/// The types that a release defines, by the model and its version.
fn types_of((line, record): (&&Value, &IndexRecord)) -> ([String; 2], BTreeSet<String>) {
    let release = [record.name.to_string(), record.version.to_string()];
    let types = line["types"].as_object().into_iter().flatten();
    (release, types.map(|(id, _)| id.clone()).collect())
}

/// Whether a class is a type of a model.
fn is_of(class: &ClassName, package: &PackageName) -> bool {
    class
        .as_str()
        .strip_prefix(package.as_str())
        .is_some_and(|rest| rest.starts_with(';'))
}

/// What is known about models beside their records.
struct About {
    names: BrowseNames,
    /// What a requirement allows that names a release as its minimum.
    minimums: BTreeMap<(PackageName, String), Spec>,
}

/// The requirements that name each of these releases, as a file writes them.
fn minimums(lines: &[&Value], records: &[IndexRecord]) -> BTreeMap<(PackageName, String), Spec> {
    let releases = lines.iter().zip(records);
    let minimums = releases.map(|(line, record)| {
        let names = ["uri", "version", "model_version", "published"];
        let required: Vec<&Value> = names.iter().map(|name| &line[name]).collect();
        let requiring = json!({
            "ecosystem": "opcua", "name": "urn:requiring", "version": "1@", "require": [required],
        });
        let requiring = read(&requiring.to_string());
        let spec = requiring.requirements[0].spec.clone();
        ((record.name.clone(), record.version.to_string()), spec)
    });
    minimums.collect()
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
