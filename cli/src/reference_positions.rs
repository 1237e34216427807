//! The places at which a root of another ecosystem refers to classes.

use std::path::PathBuf;
use std::sync::Arc;

use pkgres_formats::{Format, FormatFile, ProjectUse};
use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, PackageName, ReadOptions, Requirement};
use pkgres_registry_client::FolderTree;
use pkgres_resolver::{Conflict, UpdateReport};

use crate::project::Project;

/// The file of a root, with the uses in the files around it. Nothing is read before a conflict asks for places.
pub(crate) struct RootPlaces {
    name: PackageName,
    format: &'static dyn Format,
    path: PathBuf,
    folder: PathBuf,
    bytes: Arc<Vec<u8>>,
    uses: Vec<ProjectUse>,
    /// The entries of packages that the file requires several times.
    entries: Vec<Requirement>,
}

impl RootPlaces {
    /// The places of a project; `None` if it is a class package.
    pub(crate) fn of(project: &Project) -> Option<Self> {
        Some(Self {
            bytes: Arc::clone(project.foreign_bytes()?),
            name: project.record().name,
            format: project.format,
            path: project.manifest.clone(),
            folder: project.folder.clone(),
            uses: Vec::new(),
            entries: project.repeated_entries().to_vec(),
        })
    }

    /// Adds the uses in the files around the root.
    pub(crate) fn add(&mut self, uses: &[ProjectUse]) {
        self.uses.extend_from_slice(uses);
    }

    /// Locates the classes that the root extends or uses in a conflict, and all entries of its requirements.
    pub(crate) fn locate(&self, conflict: &mut Conflict, options: &ReadOptions) {
        conflict.locate_entries(&self.name, &self.entries);
        self.with_places(options, |place| {
            conflict.locate_references(&self.name, place);
        });
    }

    /// Locates them in the report of an update.
    pub(crate) fn locate_in_report(&self, report: &mut UpdateReport, options: &ReadOptions) {
        self.with_places(options, |place| {
            report.locate_references(&self.name, place);
        });
    }

    /// The first place of a class that the root extends or uses.
    pub(crate) fn of_class(&self, class: &ClassName, options: &ReadOptions) -> Option<Location> {
        let mut found = None;
        self.with_places(options, |place| found = place(class));
        found
    }

    /// Calls a function with one that finds the place of a class.
    fn with_places(
        &self,
        options: &ReadOptions,
        locate: impl FnOnce(&dyn Fn(&ClassName) -> Option<Location>),
    ) {
        let path = self.path.to_string_lossy();
        let file = FormatFile {
            path: &path,
            bytes: &self.bytes,
        };
        let tree = FolderTree::new(&self.folder);
        locate(&|class| self.place_of(class, &file, &tree, options));
    }

    fn place_of(
        &self,
        class: &ClassName,
        file: &FormatFile<'_>,
        tree: &FolderTree,
        options: &ReadOptions,
    ) -> Option<Location> {
        let place = self.format.reference_place(file, tree, class, options);
        place.or_else(|| {
            let mut uses = self.uses.iter();
            Some(uses.find(|one| one.class == *class)?.at.clone())
        })
    }
}
