//! The releases and classes that checked packages can require.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use pkgres_checks::{Defines, RequiredPackages};
use pkgres_formats::{ReleaseContent, ReleaseExtent, ReleaseLookup};
use pkgres_manifest::{
    CLASS_PACKAGES, ClassName, IndexRecord, PackageName, Release, Spec, Version,
};
use pkgres_registry_client::{Artifact, FolderTree, RegistryError, RegistryLocation, RegistrySet};
use pkgres_resolver::Supply;

use crate::context::Context;
use crate::failure::Result;
use crate::registries::ConfiguredRegistry;
use crate::workspace::Workspace;

/// The most releases of a package whose classes are found out at once: the oldest and the newest.
const MOST_COMPLETED: usize = 32;

/// Where what is checked is, and what its registries are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CheckedPlace {
    /// The package folder, the archive, or the folder of the file.
    path: PathBuf,
    /// The id of the ecosystem.
    ecosystem: &'static str,
    /// The registry if no other is configured.
    default: Option<RegistryLocation>,
    /// The registry that is used besides those that are configured.
    target: Option<ConfiguredRegistry>,
}

impl CheckedPlace {
    /// The place of a class package: its folder, or an archive.
    pub(super) fn of_package(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            ecosystem: CLASS_PACKAGES.id(),
            default: Some(RegistryLocation::beside(path)),
            target: None,
        }
    }

    /// The place of a class package that will be published to a registry.
    pub(super) fn to_publish(path: &Path, target: &ConfiguredRegistry) -> Self {
        Self {
            default: None,
            target: Some(target.clone()),
            ..Self::of_package(path)
        }
    }

    /// The place of a root of another ecosystem, which is a file in a folder or the folder.
    pub(super) fn of_foreign(
        folder: &Path,
        ecosystem: &'static str,
        extent: Option<ReleaseExtent>,
    ) -> Self {
        let default = extent.map(|extent| match extent {
            ReleaseExtent::File => RegistryLocation::with_file(folder),
            ReleaseExtent::Folder => RegistryLocation::beside(folder),
        });
        Self {
            path: folder.to_owned(),
            ecosystem,
            default,
            target: None,
        }
    }

    fn registries(&self, context: &Context) -> Result<Vec<ConfiguredRegistry>> {
        let default = self.default.clone();
        let registries = context.registries.for_folder(&self.path, default)?;
        let mut registries = registries.unwrap_or_default();
        if let Some(target) = &self.target {
            let mut known = registries.iter().map(|known| known.location.address());
            if !known.any(|address| address == target.location.address()) {
                registries.push(target.clone());
            }
        }
        Ok(registries)
    }
}

/// The releases that the packages in a folder can require.
pub(super) struct KnownReleases<'run> {
    context: &'run Context,
    ecosystem: &'static str,
    configured: Vec<ConfiguredRegistry>,
    /// The workspace, if the packages are members of it.
    workspace: Option<&'run Workspace>,
    pub(super) registries: RegistrySet,
    provided: Rc<[IndexRecord]>,
    /// The releases that were looked up so far: reading a package takes long, and reports its findings again.
    releases: RefCell<BTreeMap<PackageName, Rc<[IndexRecord]>>>,
    errors: RefCell<Vec<RegistryError>>,
    /// The packages whose classes a registry failed to find out. It is not asked for more of them.
    incomplete: RefCell<BTreeSet<PackageName>>,
    /// Whether the registries could not be searched for a class.
    failed_to_search: Cell<bool>,
}

impl<'run> KnownReleases<'run> {
    /// The releases for what is at a place.
    pub(super) fn open(
        place: &CheckedPlace,
        provided: &Rc<[IndexRecord]>,
        context: &'run Context,
    ) -> Result<Self> {
        let configured = place.registries(context)?;
        let options = context.read_options.of_ecosystem(place.ecosystem);
        let registries = context.registries.open(&configured, &options)?;
        Ok(Self {
            context,
            ecosystem: place.ecosystem,
            configured,
            workspace: workspace_of(&place.path, context)?,
            registries,
            provided: Rc::clone(provided),
            releases: RefCell::default(),
            errors: RefCell::default(),
            incomplete: RefCell::default(),
            failed_to_search: Cell::default(),
        })
    }

    /// Whether what is at a place has the same registries, ecosystem and workspace.
    pub(super) fn is_for(&self, place: &CheckedPlace) -> bool {
        let configured = place.registries(self.context);
        let workspace = workspace_of(&place.path, self.context);
        self.ecosystem == place.ecosystem
            && configured.is_ok_and(|configured| configured == self.configured)
            && workspace.is_ok_and(|workspace| workspace.is_some() == self.workspace.is_some())
    }

    /// The errors of registries, which count as not having the package.
    pub(super) fn take_errors(&self) -> Vec<RegistryError> {
        self.errors.take()
    }

    /// The packages that define a class for others, sorted: those of the host, members of the workspace, and packages
    /// of the registries. Registries that cannot be searched have none: this is for hints.
    pub(super) fn defining(&self, class: &ClassName) -> Vec<PackageName> {
        let provided = self.provided.iter().filter(|record| record.exports(class));
        let provided = provided.map(|record| record.name.clone());
        let options = &self.context.read_options;
        let members = self.workspace.into_iter().flat_map(|workspace| {
            let names = workspace.versions().map(|(name, _)| name);
            let defining = names.filter(|name| {
                let member = workspace.release(name, options);
                member.is_some_and(|member| member.classes.is_some() && member.exports(class))
            });
            defining.cloned()
        });
        let elsewhere = (!self.failed_to_search.get()).then(|| self.registries.defining(class));
        let elsewhere = match elsewhere {
            Some(Ok(found)) => found,
            // One that does not answer is not waited for again.
            Some(Err(_)) => {
                self.failed_to_search.set(true);
                Vec::new()
            }
            None => Vec::new(),
        };
        let found: BTreeSet<PackageName> = provided.chain(members).chain(elsewhere).collect();
        found.into_iter().collect()
    }

    /// Whether a release of a package that matches a spec defines something.
    fn any(
        &self,
        package: &PackageName,
        spec: &Spec,
        defines: impl Fn(&IndexRecord) -> bool,
    ) -> Defines {
        let releases = self.known(package);
        let mut matching = releases
            .iter()
            .filter(|record| spec.matches(&record.version))
            .peekable();
        if matching.peek().is_none() {
            return Defines::Unknown;
        }
        let mut result = Defines::No;
        for record in matching {
            if record.classes.is_none() {
                return Defines::Unknown;
            }
            if defines(record) {
                result = Defines::Yes;
            }
        }
        result
    }

    /// All releases of a package; empty if it is unknown.
    fn known(&self, package: &PackageName) -> Rc<[IndexRecord]> {
        let mut known = self.releases.borrow_mut();
        let releases = known.entry(package.clone()).or_insert_with(|| {
            let provided: Vec<IndexRecord> = self
                .provided
                .iter()
                .filter(|record| record.name == *package)
                .cloned()
                .collect();
            if !provided.is_empty() {
                return provided.into();
            }
            let options = &self.context.read_options;
            if let Some(workspace) = self.workspace
                && let Some(member) = workspace.release(package, options)
            {
                return Rc::new([member]);
            }
            match self.registries.supply(std::slice::from_ref(package)) {
                Ok(supplies) => supplies
                    .into_iter()
                    .flat_map(Supply::into_records)
                    .collect(),
                Err(error) => {
                    self.errors.borrow_mut().push(error);
                    Rc::default()
                }
            }
        });
        Rc::clone(releases)
    }
}

/// The workspace that a package is a member of.
fn workspace_of<'run>(path: &Path, context: &'run Context) -> Result<Option<&'run Workspace>> {
    let workspace = context.workspace()?;
    Ok(workspace.filter(|workspace| workspace.has_member_at(path)))
}

impl ReleaseLookup for KnownReleases<'_> {
    fn releases(&self, package: &PackageName) -> Option<Vec<IndexRecord>> {
        let releases = self.known(package);
        (!releases.is_empty()).then(|| releases.to_vec())
    }

    fn complete(&self, package: &PackageName, versions: &[Version]) -> Option<Vec<IndexRecord>> {
        let has_failed = self.incomplete.borrow().contains(package);
        if self.registries.has_drafts() && !has_failed {
            let half = MOST_COMPLETED / 2;
            let mut wanted: Vec<&Version> = versions.iter().collect();
            wanted.sort_unstable();
            let (oldest, newest) = wanted.split_at(wanted.len().min(half));
            let newest = &newest[newest.len().saturating_sub(half)..];
            let mut releases = Vec::new();
            for registry in &self.configured {
                let versions = oldest.iter().chain(newest);
                releases.extend(versions.map(|version| {
                    let release = Release::new(package.clone(), (*version).clone());
                    (&registry.location.name, release)
                }));
            }
            match self.registries.complete(&releases) {
                Ok(_) => {
                    self.releases.borrow_mut().remove(package);
                }
                Err(error) => {
                    self.errors.borrow_mut().push(error);
                    self.incomplete.borrow_mut().insert(package.clone());
                }
            }
        }
        self.releases(package)
    }

    fn similar(&self, package: &PackageName) -> Option<PackageName> {
        self.registries.similar(package)
    }

    fn content(&self, record: &IndexRecord) -> Option<ReleaseContent> {
        let artifact = self.registries.artifact(record.digest.as_ref()?).ok()??;
        match artifact {
            Artifact::File(bytes) => Some(ReleaseContent::File(bytes.to_vec())),
            Artifact::Tree(folder) => {
                let tree = FolderTree::new(&folder);
                Some(ReleaseContent::Folder(Box::new(tree)))
            }
            _ => None,
        }
    }
}

/// Packages of which nothing is known: what is wrong with a package then is so whatever others release.
pub(super) struct NoReleases;

impl RequiredPackages for NoReleases {
    fn defines(&self, _package: &PackageName, _spec: &Spec, _class: &ClassName) -> Defines {
        Defines::Unknown
    }

    fn classes(&self, _package: &PackageName) -> Vec<ClassName> {
        Vec::new()
    }

    fn newest(&self, _package: &PackageName) -> Option<Version> {
        None
    }
}

impl RequiredPackages for KnownReleases<'_> {
    fn is_missing(&self, package: &PackageName, spec: &Spec) -> bool {
        let releases = self.known(package);
        let is_missing = !releases.iter().any(|record| spec.matches(&record.version));
        // What a registry that failed has is not known.
        is_missing && self.errors.borrow().is_empty()
    }

    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Defines {
        self.any(package, spec, |record| record.exports(class))
    }

    fn defines_interface(
        &self,
        package: &PackageName,
        spec: &Spec,
        interface: &ClassName,
    ) -> Defines {
        let has = |record: &IndexRecord| record.interfaces.binary_search(interface).is_ok();
        self.any(package, spec, has)
    }

    fn interfaces(&self, package: &PackageName) -> Vec<ClassName> {
        let releases = self.known(package);
        let interfaces = releases.iter().flat_map(|record| &record.interfaces);
        interfaces.cloned().collect()
    }

    fn classes(&self, package: &PackageName) -> Vec<ClassName> {
        let mut names: Vec<ClassName> = self
            .known(package)
            .iter()
            .flat_map(|record| record.classes.iter().flatten())
            .filter(|class| !class.internal)
            .map(|class| class.name.clone())
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    fn newest(&self, package: &PackageName) -> Option<Version> {
        let releases = self.known(package);
        let usable = releases.iter().filter(|record| !record.yanked);
        let stable = usable.filter(|record| !record.version.is_prerelease());
        stable.map(|record| record.version.clone()).max()
    }

    fn newest_matching(&self, package: &PackageName, spec: &Spec) -> Option<Version> {
        let releases = self.known(package);
        let usable = releases.iter().filter(|record| !record.yanked);
        let stable = usable.filter(|record| !record.version.is_prerelease());
        let versions = stable.map(|record| &record.version);
        versions
            .filter(|version| spec.matches(version))
            .max()
            .cloned()
    }
}
