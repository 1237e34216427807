//! Reads object models.

mod header;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use self::header::written_text;
use super::{ModelObject, ModelValue, ObjectId, ObjectModel, UntypedPlace, ValueKind};
use crate::diagnostic::{Code, Diagnostic, Escaped, Location, Parsed, SourceText, Span};
use crate::document::{
    Mapping, Node, Scalar, Style, Syntax, Value, decode, parse_json, parse_yaml,
};
use crate::name::PackageName;
use crate::read_options::Limits;
use crate::version::Version;

/// The key of an object's header.
const HEADER: &str = "?";

/// The hint about a document that is not a model.
const EXPECTED: &str = "write an object with a header `?`, or a list of objects";

pub(super) fn read(name: &str, bytes: &[u8], limits: &Limits) -> Parsed<ObjectModel> {
    let source = match decode(name, bytes, "bytes in an object model", limits.model_bytes) {
        Ok(source) => source,
        Err(error) => return Parsed::failed(error),
    };
    let mut diagnostics = Vec::new();
    let Some((root, is_json)) = document(&source, limits, &mut diagnostics) else {
        return Parsed::new(None, diagnostics);
    };
    let mut reader = ModelReader {
        source: &source,
        is_json,
        objects: Vec::new(),
        ids: HashMap::new(),
        by_header: HashMap::new(),
        diagnostics,
    };
    let (is_environment, previous_versions) = reader.model(&root);
    if !is_environment {
        reader.require_objects(&root);
    }
    let ModelReader {
        mut objects,
        ids,
        diagnostics,
        ..
    } = reader;
    let ids: HashMap<String, ValueKind> = (ids.into_iter())
        .map(|(id, written)| (id, written.reference(&source)))
        .collect();
    for object in &mut objects {
        for (_, value) in &mut object.properties {
            link(value, &ids);
        }
    }
    let model = ObjectModel {
        source,
        is_json,
        root,
        objects,
        is_environment,
        previous_versions,
    };
    Parsed::new(Some(model), diagnostics)
}

/// Reads a value in JSON that belongs to an object of a model.
pub(super) fn read_value(
    model: &ObjectModel,
    holder: ObjectId,
    name: &str,
    text: &str,
    limits: &Limits,
) -> Parsed<(ObjectModel, ModelValue)> {
    let source = match decode(
        name,
        text.as_bytes(),
        "bytes in a value",
        limits.model_bytes,
    ) {
        Ok(source) => source,
        Err(error) => return Parsed::failed(error),
    };
    let (root, diagnostics) = match parse_json(&source, Syntax::of_model(limits)).into_result() {
        Ok(read) => read,
        Err(errors) => return Parsed::new(None, errors),
    };
    let mut reader = ModelReader {
        source: &source,
        is_json: true,
        objects: model.objects.clone(),
        ids: HashMap::new(),
        by_header: HashMap::new(),
        diagnostics,
    };
    let mut value = reader.value(&root, Some(holder));
    let mut ids: HashMap<String, ValueKind> = HashMap::new();
    for (number, object) in model.objects.iter().enumerate() {
        let reference = ValueKind::Reference(ObjectId(number));
        ids.extend(object.id.clone().map(|id| (id, reference)));
    }
    let written: Vec<(String, ValueKind)> = (reader.ids.iter())
        .map(|(id, written)| (id.clone(), written.reference(&source)))
        .collect();
    for (id, reference) in written {
        if ids.contains_key(&id) {
            let shown = Escaped::shortened(&id);
            let message = format!("an object of the model has the id `{shown}`, too");
            reader.error(message, root.span);
        }
        ids.insert(id, reference);
    }
    link(&mut value, &ids);
    for object in &mut reader.objects[model.objects.len()..] {
        for (_, value) in &mut object.properties {
            link(value, &ids);
        }
    }
    let extended = ObjectModel {
        objects: reader.objects,
        ..model.clone()
    };
    Parsed::new(Some((extended, value)), reader.diagnostics)
}

/// The document as a tree, and whether it is JSON. A string that begins like JSON can still be YAML.
fn document(
    source: &Arc<SourceText>,
    limits: &Limits,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Node, bool)> {
    let syntax = Syntax::of_model(limits);
    let looks_like_json = source.text().trim_start().starts_with('{');
    let mut json_errors = Vec::new();
    if looks_like_json || source.name().ends_with(".json") {
        match parse_json(source, syntax).into_result() {
            Ok((node, _)) => return Some((node, true)),
            Err(errors) => json_errors = errors,
        }
    }
    let is_syntax = json_errors.iter().all(|error| error.code == Code::Syntax);
    if source.name().ends_with(".json") || !is_syntax {
        diagnostics.extend(json_errors);
        return None;
    }
    let documents = parse_yaml(source, syntax).without_errors(diagnostics)?;
    let mut documents = documents.into_iter();
    match (documents.next(), documents.next()) {
        (Some(node), None) => Some((node, false)),
        (None, _) => {
            let place = Location::new(source, Span::default());
            let finding = Diagnostic::error(Code::Model, "the object model is empty").at(place);
            diagnostics.push(finding.hint(EXPECTED));
            None
        }
        (Some(_), Some(second)) => {
            let message = "an object model must be a single document";
            let place = Location::new(source, second.span);
            diagnostics.push(Diagnostic::error(Code::Model, message).at(place));
            None
        }
    }
}

/// Turns texts that equal an object's id into references. Recursion is bounded by the depth limit.
fn link(value: &mut ModelValue, ids: &HashMap<String, ValueKind>) {
    match &mut value.kind {
        ValueKind::Text(text) => {
            if let Some(reference) = ids.get(text) {
                value.kind = reference.clone();
            }
        }
        ValueKind::Untyped(properties) => {
            for (_, value) in properties {
                link(value, ids);
            }
        }
        ValueKind::List(items) => items.iter_mut().for_each(|item| link(item, ids)),
        ValueKind::Map(entries) => entries.iter_mut().for_each(|(_, value)| link(value, ids)),
        _ => {}
    }
}

struct ModelReader<'source> {
    source: &'source Arc<SourceText>,
    /// Whether the document is JSON, whose numbers differ from those of YAML.
    is_json: bool,
    objects: Vec<ModelObject>,
    /// The objects with an id, where they are written first.
    ids: HashMap<String, Written<'source>>,
    /// The objects by the beginning of their headers.
    by_header: HashMap<usize, ObjectId>,
    diagnostics: Vec<Diagnostic>,
}

/// An object with an id.
#[derive(Debug, Clone, Copy)]
struct Written<'source> {
    node: &'source Node,
    /// `None` if it has no type.
    object: Option<ObjectId>,
    /// The object that it is written in.
    holder: Option<ObjectId>,
}

impl Written<'_> {
    /// The value of its id.
    fn reference(&self, source: &Arc<SourceText>) -> ValueKind {
        match self.object {
            Some(object) => ValueKind::Reference(object),
            None => ValueKind::UntypedReference(UntypedPlace {
                holder: self.holder,
                location: Location::new(source, self.node.span),
            }),
        }
    }
}

impl<'source> ModelReader<'source> {
    fn location(&self, span: Span) -> Location {
        Location::new(self.source, span)
    }

    fn error(&mut self, message: impl Into<String>, span: Span) {
        let location = self.location(span);
        self.diagnostics
            .push(Diagnostic::error(Code::Model, message).at(location));
    }

    fn model(&mut self, root: &'source Node) -> (bool, BTreeMap<PackageName, BTreeSet<Version>>) {
        let Some(mapping) = root.as_mapping() else {
            // A list of objects is a model too.
            if let Some(items) = root.as_sequence() {
                for item in items {
                    self.listed(item);
                }
            } else {
                let kind = root.kind();
                let message =
                    format!("an object model must be an object or a list of objects, not {kind}");
                self.error(message, root.span);
            }
            return (false, BTreeMap::new());
        };
        match mapping.get("Objects") {
            Some(objects) if mapping.get(HEADER).is_none() => {
                self.value(objects, None);
                let table = mapping
                    .get("SystemData")
                    .and_then(Node::as_mapping)
                    .and_then(|data| data.get("Packages"));
                (
                    true,
                    table
                        .map(|table| self.previous_versions(table))
                        .unwrap_or_default(),
                )
            }
            _ => {
                self.value(root, None);
                (false, BTreeMap::new())
            }
        }
    }

    /// Rejects a mapping without any object, such as a manifest: a model without objects has no effect.
    fn require_objects(&mut self, root: &Node) {
        let Some(mapping) = root.as_mapping() else {
            return;
        };
        if mapping.get(HEADER).is_none() && self.objects.is_empty() && self.ids.is_empty() {
            let message = "this is not an object model: nothing in it has a header `?`";
            let first = mapping.entries.first();
            let place = self.location(first.map_or(root.span, |entry| entry.key_span));
            let finding = Diagnostic::error(Code::Model, message).at(place);
            self.diagnostics.push(finding.hint(EXPECTED));
        }
    }

    /// An object of a list at the top. There, writing an object again means nothing.
    fn listed(&mut self, item: &'source Node) {
        let value = self.value(item, None);
        if let (ValueKind::Repeated(object), Some(mapping)) = (value.kind, item.as_mapping()) {
            let first = self.objects[object.0].location.clone();
            let id = self.objects[object.0].id.clone().unwrap_or_default();
            let header = mapping.get(HEADER).map_or(item.span, |header| header.span);
            let message = format!("the object `{}` is listed twice", Escaped::shortened(&id));
            let finding = Diagnostic::warning(Code::Model, message)
                .label(self.location(header), "again here")
                .label(first, "first here")
                .hint("if they are two objects, give each an `id` of its own");
            self.diagnostics.push(finding);
        }
    }

    fn previous_versions(&mut self, table: &Node) -> BTreeMap<PackageName, BTreeSet<Version>> {
        let mut previous_versions = BTreeMap::new();
        if table.is_null() {
            return previous_versions;
        }
        let Some(mapping) = table.as_mapping() else {
            self.error(
                "`Packages` must be a mapping from names to lists of versions",
                table.span,
            );
            return previous_versions;
        };
        for entry in &mapping.entries {
            let name = match PackageName::parse(&entry.key.text) {
                Ok(name) => name,
                Err(error) => {
                    self.error(
                        format!("this is not a package name: {error}"),
                        entry.key_span,
                    );
                    continue;
                }
            };
            let Some(items) = entry.value.as_sequence() else {
                self.error("expected a list of versions", entry.value.span);
                continue;
            };
            let versions: &mut BTreeSet<Version> = previous_versions.entry(name).or_default();
            for item in items {
                match item.as_scalar().map(|scalar| Version::parse(&scalar.text)) {
                    Some(Ok(version)) => {
                        versions.insert(version);
                    }
                    Some(Err(error)) => self.error(error.to_string(), item.span),
                    None => self.error("expected a version", item.span),
                }
            }
        }
        previous_versions
    }

    /// Recursion is bounded by the depth limit on documents.
    fn value(&mut self, node: &'source Node, holder: Option<ObjectId>) -> ModelValue {
        let kind = match &node.value {
            Value::Scalar(scalar) => scalar_kind(scalar, self.is_json),
            Value::Sequence(items) => {
                ValueKind::List(items.iter().map(|item| self.value(item, holder)).collect())
            }
            Value::Mapping(mapping) => match mapping.get(HEADER) {
                Some(header) => self.object(node, mapping, header, holder),
                None => ValueKind::Map(self.entries(mapping, holder)),
            },
        };
        ModelValue {
            kind,
            location: self.location(node.span),
        }
    }

    /// The values of a mapping, without a header.
    fn entries(
        &mut self,
        mapping: &'source Mapping,
        holder: Option<ObjectId>,
    ) -> Vec<(String, ModelValue)> {
        let entries = mapping.entries.iter();
        let values = entries.filter(|entry| entry.key.text != HEADER);
        values
            .map(|entry| (entry.key.text.clone(), self.value(&entry.value, holder)))
            .collect()
    }

    /// Reads an object. The value is null if its header is invalid.
    fn object(
        &mut self,
        node: &'source Node,
        mapping: &'source Mapping,
        header_node: &Node,
        holder: Option<ObjectId>,
    ) -> ValueKind {
        let Some(header) = header_node.as_mapping() else {
            self.error(
                format!("`?` must be a mapping, not {}", header_node.kind()),
                header_node.span,
            );
            return ValueKind::Null;
        };
        let id = written_text(header, "id");
        if let Some(node) = header.get("id").filter(|node| node.as_scalar().is_none()) {
            self.error(format!("`id` must be text, not {}", node.kind()), node.span);
        }
        if let Some(first) = id.and_then(|id| self.ids.get(id)).copied() {
            if self.is_written_again(first.node, node) {
                return match first.object {
                    Some(object) => ValueKind::Repeated(object),
                    None => first.reference(self.source),
                };
            }
            let shown = Escaped::shortened(id.unwrap_or_default());
            let message = format!("two objects have the id `{shown}`, and differ");
            let diagnostic = Diagnostic::error(Code::Model, message)
                .label(self.location(header_node.span), "again here")
                .label(self.location(first.node.span), "first here");
            self.diagnostics.push(diagnostic);
            return ValueKind::Null;
        }
        // Only a contract can name the class instead.
        let is_untyped = holder.is_some() && header.get("type").is_none_or(Node::is_null);
        let object = if is_untyped {
            None
        } else {
            let Some(object) = self.header(header, header_node.span, holder) else {
                return ValueKind::Null;
            };
            let number = ObjectId(self.objects.len());
            self.objects.push(object);
            self.by_header.insert(header_node.span.start, number);
            Some(number)
        };
        if let Some(id) = id {
            let written = Written {
                node,
                object,
                holder,
            };
            self.ids.insert(id.to_owned(), written);
        }
        let properties = self.entries(mapping, object.or(holder));
        match object {
            Some(number) => {
                self.objects[number.0].properties = properties;
                ValueKind::Object(number)
            }
            None => ValueKind::Untyped(properties),
        }
    }

    /// Whether an object is written a second time with the same content. If so, the headers of all objects in
    /// it are noted, so that versions are written into both texts.
    fn is_written_again(&mut self, first: &'source Node, again: &'source Node) -> bool {
        let mut headers = Vec::new();
        if !same_content(first, again, self.is_json, &mut headers) {
            return false;
        }
        for (first, again) in headers {
            let Some(number) = self.by_header.get(&first).copied() else {
                continue;
            };
            let mapping = again.as_mapping().expect("the header of an object is one");
            if let Some(object) = self.header(mapping, again.span, None) {
                self.objects[number.0].repeated_headers.push(object.header);
            }
        }
        true
    }
}

/// Whether two trees have the same content, with the entries of mappings in any order. Collects the headers of
/// the objects in them: where that in the first tree begins, and that in the second.
fn same_content<'node>(
    first: &'node Node,
    again: &'node Node,
    is_json: bool,
    headers: &mut Vec<(usize, &'node Node)>,
) -> bool {
    let mut rest = vec![(first, again)];
    while let Some((first, again)) = rest.pop() {
        match (&first.value, &again.value) {
            (Value::Scalar(one), Value::Scalar(two))
                if scalar_kind(one, is_json) == scalar_kind(two, is_json) => {}
            (Value::Sequence(one), Value::Sequence(two)) if one.len() == two.len() => {
                rest.extend(one.iter().zip(two));
            }
            (Value::Mapping(one), Value::Mapping(two))
                if one.entries.len() == two.entries.len() =>
            {
                let by_key: HashMap<&str, &Node> = (two.entries.iter())
                    .map(|entry| (entry.key.text.as_str(), &entry.value))
                    .collect();
                for entry in &one.entries {
                    let key = entry.key.text.as_str();
                    let Some(other) = by_key.get(key) else {
                        return false;
                    };
                    if key == HEADER {
                        headers.push((entry.value.span.start, other));
                    }
                    rest.push((&entry.value, other));
                }
            }
            _ => return false,
        }
    }
    true
}

/// What a scalar is. The engine reads YAML as YAML 1.1.
fn scalar_kind(scalar: &Scalar, is_json: bool) -> ValueKind {
    if scalar.is_null() {
        return ValueKind::Null;
    }
    let (truth, number) = if is_json {
        let is_number = scalar.style == Style::Plain && is_number(&scalar.text);
        (scalar.as_bool(), is_number.then(|| scalar.text.clone()))
    } else {
        (scalar.yaml_1_1_bool(), scalar.yaml_1_1_number())
    };
    match (truth, number) {
        (Some(truth), _) => ValueKind::Bool(truth),
        (None, Some(number)) => ValueKind::Number(number),
        (None, None) => ValueKind::Text(scalar.text.clone()),
    }
}

/// Whether JSON reads a plain scalar as a number.
fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.contains(|character: char| character.is_ascii_digit())
        && text.parse::<f64>().is_ok()
}
