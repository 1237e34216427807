//! The rules of interfaces once more, as simply as possible, on descriptions instead of packages.
//!
//! Signatures are not compared by rules: every call that the interface allows is tried.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Standard,
    VarArgs,
    KwArgs,
}

#[derive(Debug, Clone)]
pub(crate) struct Argument {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) has_default: bool,
}

/// Keys and values, any of which is enough.
#[derive(Debug, Clone)]
pub(crate) struct Platforms(pub(crate) Vec<(String, String)>);

#[derive(Debug, Clone)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    pub(crate) supported: Option<Platforms>,
    pub(crate) not_applicable: Option<Platforms>,
    /// The version that announces it, and the one that removes the function.
    pub(crate) deprecated: Option<(Option<String>, Option<String>)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) package: String,
    pub(crate) name: String,
    pub(crate) extends: Vec<String>,
    pub(crate) methods: BTreeMap<String, Vec<Argument>>,
    pub(crate) implements: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) interface_version: String,
    pub(crate) interfaces: BTreeMap<String, Vec<Function>>,
    pub(crate) classes: Vec<Class>,
}

fn same_key(one: &str, other: &str) -> bool {
    let plain = |key: &str| key.to_lowercase().replace('_', "");
    plain(one) == plain(other)
}

fn same_pair(one: &(String, String), other: &(String, String)) -> bool {
    same_key(&one.0, &other.0) && one.1.eq_ignore_ascii_case(&other.1)
}

impl Platforms {
    pub(crate) fn has_a_pair_of(&self, other: &Self) -> bool {
        self.match_any(&other.0)
    }

    fn match_any(&self, facts: &[(String, String)]) -> bool {
        (self.0.iter()).any(|wanted| facts.iter().any(|fact| same_pair(wanted, fact)))
    }
}

/// A call: how many values it has by position, and the names of the others.
type Call = (usize, Vec<String>);

/// Assigns the values of a call to arguments, those by position first. `None` if the call is wrong.
fn assign(arguments: &[Argument], call: &Call) -> Option<Vec<String>> {
    let standard: Vec<&Argument> = arguments
        .iter()
        .filter(|it| it.kind == Kind::Standard)
        .collect();
    let takes = |kind| arguments.iter().any(|it| it.kind == kind);
    let mut assigned = Vec::new();
    for position in 0..call.0 {
        match standard.get(position) {
            Some(argument) => assigned.push(argument.name.clone()),
            None if takes(Kind::VarArgs) => assigned.push("*".to_owned()),
            None => return None,
        }
    }
    for name in &call.1 {
        if standard.iter().any(|it| it.name == *name) {
            if assigned.contains(name) {
                return None;
            }
            assigned.push(name.clone());
        } else if takes(Kind::KwArgs) {
            assigned.push("**".to_owned());
        } else {
            return None;
        }
    }
    let is_given = |argument: &&&Argument| assigned.contains(&argument.name);
    let missing = standard.iter().filter(|it| !is_given(it));
    missing
        .into_iter()
        .all(|argument| argument.has_default)
        .then_some(assigned)
}

/// Whether a value that the interface assigns to one argument may be assigned to another one by the method: to the same,
/// or to those that take all further values, if the method has none of that name.
fn is_same(expected: &str, found: &str, method: &[Argument]) -> bool {
    let has_it = method
        .iter()
        .any(|it| it.kind == Kind::Standard && it.name == expected);
    expected == found || matches!(found, "*" | "**") && !has_it
}

/// Whether every call that an interface allows is right for a method, and means the same.
fn can_be_called_alike(interface: &[Argument], method: &[Argument]) -> bool {
    let standard: Vec<&str> = interface
        .iter()
        .filter(|it| it.kind == Kind::Standard)
        .map(|it| it.name.as_str())
        .collect();
    let mut possible = standard.clone();
    // No argument has this name.
    possible.push("further");
    for positional in 0..=standard.len() + 4 {
        for chosen in 0..1_usize << possible.len() {
            let named = (0..possible.len()).filter(|at| chosen >> at & 1 == 1);
            let call = (
                positional,
                named.map(|at| possible[at].to_owned()).collect(),
            );
            let Some(expected) = assign(interface, &call) else {
                continue;
            };
            let Some(found) = assign(method, &call) else {
                return false;
            };
            let mut both = expected.iter().zip(&found);
            if !both.all(|(expected, found)| is_same(expected, found, method)) {
                return false;
            }
        }
    }
    true
}

impl World {
    fn class(&self, name: &str) -> &Class {
        let mut classes = self.classes.iter();
        classes.find(|class| class.name == name).expect("it exists")
    }

    /// The methods of a class with the packages that declare them: its own, then those of its parents, then those of
    /// their parents. The first of a name counts.
    fn methods(&self, name: &str) -> BTreeMap<&str, (&str, &[Argument])> {
        let mut methods = BTreeMap::new();
        let mut row = vec![name];
        let mut seen = BTreeSet::new();
        while !row.is_empty() {
            let mut next = Vec::new();
            for name in row {
                if !seen.insert(name) {
                    continue;
                }
                let class = self.class(name);
                for (method, arguments) in &class.methods {
                    let method = if method == "initialize" {
                        ".init"
                    } else {
                        method
                    };
                    methods
                        .entry(method)
                        .or_insert((class.package.as_str(), arguments.as_slice()));
                }
                next.extend(class.extends.iter().map(String::as_str));
                if class.extends.is_empty() && name != "core.Object" {
                    next.push("core.Object");
                }
            }
            row = next;
        }
        methods
    }

    fn status(
        &self,
        function: &Function,
        method: Option<&[Argument]>,
        facts: &[(String, String)],
    ) -> Option<&'static str> {
        // Versions of one digit compare like texts.
        let reached = |version: &Option<String>| {
            version
                .as_ref()
                .is_none_or(|it| *it <= self.interface_version)
        };
        if let Some((_, removed)) = &function.deprecated
            && removed.is_some()
            && reached(removed)
        {
            return method.map(|_| "deprecated");
        }
        let matches = |platforms: &Option<Platforms>| {
            platforms.as_ref().is_some_and(|it| it.match_any(facts))
        };
        let makes_no_sense = matches(&function.not_applicable);
        let is_named = matches(&function.supported);
        Some(match method {
            _ if makes_no_sense && is_named => "conflict",
            Some(_) if makes_no_sense => "conflict",
            None if makes_no_sense => "not-applicable",
            Some(method) if !can_be_called_alike(&function.arguments, method) => {
                "signature-mismatch"
            }
            Some(_) => match &function.deprecated {
                Some((since, _)) if reached(since) => "deprecated",
                _ => "implemented",
            },
            None if function.supported.is_none() || is_named => "not-implemented",
            None => "not-supported",
        })
    }

    /// The status of each class, interface and function on a platform.
    pub(crate) fn statuses(
        &self,
        facts: &[(String, String)],
    ) -> BTreeMap<(String, String, String), String> {
        let mut statuses = BTreeMap::new();
        for class in self
            .classes
            .iter()
            .filter(|class| !class.implements.is_empty())
        {
            let methods = self.methods(&class.name);
            let mut declared = BTreeSet::new();
            for interface in &class.implements {
                for function in &self.interfaces[interface] {
                    declared.insert(function.name.as_str());
                    let method = methods.get(function.name.as_str());
                    let method = method.map(|(_, arguments)| *arguments);
                    if let Some(status) = self.status(function, method, facts) {
                        let key = (class.name.clone(), interface.clone(), function.name.clone());
                        statuses.insert(key, status.to_owned());
                    }
                }
            }
            for (name, (package, _)) in methods {
                let is_public = !name.starts_with(['_', '.']);
                if is_public && package != "core" && !declared.contains(name) {
                    let key = (class.name.clone(), "-".to_owned(), name.to_owned());
                    statuses.insert(key, "deprecated".to_owned());
                }
            }
        }
        statuses
    }
}
