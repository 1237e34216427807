//! The formats of class packages.
mod archive;
mod class_file;
pub mod diagnostic;
mod digest;
mod document;
mod index_record;
mod limits;
mod lockfile;
mod name;
mod object_model;
mod package;
mod similar;
mod source;
mod spec;
mod version;

pub use archive::{Archive, ArchiveFile, write_archive};
pub use class_file::{
    Argument, ClassConstraint, ClassDefinition, ClassUsage, Contract, MapKey, Method, Property,
    Rule, parse_class_file, read_class_file,
};
pub use digest::{ArtifactDigest, DigestError, sha256};
pub use index_record::{IndexReader, IndexRecord, IndexedClass};
pub use limits::Limits;
pub use lockfile::{LOCK_FILE, LockedPackage, LockedRequirement, Lockfile};
pub use name::{ClassName, DEFAULT_CORE_LIBRARY, MAX_NAME_BYTES, NameError, PackageName};
pub use object_model::{
    ModelObject, ModelValue, ObjectId, ObjectModel, Pins, ValueKind, VersionPin,
};
pub use package::{
    CLASSES_FOLDER, ClassEntry, Format, FormatError, Located, MANIFEST_FILE, MAX_PATH_BYTES,
    MAX_PATH_PART_BYTES, MAX_PATH_PARTS, Package, PackageKind, PackageManifest, PackagePath,
    PathError, ReadOptions, Requirement, SupportedFormats,
};
pub use similar::most_similar;
pub use source::{RegistryName, RegistryNameError, ReleaseSource};
pub use spec::{Interval, MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, Spec, SpecError, VersionSet};
pub use version::{MAX_VERSION_BYTES, Version, VersionError};
