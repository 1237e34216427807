//! Validations from text, and machines for them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use pkgres_engine::{
    ArgumentValues, Command, CustomValidator, EntryAttributes, Output, PreparedValidation, Probe,
    RootEntry, Target, TargetError, ValidationError, ValidationReport,
};
use pkgres_manifest::{Facts, ReadOptions, Script, Validation, read_validation_file};

/// A validation by its text. It may have a custom validator `kernel`.
pub(crate) fn validation(text: &str) -> Validation {
    let mut options = ReadOptions::default();
    options.custom_validators.push("kernel".to_owned());
    let read = read_validation_file("v.yaml", text.as_bytes(), &options);
    let (validation, _) = read.into_result().expect("the validation is valid");
    validation
}

/// A validation whose scripts have their own paths as text.
pub(crate) fn prepared<'validation>(
    validation: &'validation Validation,
    custom: &'validation [CustomValidator],
) -> PreparedValidation<'validation> {
    let content = |script: &Script| Ok(Some(script.path.value.as_str().as_bytes().to_vec()));
    PreparedValidation::new(validation, custom, content).expect("it can be prepared")
}

/// The arguments of a validation without given values.
pub(crate) fn defaults(validation: &Validation) -> ArgumentValues {
    ArgumentValues::new(validation, []).expect("all have defaults")
}

/// Tests a machine.
pub(crate) fn test(text: &str, probe: &dyn Probe) -> ValidationReport {
    let validation = validation(text);
    let values = defaults(&validation);
    let report = prepared(&validation, &[]).test(probe, values);
    report.expect("it is not cancelled")
}

/// Reconciles a machine.
pub(crate) fn reconcile(text: &str, target: &dyn Target) -> ValidationReport {
    let validation = validation(text);
    let values = defaults(&validation);
    let report = prepared(&validation, &[]).reconcile(target, values);
    report.expect("it is not cancelled")
}

/// The findings of a report, one per line.
pub(crate) fn findings(report: &ValidationReport) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}

/// The messages about a wrong specification.
pub(crate) fn specification_errors(error: ValidationError) -> Vec<String> {
    match error {
        ValidationError::Specification(errors) => errors.iter().map(ToString::to_string).collect(),
        other => panic!("{other:?}"),
    }
}

/// Reports that a test cannot run here.
#[allow(clippy::print_stdout)]
pub(crate) fn skipped(reason: &str) {
    assert!(
        std::env::var_os("PKGRES_REQUIRE_SERVICES").is_none(),
        "{reason}"
    );
    println!("skipped: {reason}");
}

/// The root of a Debian system, if there is one: the folder in `PKGRES_DEBIAN_ROOT`, or that of the test tools.
pub(crate) fn debian_root() -> Option<PathBuf> {
    let default = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/tools/debian-root");
    let root = std::env::var_os("PKGRES_DEBIAN_ROOT").map_or(default, PathBuf::from);
    if root.join("usr/bin/dpkg").exists() {
        return Some(root);
    }
    skipped("there is no root of a Debian system");
    None
}

type Answer = dyn Fn(&str, usize) -> Output + Send + Sync;

/// A machine that records commands and answers as it is told. It has no files.
pub(crate) struct Recorder {
    facts: Facts,
    calls: Mutex<Vec<String>>,
    answer: Box<Answer>,
}

impl Recorder {
    /// A machine with a system of a family. `answer` gets the words of a command, and the number of commands before it.
    pub(crate) fn new(
        system: &str,
        family: &str,
        answer: impl Fn(&str, usize) -> Output + Send + Sync + 'static,
    ) -> Self {
        Self {
            facts: Facts::from_pairs([("os", system), ("os_family", family)]),
            calls: Mutex::new(Vec::new()),
            answer: Box::new(answer),
        }
    }

    /// A Debian machine on which exactly the commands fail that have one of these as their last word.
    pub(crate) fn failing(words: &'static [&'static str]) -> Self {
        Self::new("debian", "debian", |command, _| {
            exited(i32::from(
                words
                    .iter()
                    .any(|word| command.ends_with(&format!(" {word}"))),
            ))
        })
    }

    /// The commands so far: `?` before one that may only read, `!` before others.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.calls.lock().expect("no test panicked").clone()
    }

    fn record(&self, kind: char, command: &Command) -> Output {
        let words = command.to_string();
        let mut calls = self.calls.lock().expect("no test panicked");
        let output = (self.answer)(&words, calls.len());
        calls.push(format!("{kind}{words}"));
        output
    }
}

/// The output of a command that wrote nothing.
pub(crate) fn exited(code: i32) -> Output {
    Output {
        code: Some(code),
        ..Output::default()
    }
}

/// The output of a command that wrote something.
pub(crate) fn printed(text: &str) -> Output {
    Output {
        stdout: text.as_bytes().to_vec(),
        ..exited(0)
    }
}

impl Probe for Recorder {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn entry(&self, _: &Path) -> Result<Option<RootEntry>, TargetError> {
        Ok(None)
    }

    fn read(&self, _: &Path, _: u64) -> Result<Vec<u8>, TargetError> {
        Ok(Vec::new())
    }

    fn names(&self, _: &Path) -> Result<Vec<OsString>, TargetError> {
        Ok(Vec::new())
    }

    fn query(&self, command: &Command) -> Result<Output, TargetError> {
        Ok(self.record('?', command))
    }

    fn enforces_read_only(&self) -> bool {
        true
    }

    fn watchable(&self) -> Option<PathBuf> {
        None
    }
}

impl Target for Recorder {
    fn write_file(&self, path: &Path, _: &[u8], _: EntryAttributes) -> Result<(), TargetError> {
        let call = format!("!write {}", path.display());
        self.calls.lock().expect("no test panicked").push(call);
        Ok(())
    }

    fn make_folder(&self, _: &Path, _: EntryAttributes) -> Result<(), TargetError> {
        Ok(())
    }

    fn make_link(&self, _: &Path, _: &Path) -> Result<(), TargetError> {
        Ok(())
    }

    fn rename(&self, _: &Path, _: &Path) -> Result<(), TargetError> {
        Ok(())
    }

    fn set_attributes(&self, _: &Path, _: EntryAttributes) -> Result<(), TargetError> {
        Ok(())
    }

    fn remove(&self, _: &Path) -> Result<(), TargetError> {
        Ok(())
    }

    fn run(&self, command: &Command) -> Result<Output, TargetError> {
        Ok(self.record('!', command))
    }
}
