//! The reader of NodeSet files.
//!
//! One pass over the tags of the document, which skips whatever says nothing about models and types. Texts of attributes
//! stay in the document until the end; names of reference types and data types, which come thousands of times, are
//! resolved once ([`NodeSetReader::reference_types`], [`NodeSetReader::data_types`]).

mod models;
mod nodes;

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use rustc_hash::FxHashMap;

use super::document::{Document, Problem, Tag, Token};
use super::node_id::{Namespace, NodeId, UA_NAMESPACE};
use super::nodeset::{Model, NodeSet, NodeType, NodeUse, Role, TypeKind, TypeReference};

/// The XML namespace of NodeSet files.
const NODE_SET_NAMESPACE: &str = "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd";
/// The name of their root element.
const ROOT: &str = "UANodeSet";
/// The size of the largest file that is read, in bytes. The largest real one has 4 MB.
pub(super) const MAX_BYTES: u64 = 32 << 20;
/// The most nested elements. Real files have 10.
const MAX_DEPTH: usize = 64;
/// The most URIs, models and requirements of a file.
const MAX_ENTRIES: usize = 1_000;

const HAS_TYPE_DEFINITION: u32 = 40;
const HAS_SUBTYPE: u32 = 45;
const HAS_INTERFACE: u32 = 17603;

/// Reads a NodeSet file. `name` is its name in findings.
///
/// The file can be without models: then it is part of a model, or older than models are, and no release.
pub fn read_node_set(name: &str, bytes: &[u8]) -> Parsed<NodeSet> {
    let failed = |code, message: String| {
        let source = SourceText::new(name, "");
        let place = Location::new(&source, Span::default());
        Parsed::failed(Diagnostic::error(code, message).at(place))
    };
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("more than the limit of {MAX_BYTES} bytes in a NodeSet file");
        return failed(Code::Limit, message);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return failed(Code::Encoding, "the file is not UTF-8 text".to_owned());
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = NodeSetReader::new(name, text);
    if let Err(problem) = reader.read() {
        reader.report(problem);
    }
    reader.finish()
}

/// Whether a text begins like a NodeSet file: with the root element, or with comments that may end before it.
pub(super) fn begins_like_node_set(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = valid.strip_prefix('\u{feff}').unwrap_or(valid);
    let mut document = Document::new(text, MAX_DEPTH);
    let is_cut = bytes.len() >= RECOGNIZED_BYTES;
    loop {
        match document.next() {
            Ok(Token::Open(tag)) => return local_name(tag.name()) == ROOT,
            Ok(Token::Text(_)) => {}
            // What is cut off may have it.
            Ok(Token::Close | Token::End) | Err(_) => {
                return is_cut && text.trim_start().starts_with('<');
            }
        }
    }
}

/// The bytes of a file that are enough to recognize it.
const RECOGNIZED_BYTES: usize = 4096;

fn local_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The state of reading a file.
struct NodeSetReader<'text> {
    name: &'text str,
    text: &'text str,
    document: Document<'text>,
    source: OnceLock<Arc<SourceText>>,
    findings: Vec<Diagnostic>,
    /// The prefix of the names of elements, with its colon.
    prefix: String,
    /// The namespaces by their indexes.
    namespaces: Vec<Cow<'text, str>>,
    aliases: FxHashMap<Cow<'text, str>, NodeId<'text>>,
    models: Vec<Model>,
    types: Vec<TypeNode<'text>>,
    /// The types by their ids.
    type_numbers: FxHashMap<NodeId<'text>, usize>,
    /// Supertypes and interfaces that are stated at the other end.
    stated_elsewhere: Vec<(NodeId<'text>, Edge<'text>)>,
    reference_types: FxHashMap<&'text str, ReferenceType<'text>>,
    data_types: FxHashMap<&'text str, DataType<'text>>,
    /// The types that nodes use which are no types, with the namespaces of these nodes.
    uses: FxHashMap<(u16, Role, NodeId<'text>), Span>,
}

/// A type, as far as it was read.
struct TypeNode<'text> {
    id: NodeId<'text>,
    kind: TypeKind,
    browse_name: Cow<'text, str>,
    extends: Vec<Edge<'text>>,
    uses: Vec<(Role, NodeId<'text>, Span)>,
    span: Span,
}

/// A supertype, or an interface.
struct Edge<'text> {
    target: NodeId<'text>,
    is_interface: bool,
    span: Span,
}

/// The meaning of a `ReferenceType`.
struct ReferenceType<'text> {
    id: Option<NodeId<'text>>,
    kind: ReferenceKind,
    /// The namespace of the last node whose use of it was recorded.
    recorded_for: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReferenceKind {
    Subtype,
    Interface,
    TypeDefinition,
    Other,
}

/// The meaning of a `DataType`.
struct DataType<'text> {
    id: Option<NodeId<'text>>,
    recorded_for: Option<u16>,
}

/// The node whose elements are being read.
#[derive(Clone, Copy)]
struct Node {
    /// The number of the type, if it is one.
    type_number: Option<usize>,
    namespace: u16,
}

impl<'text> NodeSetReader<'text> {
    fn new(name: &'text str, text: &'text str) -> Self {
        Self {
            name,
            text,
            document: Document::new(text, MAX_DEPTH),
            source: OnceLock::new(),
            findings: Vec::new(),
            prefix: String::new(),
            namespaces: vec![Cow::Borrowed(UA_NAMESPACE)],
            aliases: FxHashMap::default(),
            models: Vec::new(),
            types: Vec::new(),
            type_numbers: FxHashMap::default(),
            stated_elsewhere: Vec::new(),
            reference_types: FxHashMap::default(),
            data_types: FxHashMap::default(),
            uses: FxHashMap::default(),
        }
    }

    fn locate(&self, span: Span) -> Location {
        let source = self
            .source
            .get_or_init(|| SourceText::new(self.name, self.text));
        Location::new(source, span)
    }

    fn report(&mut self, problem: Problem) {
        let error = Diagnostic::error(problem.code, problem.message).at(self.locate(problem.span));
        self.findings.push(error);
    }

    fn error(&mut self, span: Span, message: String) {
        let error = Diagnostic::error(Code::Field, message).at(self.locate(span));
        self.findings.push(error);
    }

    fn warn(&mut self, span: Span, message: String) {
        let warning = Diagnostic::warning(Code::Field, message).at(self.locate(span));
        self.findings.push(warning);
    }

    /// Reads the document. The error is the one that ends it.
    fn read(&mut self) -> Result<(), Problem> {
        let root = loop {
            match self.document.next()? {
                Token::Open(tag) => break tag,
                Token::Text(text) if text.trim().is_empty() => {}
                _ => {
                    return Err(Problem::malformed(
                        "the root element is missing",
                        Span::default(),
                    ));
                }
            }
        };
        self.check_root(root)?;
        let mut rest = Children::of(root);
        while let Some(tag) = rest.next(&mut self.document)? {
            match self.local(tag) {
                "NamespaceUris" => self.namespace_uris(tag)?,
                "Models" => self.models(tag)?,
                "Aliases" => self.aliases(tag)?,
                "UAVariable" | "UAObject" | "UAMethod" | "UAView" => self.node(tag, None)?,
                "UAObjectType" => self.node(tag, Some(TypeKind::ObjectType))?,
                "UAVariableType" => self.node(tag, Some(TypeKind::VariableType))?,
                "UADataType" => self.node(tag, Some(TypeKind::DataType))?,
                "UAReferenceType" => self.node(tag, Some(TypeKind::ReferenceType))?,
                _ => self.document.skip(tag)?,
            }
        }
        loop {
            match self.document.next()? {
                Token::End => return Ok(()),
                Token::Text(text) if text.trim().is_empty() => {}
                _ => {
                    let message = "the document goes on after its root element";
                    return Err(Problem::malformed(message, Span::default()));
                }
            }
        }
    }

    /// Checks that a root element is that of a NodeSet file, and remembers the prefix of names.
    fn check_root(&mut self, root: Tag<'text>) -> Result<(), Problem> {
        let name = root.name();
        let (prefix, declaration) = match name.rsplit_once(':') {
            Some((prefix, _)) => (format!("{prefix}:"), format!("xmlns:{prefix}")),
            None => (String::new(), "xmlns".to_owned()),
        };
        let [namespace] = root.values([&declaration])?;
        let namespace = namespace.map(|value| value.text()).transpose()?;
        if local_name(name) != ROOT || namespace.as_deref() != Some(NODE_SET_NAMESPACE) {
            let message = format!(
                "`{}` is not the root element of a NodeSet file, which is `{ROOT}` of {NODE_SET_NAMESPACE}",
                Escaped::shortened(name)
            );
            return Err(Problem {
                code: Code::Format,
                message,
                span: root.span(),
            });
        }
        self.prefix = prefix;
        Ok(())
    }

    /// The name of an element of NodeSet files; empty for another one.
    fn local(&self, tag: Tag<'text>) -> &'text str {
        tag.name().strip_prefix(&*self.prefix).unwrap_or_default()
    }

    /// The node that a text means: a NodeId, or an alias of one.
    fn resolve(&mut self, text: &str, span: Span) -> Option<NodeId<'text>> {
        let text = text.trim();
        if let Some(id) = self.aliases.get(text) {
            return Some(id.clone());
        }
        NodeId::read(text)?;
        self.node_id(text, span)
    }

    /// Reads a NodeId; after an error it returns `None`.
    fn node_id(&mut self, text: &str, span: Span) -> Option<NodeId<'text>> {
        let text = text.trim();
        let Some(mut id) = NodeId::read(text) else {
            let message = format!(
                "`{}` is not a NodeId such as `ns=1;i=58`",
                Escaped::shortened(text)
            );
            self.error(span, message);
            return None;
        };
        match &id.namespace {
            Namespace::Index(index) if usize::from(*index) >= self.namespaces.len() => {
                let message = format!(
                    "the file has no namespace {index}: the `NamespaceUris` are {}",
                    self.namespaces.len() - 1
                );
                self.error(span, message);
                return None;
            }
            Namespace::Index(_) => {}
            Namespace::Uri(uri) => {
                let uri = uri.clone();
                let Some(index) = self.index_of(&uri) else {
                    let message = format!("more than the limit of {MAX_ENTRIES} namespaces");
                    self.report(Problem {
                        code: Code::Limit,
                        message,
                        span,
                    });
                    return None;
                };
                id.namespace = Namespace::Index(index);
            }
        }
        // Nearly all are numbers, which borrow nothing.
        Some(id.into_owned())
    }

    /// The index of a namespace, which is added if the file does not list it. `None` if it has too many.
    fn index_of(&mut self, uri: &str) -> Option<u16> {
        let known = self.namespaces.iter().position(|known| known == uri);
        if known.is_none() {
            if self.namespaces.len() >= MAX_ENTRIES {
                return None;
            }
            self.namespaces.push(Cow::Owned(uri.to_owned()));
        }
        u16::try_from(known.unwrap_or(self.namespaces.len() - 1)).ok()
    }

    /// The index of the namespace of an id from [`node_id`](Self::node_id), which returns no others.
    fn index(&self, id: &NodeId<'text>) -> u16 {
        match &id.namespace {
            Namespace::Index(index) => *index,
            Namespace::Uri(uri) => {
                let known = self.namespaces.iter().position(|known| known == uri);
                known.and_then(|at| u16::try_from(at).ok()).unwrap_or(0)
            }
        }
    }

    fn uri(&self, id: &NodeId<'text>) -> String {
        self.namespaces[usize::from(self.index(id))].to_string()
    }

    /// The models and types that were read.
    fn finish(mut self) -> Parsed<NodeSet> {
        for (id, edge) in std::mem::take(&mut self.stated_elsewhere) {
            // Types of other models belong to these.
            if let Some(number) = self.type_numbers.get(&id) {
                self.types[*number].extends.push(edge);
            }
        }
        let types = std::mem::take(&mut self.types);
        let types: Vec<NodeType> = types.into_iter().map(|one| self.finish_type(one)).collect();
        let mut uses: Vec<NodeUse> = std::mem::take(&mut self.uses)
            .into_iter()
            .map(|((by, role, target), span)| self.finish_use(by, role, &target, span))
            .filter(|used| used.namespace != used.by)
            .collect();
        uses.sort();
        let failed = self.findings.iter().any(Diagnostic::is_error);
        let node_set = (!failed).then(|| NodeSet {
            models: std::mem::take(&mut self.models),
            types,
            uses,
            source: Arc::clone(self.locate(Span::default()).source()),
        });
        Parsed::new(node_set, self.findings)
    }

    fn finish_type(&self, one: TypeNode<'text>) -> NodeType {
        let references = one.extends.iter().map(|edge| TypeReference {
            namespace: self.uri(&edge.target),
            identifier: edge.target.identifier.to_string(),
            kind: if edge.is_interface {
                TypeKind::ObjectType
            } else {
                one.kind
            },
            is_interface: edge.is_interface,
            span: edge.span,
        });
        let mut extends: Vec<TypeReference> = references.collect();
        // Files repeat references, or state them at both ends.
        extends.sort();
        extends.dedup_by(|next, first| {
            (&next.namespace, &next.identifier, next.kind)
                == (&first.namespace, &first.identifier, first.kind)
        });
        let by = self.index(&one.id);
        let uses = one.uses.into_iter();
        let mut uses: Vec<NodeUse> = uses
            .map(|(role, target, span)| self.finish_use(by, role, &target, span))
            .collect();
        uses.sort();
        uses.dedup_by(|next, first| {
            (next.role, &next.namespace, &next.identifier)
                == (first.role, &first.namespace, &first.identifier)
        });
        NodeType {
            namespace: self.uri(&one.id),
            identifier: one.id.identifier.to_string(),
            kind: one.kind,
            browse_name: one.browse_name.into_owned(),
            extends,
            uses,
            span: one.span,
        }
    }

    fn finish_use(&self, by: u16, role: Role, target: &NodeId<'text>, span: Span) -> NodeUse {
        NodeUse {
            by: self.namespaces[usize::from(by)].to_string(),
            namespace: self.uri(target),
            identifier: target.identifier.to_string(),
            role,
            span,
        }
    }
}

/// The elements in an element.
struct Children {
    is_over: bool,
}

impl Children {
    fn of(parent: Tag<'_>) -> Self {
        Self {
            is_over: parent.is_empty,
        }
    }

    /// The next element, which the caller reads to its end.
    #[inline]
    fn next<'text>(
        &mut self,
        document: &mut Document<'text>,
    ) -> Result<Option<Tag<'text>>, Problem> {
        while !self.is_over {
            match document.next()? {
                Token::Open(tag) => return Ok(Some(tag)),
                Token::Close | Token::End => self.is_over = true,
                Token::Text(_) => {}
            }
        }
        Ok(None)
    }
}

fn limit_entries(count: usize, what: &str, tag: Tag<'_>) -> Result<(), Problem> {
    if count < MAX_ENTRIES {
        return Ok(());
    }
    Err(Problem {
        code: Code::Limit,
        message: format!("more than the limit of {MAX_ENTRIES} {what}"),
        span: tag.span(),
    })
}

/// The reference types that files use by name without an alias.
fn well_known(name: &str) -> Option<NodeId<'static>> {
    let number = match name {
        "HasTypeDefinition" => HAS_TYPE_DEFINITION,
        "HasSubtype" => HAS_SUBTYPE,
        "HasInterface" => HAS_INTERFACE,
        _ => return None,
    };
    Some(NodeId::of_ua(number))
}

fn trimmed(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
