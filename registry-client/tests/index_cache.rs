//! Index files with a cache: the same answers and errors as without, whatever is in the cache.

// These files are thrown away.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pkgres_manifest::{ClassName, IndexRecord, Limits, PackageName, ReadOptions, RegistryName};
use pkgres_registry_client::{IndexCache, IndexFileRegistry, Registry, RegistryError};
use pkgres_resolver::CompiledIndex;
use tempfile::TempDir;

const LINES: &str = r#"{"name":"a.A","version":"1.0.0","require":{"b.B":"1"},"classes":{"a.A":{"extends":["b.B"],"uses":["b.B"]}}}
{"name":"b.B","version":"1.0.0","classes":{"b.B":{}}}
{"name":"b.B","version":"1.1.0","classes":{}}
"#;

/// An index file and a cache.
struct Setting {
    folder: TempDir,
    limits: Limits,
    threads: NonZeroUsize,
}

impl Setting {
    fn new(lines: &str) -> Self {
        let setting = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            limits: Limits::default(),
            threads: NonZeroUsize::MIN,
        };
        setting.write(lines);
        setting
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index.ndjson")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("some/cache")
    }

    fn write(&self, lines: &str) {
        fs::write(self.index(), lines).expect("the index can be written");
    }

    /// Opens the index when its file is so old.
    fn open_after(&self, age: Duration) -> Result<IndexFileRegistry, RegistryError> {
        let cache = IndexCache::new(self.cache(), SystemTime::now() + age);
        let name = RegistryName::parse("test").expect("a name");
        IndexFileRegistry::open_cached(name, &self.index(), &self.limits, self.threads, &cache)
    }

    /// Opens the index when its file was left alone for a while.
    fn open(&self) -> IndexFileRegistry {
        let opened = self.open_after(Duration::from_mins(1));
        opened.expect("the index can be opened")
    }

    fn uncached(&self) -> Result<IndexFileRegistry, RegistryError> {
        let name = RegistryName::parse("test").expect("a name");
        IndexFileRegistry::open(name, &self.index(), &self.limits, self.threads)
    }

    /// The files of the cache in a folder of it.
    fn kept(&self, folder: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.cache().join(folder)) else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        paths
    }

    fn compiled(&self) -> PathBuf {
        let kept = self.kept("compiled");
        assert_eq!(kept.len(), 1, "one compiled index is kept: {kept:?}");
        kept[0].clone()
    }
}

fn names(names: &[&str]) -> Vec<PackageName> {
    let name = |name: &&str| PackageName::parse(name).expect("a name");
    names.iter().map(name).collect()
}

fn is_compiled(registry: &IndexFileRegistry) -> bool {
    registry.compiled().expect("it can be asked").is_some()
}

/// The answers of a registry about these packages, and about their classes.
fn contents(
    registry: &IndexFileRegistry,
) -> (Vec<Option<Vec<IndexRecord>>>, Vec<Vec<PackageName>>) {
    let records = registry.records(&names(&["a.A", "b.B", "c.C"]));
    let defining = ["a.A", "b.B", "c.C"].map(|class| {
        let class = ClassName::parse(class).expect("a name");
        registry.defining(&class).expect("classes can be asked for")
    });
    (records.expect("records can be read"), defining.to_vec())
}

#[test]
fn a_cached_index_gives_the_same_answers() {
    let setting = Setting::new(LINES);
    let expected = contents(&setting.uncached().expect("the index can be opened"));
    for run in 0..3 {
        let registry = setting.open();
        assert!(is_compiled(&registry), "run {run}");
        assert_eq!(contents(&registry), expected, "run {run}");
    }
    setting.compiled();
    assert_eq!(setting.kept("stamps").len(), 1);
}

/// The change time of a file cannot be set.
#[cfg(unix)]
#[test]
fn a_change_shows_though_length_and_time_are_as_before() {
    let setting = Setting::new(LINES);
    assert!(is_compiled(&setting.open()));
    let metadata = fs::metadata(setting.index()).expect("the index is there");
    setting.write(&"x".repeat(LINES.len()));
    let file = fs::File::options().append(true).open(setting.index());
    let modified = metadata.modified().expect("there are times");
    let set = file.and_then(|file| file.set_modified(modified));
    set.expect("times can be set");
    let opened = setting.open_after(Duration::from_mins(1));
    assert!(opened.is_err(), "what is there now is no index");
}

#[test]
fn a_changed_file_is_compiled_anew_and_the_old_one_forgotten() {
    let setting = Setting::new(LINES);
    assert!(is_compiled(&setting.open()));
    let before = setting.compiled();
    let more = format!("{LINES}{}\n", r#"{"name":"c.C","version":"1.0.0"}"#);
    setting.write(&more);
    let registry = setting.open();
    assert!(is_compiled(&registry));
    assert!(contents(&registry).0[2].is_some(), "what is new is there");
    // The cache is complete when the registry is dropped.
    drop(registry);
    assert_ne!(setting.compiled(), before);
    // The same content again, in the same place.
    setting.write(LINES);
    let registry = setting.open();
    assert_eq!(contents(&registry).0[2], None);
    drop(registry);
    assert_eq!(setting.compiled(), before);
}

#[test]
fn a_young_file_is_read_each_time() {
    let setting = Setting::new(LINES);
    for age in [0, 0, 60] {
        let registry = setting.open_after(Duration::from_secs(age));
        assert!(is_compiled(&registry.expect("the index can be opened")));
        let stamps = setting.kept("stamps");
        let stamp = fs::read_to_string(&stamps[0]).expect("a stamp");
        // Only what is settled is trusted without reading it.
        assert_eq!(stamp.ends_with(" seen\n"), age == 0, "{stamp}");
        setting.compiled();
    }
}

#[test]
fn damaged_parts_of_the_cache_are_replaced() {
    let setting = Setting::new(LINES);
    let expected = contents(&setting.open());
    let compiled = setting.compiled();
    let stamp = setting.kept("stamps").remove(0);
    let whole = fs::read(&compiled).expect("it is kept");
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    let mut newer = whole.clone();
    newer[16] += 1;
    let spoil = |path: &Path, bytes: &[u8]| {
        fs::write(path, bytes).expect("it can be written");
        assert_eq!(contents(&setting.open()), expected);
        assert!(is_compiled(&setting.open()));
        assert_eq!(fs::read(&compiled).expect("it is kept"), whole);
    };
    for bytes in [
        &[][..],
        b"nonsense",
        &whole[..whole.len() - 8],
        &damaged,
        &newer,
    ] {
        spoil(&compiled, bytes);
    }
    for bytes in [&[][..], b"nonsense", &[0xff; 2000]] {
        spoil(&stamp, bytes);
    }
    fs::remove_file(&compiled).expect("it can be removed");
    fs::create_dir(&compiled).expect("there is room");
    assert_eq!(contents(&setting.open()), expected);
}

#[test]
fn the_index_of_another_file_is_not_taken() {
    let setting = Setting::new(LINES);
    setting.open();
    let (of_lines, bytes) = (setting.compiled(), fs::read(setting.compiled()));
    setting.write(r#"{"name":"c.C","version":"1.0.0"}"#);
    setting.open();
    let of_other = setting.compiled();
    assert_ne!(of_lines, of_other);
    fs::write(&of_other, bytes.expect("it was kept")).expect("it can be written");
    assert!(contents(&setting.open()).0[2].is_some());
}

#[test]
fn without_a_place_for_it_there_is_no_cache() {
    let setting = Setting::new(LINES);
    let expected = contents(&setting.uncached().expect("the index can be opened"));
    // Not even root can make a folder below a file.
    fs::write(setting.folder.path().join("some"), "").expect("it can be written");
    let registry = setting.open();
    assert!(!is_compiled(&registry), "nothing is done in vain");
    assert_eq!(contents(&registry), expected);
}

#[test]
fn findings_are_the_same_without_a_cache() {
    // Lines that are left out.
    for fault in [
        "{\"name\":\"x.X\",\"version\":\"1.0.0\"}\n{\"name\":\"x.X\",\"version\":\"1.0.0+b\",\"yanked\":true}",
        r#"{"name":"x.X","version":"one"}"#,
        r#"{"name":"x.X","version":"1.0.0",}"#,
        "nonsense",
    ] {
        let setting = Setting::new(&format!("{LINES}{fault}\n"));
        let seen = |registry: &IndexFileRegistry| {
            let records = registry.records(&names(&["a.A", "x.X"]));
            (
                records.expect("the others can be used"),
                registry.take_findings(),
            )
        };
        let expected = seen(&setting.uncached().expect("the index can be opened"));
        assert_eq!(expected.1.len(), 1);
        for run in 0..3 {
            let registry = setting.open();
            assert!(!is_compiled(&registry), "run {run}");
            assert_eq!(seen(&registry), expected, "run {run}");
        }
        assert!(setting.kept("compiled").is_empty());
    }
    // Errors of the index as a whole.
    let setting = Setting::new("nonsense\n");
    let expected = setting.uncached().expect_err("the line is wrong");
    for _ in 0..3 {
        let found = setting.open_after(Duration::from_mins(1));
        assert_eq!(found.expect_err("the line is wrong"), expected);
    }
}

#[test]
fn limits_are_part_of_the_key() {
    let mut setting = Setting::new(LINES);
    assert!(is_compiled(&setting.open()));
    setting.limits.index_line_bytes = 60;
    let found = setting.open_after(Duration::from_mins(1));
    let found = found.expect("other lines can be read");
    assert!(!is_compiled(&found), "the cache was made with other limits");
    let expected = setting.uncached().expect("other lines can be read");
    assert_eq!(contents(&found), contents(&expected));
    assert_eq!(found.take_findings(), expected.take_findings());
}

#[test]
fn equal_lines_are_one_release() {
    let setting = Setting::new(&format!("{LINES}{LINES}"));
    let expected = contents(&setting.uncached().expect("the index can be opened"));
    let registry = setting.open();
    assert!(is_compiled(&registry));
    assert_eq!(contents(&registry), expected);
}

#[test]
fn of_lines_that_differ_in_build_metadata_the_least_counts() {
    let line = |build: &str| format!("{{\"name\":\"a.A\",\"version\":\"1.0.0+{build}\"}}\n");
    let builds = |registry: &IndexFileRegistry| -> Vec<String> {
        let records = registry.records(&names(&["a.A"]));
        let records = records.expect("records can be read").remove(0);
        let records = records.expect("the package is there").into_iter();
        records
            .map(|record| record.version.build().to_owned())
            .collect()
    };
    for order in [["a", "b", "c"], ["b", "a", "c"], ["c", "b", "a"]] {
        let setting = Setting::new(&order.map(line).concat());
        let uncached = setting.uncached().expect("the index can be opened");
        assert_eq!(builds(&uncached), ["a"], "{order:?}");
        let compiled = setting.open().compiled().expect("it can be asked");
        let compiled = compiled.expect("small files are compiled when they are first seen");
        let expected = IndexRecord::parse_line(&line("a"), &Limits::default());
        let expected = CompiledIndex::compile([&expected.expect("a record")]);
        let bytes = |index: &CompiledIndex| index.to_bytes(&[0; 32]);
        assert_eq!(bytes(&compiled), bytes(&expected), "{order:?}");
    }
}

#[test]
fn a_large_index_is_compiled_when_it_is_seen_again() {
    let padding = "x".repeat(200_000);
    let lines: String = (0..50)
        .map(|minor| {
            format!("{{\"name\":\"a.A\",\"version\":\"1.{minor}.0\",\"padding\":\"{padding}\"}}\n")
        })
        .collect();
    let setting = Setting::new(&lines);
    assert!(!is_compiled(&setting.open()));
    assert!(setting.kept("compiled").is_empty());
    for _ in 0..2 {
        assert!(is_compiled(&setting.open()));
    }
}

#[test]
fn a_file_that_changes_while_it_is_in_use_is_not_misread() {
    let setting = Setting::new(LINES);
    setting.open();
    let registry = setting.open();
    assert!(is_compiled(&registry));
    setting.write(r#"{"name":"b.B","version":"9.0.0"}"#);
    let error = registry
        .records(&names(&["b.B"]))
        .expect_err("the file changed");
    let message = error.to_diagnostic().message;
    assert!(
        message.contains("the file changed while it was in use"),
        "{message}"
    );
}

/// Lines enough that each of several threads has some to read, not in their order.
fn many_lines() -> Vec<String> {
    let line = |at: usize| {
        let (package, version) = (at * 7 % 1000, at % 13);
        let other = (package + version) % 1000;
        format!(
            r#"{{"name": "a.P{package}", "version": "1.{at}.{version}", "require": {{"b.P{other}": ">=1.{version}", "a.Q": "^1"}}}}"#
        )
    };
    (0..8000).map(line).collect()
}

#[test]
fn the_number_of_threads_makes_no_difference() {
    let lines = many_lines();
    let text = lines.join("\n");
    let long = format!(
        r#"{{"name": "a.P1", "version": "9.0.0", "x": "{}"}}"#,
        "x".repeat(1 << 17)
    );
    for (what, text) in [
        ("as it is", format!("{text}\n")),
        ("without a line end at the end", text.clone()),
        ("with returns of the carriage", text.replace('\n', "\r\n")),
        ("with empty lines", text.replace('\n', "\n\n")),
        ("with lines that stand twice", format!("{text}\n{text}\n")),
        (
            "with a line longer than what is read at a time",
            format!("{text}\n{long}\n{text}"),
        ),
    ] {
        let mut kept: Option<(PathBuf, Vec<u8>)> = None;
        for threads in [1, 2, 7] {
            let mut setting = Setting::new(&text);
            setting.threads = NonZeroUsize::new(threads).expect("it is not zero");
            let registry = setting.open();
            assert!(is_compiled(&registry), "{what}");
            let asked = names(&["a.P1", "a.P999", "b.P1", "c.C"]);
            let uncached = setting.uncached().expect("the index can be opened");
            assert_eq!(registry.records(&asked), uncached.records(&asked), "{what}");
            drop(registry);
            let path = setting.compiled();
            let bytes = fs::read(&path).expect("it is kept");
            let name = path.file_name().map(PathBuf::from).expect("a file");
            let (known_name, known) = kept.get_or_insert_with(|| (name.clone(), bytes.clone()));
            assert_eq!(*known_name, name, "{what}, {threads} threads");
            assert!(*known == bytes, "{what}, {threads} threads");
        }
    }
}

#[test]
fn findings_do_not_depend_on_the_number_of_threads() {
    let lines = many_lines();
    let differs = r#"{"name": "a.P0", "version": "1.1000.12", "yanked": true}"#;
    for at in [0, 1, lines.len() / 2, lines.len()] {
        let mut lines = lines.clone();
        lines.insert(at, differs.to_owned());
        let mut first: Option<Vec<String>> = None;
        for threads in [1, 2, 7] {
            let mut setting = Setting::new(&lines.join("\n"));
            setting.threads = NonZeroUsize::new(threads).expect("it is not zero");
            let seen = |registry: &IndexFileRegistry| {
                let records = registry.records(&names(&["a.P0"]));
                let findings = registry.take_findings().into_iter();
                // Paths differ, so texts are compared that do not name them.
                let messages: Vec<String> = findings.map(|finding| finding.message).collect();
                (records.expect("the others can be used"), messages)
            };
            let (records, messages) = seen(&setting.open());
            let uncached = setting.uncached().expect("the index can be opened");
            let what = format!("line {at}, {threads} threads");
            assert_eq!(
                (&records, &messages),
                (&seen(&uncached).0, &messages),
                "{what}"
            );
            assert_eq!(messages.len(), 1, "{what}");
            let known = first.get_or_insert_with(|| messages.clone());
            assert_eq!(*known, messages, "{what}");
            let left: Vec<_> = records.iter().flatten().flatten().collect();
            let of_p0 = lines
                .iter()
                .filter(|line| line.contains("\"a.P0\""))
                .count();
            assert_eq!(left.len() + 2, of_p0, "neither of the two is used: {what}");
        }
    }
}

/// The records of other ecosystems are not there, with the same warnings whether the index is compiled or not.
#[test]
fn records_of_other_ecosystems_are_not_used() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let path = place.path().join("index.ndjson");
    let class_package = r#"{"name":"acme.web","version":"1.0.0"}"#;
    let collection = r#"{"name":"acme.net","version":"1.0.0","ecosystem":"ansible"}"#;
    let cache = IndexCache::new(
        place.path().join("cache"),
        SystemTime::now() + Duration::from_mins(1),
    );
    let found = |ecosystem: &'static str, cache: Option<&IndexCache>| {
        let mut options = ReadOptions::default();
        options.ecosystem = Some(ecosystem);
        let name = RegistryName::parse("test").expect("a name");
        let threads = NonZeroUsize::MIN;
        let opened = IndexFileRegistry::open_for(name, &path, &options, threads, cache);
        let registry = opened.expect("an index");
        let names = ["acme.web", "acme.net"].map(|name| PackageName::parse(name).expect("a name"));
        let records = registry.records(&names).expect("it can be read");
        let found: Vec<bool> = records.iter().map(Option::is_some).collect();
        let compiled = registry.compiled().expect("it can be asked").is_some();
        let findings = registry.take_findings();
        let messages: Vec<String> = findings.iter().map(|one| one.message.clone()).collect();
        (found, compiled, messages)
    };
    fs::write(&path, format!("{class_package}\n{collection}\n")).expect("written");
    for cache in [None, Some(&cache), Some(&cache)] {
        let net = "the registry `test` has acme.net only as a package of the ecosystem `ansible`, \
                   which cannot be used in `murano`";
        let web = "the registry `test` has acme.web only as a package of the ecosystem `murano`, \
                   which cannot be used in `ansible`";
        let expected =
            |found: [bool; 2], message: &str| (found.to_vec(), false, vec![message.to_owned()]);
        assert_eq!(found("murano", cache), expected([true, false], net));
        assert_eq!(found("ansible", cache), expected([false, true], web));
    }
    // An index of one ecosystem is compiled for it, and for no other.
    fs::write(&path, format!("{class_package}\n")).expect("written");
    for _ in 0..2 {
        assert_eq!(
            found("murano", Some(&cache)),
            (vec![true, false], true, vec![])
        );
        let (present, compiled, messages) = found("ansible", Some(&cache));
        assert_eq!(
            (present, compiled, messages.len()),
            (vec![false, false], false, 1)
        );
    }
}

/// A line that cannot be read hides a version of its own ecosystem alone.
#[test]
fn a_bad_line_of_another_ecosystem_hides_no_version() {
    let place = tempfile::tempdir().expect("a temporary folder");
    let path = place.path().join("index.ndjson");
    let found = |bad: &str| {
        let lines = [
            bad,
            r#"{"ecosystem":"ansible","name":"acme.net","version":"1.0.0"}"#,
        ];
        fs::write(&path, lines.join("\n")).expect("written");
        let mut options = ReadOptions::default();
        options.ecosystem = Some("ansible");
        let name = RegistryName::parse("test").expect("a name");
        let opened = IndexFileRegistry::open_for(name, &path, &options, NonZeroUsize::MIN, None);
        let registry = opened.expect("an index");
        let name = PackageName::parse("acme.net").expect("a name");
        let records = registry.records(&[name]).expect("it can be read");
        records[0].as_ref().map(Vec::len)
    };
    for ecosystem in ["other", "opcua"] {
        let bad = format!(
            r#"{{"ecosystem":"{ecosystem}","name":"acme.net","version":"1.0.0","require":3}}"#
        );
        assert_eq!(found(&bad), Some(1), "{ecosystem}");
    }
    let bad = r#"{"name":"acme.net","version":"1.0.0","require":3}"#;
    assert_eq!(found(bad), Some(1), "class packages");
    let bad = r#"{"ecosystem":"ansible","name":"acme.net","version":"1.0.0","require":3}"#;
    assert_eq!(found(bad), Some(0), "its own");
    let bad = r#"{"name":"acme.net","version":"1.0.0","require""#;
    assert_eq!(found(bad), Some(0), "it breaks off before its ecosystem");
}
