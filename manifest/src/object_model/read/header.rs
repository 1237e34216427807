//! Reads the headers of objects: the class, the package and the version, each of which several keys can have.

use super::ModelReader;
use crate::diagnostic::{Code, Diagnostic, Escaped, Span};
use crate::document::{Mapping, Node, Scalar};
use crate::name::{ClassName, PackageName};
use crate::object_model::{Header, ModelObject, ObjectId, VersionPin};
use crate::spec::{Spec, VersionSet};
use crate::version::Version;

/// The parts of a `type`.
struct WrittenType<'node> {
    class: ClassName,
    package: Option<&'node str>,
    version: Option<&'node str>,
}

/// The versions in a header.
struct WrittenVersions {
    /// What all of them allow.
    version: VersionPin,
    /// The place of the value to replace, if a key has one.
    value: Option<Span>,
    /// Whether the version in `type` is a range.
    has_inline_range: bool,
}

impl ModelReader<'_> {
    /// Reads the header of an object; `span` is its place.
    pub(super) fn header(
        &mut self,
        header: &Mapping,
        span: Span,
        holder: Option<ObjectId>,
    ) -> Option<ModelObject> {
        let Some(entry) = header.entry("type").filter(|entry| !entry.value.is_null()) else {
            self.error("the object has no `type`", span);
            return None;
        };
        let written = self.written_type(&entry.value)?;
        let mut package = (written.package).and_then(|text| self.package(text, entry.value.span));
        let mut package_value = None;
        if let Some((scalar, span)) = written_scalar(header, "package") {
            match scalar {
                Some(scalar) if package.is_none() => package = self.package(&scalar.text, span),
                Some(_) => {}
                None => package_value = Some(span),
            }
        }
        let inline_version = written.version.map(|text| (text, entry.value.span));
        let versions = self.versions(header, inline_version);
        Some(ModelObject {
            id: written_text(header, "id").map(str::to_owned),
            class: written.class,
            package,
            version: versions.version,
            properties: Vec::new(),
            holder,
            location: self.location(entry.value.span),
            header: Header {
                span,
                type_key: entry.key_span,
                type_value: entry.value.span,
                package_value,
                version_value: versions.value,
                has_inline_version: inline_version.is_some(),
                has_inline_range: versions.has_inline_range,
            },
            repeated_headers: Vec::new(),
        })
    }

    /// Reads `Fqn`, `Fqn/version`, `Fqn@package` or `Fqn/version@package`.
    fn written_type<'node>(&mut self, node: &'node Node) -> Option<WrittenType<'node>> {
        let Some(written) = node.as_scalar() else {
            let message = format!("`type` must be text, not {}", node.kind());
            self.error(message, node.span);
            return None;
        };
        let (rest, package) = match written.text.split_once('@') {
            Some((rest, package)) => (rest, Some(package)),
            None => (written.text.as_str(), None),
        };
        let (class, version) = match rest.split_once('/') {
            Some((class, version)) => (class, Some(version)),
            None => (rest, None),
        };
        match ClassName::parse(class) {
            Ok(class) => Some(WrittenType {
                class,
                package,
                version,
            }),
            Err(error) => {
                self.error(format!("`type` does not name a class: {error}"), node.span);
                None
            }
        }
    }

    /// Reads the versions in a header: the one in `type`, if there is one, and those of other keys.
    fn versions(&mut self, header: &Mapping, inline: Option<(&str, Span)>) -> WrittenVersions {
        let mut version = inline.map_or(VersionPin::None, |(text, span)| self.version(text, span));
        let has_inline_range = matches!(version, VersionPin::Range(_));
        let mut value = None;
        // The version that counts, where it is written.
        let mut counting = inline.map(|(text, span)| (("type", text), span));
        for key in ["version", "classVersion"] {
            let Some((scalar, span)) = written_scalar(header, key) else {
                continue;
            };
            if let Some(scalar) = scalar {
                let written = self.version(&scalar.text, span);
                let this = ((key, &*scalar.text), span);
                match counting {
                    None => {
                        counting = Some(this);
                        version = written;
                    }
                    // Murano knows both: that in `type` counts.
                    Some((("type", _), _)) if key == "classVersion" => {}
                    Some(other) if exclude_each_other(&version, &written) => {
                        // Murano does not read `version`.
                        let loaded = if key == "version" { "type" } else { key };
                        self.contradiction(other, this, loaded);
                    }
                    Some(_) => version = both(version, written),
                }
            }
            if key == "version" || (value.is_none() && scalar.is_some()) {
                value = Some(span);
            }
        }
        WrittenVersions {
            version,
            value,
            has_inline_range,
        }
    }

    /// The error that two keys of a header name versions that exclude each other. Murano reads the key `loaded`.
    fn contradiction(
        &mut self,
        ((key, text), span): ((&str, &str), Span),
        ((other_key, other_text), other_span): ((&str, &str), Span),
        loaded: &str,
    ) {
        let (text, other_text) = (Escaped::shortened(text), Escaped::shortened(other_text));
        let message = format!("`{key}` has the version {text}, and `{other_key}` has {other_text}");
        let finding = Diagnostic::error(Code::Model, message)
            .label(self.location(other_span), "this version")
            .label(self.location(span), "and this one");
        let hint = format!("leave one out: Murano loads that of `{loaded}`");
        self.diagnostics.push(finding.hint(hint));
    }

    fn package(&mut self, text: &str, span: Span) -> Option<PackageName> {
        PackageName::parse(text)
            .inspect_err(|error| self.error(format!("this is not a package name: {error}"), span))
            .ok()
    }

    /// Reads a version: with all three components it is a pin, shorter it is a range.
    fn version(&mut self, text: &str, span: Span) -> VersionPin {
        if text.trim().is_empty() {
            // As a spec it would be 0, which nobody wrote.
            let location = self.location(span);
            let finding = Diagnostic::error(Code::Model, "the version is empty").at(location);
            self.diagnostics
                .push(finding.hint("leave it out for any version"));
            return VersionPin::None;
        }
        let is_full = text
            .split(['-', '+'])
            .next()
            .is_some_and(|core| core.split('.').count() == 3);
        if let Ok(version) = Version::parse(text)
            && is_full
        {
            return VersionPin::Exact(version);
        }
        match Spec::parse(text) {
            Ok(spec) => VersionPin::Range(spec),
            Err(error) => {
                self.error(error.to_string(), span);
                VersionPin::None
            }
        }
    }
}

/// The text of an entry, if there is one and it is not null.
pub(super) fn written_text<'node>(mapping: &'node Mapping, key: &str) -> Option<&'node str> {
    let scalar = mapping.get(key)?.as_scalar()?;
    (!scalar.is_null()).then_some(scalar.text.as_str())
}

/// The scalar of an entry and its place; `None` in place of a null, and of what is no scalar.
fn written_scalar<'node>(
    header: &'node Mapping,
    key: &str,
) -> Option<(Option<&'node Scalar>, Span)> {
    let node = header.get(key)?;
    let scalar = node.as_scalar().filter(|scalar| !scalar.is_null());
    Some((scalar, node.span))
}

/// What two keys of a header allow together: the version that is written has to agree with both.
fn both(one: VersionPin, other: VersionPin) -> VersionPin {
    match (one, other) {
        (VersionPin::None, pin) | (pin, VersionPin::None) => pin,
        (VersionPin::Exact(version), _) | (_, VersionPin::Exact(version)) => {
            VersionPin::Exact(version)
        }
        (VersionPin::Range(one), VersionPin::Range(other)) => {
            let text = format!("{}, {}", one.normal_form(), other.normal_form());
            VersionPin::Range(Spec::parse(&text).unwrap_or(one))
        }
    }
}

/// Whether no version is one that both allow.
fn exclude_each_other(one: &VersionPin, other: &VersionPin) -> bool {
    let allowed = |pin: &VersionPin| match pin {
        VersionPin::None => VersionSet::all(),
        VersionPin::Exact(version) => VersionSet::exactly(version),
        VersionPin::Range(spec) => spec.set().clone(),
    };
    allowed(one).intersection(&allowed(other)).is_empty()
}
