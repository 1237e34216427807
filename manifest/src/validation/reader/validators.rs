//! Reads validators, each of which is a mapping with one key.

use std::collections::HashSet;

use super::super::{
    ArgumentCase, OsCase, OsName, PackagePin, Script, SystemPackageName, SystemPackageVersion,
    Validator, ValidatorCheck,
};
use super::ValidationReader;
use crate::diagnostic::{Escaped, Located};
use crate::document::{Entry, Node};
use crate::package_path::PackagePath;
use crate::read_options::Limits;
use crate::similar::{did_you_mean, most_similar};

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
            let error = error.at(self.nodes.location(node.span));
            self.nodes.report(error);
            return Vec::new();
        }
        if node.is_null() {
            return Vec::new();
        }
        let Some(items) = self.nodes.list(node, what, "a list of validators") else {
            return Vec::new();
        };
        let read = items.iter().map(|item| {
            let entry = self.nodes.only_entry(item, "a validator")?;
            Some(Validator {
                location: self.nodes.location(entry.key_span),
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
                    let message = "`any` has no validators, so none can succeed";
                    self.nodes.error(message, entry.key_span);
                }
                ValidatorCheck::Any(validators)
            }
            "os_case" => ValidatorCheck::OsCase(self.os_cases(node, nesting)),
            "argument_case" => ValidatorCheck::ArgumentCase(self.argument_case(node, nesting)?),
            "argument_set" => self.argument_set(node)?,
            name if self.options.custom_validators.iter().any(|it| it == name) => {
                ValidatorCheck::Custom {
                    name: self.nodes.located(name.to_owned(), entry.key_span),
                    value: node.clone(),
                }
            }
            name => {
                let message = format!("unknown validator `{}`", Escaped::shortened(name));
                let custom = self.options.custom_validators.iter().map(String::as_str);
                let known: Vec<&str> = KINDS.into_iter().chain(custom).collect();
                let similar = most_similar(name, known.iter().copied());
                let list = || {
                    let known: Vec<String> = known.iter().map(|it| format!("`{it}`")).collect();
                    format!("the validators are {}", known.join(", "))
                };
                let hint = similar.map_or_else(list, did_you_mean);
                self.nodes.error(message, entry.key_span).add_hint(hint);
                return None;
            }
        })
    }

    fn packages(&mut self, node: &Node) -> Vec<PackagePin> {
        let items = node.items_or_self();
        if items.is_empty() {
            self.nodes.error("`package` has no package", node.span);
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
                let message = format!("the package `{}` is listed twice", package.name.value);
                self.nodes.error(message, package.name.location.span());
            }
        }
        packages
    }

    fn package(&mut self, node: &Node) -> Option<PackagePin> {
        if node.as_mapping().is_none() {
            let scalar = self.nodes.text(node, "a package")?;
            let name = self
                .nodes
                .parsed(&scalar.text, node.span, SystemPackageName::parse)?;
            return Some(PackagePin {
                name,
                version: None,
            });
        }
        let entry = self.nodes.only_entry(node, "a package")?;
        let name = self
            .nodes
            .parsed(&entry.key.text, entry.key_span, SystemPackageName::parse);
        let properties = self
            .nodes
            .mapping_or_null(&entry.value, "the properties of a package")?;
        self.nodes
            .unknown_keys(properties, &PACKAGE_KEYS, "a package");
        let version = properties.present("version");
        let version = version.and_then(|node| {
            let scalar = self.nodes.text(node, "`version`")?;
            self.nodes
                .parsed(&scalar.text, node.span, SystemPackageVersion::parse)
        });
        Some(PackagePin {
            name: name?,
            version,
        })
    }

    fn script(&mut self, node: &Node) -> Option<Script> {
        if node.as_mapping().is_none() {
            let scalar = self.nodes.text(node, "a script")?;
            return Some(Script {
                path: self
                    .nodes
                    .parsed(&scalar.text, node.span, PackagePath::parse)?,
                arguments: Vec::new(),
                output: None,
                inline: None,
            });
        }
        let entry = self.nodes.only_entry(node, "a script")?;
        let path = self
            .nodes
            .parsed(&entry.key.text, entry.key_span, PackagePath::parse);
        let properties = self
            .nodes
            .mapping_or_null(&entry.value, "the properties of a script")?;
        self.nodes
            .unknown_keys(properties, &SCRIPT_KEYS, "a script");
        let arguments = properties
            .present("env_vars")
            .map_or_else(Vec::new, |node| {
                let Some(items) = self.nodes.list(node, "`env_vars`", "a list") else {
                    return Vec::new();
                };
                let names = items.iter();
                let names =
                    names.filter_map(|item| self.argument_name(item, "an item of `env_vars`"));
                names.collect()
            });
        let output = properties
            .present("output")
            .and_then(|node| self.assigned(node, "`output`"));
        let inline = properties.present("inline").and_then(|node| {
            let scalar = self.nodes.text(node, "`inline`")?;
            Some(self.nodes.located(scalar.text.clone(), node.span))
        });
        Some(Script {
            path: path?,
            arguments,
            output,
            inline,
        })
    }

    fn os_cases(&mut self, node: &Node, nesting: usize) -> Vec<OsCase> {
        let Some(items) = self.nodes.list(node, "`os_case`", "a list") else {
            return Vec::new();
        };
        let read = items.iter().map(|item| {
            let entry = self.nodes.only_entry(item, "a case of `os_case`")?;
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
            self.nodes.error(message, entry.key_span).add_hint(hint);
            return None;
        }
        self.nodes.parsed(written, entry.key_span, OsName::parse)
    }

    fn argument_case(&mut self, node: &Node, nesting: usize) -> Option<ArgumentCase> {
        let mapping = self.nodes.mapping(node, "`argument_case`")?;
        self.nodes
            .unknown_keys(mapping, &CASE_KEYS, "`argument_case`");
        let argument = self
            .nodes
            .required(mapping, "argument_name", "`argument_case`", node.span);
        let argument = argument.and_then(|node| self.argument_name(node, "`argument_name`"));
        let cases = self
            .nodes
            .required(mapping, "cases", "`argument_case`", node.span)?;
        let cases = self.nodes.mapping_or_null(cases, "`cases`")?;
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
        let mapping = self.nodes.mapping(node, "`argument_set`")?;
        self.nodes
            .unknown_keys(mapping, &SET_KEYS, "`argument_set`");
        let argument = self
            .nodes
            .required(mapping, "argument_name", "`argument_set`", node.span);
        let argument = argument.and_then(|node| self.assigned(node, "`argument_name`"));
        let value = self
            .nodes
            .required(mapping, "value", "`argument_set`", node.span);
        let value = value.and_then(|node| self.value(node, "`value`"));
        Some(ValidatorCheck::ArgumentSet {
            argument: argument?,
            value: value?,
        })
    }
}
