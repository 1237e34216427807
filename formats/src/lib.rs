//! The formats of ecosystems: bytes in, index records out, no I/O.
//!
//! A [`Format`] says everything that is particular to one ecosystem: how its files are recognized and read, its
//! [`Ecosystem`] of names, versions and ranges, and the [`Rules`] of its resolutions. Readers turn a root or a release
//! into an [`IndexRecord`](pkgres_manifest::IndexRecord); from there on, the solver, lockfiles and registries treat all
//! ecosystems alike.
//!
//! # Adding an ecosystem
//!
//! An ecosystem is a module here with an [`Ecosystem`] and a [`Format`], an entry in [`ALL`], and one in the list of
//! other ecosystems beside it. `tests/default_check.rs` has the smallest one, `Recipes`, and shows what a format gets
//! without writing it.
//!
//! - **The ecosystem** reads names, versions and ranges, and reads and writes index records. A record without keys of its
//!   own is written with `serde_json`. Ranges become [native specs](pkgres_manifest::Spec::native): a text, and the
//!   [set of versions](pkgres_manifest::VersionSet) that it matches. [`spec`](Ecosystem::spec) has to read the text of
//!   every spec that the ecosystem makes, because lockfiles have it.
//!   [`NameError::Other`](pkgres_manifest::NameError::Other) says which rule of the ecosystem a name breaks. If
//!   classes have ids and names for people, [`has_labels`](Ecosystem::has_labels) says so.
//! - **The rules** start from [`Rules::OF_MODULES`]; `with_…` says what differs.
//! - **Roots and releases**: a format must recognize and read them ([`is_root`](Format::is_root),
//!   [`read_root`](Format::read_root), [`read_releases`](Format::read_releases)). [`names`](Format::names) has the usual
//!   names of roots and the ending of artifacts, by which [`is_release_name`](Format::is_release_name) and
//!   [`release_extent`](Format::release_extent) recognize releases.
//!   [`read_json`](pkgres_manifest::document::read_json) and [`read_yaml`](pkgres_manifest::document::read_yaml) read
//!   documents with the positions of their values. Formats may share the ending of archives: a file belongs to the
//!   first format in [`ALL`] whose [`release_extent`](Format::release_extent) claims it, so write one that claims only
//!   files whose content begins as it should.
//! - **Everything else has a default.** Write these for the commands that users will miss: an
//!   [`editor`](Format::editor) for `pkgres add` and repairs, the [distribution](FormatNames::distribution) for hints,
//!   and [`declarations`](Format::declarations) for `pkgres semver`. By default, [`check_root`](Format::check_root) looks
//!   at the classes in the record.
//!
//! Elsewhere, only some things are particular to an ecosystem: registries that speak its native protocol
//! (`pkgres_registry_client`), the comparison of declarations (`pkgres_checks`), `pkgres install`, which is for
//! collections of Ansible, and a page in `docs/`. The names of types are unique in this crate.

pub mod ansible;
mod class_packages;
mod format;
mod linked_folders;
mod lookup;
pub mod opcua;
mod references;
mod rules;

pub use class_packages::ClassPackages;
pub use format::{
    DigestedRecord, Distribution, Format, FormatFile, FormatNames, HEAD_BYTES, NotEditable,
    ProjectUse, ReleaseExtent, Root, RootEditor, unread_parts,
};
pub use linked_folders::linked_paths;
pub use lookup::{FileTree, PathKind, ReleaseContent, ReleaseLookup};
pub use references::ClassReference;
pub use rules::{Prereleases, Rules};

use pkgres_manifest::{Ecosystem, Ecosystems};

/// All formats, in the order in which a file is offered to them.
pub static ALL: &[&dyn Format] = &[&ClassPackages, &ansible::Collections, &opcua::NodeSets];

/// The ecosystems of all formats, for readers of index records and lockfiles.
pub const ECOSYSTEMS: Ecosystems = Ecosystems::of(OTHERS);

/// The ecosystems of all formats but that of class packages.
const OTHERS: &[&dyn Ecosystem] = &[ansible::ECOSYSTEM, opcua::ECOSYSTEM];

/// The format with the id of an ecosystem, such as `ansible`.
///
/// ```
/// assert!(pkgres_formats::find("murano").is_some());
/// assert!(pkgres_formats::find("no such thing").is_none());
/// ```
pub fn find(id: &str) -> Option<&'static dyn Format> {
    ALL.iter()
        .copied()
        .find(|format| format.ecosystem().id() == id)
}
