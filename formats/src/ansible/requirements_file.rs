//! Reads `requirements.yml`: collections with ranges, and roles, which have none.

use std::sync::Arc;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, Style, Value, read_yaml};
use pkgres_manifest::{IndexRecord, Limits, PackageName, Version, most_similar, nearest_name};

use super::name::package_name;
use super::range;
use super::record::{ECOSYSTEM, add_requirement};

/// The name of the file.
pub const REQUIREMENTS_FILE: &str = "requirements.yml";

/// The keys of an entry of `collections`.
const KEYS: [&str; 5] = ["name", "version", "source", "type", "signatures"];

/// The types of entries that say where a collection is, not what it is called.
const PLACES: [&str; 5] = ["git", "url", "file", "dir", "subdirs"];

struct RequirementsReader<'document> {
    source: &'document Arc<SourceText>,
    record: IndexRecord,
    limits: &'document Limits,
    findings: Vec<Diagnostic>,
}

/// Reads `requirements.yml` as the record of a root without classes. It has the name of the file.
pub fn read_requirements(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<IndexRecord> {
    let read = read_yaml(name, bytes, REQUIREMENTS_FILE, limits);
    let ((source, document), findings) = match read.into_result() {
        Ok(read) => read,
        Err(findings) => return Parsed::new(None, findings),
    };
    let file = name.rsplit('/').next().unwrap_or(name);
    let root = PackageName::native(file)
        .or_else(|_| PackageName::native(REQUIREMENTS_FILE))
        .expect("the usual name of the file is a native name");
    let mut record = IndexRecord::new(root, Version::ZERO).with_classes([]);
    record.ecosystem = ECOSYSTEM;
    let mut reader = RequirementsReader {
        source: &source,
        record,
        limits,
        findings,
    };
    match document
        .as_ref()
        .map(|document| (&document.value, document))
    {
        None => {}
        Some((Value::Sequence(roles), document)) => reader.roles(roles, document.span),
        Some((Value::Mapping(mapping), _)) => reader.file(mapping),
        Some((Value::Scalar(_), document)) => {
            let message = format!(
                "the file is {}, not a mapping with `collections`",
                document.kind()
            );
            reader.error(Code::Field, document.span, message);
        }
    }
    let is_read = !reader.findings.iter().any(Diagnostic::is_error);
    if reader.record.requirements.is_empty() && is_read {
        let message = "the file requires no collection".to_owned();
        let hint = "list them under `collections`, each as `- name: NAMESPACE.NAME`";
        reader.warning(Code::Field, Span::default(), message, Some(hint));
    }
    Parsed::new(Some(reader.record), reader.findings)
}

impl RequirementsReader<'_> {
    fn at(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn error(&mut self, code: Code, span: Span, message: String) {
        let finding = Diagnostic::error(code, message).at(self.at(span));
        self.findings.push(finding);
    }

    fn warning(&mut self, code: Code, span: Span, message: String, hint: Option<&str>) {
        let mut finding = Diagnostic::warning(code, message).at(self.at(span));
        if let Some(hint) = hint {
            finding = finding.hint(hint);
        }
        self.findings.push(finding);
    }

    fn file(&mut self, mapping: &Mapping) {
        for entry in &mapping.entries {
            match (entry.key.text.as_str(), &entry.value.value) {
                (_, Value::Scalar(scalar)) if scalar.is_null() => {}
                ("roles", Value::Sequence(roles)) => self.roles(roles, entry.key_span),
                ("collections", Value::Sequence(collections)) => {
                    if collections.len() > self.limits.requirements {
                        let limit = Limits::exceeded("requirements", self.limits.requirements);
                        self.findings.push(limit.at(self.at(entry.key_span)));
                        return;
                    }
                    for collection in collections {
                        self.collection(collection);
                    }
                }
                (key @ ("roles" | "collections"), _) => {
                    let message = format!("`{key}` is {}, not a list", entry.value.kind());
                    self.error(Code::Field, entry.value.span, message);
                }
                (key, _) => {
                    let shown = Escaped::shortened(key);
                    let message = format!(
                        "unknown key `{shown}`; a requirements file has `collections` and `roles`"
                    );
                    let finding =
                        Diagnostic::error(Code::Field, message).at(self.at(entry.key_span));
                    self.findings
                        .push(match most_similar(key, ["collections", "roles"]) {
                            Some(similar) => finding.hint(format!("did you mean `{similar}`?")),
                            None => finding,
                        });
                }
            }
        }
    }

    /// Reports that roles are left out.
    fn roles(&mut self, roles: &[Node], span: Span) {
        let names: Vec<String> = roles.iter().map(|role| name_of_role(&role.value)).collect();
        if names.is_empty() {
            return;
        }
        let (count, verb) = match names.len() {
            1 => ("a role".to_owned(), "is"),
            count => (format!("{count} roles"), "are"),
        };
        let message = format!(
            "{count} {verb} not locked, because roles have no ranges: {}",
            names.join(", ")
        );
        self.warning(Code::Field, span, message, None);
    }

    fn collection(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) => {
                let text = scalar.text.as_str();
                match text.split_once(':') {
                    Some((name, range)) if guess(text) == "galaxy" => {
                        let message = format!(
                            "`{}` is not the name of a collection: a range after a colon is read on command lines only",
                            Escaped::shortened(text)
                        );
                        let finding = Diagnostic::error(Code::Name, message);
                        let finding = finding.at(self.at(node.span));
                        let range = range.trim();
                        let is_right = package_name(name).is_ok() && range::parse(range).is_ok();
                        self.findings.push(if is_right {
                            finding.hint(format!("write `name: {name}` and `version: \"{range}\"`"))
                        } else {
                            finding
                        });
                    }
                    _ => self.requirement(text, node.span, None, ("*", node.span)),
                }
            }
            Value::Mapping(mapping) => self.entry(node, mapping),
            Value::Sequence(_) => {
                let message = "a collection is a name or a mapping, not a list".to_owned();
                self.error(Code::Field, node.span, message);
            }
        }
    }

    fn entry(&mut self, node: &Node, mapping: &Mapping) {
        for entry in &mapping.entries {
            if !KEYS.contains(&entry.key.text.as_str()) {
                let key = entry.key.text.as_str();
                let message = format!("unknown key `{}`", Escaped::shortened(key));
                let hint = most_similar(key, KEYS.iter().copied())
                    .map(|similar| format!("did you mean `{similar}`?"));
                self.warning(Code::Field, entry.key_span, message, hint.as_deref());
            }
        }
        let kind = self.text(mapping, "type");
        let kind = kind.as_ref().map(|(kind, span)| (kind.as_str(), *span));
        let Some(name) = self.text(mapping, "name") else {
            // For these types, ansible-galaxy takes the source alone.
            let has_place = kind.is_some_and(|(kind, _)| PLACES.contains(&kind));
            match self.text(mapping, "source").filter(|_| has_place) {
                Some((source, span)) => self.requirement(&source, span, kind, ("*", span)),
                None => self.error(Code::Field, node.span, "`name` is missing".to_owned()),
            }
            return;
        };
        if let Some(entry) = present(mapping, "signatures") {
            let message =
                "signatures are not checked; the lockfile has the SHA-256 of each artifact"
                    .to_owned();
            self.warning(Code::Field, entry.key_span, message, None);
        }
        if let Some(entry) = present(mapping, "source")
            && kind.is_none_or(|(kind, _)| kind == "galaxy")
        {
            let message =
                "`source` has no effect: collections come from the registries of the project"
                    .to_owned();
            let hint =
                "`--registry galaxy:URL`, or `namespaces` in pkgres.toml, binds names to a server";
            self.warning(Code::Field, entry.key_span, message, Some(hint));
        }
        let version = self.text(mapping, "version");
        self.number_as_version(mapping);
        let (range, span) = version.unwrap_or(("*".to_owned(), node.span));
        self.requirement(&name.0, name.1, kind, (&range, span));
    }

    /// Warns about a version that other readers take for a number, and so for another version.
    fn number_as_version(&mut self, mapping: &Mapping) {
        let Some(entry) = present(mapping, "version") else {
            return;
        };
        let scalar = entry.value.as_scalar();
        let Some(scalar) = scalar.filter(|scalar| scalar.style == Style::Plain) else {
            return;
        };
        let number = scalar.text.parse::<f64>();
        let Some(number) = number.ok().filter(|_| scalar.text.contains('.')) else {
            return;
        };
        let read = format!("{number:?}");
        if read != scalar.text {
            let text = Escaped::shortened(&scalar.text);
            let message = format!("without quotes, ansible-galaxy reads `{text}` as {read}");
            let hint = format!("write `version: \"{text}\"`");
            self.warning(Code::Spec, entry.value.span, message, Some(&hint));
        }
    }

    /// Adds a requirement. `kind` is the `type` of the entry.
    fn requirement(
        &mut self,
        name: &str,
        span: Span,
        kind: Option<(&str, Span)>,
        (range, range_span): (&str, Span),
    ) {
        let (stated, kind_span) = match kind {
            Some((kind, span)) => (Some(kind), span),
            None => (None, span),
        };
        let shown = Escaped::shortened(name);
        let reason = match stated.unwrap_or_else(|| guess(name)) {
            "galaxy" => None,
            "git" => {
                Some("a git repository has no releases to choose from, and its content can change")
            }
            "url" => Some("an artifact at a URL has no other releases to choose from"),
            "file" | "dir" | "subdirs" => Some("a path on this machine means nothing elsewhere"),
            other => {
                let message = format!("`{}` is not a type of source", Escaped::shortened(other));
                self.error(Code::Field, kind_span, message);
                return;
            }
        };
        if let Some(reason) = reason {
            let kind = stated.unwrap_or_else(|| guess(name));
            let message = format!("`{shown}` cannot be locked from its source, `{kind}`: {reason}");
            let hint = match kind {
                "file" | "dir" | "subdirs" => {
                    "name the folder as a registry: `--registry dir:PATH`, and require the collection by name"
                }
                _ => {
                    "put its artifact into a folder, name that with `--registry dir:PATH`, and require the collection by name"
                }
            };
            let finding = Diagnostic::error(Code::Field, message)
                .at(self.at(span))
                .hint(hint);
            self.findings.push(finding);
            return;
        }
        let package = match package_name(name) {
            Ok(package) => package,
            Err(error) => {
                let message = format!("`{shown}` is not the name of a collection: {error}");
                let finding = Diagnostic::error(Code::Name, message).at(self.at(span));
                self.findings.push(match meant(name) {
                    Some(meant) => finding.hint(format!("write {meant}")),
                    None => finding,
                });
                return;
            }
        };
        match range::parse(range) {
            Ok(spec) => {
                let record = std::mem::replace(
                    &mut self.record,
                    IndexRecord::new(package.clone(), Version::ZERO),
                );
                self.record = add_requirement(record, package, spec, Some(self.at(span)));
            }
            Err(error) => {
                let place = self.at(range_span);
                let mut finding = Diagnostic::error(Code::Spec, error.to_string()).at(place);
                if let Some(suggestion) = error.suggestion {
                    finding = finding.hint(format!("write `{suggestion}`"));
                }
                self.findings.push(finding);
            }
        }
    }

    /// The text and place of a scalar, if it is there.
    fn text(&mut self, mapping: &Mapping, key: &str) -> Option<(String, Span)> {
        let value = &present(mapping, key)?.value;
        if let Some(scalar) = value.as_scalar() {
            return Some((scalar.text.clone(), value.span));
        }
        let message = format!("`{key}` is {}, not a text", value.kind());
        self.error(Code::Field, value.span, message);
        None
    }
}

/// The entry of a key whose value is not null.
fn present<'mapping>(mapping: &'mapping Mapping, key: &str) -> Option<&'mapping Entry> {
    mapping.entry(key).filter(|entry| !entry.value.is_null())
}

/// The type of source that ansible-galaxy takes a name without `type` for.
fn guess(name: &str) -> &'static str {
    let has_scheme = name.starts_with("http://") || name.starts_with("https://");
    let ends_like_git = name.ends_with(".git");
    if name.starts_with("git+") || name.starts_with("git@") || ends_like_git {
        "git"
    } else if has_scheme {
        "url"
    } else if name.ends_with(".tar.gz") {
        "file"
    } else if name.contains('/') {
        "dir"
    } else {
        "galaxy"
    }
}

/// The name of a role as its entry gives it.
fn name_of_role(role: &Value) -> String {
    let text = |node: &Node| node.as_scalar().map(|scalar| scalar.text.clone());
    let name = match role {
        Value::Scalar(scalar) => Some(scalar.text.clone()),
        Value::Mapping(mapping) => ["name", "src", "role", "include"]
            .iter()
            .find_map(|key| mapping.get(key).and_then(text)),
        Value::Sequence(_) => None,
    };
    let name = name.unwrap_or_else(|| "?".to_owned());
    Escaped::shortened(&name).to_string()
}

/// Suggests what to write in place of a text that is not the name of a collection: a name and a range, or a similar name.
fn meant(text: &str) -> Option<String> {
    if let Some(end) = text.find([':', '@', ' ', '=', '>', '<']) {
        let (name, range) = text.split_at(end);
        let range = range.trim_start_matches([':', '@', ' ']).trim();
        let is_right = package_name(name).is_ok() && range::parse(range).is_ok();
        return is_right.then(|| format!("`name: {name}` and `version: \"{range}\"`"));
    }
    let name = nearest_name(text).filter(|name| package_name(name).is_ok())?;
    Some(format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed<IndexRecord> {
        read_requirements("play/requirements.yml", text.as_bytes(), &Limits::default())
    }

    fn findings(text: &str) -> String {
        read(text)
            .diagnostics()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn collections_are_requirements() {
        let text = "collections:\n  - acme.net\n  - name: acme.db\n    version: \"1.10\"\n  - name: acme.db\n    version: '>=1'\n  - name: acme.any\n    version: null\n    type: galaxy\n";
        let (record, findings) = read(text).into_result().expect("it is right");
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(
            record.to_line(),
            r#"{"ecosystem":"ansible","name":"requirements.yml","version":"0.0.0","require":[["acme.net","*"],["acme.db","1.10,>=1"],["acme.any","*"]],"classes":{}}"#
        );
    }

    #[test]
    fn what_cannot_be_locked_is_named_with_the_reason() {
        insta::assert_snapshot!(findings(
            "roles:\n  - geerlingguy.nginx\n  - src: https://example.com/role.git\n    name: mine\n"
        ));
        insta::assert_snapshot!(findings("- one\n"));
        let reason = "cannot be locked from its source, `dir`: a path on this machine means nothing elsewhere";
        let found = findings("collections:\n  - source: ./a\n    type: dir\n  - source: hub\n");
        let found: Vec<&str> = found.lines().collect();
        assert!(
            found[0].starts_with("play/requirements.yml:2:13: error[PK0007]: `./a` ")
                && found[0].contains(reason),
            "{found:?}"
        );
        assert!(found[1].ends_with("`name` is missing"), "{found:?}");
        insta::assert_snapshot!(findings(
            "collections:\n  - git+https://example.com/a.git\n  - https://example.com/a-b-1.0.0.tar.gz\n  - ./a-b-1.0.0.tar.gz\n  - {name: /srv/a, type: subdirs}\n  - {name: a.b, source: hub, signatures: [x]}\n"
        ));
        insta::assert_snapshot!(findings(
            "collections:\n  - {name: a.b, version: ~=1.0}\n  - {name: a.b, type: svn}\n  - {version: 1.0.0}\n  - [a.b]\n  - {name: [a]}\n  - nodots\nplugins: []\n"
        ));
        insta::assert_snapshot!(findings("text"));
        insta::assert_snapshot!(findings(
            "collections:\n  - acme.web:1.0.0\n  - name: acme.db\n    version: 1.10\n  - {name: a.b, version: 2.0}\n"
        ));
    }
}
