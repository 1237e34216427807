//! Reads the documents of a class file.

mod members;
mod meta_classes;

use std::collections::HashSet;
use std::sync::Arc;

use self::meta_classes::attachment;
use super::namespaces::{Namespaces, is_engine_name};
use super::{
    ClassDefinition, ClassUsage, Descriptions, MemberUse, MetaAttachment, Method, ObjectCreation,
    Property,
};
use crate::diagnostic::{
    Code, Diagnostic, Escaped, Located, Location, Parsed, SourceText, Span, in_order,
};
use crate::document::{Documents, Entry, Mapping, Node, NodeReader, Syntax, Value, parse_yaml};
use crate::name::{ClassName, PackageName};
use crate::read_options::ReadOptions;
use crate::similar::{did_you_mean, most_similar};

/// The keys that a class can have.
pub(crate) const KNOWN_KEYS: [&str; 12] = [
    "Applies",
    "Cardinality",
    "Extends",
    "Import",
    "Inherited",
    "Meta",
    "Methods",
    "Name",
    "Namespaces",
    "Properties",
    "Usage",
    "Workflow",
];

/// Reads the classes of a file. A document without `Name` defines the classes of `requested` that no other
/// document of the file defines: the reference implementation gives it the name that it looks for.
pub(super) fn parse(
    source: &Arc<SourceText>,
    requested: &[&ClassName],
    options: &ReadOptions,
) -> Parsed<Vec<ClassDefinition>> {
    let syntax = Syntax::of_class_file(&options.limits);
    let Documents {
        nodes,
        readable,
        diagnostics,
    } = parse_yaml(source, syntax);
    let mut reader = ClassFileReader::new(source, Code::ClassFile, &diagnostics, nodes.is_some());
    reader.core.clone_from(&options.core);
    let documents = nodes.unwrap_or(readable);
    let mut classes: Vec<ClassDefinition> = Vec::new();
    let mut unnamed: Option<Unnamed> = None;
    for document in &documents {
        reader.begin_document(document);
        match reader.document(document) {
            None => {}
            Some(Document::Named(class)) => classes.push(class),
            Some(Document::Unnamed(class)) => match &unnamed {
                None => unnamed = Some(class),
                Some(first) => reader.two_without_name(first.beginning, class.beginning),
            },
        }
    }
    if let Some(unnamed) = unnamed {
        let named: HashSet<&ClassName> = classes.iter().map(|class| &class.name.value).collect();
        let unnamed_are: Vec<ClassDefinition> = requested
            .iter()
            .filter(|name| !named.contains(**name))
            .map(|name| unnamed.named(name, reader.nodes.location(unnamed.beginning)))
            .collect();
        if unnamed_are.is_empty() && reader.unreadable_from.is_none() {
            reader.without_name(unnamed.beginning, requested.is_empty());
        }
        classes.extend(unnamed_are);
    }
    for class in &mut classes {
        reader.reject_own_parent(class);
    }
    if let Some(class) = classes.first_mut() {
        class.rejections.append(&mut reader.rejected_file);
    }
    if classes.is_empty() && reader.nodes.findings().is_empty() && diagnostics.is_empty() {
        reader
            .nodes
            .error("the file defines no class", Span::default())
            .add_hint("a class begins with its name: `Name: NAME`");
    }
    let found = reader.nodes.into_findings();
    Parsed::new(Some(classes), in_order(diagnostics, found))
}

/// Why the deployment engine does not load classes with a namespace. An empty prefix of an empty namespace says nothing;
/// some published packages have it.
fn not_loaded(prefix: &str, namespace: &str) -> Option<String> {
    if prefix.is_empty() && !namespace.is_empty() {
        return Some("a namespace has no prefix".to_owned());
    }
    let is_namespace = namespace.is_empty() || namespace.split('.').all(is_engine_name);
    (!is_namespace).then(|| format!("`{}` is not a namespace", Escaped::shortened(namespace)))
}

/// Whether the deployment engine can read a value as a namespace: it is text, or null for the empty one.
fn is_namespace(value: &Node) -> bool {
    value
        .as_scalar()
        .is_some_and(|scalar| scalar.is_null() || scalar.is_text())
}

/// The place of the first error.
fn beginning_of(errors: &[Diagnostic]) -> usize {
    let labels = errors.iter().filter_map(|error| error.labels.first());
    let starts = labels.map(|label| label.location.span().start);
    starts.min().unwrap_or_default()
}

/// What a document of a class file defines.
enum Document {
    Named(ClassDefinition),
    Unnamed(Unnamed),
}

/// A class without a name.
struct Unnamed {
    /// Where its document begins.
    beginning: Span,
    usage: ClassUsage,
    body: ClassBody,
}

/// What a class consists of, except its name and usage.
#[derive(Clone)]
struct ClassBody {
    extends: Vec<Located<ClassName>>,
    uses: Vec<Located<ClassName>>,
    metas: Vec<Located<ClassName>>,
    attachment: MetaAttachment,
    imports: Vec<ClassName>,
    properties: Vec<Property>,
    methods: Vec<Method>,
    member_uses: Vec<MemberUse>,
    creations: Vec<ObjectCreation>,
    unknown_keys: Vec<Located<String>>,
    described_by: Vec<Descriptions>,
    rejections: Vec<Diagnostic>,
}

impl ClassBody {
    fn of_class(self, name: Located<ClassName>, usage: ClassUsage) -> ClassDefinition {
        ClassDefinition {
            name,
            usage,
            extends: self.extends,
            uses: self.uses,
            metas: self.metas,
            attachment: self.attachment,
            imports: self.imports,
            properties: self.properties,
            methods: self.methods,
            member_uses: self.member_uses,
            creations: self.creations,
            unknown_keys: self.unknown_keys,
            described_by: self.described_by,
            rejections: self.rejections,
        }
    }
}

impl Unnamed {
    fn named(&self, name: &ClassName, location: Location) -> ClassDefinition {
        let value = name.clone();
        let name = Located { value, location };
        self.body.clone().of_class(name, self.usage)
    }
}

/// The reader of a file with names that namespaces resolve, arguments and contracts.
pub(crate) struct ClassFileReader<'source> {
    pub(crate) nodes: NodeReader<'source>,
    /// The place of the first syntax error. What seems to be missing may be there.
    unreadable_from: Option<usize>,
    namespaces: Namespaces,
    /// Whether the namespaces were read as a whole.
    is_namespaces_known: bool,
    /// The classes that the current class uses.
    uses: Vec<Located<ClassName>>,
    /// The members that the bodies of the current class use.
    member_uses: Vec<MemberUse>,
    /// The objects that the bodies of the current class create.
    creations: Vec<ObjectCreation>,
    /// The meta classes that describe the current class and its members.
    described_by: Vec<Descriptions>,
    /// Why the deployment engine does not load the current class.
    rejections: Vec<Diagnostic>,
    /// Why it does not resolve names with the current namespaces.
    rejected_namespaces: Vec<Diagnostic>,
    /// The place of the namespaces of the current document, if they are null.
    null_namespaces: Option<Span>,
    /// Why it loads no class of the file.
    rejected_file: Vec<Diagnostic>,
    /// The core library, which class files usually call `std`.
    core: Option<PackageName>,
}

impl<'source> ClassFileReader<'source> {
    /// A reader of a text with these syntax errors. `is_whole` says that all of it can be read. Findings have the
    /// code unless they are about classes.
    pub(crate) fn new(
        source: &'source Arc<SourceText>,
        code: Code,
        errors: &[Diagnostic],
        is_whole: bool,
    ) -> Self {
        Self {
            nodes: NodeReader::partial(source, code, is_whole),
            unreadable_from: (!is_whole).then(|| beginning_of(errors)),
            is_namespaces_known: true,
            namespaces: Namespaces::default(),
            uses: Vec::new(),
            member_uses: Vec::new(),
            creations: Vec::new(),
            described_by: Vec::new(),
            rejections: Vec::new(),
            rejected_namespaces: Vec::new(),
            null_namespaces: None,
            rejected_file: Vec::new(),
            core: None,
        }
    }
}

impl ClassFileReader<'_> {
    /// Notes that the namespaces of the document before this one cannot be taken over.
    fn begin_document(&mut self, document: &Node) {
        if document.is_nothing() {
            return;
        }
        if let Some(span) = self.null_namespaces.take() {
            let message = "`Namespaces` is null, which the deployment engine cannot pass on to the \
                           next document of the file";
            let finding = Diagnostic::error(Code::Namespace, message);
            let finding = finding.at(self.nodes.location(span));
            self.rejected_file
                .push(finding.hint("remove it, or write `Namespaces: {}`"));
        }
        let namespaces = document.as_mapping().and_then(|it| it.get("Namespaces"));
        self.null_namespaces = namespaces.filter(|it| it.is_null()).map(|it| it.span);
    }

    fn document(&mut self, document: &Node) -> Option<Document> {
        if document.is_nothing() {
            return None;
        }
        let mapping = self.nodes.mapping(document, "a class")?;
        let namespaces = mapping.entry("Namespaces");
        self.is_namespaces_known = self.unreadable_from.is_none_or(|unreadable| {
            let after =
                |entry: &&Entry| namespaces.is_some_and(|it| it.end() < entry.key_span.start);
            let next = mapping.entries.iter().find(after);
            next.is_some_and(|next| next.key_span.start < unreadable)
        });
        if let Some(entry) = namespaces {
            self.namespaces(&entry.value);
        }
        if mapping
            .entries
            .iter()
            .all(|entry| entry.key.text == "Namespaces")
        {
            return None;
        }
        let name = mapping.get("Name").filter(|node| !node.is_nothing());
        let name = name.map(|node| self.class_name(node, "`Name`", Code::ClassName));
        let usage = self.usage(mapping);
        let mut members = self.members(mapping);
        if usage == Some(ClassUsage::Meta) {
            self.meta_class(mapping);
            members.rejections.append(&mut self.rejections);
        }
        match name {
            Some(name) => Some(Document::Named(members.of_class(name?, usage?))),
            None => Some(Document::Unnamed(Unnamed {
                beginning: Span {
                    start: document.span.start,
                    end: document.span.start,
                },
                usage: usage?,
                body: members,
            })),
        }
    }

    fn members(&mut self, mapping: &Mapping) -> ClassBody {
        self.uses = Vec::new();
        self.rejections = self.rejected_namespaces.clone();
        let extends = self.extends(mapping);
        self.metas(mapping, "Type");
        let metas = self.uses.clone();
        let before = self.uses.len();
        if let Some(node) = mapping.get("Import") {
            self.imports(node);
        }
        let imports = &self.uses[before..];
        let imports = imports.iter().map(|used| used.value.clone()).collect();
        let properties = self.properties(mapping);
        let methods = self.methods(mapping);
        let unknown_keys = mapping
            .entries
            .iter()
            .filter(|entry| !KNOWN_KEYS.contains(&entry.key.text.as_str()))
            .map(|entry| self.nodes.located(entry.key.text.clone(), entry.key_span))
            .collect();
        let mut seen = HashSet::new();
        self.uses.retain(|used| seen.insert(used.value.clone()));
        ClassBody {
            extends,
            uses: std::mem::take(&mut self.uses),
            metas,
            attachment: attachment(mapping),
            described_by: std::mem::take(&mut self.described_by),
            rejections: std::mem::take(&mut self.rejections),
            imports,
            properties,
            methods,
            member_uses: std::mem::take(&mut self.member_uses),
            creations: std::mem::take(&mut self.creations),
            unknown_keys,
        }
    }

    /// Reports the class without a name that takes no name. If it is unknown which classes the file is for,
    /// it cannot have one.
    fn without_name(&mut self, beginning: Span, is_unknown: bool) {
        if is_unknown {
            self.nodes
                .error_of(Code::ClassName, "the class has no `Name`", beginning);
        } else {
            let message = "the class has no `Name`, and every class that the manifest lists for \
                           this file is defined by another document";
            self.nodes.warning_of(Code::ClassName, message, beginning);
        }
    }

    fn two_without_name(&mut self, first: Span, second: Span) {
        let message = "two classes of the file have no `Name`";
        let finding = Diagnostic::error(Code::ClassName, message)
            .label(self.nodes.location(second), "the second one begins here")
            .label(self.nodes.location(first), "the first one begins here");
        self.nodes.report(finding);
    }

    /// Reports a class that extends itself.
    fn reject_own_parent(&mut self, class: &mut ClassDefinition) {
        let name = &class.name.value;
        if let Some(own) = class.extends.iter().find(|parent| parent.value == *name) {
            let message = format!("`{name}` extends itself");
            let finding = Diagnostic::error(Code::ClassCycle, message).at(own.location.clone());
            self.nodes.report(finding);
            class.extends.retain(|parent| parent.value != *name);
        }
    }

    /// Reads `Namespaces`.
    pub(crate) fn namespaces(&mut self, node: &Node) {
        self.namespaces = Namespaces::default();
        self.rejected_namespaces.clear();
        if node.is_null() {
            return;
        }
        let Some(mapping) = node.as_mapping() else {
            if node.is_nothing() {
                self.reject_namespaces("`Namespaces` must be a mapping", node.span);
                return;
            }
            self.wrong_namespaces(|nodes| {
                nodes.wrong_kind_of(Code::Namespace, "`Namespaces`", "a mapping", node);
            });
            return;
        };
        for Entry {
            key,
            key_span,
            value,
        } in &mapping.entries
        {
            let namespace = if value.is_nothing() {
                ""
            } else if let Some(namespace) = value.as_scalar() {
                namespace.text.as_str()
            } else {
                self.wrong_namespaces(|nodes| {
                    nodes.wrong_kind_of(Code::Namespace, "a namespace", "text", value);
                });
                continue;
            };
            if let Err(message) = self.namespaces.declare(&key.text, namespace) {
                self.wrong_namespaces(|nodes| {
                    nodes.error_of(Code::Namespace, message, *key_span);
                });
            } else if !key.is_text() {
                let shown = Escaped::shortened(&key.text);
                let message = format!("YAML does not read the prefix `{shown}` as text");
                let finding = self.reject_namespaces(message, *key_span);
                finding
                    .hints
                    .push(format!("write it in quotes: `\"{shown}\"`"));
            } else if !is_namespace(value) {
                self.reject_namespaces("a namespace must be text", value.span);
            } else if let Some(message) = not_loaded(&key.text, namespace) {
                self.reject_namespaces(message, value.span);
            }
        }
    }

    /// Notes why the deployment engine does not resolve names with the current namespaces.
    fn reject_namespaces(&mut self, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        let finding = Diagnostic::error(Code::Namespace, message);
        let finding = finding.at(self.nodes.location(span));
        self.rejected_namespaces.push(finding);
        self.rejected_namespaces.last_mut().expect("one was added")
    }

    /// Reports a mistake that has to do with namespaces, unless only a part of them could be read.
    fn wrong_namespaces(&mut self, report: impl FnOnce(&mut NodeReader)) {
        if self.is_namespaces_known {
            report(&mut self.nodes);
        }
    }

    /// The class that a scalar names; `what` is its role in messages.
    pub(crate) fn class_name(
        &mut self,
        node: &Node,
        what: &str,
        code: Code,
    ) -> Option<Located<ClassName>> {
        let Some(scalar) = node.as_scalar().filter(|scalar| !scalar.is_mistakable()) else {
            let found = match node.as_scalar().filter(|scalar| !scalar.is_null()) {
                Some(scalar) => format!("`{}`", Escaped::shortened(&scalar.text)),
                None => node.kind().to_owned(),
            };
            let message = format!("{what} must be a class name, not {found}");
            self.nodes.error_of(code, message, node.span);
            return None;
        };
        match self.namespaces.resolve(&scalar.text) {
            Ok(name) => Some(self.nodes.located(name, node.span)),
            Err(message) => {
                self.unresolved(&scalar.text, message, node.span);
                None
            }
        }
    }

    /// Reports a name that does not resolve, with the prefix that was probably meant.
    fn unresolved(&mut self, written: &str, message: String, span: Span) {
        let prefix = written.split_once(':').map(|(prefix, _)| prefix);
        let similar = prefix.and_then(|prefix| self.namespaces.similar(prefix));
        let namespace = match (&self.core, prefix) {
            (Some(core), Some("std")) => core.as_str(),
            _ => "org.example",
        };
        let hint = match (similar, prefix) {
            (Some(similar), _) => Some(did_you_mean(similar)),
            (None, Some(prefix)) if self.namespaces.could_declare(prefix) => Some(format!(
                "declare it below `Namespaces`, as in `{prefix}: {namespace}`"
            )),
            _ => None,
        };
        self.wrong_namespaces(|nodes| {
            let finding = nodes.error_of(Code::Namespace, message, span);
            finding.hints.extend(hint);
        });
    }

    /// Warns about the keys of a declaration that are probably misspelt, so that the intended ones have no effect.
    /// `owner` says what has them, in messages.
    fn misspelt_keys(&mut self, declaration: &Mapping, known: &[&'static str], owner: &str) {
        for entry in &declaration.entries {
            let key = entry.key.text.as_str();
            if known.contains(&key) {
                continue;
            }
            let missing = known
                .iter()
                .copied()
                .filter(|it| declaration.get(it).is_none());
            if let Some(similar) = most_similar(key, missing) {
                let message = format!("unknown key `{}` in {owner}", Escaped::shortened(key));
                self.nodes
                    .warning_of(Code::UnknownKey, message, entry.key_span)
                    .add_hint(did_you_mean(similar));
            }
        }
    }

    fn usage(&mut self, mapping: &Mapping) -> Option<ClassUsage> {
        let Some(node) = mapping.get("Usage") else {
            return Some(ClassUsage::Class);
        };
        let words = [("Class", ClassUsage::Class), ("Meta", ClassUsage::Meta)];
        self.nodes.word(node, "`Usage`", words)
    }

    fn extends(&mut self, mapping: &Mapping) -> Vec<Located<ClassName>> {
        let Some(node) = mapping.get("Extends").filter(|node| !node.is_nothing()) else {
            return Vec::new();
        };
        let nodes = match &node.value {
            Value::Sequence(items) => items.as_slice(),
            Value::Scalar(_) => std::slice::from_ref(node),
            Value::Mapping(_) => {
                let message =
                    "`Extends` must be a class name or a list of class names, not a mapping";
                self.nodes.error_of(Code::Extends, message, node.span);
                return Vec::new();
            }
        };
        let mut parents: Vec<Located<ClassName>> = Vec::with_capacity(nodes.len());
        let mut seen = HashSet::with_capacity(nodes.len());
        for node in nodes {
            let Some(parent) = self.class_name(node, "a parent", Code::Extends) else {
                continue;
            };
            if seen.insert(parent.value.clone()) {
                parents.push(parent);
            } else {
                let message = format!("`{}` is extended twice", parent.value);
                self.nodes.error_of(Code::Extends, message, node.span);
            }
        }
        parents
    }

    /// Reads `Import`.
    fn imports(&mut self, node: &Node) {
        self.named_classes(node, "Import");
        let items = node.as_sequence().unwrap_or(std::slice::from_ref(node));
        let is_name = |item: &&Node| item.as_scalar().is_some() && !item.is_nothing();
        if let Some(item) = items.iter().find(|item| !is_name(item) && !node.is_null()) {
            let message = "`Import` must be a class name or a list of class names";
            self.reject(Code::ClassFile, message, item.span);
        }
    }

    /// Notes why the deployment engine does not load the current class.
    fn reject(&mut self, code: Code, message: impl Into<String>, span: Span) -> &mut Diagnostic {
        let finding = Diagnostic::error(code, message).at(self.nodes.location(span));
        self.rejections.push(finding);
        self.rejections.last_mut().expect("one was added")
    }

    /// Reads a key whose value has to be one of some words, and rejects any other value; `None` without the key.
    fn one_of(
        &mut self,
        declaration: &Mapping,
        key: &str,
        words: &[&'static str],
        what: &str,
    ) -> Option<String> {
        let node = declaration.get(key).filter(|node| !node.is_nothing())?;
        let written = node.as_scalar().map(|scalar| scalar.text.clone());
        if let Some(known) = written.filter(|written| words.contains(&written.as_str())) {
            return Some(known);
        }
        let shown = match node.as_scalar() {
            Some(scalar) => format!("`{}`", Escaped::shortened(&scalar.text)),
            None => node.kind().to_owned(),
        };
        let similar = node.as_scalar();
        let similar = similar.and_then(|scalar| most_similar(&scalar.text, words.iter().copied()));
        let finding = self.reject(
            Code::PropertyUsage,
            format!("{shown} is not {what}"),
            node.span,
        );
        finding.hints.push(match similar {
            Some(similar) => did_you_mean(similar),
            None => format!("write one of {}", words.join(", ")),
        });
        node.as_scalar().map(|scalar| scalar.text.clone())
    }

    /// Collects the classes of `Import` and `Meta`: a name, a list of names, or mappings from a name to its
    /// properties.
    fn named_classes(&mut self, node: &Node, key: &str) {
        match &node.value {
            _ if node.is_nothing() => {}
            Value::Scalar(_) => {
                let used = self.class_name(node, &format!("`{key}`"), Code::ClassFile);
                self.uses.extend(used);
            }
            Value::Sequence(items) => {
                for item in items {
                    // There is one level of recursion: an item is a name or a mapping of names.
                    match &item.value {
                        Value::Sequence(_) => {
                            let message =
                                format!("`{key}` must be a list of classes, not of lists");
                            self.nodes.error_of(Code::ClassFile, message, item.span);
                        }
                        _ => self.named_classes(item, key),
                    }
                }
            }
            Value::Mapping(mapping) => {
                for entry in &mapping.entries {
                    self.use_written(&entry.key.text, entry.key_span);
                }
            }
        }
    }

    fn use_written(&mut self, written: &str, span: Span) {
        match self.namespaces.resolve(written) {
            Ok(name) => self.uses.push(self.nodes.located(name, span)),
            Err(message) => self.unresolved(written, message, span),
        }
    }
}
