//! How inputs are read.

use crate::format::SupportedFormats;
use crate::limits::Limits;
use crate::name::PackageName;

/// How inputs are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// How much is read.
    pub limits: Limits,
    /// Which formats of packages are known.
    pub formats: SupportedFormats,
    /// The core library, whose class `Application` a Heat template extends without writing it;
    /// `None` if there is none, in which case it extends nothing.
    pub core: Option<PackageName>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            formats: SupportedFormats::default(),
            core: Some(PackageName::default_core_library()),
        }
    }
}
