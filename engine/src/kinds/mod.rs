//! The kinds of resources that come with the engine.

mod attributes;
mod directory;
mod file;
mod removal;

pub use directory::Directory;
pub use file::File;
