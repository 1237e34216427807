//! The catalog: releases with metadata beside the index, and categories.
//!
//! A change here changes no document of the index, and takes no serial.

mod categories;
mod entries;
mod filter;

pub(crate) use categories::CategoryView;
pub(crate) use entries::{CatalogEntry, CatalogPart, MAX_NAME, Upload};
pub(crate) use filter::{CatalogFilter, Comparison, VersionTest};
