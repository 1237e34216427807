//! Where releases come from, and the loop that joins registries with the solver.
//!
//! A [`Registry`] answers what releases there are of some packages, which packages define a class,
//! and hands out artifacts. A [`RegistrySet`] asks several in order of preference: a package comes
//! from the first that has its name. [`drive`] lets a [`Resolver`](pkgres_resolver::Resolver) run
//! on one.

mod check_lock;
mod directory;
mod drive;
mod index_file;
mod location;
mod memory;
mod pin;
mod provided;
mod registry;
mod set;

pub use check_lock::check_lock;
pub use directory::{DirectoryRegistry, FolderFile, PackageFolder};
pub use drive::{Answer, advance, drive};
pub use index_file::IndexFileRegistry;
pub use location::{LocationError, RegistryLocation};
pub use memory::MemoryRegistry;
pub use pin::fill_plan;
pub use provided::read_provided;
pub use registry::{Artifact, Registry, RegistryError};
pub use set::RegistrySet;
