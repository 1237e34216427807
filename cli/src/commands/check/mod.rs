//! `pkgres check`

mod file;
mod interfaces;
mod known_releases;
mod targets;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use pkgres_checks::{
    check_classes, check_manifest, check_member_uses, check_package, check_validation,
};
use pkgres_engine::check_templates;
use pkgres_files::{Follow, read_file, read_file_below};
use pkgres_formats::FormatFile;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Severity, capped};
use pkgres_manifest::{
    Archive, IndexRecord, MANIFEST_FILE, Package, PackageManifest, PackagePath, ReadOptions,
};
use pkgres_registry_client::{FolderTree, PackageFolder};
use serde_json::json;

use self::file::check_file;
use self::interfaces::InterfaceCheck;
use self::known_releases::{CheckedPlace, KnownReleases, NoReleases};
use self::targets::{Target, targets};
use super::deployment::{check_readable_folder, check_readable_resources, check_resources_of};
use super::pack::check_files;
use crate::args::{CheckArgs, Format};
use crate::bound_release::BoundRelease;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::missing_classes::locate_missing_classes;
use crate::missing_manifest::{absent_root_hint, has_root, missing_members};
use crate::output::{MAX_REGISTRY_FINDINGS, Output};
use crate::paths::is_same_path;
use crate::project::Project;
use crate::read_manifest::folder_of;
use crate::registries::{ConfiguredRegistry, title_of};
use crate::root_file::roots_beside_manifest;
use crate::show::{self, counted};
use crate::workspace::no_workspace;

pub(super) fn run(args: &CheckArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let mut checker = Checker {
        context,
        checks_members: args.members,
        denies_warnings: args.conformance.denies_warnings(),
        interfaces: InterfaceCheck::of(&args.conformance, &context.read_options)?,
        provided: context
            .registries
            .host_releases(&context.read_options)?
            .into(),
        publishes_to: None,
        allows_unsatisfiable: false,
        known: None,
        findings: Vec::new(),
        about_registries: Vec::new(),
        exit: Exit::Done,
    };
    let mut inputs = 0;
    let paths = checked_paths(args, context, &mut checker.findings)?;
    for path in &paths {
        match targets(path, context.ecosystem, &context.read_options) {
            Ok(targets) => {
                inputs += targets.len();
                if let [Target::Package(folder)] = &targets[..]
                    && context.ecosystem.is_none()
                    && let Some(mut finding) = roots_beside_manifest(&folder.join(MANIFEST_FILE))
                {
                    // Nothing is wrong with what is checked.
                    finding.severity = Severity::Note;
                    checker.findings.push(finding);
                }
                for target in targets {
                    checker.check(&target, output)?;
                }
            }
            // A path that cannot be checked does not stop the others.
            Err(mut error) => {
                if !path.exists() {
                    error.hints.extend(absent_root_hint(path, context));
                }
                checker.findings.push(error);
                checker.exit = checker.exit.max(Exit::Usage);
            }
        }
    }
    let conformance = checker.interfaces.take();
    if let Some(conformance) = &conformance {
        conformance.finish(output)?;
    }
    let (findings, exit) = checker.finish();
    let count = |severity| -> usize {
        let counted = findings.iter().filter(|it| it.severity == severity);
        counted.map(|finding| finding.left_out.max(1)).sum()
    };
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if output.format() == Format::Github {
        output.annotate(&findings);
    } else if output.is_json() {
        let mut document = json!({
            "schema_version": 1,
            "status": if exit == Exit::Done { "passed" } else { "failed" },
            "checked": inputs,
            "errors": errors,
            "warnings": warnings,
            "diagnostics": show::diagnostics_json(&output.with_folder(&findings)),
        });
        if let Some(conformance) = conformance {
            document["interfaces"] = conformance.document();
        }
        output.json(&document);
    } else {
        if let Some(conformance) = conformance {
            output.data(&conformance.table(output.data_width()));
        }
        output.findings(&findings);
        output.note(&format!(
            "Checked {}: {}, {}",
            counted(inputs, "input"),
            counted(errors, "error"),
            counted(warnings, "warning")
        ));
    }
    Ok(exit)
}

/// The paths to check. A folder that the settings name as a member, and that has no root, is a finding if the workspace
/// or its folder is checked.
fn checked_paths(
    args: &CheckArgs,
    context: &Context,
    findings: &mut Vec<Diagnostic>,
) -> Result<Vec<PathBuf>> {
    let settings = &context.settings.project;
    let is_whole = |path: &PathBuf| is_same_path(path, &settings.folder);
    let workspace = if args.workspace {
        Some(context.workspace()?.ok_or_else(no_workspace)?)
    } else if args.paths.iter().any(is_whole) {
        // Invalid settings are reported by the commands that need them.
        context.workspace().ok().flatten()
    } else {
        None
    };
    let mut paths = args.paths.clone();
    if let Some(workspace) = workspace {
        let missing = missing_members(&workspace.folders, settings);
        if args.workspace {
            paths.clone_from(&workspace.folders);
            paths.retain(|folder| has_root(folder));
        }
        findings.extend(missing);
    }
    Ok(paths)
}

/// Checks a package folder or archive that is about to be published to a registry, with the packages there and in the
/// registries of its project. A registry that cannot be read is a warning: it may permit publishing all the same. What
/// depends on the releases of other packages is a warning if the requirements need not be satisfiable yet.
pub(super) fn check_before_publishing(
    path: &Path,
    read: (&Package, &PackageContents),
    target: &ConfiguredRegistry,
    allows_unsatisfiable: bool,
    context: &Context,
    output: &mut Output,
) -> Result<Vec<Diagnostic>> {
    let mut checker = Checker {
        context,
        checks_members: false,
        denies_warnings: false,
        interfaces: None,
        provided: context
            .registries
            .host_releases(&context.read_options)?
            .into(),
        publishes_to: Some(target),
        allows_unsatisfiable,
        known: None,
        findings: Vec::new(),
        about_registries: Vec::new(),
        exit: Exit::Done,
    };
    let (package, contents) = read;
    let target = match contents {
        PackageContents::Folder(_) => Target::Package(path.to_owned()),
        PackageContents::Archive(_) => Target::Archive(path.to_owned()),
    };
    checker.findings = contents.check(package, &context.read_options);
    checker.check_package(&target, path, package.clone(), output)?;
    let (findings, _) = checker.finish();
    Ok(findings)
}

/// The warning that the token for a registry may publish there, but not read what others published.
pub(super) fn unread_requirements(target: &ConfiguredRegistry) -> Diagnostic {
    let message = format!(
        "the token cannot read {}, so what the package uses of others is not checked",
        title_of(&target.location)
    );
    Diagnostic::warning(Code::Denied, message)
}

/// Makes warnings of errors, except for those that are among others.
fn downgrade_all_but(kept: &[Diagnostic], findings: &mut [Diagnostic]) {
    let errors = findings.iter_mut().filter(|finding| finding.is_error());
    for finding in errors {
        let is_same =
            |kept: &Diagnostic| kept.code == finding.code && kept.labels == finding.labels;
        if !kept.iter().any(is_same) {
            finding.severity = Severity::Warning;
        }
    }
}

/// A check in progress, with its findings so far.
struct Checker<'run> {
    context: &'run Context,
    /// Whether the uses of members are checked, for which requirements are resolved.
    checks_members: bool,
    /// Whether warnings about what is checked are errors.
    denies_warnings: bool,
    /// The check of interfaces, if it is wanted.
    interfaces: Option<InterfaceCheck>,
    /// The releases that the host provides.
    provided: Rc<[IndexRecord]>,
    /// The registry that what is checked will be published to, if it will be.
    publishes_to: Option<&'run ConfiguredRegistry>,
    /// Whether errors that depend on the releases of other packages are warnings: those to come may be right.
    allows_unsatisfiable: bool,
    /// The known releases for the last package; most packages of a run have the same registries.
    known: Option<KnownReleases<'run>>,
    findings: Vec<Diagnostic>,
    /// Findings about the registries.
    about_registries: Vec<Diagnostic>,
    exit: Exit,
}

impl<'run> Checker<'run> {
    fn check(&mut self, target: &Target, output: &mut Output) -> Result<()> {
        let (path, read) = match target {
            Target::Package(folder) => (folder, read_package(folder, &self.context.read_options)),
            Target::Archive(file) => (file, read_archive(file, &self.context.read_options)),
            Target::File(file) => {
                let findings = check_file(file, self.context);
                self.findings.extend(findings);
                return Ok(());
            }
            Target::Foreign(root, format) => return self.check_foreign(root, *format),
        };
        match read {
            Ok((package, findings)) => {
                self.findings.extend(findings);
                self.check_package(target, path, package, output)
            }
            Err(errors) => {
                self.findings.extend(errors);
                self.check_parts(target);
                Ok(())
            }
        }
    }

    /// Checks a package that could be read, with the releases that it can require.
    fn check_package(
        &mut self,
        target: &Target,
        path: &Path,
        package: Package,
        output: &mut Output,
    ) -> Result<()> {
        let place = match self.publishes_to {
            None => CheckedPlace::of_package(path),
            Some(target) => CheckedPlace::to_publish(path, target),
        };
        let context = self.context;
        let known = self.known_releases(&place)?;
        let progress = output.progress("Looking up releases", context.registries.activity());
        let mut findings = check_package(&package, context.core(), &known);
        if self.allows_unsatisfiable && findings.iter().any(Diagnostic::is_error) {
            let own = check_package(&package, context.core(), &NoReleases);
            downgrade_all_but(&own, &mut findings);
        }
        let folder = matches!(target, Target::Package(_)).then_some(path);
        locate_missing_classes(&mut findings, &package, folder, context, |class| {
            known.defining(class)
        });
        drop(progress);
        self.findings.extend(findings);
        self.known = Some(known);
        // Classes that extend others may inherit interfaces.
        let mut classes = package.classes.iter().flat_map(|classes| classes.values());
        let may_implement = !package.manifest.implements.is_empty()
            || classes.any(|class| !class.extends.is_empty());
        let has_interfaces = self.interfaces.is_some() && may_implement;
        let is_required = self.checks_members || has_interfaces;
        let obeys_mode = self.checks_members || self.interfaces.is_some();
        if obeys_mode || has_inherited_properties(&package) {
            match self.bound(target, package, obeys_mode, output) {
                Ok(bound) if is_required => self.check_bound(bound),
                Ok(bound) => {
                    self.check_interfaces(&bound);
                    self.check_templates(&bound);
                }
                // The lockfile is not the one that this run has to use, which does not stop the check of others.
                Err(failure)
                    if obeys_mode && matches!(failure.exit, Exit::Failed | Exit::Integrity) =>
                {
                    self.findings.extend(failure.findings);
                    self.exit = self.exit.max(failure.exit);
                }
                Err(failure) if is_required => return Err(failure),
                // Registries that cannot be read were reported with the package.
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// The releases that what is at a place can require.
    fn known_releases(&mut self, place: &CheckedPlace) -> Result<KnownReleases<'run>> {
        match self.known.take() {
            Some(known) if known.is_for(place) => Ok(known),
            last => {
                if let Some(last) = last {
                    self.close(&last);
                }
                KnownReleases::open(place, &self.provided, self.context)
            }
        }
    }

    /// Checks a root of another ecosystem.
    fn check_foreign(
        &mut self,
        root: &Path,
        format: &'static dyn pkgres_formats::Format,
    ) -> Result<()> {
        let options = &self.context.read_options;
        let bytes = match read_file(root, options.limits.archive_bytes, Follow::Links) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.findings.push(error.to_diagnostic());
                return Ok(());
            }
        };
        let folder = folder_of(root);
        let path = root.to_string_lossy();
        let file = FormatFile {
            path: &path,
            bytes: &bytes,
        };
        let extent = format.release_extent(&file);
        let place = CheckedPlace::of_foreign(&folder, format.ecosystem().id(), extent);
        let known = self.known_releases(&place)?;
        let findings = format.check_root(&file, &FolderTree::new(&folder), &known, options);
        self.findings.extend(findings);
        self.known = Some(known);
        Ok(())
    }

    /// Binds a package to the releases that it requires; to those of its lockfile in the mode `locked`, if the mode
    /// matters.
    fn bound(
        &self,
        target: &Target,
        package: Package,
        obeys_mode: bool,
        output: &mut Output,
    ) -> Result<BoundRelease> {
        let context = self.context;
        match target {
            Target::Package(folder) => {
                let project = Project::open(folder, context)?;
                if obeys_mode {
                    BoundRelease::of_project(&project, context, output)
                } else {
                    BoundRelease::of_project_in_any_mode(&project, context, output)
                }
            }
            Target::Archive(path) | Target::File(path) | Target::Foreign(path, _) => {
                BoundRelease::of_package(Arc::new(package), path, None, context, output)
            }
        }
    }

    /// Checks the uses of members, the interfaces and the templates of a package, with the releases that it is bound to.
    fn check_bound(&mut self, bound: BoundRelease) {
        if self.checks_members {
            let findings = check_member_uses(&bound.packages, &bound.release);
            self.findings.extend(findings);
        }
        self.check_interfaces(&bound);
        self.check_templates(&bound);
        self.findings.extend(bound.unbound);
    }

    /// Checks the interfaces of a package, if that is wanted.
    fn check_interfaces(&mut self, bound: &BoundRelease) {
        let Some(interfaces) = &mut self.interfaces else {
            return;
        };
        for finding in interfaces.check(&bound.packages, &bound.release) {
            // That an interface is not defined can be found without a resolution, too, and has hints then.
            let is_same = |known: &Diagnostic| {
                known.message == finding.message && known.labels == finding.labels
            };
            if !self.findings.iter().any(is_same) {
                self.findings.push(finding);
            }
        }
    }

    /// Checks that the templates of resources name properties of their classes. Those of classes without an ancestor in
    /// another package are checked already.
    fn check_templates(&mut self, bound: &BoundRelease) {
        let limits = &self.context.read_options.limits;
        let mut findings = check_templates(&bound.packages, &bound.release, limits);
        if self.allows_unsatisfiable {
            downgrade_all_but(&self.findings, &mut findings);
        }
        for finding in findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }

    /// Checks the parts of a package that cannot be read as a whole.
    fn check_parts(&mut self, target: &Target) {
        let options = &self.context.read_options;
        let limit = options.limits.class_file_bytes;
        let (manifest, classes, resources) = match target {
            Target::Package(folder) => {
                let Ok(manifest) = PackageFolder::read_manifest(folder, options) else {
                    return;
                };
                let classes = Package::readable_classes(&manifest, options, |path| {
                    read_file_below(folder, Path::new(path.as_str()), limit).ok()
                });
                let resources = check_readable_folder(folder, &manifest, options);
                (manifest, classes, resources)
            }
            Target::Archive(file) => {
                let Ok(archive) = open_archive(file, options) else {
                    return;
                };
                let shown = file.to_string_lossy();
                let read = Package::manifest_of_archive(&shown, &archive, options);
                let Ok((manifest, _)) = read.into_result() else {
                    return;
                };
                let classes =
                    Package::readable_classes(&manifest, options, |path| archive.read(path));
                let readable =
                    Package::readable_resources(&manifest, options, |path| archive.read(path));
                let resources = readable.map_or_else(Vec::new, |readable| {
                    let files = archive.files().map(|file| file.path.clone());
                    check_readable_resources(&manifest, &readable, files, options)
                });
                (manifest, classes, resources)
            }
            Target::File(_) | Target::Foreign(..) => return,
        };
        let findings = check_manifest(&manifest);
        self.findings.extend(findings);
        self.findings.extend(check_classes(&classes));
        self.findings.extend(resources);
    }

    /// Collects the findings and errors of registries.
    fn close(&mut self, known: &KnownReleases<'run>) {
        if let Some(target) = self.publishes_to {
            let denied = format!("{} denies", title_of(&target.location));
            let warnings = known.take_errors().into_iter().map(|error| {
                let finding = error.to_diagnostic();
                if finding.code == Code::Denied && finding.message.starts_with(&denied) {
                    return unread_requirements(target);
                }
                let message = format!("{}: what it has is not checked", finding.message);
                Diagnostic::warning(finding.code, message)
            });
            self.about_registries.extend(warnings);
            return;
        }
        self.about_registries
            .extend(known.registries.take_findings());
        for error in known.take_errors() {
            let failure = Failure::from(error);
            self.about_registries.extend(failure.findings);
            self.exit = self.exit.max(failure.exit);
        }
    }

    /// All findings, and the exit code.
    fn finish(mut self) -> (Vec<Diagnostic>, Exit) {
        if let Some(known) = self.known.take() {
            self.close(&known);
        }
        if self.denies_warnings {
            // Those about packages of registries stay warnings: whoever publishes there does not break the builds of
            // others.
            let warnings = self.findings.iter_mut();
            for finding in warnings.filter(|finding| finding.is_warning()) {
                finding.severity = Severity::Error;
            }
        }
        let mut warnings = 0_usize;
        for finding in std::mem::take(&mut self.about_registries) {
            // A checked package can be in a registry, too: one finding per position is enough.
            let is_known = self.findings.iter().any(|other| {
                *other == finding
                    || !finding.labels.is_empty()
                        && other.labels.first().map(|label| &label.location)
                            == finding.labels.first().map(|label| &label.location)
            });
            warnings += usize::from(!is_known && finding.is_warning());
            if !is_known && (!finding.is_warning() || warnings <= MAX_REGISTRY_FINDINGS) {
                self.findings.push(finding);
            }
        }
        if let Some(more @ 1..) = warnings.checked_sub(MAX_REGISTRY_FINDINGS) {
            let what = counted(more, "more warning");
            let message = format!("{what} about the registries omitted");
            let mut rest = Diagnostic::warning(Code::Limit, message);
            rest.left_out = more;
            self.findings.push(rest);
        }
        if self.findings.iter().any(Diagnostic::is_error) {
            self.exit = self.exit.max(Exit::Failed);
        }
        (capped(self.findings), self.exit)
    }
}

/// Whether a package has resources of classes that may inherit properties from another package.
fn has_inherited_properties(package: &Package) -> bool {
    let resources = package.resources.as_ref();
    let has_classes = resources.is_some_and(|resources| !resources.for_classes.is_empty());
    let extends_others = package.classes.as_ref().is_some_and(|classes| {
        let mut extended = classes.values().flat_map(|class| &class.extends);
        extended.any(|class| !classes.contains_key(&class.value))
    });
    has_classes && extends_others
}

/// The files of a package that was read.
pub(super) enum PackageContents {
    Folder(PackageFolder),
    Archive(Archive),
}

impl PackageContents {
    /// Checks the files of a package, and what its manifest says of them.
    fn check(&self, package: &Package, options: &ReadOptions) -> Vec<Diagnostic> {
        let mut findings = ignored_in_template(package, options);
        match self {
            Self::Folder(folder) => {
                findings.extend(check_files(folder, package, options));
                let has_file =
                    |path: &PackagePath| folder.files().iter().any(|file| file.path == *path);
                findings.extend(check_validation_of(package, has_file));
                let files = folder.files().iter().map(|file| file.path.clone());
                findings.extend(check_resources_of(package, files, options));
            }
            Self::Archive(archive) => {
                findings.extend((package.manifest).check_files(|path| Ok(archive.read(path))));
                findings.extend(check_validation_of(package, |path| {
                    archive.file(path).is_some()
                }));
                let files = archive.files().map(|file| file.path.clone());
                findings.extend(check_resources_of(package, files, options));
            }
        }
        findings
    }
}

/// Reads a package folder, and checks that its files fit into an archive.
fn read_package(
    folder: &Path,
    options: &ReadOptions,
) -> std::result::Result<(Package, Vec<Diagnostic>), Vec<Diagnostic>> {
    let folder = PackageFolder::open(folder, options).map_err(|error| vec![error])?;
    let (package, mut findings) = folder.package(options).into_result()?;
    // Less than this exceeds no limit of an archive.
    if folder.size() > options.limits.unpacked_ratio_floor {
        findings.extend(folder.archive(options).err());
    }
    findings.extend(PackageContents::Folder(folder).check(&package, options));
    Ok((package, findings))
}

/// The warnings about keys of a manifest that have no meaning in a Heat template. Whoever reads a package for another
/// purpose does not report them.
fn ignored_in_template(package: &Package, options: &ReadOptions) -> Vec<Diagnostic> {
    if !package.manifest.format.is_heat_hot() {
        return Vec::new();
    }
    let read = PackageManifest::parse(package.manifest.source(), options);
    read.diagnostics().to_vec()
}

fn read_archive(
    file: &Path,
    options: &ReadOptions,
) -> std::result::Result<(Package, Vec<Diagnostic>), Vec<Diagnostic>> {
    let archive = open_archive(file, options).map_err(|error| vec![error])?;
    let read = Package::from_archive(&file.to_string_lossy(), &archive, options);
    let (package, mut findings) = read.into_result()?;
    findings.extend(PackageContents::Archive(archive).check(&package, options));
    Ok((package, findings))
}

/// Checks the validation file of a package. `has_file` returns whether the package has a file.
fn check_validation_of(
    package: &Package,
    has_file: impl Fn(&PackagePath) -> bool,
) -> Vec<Diagnostic> {
    let named = package.manifest.validate.as_ref();
    let (Some(named), Some(validation)) = (named, &package.validation) else {
        return Vec::new();
    };
    check_validation(validation, |script| {
        script.places(&named.value).iter().any(&has_file)
    })
}

fn open_archive(
    file: &Path,
    options: &ReadOptions,
) -> std::result::Result<Archive<Vec<u8>>, Diagnostic> {
    let limit = options.limits.archive_bytes;
    let bytes = read_file(file, limit, Follow::Links).map_err(|error| error.to_diagnostic())?;
    Archive::open(&file.to_string_lossy(), bytes, &options.limits)
}
