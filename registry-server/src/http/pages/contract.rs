//! Renders contracts in words, with links to their classes.

use maud::{Markup, html};
use pkgres_manifest::{ClassConstraint, Contract, MapKey, Rule};

use super::layout::class_link;
use super::text;

/// How deep contracts are shown.
const MAX_DEPTH: usize = 6;

/// A contract.
pub(super) fn shown(root: &str, contract: &Contract) -> Markup {
    at_depth(root, contract, 0)
}

fn at_depth(root: &str, contract: &Contract, depth: usize) -> Markup {
    if depth == MAX_DEPTH {
        return html! { "…" };
    }
    match contract {
        Contract::Rules(rules) => of_rules(root, rules),
        Contract::List {
            items,
            minimum,
            maximum,
        } => html! {
            "list"
            @if *minimum > 0 { " of at least " (minimum) }
            @if let Some(maximum) = maximum { " of at most " (maximum) }
            @if !items.is_empty() {
                " ["
                @for (at, item) in items.iter().enumerate() {
                    @if at > 0 { "; " }
                    (at_depth(root, item, depth + 1))
                }
                "]"
            }
        },
        Contract::Map(entries) => html! {
            "mapping {"
            @for (at, (key, value)) in entries.iter().enumerate() {
                @if at > 0 { "; " }
                @match key {
                    MapKey::Named(name) => (text::beginning(name, 60)),
                    MapKey::Matching(rules) => (of_rules(root, rules)),
                }
                ": " (at_depth(root, value, depth + 1))
            }
            "}"
        },
    }
}

fn of_rules(root: &str, rules: &[Rule]) -> Markup {
    html! {
        @if rules.is_empty() { "anything" }
        @for (at, rule) in rules.iter().enumerate() {
            @if at > 0 { ", " }
            (of_rule(root, rule))
        }
    }
}

fn of_rule(root: &str, rule: &Rule) -> Markup {
    match rule {
        Rule::String => html! { "string" },
        Rule::Int => html! { "int" },
        Rule::Bool => html! { "bool" },
        Rule::NotNull => html! { "not null" },
        Rule::Class(constraint) => html! { "object of " (of_class(root, constraint)) },
        Rule::Template(constraint) => html! { "template of " (of_class(root, constraint)) },
        Rule::Owned => html! { "owned" },
        Rule::NotOwned => html! { "not owned" },
        Rule::Equal(value) => html! { (value) },
        Rule::Unchecked(written) => html! { code { (text::beginning(written, 120)) } },
        _ => html! { "…" },
    }
}

fn of_class(root: &str, constraint: &ClassConstraint) -> Markup {
    html! {
        (class_link(root, &constraint.class))
        @if let Some(spec) = &constraint.spec { " " code { (text::shown(spec.written())) } }
        @if !constraint.excluded.is_empty() {
            " without " code { (text::beginning(&constraint.excluded.join(", "), 120)) }
        }
    }
}
