//! The root of a run: a folder with a manifest, or another file that states requirements, and its lockfile.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_files::{Follow, read_file};
use pkgres_formats::ansible;
use pkgres_formats::{
    ClassPackages, Format, FormatFile, NotEditable, ProjectUse, ReleaseExtent, Root, RootEditor,
};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, Span};
use pkgres_manifest::{
    IndexRecord, LOCK_FILE, Lockfile, Package, PackageName, Requirement, RequirementEdit, Spec,
};
use pkgres_registry_client::{FolderTree, RegistryLocation, RegistrySet};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::lockfile::{parse_lock, read_lock_bytes};
use crate::missing_manifest::missing_manifest_hints;
use crate::project_uses::ProjectUses;
use crate::read_manifest::{ManifestFile, folder_of, manifest_at};
use crate::registries::ConfiguredRegistry;
use crate::root::ForeignRoot;
use crate::root_file::roots_beside_manifest;
use crate::update_effects::AffectedProject;

/// The size of the largest `ansible.cfg` that is read for hints. A complete one has 40 kB.
const MAX_CONFIGURATION_BYTES: u64 = 1 << 20;
/// The most servers of an `ansible.cfg` that hints name.
const MAX_SERVERS_IN_HINTS: usize = 5;

/// What is solved for, with the folder of its lockfile.
pub(crate) struct Project {
    pub(crate) folder: PathBuf,
    /// The path of the manifest.
    pub(crate) manifest: PathBuf,
    /// The format of the manifest.
    pub(crate) format: &'static dyn Format,
    /// Warnings about the manifest.
    pub(crate) warnings: Vec<Diagnostic>,
    content: RootContent,
}

/// What a project consists of.
enum RootContent {
    Package(Arc<Package>),
    /// A root of another ecosystem, and the content of its file.
    Foreign(Box<Root>, Arc<Vec<u8>>),
}

impl Project {
    /// Reads the project that a path names: a manifest, or its folder.
    pub(crate) fn open(path: &Path, context: &Context) -> Result<Self> {
        if let Some(foreign) = ForeignRoot::find(path, context.ecosystem, &context.read_options)? {
            let project = Self::foreign(foreign);
            return match context.edited_text(&project.manifest) {
                Some(text) => project.with_text(text.to_owned(), context),
                None => Ok(project),
            };
        }
        let mut manifest = read_manifest(path, context)?;
        if let Some(text) = context.edited_text(&manifest.path) {
            manifest.bytes = text.as_bytes().to_vec();
            manifest.is_edited = true;
        }
        let package = manifest.parse(&context.read_options, |_, _| {})?;
        Ok(Self::new(manifest, package, context))
    }

    /// A project of another ecosystem.
    pub(crate) fn foreign(foreign: ForeignRoot) -> Self {
        Self {
            folder: folder_of(&foreign.path),
            manifest: foreign.path,
            format: foreign.format,
            warnings: foreign.warnings,
            content: RootContent::Foreign(Box::new(foreign.root), Arc::new(foreign.bytes)),
        }
    }

    /// A project whose package was parsed from its manifest file.
    pub(crate) fn new(manifest: ManifestFile, package: Package, context: &Context) -> Self {
        let mut warnings = package.manifest.misspelt_key_findings();
        if context.ecosystem.is_none() {
            warnings.extend(roots_beside_manifest(&manifest.path));
        }
        Self {
            folder: manifest.folder,
            manifest: manifest.path,
            format: &ClassPackages,
            warnings,
            content: RootContent::Package(Arc::new(package)),
        }
    }

    /// The registries of the project, in order of preference.
    pub(crate) fn registries(&self, context: &Context) -> Result<Vec<ConfiguredRegistry>> {
        let default = self.default_registry();
        let registries = context.registries.for_folder(&self.folder, default)?;
        registries.ok_or_else(|| self.no_registry())
    }

    /// Opens the registries of the project for releases of its ecosystem.
    pub(crate) fn open_registries(&self, context: &Context) -> Result<RegistrySet> {
        let options = context
            .read_options
            .of_ecosystem(self.format.ecosystem().id());
        context
            .registries
            .open(&self.registries(context)?, &options)
    }

    /// The error for a root that is no release, if no registry is configured. Hints name the servers that
    /// `ansible-galaxy` would take releases from.
    fn no_registry(&self) -> Failure {
        let mut error = Diagnostic::error(Code::Usage, "no registry is configured");
        let path = self.folder.join(ansible::CONFIGURATION_FILE);
        let configuration = read_file(&path, MAX_CONFIGURATION_BYTES, Follow::Links);
        let text = configuration
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        let servers = ansible::configured_servers(&text);
        for (_, url) in servers.iter().take(MAX_SERVERS_IN_HINTS) {
            let registry = quoted(Path::new(&format!("galaxy:{url}")));
            let file = Escaped::path(&path).to_string();
            let hint = format!("`--registry {registry}` takes releases from a server in {file}");
            error = error.hint(hint);
        }
        if servers.is_empty() {
            let hint =
                "`--registry galaxy:https://galaxy.ansible.com` takes releases from Ansible Galaxy";
            error = error.hint(hint);
        }
        let hint = "`--registry dir:FOLDER` takes them from a folder; `registries` in pkgres.toml saves the option";
        error.hint(hint).into()
    }

    /// Whether the root is a release, and not a file that only requires others.
    pub(crate) fn is_release(&self) -> bool {
        match &self.content {
            RootContent::Package(_) => true,
            RootContent::Foreign(root, _) => root.extent.is_some(),
        }
    }

    /// The registry of the project if no other is configured; `None` if its root is no release: then nothing says that
    /// the releases are near it.
    fn default_registry(&self) -> Option<RegistryLocation> {
        let extent = match &self.content {
            RootContent::Package(_) => ReleaseExtent::Folder,
            RootContent::Foreign(root, _) => root.extent?,
        };
        Some(match extent {
            ReleaseExtent::File => RegistryLocation::with_file(&self.folder),
            ReleaseExtent::Folder => RegistryLocation::beside(&self.folder),
        })
    }

    /// Whether a lockfile was made for the requirements of the root, as far as they alone say so.
    pub(crate) fn agrees_with(&self, lock: &Lockfile, core: Option<&PackageName>) -> bool {
        let Some(locked) = lock.roots.get(self.name()) else {
            return false;
        };
        let record = self.record();
        let required = record.requirements.iter();
        // Options decide whether the core library and the host count.
        let host = self.format.rules().host;
        let is_stated = |name: &PackageName| Some(name) != core && Some(name.as_str()) != host;
        let mut stated = required.filter(|requirement| is_stated(&requirement.package));
        let same_specs = stated.all(|requirement| {
            let bound = locked.get(&requirement.package);
            bound.is_some_and(|bound| {
                bound.spec.set() == requirement.spec.set()
                    || lock.overrides.contains_key(&requirement.package)
            })
        });
        let is_required = |name: &PackageName| {
            let mut required = record.requirements.iter();
            required.any(|requirement| requirement.package == *name)
        };
        let mut locked = locked.keys().filter(|name| is_stated(name));
        same_specs && locked.all(is_required)
    }

    /// The class package; `None` for a project of another ecosystem.
    pub(crate) fn package(&self) -> Option<&Arc<Package>> {
        match &self.content {
            RootContent::Package(package) => Some(package),
            RootContent::Foreign(..) => None,
        }
    }

    /// The class package, for commands that work on class packages only.
    pub(crate) fn class_package(&self) -> Result<&Arc<Package>> {
        self.package().ok_or_else(|| {
            let ecosystem = self.format.ecosystem().id();
            Failure::usage(format!(
                "{} belongs to the ecosystem `{ecosystem}`, and this works with class packages only",
                Escaped::path(&self.manifest)
            ))
        })
    }

    /// The name of the root.
    pub(crate) fn name(&self) -> &PackageName {
        match &self.content {
            RootContent::Package(package) => package.name(),
            RootContent::Foreign(root, _) => &root.record.name,
        }
    }

    /// The root as a record.
    pub(crate) fn record(&self) -> IndexRecord {
        match &self.content {
            RootContent::Package(package) => package.index_record(),
            RootContent::Foreign(root, _) => root.record.clone(),
        }
    }

    /// Reads what the files around the root use, such as playbooks beside a `requirements.yml`. The warnings are about
    /// files that cannot be read.
    pub(crate) fn uses(&self, context: &Context) -> (Vec<ProjectUse>, Vec<Diagnostic>) {
        let RootContent::Foreign(_, bytes) = &self.content else {
            return (Vec::new(), Vec::new());
        };
        let path = self.manifest.to_string_lossy();
        let file = FormatFile { path: &path, bytes };
        let tree = FolderTree::new(&self.folder);
        self.format
            .project_uses(&file, &tree, &context.read_options)
    }

    /// The project as updates may affect it.
    pub(crate) fn affected(&self, context: &Context) -> AffectedProject<'_> {
        match &self.content {
            RootContent::Package(package) => AffectedProject::Package(package),
            RootContent::Foreign(root, _) => AffectedProject::Other {
                format: self.format,
                // What cannot be read of the project is a finding of `pkgres check`.
                uses: Box::new(ProjectUses::new(&root.record, self.uses(context).0)),
            },
        }
    }

    /// The same project with another manifest, which need not be on the disk.
    pub(crate) fn with_manifest(&self, text: &str, context: &Context) -> Result<Self> {
        let manifest = ManifestFile {
            folder: self.folder.clone(),
            path: self.manifest.clone(),
            bytes: text.as_bytes().to_vec(),
            is_edited: true,
        };
        let package = manifest.parse(&context.read_options, |_, _| {})?;
        Ok(Self::new(manifest, package, context))
    }

    /// The text of the manifest.
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match &self.content {
            RootContent::Package(package) => Cow::Borrowed(package.manifest.source().text()),
            RootContent::Foreign(_, bytes) => String::from_utf8_lossy(bytes),
        }
    }

    /// The entries of packages that the file of a root of another ecosystem requires several times.
    pub(crate) fn repeated_entries(&self) -> &[Requirement] {
        match &self.content {
            RootContent::Package(_) => &[],
            RootContent::Foreign(root, _) => &root.entries,
        }
    }

    /// The content of the file of a root of another ecosystem.
    pub(crate) fn foreign_bytes(&self) -> Option<&Arc<Vec<u8>>> {
        match &self.content {
            RootContent::Package(_) => None,
            RootContent::Foreign(_, bytes) => Some(bytes),
        }
    }

    /// What changes the requirements in the file that states them, or why only a person can.
    pub(crate) fn editor(&self) -> std::result::Result<&'static dyn RootEditor, NotEditable> {
        let (path, text) = (self.manifest.to_string_lossy(), self.text());
        self.format.editor(&FormatFile {
            path: &path,
            bytes: text.as_bytes(),
        })
    }

    /// The same project with other specs of requirements; nothing is written.
    pub(crate) fn with_specs(
        &self,
        specs: &[(PackageName, Spec)],
        context: &Context,
    ) -> Result<Self> {
        let (path, text) = (self.manifest.to_string_lossy(), self.text());
        let file = FormatFile {
            path: &path,
            bytes: text.as_bytes(),
        };
        let editor = self.editor().map_err(Diagnostic::from)?;
        let edited = editor.with_ranges(&file, specs, &context.read_options)?;
        self.with_text(edited, context)
    }

    /// The same project with other requirements; nothing is written.
    pub(crate) fn with_requirements(
        &self,
        edits: &[RequirementEdit],
        context: &Context,
    ) -> Result<Self> {
        let options = &context.read_options;
        let editor = self.editor().map_err(Diagnostic::from)?;
        let path = self.manifest.to_string_lossy();
        let mut text = self.text().into_owned();
        for edit in edits {
            let file = FormatFile {
                path: &path,
                bytes: text.as_bytes(),
            };
            let edited = editor.with_requirement(&file, edit, options);
            text = edited.map_err(without_empty_position)?;
        }
        self.with_text(text, context)
    }

    /// The same project with another text, which need not be on the disk.
    fn with_text(&self, text: String, context: &Context) -> Result<Self> {
        if self.package().is_some() {
            return self.with_manifest(&text, context);
        }
        let (path, bytes) = (self.manifest.clone(), text.into_bytes());
        let mut edited = ForeignRoot::parse(path, self.format, bytes, &context.read_options)?;
        edited.mark_edited();
        Ok(Self::foreign(edited))
    }

    /// The lockfile beside the manifest, which need not exist.
    pub(crate) fn lock_path(&self) -> PathBuf {
        self.folder.join(LOCK_FILE)
    }

    /// The lockfile, if there is one. It must be complete and not an unresolved merge.
    pub(crate) fn lockfile(&self, context: &Context) -> Result<Option<Lockfile>> {
        let path = self.lock_path();
        match read_lock_bytes(&path, context)? {
            Some(bytes) => parse_lock(&path, &bytes, context).map(Some),
            None => Ok(None),
        }
    }
}

/// The error of an edit. If it is about something that is not in the manifest, it names the file without a position.
fn without_empty_position(mut finding: Diagnostic) -> Diagnostic {
    if let [label] = finding.labels.as_slice()
        && label.location.span() == Span::default()
    {
        let name = Escaped::new(label.location.source().name()).to_string();
        finding.message = format!("{name}: {}", finding.message);
        finding.labels.clear();
    }
    finding
}

/// Reads the manifest that a path names. If there is none, hints name possible manifests.
pub(crate) fn read_manifest(path: &Path, context: &Context) -> Result<ManifestFile> {
    reject_archive(path)?;
    reject_lockfile(path, context)?;
    ManifestFile::read(path, &context.read_options).map_err(|error| {
        let mut finding = error.to_diagnostic();
        if error.is_not_found() && path == Path::new("-") {
            finding = finding.hint(
                "a manifest cannot be read from stdin, because the files beside it are needed: pass its path",
            );
        } else if error.is_not_found() {
            let manifest = manifest_at(path);
            if let Ok(target) = manifest.read_link() {
                let target = target.to_string_lossy();
                let target = Escaped::new(&target);
                finding = finding.hint(format!("it is a link to {target}, which does not exist"));
            } else {
                let hints = missing_manifest_hints(path, context);
                finding.hints.extend(hints);
            }
        }
        Failure::from(finding)
    })
}

/// Fails for an archive, which would be read as text.
fn reject_archive(path: &Path) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_archive = [".zip", ".tar.gz"]
        .iter()
        .any(|ending| name.ends_with(ending));
    if !is_archive || !path.is_file() {
        return Ok(());
    }
    let message = format!(
        "{} is an archive, where a manifest or its folder is expected",
        Escaped::path(&path)
    );
    let finding = Diagnostic::error(Code::Usage, message);
    Err(if name.ends_with(".zip") {
        let unpack = format!("`pkgres unpack {} FOLDER` unpacks it", quoted(path));
        finding.hint(unpack).into()
    } else {
        finding.into()
    })
}

/// Fails for a lockfile, which would be read as a manifest.
fn reject_lockfile(path: &Path, context: &Context) -> Result<()> {
    if path.file_name() != Some(LOCK_FILE.as_ref()) || !path.is_file() {
        return Ok(());
    }
    let message = format!(
        "{} is a lockfile, where a manifest or its folder is expected",
        Escaped::path(path)
    );
    let mut finding = Diagnostic::error(Code::Usage, message);
    if let Some(command) = context.invocation.same_command_for(&folder_of(path)) {
        finding = finding.hint(format!("`{command}` names the project with this lockfile"));
    }
    Err(finding.into())
}

/// Fails if a folder has no manifest, with hints. Other errors are those of whoever reads it.
pub(crate) fn require_manifest(folder: &Path, context: &Context) -> Result<()> {
    let manifest = manifest_at(folder);
    if !folder.is_dir() || manifest.symlink_metadata().is_ok() {
        return Ok(());
    }
    read_manifest(folder, context).map(drop)
}

/// How to run a command in a member of the workspace, if there is a workspace.
pub(crate) fn member_hint(command: &str, context: &Context) -> Option<String> {
    let workspace = context.workspace().ok()??;
    let member = context
        .invocation
        .where_the_run_began(workspace.folders.first()?);
    let member = quoted(&member);
    Some(format!(
        "this is a workspace: `pkgres -C {member} {command}` runs in a member"
    ))
}
