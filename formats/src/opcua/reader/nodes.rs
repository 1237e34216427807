//! Reads nodes: types with the types that they extend, and uses of types of other models.

use pkgres_manifest::diagnostic::{Escaped, Span};

use super::super::document::{Problem, Tag};
use super::super::node_id::NodeId;
use super::super::nodeset::{NodeType, NodeUse, Role, TypeKind};
use super::members::MemberReference;
use super::{
    HAS_INTERFACE, HAS_SUBTYPE, HAS_TYPE_DEFINITION, KnownName, KnownReference, Meaning,
    NodeSetReader, ReferenceKind, well_known,
};

/// The node whose elements are being read.
struct Node<'text> {
    namespace: u16,
    /// The type, if it is one.
    as_type: Option<NodeType<'text>>,
}

impl<'text> NodeSetReader<'text> {
    /// Reads a node, which is a type if it has a kind.
    pub(super) fn node(&mut self, tag: Tag<'text>, kind: Option<TypeKind>) -> Result<(), Problem> {
        let [written_id, browse_name, data_type] = self
            .document
            .attributes(tag, ["NodeId", "BrowseName", "DataType"])?;
        let Some(written_id) = written_id else {
            let message = format!("a `{}` without the attribute `NodeId`", self.local(tag));
            self.error(self.document.span(tag.name), message);
            return Ok(());
        };
        let span = self.document.span(written_id);
        let numeric = self.numeric_id(written_id);
        let id = if numeric.is_some() {
            numeric
        } else {
            let written_id = self.document.unescaped(written_id)?;
            self.node_id(&written_id, span)
        };
        let Some(id) = id else {
            return Ok(());
        };
        if let Some(members) = &mut self.members {
            let name = self.document.unescaped(browse_name.unwrap_or_default())?;
            members.enter(id.clone(), &name, span);
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.ids.push(id.clone());
        }
        let mut node = Node {
            namespace: id.namespace,
            as_type: None,
        };
        if let Some(kind) = kind {
            let browse_name = self.document.unescaped(browse_name.unwrap_or_default())?;
            node.as_type = Some(NodeType {
                id,
                kind,
                browse_name,
                extends: Vec::new(),
                uses: Vec::new(),
                span,
            });
        }
        if let Some(data_type) = data_type {
            self.use_data_type(&mut node, data_type)?;
        }
        let mut parts = self.document.children(tag);
        while let Some(tag) = parts.next(&mut self.document)? {
            match self.local(tag) {
                "References" => {
                    let mut references = self.document.children(tag);
                    while let Some(tag) = references.next(&mut self.document)? {
                        if self.local(tag) == "Reference" {
                            self.reference(&mut node, tag)?;
                        }
                    }
                }
                "Definition" => {
                    let mut fields = self.document.children(tag);
                    while let Some(tag) = fields.next(&mut self.document)? {
                        if self.local(tag) == "Field"
                            && let [Some(data_type)] =
                                self.document.attributes(tag, ["DataType"])?
                        {
                            self.use_data_type(&mut node, data_type)?;
                        }
                    }
                }
                _ => {}
            }
        }
        self.types.extend(node.as_type);
        Ok(())
    }

    /// Reads a reference of a node.
    fn reference(&mut self, node: &mut Node<'text>, tag: Tag<'text>) -> Result<(), Problem> {
        let known = match self.references.get(tag.attributes) {
            Some(known) => *known,
            None => match self.look_up_reference(tag)? {
                Some(known) => known,
                None => return Ok(()),
            },
        };
        let attributes = self.document.span(tag.attributes);
        let place = Span {
            start: attributes.start + known.place.start,
            end: attributes.start + known.place.end,
        };
        self.record_name(node, Role::ReferenceType, known.name, place);
        let kind = known.kind;
        if kind == ReferenceKind::Other {
            return Ok(());
        }
        let is_forward = match known.is_forward {
            Ok(is_forward) => is_forward,
            Err(other) => {
                let message = format!(
                    "`IsForward` is `true` or `false`, not `{}`",
                    Escaped::shortened(other)
                );
                self.error(self.document.span(tag.name), message);
                return Ok(());
            }
        };
        // Only what is resolved has to be right.
        if kind == ReferenceKind::TypeDefinition && !is_forward {
            return Ok(());
        }
        let (text, span) = self.document.text_of(tag)?;
        let target = match self.resolve(&text, span) {
            Meaning::Node(target) => target,
            Meaning::Unknown if !matches!(kind, ReferenceKind::OfMembers(_)) => {
                let message = format!(
                    "`{}` is neither a NodeId nor an alias",
                    Escaped::shortened(text.trim())
                );
                self.error(span, message);
                return Ok(());
            }
            Meaning::Unknown | Meaning::Reported => return Ok(()),
        };
        if let ReferenceKind::OfMembers(kind) = kind {
            if let Some(members) = &mut self.members {
                members.add(kind, is_forward, target);
            }
            return Ok(());
        }
        let is_interface = kind == ReferenceKind::Interface;
        match (kind, &mut node.as_type) {
            (ReferenceKind::TypeDefinition, _) => {
                self.record_use(node, Role::TypeDefinition, target, span);
            }
            // An interface knows the types that implement it.
            (ReferenceKind::Interface, _) | (ReferenceKind::Subtype, Some(_))
                if is_forward != is_interface =>
            {
                if let Some(one) = &node.as_type {
                    let reference = (target, one.id.clone(), span, is_interface);
                    self.stated_elsewhere.push(reference);
                }
            }
            (_, Some(one)) => one.extend(target, is_interface, span),
            (ReferenceKind::Interface, None) => {
                self.record_use(node, Role::Interface, target, span);
            }
            _ => {}
        }
        Ok(())
    }

    /// Finds out what the tag of a reference means. `None` if it has no reference type, which is reported.
    fn look_up_reference(
        &mut self,
        tag: Tag<'text>,
    ) -> Result<Option<KnownReference<'text>>, Problem> {
        let [written, is_forward] = self
            .document
            .attributes(tag, ["ReferenceType", "IsForward"])?;
        let Some(written) = written else {
            let message = "a `Reference` without the attribute `ReferenceType`".to_owned();
            self.error(self.document.span(tag.name), message);
            return Ok(None);
        };
        let name = self.number_of(Role::ReferenceType, written)?;
        let start = self.document.span(tag.attributes).start;
        let place = self.document.span(written);
        let known = KnownReference {
            name,
            kind: self.names[name].kind,
            is_forward: match is_forward.map(str::trim) {
                None | Some("true" | "1") => Ok(true),
                Some("false" | "0") => Ok(false),
                Some(other) => Err(other),
            },
            place: Span {
                start: place.start - start,
                end: place.end - start,
            },
        };
        self.references.insert(tag.attributes, known);
        Ok(Some(known))
    }

    /// The number of the name of a reference type or a data type.
    fn number_of(&mut self, role: Role, written: &'text str) -> Result<usize, Problem> {
        if let Some(number) = self.numbers.get(&(role, written)) {
            return Ok(*number);
        }
        let known = self.look_up(role, written)?;
        let number = self.names.len();
        self.names.push(known);
        self.numbers.insert((role, written), number);
        Ok(number)
    }

    /// Records that a node uses the reference type or data type with a name.
    fn record_name(&mut self, node: &mut Node<'text>, role: Role, name: usize, place: Span) {
        let known = &mut self.names[name];
        let is_recorded = if node.as_type.is_some() {
            known.last_type.replace(self.types.len()) == Some(self.types.len())
        } else {
            known.last_namespace.replace(node.namespace) == Some(node.namespace)
        };
        if !is_recorded && let Some(id) = known.id.clone() {
            self.record_use(node, role, id, place);
        }
    }

    /// Records that a node uses a data type.
    fn use_data_type(
        &mut self,
        node: &mut Node<'text>,
        written: &'text str,
    ) -> Result<(), Problem> {
        let name = self.number_of(Role::DataType, written)?;
        self.record_name(node, Role::DataType, name, self.document.span(written));
        Ok(())
    }

    /// Finds out what the name of a reference type or data type means.
    fn look_up(&mut self, role: Role, written: &'text str) -> Result<KnownName<'text>, Problem> {
        let span = self.document.span(written);
        let text = self.document.unescaped(written)?;
        let is_reference = role == Role::ReferenceType;
        let (id, is_reported) = match self.resolve(&text, span) {
            Meaning::Node(id) => (Some(id), false),
            Meaning::Unknown => (well_known(&text).filter(|_| is_reference), false),
            Meaning::Reported => (None, true),
        };
        let is = |number| id == Some(NodeId::of_ua(number));
        let kind = if is(HAS_SUBTYPE) {
            ReferenceKind::Subtype
        } else if is(HAS_INTERFACE) {
            ReferenceKind::Interface
        } else if is(HAS_TYPE_DEFINITION) {
            ReferenceKind::TypeDefinition
        } else if let (Some(_), Some(id)) = (&self.members, &id)
            && let Some(kind) = MemberReference::of(id)
        {
            ReferenceKind::OfMembers(kind)
        } else {
            ReferenceKind::Other
        };
        if id.is_none() && !is_reported {
            let text = Escaped::shortened(&text);
            let message = if is_reference {
                format!(
                    "`{text}` is neither a NodeId nor an alias; references of this type are skipped"
                )
            } else {
                format!("the data type `{text}` is neither a NodeId nor an alias")
            };
            self.warn(span, message);
        }
        Ok(KnownName {
            id,
            kind,
            last_type: None,
            last_namespace: None,
        })
    }

    fn record_use(&mut self, node: &mut Node<'text>, role: Role, id: NodeId<'text>, span: Span) {
        // What a model uses of itself is missing in no other release.
        if id.namespace == node.namespace {
            if let Some(nodes) = &mut self.nodes {
                nodes.uses.entry((role, id)).or_insert(span);
            }
            return;
        }
        let by = node.namespace;
        match &mut node.as_type {
            Some(one) => one.uses.push(NodeUse { by, id, role, span }),
            None => {
                self.uses.entry((by, role, id)).or_insert(span);
            }
        }
    }
}
