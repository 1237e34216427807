//! The values for templates: those of a release and, for resources of classes, those of an object.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::PathBuf;

use pkgres_manifest::{ObjectId, ObjectModel, Release, TemplateValue, TemplateValues};

use crate::objects::ObjectClasses;

/// The values of a release, and of an object if there is one.
pub(super) struct ObjectValues<'model, 'packages> {
    release: &'model Release,
    version: String,
    /// The folder with the files of the release, if it has an artifact.
    files: Option<String>,
    /// Whether a template named it.
    uses_files: Cell<bool>,
    object: Option<ObjectOfModel<'model, 'packages>>,
}

/// An object of a model, with the classes of all objects.
pub(super) type ObjectOfModel<'model, 'packages> = (
    &'model ObjectClasses<'packages>,
    &'model ObjectModel,
    ObjectId,
);

impl<'model, 'packages> ObjectValues<'model, 'packages> {
    pub(super) fn of_release(release: &'model Release) -> Self {
        Self {
            version: release.version.to_string(),
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
        object: ObjectOfModel<'model, 'packages>,
    ) -> Self {
        Self {
            object: Some(object),
            ..Self::of_release(release)
        }
    }

    pub(super) fn release(&self) -> &'model Release {
        self.release
    }

    /// The value at a path below an object.
    fn property(&self, path: &[&str]) -> TemplateValue<'_> {
        match self.object {
            Some((classes, model, object)) => classes.value(model, object, path),
            None => TemplateValue::Unknown {
                part: 1,
                known: Vec::new(),
            },
        }
    }
}

impl TemplateValues for ObjectValues<'_, '_> {
    fn value(&self, path: &[&str]) -> TemplateValue<'_> {
        match path {
            ["package", "name"] => TemplateValue::Text(Cow::Borrowed(self.release.name.as_str())),
            ["package", "version"] => TemplateValue::Text(Cow::Borrowed(&self.version)),
            ["package", "files"] => match &self.files {
                Some(files) => {
                    self.uses_files.set(true);
                    TemplateValue::Text(Cow::Borrowed(files))
                }
                None => TemplateValue::Missing("the release has no artifact"),
            },
            ["this", rest @ ..] => self.property(rest),
            _ => TemplateValue::Unknown {
                part: 1,
                known: Vec::new(),
            },
        }
    }
}
