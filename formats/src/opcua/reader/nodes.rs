//! Nodes: types with what they extend, and what nodes use of other models.

use pkgres_manifest::diagnostic::{Escaped, Span};

use super::super::document::{Problem, Tag, Value};
use super::super::node_id::{Namespace, NodeId};
use super::super::nodeset::{Role, TypeKind};
use super::{
    Children, DataType, Edge, HAS_INTERFACE, HAS_SUBTYPE, HAS_TYPE_DEFINITION, Node, NodeSetReader,
    ReferenceKind, ReferenceType, TypeNode, well_known,
};

impl<'text> NodeSetReader<'text> {
    /// Reads a node, which is a type if it has a kind.
    pub(super) fn node(&mut self, tag: Tag<'text>, kind: Option<TypeKind>) -> Result<(), Problem> {
        let [id, browse_name, data_type] = tag.values(["NodeId", "BrowseName", "DataType"])?;
        let Some(id_value) = id else {
            self.error(
                tag.span(),
                format!("a `{}` without the attribute `NodeId`", self.local(tag)),
            );
            return self.document.skip(tag);
        };
        let id_text = id_value.text()?;
        let Some(id) = self.node_id(&id_text, id_value.span) else {
            return self.document.skip(tag);
        };
        let namespace = self.index(&id);
        let mut node = Node {
            type_number: None,
            namespace,
        };
        if let Some(kind) = kind {
            let browse_name = browse_name.map(|value| value.text()).transpose()?;
            node.type_number = Some(self.types.len());
            if self
                .type_numbers
                .insert(id.clone(), self.types.len())
                .is_some()
            {
                let message = format!(
                    "the type `{}` is defined twice",
                    Escaped::shortened(&id_text)
                );
                self.error(id_value.span, message);
            }
            self.types.push(TypeNode {
                id,
                kind,
                browse_name: browse_name.unwrap_or_default(),
                extends: Vec::new(),
                uses: Vec::new(),
                span: id_value.span,
            });
        }
        if let Some(data_type) = data_type {
            self.use_data_type(node, data_type)?;
        }
        let mut rest = Children::of(tag);
        while let Some(tag) = rest.next(&mut self.document)? {
            match self.local(tag) {
                "References" => {
                    let mut references = Children::of(tag);
                    while let Some(tag) = references.next(&mut self.document)? {
                        if self.local(tag) == "Reference" {
                            self.reference(node, tag)?;
                        } else {
                            self.document.skip(tag)?;
                        }
                    }
                }
                "Definition" => {
                    let mut fields = Children::of(tag);
                    while let Some(tag) = fields.next(&mut self.document)? {
                        if self.local(tag) == "Field" {
                            let [data_type] = tag.values(["DataType"])?;
                            if let Some(data_type) = data_type {
                                self.use_data_type(node, data_type)?;
                            }
                        }
                        self.document.skip(tag)?;
                    }
                }
                _ => self.document.skip(tag)?,
            }
        }
        Ok(())
    }

    /// Reads a reference of a node.
    #[inline]
    fn reference(&mut self, node: Node, tag: Tag<'text>) -> Result<(), Problem> {
        let [name, is_forward] = tag.values(["ReferenceType", "IsForward"])?;
        let Some(name) = name else {
            let message = "a `Reference` without the attribute `ReferenceType`".to_owned();
            self.error(tag.span(), message);
            return self.document.skip(tag);
        };
        let kind = self.use_reference_type(node, name)?;
        if kind == ReferenceKind::Other {
            return self.document.skip(tag);
        }
        let is_forward = match is_forward.map(|value| value.raw().trim()) {
            None | Some("true" | "1") => true,
            Some("false" | "0") => false,
            Some(other) => {
                let message = format!(
                    "`IsForward` is `true` or `false`, not `{}`",
                    Escaped::shortened(other)
                );
                self.error(tag.span(), message);
                return self.document.skip(tag);
            }
        };
        let (text, span) = self.document.text_of(tag)?;
        // Only what is resolved has to be right.
        if kind == ReferenceKind::TypeDefinition && !is_forward {
            return Ok(());
        }
        let Some(target) = self.resolve(&text, span) else {
            let message = format!(
                "`{}` is neither a NodeId nor an alias",
                Escaped::shortened(text.trim())
            );
            self.error(span, message);
            return Ok(());
        };
        let is_interface = kind == ReferenceKind::Interface;
        match (kind, node.type_number) {
            (ReferenceKind::TypeDefinition, _) => {
                self.record_use(node, Role::TypeDefinition, target, span);
            }
            // An interface knows the types that implement it.
            (ReferenceKind::Interface, _) | (ReferenceKind::Subtype, Some(_))
                if is_forward != is_interface =>
            {
                if let Some(number) = node.type_number {
                    let edge = Edge {
                        target: self.types[number].id.clone(),
                        is_interface,
                        span,
                    };
                    self.stated_elsewhere.push((target, edge));
                }
            }
            (_, Some(number)) => self.types[number].extends.push(Edge {
                target,
                is_interface,
                span,
            }),
            (ReferenceKind::Interface, None) => {
                self.record_use(node, Role::Interface, target, span);
            }
            _ => {}
        }
        Ok(())
    }

    /// The kind of a reference type. Records that a node uses it.
    #[inline]
    fn use_reference_type(
        &mut self,
        node: Node,
        name: Value<'text>,
    ) -> Result<ReferenceKind, Problem> {
        if !self.reference_types.contains_key(name.raw()) {
            let text = name.text()?;
            let id = self.resolve(&text, name.span).or_else(|| well_known(&text));
            if id.is_none() {
                let message = format!(
                    "`{}` is neither a NodeId nor an alias; references of this type are skipped",
                    Escaped::shortened(&text)
                );
                self.warn(name.span, message);
            }
            let is = |number| id.as_ref().is_some_and(|id| id.is_of_ua(number));
            let kind = if is(HAS_SUBTYPE) {
                ReferenceKind::Subtype
            } else if is(HAS_INTERFACE) {
                ReferenceKind::Interface
            } else if is(HAS_TYPE_DEFINITION) {
                ReferenceKind::TypeDefinition
            } else {
                ReferenceKind::Other
            };
            let entry = ReferenceType {
                id,
                kind,
                recorded_for: None,
            };
            self.reference_types.insert(name.raw(), entry);
        }
        let entry = self.reference_types.get_mut(name.raw());
        let entry = entry.expect("it was inserted if it was absent");
        let kind = entry.kind;
        if let Some(id) = &entry.id
            && (node.type_number.is_some() || entry.recorded_for != Some(node.namespace))
        {
            if node.type_number.is_none() {
                entry.recorded_for = Some(node.namespace);
            }
            let id = id.clone();
            self.record_use(node, Role::ReferenceType, id, name.span);
        }
        Ok(kind)
    }

    /// Records that a node has values of a data type.
    fn use_data_type(&mut self, node: Node, name: Value<'text>) -> Result<(), Problem> {
        if !self.data_types.contains_key(name.raw()) {
            let text = name.text()?;
            let id = self.resolve(&text, name.span);
            if id.is_none() {
                let message = format!(
                    "the data type `{}` is neither a NodeId nor an alias",
                    Escaped::shortened(&text)
                );
                self.warn(name.span, message);
            }
            let entry = DataType {
                id,
                recorded_for: None,
            };
            self.data_types.insert(name.raw(), entry);
        }
        let entry = self.data_types.get_mut(name.raw());
        let entry = entry.expect("it was inserted if it was absent");
        if let Some(id) = &entry.id
            && (node.type_number.is_some() || entry.recorded_for != Some(node.namespace))
        {
            if node.type_number.is_none() {
                entry.recorded_for = Some(node.namespace);
            }
            let id = id.clone();
            self.record_use(node, Role::DataType, id, name.span);
        }
        Ok(())
    }

    fn record_use(&mut self, node: Node, role: Role, target: NodeId<'text>, span: Span) {
        // What a model uses of itself is never missing.
        if target.namespace == Namespace::Index(node.namespace) {
            return;
        }
        match node.type_number {
            Some(number) => self.types[number].uses.push((role, target, span)),
            None => {
                self.uses
                    .entry((node.namespace, role, target))
                    .or_insert(span);
            }
        }
    }
}
