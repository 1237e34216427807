//! Templates: texts of resources that name values, such as `port=${this.port}`.
//!
//! A value is named as `${this.property}` or `${this.property.part}` for the object that a resource belongs to, or as
//! `${package.name}` or `${package.version}` for the release; `${package.files}` is the folder that has its files on the
//! machine. `$${` is the text `${`. Only scalars can be named. What is filled in is data: it is never read as a template
//! again, and cannot change the structure of the document.

use std::borrow::Cow;

use super::description::{ReceivedProperty, ResourceDescription};
use super::identity::ResourceId;
use super::properties::{Properties, PropertyValue};
use crate::diagnostic::{Code, Diagnostic, Escaped, Located, Location, Parsed, Span};
use crate::read_options::Limits;
use crate::similar::{did_you_mean, most_similar};

/// The values that templates name.
pub trait TemplateValues {
    /// Returns the value of a path such as `this`, `port`. It has at least two parts, the first of which is `this` or
    /// `package`.
    fn value(&self, path: &[&str]) -> TemplateValue<'_>;
}

/// A value that a template names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateValue<'values> {
    /// A scalar.
    Text(Cow<'values, str>),
    /// Something other than a scalar; the text is its kind, such as "a list".
    NotText(&'static str),
    /// A value that this release does not have; the text is why.
    Missing(&'static str),
    /// A property that exists and has no value; the number is that of its part of the path.
    Unset(usize),
    /// Nothing.
    Unknown {
        /// The number of the first part of the path that does not exist.
        part: usize,
        /// What could have been there instead.
        known: Vec<String>,
    },
}

/// A resource whose texts may be templates, as it is written in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceTemplate(pub(super) ResourceDescription);

impl ResourceTemplate {
    /// The identity as written, which may have a template as its name.
    pub fn id(&self) -> &Located<ResourceId> {
        &self.0.id
    }

    /// The resource as written, whose texts may be templates.
    pub fn as_written(&self) -> &ResourceDescription {
        &self.0
    }

    /// Fills in values and returns the resource.
    ///
    /// ```
    /// use pkgres_manifest::{
    ///     Limits, PackageResources, ReadOptions, TemplateValue, TemplateValues,
    /// };
    ///
    /// struct Port;
    ///
    /// impl TemplateValues for Port {
    ///     fn value(&self, path: &[&str]) -> TemplateValue<'_> {
    ///         match path {
    ///             ["this", "port"] => TemplateValue::Text("80 ${this.port}".into()),
    ///             _ => TemplateValue::Unknown { part: 1, known: vec!["port".to_owned()] },
    ///         }
    ///     }
    /// }
    ///
    /// let text = b"Classes: {a.Web: [{file: /etc/web, content: 'port=${this.port} $${HOME}'}]}";
    /// let read = PackageResources::read("resources.yaml", text, &ReadOptions::default());
    /// let (resources, _) = read.into_result().expect("they are right");
    /// let template = &resources.for_classes[0].resources[0];
    /// let (mut resource, _) = template
    ///     .instantiate(&Port, &Limits::default())
    ///     .into_result()
    ///     .expect("there is a port");
    /// // What was filled in is data.
    /// let content = resource.properties.take_required_text("content")?;
    /// assert_eq!(content, "port=80 ${this.port} ${HOME}");
    /// # Ok::<(), pkgres_manifest::PropertyError>(())
    /// ```
    pub fn instantiate(
        &self,
        values: &impl TemplateValues,
        limits: &Limits,
    ) -> Parsed<ResourceDescription> {
        let mut filling = Filling {
            values,
            left: limits.resource_bytes,
            limits,
            findings: Vec::new(),
        };
        let resource = filling.resource(&self.0);
        Parsed::new(resource, filling.findings)
    }
}

/// A part of a template.
pub(super) enum Part<'text> {
    /// A string to copy.
    Text(&'text str),
    /// The path of a value, with its text `${…}`.
    Value {
        /// The parts of the path.
        path: Vec<&'text str>,
        /// As written.
        written: &'text str,
    },
}

/// A string that is no template.
pub(super) struct TemplateError<'text> {
    pub(super) message: String,
    pub(super) hint: Option<String>,
    /// The part of the text that is wrong.
    pub(super) written: &'text str,
}

const ROOTS: [&str; 2] = ["package", "this"];

const OF_PACKAGE: [&str; 3] = ["name", "version", "files"];

/// Splits a string into what is copied and what is filled in.
pub(super) fn parts(text: &str) -> Result<Vec<Part<'_>>, TemplateError<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if let Some(before) = rest[..at].strip_suffix('$') {
            parts.push(Part::Text(before));
            parts.push(Part::Text("${"));
            rest = &rest[at + 2..];
            continue;
        }
        parts.push(Part::Text(&rest[..at]));
        let Some(length) = rest[at..].find('}') else {
            return Err(TemplateError {
                message: "the `}` of a template is missing".to_owned(),
                hint: Some(LITERAL_HINT.to_owned()),
                written: rest[at..].lines().next().unwrap_or("${"),
            });
        };
        let written = &rest[at..=at + length];
        let path = path(&written[2..length], written)?;
        parts.push(Part::Value { path, written });
        rest = &rest[at + length + 1..];
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

const LITERAL_HINT: &str = "write `$${` for the text `${`";

fn path<'text>(
    inner: &'text str,
    written: &'text str,
) -> Result<Vec<&'text str>, TemplateError<'text>> {
    let shown = Escaped::shortened(written).to_string();
    let error = |message: String, hint: String| TemplateError {
        message,
        hint: Some(hint),
        written,
    };
    let path: Vec<&str> = inner.split('.').collect();
    let is_name = |part: &&str| {
        part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && part
                .chars()
                .all(|character| character.is_ascii_alphanumeric() || "_-".contains(character))
    };
    let root = path[0];
    let without_blanks = inner.trim();
    let begins = |name: &str| without_blanks.split('.').next() == Some(name);
    if without_blanks != inner && ROOTS.into_iter().any(begins) {
        let message = format!("the template `{shown}` has blanks");
        return Err(error(message, format!("write `${{{without_blanks}}}`")));
    }
    if !ROOTS.contains(&root) {
        let hint = match most_similar(root, ROOTS) {
            Some(similar) => did_you_mean(similar),
            None => LITERAL_HINT.to_owned(),
        };
        let message = format!("the template `{shown}` must begin with `this.` or `package.`");
        return Err(error(message, hint));
    }
    if path.len() == 1 || !path.iter().all(is_name) {
        let message = format!("the template `{shown}` names no value");
        let hint = "write a name, such as `${this.port}` or `${package.version}`";
        return Err(error(message, hint.to_owned()));
    }
    if root == "package" && !(path.len() == 2 && OF_PACKAGE.contains(&path[1])) {
        let message = format!("the template `{shown}` names no value of a package");
        let hint = "a package has `${package.name}`, `${package.version}` and `${package.files}`";
        return Err(error(message, hint.to_owned()));
    }
    Ok(path)
}

/// The place of a part of a scalar, or that of the scalar if escapes make the part look different there.
pub(super) fn place_of(part: &str, scalar: &Location) -> Location {
    let Span { start, end } = scalar.span();
    let source = scalar.source();
    let found = source.text()[start..end].find(part);
    found.map_or_else(
        || scalar.clone(),
        |at| {
            let start = start + at;
            let end = start + part.len();
            Location::new(source, Span { start, end })
        },
    )
}

/// The filling in of one resource.
struct Filling<'values, Values> {
    values: &'values Values,
    limits: &'values Limits,
    /// The bytes that the texts may still have.
    left: u64,
    findings: Vec<Diagnostic>,
}

impl<Values: TemplateValues> Filling<'_, Values> {
    fn resource(&mut self, written: &ResourceDescription) -> Option<ResourceDescription> {
        let id = self.identity(&written.id);
        let mut properties = Properties::new(written.properties.owner().clone());
        for (key, value) in written.properties.entries() {
            if let Some(filled) = self.value(value) {
                properties.add(key.clone(), filled);
            }
        }
        let edges = [
            &written.after,
            &written.before,
            &written.notifies,
            &written.members,
        ];
        let [after, before, notifies, members] =
            edges.map(|ids| ids.iter().filter_map(|id| self.identity(id)).collect());
        let receives = written.receives.iter().filter_map(|received| {
            Some(ReceivedProperty {
                sender: self.identity(&received.sender)?,
                ..received.clone()
            })
        });
        let receives = receives.collect();
        Some(ResourceDescription {
            id: id?,
            properties,
            meta: written.meta.clone(),
            after,
            before,
            notifies,
            members,
            receives,
        })
    }

    fn identity(&mut self, written: &Located<ResourceId>) -> Option<Located<ResourceId>> {
        let name = self.text(written.value.name(), &written.location)?;
        match ResourceId::new(written.value.kind(), &name) {
            Ok(value) => Some(Located {
                value,
                location: written.location.clone(),
            }),
            Err(error) => {
                self.error(error.to_string(), &written.location);
                None
            }
        }
    }

    fn value(&mut self, written: &Located<PropertyValue>) -> Option<Located<PropertyValue>> {
        let location = &written.location;
        // Nesting is as deep as in the document, which has a limit.
        let value = match &written.value {
            PropertyValue::Text(text) => PropertyValue::Text(self.text(text, location)?),
            PropertyValue::List(items) => {
                PropertyValue::List(items.iter().filter_map(|item| self.value(item)).collect())
            }
            PropertyValue::Mapping(entries) => {
                let entries = entries.iter();
                let filled =
                    entries.filter_map(|(key, value)| Some((key.clone(), self.value(value)?)));
                PropertyValue::Mapping(filled.collect())
            }
        };
        Some(Located {
            value,
            location: location.clone(),
        })
    }

    fn error(&mut self, message: impl Into<String>, location: &Location) {
        let finding = Diagnostic::error(Code::ResourceTemplate, message);
        self.findings.push(finding.at(location.clone()));
    }

    fn text(&mut self, template: &str, location: &Location) -> Option<String> {
        let parts = match parts(template) {
            Ok(parts) => parts,
            Err(error) => {
                self.findings.push(error.into_diagnostic(location));
                return None;
            }
        };
        let mut text = String::new();
        let mut is_filled = true;
        for part in parts {
            let piece = match part {
                Part::Text(text) => Cow::Borrowed(text),
                Part::Value { path, written } => {
                    let value = self.values.value(&path);
                    let place = || place_of(written, location);
                    match value {
                        TemplateValue::Text(text) => text,
                        TemplateValue::NotText(kind) => {
                            let written = Escaped::shortened(written);
                            let message = format!("`{written}` is {kind}, not a scalar");
                            self.error(message, &place());
                            is_filled = false;
                            continue;
                        }
                        TemplateValue::Missing(reason) => {
                            let written = Escaped::shortened(written);
                            self.error(format!("`{written}` has no value: {reason}"), &place());
                            is_filled = false;
                            continue;
                        }
                        TemplateValue::Unset(part) => {
                            self.findings.push(unset(&path, part).at(place()));
                            is_filled = false;
                            continue;
                        }
                        TemplateValue::Unknown { part, known } => {
                            let finding = unknown(&path, part, &known).at(place());
                            self.findings.push(finding);
                            is_filled = false;
                            continue;
                        }
                    }
                }
            };
            let length = u64::try_from(piece.len()).unwrap_or(u64::MAX);
            let Some(left) = self.left.checked_sub(length) else {
                let limit = self.limits.resource_bytes;
                let finding = Limits::exceeded("bytes in the texts of a resource", limit);
                self.findings.push(finding.at(location.clone()));
                return None;
            };
            self.left = left;
            text.push_str(&piece);
        }
        is_filled.then_some(text)
    }
}

/// The error about a property that has no value.
fn unset(path: &[&str], part: usize) -> Diagnostic {
    let part = part.clamp(1, path.len() - 1);
    let (owner, name) = (path[..part].join("."), Escaped::shortened(path[part]));
    let owner = match owner.as_str() {
        "this" => "the object".to_owned(),
        owner => format!("`{owner}`"),
    };
    let message = format!("{owner} has no value for its property `{name}`");
    Diagnostic::error(Code::ResourceTemplate, message)
        .hint(format!("set `{name}` in the object model"))
}

/// The error about a part of a path that does not exist.
fn unknown(path: &[&str], part: usize, known: &[String]) -> Diagnostic {
    let part = part.clamp(1, path.len() - 1);
    let name = Escaped::shortened(path[part]);
    let message = if part == 1 && path[0] == "this" {
        format!("the object has no property `{name}`")
    } else {
        format!("`{}` has no part `{name}`", path[..part].join("."))
    };
    let finding = Diagnostic::error(Code::ResourceTemplate, message);
    finding.maybe_hint(most_similar(path[part], known.iter().map(String::as_str)).map(did_you_mean))
}

impl TemplateError<'_> {
    /// The error as a finding about a scalar.
    pub(super) fn into_diagnostic(self, scalar: &Location) -> Diagnostic {
        let place = place_of(self.written, scalar);
        let finding = Diagnostic::error(Code::ResourceTemplate, self.message).at(place);
        match self.hint {
            Some(hint) => finding.hint(hint),
            None => finding,
        }
    }
}
