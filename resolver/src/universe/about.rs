//! What there is to know of a package and seldom has to be known.

use std::sync::OnceLock;

use pkgres_manifest::{PackageName, Version};

use super::candidates::Candidates;

/// What there is to know of a package beside where it is. Of most packages that a search meets nothing
/// of it is ever asked, so there is only room for it when something is.
#[derive(Debug, Default)]
pub(super) struct About(OnceLock<Box<Known>>);

#[derive(Debug, Default)]
struct Known {
    name: OnceLock<PackageName>,
    versions: OnceLock<Box<[Version]>>,
    candidates: Option<Box<Candidates>>,
}

impl About {
    /// A package of which the name is known.
    pub(super) fn called(name: PackageName) -> Self {
        let name = OnceLock::from(name);
        Self(OnceLock::from(Box::new(Known {
            name,
            ..Known::default()
        })))
    }

    /// A package of which it is known what decides among its releases.
    pub(super) fn with_candidates(candidates: Box<Candidates>) -> Self {
        let mut about = Self::default();
        about.set_candidates(candidates);
        about
    }

    fn known(&self) -> &Known {
        self.0.get_or_init(Box::default)
    }

    /// The name, which is read when it is first asked for.
    pub(super) fn name(&self, read: impl FnOnce() -> PackageName) -> &PackageName {
        self.known().name.get_or_init(read)
    }

    /// The name, if somebody asked for it.
    pub(super) fn known_name(&self) -> Option<&PackageName> {
        self.0.get()?.name.get()
    }

    /// The versions, which are read when they are first asked for.
    pub(super) fn versions(&self, read: impl FnOnce() -> Box<[Version]>) -> &[Version] {
        self.known().versions.get_or_init(read)
    }

    /// The versions, if somebody asked for them.
    pub(super) fn known_versions(&self) -> Option<&[Version]> {
        Some(self.0.get()?.versions.get()?)
    }

    /// What decides among the releases; nothing if every one may be chosen and the newest is the
    /// best.
    pub(super) fn candidates(&self) -> Option<&Candidates> {
        self.0.get()?.candidates.as_deref()
    }

    /// Says what decides among the releases.
    pub(super) fn set_candidates(&mut self, candidates: Box<Candidates>) {
        self.known();
        let known = self.0.get_mut().expect("it is there now");
        known.candidates = Some(candidates);
    }
}
