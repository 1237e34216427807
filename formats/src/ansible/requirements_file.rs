//! Reads `requirements.yml`: collections with ranges, and roles, which have none.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Parsed, Span};
use pkgres_manifest::document::{Entry, Mapping, Node, NodeReader, Value, read_yaml};
use pkgres_manifest::{IndexRecord, Limits, PackageName, Requirement, Version, nearest_name};

use super::name::package_name;
use super::plain_number::warn_of_requirement;
use super::range;
use super::record::{ECOSYSTEM, add_requirement, entries_that_matter, without_version};
use crate::format::Root;

/// The name of the file.
pub const REQUIREMENTS_FILE: &str = "requirements.yml";

/// The keys of an entry of `collections`.
const KEYS: [&str; 5] = ["name", "version", "source", "type", "signatures"];

/// The types of entries that say where a collection is, not what it is called.
const PLACES: [&str; 5] = ["git", "url", "file", "dir", "subdirs"];

struct RequirementsReader<'document> {
    nodes: NodeReader<'document>,
    record: IndexRecord,
    /// All entries, in the order of the file.
    entries: Vec<Requirement>,
    limits: &'document Limits,
    /// Whether the file lists roles.
    has_roles: bool,
}

/// Reads `requirements.yml` as a root without classes. It has the name of the file.
pub fn read_requirements(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<Root> {
    let read = read_yaml(name, bytes, REQUIREMENTS_FILE, limits);
    let ((source, document), mut findings) = match read.into_result() {
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
        nodes: NodeReader::new(&source, Code::Field),
        record,
        entries: Vec::new(),
        limits,
        has_roles: false,
    };
    if let Some(document) = &document {
        match &document.value {
            Value::Sequence(roles) => reader.roles(roles, document.span),
            Value::Mapping(mapping) => reader.file(mapping),
            Value::Scalar(_) => {
                let expected = "a mapping with `collections`";
                reader.nodes.wrong_kind("the file", expected, document);
            }
        }
    }
    let entries = reader.repeated_entries();
    let is_read = !reader.nodes.findings().iter().any(Diagnostic::is_error);
    if reader.record.requirements.is_empty() && is_read {
        let is_list = matches!(
            &document,
            Some(Node {
                value: Value::Sequence(_),
                ..
            })
        );
        let hint = if is_list {
            "a list has roles only: write a mapping with `roles` and `collections`"
        } else {
            "list them under `collections`, each as `- name: NAMESPACE.NAME`"
        };
        let message = "the file requires no collection";
        let finding = if reader.has_roles {
            reader.nodes.note(message, Span::default())
        } else {
            reader.nodes.warning(message, Span::default())
        };
        finding.add_hint(hint);
    }
    findings.extend(reader.nodes.into_findings());
    let root = Root {
        record: reader.record,
        extent: None,
        entries,
    };
    Parsed::new(Some(root), findings)
}

impl RequirementsReader<'_> {
    fn file(&mut self, mapping: &Mapping) {
        for entry in &mapping.entries {
            match (entry.key.text.as_str(), &entry.value.value) {
                (_, Value::Scalar(scalar)) if scalar.is_null() => {}
                ("roles", Value::Sequence(roles)) => self.roles(roles, entry.key_span),
                ("collections", Value::Sequence(collections)) => {
                    if collections.len() > self.limits.requirements {
                        let limit = Limits::exceeded("requirements", self.limits.requirements);
                        self.nodes
                            .report(limit.at(self.nodes.location(entry.key_span)));
                        return;
                    }
                    for collection in collections {
                        self.collection(collection);
                    }
                }
                (key @ ("roles" | "collections"), _) => {
                    let what = format!("`{key}`");
                    self.nodes.wrong_kind(&what, "a list", &entry.value);
                }
                _ => {
                    let known = ["collections", "roles"];
                    self.nodes.unknown_key(entry, &known, REQUIREMENTS_FILE);
                }
            }
        }
    }

    /// Reports that roles are left out, and those of files that are included.
    fn roles(&mut self, roles: &[Node], span: Span) {
        let is_file = |role: &&Node| {
            let entry = role.as_mapping();
            entry.is_some_and(|entry| entry.get("include").is_some())
        };
        let (files, roles): (Vec<&Node>, Vec<&Node>) = roles.iter().partition(is_file);
        let names = |nodes: &[&Node]| {
            let names = nodes.iter().map(|node| name_of_role(&node.value));
            names.collect::<Vec<String>>().join(", ")
        };
        let left_out = match (roles.as_slice(), files.as_slice()) {
            ([], []) => return,
            ([_], []) => format!("role {} is", names(&roles)),
            (_, []) => format!("roles {} are", names(&roles)),
            ([], _) => format!("the roles in {} are", names(&files)),
            (_, _) => format!("{} and the roles in {} are", names(&roles), names(&files)),
        };
        self.has_roles = true;
        let message = format!("{left_out} not locked: roles have no version ranges");
        self.nodes.note(message, span);
    }

    fn collection(&mut self, node: &Node) {
        match &node.value {
            Value::Scalar(scalar) if scalar.is_null() => {
                let finding = self.nodes.error("an entry is empty", node.span);
                finding.add_hint("write the name of a collection, or remove the entry");
            }
            Value::Scalar(scalar) => {
                let text = scalar.text.as_str();
                match text.split_once(':') {
                    Some((name, range)) if guessed_source(text) == "galaxy" => {
                        let message = format!(
                            "`{}` is not the name of a collection: a range after a colon is read on command lines only",
                            Escaped::shortened(text)
                        );
                        let range = range.trim();
                        let is_right = package_name(name).is_ok() && range::parse(range).is_ok();
                        let finding = self.nodes.error_of(Code::Name, message, node.span);
                        if is_right {
                            finding.add_hint(format!(
                                "write `name: {name}` and `version: \"{range}\"`"
                            ));
                        }
                    }
                    _ => self.requirement(text, node.span, None, ("*", node.span)),
                }
            }
            Value::Mapping(mapping) => self.entry(node, mapping),
            Value::Sequence(_) => {
                self.nodes
                    .wrong_kind("a collection", "a name or a mapping", node);
            }
        }
    }

    fn entry(&mut self, node: &Node, mapping: &Mapping) {
        self.nodes
            .warn_of_unknown_keys(mapping, &KEYS, "a collection");
        let kind = self.text(mapping, "type");
        let kind = kind.as_ref().map(|(kind, span)| (kind.as_str(), *span));
        let Some(name) = self.text(mapping, "name") else {
            // For these types, ansible-galaxy takes the source alone.
            let has_place = kind.is_some_and(|(kind, _)| PLACES.contains(&kind));
            match self.text(mapping, "source").filter(|_| has_place) {
                Some((source, span)) => self.requirement(&source, span, kind, ("*", span)),
                None => {
                    self.nodes.error("`name` is missing", node.span);
                }
            }
            return;
        };
        if let Some(entry) = present(mapping, "signatures") {
            let message =
                "signatures are not checked; the lockfile has the SHA-256 of each artifact";
            self.nodes.note(message, entry.key_span);
        }
        if let Some(entry) = present(mapping, "source")
            && kind.is_none_or(|(kind, _)| kind == "galaxy")
        {
            let message =
                "`source` has no effect: collections come from the registries of the project";
            let hint =
                "`--registry galaxy:URL`, or `namespaces` in pkgres.toml, binds names to a server";
            self.nodes.note(message, entry.key_span).add_hint(hint);
        }
        let version = self.text(mapping, "version");
        if let Some(entry) = present(mapping, "version") {
            warn_of_requirement(&mut self.nodes, &entry.value);
        }
        let (range, span) = version.unwrap_or(("*".to_owned(), node.span));
        self.requirement(&name.0, name.1, kind, (&range, span));
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
        let kind = stated.unwrap_or_else(|| guessed_source(name));
        if kind != "galaxy" && !PLACES.contains(&kind) {
            let message = format!("`{}` is not a type of source", Escaped::shortened(kind));
            self.nodes.error(message, kind_span);
            return;
        }
        if let Some(reason) = reason_of_source(kind) {
            let message = format!("`{shown}` cannot be locked from its source, `{kind}`: {reason}");
            let hint = match kind {
                "file" | "dir" | "subdirs" => {
                    "name the folder as a registry: `--registry dir:PATH`, and require the collection by name"
                }
                _ => {
                    "put its artifact into a folder, name that with `--registry dir:PATH`, and require the collection by name"
                }
            };
            self.nodes.error(message, span).add_hint(hint);
            return;
        }
        let package = match package_name(name) {
            Ok(package) => package,
            Err(error) => {
                let message = format!("`{shown}` is not the name of a collection: {error}");
                let hint = meant(name).map(|meant| format!("write {meant}"));
                let finding = self.nodes.error_of(Code::Name, message, span);
                finding.hints.extend(hint);
                return;
            }
        };
        if let Some(spec) = range::read(&mut self.nodes, range, range_span) {
            let record = std::mem::replace(
                &mut self.record,
                IndexRecord::new(package.clone(), Version::ZERO),
            );
            let at = self.nodes.location(span);
            self.record = add_requirement(record, package.clone(), spec.clone(), Some(at.clone()));
            self.entries.push(Requirement {
                package,
                spec,
                location: Some(at),
            });
        }
    }

    /// The entries that matter of packages with several. Each requirement gets the place of the first that matters, and
    /// is reported if no version can match it.
    fn repeated_entries(&mut self) -> Vec<Requirement> {
        let mut by_package: BTreeMap<PackageName, Vec<Requirement>> = BTreeMap::new();
        for entry in std::mem::take(&mut self.entries) {
            let package = entry.package.clone();
            by_package.entry(package).or_default().push(entry);
        }
        for entries in by_package.values_mut() {
            *entries = entries_that_matter(std::mem::take(entries));
        }
        self.record.requirements.change(|requirements| {
            for requirement in requirements {
                let mut matter = by_package.get(&requirement.package).into_iter().flatten();
                if let Some(first) = matter.next() {
                    requirement.location.clone_from(&first.location);
                }
            }
        });
        for requirement in &*self.record.requirements {
            let package = &requirement.package;
            let entries = by_package.get(package).into_iter().flatten();
            let places = entries.filter_map(|entry| entry.location.as_ref());
            if let Some(finding) = without_version(&self.record, package, places) {
                self.nodes.report(finding);
            }
        }
        let repeated = by_package.into_values().filter(|entries| entries.len() > 1);
        repeated.flatten().collect()
    }

    /// The text and place of a scalar, if it is there.
    fn text(&mut self, mapping: &Mapping, key: &str) -> Option<(String, Span)> {
        let value = mapping.present(key)?;
        let scalar = self.nodes.text(value, &format!("`{key}`"))?;
        Some((scalar.text.clone(), value.span))
    }
}

/// The entry of a key whose value is not null.
fn present<'mapping>(mapping: &'mapping Mapping, key: &str) -> Option<&'mapping Entry> {
    mapping.entry(key).filter(|entry| !entry.value.is_null())
}

/// Why a collection cannot be locked from a type of source; `None` if it can.
pub(super) fn reason_of_source(kind: &str) -> Option<&'static str> {
    match kind {
        "git" => {
            Some("a git repository has no releases to choose from, and its content can change")
        }
        "url" => Some("an artifact at a URL has no other releases to choose from"),
        "file" | "dir" | "subdirs" => Some("a path on this machine means nothing elsewhere"),
        _ => None,
    }
}

/// The type of source that ansible-galaxy takes a name without `type` for.
pub(super) fn guessed_source(name: &str) -> &'static str {
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
    if let Some(end) = text.find([':', '@', ',', ' ', '=', '>', '<']) {
        let (name, range) = text.split_at(end);
        let range = range.trim_start_matches([':', '@', ',', ' ']).trim();
        let is_right = package_name(name).is_ok() && range::parse(range).is_ok();
        return is_right.then(|| format!("`name: {name}` and `version: \"{range}\"`"));
    }
    // A number is not a misspelt name.
    let is_word = text.contains(|next: char| next.is_ascii_alphabetic());
    let name = nearest_name(text).filter(|name| is_word && package_name(name).is_ok())?;
    Some(format!("`{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Parsed<Root> {
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
        let (root, findings) = read(text).into_result().expect("it is valid");
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(
            root.record.to_line(),
            r#"{"ecosystem":"ansible","name":"requirements.yml","version":"0.0.0","require":[["acme.net","*"],["acme.db","1.10,>=1"],["acme.any","*"]],"classes":{}}"#
        );
    }

    #[test]
    fn ranges_that_exclude_each_other_are_shown_with_both_places() {
        let text =
            "collections:\n- {name: acme.db, version: 1.0.0}\n- {name: acme.db, version: 1.1.0}\n";
        let (_, found) = read(text).into_result().expect("it can be read");
        let [finding] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(finding.code, Code::EmptySpec);
        let lines = finding
            .labels
            .iter()
            .map(|label| label.location.to_string());
        let places: Vec<String> = lines.collect();
        assert!(
            places[0].contains(":3:") && places[1].contains(":2:"),
            "{places:?}"
        );
        assert_eq!(
            finding.message,
            "no version of `acme.db` can match `1.0.0,1.1.0`"
        );
    }

    /// The places of a package that is required several times: the first is that of the requirement.
    #[test]
    fn entries_whose_range_follows_from_others_do_not_matter() {
        for (ranges, lines) in [
            (&[">=1.0.0", "<2.0.0"][..], &[2, 3][..]),
            (&["*", "<2.0.0"], &[3]),
            (&["*", "*"], &[2]),
            (&["<2.0.0", "<2.0.0", "*"], &[2]),
            (&["<3.0.0", ">=1.0.0", "<2.0.0"], &[3, 4]),
            (&[">=1.0.0", "<3.0.0", "<1.0.0"], &[2, 4]),
        ] {
            let entries = ranges.iter();
            let entries = entries.map(|range| format!("- {{name: a.b, version: '{range}'}}\n"));
            let text = format!("collections:\n{}", entries.collect::<String>());
            let (root, _) = read(&text).into_result().expect("it can be read");
            let line = |one: &Requirement| {
                let location = one.location.as_ref();
                location.map(|location| location.position().line)
            };
            let first = line(&root.record.requirements[0]);
            assert_eq!(first, lines.first().copied(), "{ranges:?}");
            let places: Vec<usize> = root.entries.iter().filter_map(line).collect();
            let expected = if lines.len() > 1 { lines } else { &[] };
            assert_eq!(places, expected, "{ranges:?}");
        }
    }

    #[test]
    fn files_of_roles_are_included_and_are_no_roles() {
        let left_out = |text: &str| {
            let found = findings(text);
            let (_, message) = found.lines().next().expect("a finding").split_once("]: ")?;
            Some(message.split_once(" not locked")?.0.to_owned())
        };
        for (roles, expected) in [
            (
                "- acme.nginx\n- include: other.yml\n",
                "acme.nginx and the roles in other.yml are",
            ),
            ("- include: other.yml\n", "the roles in other.yml are"),
            ("- name: acme.nginx\n", "role acme.nginx is"),
        ] {
            assert_eq!(left_out(roles).as_deref(), Some(expected), "{roles}");
        }
    }

    #[test]
    fn hints_name_what_is_meant() {
        for (entry, message, hint) in [
            (
                "- acme.web,1.0.0",
                "`acme.web,1.0.0` is not the name of a collection",
                "write `name: acme.web` and `version: \"1.0.0\"`",
            ),
            (
                "- ",
                "an entry is empty",
                "write the name of a collection, or remove the entry",
            ),
            ("- name: 1.2", "`1.2` is not the name of a collection", ""),
            (
                "- acme.my-web",
                "`acme.my-web` is not the name of a collection",
                "write `acme.my_web`",
            ),
        ] {
            let read = read(&format!("collections:\n{entry}\n"));
            let finding = &read.diagnostics()[0];
            assert!(finding.message.starts_with(message), "{entry}: {finding:?}");
            assert_eq!(finding.hints.join(""), hint, "{entry}");
        }
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
