//! The formats of package systems: bytes in, index records out, no I/O.
//!
//! A [`Format`] says everything that is particular to one package system: how its files are recognized and read, its
//! [`Ecosystem`] of names, versions and ranges, and the [`Rules`] of its resolutions. Readers turn a root or a release
//! into an [`IndexRecord`](pkgres_manifest::IndexRecord); from there on, the solver, lockfiles and registries treat all
//! package systems alike.
//!
//! To add a package system, write a module with a [`Format`] and an [`Ecosystem`], and add them to [`ALL`] and to the
//! list of other ecosystems beside it. [`read_json`](pkgres_manifest::document::read_json) and
//! [`read_yaml`](pkgres_manifest::document::read_yaml) read documents with the positions of their values, ranges become
//! [native specs](pkgres_manifest::Spec::native), and a record without keys of its own is written with `serde_json`.
//! [`NameError::Other`](pkgres_manifest::NameError::Other) says which rule of the package system a name breaks. `pkgres
//! check` looks at the classes in the record of a root, unless the format has its own
//! [`check_root`](Format::check_root). The names of types are unique in this crate.

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
    Distribution, Format, FormatFile, ProjectUse, Release, ReleaseExtent, Root, unread_parts,
};
pub use linked_folders::linked_paths;
pub use lookup::{FileTree, PathKind, ReleaseContent, ReleaseLookup};
pub use references::{ClassReference, defines_class};
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
