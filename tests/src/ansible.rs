//! Ansible collections: real releases, in the form in which the shared data has them, and requests by their rules.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use flate2::read::GzDecoder;
use pkgres_formats::ansible::{
    ANSIBLE_CORE, ECOSYSTEM, Facts, Import, ImportKind, Module, Reference, Route,
    ansible_core_version,
};
use pkgres_manifest::{IndexRecord, Limits, PackageName, Spec};
use pkgres_resolver::{ClassRules, PrereleasePolicy, Request};
use serde_json::{Value, json};

use crate::random::Random;
use crate::shared;

/// Releases by name and version, with their classes.
pub type Releases = BTreeMap<(String, String), IndexRecord>;

/// The record of a line of an index.
///
/// # Panics
///
/// If it is no record of a collection.
pub fn record(line: &Value) -> IndexRecord {
    ECOSYSTEM
        .read_record(&line.to_string(), &Limits::default())
        .expect("the record is valid")
}

/// The name of a collection.
///
/// # Panics
///
/// If it is no name of a collection.
pub fn package(name: &str) -> PackageName {
    ECOSYSTEM.package_name(name).expect("a name")
}

/// A range of versions.
///
/// # Panics
///
/// If it is none.
pub fn range(text: &str) -> Spec {
    ECOSYSTEM.spec(text).expect("a range")
}

/// A project that requires some collections in ranges from, below or at their releases.
pub fn project(releases: &[&IndexRecord], random: &mut Random) -> IndexRecord {
    let mut root = record(&json!({
        "name": "root.root", "version": "0.0.0", "require": {}, "classes": {},
    }));
    for _ in 0..random.between(2, 5) {
        let release = *random.pick(releases);
        let operator = random.pick::<&str>(&[">=", "<", "<=", "=="]);
        let range = range(&format!("{operator}{}", release.version));
        root = root.with_requirement(release.name.clone(), range);
    }
    root
}

/// A request with the rules of collections. `core` is the version of ansible-core, if it is known.
pub fn request(root: IndexRecord, core: Option<&str>, classes: ClassRules) -> Request {
    let mut request = Request::new(root);
    request.core = None;
    request.options.single_version = true;
    request.options.classes = classes;
    request.options.prerelease = PrereleasePolicy::IfNamed;
    match core.and_then(ansible_core_version) {
        Some(version) => {
            let mut provided = IndexRecord::new(package(ANSIBLE_CORE), version).with_classes([]);
            provided.ecosystem = ECOSYSTEM;
            request.host_releases.push(provided);
        }
        None => request.options.host_package_of_unknown_version = Some(package(ANSIBLE_CORE)),
    }
    request
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> impl Iterator<Item = String> + '_ {
    value.as_array().into_iter().flatten().map(text)
}

fn rows<'value>(value: &'value Value, key: &str) -> impl Iterator<Item = &'value [Value]> {
    let rows = value[key].as_array().into_iter().flatten();
    rows.filter_map(|row| row.as_array().map(Vec::as_slice))
}

/// The facts of a line.
pub fn facts(line: &Value) -> Facts {
    let collection = text(&line["name"]);
    let mut modules = BTreeMap::new();
    for path in texts(&line["modules"]) {
        let names = line["names"].get(&path);
        let names_of = |names: &Value| texts(names).collect::<BTreeSet<String>>();
        let mut names_known = names.map(names_of).unwrap_or_default();
        let has_star = names_known.remove("*");
        let module = Module {
            names: names_known,
            stars: Vec::new(),
            is_open: names.is_none() || has_star,
        };
        let path = path.strip_suffix(".__init__").unwrap_or(&path).to_owned();
        modules.insert(path, module);
    }
    let others = texts(&line["other_plugins"])
        .filter_map(|path| {
            let (path, _) = path.rsplit_once('.')?;
            Some(format!("plugins.{}", path.replace('/', ".")))
        })
        .chain(texts(&line["roles"]).map(|role| format!("roles.{role}")))
        .chain(texts(&line["playbooks"]).map(|playbook| format!("playbooks.{playbook}")));
    Facts {
        modules,
        others: others.collect(),
        imports: rows(line, "imports").map(import).collect(),
        fragments: rows(line, "fragments")
            .map(|row| (text(&row[0]), text(&row[1])))
            .collect(),
        references: rows(line, "fqcn")
            .filter(|row| row[1] != "filter")
            .map(|row| Reference {
                place: text(&row[0]),
                kind: text(&row[1]),
                name: text(&row[2]),
            })
            .collect(),
        routes: rows(line, "routing").map(route).collect(),
        collection,
    }
}

fn import(row: &[Value]) -> Import {
    let kind = match row[2].as_str() {
        Some("hard") => ImportKind::Hard,
        Some("guarded") => ImportKind::Guarded,
        Some("alternative") => ImportKind::Alternative,
        Some("lazy") => ImportKind::Lazy,
        Some("dynamic") => ImportKind::Dynamic,
        other => panic!("{other:?} is not a kind of import"),
    };
    let target = text(&row[1]);
    Import {
        module: text(&row[0]).trim_end_matches(".__init__").to_owned(),
        path: String::new(),
        target: target.trim_start_matches("ansible_collections.").to_owned(),
        names: texts(&row[3]).filter(|name| name != "*").collect(),
        kind,
        at: 0,
    }
}

fn route(row: &[Value]) -> Route {
    let of = |key: &str| row[2].get(key).filter(|value| !value.is_null());
    Route {
        kind: text(&row[0]),
        name: text(&row[1]),
        redirect: of("redirect").map(text),
        tombstone: of("tombstone").is_some(),
        deprecated: of("deprecation").is_some(),
        ..Route::default()
    }
}

/// The releases of the shared data without their classes; `None` if it is missing.
///
/// # Panics
///
/// If the data is not what it should be.
pub fn index() -> Option<Releases> {
    let path = shared::path("corpus/ansible/index.jsonl")?;
    let lines = std::fs::read_to_string(path).expect("the index can be read");
    let releases = lines.lines().map(|line| {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let mut record = json!({
            "ecosystem": "ansible",
            "name": line["name"],
            "version": line["version"],
            "require": line["dependencies"],
        });
        if !line["requires_ansible"].is_null() {
            record["requires_ansible"] = line["requires_ansible"].clone();
        }
        let record = ECOSYSTEM.read_record(&record.to_string(), &Limits::default());
        let record = record.expect("the index has valid records");
        ((text(&line["name"]), text(&line["version"])), record)
    });
    Some(releases.collect())
}

/// The releases of the shared data with their classes; `None` if it is missing.
///
/// # Panics
///
/// If the data is not what it should be.
pub fn releases() -> Option<Releases> {
    let mut releases = index()?;
    let path = shared::path("corpus/ansible/classes.jsonl.gz")?;
    let bytes = std::fs::read(path).expect("the classes can be read");
    let mut lines = String::new();
    GzDecoder::new(&bytes[..])
        .read_to_string(&mut lines)
        .expect("the classes are text");
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        let key = (text(&line["name"]), text(&line["version"]));
        let Some(record) = releases.get_mut(&key) else {
            continue;
        };
        let declared: BTreeSet<String> = record
            .requirements
            .iter()
            .map(|requirement| requirement.package.to_string())
            .collect();
        let classes = facts(&line).classes(&|name| declared.contains(name));
        *record = record.clone().with_classes(classes);
    }
    Some(releases)
}
