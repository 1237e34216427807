//! Ansible collections.
//!
//! A collection is a package; its versions follow Semantic Versioning, and `range` has the range language. `metadata`,
//! `shown_metadata`, `requirements_file` and `runtime_yml` read its files; `artifact` and `file_list` read its
//! artifacts with their chain of digests. `facts_of_files` collects [`Facts`] about its files, with `content` to skip
//! those that are too large, `python` and `windows_imports` for modules, and `yaml_references` for roles and playbooks.
//! `facts` derives classes from them, and `foreign_references` the references to other collections. `check` words
//! findings about these references, and `narrow_range` suggests ranges without the broken versions. `documentation`
//! reads the options of plug-ins, and `content_name` says how users call them. `project` reads the playbooks around a
//! `requirements.yml`, and the options that their tasks set. `format` combines all of this. `installation` has the
//! files of an installed collection, `built_files` those of a source folder that are built into the artifact, `links`
//! finds links that lead out of one, and `ansible_cfg` reads the servers in an `ansible.cfg`.

mod ansible_cfg;
mod artifact;
mod built_files;
mod check;
mod content;
mod content_name;
mod core_version;
mod documentation;
mod facts;
mod facts_of_files;
mod file_list;
mod foreign_references;
mod format;
mod installation;
mod links;
mod metadata;
mod moved;
mod name;
mod narrow_range;
mod plain_number;
mod project;
mod python;
mod range;
mod range_edit;
mod record;
mod removed_plugins;
mod requirement_edit;
mod requirements_file;
mod runtime_yml;
mod shown_metadata;
mod windows_imports;
mod yaml_references;

pub use ansible_cfg::{CONFIGURATION_FILE, configured_servers};
pub use artifact::{CollectionArtifact, WriteFile};
pub use content_name::ContentName;
pub use core_version::{ansible_core_version, requires_ansible};
pub use facts::{Facts, Module, Reference, Route};
pub use file_list::{FILE_LIST, FileList, ListedFile};
pub use format::{CollectionRelease, Collections, read_collection};
pub use installation::{
    COLLECTIONS_FOLDER, CollectionFile, CollectionFiles, CollectionLink, Difference, SOURCE_FILE,
    installed_version, source_text,
};
pub use metadata::{
    COLLECTION_MANIFEST, CollectionManifest, GALAXY_FILE, read_collection_manifest,
    read_galaxy_file,
};
pub use name::{ANSIBLE_CORE, is_collection_name};
pub use narrow_range::narrowed_range;
pub use python::{Import, ImportKind};
pub use record::ECOSYSTEM;
pub use requirements_file::{REQUIREMENTS_FILE, read_requirements};
pub use shown_metadata::CollectionAbout;
