//! Checks contracts as they are written: parts that the deployment engine reads otherwise than they look.

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Located, Location, Span};
use pkgres_manifest::{Contract, Literal, MapKey, Rule, is_identifier};

/// The functions whose arguments are names of classes.
const NAMING: [&str; 2] = ["class(", "template("];

/// Reports what is probably not meant in the contract of a property or an argument.
pub(crate) fn check(name: &str, contract: &Located<Contract>, findings: &mut Vec<Diagnostic>) {
    let name = Escaped::shortened(name);
    let location = &contract.location;
    let contract = &contract.value;
    let span = location.span();
    let text = location.source().text();
    let written = &text[span.start..span.end];
    if has_text_of_expression(contract)
        && let Some(at) = quoted_expression(text, span)
    {
        let message = format!(
            "the contract of `{name}` is quoted, so the engine accepts only its text as a value"
        );
        let finding = Diagnostic::warning(Code::Contract, message);
        let finding = finding.at(place(location, at, at + 1));
        findings
            .push(finding.hint("write the expression as plain text, without quotes, `|` and `>`"));
    }
    for (at, class) in dotted_names(written) {
        let start = span.start + at;
        let place = place(location, start, start + class.len());
        findings.push(unquoted_class(Code::Contract, class).at(place));
    }
    if has_length_without_items(contract) {
        let message = format!(
            "the contract of `{name}` has a length for a list but no contract for its items, so the engine loads no item"
        );
        let finding = Diagnostic::warning(Code::Contract, message).at(location.clone());
        findings.push(finding.hint("`$` accepts every item: `[$, 1]`"));
    }
    if refuses_objects(contract) {
        let message = format!(
            "the contract of `{name}` accepts only null: `template` makes a description, which is \
             no object that could be owned"
        );
        findings.push(Diagnostic::warning(Code::Contract, message).at(location.clone()));
    }
}

/// The warning about the name of a class with dots and without quotes.
pub(crate) fn unquoted_class(code: Code, class: &str) -> Diagnostic {
    let message =
        format!("the engine does not read `{class}` as the name of a class: it is not in quotes");
    let hint = format!("write `'{class}'`, or a prefix of `Namespaces`");
    Diagnostic::warning(code, message).hint(hint)
}

/// Whether a contract has a length for a list and none for its items: the engine cannot load any item.
fn has_length_without_items(contract: &Contract) -> bool {
    let mut rest = vec![contract];
    while let Some(contract) = rest.pop() {
        match contract {
            Contract::Rules(_) => {}
            Contract::List {
                items,
                minimum,
                maximum,
            } => {
                if items.is_empty() && (*minimum > 0 || maximum.is_some()) {
                    return true;
                }
                rest.extend(items);
            }
            Contract::Map(entries) => rest.extend(entries.iter().map(|(_, value)| value)),
        }
    }
    false
}

fn place(location: &Location, start: usize, end: usize) -> Location {
    Location::new(location.source(), Span { start, end })
}

/// Whether a text that a contract requires, or a key of it, looks like an expression.
fn has_text_of_expression(contract: &Contract) -> bool {
    let looks_so = |text: &str| text.starts_with('$');
    let mut rest = vec![contract];
    while let Some(contract) = rest.pop() {
        let is_found = match contract {
            Contract::Rules(rules) => {
                matches!(rules.as_slice(), [Rule::Equal(Literal::Text(text))] if looks_so(text))
            }
            Contract::List { items, .. } => {
                rest.extend(items);
                false
            }
            Contract::Map(entries) => {
                rest.extend(entries.iter().map(|(_, value)| value));
                (entries.iter())
                    .any(|(key, _)| matches!(key, MapKey::Named(name) if looks_so(name)))
            }
        };
        if is_found {
            return true;
        }
    }
    false
}

/// Where an expression is quoted; the engine reads only plain scalars, and those with a tag, as expressions.
fn quoted_expression(text: &str, span: Span) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_tagged = |at: usize| text[..at].trim_end().ends_with("!yaql");
    // The header of a block scalar comes before its text.
    let before = text[..span.start].trim_end();
    let header = before.rsplit([' ', '\n', ':']).next().unwrap_or_default();
    if header.starts_with(['|', '>']) && !is_tagged(before.len() - header.len()) {
        return Some(before.len() - header.len());
    }
    (span.start..span.end).find(|at| {
        let quote = bytes[*at];
        let begins =
            *at == span.start || matches!(bytes[at - 1], b'[' | b'{' | b',' | b' ' | b'\n' | b'\t');
        let next = bytes.get(at + 2).copied();
        matches!(quote, b'"' | b'\'')
            && begins
            && bytes.get(at + 1) == Some(&b'$')
            && (next == Some(b'.') || next == Some(quote))
            && !is_tagged(*at)
    })
}

/// The names with dots and without quotes in the first arguments of functions, each with its place. The engine reads
/// `a.B` as the property `B` of the word `a`.
fn dotted_names(written: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for function in NAMING {
        for (at, _) in written.match_indices(function) {
            if !written[..at].ends_with('.') {
                continue;
            }
            let start = at + function.len();
            let arguments = written[start..].split(')').next().unwrap_or_default();
            let mut from = start;
            // The class, and the default one.
            for argument in arguments.split(',').take(2) {
                let value = argument.rsplit("=>").next().unwrap_or(argument);
                let name = value.trim();
                if name.contains('.') && name.split('.').all(is_identifier) {
                    let skipped = argument.len() - value.trim_start().len();
                    found.push((from + skipped, name));
                }
                from += argument.len() + 1;
            }
        }
    }
    found
}

/// Whether no object meets a contract: `template` makes a description, and `owned` and `notOwned` accept only objects.
fn refuses_objects(contract: &Contract) -> bool {
    contract.rules().into_iter().any(|rules| {
        let after = rules
            .iter()
            .skip_while(|rule| !matches!(rule, Rule::Template(_)));
        let mut after = after.take_while(|rule| !matches!(rule, Rule::Class(_)));
        after.any(|rule| matches!(rule, Rule::Owned | Rule::NotOwned))
    })
}
