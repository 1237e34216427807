//! What a project knows about the classes in messages: the places that refer to them, and their display names.

use std::sync::Arc;

use pkgres_manifest::{IndexRecord, Package};
use pkgres_registry_client::{Outdated, RegistrySet};
use pkgres_resolver::UpdateReport;

use crate::context::Context;
use crate::project::Project;
use crate::reference_positions::RootPlaces;

/// Describes the classes of a project in reports about newer releases.
pub(crate) struct ProjectClasses {
    /// The class package that the project is, if it is one.
    package: Option<Arc<Package>>,
    /// The files of a project of another ecosystem.
    places: Option<RootPlaces>,
    /// The root and the provided releases, if their ecosystem has names of classes for people. The root itself need not
    /// have classes.
    labelled: Option<Vec<IndexRecord>>,
}

impl ProjectClasses {
    pub(crate) fn of(project: &Project, provided: &[IndexRecord], context: &Context) -> Self {
        let places = RootPlaces::of(project).map(|mut places| {
            if context.strict_uses {
                let (uses, _) = project.uses(context);
                places.add(&uses);
            }
            places
        });
        let root = project.record();
        let has_labels = root.ecosystem.has_labels();
        let labelled = has_labels.then(|| provided.iter().cloned().chain([root]).collect());
        Self {
            package: project.package().cloned(),
            places,
            labelled,
        }
    }

    /// Adds places and display names to the reasons in the report of an update. Without the display names, which are left
    /// out if a registry cannot be read, it is complete.
    pub(crate) fn describe_in_report(
        &self,
        report: &mut UpdateReport,
        registries: &RegistrySet,
        context: &Context,
    ) {
        if let Some(root) = &self.package {
            report.locate_classes(root);
        }
        if let Some(places) = &self.places {
            places.locate_in_report(report, &context.read_options);
        }
        if let Some(labelled) = &self.labelled {
            let _ = registries.label_update(report, labelled);
        }
    }

    /// The same for the conflicts that hold back packages.
    pub(crate) fn describe_in_outdated(
        &self,
        packages: &mut [Outdated],
        registries: &RegistrySet,
        context: &Context,
    ) {
        for conflict in packages.iter_mut().filter_map(|it| it.conflict.as_mut()) {
            if let Some(root) = &self.package {
                conflict.locate_classes(root);
            }
            if let Some(places) = &self.places {
                places.locate(conflict, &context.read_options);
            }
            if let Some(labelled) = &self.labelled {
                let _ = registries.label_classes(conflict, labelled);
            }
        }
    }
}
