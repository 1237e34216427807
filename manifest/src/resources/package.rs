//! The resources of a package: those of the release, and those of its classes.

use super::template::ResourceTemplate;
use crate::diagnostic::Located;
use crate::name::ClassName;

/// The resources of a package.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PackageResources {
    /// The resources that there are once for a release of the package.
    pub for_package: Vec<ResourceTemplate>,
    /// The resources that there are once for each object of a class, in the order written.
    pub for_classes: Vec<ClassResources>,
}

/// The resources without a mistake of a file that may have others.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ReadableResources {
    /// The resources.
    pub resources: PackageResources,
    /// Whether these are all resources of the file, as it has no mistake.
    pub is_complete: bool,
}

/// The resources that there are once for each object of a class.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ClassResources {
    /// The class, which is one of the package.
    pub class: Located<ClassName>,
    /// The resources, in the order written.
    pub resources: Vec<ResourceTemplate>,
}

impl PackageResources {
    /// The resources for each object of a class. Those of its ancestors are not among them.
    pub fn of_class(&self, class: &ClassName) -> &[ResourceTemplate] {
        let mut classes = self.for_classes.iter();
        let found = classes.find(|entry| entry.class.value == *class);
        found.map_or(&[], |entry| &entry.resources)
    }
}
