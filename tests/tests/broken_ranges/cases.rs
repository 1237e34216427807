//! The releases that the page of known cases resolves, cut out of the corpora.
//!
//! A release has of its classes what the case is about: those that some release of the dependency lacks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pkgres_manifest::{ClassName, IndexRecord, IndexedClass};
use pkgres_tests::{ansible, opcua};

/// Releases of collections, and the dependency that has to be the right one.
const COLLECTIONS: [(&str, &[&str], &str); 8] = [
    ("arista.eos", &["5.0.1", "6.0.0"], "ansible.netcommon"),
    ("cisco.asa", &["3.0.0", "3.1.0"], "ansible.netcommon"),
    (
        "cisco.ios",
        &["3.0.0", "4.3.1", "11.5.0", "11.6.0"],
        "ansible.netcommon",
    ),
    ("cisco.iosxr", &["3.0.0", "4.1.0"], "ansible.netcommon"),
    ("cisco.nxos", &["3.0.0", "4.0.1"], "ansible.netcommon"),
    ("community.aws", &["3.2.1", "5.4.0"], "amazon.aws"),
    ("community.okd", &["3.0.1", "4.0.0"], "kubernetes.core"),
    // What ansible.netcommon requires.
    ("ansible.utils", &[], ""),
];

/// Releases of models that extend types of OPC UA, and the names of their files.
const MODELS: [(&str, &str, &str); 3] = [
    (
        "fx.jsonl",
        "http://opcfoundation.org/UA/FX/AC/",
        "1.00.02@2024-02-02",
    ),
    (
        "di.jsonl",
        "http://opcfoundation.org/UA/DI/",
        "1.02@2019-05-01",
    ),
    (
        "padim.jsonl",
        "http://opcfoundation.org/UA/PADIM/",
        "1.0.3@2022-06-27",
    ),
];

const UA: &str = "http://opcfoundation.org/UA/";

/// A record with only those classes and parents that are kept.
fn cut(
    record: &IndexRecord,
    is_kept: &dyn Fn(&ClassName) -> bool,
    is_extended: &dyn Fn(&ClassName) -> bool,
) -> IndexRecord {
    let all = || record.classes.iter().flatten();
    // A type of a model has two classes, as `formats/src/opcua/record.rs` says.
    let types = all().filter(|class| is_kept(&class.name) || class.extends.iter().any(is_extended));
    let types: BTreeSet<&str> = types.map(|class| type_of(&class.name)).collect();
    let classes = all().filter(|class| types.contains(type_of(&class.name)));
    let classes = classes.map(|class| {
        let is_own = |parent: &ClassName| type_of(parent) == type_of(&class.name);
        let extends = class.extends.iter();
        let extends = extends.filter(|parent| is_own(parent) || is_extended(parent));
        IndexedClass {
            extends: extends.cloned().collect(),
            uses: Vec::new(),
            ..class.clone()
        }
    });
    let classes: Vec<IndexedClass> = classes.collect();
    let mut cut = record.clone().with_classes(classes);
    cut.labels = (record.labels.iter())
        .filter(|(name, _)| {
            cut.classes
                .iter()
                .flatten()
                .any(|class| class.name == *name)
        })
        .cloned()
        .collect();
    cut
}

/// The name of a class without the kind of type.
fn type_of(class: &ClassName) -> &str {
    let name = class.as_str();
    name.split_once('(').map_or(name, |(name, _)| name)
}

/// The classes that some roots extend and that not all releases of a dependency have.
fn lacked(roots: &[&IndexRecord], releases: &[&IndexRecord]) -> BTreeSet<ClassName> {
    let classes = roots.iter().flat_map(|root| root.classes.iter().flatten());
    let extended = classes.flat_map(|class| &class.extends).cloned();
    let extended: BTreeSet<ClassName> = extended.collect();
    let is_lacked = |class: &ClassName| {
        let mut define = releases.iter().map(|release| release.defines(class));
        let first = define.next();
        define.any(|defines| Some(defines) != first)
    };
    extended.into_iter().filter(is_lacked).collect()
}

fn lines(records: impl IntoIterator<Item = IndexRecord>) -> String {
    let lines = records.into_iter().map(|record| record.to_line() + "\n");
    lines.collect()
}

fn collections() -> Option<String> {
    let all = ansible::releases()?;
    let mut kept: Vec<IndexRecord> = Vec::new();
    let dependencies: BTreeSet<&str> = COLLECTIONS
        .iter()
        .map(|(.., dependency)| *dependency)
        .collect();
    for (name, versions, _) in COLLECTIONS
        .iter()
        .filter(|(_, versions, _)| versions.is_empty())
    {
        let of_name = all.values().filter(|one| one.name.as_str() == *name);
        kept.extend(of_name.map(|record| record.clone().with_classes([])));
        assert!(versions.is_empty());
    }
    for dependency in dependencies.into_iter().filter(|name| !name.is_empty()) {
        let of_name = all.values().filter(|one| one.name.as_str() == dependency);
        let releases: Vec<&IndexRecord> = of_name.collect();
        let roots = COLLECTIONS
            .iter()
            .filter(|(.., other)| *other == dependency);
        let roots = roots
            .flat_map(|(name, versions, _)| versions.iter().map(move |version| (*name, *version)));
        let roots: Vec<&IndexRecord> = roots
            .map(|(name, version)| &all[&(name.to_owned(), version.to_owned())])
            .collect();
        let lacked = lacked(&roots, &releases);
        let is_lacked = |class: &ClassName| lacked.contains(class);
        // A module whose names are not known defines all.
        let is_open = |class: &ClassName| {
            let folder = class.as_str().strip_suffix('*');
            let mut modules = lacked
                .iter()
                .filter_map(|one| one.as_str().rsplit_once('.'));
            folder.is_some_and(|folder| {
                modules.any(|(module, _)| folder.strip_suffix('.') == Some(module))
            })
        };
        let is_kept = |class: &ClassName| is_lacked(class) || is_open(class);
        kept.extend(roots.iter().map(|root| cut(root, &|_| false, &is_lacked)));
        kept.extend(
            releases
                .iter()
                .map(|release| cut(release, &is_kept, &|_| false)),
        );
    }
    kept.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
    Some(lines(kept))
}

/// The releases of a model, of what it requires, and so on.
fn models(name: &str, version: &str, all: &[IndexRecord]) -> String {
    let mut kept: Vec<&IndexRecord> = all
        .iter()
        .filter(|one| one.name.as_str() == name && one.version.to_string() == version)
        .collect();
    let mut next = 0;
    while let Some(record) = kept.get(next).copied() {
        next += 1;
        for requirement in &record.requirements {
            if kept.iter().all(|one| one.name != requirement.package) {
                kept.extend(all.iter().filter(|one| one.name == requirement.package));
            }
        }
    }
    let is_core = |record: &&&IndexRecord| record.name.as_str() == UA;
    let releases: Vec<&IndexRecord> = kept.iter().filter(is_core).copied().collect();
    let others: Vec<&IndexRecord> = kept.iter().filter(|one| !is_core(one)).copied().collect();
    let lacked = lacked(&others, &releases);
    let is_lacked = |class: &ClassName| lacked.contains(class);
    kept.sort_by(|one, two| (&one.name, &one.version).cmp(&(&two.name, &two.version)));
    lines(kept.into_iter().map(|record| {
        let is_core = record.name.as_str() == UA;
        cut(record, &|class| is_core && is_lacked(class), &|class| {
            !is_core && is_lacked(class)
        })
    }))
}

#[test]
fn the_known_cases_are_cut_out_of_the_corpora() {
    let (Some(collections), Some(releases)) = (collections(), opcua::releases()) else {
        return;
    };
    let mut files = vec![("collections.jsonl", collections)];
    files.extend(MODELS.map(|(file, name, version)| (file, models(name, version, &releases))));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/known-cases");
    for (file, lines) in files {
        let path = folder.join(file);
        if std::env::var_os("PKGRES_UPDATE_DOCS").is_some() {
            fs::create_dir_all(&folder).expect("the folder can be made");
            fs::write(&path, &lines).expect("the file can be written");
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == lines, "{} is out of date", path.display());
    }
}
