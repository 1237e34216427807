//! Where releases come from, and the loop that joins registries with the solver.
//!
//! A [`Registry`] answers what releases there are of some packages, which packages define a class,
//! and hands out artifacts. A [`RegistrySet`] asks several in order of preference: a package comes
//! from the first that has its name. [`drive`] lets a [`Resolver`](pkgres_resolver::Resolver) run
//! on one.
//!
//! This crate stands between the solver, which does no input or output, and the command line. It
//! reads folders and files, but prints nothing, and reads no settings. Programs that embed the
//! solver begin here; `examples/embed.rs` is a whole one.
//!
//! ```
//! use pkgres_manifest::{IndexRecord, Limits, ReadOptions, RegistryName};
//! use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, drive};
//! use pkgres_resolver::{Request, Resolver};
//!
//! let record = |line: &str| IndexRecord::parse_line(line, &Limits::default());
//! let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
//! registry.add_record(record(r#"{"name":"org.acme.Db","version":"1.4.0"}"#)?);
//! registry.add_record(record(r#"{"name":"org.acme.Db","version":"2.0.0"}"#)?);
//! let registries = RegistrySet::new(vec![Box::new(registry)]);
//!
//! let root = r#"{"name":"org.acme.Web","version":"1.0.0","require":[["org.acme.Db","1"]]}"#;
//! let mut request = Request::new(record(root)?);
//! request.core = None;
//! let mut resolver = Resolver::new(request);
//! match drive(&mut resolver, &registries, &ReadOptions::default())? {
//!     Answer::Solved(resolution) => {
//!         assert_eq!(resolution.packages()[0].version.to_string(), "1.4.0");
//!     }
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

/// The examples of the book.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embedding.md")]
mod book {}

mod background;
mod bill;
mod check_lock;
mod checked_locks;
mod class_graph;
mod directory;
mod drive;
pub mod http;
mod index_cache;
mod index_file;
mod location;
mod memory;
mod namespace;
mod only;
mod outdated;
mod package_folder;
mod plan;
pub mod protocol;
mod provided;
mod registry;
mod set;

pub use bill::{Maker, cyclonedx, spdx};
pub use check_lock::check_lock;
pub use checked_locks::{CheckedLocks, LockCase, LockContent, LockQuestion, RootFile};
pub use class_graph::{ClassNode, class_graph};
pub use directory::DirectoryRegistry;
pub use drive::{Answer, advance, drive};
pub use http::{Address, HttpOptions, HttpRegistry};
pub use index_cache::IndexCache;
pub use index_file::IndexFileRegistry;
pub use location::{LocationError, RegistryLocation};
pub use memory::MemoryRegistry;
pub use namespace::{Namespace, NamespaceError};
pub use only::OnlyPackage;
pub use outdated::{Holder, Outdated, outdated};
pub use package_folder::{FolderFile, PackageFolder};
pub use plan::finish_plan;
pub use provided::read_provided;
pub use registry::{Artifact, Registry, RegistryError};
pub use set::RegistrySet;
