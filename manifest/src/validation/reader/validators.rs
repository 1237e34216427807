//! Reads validators, each of which is a mapping with one key.

use std::collections::HashSet;

use super::super::{
    ArgumentCase, OsCase, OsName, PackagePin, Script, SystemPackageName, SystemPackageVersion,
    Validator, ValidatorCheck,
};
use super::{ValidationReader, did_you_mean};
use crate::diagnostic::{Escaped, Located};
use crate::document::{Entry, Mapping, Node};
use crate::package_path::PackagePath;
use crate::read_options::Limits;

/// The deepest nesting of validators. Whatever goes through a validation may recurse on it.
const MAX_NESTING: usize = 32;

/// The kinds of validators.
pub(crate) const KINDS: [&str; 8] = [
    "all",
    "any",
    "argument_case",
    "argument_set",
    "copy_script",
    "os_case",
    "package",
    "script",
];

const SCRIPT_KEYS: [&str; 3] = ["env_vars", "inline", "output"];

const PACKAGE_KEYS: [&str; 1] = ["version"];

const CASE_KEYS: [&str; 2] = ["argument_name", "cases"];

const SET_KEYS: [&str; 2] = ["argument_name", "value"];

impl ValidationReader<'_> {
    /// Reads a list of validators. `nesting` is the number of validators around it.
    pub(super) fn validators(&mut self, node: &Node, what: &str, nesting: usize) -> Vec<Validator> {
        if nesting > MAX_NESTING {
            let error = Limits::exceeded("levels of nested validators", MAX_NESTING);
            let error = error.at(self.location(node.span));
            self.findings.push(error);
            return Vec::new();
        }
        if node.is_null() {
            return Vec::new();
        }
        let Some(items) = node.as_sequence() else {
            self.wrong_kind(what, "a list of validators", node);
            return Vec::new();
        };
        let read = items.iter().map(|item| {
            let entry = self.only_entry(item, "a validator")?;
            Some(Validator {
                location: self.location(entry.key_span),
                check: self.check(entry, nesting)?,
            })
        });
        read.flatten().collect()
    }

    fn check(&mut self, entry: &Entry, nesting: usize) -> Option<ValidatorCheck> {
        let node = &entry.value;
        Some(match entry.key.text.as_str() {
            "package" => ValidatorCheck::Packages(self.packages(node)),
            "script" => ValidatorCheck::Script(self.script(node)?),
            "copy_script" => ValidatorCheck::CopyScript(self.script(node)?),
            "all" => ValidatorCheck::All(self.validators(node, "`all`", nesting + 1)),
            "any" => {
                let validators = self.validators(node, "`any`", nesting + 1);
                if node.is_nothing() {
                    let message = "`any` has no validators, so that none can succeed";
                    self.error(message, entry.key_span);
                }
                ValidatorCheck::Any(validators)
            }
            "os_case" => ValidatorCheck::OsCase(self.os_cases(node, nesting)),
            "argument_case" => ValidatorCheck::ArgumentCase(self.argument_case(node, nesting)?),
            "argument_set" => self.argument_set(node)?,
            name if self.options.custom_validators.iter().any(|it| it == name) => {
                ValidatorCheck::Custom {
                    name: self.located(name.to_owned(), entry.key_span),
                    value: node.clone(),
                }
            }
            name => {
                let message = format!("unknown validator `{}`", Escaped::shortened(name));
                let custom = self.options.custom_validators.iter().map(String::as_str);
                let known: Vec<&str> = KINDS.into_iter().chain(custom).collect();
                let hint = did_you_mean(name, known.iter().copied()).unwrap_or_else(|| {
                    let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
                    format!("the validators are {}", known.join(", "))
                });
                self.error(message, entry.key_span).hints.push(hint);
                return None;
            }
        })
    }

    fn packages(&mut self, node: &Node) -> Vec<PackagePin> {
        let items = node.as_sequence();
        let items = items.unwrap_or(std::slice::from_ref(node));
        if items.is_empty() {
            self.error("`package` has no package", node.span);
        }
        let mut packages: Vec<PackagePin> = Vec::with_capacity(items.len());
        let mut seen = HashSet::with_capacity(items.len());
        for item in items {
            let Some(package) = self.package(item) else {
                continue;
            };
            if seen.insert(package.name.value.clone()) {
                packages.push(package);
            } else {
                let message = format!("the package `{}` is there twice", package.name.value);
                self.error(message, package.name.location.span());
            }
        }
        packages
    }

    fn package(&mut self, node: &Node) -> Option<PackagePin> {
        if node.as_mapping().is_none() {
            let scalar = self.text(node, "a package")?;
            let name = self.checked(&scalar.text, node.span, SystemPackageName::parse)?;
            return Some(PackagePin {
                name,
                version: None,
            });
        }
        let entry = self.only_entry(node, "a package")?;
        let name = self.checked(&entry.key.text, entry.key_span, SystemPackageName::parse);
        let properties = self.properties(&entry.value, "the properties of a package")?;
        self.unknown_keys(properties, &PACKAGE_KEYS, "a package");
        let version = properties.get("version").filter(|node| !node.is_null());
        let version = version.and_then(|node| {
            let scalar = self.text(node, "`version`")?;
            self.checked(&scalar.text, node.span, SystemPackageVersion::parse)
        });
        Some(PackagePin {
            name: name?,
            version,
        })
    }

    fn script(&mut self, node: &Node) -> Option<Script> {
        if node.as_mapping().is_none() {
            let scalar = self.text(node, "a script")?;
            return Some(Script {
                path: self.script_path(&scalar.text, node.span)?,
                arguments: Vec::new(),
                output: None,
                inline: None,
            });
        }
        let entry = self.only_entry(node, "a script")?;
        let path = self.script_path(&entry.key.text, entry.key_span);
        let properties = self.properties(&entry.value, "the properties of a script")?;
        self.unknown_keys(properties, &SCRIPT_KEYS, "a script");
        let present = |key: &str| properties.get(key).filter(|node| !node.is_null());
        let arguments = present("env_vars").map_or_else(Vec::new, |node| {
            let Some(items) = node.as_sequence() else {
                self.wrong_kind("`env_vars`", "a list", node);
                return Vec::new();
            };
            let names = items.iter();
            let names = names.filter_map(|item| self.argument_name(item, "an item of `env_vars`"));
            names.collect()
        });
        let output = present("output").and_then(|node| self.assigned(node, "`output`"));
        let inline = present("inline").and_then(|node| {
            let scalar = self.text(node, "`inline`")?;
            Some(self.located(scalar.text.clone(), node.span))
        });
        Some(Script {
            path: path?,
            arguments,
            output,
            inline,
        })
    }

    fn script_path(
        &mut self,
        text: &str,
        span: crate::diagnostic::Span,
    ) -> Option<Located<PackagePath>> {
        match PackagePath::parse(text) {
            Ok(path) => Some(self.located(path, span)),
            Err(error) => {
                self.error(error.to_string(), span);
                None
            }
        }
    }

    fn os_cases(&mut self, node: &Node, nesting: usize) -> Vec<OsCase> {
        let Some(items) = node.as_sequence() else {
            self.wrong_kind("`os_case`", "a list", node);
            return Vec::new();
        };
        let read = items.iter().map(|item| {
            let entry = self.only_entry(item, "a case of `os_case`")?;
            let os = self.os_name(entry);
            let validators = self.validators(&entry.value, "a case of `os_case`", nesting + 1);
            Some(OsCase {
                os: os?,
                validators,
            })
        });
        read.flatten().collect()
    }

    fn os_name(&mut self, entry: &Entry) -> Option<Located<OsName>> {
        let written = entry.key.text.as_str();
        let lower = written.to_ascii_lowercase();
        if lower != written && OsName::parse(&lower).is_ok() {
            let message = format!("`{written}` can never be the name of an operating system");
            let hint = format!("write `{lower}`");
            self.error(message, entry.key_span).hints.push(hint);
            return None;
        }
        self.checked(written, entry.key_span, OsName::parse)
    }

    fn argument_case(&mut self, node: &Node, nesting: usize) -> Option<ArgumentCase> {
        let mapping = self.mapping(node, "`argument_case`")?;
        self.unknown_keys(mapping, &CASE_KEYS, "`argument_case`");
        let argument = self.needed(mapping, "argument_name", "`argument_case`", node);
        let argument = argument.and_then(|node| self.argument_name(node, "`argument_name`"));
        let cases = self.needed(mapping, "cases", "`argument_case`", node)?;
        let cases = self.properties(cases, "`cases`")?;
        let read = cases.entries.iter().map(|entry| {
            let value = self.value_of(&entry.key, entry.key_span);
            let validators = self.validators(&entry.value, "a case", nesting + 1);
            Some((value?, validators))
        });
        let cases = read.flatten().collect();
        Some(ArgumentCase {
            argument: argument?,
            cases,
        })
    }

    fn argument_set(&mut self, node: &Node) -> Option<ValidatorCheck> {
        let mapping = self.mapping(node, "`argument_set`")?;
        self.unknown_keys(mapping, &SET_KEYS, "`argument_set`");
        let argument = self.needed(mapping, "argument_name", "`argument_set`", node);
        let argument = argument.and_then(|node| self.assigned(node, "`argument_name`"));
        let value = self.needed(mapping, "value", "`argument_set`", node);
        let value = value.and_then(|node| self.value(node, "`value`"));
        Some(ValidatorCheck::ArgumentSet {
            argument: argument?,
            value: value?,
        })
    }

    /// The value of a key that must be there.
    fn needed<'node>(
        &mut self,
        mapping: &'node Mapping,
        key: &str,
        owner: &str,
        node: &Node,
    ) -> Option<&'node Node> {
        let found = mapping.get(key);
        if found.is_none() {
            self.error(format!("{owner} has no `{key}`"), node.span);
        }
        found
    }

    /// A mapping that can be left out.
    fn properties<'node>(&mut self, node: &'node Node, what: &str) -> Option<&'node Mapping> {
        static EMPTY: Mapping = Mapping {
            entries: Vec::new(),
        };
        if node.is_null() {
            return Some(&EMPTY);
        }
        self.mapping(node, what)
    }
}
