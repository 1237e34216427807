//! The settings of `pkgres`: which there are, and the reader of settings files.
//!
//! [`DECLARED`] has every setting once. Files are read without I/O: [`SettingsFile::parse`] gets their bytes. Which
//! file counts, and what variables and flags say, is up to the program.

mod declared;
mod file;
mod overrides;
mod registries;
mod value;

pub use declared::{DECLARED, Declared, Files, Kind, VARIABLES, declared};
pub use file::{MAX_SETTINGS_BYTES, SETTINGS_FILE, SettingsFile};
pub use overrides::Overrides;
pub use registries::{NetworkLimit, Registries, RegistryTable};
pub use value::SettingValue;
