//! The interner of names and specs: each text is parsed once, and its value shared between records.

use std::collections::HashMap;
use std::fmt;

use foldhash::fast::RandomState;

use crate::diagnostic::Escaped;
use crate::name::{ClassName, PackageName};
use crate::read_options::Limits;
use crate::spec::Spec;

/// Values by their texts. Most of the time of reading is spent here, so the hash is a fast one; it has a random
/// seed, because a foreign index could otherwise be made of collisions.
type Interned<T> = HashMap<Box<str>, T, RandomState>;

/// The names and specs that were read so far, and the limits of reading.
#[derive(Debug, Default)]
pub(super) struct Interner {
    pub(super) limits: Limits,
    packages: Interned<PackageName>,
    classes: Interned<ClassName>,
    specs: Interned<Spec>,
}

impl Interner {
    /// An interner without names and specs.
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// The package name of a string.
    pub(super) fn package(&mut self, text: &str) -> Result<PackageName, String> {
        if let Some(known) = self.packages.get(text) {
            return Ok(known.clone());
        }
        let name = PackageName::parse(text).map_err(|error| named("package name", text, &error))?;
        self.packages.insert(text.into(), name.clone());
        Ok(name)
    }

    /// The class name of a string.
    pub(super) fn class(&mut self, text: &str) -> Result<ClassName, String> {
        if let Some(known) = self.classes.get(text) {
            return Ok(known.clone());
        }
        let name = ClassName::parse(text).map_err(|error| named("class name", text, &error))?;
        self.classes.insert(text.into(), name.clone());
        Ok(name)
    }

    /// The spec of a string.
    pub(super) fn spec(&mut self, text: &str) -> Result<Spec, String> {
        if let Some(known) = self.specs.get(text) {
            return Ok(known.clone());
        }
        let spec = Spec::parse(text).map_err(|error| error.with_suggestion())?;
        self.specs.insert(text.into(), spec.clone());
        Ok(spec)
    }
}

/// The error for a string that is not a name.
fn named(what: &str, text: &str, error: &dyn fmt::Display) -> String {
    format!("`{}` is not a {what}: {error}", Escaped::shortened(text))
}
