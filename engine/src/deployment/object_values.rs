//! The values that templates name: those of a release and, for resources of classes, of an object.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::PathBuf;

use pkgres_manifest::{
    ModelValue, ObjectId, ObjectModel, TemplateValue, TemplateValues, ValueKind,
};

use crate::kinds::Release;

/// The values of a release, and of an object if there is one.
pub(super) struct ObjectValues<'model> {
    release: &'model Release,
    version: String,
    /// The folder with the files of the release, if it has an artifact.
    files: Option<String>,
    /// Whether a template named it.
    uses_files: Cell<bool>,
    object: Option<(&'model ObjectModel, ObjectId)>,
}

impl<'model> ObjectValues<'model> {
    pub(super) fn of_release(release: &'model Release) -> Self {
        Self {
            version: release.1.to_string(),
            release,
            files: None,
            uses_files: Cell::new(false),
            object: None,
        }
    }

    /// Sets the folder with the files of the release.
    pub(super) fn with_files(mut self, files: Option<PathBuf>) -> Self {
        self.files = files.map(|path| path.to_string_lossy().into_owned());
        self
    }

    /// Whether a template named the folder with the files of the release since the last call.
    pub(super) fn take_uses_files(&self) -> bool {
        self.uses_files.take()
    }

    pub(super) fn of_object(
        release: &'model Release,
        model: &'model ObjectModel,
        object: ObjectId,
    ) -> Self {
        Self {
            object: Some((model, object)),
            ..Self::of_release(release)
        }
    }

    pub(super) fn release(&self) -> &'model Release {
        self.release
    }

    /// The value at a path below an object. A path goes through mappings and other objects.
    fn property(&self, path: &[&str]) -> TemplateValue<'_> {
        let unknown = |part: usize, known: &[(String, ModelValue)]| TemplateValue::Unknown {
            part: part + 1,
            known: known.iter().map(|(name, _)| name.clone()).collect(),
        };
        let Some((model, object)) = self.object else {
            return unknown(0, &[]);
        };
        let mut entries: &[(String, ModelValue)] = &model.object(object).properties;
        for (number, part) in path.iter().enumerate() {
            let found = entries.iter().find(|(name, _)| name == part);
            let Some((_, value)) = found else {
                return unknown(number, entries);
            };
            if number + 1 == path.len() {
                return text_of(&value.kind, model);
            }
            entries = match &value.kind {
                ValueKind::Map(entries) | ValueKind::Untyped(entries) => entries,
                ValueKind::Object(object) | ValueKind::Reference(object) => {
                    &model.object(*object).properties
                }
                _ => &[],
            };
        }
        unknown(0, entries)
    }
}

/// A value as the text that fills in a template. A text that is the id of an object is a reference to it, and still that
/// text.
fn text_of<'model>(value: &'model ValueKind, model: &'model ObjectModel) -> TemplateValue<'model> {
    match value {
        ValueKind::Reference(object) => match &model.object(*object).id {
            Some(id) => TemplateValue::Text(Cow::Borrowed(id)),
            None => TemplateValue::NotText("an object"),
        },
        ValueKind::Bool(true) => TemplateValue::Text(Cow::Borrowed("true")),
        ValueKind::Bool(false) => TemplateValue::Text(Cow::Borrowed("false")),
        ValueKind::Number(text) | ValueKind::Text(text) => TemplateValue::Text(Cow::Borrowed(text)),
        ValueKind::Null => TemplateValue::NotText("null"),
        ValueKind::List(_) => TemplateValue::NotText("a list"),
        ValueKind::Map(_) => TemplateValue::NotText("a mapping"),
        _ => TemplateValue::NotText("an object"),
    }
}

impl TemplateValues for ObjectValues<'_> {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        match path {
            ["package", "name"] => TemplateValue::Text(Cow::Borrowed(self.release.0.as_str())),
            ["package", "version"] => TemplateValue::Text(Cow::Borrowed(&self.version)),
            ["package", "files"] => match &self.files {
                Some(files) => {
                    self.uses_files.set(true);
                    TemplateValue::Text(Cow::Borrowed(files))
                }
                None => TemplateValue::NotText("unknown: the release has no artifact"),
            },
            ["this", rest @ ..] => self.property(rest),
            _ => TemplateValue::Unknown {
                part: 1,
                known: Vec::new(),
            },
        }
    }
}
