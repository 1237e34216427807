//! Contracts: the types of properties and arguments.
//!
//! A contract is a YAQL expression such as `$.class(std:Object).notNull()`, or a list or mapping of contracts.
//! Functions that only the deployment engine can evaluate are kept as text ([`Rule::Unchecked`]).

use std::fmt;

use super::namespaces::Namespaces;
use super::yaql::{Token, TokenKind, closing_parenthesis, split_arguments, tokenize};
use crate::diagnostic::Escaped;
use crate::name::ClassName;
use crate::spec::Spec;

/// The contract of a value. Without contracts of their own, any list and any mapping are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contract {
    /// The value meets every rule.
    Rules(Vec<Rule>),
    /// The value is a list. Each item meets the contract at its position, and further items the last one.
    List {
        /// The contracts of the items.
        items: Vec<Contract>,
        /// The least number of items.
        minimum: u64,
        /// The greatest number of items, if there is one.
        maximum: Option<u64>,
    },
    /// The value is a mapping whose values meet the contracts of their keys.
    Map(Vec<(MapKey, Contract)>),
}

/// The keys of a mapping that a contract applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MapKey {
    /// The key of this name.
    Named(String),
    /// Every key that is not named and meets the rules.
    Matching(Vec<Rule>),
}

/// A scalar that a contract consists of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Literal {
    /// Null.
    Null,
    /// True or false.
    Bool(bool),
    /// A number, as written.
    Number(String),
    /// Text.
    Text(String),
}

impl fmt::Display for Literal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => formatter.write_str("null"),
            Self::Bool(value) => value.fmt(formatter),
            Self::Number(text) => Escaped::shortened(text).fmt(formatter),
            Self::Text(text) => write!(formatter, "the text `{}`", Escaped::shortened(text)),
        }
    }
}

/// One rule of a contract expression.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// The value is text.
    String,
    /// The value is a whole number.
    Int,
    /// The value is true or false.
    Bool,
    /// The value is not null.
    NotNull,
    /// The value is an object of the class.
    Class(ClassConstraint),
    /// The value is the description of an object of the class.
    Template(ClassConstraint),
    /// The value is an object that belongs to the object with the property.
    Owned,
    /// The value is an object that belongs to another one.
    NotOwned,
    /// The value is this scalar.
    Equal(Literal),
    /// A call that only the deployment engine can evaluate, as written.
    Unchecked(String),
}

/// The class of a `class` or `template` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassConstraint {
    /// The class.
    pub class: ClassName,
    /// The class of an object that names none, if it is another one.
    pub default: Option<ClassName>,
    /// Its versions. `None` means the versions that the declaring package requires.
    pub spec: Option<Spec>,
    /// The properties of a template that are not checked, because they are set when an object is made of it. `a.b` is
    /// the property or key `b` of the value of `a`.
    pub excluded: Vec<String>,
}

impl ClassConstraint {
    /// The class of an object that names none.
    pub fn described(&self) -> &ClassName {
        self.default.as_ref().unwrap_or(&self.class)
    }

    /// The versions of that class, if the contract names them.
    pub fn spec_of_described(&self) -> Option<&Spec> {
        self.spec.as_ref().filter(|_| self.default.is_none())
    }
}

impl Contract {
    /// The rules of all values and keys, in order.
    pub fn rules(&self) -> Vec<&[Rule]> {
        let mut found = Vec::new();
        let mut rest = vec![(None, self)];
        while let Some((key, contract)) = rest.pop() {
            found.extend(key);
            match contract {
                Self::Rules(rules) => found.push(rules.as_slice()),
                Self::List { items, .. } => rest.extend(items.iter().rev().map(|it| (None, it))),
                Self::Map(entries) => {
                    rest.extend(entries.iter().rev().map(|(key, value)| match key {
                        MapKey::Matching(rules) => (Some(rules.as_slice()), value),
                        MapKey::Named(_) => (None, value),
                    }));
                }
            }
        }
        found
    }

    /// Every class that the contract names, in order.
    pub fn classes(&self) -> Vec<&ClassName> {
        let mut found = Vec::new();
        let mut rest = vec![self];
        while let Some(contract) = rest.pop() {
            match contract {
                Self::Rules(rules) => {
                    for constraint in rules.iter().filter_map(Rule::constraint) {
                        found.push(&constraint.class);
                        found.extend(&constraint.default);
                    }
                }
                Self::List { items, .. } => rest.extend(items.iter().rev()),
                Self::Map(entries) => rest.extend(entries.iter().rev().map(|(_, value)| value)),
            }
        }
        found
    }
}

impl Rule {
    fn constraint(&self) -> Option<&ClassConstraint> {
        match self {
            Self::Class(constraint) | Self::Template(constraint) => Some(constraint),
            _ => None,
        }
    }
}

/// Reads the rules of an expression. It is an error only if the class or spec of a rule cannot be read. Other
/// unknown parts are [`Rule::Unchecked`].
pub(super) fn parse_expression(text: &str, namespaces: &Namespaces) -> Result<Vec<Rule>, String> {
    let unchecked = || vec![Rule::Unchecked(text.trim().to_owned())];
    let Some(tokens) = tokenize(text) else {
        return Err("a quoted text is not closed".to_owned());
    };
    let mut rest = tokens.as_slice();
    match rest.first().map(|token| &token.kind) {
        None => return Ok(Vec::new()),
        Some(TokenKind::Variable("$")) => rest = &rest[1..],
        Some(_) => return Ok(unchecked()),
    }
    let mut rules = Vec::new();
    while let [dot, name, open, arguments @ ..] = rest {
        let (TokenKind::Symbol("."), TokenKind::Word(name), TokenKind::Symbol("(")) =
            (&dot.kind, &name.kind, &open.kind)
        else {
            break;
        };
        let Some(length) = closing_parenthesis(arguments) else {
            return Err(format!("the call of `{name}` is not closed"));
        };
        let written = || {
            let end = arguments[length].start + 1;
            Rule::Unchecked(text[dot.start..end].to_owned())
        };
        rules.push(match (*name, length) {
            ("string", 0) => Rule::String,
            ("int", 0) => Rule::Int,
            ("bool", 0) => Rule::Bool,
            ("notNull", 0) => Rule::NotNull,
            ("owned", 0) => Rule::Owned,
            ("notOwned", 0) => Rule::NotOwned,
            ("class", _) => Rule::Class(constraint(&arguments[..length], false, namespaces)?),
            ("template", _) => Rule::Template(constraint(&arguments[..length], true, namespaces)?),
            _ => written(),
        });
        rest = &arguments[length + 1..];
    }
    if !rest.is_empty() {
        // `$.int() or 5`: the rules apply to some values only, so none of them can be checked.
        return Ok(unchecked());
    }
    Ok(rules)
}

/// The arguments of `class` in order, and the last one, which only `template` has.
const ARGUMENTS: [&str; 4] = ["name", "default", "versionSpec", "excludeProperties"];

/// Reads the arguments of `class` and `template`, by position or by name.
fn constraint(
    arguments: &[Token<'_>],
    is_template: bool,
    namespaces: &Namespaces,
) -> Result<ClassConstraint, String> {
    let mut class = None;
    let mut default = None;
    let mut spec = None;
    let mut excluded = Vec::new();
    let known = if is_template { 4 } else { 3 };
    let arguments = split_arguments(arguments).into_iter();
    for (position, argument) in arguments.enumerate() {
        let (name, value) = match argument {
            [
                Token {
                    kind: TokenKind::Word(name),
                    ..
                },
                Token {
                    kind: TokenKind::Symbol("=>"),
                    ..
                },
                value @ ..,
            ] => (*name, value),
            value => match ARGUMENTS[..known].get(position) {
                Some(name) => (*name, value),
                None => return Err(format!("it has more than {known} arguments")),
            },
        };
        match (name, value) {
            ("name" | "type", value) => class = class_name(value, namespaces)?,
            (
                "default" | "defaultName" | "defaultType" | "default_name" | "default_type",
                value,
            ) => {
                default = class_name(value, namespaces)?;
            }
            ("versionSpec" | "version_spec", [Token { kind, .. }]) => {
                spec = match kind {
                    TokenKind::Word("null") => None,
                    TokenKind::Text(written) => {
                        Some(Spec::parse(written).map_err(|error| error.with_suggestion())?)
                    }
                    _ => return Err("the version spec is not text: write it in quotes".to_owned()),
                };
            }
            // Such as 1.2.3 without quotes, which would be a contract without a spec.
            ("versionSpec" | "version_spec", [_, _, ..]) => {
                return Err("the version spec is not text: write it in quotes".to_owned());
            }
            ("excludeProperties" | "exclude_properties", value) if is_template => {
                excluded = property_names(value)
                    .ok_or("`excludeProperties` is not a list of names of properties")?;
            }
            (unknown, _) => {
                let shown = Escaped::shortened(unknown);
                return Err(format!("there is no argument `{shown}`"));
            }
        }
    }
    excluded.sort();
    excluded.dedup();
    match class {
        Some(class) => Ok(ClassConstraint {
            default: default.filter(|default| *default != class),
            class,
            spec,
            excluded,
        }),
        None => Err("the contract names no class".to_owned()),
    }
}

/// Reads the name of a class, or null.
fn class_name(value: &[Token<'_>], namespaces: &Namespaces) -> Result<Option<ClassName>, String> {
    match value {
        [
            Token {
                kind: TokenKind::Word("null"),
                ..
            },
        ] => Ok(None),
        [
            Token {
                kind: TokenKind::Word(written) | TokenKind::Text(written),
                ..
            },
        ] => namespaces.resolve(written).map(Some),
        _ => Err("the contract names no class".to_owned()),
    }
}

/// Reads a list of names of properties, such as `[name, 'instance.name']`; null is an empty one.
fn property_names(value: &[Token<'_>]) -> Option<Vec<String>> {
    let kinds: Vec<&TokenKind<'_>> = value.iter().map(|token| &token.kind).collect();
    let items = match kinds.as_slice() {
        [TokenKind::Word("null")] => return Some(Vec::new()),
        [TokenKind::Symbol("["), items @ .., TokenKind::Symbol("]")]
        | [
            TokenKind::Word("list"),
            TokenKind::Symbol("("),
            items @ ..,
            TokenKind::Symbol(")"),
        ] => items,
        _ => return None,
    };
    if items.is_empty() {
        return Some(Vec::new());
    }
    let items = items.split(|kind| matches!(kind, TokenKind::Symbol(",")));
    items
        .map(|item| match item {
            [TokenKind::Word(name) | TokenKind::Text(name)] => Some((*name).to_owned()),
            _ => None,
        })
        .collect()
}

/// The message for a contract that cannot be read.
pub(super) fn unreadable(text: &str, reason: &str) -> String {
    format!(
        "the contract `{}` cannot be read: {reason}",
        Escaped::shortened(text)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Result<Vec<Rule>, String> {
        let mut namespaces = Namespaces::default();
        namespaces.declare("=", "org.acme").expect("valid");
        namespaces.declare("std", "io.murano").expect("valid");
        parse_expression(text, &namespaces)
    }

    fn class(name: &str, spec: Option<&str>) -> Rule {
        Rule::Class(ClassConstraint {
            class: ClassName::parse(name).expect("a name"),
            default: None,
            spec: spec.map(|spec| Spec::parse(spec).expect("a spec")),
            excluded: Vec::new(),
        })
    }

    fn template(name: &str, default: Option<&str>, excluded: &[&str]) -> Rule {
        Rule::Template(ClassConstraint {
            class: ClassName::parse(name).expect("a name"),
            default: default.map(|default| ClassName::parse(default).expect("a name")),
            spec: None,
            excluded: excluded.iter().map(|name| (*name).to_owned()).collect(),
        })
    }

    #[test]
    fn templates_have_a_default_class_and_excluded_properties() {
        for (text, expected) in [
            ("$.template(Db)", template("org.acme.Db", None, &[])),
            (
                "$.template(Db, excludeProperties => [name])",
                template("org.acme.Db", None, &["name"]),
            ),
            (
                "$.template(Db, std:Object, null, [name, 'a.b'])",
                template("org.acme.Db", Some("io.murano.Object"), &["a.b", "name"]),
            ),
            (
                "$.template(type => Db, defaultType => Db, excludeProperties => list(name))",
                template("org.acme.Db", None, &["name"]),
            ),
            (
                "$.template(Db, excludeProperties => [])",
                template("org.acme.Db", None, &[]),
            ),
        ] {
            assert_eq!(rules(text), Ok(vec![expected]), "{text}");
        }
    }

    #[test]
    fn chains_become_rules() {
        assert_eq!(rules("$"), Ok(vec![]));
        assert_eq!(
            rules("$.string().notNull()"),
            Ok(vec![Rule::String, Rule::NotNull])
        );
        assert_eq!(rules("$.class(Db)"), Ok(vec![class("org.acme.Db", None)]));
        assert_eq!(
            rules("$.class(std:Object, null, '>=1.2').owned()"),
            Ok(vec![class("io.murano.Object", Some(">=1.2")), Rule::Owned])
        );
        assert_eq!(
            rules("$.class(std:Object, versionSpec => '1.10')"),
            Ok(vec![class("io.murano.Object", Some("1.10"))])
        );
        assert_eq!(
            rules("$.int().check($ > 0)"),
            Ok(vec![Rule::Int, Rule::Unchecked(".check($ > 0)".into())])
        );
        assert_eq!(
            rules("$.int() or 5"),
            Ok(vec![Rule::Unchecked("$.int() or 5".into())])
        );
        assert_eq!(rules("1 + 1"), Ok(vec![Rule::Unchecked("1 + 1".into())]));
    }

    #[test]
    fn a_rule_without_a_class_is_an_error() {
        for bad in [
            "$.class(nope:X)",
            "$.class($x)",
            "$.class(Db",
            "$.class(Db, null, 'x')",
            "$.class(Db, null, 2)",
            "$.class(Db, versionSpec => 1.10)",
            "$.class(Db, null, 1.2.3)",
            "$.class(Db, versionSpec => 1.2.3)",
            "$.template(Db, null, >=1)",
            "$.template(Db, excludeProperties => $x)",
            "$.template(Db, excludeProperties => [a b])",
            "$.template(Db, excludedProperties => [name])",
            "$.class(Db, excludeProperties => [name])",
            "$.class(Db, null, null, 1)",
            "$.class(Db, $x)",
            "$.class('",
        ] {
            assert!(rules(bad).is_err(), "{bad}");
        }
        assert!(rules(&format!("$.class({}", "(".repeat(100_000))).is_err());
    }
}
