//! Reads the requirements of a manifest.

use std::collections::HashMap;

use super::reader::{ManifestReader, similar_name};
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Severity, Span};
use crate::document::{Mapping, Node, Scalar, Style, unquoted_spec};
use crate::name::PackageName;
use crate::read_options::Limits;
use crate::spec::Requirement;
use crate::spec::Spec;

/// A hint for a key that is a name and a spec, as in `org.acme.Base 1.0`.
fn as_entry(key: &str) -> Option<String> {
    let (name, spec) = key.split_once([' ', '@'])?;
    let spec = spec.trim();
    let is_both = PackageName::parse(name).is_ok() && !spec.is_empty() && Spec::parse(spec).is_ok();
    is_both.then(|| format!("the spec is the value of the key: write `{name}: \"{spec}\"`"))
}

impl ManifestReader<'_> {
    pub(super) fn requirements(
        &mut self,
        mapping: &Mapping,
        own: Option<&Located<PackageName>>,
    ) -> Vec<Requirement> {
        let Some(entries) = self.mapping(mapping, "Require") else {
            return Vec::new();
        };
        let limit = self.options.limits.requirements;
        if let Some(beyond) = entries.entries.get(limit) {
            let location = self.nodes.location(beyond.key_span);
            self.nodes
                .report(Limits::exceeded("requirements", limit).at(location));
            return Vec::new();
        }
        let mut requirements: Vec<Requirement> = Vec::with_capacity(entries.entries.len());
        let mut folded: HashMap<String, Span> = HashMap::new();
        for entry in &entries.entries {
            let hint = |key: &str| as_entry(key).or_else(|| similar_name(key));
            let package = self.key_name(entry, "a package name", PackageName::parse, hint);
            let spec = self.spec(&entry.value);
            let (Some(package), Some(spec)) = (package, spec) else {
                continue;
            };
            if own.is_some_and(|own| own.value == package) {
                let message = format!("`{package}` requires itself");
                self.nodes
                    .error_of(Code::SelfRequirement, message, entry.key_span);
                continue;
            }
            let first = *folded
                .entry(package.as_str().to_ascii_lowercase())
                .or_insert(entry.key_span);
            if first != entry.key_span {
                let diagnostic = Diagnostic::error(
                    Code::DuplicateKey,
                    format!("`{package}` is required twice, spelled differently"),
                )
                .label(self.nodes.location(entry.key_span), "again here")
                .label(self.nodes.location(first), "first here");
                self.nodes.report(diagnostic);
                continue;
            }
            requirements.push(Requirement {
                package,
                spec,
                location: Some(self.nodes.location(entry.key_span)),
            });
        }
        requirements
    }

    /// The error for a spec that YAML reads as a block of text. An unquoted `>1` begins one, usually an empty
    /// one. If the block has text, that is the intended spec.
    fn block_of_text(&self, scalar: &Scalar, span: Span) -> Diagnostic {
        let text = self.nodes.source().text();
        // The span may cover the text of the block alone.
        let before = text[..span.start].trim_end_matches([' ', '\n', '\r']);
        let rest = text[span.start..].strip_prefix(['>', '|']).unwrap_or("?");
        let rest =
            rest.trim_start_matches(|next: char| next.is_ascii_digit() || "+-".contains(next));
        let begins_here = rest.is_empty() || rest.starts_with([' ', '\n', '\r']);
        let on_line = if begins_here {
            span.start
        } else {
            before.len()
        };
        let line = text[..on_line].rfind('\n').map_or(0, |newline| newline + 1);
        let line_text = text[line..].lines().next().unwrap_or("");
        let value_at = line_text.find(": ").map_or(0, |colon| colon + 2);
        let value = line_text[value_at..].trim_start();
        let start = line + line_text.len() - value.len();
        let value = value.split(" #").next().unwrap_or(value).trim_end();
        let end = start + value.len();
        let location = self.nodes.location(Span { start, end });
        let written = scalar.text.trim();
        if written.is_empty() && Spec::parse(value).is_ok() {
            return unquoted_spec(value, location);
        }
        let diagnostic = Diagnostic::error(Code::Spec, "a spec cannot be a block of text")
            .label(location, "YAML reads this as the start of one");
        if written.is_empty() || Spec::parse(written).is_err() {
            diagnostic.hint("write the spec in quotes, such as \">=1.2,<2\"")
        } else {
            diagnostic.hint(format!("write \"{}\"", Escaped::shortened(written)))
        }
    }

    fn spec(&mut self, node: &Node) -> Option<Spec> {
        // As in the reference implementation, what Python takes for nothing is no spec.
        let is_no_text = |scalar: &Scalar| scalar.yaml_1_1_bool().is_some();
        if node.is_nothing() && node.as_scalar().is_none_or(is_no_text) {
            let kind = match node.as_scalar() {
                Some(_) => "true or false",
                None => node.kind(),
            };
            let message = format!("a spec must be text, not {kind}");
            let finding = self.nodes.error_of(Code::Spec, message, node.span);
            finding.severity = Severity::Warning;
            finding.add_hint("write \"0\", as the engine reads this: any version before 1.0.0");
            return Some(Spec::unspecified());
        }
        let Some(scalar) = node.as_scalar() else {
            self.nodes
                .wrong_kind_of(Code::Spec, "a spec", "text", node)
                .add_hint("write the spec itself in quotes, such as \">=1.2,<2\"");
            return None;
        };
        if scalar.style == Style::Block {
            let diagnostic = self.block_of_text(scalar, node.span);
            self.nodes.report(diagnostic);
            return None;
        }
        if scalar.is_null() {
            return Some(Spec::unspecified());
        }
        match Spec::parse(&scalar.text) {
            Ok(spec) => Some(spec),
            Err(error) => {
                let finding = self
                    .nodes
                    .error_of(Code::Spec, error.to_string(), node.span);
                if let Some(suggestion) = &error.suggestion {
                    finding.add_hint(format!("write \"{suggestion}\""));
                }
                None
            }
        }
    }
}
