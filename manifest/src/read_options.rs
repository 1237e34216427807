//! Options of readers: limits on untrusted input, the known formats, and the core library.
//!
//! Whatever comes from outside is bounded, so that a small input cannot take much time or memory. The
//! defaults are far above what real packages hold: of 175 real files the largest has 14 kB, the deepest 17
//! levels.

use crate::diagnostic::{Code, Diagnostic};
use crate::name::PackageName;
use crate::package_format::SupportedFormats;

/// The options of readers. Start from the default and change fields.
///
/// ```
/// use pkgres_manifest::{PackageManifest, ReadOptions};
///
/// let mut options = ReadOptions::default();
/// options.limits.manifest_bytes = 10;
/// let read = PackageManifest::read("manifest.yaml", b"FullName: org.acme.Web", &options);
/// assert_eq!(read.diagnostics()[0].code.to_string(), "PK0001");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The limits on inputs.
    pub limits: Limits,
    /// The package formats that are known.
    pub formats: SupportedFormats,
    /// The core library, whose class `Application` a Heat template extends implicitly. If `None`, it extends
    /// nothing.
    pub core: Option<PackageName>,
    /// The [id](crate::Ecosystem::id) of the only ecosystem to look for in places that can hold releases of several;
    /// `None` for all.
    pub ecosystem: Option<&'static str>,
    /// The names of the additional validators of the program, beyond the built-in ones of [validation
    /// files](crate::Validation).
    pub custom_validators: Vec<String>,
}

impl ReadOptions {
    /// Returns the default options with a core library, or without one.
    pub fn with_core(core: Option<PackageName>) -> Self {
        Self {
            core,
            ..Self::default()
        }
    }

    /// Returns these options for the releases of the ecosystem with an id.
    #[must_use]
    pub fn of_ecosystem(&self, ecosystem: &'static str) -> Self {
        Self {
            ecosystem: Some(ecosystem),
            ..self.clone()
        }
    }

    /// Returns whether releases of the ecosystem with an id are looked for.
    pub fn looks_for(&self, ecosystem: &str) -> bool {
        self.ecosystem.is_none_or(|wanted| wanted == ecosystem)
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            formats: SupportedFormats::default(),
            core: Some(PackageName::default_core_library()),
            ecosystem: None,
            custom_validators: Vec::new(),
        }
    }
}

/// Upper bounds on untrusted input. An input that exceeds one is an error that names the bound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The size of a manifest in bytes: 1 MiB by default.
    pub manifest_bytes: u64,
    /// The size of a class file in bytes: 1 MiB by default.
    pub class_file_bytes: u64,
    /// The levels of nested sequences and mappings in any document: 64 by default.
    pub depth: usize,
    /// The scalars, sequences and mappings in a manifest or class file: 50,000 by default.
    pub nodes: usize,
    /// The packages that a manifest requires: 1,000 by default.
    pub requirements: usize,
    /// The classes above a class of a package in a single chain of `Extends`: 1,000 by default.
    pub inheritance_depth: usize,
    /// The size of an archive in bytes: 32 MiB by default.
    pub archive_bytes: u64,
    /// The entries of an archive: 10,000 by default.
    pub archive_entries: u64,
    /// The total size of the files of an archive in bytes: 64 MiB by default.
    pub unpacked_bytes: u64,
    /// The total size of the files of an archive as a multiple of its own size: 100 by default. It applies only above
    /// [`unpacked_ratio_floor`](Self::unpacked_ratio_floor).
    pub unpacked_ratio: u64,
    /// The total size of files in bytes up to which [`unpacked_ratio`](Self::unpacked_ratio) does not apply: 1 MiB by
    /// default.
    pub unpacked_ratio_floor: u64,
    /// The size of a line of an index in bytes: 1 MiB by default.
    pub index_line_bytes: u64,
    /// The size of a lockfile in bytes: 32 MiB by default.
    pub lock_bytes: u64,
    /// The size of an object model in bytes: 16 MiB by default.
    pub model_bytes: u64,
    /// The scalars, sequences and mappings in an object model: 500,000 by default.
    pub model_nodes: usize,
    /// The strings of a resource in bytes, once values have filled in its templates: 1 MiB by default.
    pub resource_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MEBIBYTE: u64 = 1 << 20;
        Self {
            manifest_bytes: MEBIBYTE,
            class_file_bytes: MEBIBYTE,
            depth: 64,
            nodes: 50_000,
            requirements: 1_000,
            inheritance_depth: 1_000,
            archive_bytes: 32 * MEBIBYTE,
            archive_entries: 10_000,
            unpacked_bytes: 64 * MEBIBYTE,
            unpacked_ratio: 100,
            unpacked_ratio_floor: MEBIBYTE,
            index_line_bytes: MEBIBYTE,
            lock_bytes: 32 * MEBIBYTE,
            model_bytes: 16 * MEBIBYTE,
            model_nodes: 500_000,
            resource_bytes: MEBIBYTE,
        }
    }
}

impl Limits {
    /// Returns the error for an input that exceeds a limit; `name` is the counted quantity, as in "bytes in a
    /// manifest".
    pub fn exceeded(name: &str, limit: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(
            Code::Limit,
            format!("more than the limit of {limit} {name}"),
        )
    }
}
