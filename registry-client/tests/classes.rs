//! Which classes registries know: the same whatever kind of registry has the releases.

// Fixtures are written without ceremony.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use pkgres_manifest::{ClassName, IndexRecord, Limits, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{
    DirectoryRegistry, IndexCache, IndexFileRegistry, MemoryRegistry, Registry, RegistryError,
    RegistrySet, SinglePackage,
};

fn registry_name() -> RegistryName {
    RegistryName::parse("test").expect("a name")
}

fn package(name: &str) -> PackageName {
    PackageName::parse(name).expect("a name")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// A package with a class for others and one of its own, which extends a class that no package has; and a Heat
/// template, which is a class.
fn folder(folder: &Path) -> DirectoryRegistry {
    write(
        &folder.join("web/manifest.yaml"),
        "Format: 1.4\nType: Library\nFullName: a.Web\nVersion: 1.0.0\nClasses: {a.Web: Main.yaml}\n",
    );
    write(
        &folder.join("web/Classes/Main.yaml"),
        "Name: a.Web\n---\nName: a.Hidden\nExtends: c.Missing\n",
    );
    write(
        &folder.join("stack/manifest.yaml"),
        "Format: Heat.HOT/1.0\nType: Application\nFullName: b.Stack\nVersion: 1.0.0\n",
    );
    write(
        &folder.join("stack/template.yaml"),
        "heat_template_version: 2013-05-23\n",
    );
    DirectoryRegistry::open(registry_name(), folder, &ReadOptions::default()).expect("it is there")
}

#[test]
fn every_kind_of_registry_knows_the_same_classes() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let directory = folder(&place.path().join("packages"));
    let names = [package("a.Web"), package("b.Stack")];
    let records: Vec<IndexRecord> = directory
        .records(&names)
        .expect("records")
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    assert_eq!(records.len(), 2, "{:?}", directory.take_findings());

    let index = place.path().join("index.ndjson");
    let lines: Vec<String> = records.iter().map(IndexRecord::to_line).collect();
    write(&index, &(lines.join("\n") + "\n"));
    let (limits, threads) = (Limits::default(), NonZeroUsize::MIN);
    let plain = IndexFileRegistry::open(registry_name(), &index, &limits, threads);
    let now = SystemTime::now() + Duration::from_mins(1);
    let cache = IndexCache::new(place.path().join("cache"), now);
    let cached = IndexFileRegistry::open_cached(registry_name(), &index, &limits, threads, &cache);
    let mut memory = MemoryRegistry::new(registry_name());
    for record in records {
        memory.add_record(record);
    }
    let cached = cached.expect("an index");
    assert!(cached.compiled().expect("it can be asked").is_some());

    let expected = ["a.Web", "b.Stack"].map(|name| ClassName::parse(name).expect("a name"));
    let registries: [(&str, &dyn Registry); 4] = [
        ("a folder", &directory),
        ("an index", &plain.expect("an index")),
        ("a compiled index", &cached),
        ("memory", &memory),
    ];
    for (kind, registry) in registries {
        assert_eq!(registry.defined_classes(), expected, "{kind}");
        for class in &expected {
            let definers = registry.defining(class).expect("an answer");
            assert_eq!(definers, [package(class.as_str())], "{kind}");
        }
    }
    let only = SinglePackage::new(Box::new(memory), package("b.Stack"));
    assert_eq!(only.defined_classes(), expected[1..]);
    assert_eq!(only.known_packages(), [package("b.Stack")]);
    let absent = SinglePackage::new(Box::new(directory), package("c.Missing"));
    assert_eq!(absent.known_packages(), []);
}

/// A registry that panics if it is asked for its classes again.
struct AskedOnce(AtomicBool);

impl Registry for AskedOnce {
    fn name(&self) -> &RegistryName {
        unreachable!("no namespace is bound")
    }

    fn records(
        &self,
        names: &[PackageName],
    ) -> Result<Vec<Option<Vec<IndexRecord>>>, RegistryError> {
        Ok(vec![None; names.len()])
    }

    fn defining(&self, class: &ClassName) -> Result<Vec<PackageName>, RegistryError> {
        Ok(vec![package(class.as_str())])
    }

    fn defined_classes(&self) -> Vec<ClassName> {
        assert!(!self.0.swap(true, Ordering::Relaxed), "this may take long");
        vec![ClassName::parse("a.Web").expect("a name")]
    }
}

#[test]
fn the_classes_of_a_registry_are_read_once() {
    let registries = RegistrySet::new(vec![Box::new(AskedOnce(AtomicBool::default()))]);
    for class in ["a.Wbe", "a.Wen"] {
        let class = ClassName::parse(class).expect("a name");
        let similar = registries.similar_class(&class).expect("an answer");
        assert!(similar.is_some(), "{class}");
    }
}

#[test]
fn internal_classes_are_not_suggested() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let registries = RegistrySet::new(vec![Box::new(folder(place.path()))]);
    let similar = |class: &str| {
        let class = ClassName::parse(class).expect("a name");
        let similar = registries.similar_class(&class).expect("an answer");
        similar.map(|(class, package)| format!("{class} of {package}"))
    };
    assert_eq!(similar("b.Stak").as_deref(), Some("b.Stack of b.Stack"));
    assert_eq!(similar("a.Hiden"), None);
    assert_eq!(similar("c.Mising"), None);
}
