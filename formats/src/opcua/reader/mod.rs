//! The reader of NodeSet files.
//!
//! It makes one pass over the elements of the document, and skips everything that is not about models and types. Texts
//! of attributes stay in the document; names of reference types and data types, which occur thousands of times, are
//! resolved once ([`NodeSetReader::names`]).

mod members;
mod models;
mod nodes;

use std::borrow::Cow;
use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use rustc_hash::FxHashMap;

use self::members::{MemberReference, Members};
use super::document::{Document, Problem, Tag};
use super::encoding::{MAX_BYTES, declared as declared_encoding};
use super::node_id::{ExpandedNodeId, Identifier, Namespace, NodeId, UA_NAMESPACE, read_numeric};
use super::nodeset::{
    Model, NodeSet, NodeType, NodeUse, OwnNodes, Role, Source, TypeKind, TypeReference,
};
use crate::format::HEAD_BYTES;

/// The XML namespace of NodeSet files.
const NODE_SET_NAMESPACE: &str = "http://opcfoundation.org/UA/2011/03/UANodeSet.xsd";
/// The name of their root element.
const ROOT: &str = "UANodeSet";
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
pub fn read_node_set<'file>(name: &'file str, bytes: &'file [u8]) -> Parsed<NodeSet<'file>> {
    let text = match text_of(name, bytes) {
        Ok(text) => text,
        Err(error) => return Parsed::failed(error),
    };
    let mut reader = NodeSetReader::new(name, text);
    if let Err(problem) = reader.read() {
        reader.report(problem);
    }
    reader.finish()
}

/// Reads a NodeSet file with all of its nodes.
pub(super) fn read_with_nodes<'file>(
    name: &'file str,
    bytes: &'file [u8],
) -> Parsed<(NodeSet<'file>, OwnNodes<'file>)> {
    let text = match text_of(name, bytes) {
        Ok(text) => text,
        Err(error) => return Parsed::failed(error),
    };
    let mut reader = NodeSetReader::new(name, text);
    reader.nodes = Some(Nodes::default());
    if let Err(problem) = reader.read() {
        reader.report(problem);
    }
    let nodes = reader.nodes.take().unwrap_or_default().finish();
    match reader.finish().into_result() {
        Ok((node_set, findings)) => Parsed::new(Some((node_set, nodes)), findings),
        Err(findings) => Parsed::new(None, findings),
    }
}

/// The members of a type that every object of it has, by their paths.
pub(super) type MandatoryMembers = BTreeMap<String, Span>;

/// Reads a NodeSet file with the mandatory members of its types, which are in the order of the types.
pub(super) fn read_with_members<'file>(
    name: &'file str,
    bytes: &'file [u8],
) -> Parsed<(NodeSet<'file>, Vec<MandatoryMembers>)> {
    let text = match text_of(name, bytes) {
        Ok(text) => text,
        Err(error) => return Parsed::failed(error),
    };
    let mut reader = NodeSetReader::new(name, text);
    reader.members = Some(Members::default());
    if let Err(problem) = reader.read() {
        reader.report(problem);
    }
    let members = reader.members.take().unwrap_or_default();
    match reader.finish().into_result() {
        Ok((node_set, findings)) => {
            let mut left = members::MAX_PATH_BYTES;
            let mut mandatory = Vec::with_capacity(node_set.types.len());
            for one in &node_set.types {
                let Some(of_type) = members.mandatory_of(&one.id, &mut left) else {
                    let message = format!(
                        "more than the limit of {} bytes in the paths of mandatory members, at this type",
                        members::MAX_PATH_BYTES
                    );
                    let error = Diagnostic::error(Code::Limit, message);
                    return Parsed::failed(error.at(node_set.locate(one.span)));
                };
                mandatory.push(of_type);
            }
            Parsed::new(Some((node_set, mandatory)), findings)
        }
        Err(findings) => Parsed::new(None, findings),
    }
}

/// The text of a file.
fn text_of<'file>(name: &str, bytes: &'file [u8]) -> Result<&'file str, Diagnostic> {
    let failed = |code, message: String| {
        let source = SourceText::new(name, "");
        let place = Location::new(&source, Span::default());
        Err(Diagnostic::error(code, message).at(place))
    };
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("more than the limit of {MAX_BYTES} bytes in a NodeSet file");
        return failed(Code::Limit, message);
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        let message = match declared_encoding(bytes) {
            Some(name) if name != "utf-8" => {
                let name = Escaped::shortened(&name);
                format!("the file declares the encoding `{name}`, which is not read")
            }
            _ => "the file is not UTF-8 text".to_owned(),
        };
        return failed(Code::Encoding, message);
    };
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a text begins like a NodeSet file: with the root element, or with comments that may end before it.
pub(super) fn begins_like_node_set(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    let text = valid.strip_prefix('\u{feff}').unwrap_or(valid);
    if let Ok(root) = Document::new(text, MAX_DEPTH).root() {
        return local_name(root.name) == ROOT;
    }
    // What is cut off may have it. What cannot be read up to there, such as a document type definition, has to be
    // reported if it is a NodeSet file.
    let is_cut_off = bytes.len() >= HEAD_BYTES;
    text.trim_start().starts_with('<') && (is_cut_off || has_start_of_root(bytes))
}

/// Whether a text that may be no XML has a tag with the name of the root element.
fn has_start_of_root(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, ROOT.as_bytes()).any(|at| {
        let before = &bytes[..at];
        let is_name =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let before = match before.strip_suffix(b":") {
            Some(prefixed) => {
                let length = prefixed
                    .iter()
                    .rev()
                    .take_while(|byte| is_name(byte))
                    .count();
                &prefixed[..prefixed.len() - length]
            }
            None => before,
        };
        let next = bytes.get(at + ROOT.len());
        before.ends_with(b"<") && next.is_none_or(|next| !is_name(next) && *next != b':')
    })
}

fn local_name(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

/// The state of reading a file.
struct NodeSetReader<'text> {
    document: Document<'text>,
    source: Source<'text>,
    findings: Vec<Diagnostic>,
    /// The prefix of the names of elements, with its colon.
    prefix: &'text str,
    /// The namespaces by their indexes.
    namespaces: Vec<Cow<'text, str>>,
    /// How many of them the file lists.
    listed: usize,
    aliases: FxHashMap<Cow<'text, str>, NodeId<'text>>,
    models: Vec<Model>,
    types: Vec<NodeType<'text>>,
    /// Types with a supertype that states it, or with an interface, where the last is true.
    stated_elsewhere: Vec<(NodeId<'text>, NodeId<'text>, Span, bool)>,
    /// What names of reference types and data types mean, as far as they were used.
    names: Vec<KnownName<'text>>,
    /// The numbers of these names.
    numbers: FxHashMap<(Role, &'text str), usize>,
    /// What tags of references mean, by their attributes as written.
    references: FxHashMap<&'text str, KnownReference<'text>>,
    /// The types that nodes use which are no types, with the namespaces of these nodes.
    uses: FxHashMap<(u16, Role, NodeId<'text>), Span>,
    /// The members of nodes, if they are wanted.
    members: Option<Members<'text>>,
    /// All nodes, if they are wanted.
    nodes: Option<Nodes<'text>>,
}

/// The nodes of a file, as they are collected.
#[derive(Default)]
struct Nodes<'text> {
    ids: Vec<NodeId<'text>>,
    /// The uses of types of the own namespace.
    uses: FxHashMap<(Role, NodeId<'text>), Span>,
}

impl<'text> Nodes<'text> {
    fn finish(self) -> OwnNodes<'text> {
        let uses = self.uses.into_iter();
        let uses = uses.map(|((role, id), span)| NodeUse {
            by: id.namespace,
            id,
            role,
            span,
        });
        OwnNodes {
            ids: self.ids,
            uses: uses.collect(),
        }
    }
}

/// What a text means that names a node.
enum Meaning<'text> {
    Node(NodeId<'text>),
    /// Nothing: it is neither a `NodeId` nor an alias.
    Unknown,
    /// Nothing, for a reason that was reported.
    Reported,
}

/// The meaning of a name.
struct KnownName<'text> {
    /// The type; `None` if there is none.
    id: Option<NodeId<'text>>,
    kind: ReferenceKind,
    /// The number of the last type whose use of it was recorded.
    last_type: Option<usize>,
    /// The namespace of the last other node whose use of it was recorded.
    last_namespace: Option<u16>,
}

/// The meaning of the tag of a reference.
#[derive(Clone, Copy)]
struct KnownReference<'text> {
    /// The number of the reference type.
    name: usize,
    kind: ReferenceKind,
    /// The direction; the text where there should be one if it is wrong.
    is_forward: Result<bool, &'text str>,
    /// The place of the name in the attributes.
    place: Span,
}

/// What a reference means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReferenceKind {
    Subtype,
    Interface,
    TypeDefinition,
    /// A member or a modelling rule, if these are wanted.
    OfMembers(MemberReference),
    Other,
}

impl<'text> NodeSetReader<'text> {
    fn new(name: &'text str, text: &'text str) -> Self {
        Self {
            document: Document::new(text, MAX_DEPTH),
            source: Source::new(name, text),
            findings: Vec::new(),
            prefix: "",
            namespaces: vec![Cow::Borrowed(UA_NAMESPACE)],
            listed: 1,
            aliases: FxHashMap::default(),
            models: Vec::new(),
            types: Vec::new(),
            stated_elsewhere: Vec::new(),
            names: Vec::new(),
            numbers: FxHashMap::default(),
            references: FxHashMap::default(),
            uses: FxHashMap::default(),
            members: None,
            nodes: None,
        }
    }

    fn report(&mut self, problem: Problem) {
        let error = Diagnostic::error(problem.code, problem.message);
        self.findings
            .push(error.at(self.source.locate(problem.span)));
    }

    fn error(&mut self, span: Span, message: String) {
        let error = Diagnostic::error(Code::Field, message);
        self.findings.push(error.at(self.source.locate(span)));
    }

    fn warn(&mut self, span: Span, message: String) {
        let warning = Diagnostic::warning(Code::Field, message);
        self.findings.push(warning.at(self.source.locate(span)));
    }

    /// Reads the document. The error is the one that ends it.
    fn read(&mut self) -> Result<(), Problem> {
        self.document.check_characters()?;
        let root = self.document.root()?;
        self.check_root(root)?;
        let mut rest = self.document.children(root);
        // The first of the elements that refer to namespaces, or to aliases.
        let (mut first_use, mut first_node) = (None, None);
        while let Some(tag) = rest.next(&mut self.document)? {
            let name = self.local(tag);
            let too_late = match name {
                "NamespaceUris" => first_use,
                "Aliases" => first_node,
                _ => None,
            };
            if let Some(first) = too_late {
                return Err(self.out_of_order(tag, first));
            }
            if name.starts_with("UA") {
                first_node = first_node.or(Some(name));
            }
            if name.starts_with("UA") || name == "Aliases" {
                first_use = first_use.or(Some(name));
            }
            match name {
                "NamespaceUris" => self.namespace_uris(tag)?,
                "Models" => self.models(tag)?,
                "Aliases" => self.aliases(tag)?,
                "UAVariable" | "UAObject" | "UAMethod" | "UAView" => self.node(tag, None)?,
                "UAObjectType" => self.node(tag, Some(TypeKind::ObjectType))?,
                "UAVariableType" => self.node(tag, Some(TypeKind::VariableType))?,
                "UADataType" => self.node(tag, Some(TypeKind::DataType))?,
                "UAReferenceType" => self.node(tag, Some(TypeKind::ReferenceType))?,
                _ => {}
            }
        }
        self.check_listed();
        self.document.finish()
    }

    /// The error about an element that is in the wrong place: after elements that refer to it. It replaces the errors
    /// about those.
    fn out_of_order(&mut self, tag: Tag<'text>, first: &str) -> Problem {
        self.findings.clear();
        Problem {
            code: Code::Format,
            message: format!("`{}` has to precede `{first}`", self.local(tag)),
            span: self.document.span(tag.name),
        }
    }

    /// Checks that a root element is that of a NodeSet file, and remembers the prefix of names.
    fn check_root(&mut self, root: Tag<'text>) -> Result<(), Problem> {
        let (prefix, local) = root
            .name
            .split_at(root.name.len() - local_name(root.name).len());
        let declaration = match prefix.strip_suffix(':') {
            Some(prefix) => format!("xmlns:{prefix}"),
            None => "xmlns".to_owned(),
        };
        let [namespace] = self.document.attributes(root, [&declaration])?;
        let namespace = namespace.map(|value| self.document.unescaped(value));
        let namespace = namespace.transpose()?;
        if local != ROOT || namespace.as_deref() != Some(NODE_SET_NAMESPACE) {
            let message = match namespace {
                Some(other) if local == ROOT => format!(
                    "`{ROOT}` is in the namespace `{}`, and that of NodeSet files is `{NODE_SET_NAMESPACE}`",
                    Escaped::shortened(&other)
                ),
                None if local == ROOT => format!(
                    "`{ROOT}` has no namespace, and that of NodeSet files is `{NODE_SET_NAMESPACE}`"
                ),
                _ => format!(
                    "`{}` is not the root element of a NodeSet file, which is `{ROOT}` of {NODE_SET_NAMESPACE}",
                    Escaped::shortened(root.name)
                ),
            };
            return Err(Problem {
                code: Code::Format,
                message,
                span: self.document.span(root.name),
            });
        }
        self.prefix = prefix;
        Ok(())
    }

    /// The name of an element of NodeSet files; empty for another one.
    fn local(&self, tag: Tag<'text>) -> &'text str {
        if self.prefix.is_empty() {
            return tag.name;
        }
        tag.name.strip_prefix(self.prefix).unwrap_or_default()
    }

    /// The node that a text means: a NodeId, or an alias of one.
    fn resolve(&mut self, text: &Cow<'text, str>, span: Span) -> Meaning<'text> {
        if let Some(id) = self.numeric_id(text.trim_ascii()) {
            Meaning::Node(id)
        } else if let Some(id) = ExpandedNodeId::read_trimmed(text) {
            let id = self.node_of(id, span);
            id.map_or(Meaning::Reported, Meaning::Node)
        } else {
            let id = self.aliases.get(text.trim_ascii());
            id.cloned().map_or(Meaning::Unknown, Meaning::Node)
        }
    }

    /// Reads a NodeId with a number in a namespace that the file has.
    fn numeric_id(&self, text: &str) -> Option<NodeId<'text>> {
        let (namespace, number) = read_numeric(text)?;
        let is_known = usize::from(namespace) < self.namespaces.len();
        is_known.then_some(NodeId {
            namespace,
            identifier: Identifier::Numeric(number),
        })
    }

    /// Reads a NodeId; after an error it returns `None`.
    fn node_id(&mut self, text: &Cow<'text, str>, span: Span) -> Option<NodeId<'text>> {
        let Some(id) = ExpandedNodeId::read_trimmed(text) else {
            let message = format!(
                "`{}` is not a NodeId such as `ns=1;i=58`",
                Escaped::shortened(text.trim())
            );
            self.error(span, message);
            return None;
        };
        self.node_of(id, span)
    }

    /// The id with the number of its namespace; after an error it returns `None`.
    fn node_of(&mut self, id: ExpandedNodeId<'text>, span: Span) -> Option<NodeId<'text>> {
        let namespace = match id.namespace {
            Namespace::Index(index) if usize::from(index) < self.namespaces.len() => index,
            Namespace::Index(index) => {
                let message = format!(
                    "the file has no namespace {index}: the `NamespaceUris` are {}",
                    self.namespaces.len() - 1
                );
                self.error(span, message);
                return None;
            }
            Namespace::Uri(uri) => {
                let index = self.index_of(uri);
                if index.is_none() {
                    let message = format!("more than the limit of {MAX_ENTRIES} namespaces");
                    self.report(Problem {
                        code: Code::Limit,
                        message,
                        span,
                    });
                }
                index?
            }
        };
        Some(NodeId {
            namespace,
            identifier: id.identifier,
        })
    }

    /// The index of a namespace, which is added if the file does not list it. `None` if it has too many.
    fn index_of(&mut self, uri: Cow<'text, str>) -> Option<u16> {
        let known = self.namespaces.iter().position(|known| *known == uri);
        if known.is_none() {
            if self.namespaces.len() >= MAX_ENTRIES {
                return None;
            }
            self.namespaces.push(uri);
        }
        u16::try_from(known.unwrap_or(self.namespaces.len() - 1)).ok()
    }

    /// The models and types that were read.
    fn finish(mut self) -> Parsed<NodeSet<'text>> {
        self.finish_types();
        let namespaces = self.namespaces;
        let uri = |index: u16| &namespaces[usize::from(index)];
        let uses = self.uses.into_iter();
        let mut uses: Vec<NodeUse<'text>> = uses
            // A file can list a namespace twice.
            .filter(|((by, _, id), _)| uri(id.namespace) != uri(*by))
            .map(|((by, role, id), span)| NodeUse { by, id, role, span })
            .collect();
        uses.sort();
        let failed = self.findings.iter().any(Diagnostic::is_error);
        let node_set = (!failed).then(|| NodeSet {
            models: self.models,
            types: self.types,
            uses,
            source: self.source,
            namespaces,
        });
        Parsed::new(node_set, self.findings)
    }

    /// Gives types what was stated elsewhere, and finds those that are defined twice.
    fn finish_types(&mut self) {
        let mut by_id: Vec<usize> = (0..self.types.len()).collect();
        by_id.sort_by(|one, two| self.types[*one].id.cmp(&self.types[*two].id));
        for pair in by_id.windows(2) {
            let [first, second] = [pair[0], pair[1]].map(|number| &self.types[number]);
            if first.id == second.id {
                let span = second.span;
                let written = &self.source.text[span.start..span.end];
                let message = format!(
                    "the type `{}` is defined twice",
                    Escaped::shortened(written)
                );
                self.error(span, message);
            }
        }
        for (id, target, span, is_interface) in std::mem::take(&mut self.stated_elsewhere) {
            // Types of other models belong to these.
            let known = by_id.binary_search_by(|number| self.types[*number].id.cmp(&id));
            if let Ok(at) = known {
                self.types[by_id[at]].extend(target, is_interface, span);
            }
        }
        let uri = |reference: &TypeReference<'text>| {
            let index = usize::from(reference.id.namespace);
            &*self.namespaces[index]
        };
        for one in &mut self.types {
            // Files repeat references, or state them at both ends. The numbers of namespaces say nothing.
            one.extends
                .sort_by(|one, two| uri(one).cmp(uri(two)).then_with(|| one.cmp(two)));
            one.extends
                .dedup_by(|next, first| (&next.id, next.kind) == (&first.id, first.kind));
            one.uses.sort();
            one.uses
                .dedup_by(|next, first| (next.role, &next.id) == (first.role, &first.id));
        }
    }
}

fn limit_entries(count: usize, what: &str, span: Span) -> Result<(), Problem> {
    if count < MAX_ENTRIES {
        return Ok(());
    }
    Err(Problem {
        code: Code::Limit,
        message: format!("more than the limit of {MAX_ENTRIES} {what}"),
        span,
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
