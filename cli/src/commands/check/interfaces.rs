//! Whether classes have the functions of the interfaces that they implement.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pkgres_checks::{
    Baseline, BaselineEntry, BoundPackages, Capability, ClassConformance, FunctionConformance,
    Level, Levels, Platform, conformance, conformance_findings, inherited_conformance,
};
use pkgres_files::{Follow, RealFileSystem, read_file, write_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Severity};
use pkgres_manifest::{ClassName, ConformanceStatus, Facts, ReadOptions, Release, Version};
use serde_json::{Map, Value, json};

use crate::args::ConformanceArgs;
use crate::failure::{Failure, Result};
use crate::interface_baseline::read_baseline;
use crate::machine_facts::facts_of_this_machine;
use crate::output::Output;
use crate::show::{counted, table};

/// The check of the interfaces of all packages of a run.
pub(super) struct InterfaceCheck {
    platforms: Vec<Platform>,
    levels: Levels,
    baseline: Baseline,
    /// The file that the baseline is written to.
    written_baseline: Option<PathBuf>,
    violations: BTreeSet<BaselineEntry>,
    classes: Vec<CheckedClass>,
    /// The required releases whose violations were looked for.
    required: BTreeSet<Release>,
}

/// A class with one of its interfaces, or with the methods that no interface has.
struct CheckedClass {
    release: Release,
    class: ClassName,
    interface: Option<(ClassName, Option<Version>)>,
    functions: Vec<CheckedFunction>,
}

struct CheckedFunction {
    name: String,
    /// The status on each platform; `None` if the function is neither in the class nor in the interface any more.
    statuses: Vec<Option<ConformanceStatus>>,
    differences: Vec<String>,
    notes: Vec<String>,
    similar: Option<String>,
    /// Whether the class has it or has to have it, so that it counts.
    counts: bool,
}

impl InterfaceCheck {
    /// The check that arguments ask for, if they do.
    pub(super) fn of(args: &ConformanceArgs, options: &ReadOptions) -> Result<Option<Self>> {
        if !args.interfaces {
            return Ok(None);
        }
        let mut platforms = Vec::with_capacity(args.facts.len());
        for (at, file) in args.facts.iter().enumerate() {
            if args.facts[..at].contains(file) {
                let file = file.to_string_lossy();
                return Err(Failure::usage(format!("--facts: {file} is given twice")));
            }
            let name = name_of(file);
            let is_taken = |other: &PathBuf| other != file && name_of(other) == name;
            platforms.push(Platform {
                name: if args.facts.iter().any(is_taken) {
                    file.to_string_lossy().into_owned()
                } else {
                    name
                },
                facts: read_facts(file, options)?,
            });
        }
        if platforms.is_empty() {
            platforms.push(Platform {
                name: String::new(),
                facts: facts_of_this_machine(),
            });
        }
        let mut levels = Levels::default();
        for (statuses, level) in [
            (&args.allow, Level::Allow),
            (&args.warn, Level::Warn),
            (&args.denied_statuses(), Level::Deny),
        ] {
            for status in statuses {
                levels.set(*status, level);
            }
        }
        let baseline = match &args.baseline {
            // The file is about to be written, and may not be there yet.
            Some(_) if args.write_baseline => Baseline::default(),
            Some(file) => read_baseline(file, options)?,
            None => Baseline::default(),
        };
        let written_baseline = args.baseline.clone().filter(|_| args.write_baseline);
        Ok(Some(Self {
            platforms,
            levels,
            baseline,
            written_baseline,
            violations: BTreeSet::new(),
            classes: Vec::new(),
            required: BTreeSet::new(),
        }))
    }

    /// Checks the classes of a release, and those of the releases that it requires as far as a deployment would.
    pub(super) fn check(&mut self, packages: &BoundPackages, release: &Release) -> Vec<Diagnostic> {
        let mut findings = self.check_own(packages, release);
        findings.extend(self.check_required(packages, release));
        findings
    }

    /// The violations of other releases with which no package is deployed. They are no mistakes of the checked package,
    /// and each is reported once for all packages of a run.
    fn check_required(&mut self, packages: &BoundPackages, own: &Release) -> Vec<Diagnostic> {
        let others = packages.releases.keys();
        let others: Vec<&Release> = others
            .filter(|other| *other != own && self.required.insert((*other).clone()))
            .collect();
        let classes = others.iter().flat_map(|other| conformance(packages, other));
        let classes: Vec<_> = classes.collect();
        let mut levels = Levels::default();
        for status in ConformanceStatus::ALL {
            let level = levels.of(status).min(self.levels.of(status));
            let is_denied = level == Level::Deny;
            levels.set(status, if is_denied { level } else { Level::Allow });
        }
        let found = conformance_findings(&classes, &self.platforms, &levels, &self.baseline);
        self.violations.extend(found.violations);
        let errors = found.findings.into_iter().filter(Diagnostic::is_error);
        let warnings = errors.map(|mut finding| {
            finding.severity = Severity::Warning;
            finding.hint("`pkgres plan` and `pkgres apply` refuse the package for it, unless `--allow` or `--baseline` accept it")
        });
        if self.written_baseline.is_some() {
            return Vec::new();
        }
        warnings.collect()
    }

    /// Checks the classes of a release.
    fn check_own(&mut self, packages: &BoundPackages, release: &Release) -> Vec<Diagnostic> {
        let mut classes = conformance(packages, release);
        classes.extend(inherited_conformance(packages, release));
        let found = conformance_findings(&classes, &self.platforms, &self.levels, &self.baseline);
        self.violations.extend(found.violations);
        for class in &classes {
            self.add(release, class);
        }
        if self.written_baseline.is_some() {
            // They are in the baseline now. What no baseline can have remains.
            return found
                .findings
                .into_iter()
                .filter(|finding| finding.code == Code::Interface)
                .collect();
        }
        found.findings
    }

    fn add(&mut self, release: &Release, class: &ClassConformance<'_>) {
        let of_interfaces = class.interfaces.iter().map(|interface| {
            let version = interface.definition.as_ref();
            let version = version.map(|(Release { version, .. }, _)| version.clone());
            let interface_name = interface.interface.value.clone();
            (Some((interface_name, version)), &interface.functions)
        });
        let undeclared = (!class.undeclared.is_empty()).then_some((None, &class.undeclared));
        for (interface, functions) in of_interfaces.chain(undeclared) {
            let functions = functions.iter().map(|function| self.checked(function));
            let functions = functions.collect();
            self.classes.push(CheckedClass {
                release: release.clone(),
                class: class.class.value.clone(),
                interface,
                functions,
            });
        }
    }

    fn checked(&self, function: &FunctionConformance<'_>) -> CheckedFunction {
        let on = |platform: &Platform| {
            let capability = function.capability(&platform.facts);
            capability.as_ref().map(Capability::status)
        };
        let mut notes = function.notes.clone();
        let beyond = (self.platforms.iter())
            .filter(|platform| function.is_beyond_support(&platform.facts))
            .count();
        if beyond > 0 {
            notes.push("the class has it where the interface does not support it".to_owned());
        }
        CheckedFunction {
            name: Escaped::shortened(function.name).to_string(),
            statuses: self.platforms.iter().map(on).collect(),
            differences: function
                .differences
                .iter()
                .map(ToString::to_string)
                .collect(),
            notes,
            similar: function.similar.map(str::to_owned),
            counts: function.is_present() || function.is_required(),
        }
    }

    /// Writes the baseline, or says how much of it was found.
    pub(super) fn finish(&self, output: &mut Output) -> Result<()> {
        if let Some(file) = &self.written_baseline {
            let baseline = Baseline {
                entries: self.violations.clone(),
            };
            write_file(&RealFileSystem, file, baseline.to_text().as_bytes())?;
            let count = counted(baseline.entries.len(), "violation");
            output.note(&format!("Wrote {} with {count}", file.to_string_lossy()));
            return Ok(());
        }
        let known = self.baseline.entries.intersection(&self.violations).count();
        if known > 0 {
            let known = counted(known, "known violation");
            output.note(&format!("{known} of the baseline omitted"));
        }
        let gone = self.baseline.entries.difference(&self.violations).count();
        if gone > 0 {
            let them = if gone == 1 { "it" } else { "them" };
            let gone = counted(gone, "violation");
            output.note(&format!(
                "{gone} of the baseline not found; if no other platform has {them}, write the baseline again with \
                 `--write-baseline` and `--facts` of all platforms"
            ));
        }
        Ok(())
    }

    /// The names of the platforms, for columns.
    fn columns(&self) -> impl Iterator<Item = &str> {
        let names = self.platforms.iter().map(|platform| platform.name.as_str());
        names.map(|name| {
            if name.is_empty() {
                "this machine"
            } else {
                name
            }
        })
    }

    /// A matrix of classes and platforms: how many of the functions of each interface a class has. Below each class are
    /// the functions that it does not have everywhere. It fits the `columns` of the terminal.
    pub(super) fn table(&self, columns: Option<usize>) -> String {
        let mut rows: Vec<Vec<String>> = Vec::new();
        let mut heading = vec![String::new()];
        heading.extend(
            self.columns()
                .map(|name| Escaped::shortened(name).to_string()),
        );
        for class in &self.classes {
            let mut row = vec![match &class.interface {
                Some((interface, _)) => format!("{}: {interface}", class.class),
                None => format!("{}: no interface", class.class),
            }];
            for platform in 0..self.platforms.len() {
                let counting = class.functions.iter().filter(|function| function.counts);
                let statuses = counting.map(|function| function.statuses[platform]);
                let statuses: Vec<ConformanceStatus> = statuses.flatten().collect();
                let having = statuses
                    .iter()
                    .filter(|status| **status == ConformanceStatus::Implemented)
                    .count();
                row.push(match class.interface {
                    Some(_) => format!("{having} of {}", statuses.len()),
                    None => String::new(),
                });
            }
            rows.push(row);
            for function in &class.functions {
                let is_plain = |status: &Option<ConformanceStatus>| {
                    matches!(status, None | Some(ConformanceStatus::Implemented))
                };
                if function.statuses.iter().all(is_plain) {
                    continue;
                }
                let mut row = vec![format!("  {}", function.name)];
                let words = function.statuses.iter();
                let words = words.map(|status| status.map_or("-", ConformanceStatus::as_str));
                row.extend(words.map(str::to_owned));
                rows.push(row);
            }
        }
        if rows.is_empty() {
            return String::new();
        }
        table(&heading, &rows, columns)
    }

    /// The classes, functions and platforms as JSON.
    pub(super) fn document(&self) -> Value {
        let columns: Vec<&str> = self.columns().collect();
        let platforms = self
            .platforms
            .iter()
            .zip(&columns)
            .map(|(platform, name)| json!({"name": name, "facts": platform.facts.to_string()}));
        let classes = self.classes.iter().map(|class| {
            let functions = class.functions.iter().map(|function| {
                let statuses = columns.iter().zip(&function.statuses);
                let statuses: Map<String, Value> = statuses
                    .map(|(name, status)| {
                        let status = status.map(ConformanceStatus::as_str);
                        ((*name).to_owned(), json!(status))
                    })
                    .collect();
                let mut document = json!({"name": function.name, "statuses": statuses});
                if !function.differences.is_empty() {
                    document["differences"] = json!(function.differences);
                }
                if !function.notes.is_empty() {
                    document["notes"] = json!(function.notes);
                }
                if let Some(similar) = &function.similar {
                    document["similar"] = json!(similar);
                }
                document
            });
            let Release {
                name: package,
                version,
            } = &class.release;
            let interface = class.interface.as_ref();
            let interface_version = interface.and_then(|(_, version)| version.as_ref());
            json!({
                "package": package,
                "version": version,
                "class": class.class,
                "interface": interface.map(|(name, _)| name),
                "interface_version": interface_version,
                "functions": functions.collect::<Vec<_>>(),
            })
        });
        json!({
            "platforms": platforms.collect::<Vec<_>>(),
            "classes": classes.collect::<Vec<_>>(),
        })
    }
}

/// The name of a platform: that of its file without the ending, unless another file has it too.
fn name_of(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or(file.as_os_str());
    stem.to_string_lossy().into_owned()
}

fn read_facts(file: &Path, options: &ReadOptions) -> Result<Facts> {
    let bytes = read_file(file, options.limits.manifest_bytes, Follow::Links)?;
    let read = Facts::read(&file.to_string_lossy(), &bytes, &options.limits);
    let (facts, _) = read.into_result().map_err(Failure::from)?;
    Ok(facts)
}
