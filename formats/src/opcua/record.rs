//! The models of a NodeSet file as index records.
//!
//! A type has two classes. Others use `URI;i=58`, and people search for it. Subtypes extend `URI;i=58(ObjectType)`: a
//! subtype has the same node class as its supertype, so a type that became another kind of type counts as missing. The
//! first class extends the second classes of its supertypes and interfaces; the second class extends the first.
//!
//! Nodes that are not types also use types. They share the internal class `URI;nodes`, which only uses other classes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Span};
use pkgres_manifest::{
    ClassName, IndexRecord, IndexedClass, NameError, PackageName, Requirement, Shared,
};

use super::ECOSYSTEM;
use super::node_id::package_name;
use super::nodeset::{Model, NodeSet, NodeType, NodeUse, TypeKind};
use super::release::ModelRelease;

/// The identifier of the class of all nodes of a model that are no types.
const NODES: &str = "nodes";

/// How conflicts explain the name of this class.
const NODES_LABEL: &str = "the nodes that are no types";

/// The characters that no name can have, and the one that escapes them.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'@')
    .add(b'"')
    .add(b'\'')
    .add(b'`')
    .add(b'\\')
    .add(b'<')
    .add(b'>')
    .add(b'{')
    .add(b'}')
    .add(b'|')
    .add(b'^')
    .add(b',')
    .add(b'%')
    .add(b'(')
    .add(b')');

/// Returns the class of a type.
pub(super) fn class_name(namespace: &str, identifier: &str) -> Result<ClassName, NameError> {
    ClassName::native(&format!("{namespace};{}", escaped(identifier)))
}

/// Returns the class that subtypes of a type extend.
pub(super) fn extended_name(
    namespace: &str,
    identifier: &str,
    kind: TypeKind,
) -> Result<ClassName, NameError> {
    let identifier = escaped(identifier);
    ClassName::native(&format!("{namespace};{identifier}({})", kind.as_str()))
}

/// Returns the class of a type, if a class is the one that its subtypes extend.
pub(super) fn first_name(class: &ClassName) -> Option<ClassName> {
    let (name, kind) = class.as_str().strip_suffix(')')?.rsplit_once('(')?;
    TypeKind::parse(kind)?;
    ClassName::native(name).ok()
}

/// Returns the class of the nodes of a model that are no types.
pub(super) fn nodes_name(namespace: &str) -> Result<ClassName, NameError> {
    ClassName::native(&format!("{namespace};{NODES}"))
}

/// The namespace, the identifier and the kind in the name of a class. There is no kind in the name that others use.
pub(super) fn parts_of(class: &ClassName) -> Option<(&str, String, Option<TypeKind>)> {
    let name = class.as_str();
    let (name, kind) = match name
        .strip_suffix(')')
        .and_then(|name| name.rsplit_once('('))
    {
        Some((name, kind)) => (name, Some(TypeKind::parse(kind)?)),
        None => (name, None),
    };
    let (namespace, identifier) = super::node_id::split_uri(name)?;
    Some((namespace, unescaped(identifier), kind))
}

/// Writes the bytes that names cannot have as `%` and two digits.
fn escaped(identifier: &str) -> String {
    let mut text = utf8_percent_encode(identifier, ESCAPED).to_string();
    // No name ends with a colon.
    if text.ends_with(':') {
        text.truncate(text.len() - 1);
        text.push_str("%3A");
    }
    text
}

/// The identifier that [`escaped`] wrote.
fn unescaped(text: &str) -> String {
    let bytes = percent_decode_str(text);
    bytes.decode_utf8_lossy().into_owned()
}

/// The classes of a release, as they are collected.
#[derive(Default)]
pub(super) struct Classes {
    classes: Vec<IndexedClass>,
    labels: Vec<(ClassName, Arc<str>)>,
}

impl Classes {
    /// Adds a type: `extends` are the names that supertypes and interfaces are extended by.
    pub(super) fn add(
        &mut self,
        (namespace, identifier, kind): (&str, &str, TypeKind),
        browse_name: &str,
        extends: Vec<ClassName>,
        uses: Vec<ClassName>,
    ) -> Result<(), NameError> {
        let name = class_name(namespace, identifier)?;
        let extended = extended_name(namespace, identifier, kind)?;
        if !browse_name.is_empty() {
            let label: Arc<str> = Arc::from(browse_name);
            self.labels.push((name.clone(), Arc::clone(&label)));
            self.labels.push((extended.clone(), label));
        }
        self.classes.push(IndexedClass {
            name: extended,
            internal: false,
            extends: vec![name.clone()],
            implements: Vec::new(),
            uses: Vec::new(),
        });
        self.classes.push(IndexedClass {
            name,
            internal: false,
            extends,
            implements: Vec::new(),
            uses,
        });
        Ok(())
    }

    /// Adds the uses of nodes that are no types.
    pub(super) fn add_nodes(
        &mut self,
        namespace: &str,
        uses: Vec<ClassName>,
    ) -> Result<(), NameError> {
        if !uses.is_empty() {
            let name = nodes_name(namespace)?;
            self.labels.push((name.clone(), Arc::from(NODES_LABEL)));
            self.classes.push(IndexedClass {
                name,
                internal: true,
                extends: Vec::new(),
                implements: Vec::new(),
                uses,
            });
        }
        Ok(())
    }

    /// Gives a record these classes.
    pub(super) fn finish(mut self, record: &mut IndexRecord) {
        self.classes.sort_by(|one, two| one.name.cmp(&two.name));
        self.classes.dedup_by(|next, first| next.name == first.name);
        self.labels.sort();
        self.labels.dedup_by(|next, first| next.0 == first.0);
        record.classes = Some(self.classes.into());
        record.labels = self.labels.into();
    }
}

/// Returns the record of a release without classes.
pub(super) fn release_record(uri: &PackageName, release: &ModelRelease) -> IndexRecord {
    let mut record = IndexRecord::new(uri.clone(), release.to_version());
    record.ecosystem = ECOSYSTEM;
    record.published = release.published_text();
    record
}

impl NodeSet<'_> {
    /// The records of the models, and warnings about what they do not state. With `locations`, requirements have their
    /// places.
    pub fn records(
        &self,
        locations: bool,
    ) -> Result<(Vec<IndexRecord>, Vec<Diagnostic>), Diagnostic> {
        let mut warnings = self.warn_of_foreign_types();
        let mut records = Vec::with_capacity(self.models.len());
        for model in &self.models {
            records.push(self.record(model, locations, &mut warnings)?);
        }
        Ok((records, warnings))
    }

    fn named<T>(&self, name: Result<T, NameError>, span: Span) -> Result<T, Diagnostic> {
        name.map_err(|error| {
            Diagnostic::error(Code::Name, format!("the id cannot be used: {error}"))
                .at(self.locate(span))
        })
    }

    fn record(
        &self,
        model: &Model,
        locations: bool,
        warnings: &mut Vec<Diagnostic>,
    ) -> Result<IndexRecord, Diagnostic> {
        let uri = self.named(package_name(&model.uri), model.span)?;
        let mut record = release_record(&uri, &model.release);
        let mut requirements = Vec::new();
        let mut require = |uri: &str, release: &ModelRelease, span: Span| {
            requirements.push(Requirement {
                package: self.named(package_name(uri), span)?,
                spec: release.to_spec(),
                location: locations.then(|| self.locate(span)),
            });
            Ok::<_, Diagnostic>(())
        };
        let mut required: BTreeSet<&str> = BTreeSet::from([&*model.uri]);
        for one in &model.required {
            require(&one.uri, &one.release, one.span)?;
            required.insert(&one.uri);
        }
        let mut classes = Classes::default();
        for one in self.types_of(model) {
            let mut extends = Vec::with_capacity(one.extends.len());
            for reference in &one.extends {
                let namespace = self.uri(reference.id.namespace);
                if required.insert(namespace) {
                    warnings.push(self.not_required(model, one, namespace, reference.span));
                    require(namespace, &ModelRelease::default(), reference.span)?;
                }
                let identifier = reference.id.identifier.to_string();
                let name = extended_name(namespace, &identifier, reference.kind);
                extends.push(self.named(name, reference.span)?);
            }
            extends.sort();
            let added = classes.add(
                (&model.uri, &one.id.identifier.to_string(), one.kind),
                &one.browse_name,
                extends,
                self.used_names(one.uses.iter())?,
            );
            self.named(added, one.span)?;
        }
        let uses = self.used_names(self.node_uses_of(model))?;
        let added = classes.add_nodes(&model.uri, uses);
        self.named(added, model.span)?;
        record.requirements = Shared::from(requirements);
        classes.finish(&mut record);
        Ok(record)
    }

    /// The names of the classes that are used, sorted.
    fn used_names<'set>(
        &self,
        uses: impl Iterator<Item = &'set NodeUse<'set>>,
    ) -> Result<Vec<ClassName>, Diagnostic> {
        let names = uses.map(|used| {
            let identifier = used.id.identifier.to_string();
            self.named(
                class_name(self.uri(used.id.namespace), &identifier),
                used.span,
            )
        });
        let names = names.collect::<Result<BTreeSet<_>, _>>()?;
        Ok(names.into_iter().collect())
    }

    /// The warning about a type whose supertype is in a model that is not required.
    fn not_required(
        &self,
        model: &Model,
        one: &NodeType<'_>,
        namespace: &str,
        span: Span,
    ) -> Diagnostic {
        let siblings = self.models.iter();
        let sibling = siblings
            .filter(|other| other.uri == namespace)
            .map(|other| other.release.full_text())
            .next();
        let message = format!(
            "`{}` extends a type of `{}`, which `{}` does not require; {}",
            Escaped::shortened(&one.browse_name),
            Escaped::new(namespace),
            Escaped::new(&model.uri),
            match &sibling {
                Some(release) => format!("{release} is in the same file"),
                None => "any release of it is accepted".to_owned(),
            }
        );
        let finding = Diagnostic::warning(Code::NotRequired, message).at(self.locate(span));
        if sibling.is_some() {
            return finding.hint("add a `RequiredModel` with that release to the `Model`");
        }
        finding.hint(format!(
            "add a `RequiredModel` with the oldest release that has the type to the `Model`{}",
            if namespace == super::node_id::UA_NAMESPACE {
                ", as every model needs OPC UA itself"
            } else {
                ""
            }
        ))
    }

    /// Warnings about types of namespaces that are no models of the file.
    fn warn_of_foreign_types(&self) -> Vec<Diagnostic> {
        let mut first: BTreeMap<&str, &NodeType<'_>> = BTreeMap::new();
        if self.models.is_empty() {
            return Vec::new();
        }
        for one in &self.types {
            let namespace = self.uri(one.id.namespace);
            if !self.models.iter().any(|model| model.uri == namespace) {
                first.entry(namespace).or_insert(one);
            }
        }
        let warnings = first.into_iter().map(|(namespace, one)| {
            let message = format!(
                "`{}` is a type of `{}`, which is not a model of this file; it is ignored",
                Escaped::shortened(&one.browse_name),
                Escaped::new(namespace)
            );
            Diagnostic::warning(Code::Field, message).at(self.locate(one.span))
        });
        warnings.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_escaped_and_read_back() {
        for (identifier, written) in [
            ("s=Pump", "s=Pump"),
            ("s=A B@1", "s=A%20B%401"),
            ("s=100%+5", "s=100%25+5"),
            ("s=a:", "s=a%3A"),
            ("s=\u{fc}\t", "s=%C3%BC%09"),
        ] {
            assert_eq!(escaped(identifier), written);
            assert_eq!(unescaped(written), identifier);
        }
    }

    #[test]
    fn what_is_no_escape_stays_as_it_is() {
        for text in ["a%", "a%4", "a%+5", "a%zz", "a%-1b"] {
            assert_eq!(unescaped(text), text);
        }
    }
}
