//! Reads edges between resources, and the values that resources receive from others.

use std::collections::BTreeMap;

use super::{ResourcesReader, Scope};
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Location, Span};
use crate::document::Node;
use crate::resources::description::{ReceivedProperty, ResourceDescription};
use crate::resources::identity::ResourceId;

/// An output of a resource, as an example.
const SENDER: &str = "{exec:render: stdout}";

impl ResourcesReader<'_> {
    /// A reference to another resource.
    fn reference(
        &mut self,
        text: &str,
        span: Span,
        own: &ResourceId,
        scope: Scope,
    ) -> Option<Located<ResourceId>> {
        match text.parse::<ResourceId>() {
            Ok(id) if id.name().starts_with(' ') => {
                let name = id.name().trim_start();
                let message = format!("the name of a resource cannot begin with a blank: `{id}`");
                let hint = format!(
                    "write it without the blank: `{}:{}`",
                    id.kind(),
                    Escaped::new(name)
                );
                self.nodes.error(message, span).add_hint(hint);
                None
            }
            Ok(id) if id == *own => {
                let message = format!("`{id}` cannot depend on itself");
                self.nodes.error(message, span);
                None
            }
            Ok(id) => {
                self.check_template(text, span, scope);
                Some(self.nodes.located(id, span))
            }
            Err(error) => {
                let hint = "name a resource by kind and name, such as `file:/etc/motd`";
                self.nodes.error(error.to_string(), span).add_hint(hint);
                None
            }
        }
    }

    /// The resources that an edge leads to: one, or a list.
    pub(super) fn edges(
        &mut self,
        node: &Node,
        what: &str,
        own: &ResourceId,
        scope: Scope,
    ) -> Vec<Located<ResourceId>> {
        if node.is_null() {
            return Vec::new();
        }
        let mut edges: Vec<Located<ResourceId>> = Vec::new();
        let mut places: BTreeMap<ResourceId, Location> = BTreeMap::new();
        for item in node.items_or_self() {
            let Some(scalar) = item.as_scalar().filter(|scalar| !scalar.is_null()) else {
                // `[file: /etc/motd]` is a mapping.
                let message = format!("{what} must have strings, not {}", item.kind());
                let hint = "write a resource without a blank, such as `file:/etc/motd`";
                self.nodes.error(message, item.span).add_hint(hint);
                continue;
            };
            let Some(id) = self.reference(&scalar.text, item.span, own, scope) else {
                continue;
            };
            if let Some(first) = places.get(&id.value) {
                let message = format!("`{}` appears twice in {what}", id.value);
                self.nodes.repeated(message, &id.location, first);
                continue;
            }
            places.insert(id.value.clone(), id.location.clone());
            edges.push(id);
        }
        edges
    }

    pub(super) fn receives(
        &mut self,
        node: &Node,
        own: &ResourceId,
        scope: Scope,
    ) -> Vec<ReceivedProperty> {
        if node.is_null() {
            return Vec::new();
        }
        let Some(mapping) = node.as_mapping() else {
            let sender = sender_as_written(node).unwrap_or(SENDER.to_owned());
            let hint =
                format!("write `receives: {{content: {sender}}}` for the property `content`");
            let expected = "a mapping from properties to outputs of resources";
            let finding = self.nodes.wrong_kind("`receives`", expected, node);
            finding.hints = vec![hint];
            return Vec::new();
        };
        let mut received = Vec::with_capacity(mapping.entries.len());
        for entry in &mapping.entries {
            let property = self.property_name(entry);
            let sender = entry.value.as_mapping().map(|from| from.entries.as_slice());
            let Some([from]) = sender else {
                let message = "a received property must name one output of a resource";
                let hint = match sender_as_written(&entry.value) {
                    Some(sender) => format!("write `{sender}`"),
                    None => format!("write the resource and its output, such as `{SENDER}`"),
                };
                self.nodes.error(message, entry.value.span).add_hint(hint);
                continue;
            };
            let sender = self.reference(&from.key.text, from.key_span, own, scope);
            let output = self.nodes.text(&from.value, "an output");
            let output =
                output.map(|output| self.nodes.located(output.text.clone(), from.value.span));
            if let (Some(property), Some(sender), Some(output)) = (property, sender, output) {
                received.push(ReceivedProperty {
                    property,
                    sender,
                    output,
                });
            }
        }
        received
    }

    /// Reports properties that have a value and receive one.
    pub(super) fn check_received(&mut self, resource: &ResourceDescription) {
        for received in &resource.receives {
            let property = &received.property;
            let mut entries = resource.properties.entries().iter();
            if let Some((key, _)) = entries.find(|(key, _)| key.value == property.value) {
                let message = format!("`{}` has a value and receives one", property.value);
                let finding = Diagnostic::error(Code::Resource, message)
                    .label(property.location.clone(), "received here")
                    .label(key.location.clone(), "given here");
                self.nodes.report(finding);
            }
        }
    }
}

/// How an output of a resource is written, if a string seems to mean one: `query:host.stdout`, or only the resource.
fn sender_as_written(node: &Node) -> Option<String> {
    let text = &node.as_scalar()?.text;
    let (id, output) = match text.rsplit_once(['.', ' ']) {
        Some((id, output)) if !output.is_empty() && !output.contains('/') => (id, output),
        _ => (text.as_str(), "stdout"),
    };
    let id: ResourceId = id.trim_end_matches(':').parse().ok()?;
    Some(format!("{{{id}: {}}}", Escaped::shortened(output)))
}
