//! Packages with the releases to which their requirements are bound, for checks that follow classes across
//! packages.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_checks::{ApiOf, BoundPackage, BoundPackages};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Lockfile, Package, PackageName, Release, ReleaseSource,
};
use pkgres_registry_client::RegistrySet;
use pkgres_resolver::{BoundRequirement, Locked, Resolution, ResolvedPackage, Root};

use crate::context::Context;
use crate::failure::Result;
use crate::output::Output;
use crate::project::Project;
use crate::show;
use crate::solve::require_current_lock;
use crate::solve_task::{ExistingLock, Searched, SolveTask};
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// The releases of a resolution with their classes.
pub(crate) fn bound_packages(
    resolution: &Resolution,
    registries: &RegistrySet,
    context: &Context,
) -> Result<BoundPackages> {
    let mut bound = BoundPackages {
        root_class: context.core().map(PackageName::root_class),
        ..BoundPackages::default()
    };
    for package in resolution.packages() {
        let classes = registries.package(&package.name, &package.version, &context.read_options)?;
        let requires = package
            .requires
            .iter()
            .map(BoundRequirement::release)
            .collect();
        bound.releases.insert(
            package.release(),
            BoundPackage {
                package: classes,
                requires,
            },
        );
    }
    Ok(bound)
}

/// A package, and the releases that it is bound to.
pub(crate) struct BoundRelease {
    pub(crate) package: Arc<Package>,
    pub(crate) packages: BoundPackages,
    pub(crate) release: Release,
    /// The registries of the releases.
    pub(crate) registries: RegistrySet,
    /// The digests of the artifacts of the releases, as far as the registries know them.
    pub(crate) digests: BTreeMap<Release, ArtifactDigest>,
    /// The releases that the host has or that are built in, which have no files.
    pub(crate) provided: BTreeSet<Release>,
    /// The releases that are members of the workspace, which have a folder instead of an artifact.
    members: BTreeSet<Release>,
    /// The reason why the package is bound to nothing, if its requirements have no resolution.
    pub(crate) unbound: Option<Diagnostic>,
}

impl BoundRelease {
    /// Binds a project to the versions of its lockfile, or else to those that the solver chooses. In the mode `locked`,
    /// the lockfile has to be up to date.
    pub(crate) fn of_project(
        project: &Project,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        if context.settings.is_set("locked") {
            let task = SolveTask::of_project(project, context)?;
            let mode = show::locked_mode(context);
            require_current_lock(project, &task, &mode, context, output)?;
        }
        Self::of_project_in_any_mode(project, context, output)
    }

    /// The same, whatever the mode says: for what does not depend on the versions.
    pub(crate) fn of_project_in_any_mode(
        project: &Project,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let mut task = SolveTask::of_project(project, context)?;
        // The caller reports what it has to say about the manifest.
        task.warnings.clear();
        let lock = project.lockfile(context)?;
        task.existing_lock = lock.clone().map(|lock| {
            let command = context.invocation.command_for("lock", &project.folder);
            let remark = format!("The lockfile is out of date: `{command}` updates it");
            ExistingLock { lock, remark }
        });
        let package = Arc::clone(project.class_package()?);
        Self::solve(package, task, lock, context, output)
    }

    /// Binds a package that is in no folder, with the registries of another folder or of an archive.
    pub(crate) fn of_package(
        package: Arc<Package>,
        beside: &Path,
        lock: Option<Lockfile>,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        let mut task = SolveTask::in_folder(beside, context)?;
        let record = package.index_record();
        task.request.roots.push(Root::Package(Box::new(record)));
        Self::solve(package, task, lock, context, output)
    }

    /// Binds a package that is the root of a task.
    pub(crate) fn solve(
        package: Arc<Package>,
        mut task: SolveTask,
        lock: Option<Lockfile>,
        context: &Context,
        output: &mut Output,
    ) -> Result<Self> {
        if let Some(lock) = lock {
            task.request.locked = Locked::from_lockfile(&lock);
        }
        let (searched, registries) = task.search(context, output)?;
        let mut digests = BTreeMap::new();
        let mut provided = BTreeSet::new();
        let mut members = BTreeSet::new();
        let (mut packages, requires, unbound) = match searched {
            Searched::Solved(resolution) => {
                digests.extend(resolution.packages().iter().filter_map(|package| {
                    let release = package.release();
                    Some((release, package.digest?))
                }));
                let without_files = resolution.packages().iter().filter(|package| {
                    let source = &package.source;
                    matches!(source, ReleaseSource::Host | ReleaseSource::BuiltIn)
                });
                provided.extend(without_files.map(ResolvedPackage::release));
                let of_workspace = resolution.packages().iter().filter(|package| {
                    matches!(&package.source, ReleaseSource::Registry(name) if name.as_str() == WORKSPACE)
                });
                members.extend(of_workspace.map(ResolvedPackage::release));
                let packages =
                    output.during("Reading classes", context.registries.activity(), || {
                        bound_packages(&resolution, &registries, context)
                    })?;
                let requires = resolution.roots()[0].requires.iter();
                let requires = requires.map(BoundRequirement::release).collect();
                (packages, requires, None)
            }
            Searched::Conflict(conflict) => {
                let message = format!(
                    "the requirements of {} {} have no resolution, so classes of other packages are \
                     unknown: {}",
                    package.name(),
                    package.manifest.version,
                    conflict.summary
                );
                let packages = BoundPackages {
                    root_class: context.core().map(PackageName::root_class),
                    ..BoundPackages::default()
                };
                let place = package.manifest.name.location.clone();
                let mut finding = Diagnostic::warning(Code::NoVersion, message).at(place);
                for hint in &conflict.hints {
                    finding = finding.hint(hint.to_string());
                }
                (packages, Vec::new(), Some(finding))
            }
        };
        let release = package.release();
        let root = BoundPackage {
            package: Some(Arc::clone(&package)),
            requires,
        };
        packages.releases.insert(release.clone(), root);
        Ok(Self {
            package,
            packages,
            release,
            registries,
            digests,
            provided,
            members,
            unbound,
        })
    }

    /// The folders of the releases that come from folders: that of the project, which this is, and of members of its
    /// workspace.
    pub(crate) fn folders(
        &self,
        project: &Project,
        context: &Context,
    ) -> Result<BTreeMap<Release, PathBuf>> {
        let mut folders = BTreeMap::from([(self.release.clone(), project.folder.clone())]);
        if let Some(workspace) = context.workspace()? {
            let of_members = self.members.iter().filter_map(|release| {
                let folder = workspace.folder_of(&release.name)?;
                Some((release.clone(), folder.to_owned()))
            });
            folders.extend(of_members);
        }
        Ok(folders)
    }

    /// Whether a class is in the namespace of a package that the host has or that is built in.
    pub(crate) fn is_of_host(&self, class: &ClassName) -> bool {
        self.provided.iter().any(|release| {
            let rest = class.as_str().strip_prefix(release.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    /// The release and its classes, for comparisons.
    pub(crate) fn api(&self) -> ApiOf<'_> {
        ApiOf {
            packages: &self.packages,
            release: &self.release,
        }
    }
}
