//! The cache of lockfile checks: only checks without findings are stored, and only used as long as
//! nothing that the answer depends on is another.

// These files are thrown away.
#![allow(clippy::disallowed_methods)]

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use pkgres_manifest::{
    IndexRecord, Limits, Lockfile, PackageName, PackagePath, ReadOptions, RegistryName, Spec,
};
use pkgres_registry_client::{
    CheckedLocks, IndexCache, IndexFileRegistry, LockCheckInputs, LockContent, MemoryRegistry,
    Namespace, Registry, RegistrySet, RootFile, check_lock,
};
use pkgres_resolver::{ClassRules, LockCheck, LockReport, Request};
use tempfile::TempDir;

const INDEX: &str = r#"{"name":"b.B","version":"1.0.0"}
{"name":"b.B","version":"1.1.0"}
"#;

const ROOT: &str = r#"{"name":"a.A","version":"1.0.0","require":{"b.B":"1"}}"#;

const LOCK: &str = r#"# Written by pkgres; `pkgres lock` keeps it in step with the manifest.
# Format 1, read by pkgres 0.1.0 and later.
lock: 1
order: 1
roots:
- name: a.A
  requires:
    b.B:
      spec: ">=1.0.0,<2.0.0"
      version: 1.0.0
packages:
- name: b.B
  version: 1.0.0
  source: test
complete: true
"#;

/// An index, a lockfile and a check of it.
struct Setting {
    folder: TempDir,
    request: Request,
    lock: String,
    /// The manifest, and the files of classes by their paths.
    manifest: &'static str,
    files: Vec<(&'static str, &'static str)>,
    registry: &'static str,
    program: &'static str,
    options: ReadOptions,
    bound: bool,
    in_memory: bool,
}

fn record(line: &str) -> IndexRecord {
    IndexRecord::parse_line(line, &Limits::default()).expect("a record")
}

fn name(text: &str) -> PackageName {
    PackageName::parse(text).expect("a name")
}

impl Setting {
    fn new() -> Self {
        let mut request = Request::new(record(ROOT));
        request.core = None;
        let setting = Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            request,
            lock: LOCK.to_owned(),
            registry: "test",
            program: "this",
            manifest: "the manifest",
            files: vec![("Classes/A.yaml", "a class"), ("Classes/B.yaml", "another")],
            options: ReadOptions::default(),
            bound: false,
            in_memory: false,
        };
        setting.write_index(INDEX);
        setting
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index.ndjson")
    }

    fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    fn write_index(&self, lines: &str) {
        fs::write(self.index(), lines).expect("the index can be written");
    }

    /// The registries, when the file was left alone for a while.
    fn registries(&self) -> RegistrySet {
        let now = SystemTime::now() + Duration::from_mins(1);
        let cache = IndexCache::new(self.cache(), now);
        let called = RegistryName::parse(self.registry).expect("a name");
        let mut registries: Vec<Box<dyn Registry>> = Vec::new();
        let index = self.index();
        let limits = &self.options.limits;
        let threads = NonZeroUsize::MIN;
        let opened =
            IndexFileRegistry::open_cached(called.clone(), &index, limits, threads, &cache);
        registries.push(Box::new(opened.expect("the index can be opened")));
        if self.in_memory {
            let other = RegistryName::parse("other").expect("a name");
            registries.push(Box::new(MemoryRegistry::new(other)));
        }
        let mut registries = RegistrySet::new(registries);
        if self.bound {
            registries.bind(Namespace::parse("z.*").expect("a namespace"), called);
        }
        registries
    }

    /// Checks, and remembers what there is to remember; says whether it was known before.
    fn check(&self) -> (Option<usize>, LockReport) {
        let registries = self.registries();
        let checked = CheckedLocks::new(&self.cache(), self.program.to_owned(), SystemTime::now());
        let path = self.folder.path().join("pkgres.lock");
        let bytes = self.lock.as_bytes();
        let key = checked.key(self.inputs(&path, &registries));
        let known = (key.as_ref()).and_then(|key| {
            let find = |path: &PackagePath| {
                let found = self.files.iter().find(|(name, _)| *name == path.as_str());
                found.map(|(_, text)| text.as_bytes().to_vec())
            };
            key.has_passed(find)
        });
        let (lock, _) = Lockfile::read("pkgres.lock", bytes, &self.options.limits)
            .into_result()
            .expect("a lockfile");
        let releases = lock.packages.len();
        let report = check_lock(
            LockCheck::new(self.request.clone(), lock),
            &registries,
            &ReadOptions::default(),
        );
        let report = report.expect("the registry can be read");
        if let Some(key) = key {
            key.remember(&report, releases, &self.root_files(), &registries);
        }
        (known, report)
    }

    fn inputs<'inputs>(
        &'inputs self,
        path: &'inputs Path,
        registries: &'inputs RegistrySet,
    ) -> LockCheckInputs<'inputs> {
        LockCheckInputs {
            path,
            lock: LockContent::of(self.lock.as_bytes()),
            manifest: self.manifest.as_bytes(),
            request: &self.request,
            registries,
            options: &self.options,
        }
    }

    fn root_files(&self) -> Vec<RootFile> {
        let files = self.files.iter().map(|(path, text)| {
            let path = PackagePath::parse(path).expect("a path");
            RootFile::new(path, text.as_bytes())
        });
        files.collect()
    }

    /// The file of what was remembered.
    fn kept(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.cache().join("checked")) else {
            return Vec::new();
        };
        let paths = entries.map(|entry| entry.expect("an entry").path());
        paths.collect()
    }
}

/// A setting in which it is known that the lockfile fits.
fn known() -> Setting {
    let setting = Setting::new();
    // The index is compiled when it is first seen, and its content known from then on.
    for before in [None, None, Some(1), Some(1)] {
        assert_eq!(setting.check(), (before, LockReport::default()));
    }
    assert_eq!(setting.kept().len(), 1, "one answer is kept of a lockfile");
    setting
}

#[test]
fn any_difference_changes_the_key() {
    type Change = fn(&mut Setting);
    let changes: &[(&str, Change)] = &[
        ("the lockfile", |setting| {
            setting.lock = setting.lock.replace("# Format", "# A format");
        }),
        ("the manifest", |setting| {
            setting.manifest = "another manifest";
        }),
        ("a class", |setting| setting.files[1].1 = "changed"),
        ("a class that is gone", |setting| {
            setting.files.pop();
        }),
        ("classes that changed places", |setting| {
            setting.files = vec![("Classes/A.yaml", "another"), ("Classes/B.yaml", "a class")];
        }),
        ("the core library", |setting| {
            setting.request.core = Some(name("b.B"));
        }),
        ("what the host provides", |setting| {
            setting.request.host_releases = vec![record(r#"{"name":"d.D","version":"1.0.0"}"#)];
        }),
        ("an override", |setting| {
            let spec = Spec::parse("1.0.0").expect("a spec");
            setting.request.overrides.insert(name("b.B"), spec);
        }),
        ("one version each", |setting| {
            setting.request.options.single_version = true;
        }),
        ("rules for classes", |setting| {
            setting.request.options.classes = ClassRules::Ignored;
        }),
        ("a host whose version is not known", |setting| {
            setting.request.options.host_package_of_unknown_version = Some(name("b.B"));
        }),
        ("the index", |setting| {
            setting.write_index(&INDEX.replace("1.1.0", "1.2.0"));
        }),
        ("the name of the registry", |setting| {
            setting.registry = "renamed";
        }),
        ("a binding", |setting| setting.bound = true),
        ("a registry whose content is not known", |setting| {
            setting.in_memory = true;
        }),
        ("the program", |setting| setting.program = "another"),
        ("a limit", |setting| setting.options.limits.lock_bytes -= 1),
        ("the core library of templates", |setting| {
            setting.options.core = None;
        }),
    ];
    for (what, change) in changes {
        let mut setting = known();
        change(&mut setting);
        assert_eq!(setting.check().0, None, "{what}");
    }
    let mut setting = known();
    // It decides nothing here.
    setting.request.options.max_steps = 1;
    assert_eq!(setting.check().0, Some(1));
}

#[test]
fn only_checks_without_findings_are_remembered() {
    for (lines, what) in [
        (INDEX.replace("1.0.0", "1.0.1"), "a release is gone"),
        (
            INDEX.replace(r#""version":"1.0.0""#, r#""version":"1.0.0","yanked":true"#),
            "a release was yanked, and the lock still fits",
        ),
    ] {
        let setting = Setting::new();
        setting.write_index(&lines);
        for _ in 0..4 {
            let (known, report) = setting.check();
            assert_eq!(known, None, "{what}");
            assert_ne!(report, LockReport::default(), "{what}");
        }
        assert_eq!(setting.kept(), Vec::<PathBuf>::new(), "{what}");
    }
}

#[test]
fn a_damaged_file_counts_as_absent() {
    let setting = known();
    let [file] = setting.kept().try_into().expect("one file");
    let written = fs::read_to_string(&file).expect("it can be read");
    let replace = |text: &str| fs::write(Path::new(&file), text).expect("it can be written");
    for end in 0..written.len() {
        replace(&written[..end]);
        let (known, report) = setting.check();
        assert_eq!((known, report), (None, LockReport::default()), "{end}");
        let again = fs::read_to_string(&file).expect("it can be read");
        assert_eq!(again, written, "it is repaired");
    }
    for text in [
        written.replace(" 1\n", " +1\n"),
        written.replace(" 1\n", " 01\n"),
        format!("{written}\n"),
        written.to_uppercase(),
    ] {
        replace(&text);
        assert_eq!(setting.check().0, None, "{text}");
    }
}

/// An index that is replaced after it was opened: what is found then is about another content.
#[test]
fn a_change_during_the_check_is_not_remembered() {
    let setting = known();
    let registries = setting.registries();
    let checked = CheckedLocks::new(&setting.cache(), "another".to_owned(), SystemTime::now());
    let path = setting.folder.path().join("pkgres.lock");
    let key = checked
        .key(setting.inputs(&path, &registries))
        .expect("all that it depends on is known");
    for compiled in fs::read_dir(setting.cache().join("compiled")).expect("a folder") {
        fs::remove_file(compiled.expect("an entry").path()).expect("it can be removed");
    }
    // The file itself, not another one in its place: it stays open.
    setting.write_index(&INDEX.replace("1.1.0", "1.2.0"));
    let names = [name("b.B")];
    let _ = registries.supply(&names);
    key.remember(&LockReport::default(), 1, &[], &registries);
    assert_eq!(key.has_passed(|_| None), None);
}

/// A lockfile is read unless it looks as it did when it was read and had been left alone.
#[cfg(unix)]
#[test]
fn a_lockfile_that_was_left_alone_is_not_read_again() {
    let setting = Setting::new();
    let path = setting.folder.path().join("pkgres.lock");
    let content_at = |now: SystemTime| {
        let checked = CheckedLocks::new(&setting.cache(), "this".to_owned(), now);
        checked.content(&path, &setting.options.limits)
    };
    let (now, later) = (
        SystemTime::now(),
        SystemTime::now() + Duration::from_mins(1),
    );
    let stamps = || fs::read_dir(setting.cache().join("stamps")).map_or(0, Iterator::count);
    assert_eq!(content_at(later), None, "there is none");
    for text in [LOCK, "another"] {
        fs::write(&path, text).expect("it can be written");
        let before = stamps();
        assert_eq!(content_at(now), Some(LockContent::of(text.as_bytes())));
        assert_eq!(stamps(), before, "it may still be written to");
        assert_eq!(content_at(later), Some(LockContent::of(text.as_bytes())));
        assert_eq!(stamps(), 1);
        assert_eq!(content_at(later), Some(LockContent::of(text.as_bytes())));
    }
    // The stamp is trusted: the file itself is not read.
    let [stamp] = (fs::read_dir(setting.cache().join("stamps")).expect("a folder"))
        .map(|entry| entry.expect("an entry").path())
        .collect::<Vec<_>>()
        .try_into()
        .expect("one stamp");
    let text = fs::read_to_string(&stamp).expect("it can be read");
    let (rest, _) = text.trim_end().rsplit_once(' ').expect("words");
    fs::write(&stamp, format!("{rest} {}\n", "0".repeat(64))).expect("it can be written");
    assert_ne!(content_at(later), Some(LockContent::of(b"another")));
    std::os::unix::fs::symlink(&path, path.with_extension("link")).expect("linked");
    let checked = CheckedLocks::new(&setting.cache(), "this".to_owned(), later);
    let linked = checked.content(&path.with_extension("link"), &setting.options.limits);
    assert_eq!(linked, None, "links are not followed");
}
