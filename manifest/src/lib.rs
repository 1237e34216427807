//! The formats of class packages: bytes in, values out, no I/O.
//!
//! This crate reads and writes [versions](Version), [specs](Spec), [manifests](PackageManifest), [class
//! files](read_class_file), [interfaces](Interface), [validations](Validation), [archives](Archive), [index
//! records](IndexRecord), [object models](ObjectModel) and [lockfiles](Lockfile). All other crates of the workspace
//! except `proof-checker` depend on it.
//!
//! No input is trusted. Every reader has [`Limits`], recursion is bounded by them, and nothing panics. A
//! problem becomes a [`Diagnostic`](diagnostic::Diagnostic) with its place; most readers continue after it, and
//! return a value with all findings ([`Parsed`](diagnostic::Parsed)).
//!
//! ```
//! use pkgres_manifest::{PackageManifest, ReadOptions, Version};
//!
//! let text = br#"
//! Format: 1.4
//! Type: Application
//! FullName: org.acme.Web
//! Version: 1.10
//! Require:
//!   org.acme.Db: ">=1.2,<3"
//! "#;
//! let options = ReadOptions::default();
//! let (manifest, findings) = PackageManifest::read("manifest.yaml", text, &options)
//!     .into_result()
//!     .expect("the manifest is valid");
//! assert!(findings.is_empty());
//!
//! // A version is the text that was written, not the number 1.1.
//! assert_eq!(manifest.version.to_string(), "1.10.0");
//! assert!(manifest.requirements[0].spec.matches(&Version::parse("1.5.0")?));
//! # Ok::<(), pkgres_manifest::VersionError>(())
//! ```
//!
//! # Features
//!
//! Both are on by default. Without them, the crate has only the value types and lockfiles.
//!
//! - `json`: index records as lines of JSON, the JSON Schemas, and `serde` for the small values.
//! - `packages`: manifests, class files, object models and archives, with their parsers.

// Code that only serves the readers is unused without them.
#![cfg_attr(not(feature = "packages"), allow(dead_code, unused_imports))]

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(feature = "packages")]
mod archive;
mod class_file;
mod declarations;
pub mod diagnostic;
mod digest;
pub mod document;
mod hexadecimal;
mod index_record;
mod interface;
mod lockfile;
mod name;
mod object_model;
mod package;
mod package_format;
mod package_path;
mod read_options;
mod release;
mod release_source;
mod resources;
#[cfg(feature = "json")]
mod schema;
mod shared_list;
mod similar;
mod spec;
#[cfg(feature = "json")]
mod strict_json;
mod validation;
mod version;

#[cfg(feature = "packages")]
pub use archive::{Archive, ArchiveFile, LazyArchive, check_distinct, check_names, write_archive};
#[cfg(feature = "packages")]
pub use class_file::read_class_file;
pub use class_file::{
    Argument, ArgumentUsage, CallArguments, ClassConstraint, ClassDefinition, ClassUsage, Contract,
    Descriptions, Literal, MapKey, MemberUse, MetaAttachment, Method, ObjectCreation, Property,
    Rule,
};
pub use declarations::{ClassOptions, Declarations, DeclaredOption, DeclaredType, SetOptions};
#[cfg(feature = "packages")]
pub use digest::sha256;
pub use digest::{ArtifactDigest, DigestError};
#[cfg(feature = "packages")]
pub use document::yaml_word;
pub use hexadecimal::{Hexadecimal, from_hexadecimal};
#[cfg(feature = "json")]
pub use index_record::IndexReader;
pub use index_record::{CLASS_PACKAGES, Ecosystem, Ecosystems, IndexRecord, IndexedClass};
#[cfg(feature = "packages")]
pub use interface::read_interface_file;
pub use interface::{
    ConformanceStatus, Deprecation, FactMatch, Facts, Interface, InterfaceFunction,
};
pub use lockfile::{
    BindingChange, Bindings, CapabilityChange, CapabilityChangeKind, LOCK_FILE, LockDiff,
    LockedCapability, LockedConformance, LockedImplementation, LockedPackage, LockedRequirement,
    Lockfile, OverrideChange, PackageChange, ReleaseChange, RequirementChange, SideBySideChange,
    capability_changes,
};
pub use name::{ClassName, NameError, PackageName, is_identifier, nearest_name};
pub use object_model::{
    ConstrainedDescription, ConstrainedObject, ContractCheck, ContractPlace, ConvertedValue,
    DescribedObject, Exclusions, HeldObject, ModelObject, ModelValue, NamedClass, ObjectId,
    ObjectModel, Pins, PropertyHolder, UntypedPlace, ValueKind, ValueProblem, ValueViolation,
    VersionPin, exclusions_at, held_objects, is_whole_number,
};
#[cfg(feature = "packages")]
pub use package::RequirementEdit;
pub use package::{
    ClassCycle, ClassEntry, Implementation, MANIFEST_FILE, Package, PackageKind, PackageManifest,
    UnknownKey, class_cycles,
};
pub use package_format::{FormatError, PackageFormat, SupportedFormats};
pub use package_path::{PackagePath, PathError};
pub use read_options::{Limits, ReadOptions};
pub use release::Release;
pub use release_source::{RegistryName, RegistryNameError, ReleaseSource};
pub use resources::{
    ClassResources, MetaParameters, PackageResources, Polling, Properties, PropertyError,
    PropertyErrors, PropertyValue, RateLimit, ReadableResources, ReceivedProperty,
    ResourceDescription, ResourceId, ResourceIdError, ResourceTemplate, Retries, Semaphore,
    SemaphoreError, TemplateValue, TemplateValues,
};
#[cfg(feature = "json")]
pub use schema::{
    class_schema, interface_schema, lock_schema, manifest_schema, resources_schema,
    validation_schema,
};
pub use shared_list::Shared;
pub use similar::{SuggestionEffort, did_you_mean, most_similar, most_similar_name};
pub use spec::{
    Interval, MAX_SPEC_BYTES, MAX_SPEC_CLAUSES, Requirement, Spec, SpecError, VersionSet,
    range_of_other_systems,
};
#[cfg(feature = "json")]
pub use strict_json::read_json;
#[cfg(feature = "packages")]
pub use validation::read_validation_file;
pub use validation::{
    ArgumentCase, ArgumentName, ArgumentValue, DISTRO_ARGUMENT, OsCase, OsName, PackagePin,
    RESERVED_NAMES, Script, SystemPackageName, SystemPackageVersion, TEST_ONLY_VARIABLE,
    Validation, ValidationArgument, ValidationValueError, Validator, ValidatorCheck, VariableName,
};
pub use version::{Version, VersionError};
