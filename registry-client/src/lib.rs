//! Registries, and the loops that join them with the solver.
//!
//! A [`Registry`] returns the releases of packages, the packages that define a class, and artifacts. A
//! [`RegistrySet`] looks a package up in several, in order of preference: it comes from the first that has its
//! name. [`drive`](fn@drive) runs a [`Resolver`](pkgres_resolver::Resolver) on a set; [`drive_async`](fn@drive_async)
//! does so without blocking. Everything that a program holds is `Send` and `Sync`, so that one set serves many requests
//! at once.
//!
//! This crate is the layer between the solver, which does no input or output, and the command line. It reads folders,
//! files and the network, but prints nothing, and reads no settings. Programs that embed the solver start here;
//! `examples/` has whole programs.
//!
//! # Features
//!
//! Both are on by default. Without them, [`MemoryRegistry`] and your own registries are left, with some 20 crates in
//! all.
//!
//! - `index`: registries on disk (index files with a cache of compiled ones, folders of packages), artifacts, the
//!   built-in core library, and bills of materials.
//! - `http`: registries on the network, and the values of their protocol. Implies `index`.
//!
//! ```
//! use pkgres_manifest::{IndexRecord, PackageName, ReadOptions, RegistryName, Spec, Version};
//! use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, drive};
//! use pkgres_resolver::{Request, Resolver};
//!
//! let database = PackageName::parse("org.acme.Db")?;
//! let mut registry = MemoryRegistry::new(RegistryName::parse("memory")?);
//! registry.add_record(IndexRecord::new(database.clone(), Version::new(1, 4, 0)));
//! registry.add_record(IndexRecord::new(database.clone(), Version::new(2, 0, 0)));
//! let registries = RegistrySet::new(vec![Box::new(registry)]);
//!
//! let root = IndexRecord::new(PackageName::parse("org.acme.Web")?, Version::new(1, 0, 0))
//!     .with_requirement(database, Spec::parse("1")?);
//! let mut request = Request::new(root);
//! request.core = None;
//! let mut resolver = Resolver::new(request);
//! match drive(&mut resolver, &registries, &ReadOptions::default())? {
//!     Answer::Solved(resolution) => {
//!         assert_eq!(resolution.packages()[0].version, Version::new(1, 4, 0));
//!     }
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

/// The examples of the guide.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../../docs/embedding.md")]
mod book {}

#[cfg(feature = "index")]
mod artifact;
#[cfg(feature = "index")]
mod artifact_release;
#[cfg(feature = "index")]
mod bill_of_materials;
#[cfg(feature = "index")]
mod checked_locks;
mod class_graph;
#[cfg(feature = "index")]
mod core_library;
#[cfg(feature = "index")]
mod directory;
mod drive;
mod drive_async;
#[cfg(feature = "index")]
mod folder_tree;
#[cfg(feature = "index")]
mod hand_over;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "index")]
mod ignore_rules;
#[cfg(feature = "index")]
mod index_cache;
#[cfg(feature = "index")]
mod index_file;
#[cfg(feature = "index")]
mod installed_collections;
#[cfg(feature = "http")]
mod location;
mod memory;
mod namespace;
mod object_releases;
mod outdated;
#[cfg(feature = "index")]
mod package_folder;
#[cfg(feature = "http")]
pub mod protocol;
mod registry;
mod registry_error;
mod registry_title;
mod satisfiable;
mod set;
mod single_package;
mod threads;
#[cfg(feature = "index")]
mod vendored_archives;
mod whole_registry;

#[cfg(feature = "index")]
pub use artifact::{Artifact, ReceivedArtifact, TakeArtifact, WantedArtifact};
#[cfg(feature = "index")]
pub use artifact_release::{check_artifact_release, stated_releases};
#[cfg(feature = "index")]
pub use bill_of_materials::{Maker, cyclonedx, spdx};
#[cfg(feature = "index")]
pub use checked_locks::{CheckedLocks, LockCheckInputs, LockCheckKey, LockContent, RootFile};
pub use class_graph::{ClassNode, class_graph};
#[cfg(feature = "index")]
pub use core_library::built_in_core_library;
#[cfg(feature = "index")]
pub use directory::{DirectoryRegistry, written_name};
pub use drive::{
    Answer, FinishedPlan, check_lock, drive, drive_to_verdict, finish_plan, repairs, solve,
    solve_with_evidence,
};
pub use drive_async::{AsyncRegistries, BlockingRegistries, drive_async};
#[cfg(feature = "index")]
pub use folder_tree::FolderTree;
#[cfg(feature = "http")]
pub use http::{Address, GalaxyRegistry, HttpOptions, HttpRegistry, NetworkActivity};
#[cfg(feature = "index")]
pub use ignore_rules::NotPackedReason;
#[cfg(feature = "index")]
pub use index_cache::IndexCache;
#[cfg(feature = "index")]
pub use index_file::{IndexFileRegistry, read_provided};
#[cfg(feature = "index")]
pub use installed_collections::{
    Installation, InstalledState, PreparedCollection, collection_files,
};
#[cfg(feature = "http")]
pub use location::{LocationError, RegistryLocation};
pub use memory::MemoryRegistry;
pub use namespace::{Namespace, NamespaceError};
pub use object_releases::{ObjectReleases, releases_in_conflict, releases_without_contracts};
pub use outdated::{
    BlockingRequirement, Downgrade, Outdated, OutdatedReport, UpdateFailure, outdated,
};
#[cfg(feature = "index")]
pub use package_folder::{ExcludedFile, FolderFile, PackageFolder};
pub use registry::{PackageDescription, Registry, ReleaseDescription};
pub use registry_error::{RegistryError, RequestErrorKind};
pub use registry_title::titled_at;
pub use satisfiable::{Unsatisfiable, unsatisfiable};
pub use set::{NewerElsewhere, RegistrySet, UnmetUse};
pub use single_package::SinglePackage;
#[cfg(feature = "index")]
pub use vendored_archives::{VENDORED_FILE, VendoredArchives};
pub use whole_registry::Found;
