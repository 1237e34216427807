//! Image specs of Sahara's plug-ins, which operators used in production, with scripts of our own: what a spec selects for
//! a system runs in its order, a test finds that it is missing, and after a reconciliation a second one changes nothing.

// The tests prepare files themselves.
#![allow(clippy::disallowed_methods)]

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pkgres_engine::{
    ArgumentValues, Command, EntryAttributes, Machine, Output, PreparedValidation, Probe,
    RootEntry, Target, TargetError,
};
use pkgres_manifest::{
    Facts, ReadOptions, Script, Validation, Validator, ValidatorCheck, read_validation_file,
};
use pkgres_tests::shared;
use tempfile::TempDir;

use crate::support::{exited, findings, printed};

const SPECS: [&str; 4] = ["ambari.yaml", "cdh_v5_7_0.yaml", "mapr.yaml", "spark.yaml"];

/// Operating systems with their families, and whether arguments have the last of their choices.
const SYSTEMS: [((&str, &str), bool); 2] =
    [(("centos", "redhat"), false), (("ubuntu", "debian"), true)];

/// A machine that claims to have some system. Scripts run on this machine, where they only see what is in a folder, files
/// are written to a root of its own, and packages are only noted.
struct Pretender {
    local: Machine,
    files: Machine,
    folder: TempDir,
    facts: Facts,
    packages: Mutex<BTreeSet<String>>,
}

impl Pretender {
    fn new(system: &str, family: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the test");
        std::fs::create_dir(folder.path().join("tmp")).expect("it can be made");
        Self {
            local: Machine::local().expect("this machine has a root"),
            files: Machine::root_folder(folder.path()).expect("it is a folder"),
            folder,
            facts: Facts::from_pairs([("os", system), ("os_family", family)]),
            packages: Mutex::default(),
        }
    }

    /// A script of our own: it makes a file, and notes that it did.
    fn script(&self, path: &str) -> Vec<u8> {
        let folder = self.folder.path().display();
        let done = path.replace('/', "-");
        let text = format!(
            "#!/bin/sh\n[ -e {folder}/{done} ] && exit 0\n[ \"$test_only\" = 1 ] && exit 1\n\
             touch {folder}/{done} && echo {path} >>{folder}/log\n"
        );
        text.into_bytes()
    }

    /// The scripts that have done something, in order.
    fn log(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.path().join("log"));
        text.unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Answers a command of a package manager.
    fn package_manager(&self, command: &Command) -> Option<Output> {
        let text = command.to_string();
        let mut words = text.split(' ');
        let mut packages = self.packages.lock().expect("no test panicked");
        match words.next()? {
            "dpkg-query" | "rpm" => {
                let asked = words.skip_while(|word| *word != "--").skip(1);
                let known = asked.filter(|name| packages.contains(*name));
                let lines = known.map(|name| format!("ii \t{name}\tany\t1\t1-1\n"));
                Some(printed(&lines.collect::<String>()))
            }
            "apt-get" | "yum" => {
                packages.extend(words.map(str::to_owned));
                Some(exited(0))
            }
            _ => None,
        }
    }
}

impl Probe for Pretender {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn entry(&self, path: &Path) -> Result<Option<RootEntry>, TargetError> {
        self.files.entry(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, TargetError> {
        self.files.read(path, limit)
    }

    fn names(&self, path: &Path) -> Result<Vec<OsString>, TargetError> {
        self.files.names(path)
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        let answer = self.package_manager(command);
        answer.map_or_else(|| self.local.query(command), Ok)
    }

    fn enforces_read_only(&self) -> bool {
        self.local.enforces_read_only()
    }

    fn watchable(&self) -> Option<PathBuf> {
        None
    }
}

impl Target for Pretender {
    fn write_file(
        &self,
        path: &Path,
        bytes: &[u8],
        attributes: EntryAttributes,
    ) -> Result<(), TargetError> {
        self.files.write_file(path, bytes, attributes)
    }

    fn make_folder(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        self.files.make_folder(path, attributes)
    }

    fn make_link(&self, path: &Path, target: &Path) -> Result<(), TargetError> {
        self.files.make_link(path, target)
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<(), TargetError> {
        self.files.rename(from, to)
    }

    fn set_attributes(&self, path: &Path, attributes: EntryAttributes) -> Result<(), TargetError> {
        self.files.set_attributes(path, attributes)
    }

    fn remove(&self, path: &Path) -> Result<(), TargetError> {
        self.files.remove(path)
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        let answer = self.package_manager(command);
        answer.map_or_else(|| self.local.run(command), Ok)
    }
}

/// What a spec selects for a system.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selected {
    /// The scripts to run, each once, in order.
    scripts: Vec<String>,
    packages: BTreeSet<String>,
    /// The names of the files that are copied.
    copied: BTreeSet<String>,
}

impl Selected {
    /// Goes through validators, as a reader of the spec would.
    fn add(&mut self, validators: &[Validator], system: (&str, &str), values: &ArgumentValues) {
        for validator in validators {
            match &validator.check {
                ValidatorCheck::Packages(packages) => {
                    let names = packages
                        .iter()
                        .map(|package| package.name.value.to_string());
                    self.packages.extend(names);
                }
                ValidatorCheck::Script(script) => {
                    let path = script.path.value.to_string();
                    if !self.scripts.contains(&path) {
                        self.scripts.push(path);
                    }
                }
                ValidatorCheck::CopyScript(script) => {
                    let path = script.path.value.as_str();
                    let name = path.rsplit('/').next().unwrap_or(path);
                    self.copied.insert(name.to_owned());
                }
                ValidatorCheck::OsCase(cases) => {
                    let mut cases = cases.iter();
                    let case = cases.find(|case| {
                        let os = case.os.value.as_str();
                        os == system.0 || os == system.1
                    });
                    if let Some(case) = case {
                        self.add(&case.validators, system, values);
                    }
                }
                ValidatorCheck::ArgumentCase(case) => {
                    let value = values.get(&case.argument.value);
                    let mut cases = case.cases.iter();
                    let case = cases.find(|(wanted, _)| Some(&wanted.value) == value);
                    if let Some((_, validators)) = case {
                        self.add(validators, system, values);
                    }
                }
                ValidatorCheck::All(all) => self.add(all, system, values),
                // Nothing is there yet, and what comes first can be brought about.
                ValidatorCheck::Any(alternatives) => {
                    let first = alternatives.get(..1).unwrap_or_default();
                    self.add(first, system, values);
                }
                other => panic!("the specs have no such validator: {other:?}"),
            }
        }
    }
}

/// Values for the arguments: their defaults, or the last of their choices.
fn values(validation: &Validation, takes_last: bool) -> ArgumentValues {
    let arguments = validation.arguments.iter();
    let given = arguments.filter_map(|argument| {
        let name = argument.name.value.as_str();
        match (argument.choices.last(), &argument.default) {
            (Some(last), default) if takes_last || default.is_none() => {
                Some((name, last.value.as_str()))
            }
            (None, None) => Some((name, "http://localhost/file")),
            _ => None,
        }
    });
    ArgumentValues::new(validation, given).expect("these values are right")
}

#[test]
fn what_real_specs_select_is_brought_about_once() {
    let Some(folder) = shared::path("corpus/image-specs") else {
        return;
    };
    let mut scripts_run = 0;
    for name in SPECS {
        let bytes = std::fs::read(folder.join(name)).expect("the spec is there");
        let read = read_validation_file(name, &bytes, &ReadOptions::default());
        let (validation, _) = read.into_result().expect("it is valid");
        for (system, takes_last) in SYSTEMS {
            let about = format!("{name} on {system:?}, {takes_last}");
            let machine = Pretender::new(system.0, system.1);
            let content = |script: &Script| Ok(Some(machine.script(script.path.value.as_str())));
            let prepared = PreparedValidation::new(&validation, &[], content);
            let prepared = prepared.expect("nothing is missing");
            let values = || values(&validation, takes_last);
            let mut selected = Selected::default();
            selected.add(&validation.validators, system, &values());

            let test = prepared.test(&machine, values()).expect("it runs");
            assert!(!test.is_passed(), "{about}: nothing is there yet");
            assert_eq!(
                machine.log(),
                [] as [&str; 0],
                "{about}: a test changes nothing"
            );

            let report = prepared.reconcile(&machine, values()).expect("it runs");
            assert_eq!(findings(&report), [] as [&str; 0], "{about}");
            assert_eq!(machine.log(), selected.scripts, "{about}");
            let packages = machine.packages.lock().expect("no test panicked").clone();
            assert!(packages.is_superset(&selected.packages), "{about}");
            let copied = machine.names(Path::new("/tmp")).expect("it is a folder");
            let copied = copied
                .into_iter()
                .map(|name| name.to_string_lossy().into_owned());
            assert_eq!(copied.collect::<BTreeSet<_>>(), selected.copied, "{about}");

            let test = prepared.test(&machine, values()).expect("it runs");
            assert_eq!(findings(&test), [] as [&str; 0], "{about}");
            let again = prepared.reconcile(&machine, values()).expect("it runs");
            assert!(again.steps.iter().all(|step| !step.is_changed), "{about}");
            assert_eq!(machine.log(), selected.scripts, "{about}: once is enough");
            scripts_run += selected.scripts.len();
        }
    }
    assert!(scripts_run > 25, "{scripts_run} scripts were run");
}
