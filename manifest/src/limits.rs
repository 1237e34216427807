//! How much of foreign input is read.

use crate::diagnostic::{Code, Diagnostic};

/// Bounds on foreign input. Whatever exceeds one is refused with an error that names the bound.
///
/// The defaults are far above what real packages hold: of 175 real files the largest has 14 kB,
/// the deepest 17 levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The size of a manifest, in bytes.
    pub manifest_bytes: u64,
    /// The size of a class file, in bytes.
    pub class_file_bytes: u64,
    /// How deep sequences and mappings nest in any document.
    pub depth: usize,
    /// How many scalars, sequences and mappings a manifest or class file has.
    pub nodes: usize,
    /// How many packages a manifest requires.
    pub requirements: usize,
    /// How many classes of a package are above another one in a single chain of `Extends`.
    pub inheritance_depth: usize,
    /// The size of an archive, in bytes.
    pub archive_bytes: u64,
    /// How many entries an archive has.
    pub archive_entries: u64,
    /// How many bytes the files of an archive have together.
    pub unpacked_bytes: u64,
    /// How many times larger than the archive its files are, once they pass
    /// [`unpacked_ratio_floor`](Self::unpacked_ratio_floor).
    pub unpacked_ratio: u64,
    /// Below this many bytes [`unpacked_ratio`](Self::unpacked_ratio) does not matter.
    pub unpacked_ratio_floor: u64,
    /// The size of a line of an index, in bytes.
    pub index_line_bytes: u64,
    /// The size of a lockfile, in bytes.
    pub lock_bytes: u64,
    /// The size of an object model, in bytes.
    pub model_bytes: u64,
    /// How many scalars, sequences and mappings an object model has.
    pub model_nodes: usize,
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
        }
    }
}

impl Limits {
    /// The error for an input that exceeds the bound called `name`.
    pub fn exceeded(name: &str, limit: impl std::fmt::Display) -> Diagnostic {
        Diagnostic::error(
            Code::Limit,
            format!("more than the limit of {limit} {name}"),
        )
    }
}
