//! The workspace of a run: its members, and their requirements on each other.
//!
//! Members that require each other are taken from the workspace, at the version in their manifest, whatever
//! registries have. They have no digest, because working on a member must not make lockfiles stale.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped, sentence_list};
use pkgres_manifest::{
    IndexRecord, LOCK_FILE, Lockfile, Package, PackageManifest, PackageName, ReadOptions,
    RegistryName, ReleaseSource, Version, did_you_mean, most_similar_name,
};
use pkgres_registry_client::{MemoryRegistry, PackageFolder, written_name};
use pkgres_settings::SettingsFile;

use crate::failure::{Failure, Result};
use crate::invocation::{Invocation, quoted};
use crate::paths::canonical;
use crate::read_manifest::ManifestFile;
use crate::root::ForeignRoot;
use crate::root_file::recognize;
use crate::settings::{WorkspaceTable, workspace};

/// The name that lockfiles have for the source of members.
pub(crate) const REGISTRY_NAME: &str = "workspace";

/// How many members of a workspace a hint names.
pub(crate) const MAX_NAMED_MEMBERS: usize = 3;

/// The members of a workspace.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// The folders that `members` names, with or without a readable package.
    pub(crate) folders: Vec<PathBuf>,
    /// These folders by their canonical paths.
    canonical_folders: BTreeSet<PathBuf>,
    /// Whether the members are solved together.
    pub(crate) one_solve: bool,
    /// The members that can be read.
    members: BTreeMap<PackageName, Member>,
    /// The members that cannot be read. Their errors are reported for them, and for those that may require them.
    unreadable: Vec<UnreadableMember>,
    /// The packages that were parsed so far: members that are locked together require the same ones.
    packages: Mutex<BTreeMap<PackageName, Arc<Package>>>,
}

/// A member, as far as its manifest describes it.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    /// The folder as messages show it.
    pub(crate) folder: PathBuf,
    /// The folder by its canonical path.
    pub(crate) canonical: PathBuf,
    version: Version,
    requires: Vec<PackageName>,
}

/// A member whose manifest cannot be read.
#[derive(Debug, Clone)]
struct UnreadableMember {
    /// Its name as it is written, if it is.
    name: Option<String>,
    errors: Vec<Diagnostic>,
}

impl UnreadableMember {
    /// The error of a project that may require the member; `what` says what the member is or may be.
    fn error(&self, what: &str) -> Failure {
        let mut errors = self.errors.clone();
        if let Some(last) = errors.pop() {
            errors.push(last.hint(format!("this member of the workspace {what}")));
        }
        errors.into()
    }
}

impl Workspace {
    /// Reads the workspace of a project, if it has one. Two members of one name are an error.
    pub(crate) fn read(settings: &SettingsFile, options: &ReadOptions) -> Result<Option<Self>> {
        let Some(WorkspaceTable { folders, one_solve }) = workspace(settings)? else {
            return Ok(None);
        };
        let mut members: BTreeMap<PackageName, Member> = BTreeMap::new();
        let mut unreadable = Vec::new();
        let mut seen = BTreeSet::new();
        for folder in &folders {
            let manifest = match PackageFolder::read_manifest(folder, options) {
                Ok(manifest) => manifest,
                // A root of another ecosystem is no package that others require.
                Err(_) if !matches!(recognize(folder, None), Ok(None)) => continue,
                Err(errors) => {
                    let name = written_name(&errors);
                    unreadable.push(UnreadableMember { name, errors });
                    continue;
                }
            };
            let canonical = canonical(folder);
            if !seen.insert(canonical.clone()) {
                continue;
            }
            let PackageManifest {
                name,
                version,
                requirements,
                ..
            } = manifest;
            if let Some(other) = members.get(&name.value) {
                return Err(same_name(&name.value, &other.folder, folder));
            }
            let member = Member {
                folder: folder.clone(),
                canonical,
                version,
                requires: requirements.into_iter().map(|one| one.package).collect(),
            };
            members.insert(name.value, member);
        }
        Ok(Some(Self {
            canonical_folders: folders.iter().map(|folder| canonical(folder)).collect(),
            folders,
            one_solve,
            members,
            unreadable,
            packages: Mutex::default(),
        }))
    }

    /// The workspace with another package of a member, whose manifest is not written yet.
    pub(crate) fn with_edited(&self, package: &Arc<Package>) -> Self {
        let mut members = self.members.clone();
        if let Some(member) = members.get_mut(package.name()) {
            let manifest = &package.manifest;
            let required = manifest.requirements.iter();
            member.version = manifest.version.clone();
            member.requires = required.map(|one| one.package.clone()).collect();
        }
        let packages = self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        let mut packages = packages.clone();
        packages.insert(package.name().clone(), Arc::clone(package));
        Self {
            folders: self.folders.clone(),
            canonical_folders: self.canonical_folders.clone(),
            one_solve: self.one_solve,
            members,
            unreadable: self.unreadable.clone(),
            packages: Mutex::new(packages),
        }
    }

    /// The folders of members that are named by their packages or their folders, each once.
    pub(crate) fn members_named(
        &self,
        names: &[String],
        options: &ReadOptions,
    ) -> Result<Vec<PathBuf>> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for name in names {
            let folder = match self.member_named(name) {
                Some(folder) => folder.to_owned(),
                None => self.foreign_member_named(name, options)?,
            };
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        Ok(folders)
    }

    /// The folder of a member, by the name of its package or by its folder.
    fn member_named(&self, text: &str) -> Option<&Path> {
        let mut members = self.members.iter();
        if let Some((_, member)) = members.find(|(name, _)| name.as_str() == text) {
            return Some(&member.folder);
        }
        let path = canonical(Path::new(text));
        let folders = || self.folders.iter().map(PathBuf::as_path);
        if let Some(folder) = folders().find(|folder| canonical(folder) == path) {
            return Some(folder);
        }
        // The last part of its folder, if there is one such member.
        let mut similar = folders().filter(|folder| canonical(folder).ends_with(text));
        similar.next().filter(|_| similar.next().is_none())
    }

    /// The folder of a member of another ecosystem, by the name of its root. Its whole root is read for this.
    fn foreign_member_named(&self, text: &str, options: &ReadOptions) -> Result<PathBuf> {
        let mut names: Vec<String> = self.members.keys().map(PackageName::to_string).collect();
        for folder in &self.folders {
            if self.has_member_at(folder) {
                continue;
            }
            let root = ForeignRoot::find(folder, None, options).ok().flatten();
            // The name of a file that is no release would be that of the files of other members, too.
            let root = root.filter(|root| root.root.extent.is_some());
            match root.map(|root| root.root.record.name) {
                Some(name) if name.as_str() == text => return Ok(folder.clone()),
                Some(name) => names.push(name.to_string()),
                None => names.push(quoted(folder)),
            }
        }
        Err(unknown_member(text, &names))
    }

    /// The folder of the member with a package name.
    pub(crate) fn folder_of(&self, name: &PackageName) -> Option<&Path> {
        let member = self.members.get(name)?;
        Some(&member.folder)
    }

    /// The member in a folder, if the folder is a member.
    fn member_at(&self, folder: &Path) -> Option<&Member> {
        let canonical = canonical(folder);
        let mut members = self.members.values();
        members.find(|member| member.canonical == canonical)
    }

    /// Whether a folder is a member.
    pub(crate) fn has_member_at(&self, folder: &Path) -> bool {
        self.member_at(folder).is_some()
    }

    /// Whether a folder is one of those that `members` names, with or without a readable package.
    pub(crate) fn has_folder(&self, folder: &Path) -> bool {
        self.canonical_folders.contains(&canonical(folder))
    }

    /// The members that require a member, directly or through others.
    pub(crate) fn requirers_of(&self, name: &PackageName) -> Vec<&Member> {
        let mut requirers: BTreeMap<&PackageName, Vec<&PackageName>> = BTreeMap::new();
        for (requirer, member) in &self.members {
            for required in &member.requires {
                requirers.entry(required).or_default().push(requirer);
            }
        }
        let mut found = BTreeSet::new();
        let mut queue = vec![name];
        while let Some(required) = queue.pop() {
            for requirer in requirers.remove(required).into_iter().flatten() {
                if requirer != name && found.insert(requirer) {
                    queue.push(requirer);
                }
            }
        }
        let members = found.into_iter().filter_map(|one| self.members.get(one));
        members.collect()
    }

    /// The names and versions of the members that can be read.
    pub(crate) fn versions(&self) -> impl Iterator<Item = (&PackageName, &Version)> {
        let members = self.members.iter();
        members.map(|(name, member)| (name, &member.version))
    }

    /// Whether the manifest in a folder is of a member that requires other members.
    pub(crate) fn requires_members(&self, folder: &Path) -> bool {
        let member = self.member_at(folder);
        let mut requires = member.iter().flat_map(|member| &member.requires);
        requires.any(|name| self.members.contains_key(name))
    }

    /// The release that other members get of a member. If its files have errors, nothing is known of its classes:
    /// the errors are reported for the member itself.
    pub(crate) fn release(&self, name: &PackageName, options: &ReadOptions) -> Option<IndexRecord> {
        let member = self.members.get(name)?;
        Some(match self.package(name, member, options) {
            Ok(package) => package.index_record(),
            Err(_) => IndexRecord::new(name.clone(), member.version.clone()),
        })
    }

    /// The members that a package requires, directly or through others, if its folder is a member. Those that
    /// `overridden` names come from elsewhere.
    ///
    /// A member that cannot be read is an error of what requires it, so that no registry serves its name.
    pub(crate) fn required_by(
        &self,
        folder: &Path,
        package: &Package,
        overridden: &BTreeSet<PackageName>,
        options: &ReadOptions,
    ) -> Result<Option<MemoryRegistry>> {
        if !self.has_member_at(folder) {
            return Ok(None);
        }
        let root = &package.manifest;
        let mut queue: Vec<&PackageName> =
            root.requirements.iter().map(|one| &one.package).collect();
        let mut required: BTreeMap<&PackageName, &Member> = BTreeMap::new();
        let mut others: BTreeSet<&PackageName> = BTreeSet::new();
        while let Some(name) = queue.pop() {
            if *name == root.name.value || overridden.contains(name) {
                continue;
            }
            let Some((name, member)) = self.members.get_key_value(name) else {
                others.insert(name);
                continue;
            };
            if required.insert(name, member).is_none() {
                queue.extend(&member.requires);
            }
        }
        self.reject_unreadable(&others, folder, options)?;
        if required.is_empty() {
            return Ok(None);
        }
        self.registry(required, options).map(Some)
    }

    /// All members, except those that `overridden` names. An object model does not say which ones it needs.
    pub(crate) fn all_members(
        &self,
        overridden: &BTreeSet<PackageName>,
        options: &ReadOptions,
    ) -> Result<MemoryRegistry> {
        if let Some(member) = self.unreadable.first() {
            return Err(member.error("may have a class of the model"));
        }
        let members = self.members.iter();
        self.registry(
            members.filter(|(name, _)| !overridden.contains(*name)),
            options,
        )
    }

    /// A registry of members.
    fn registry<'members>(
        &self,
        members: impl IntoIterator<Item = (&'members PackageName, &'members Member)>,
        options: &ReadOptions,
    ) -> Result<MemoryRegistry> {
        let name = RegistryName::parse(REGISTRY_NAME).expect("the name is valid");
        let mut registry = MemoryRegistry::new(name);
        for (name, member) in members {
            registry.add_package(self.package(name, member, options)?);
        }
        Ok(registry)
    }

    /// Fails if a member that cannot be read has a required name, or may have one. The lockfile of the root knows which
    /// packages were members.
    fn reject_unreadable(
        &self,
        required: &BTreeSet<&PackageName>,
        root: &Path,
        options: &ReadOptions,
    ) -> Result<()> {
        for member in &self.unreadable {
            let written = member.name.as_deref();
            if let Some(name) = required.iter().find(|name| written == Some(name.as_str())) {
                return Err(member.error(&format!("is `{name}`, which is required")));
            }
        }
        let mut unnamed = self.unreadable.iter();
        let unnamed = unnamed.find(|member| member.name.is_none());
        let Some(member) = unnamed.filter(|_| !required.is_empty()) else {
            return Ok(());
        };
        let locked = locked_sources(root, options);
        let source = |name: &PackageName| locked.get(name).map(ReleaseSource::to_string);
        let were_members = required
            .iter()
            .filter(|name| source(name).as_deref() == Some(REGISTRY_NAME));
        let were_members: Vec<String> = were_members.map(|name| format!("`{name}`")).collect();
        if let [name] = were_members.as_slice() {
            return Err(member.error(&format!(
                "may be {name}, which is required, and was a member when it was locked"
            )));
        }
        let unknown = required.iter().filter(|name| source(name).is_none());
        let unknown = unknown.map(|name| format!("`{name}`"));
        let mut possible: Vec<String> = were_members.into_iter().chain(unknown).collect();
        if let Some(more @ 1..) = possible.len().checked_sub(MAX_NAMED_MEMBERS) {
            possible.truncate(MAX_NAMED_MEMBERS);
            possible.push(format!("{more} more"));
        }
        match possible.as_slice() {
            [] => Ok(()),
            [name] => Err(member.error(&format!("may be {name}, which is required"))),
            _ => Err(member.error(&format!(
                "may be one of the required packages {}",
                sentence_list(&possible, "and")
            ))),
        }
    }

    /// The package of a member.
    fn package(
        &self,
        name: &PackageName,
        member: &Member,
        options: &ReadOptions,
    ) -> Result<Arc<Package>> {
        let packages = || self.packages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(package) = packages().get(name) {
            return Ok(Arc::clone(package));
        }
        let manifest = ManifestFile::read(&member.folder, options)?;
        let package = Arc::new(manifest.parse(options, |_, _| {})?);
        packages().insert(name.clone(), Arc::clone(&package));
        Ok(package)
    }
}

/// The error for a text that names no member. `names` has something that names each of them.
fn unknown_member(text: &str, names: &[String]) -> Failure {
    let message = format!("the workspace has no member `{}`", Escaped::shortened(text));
    let finding = Diagnostic::error(Code::Usage, message);
    if let Some(similar) = most_similar_name(text, names.iter().map(String::as_str)) {
        return finding.hint(did_you_mean(similar)).into();
    }
    let shown = names.iter().take(MAX_NAMED_MEMBERS);
    let mut members: Vec<String> = shown.map(|name| format!("`{name}`")).collect();
    if let Some(more) = names.len().checked_sub(MAX_NAMED_MEMBERS + 1) {
        members.push(format!("{} more", more + 1));
    }
    if members.is_empty() {
        return finding.into();
    }
    finding
        .hint(format!("its members are {}", members.join(", ")))
        .into()
}

/// The error for a project without a workspace.
pub(crate) fn no_workspace() -> Failure {
    no_workspace_finding().into()
}

/// The error for `--package` in a project without a workspace. Cargo's `update` and `tree` name any package like this.
pub(crate) fn no_workspace_with_members(named: &[String], invocation: &Invocation) -> Failure {
    let finding = no_workspace_finding();
    if !invocation.is("update") {
        return finding.into();
    }
    let command = invocation.command_for_none(&format!("update {}", named.join(" ")));
    finding
        .hint(format!(
            "the option names members of a workspace; `{command}` updates locked packages"
        ))
        .into()
}

fn no_workspace_finding() -> Diagnostic {
    Diagnostic::error(
        Code::Usage,
        "there is no workspace: pkgres.toml needs a table `[workspace]` with `members = [\"FOLDER\"]`",
    )
}

/// The error for two members with one name: a requirement on it would be ambiguous.
fn same_name(name: &PackageName, one: &Path, other: &Path) -> Failure {
    let [one, other] = [one, other].map(|folder| folder.to_string_lossy().into_owned());
    let (one, other) = (Escaped::new(&one), Escaped::new(&other));
    Failure::usage(format!(
        "two members of the workspace are called `{name}`: {one} and {other}"
    ))
}

/// The sources of the packages in the lockfile of a folder, as far as it can be read.
fn locked_sources(folder: &Path, options: &ReadOptions) -> BTreeMap<PackageName, ReleaseSource> {
    let limits = &options.limits;
    let path = folder.join(LOCK_FILE);
    let Ok(bytes) = read_file(&path, limits.lock_bytes, Follow::Nothing) else {
        return BTreeMap::new();
    };
    let shown = path.to_string_lossy();
    let read = Lockfile::read_of_ecosystems(&shown, &bytes, limits, pkgres_formats::ECOSYSTEMS);
    let Ok((lock, _)) = read.into_result() else {
        return BTreeMap::new();
    };
    let packages = lock.packages.into_iter();
    packages
        .map(|(release, package)| (release.name, package.source))
        .collect()
}
