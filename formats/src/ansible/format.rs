//! The `Format` of collections: how roots and releases are recognized and read.

use std::collections::BTreeMap;

use pkgres_manifest::diagnostic::{Code, Diagnostic, Location, Parsed, SourceText, Span, capped};
use pkgres_manifest::{
    ArtifactDigest, ClassName, Declarations, Ecosystem, Hexadecimal, IndexRecord, PackageName,
    PackagePath, ReadOptions, Release, RequirementEdit, Spec, Version, sha256,
};

use super::artifact::{CollectionArtifact, first_member};
use super::built_files::BuiltFiles;
use super::check::CollectionReferences;
use super::documentation;
use super::facts_of_files;
use super::file_list::{FILE_LIST, FileList, ListedFile};
use super::installation::{CollectionFiles, installed_name, is_compiled};
use super::links::links_to_elsewhere;
use super::metadata::{
    COLLECTION_MANIFEST, GALAXY_FILE, read_collection_manifest, read_galaxy_file,
    written_collection_name,
};
use super::moved::moved_classes;
use super::name::{ANSIBLE_CORE, is_collection_name};
use super::project::{ProjectReferences, project_uses};
use super::range_edit::with_ranges;
use super::record::{ECOSYSTEM, add_requirement};
use super::removed_plugins::ForeignRoutes;
use super::requirement_edit::with_requirement;
use super::requirements_file::{REQUIREMENTS_FILE, read_requirements};
use super::shown_metadata::CollectionAbout;
use crate::format::{
    DigestedRecord, Distribution, Format, FormatFile, FormatNames, HEAD_BYTES, NotEditable,
    ProjectUse, ReleaseExtent, Root, RootEditor,
};
use crate::lookup::{FileTree, ReleaseLookup};
use crate::references::{ReferenceCheck, References as _};
use crate::rules::{Prereleases, Rules};

/// The end of the name of an artifact.
const ARTIFACT_SUFFIX: &str = ".tar.gz";

/// Whether a file with the name of an artifact can be one. Source distributions of Python have such names, too; all of
/// their members are in one folder with the name of the distribution.
fn may_be_artifact(file: &FormatFile<'_>) -> bool {
    let stem = file.name().strip_suffix(ARTIFACT_SUFFIX);
    let Some((stem, first)) = stem.zip(first_member(file.bytes)) else {
        return true;
    };
    first.split('/').next() != Some(stem)
}

/// The name of the collection whose artifact is called `NAMESPACE-NAME-VERSION.tar.gz`.
fn name_of_artifact(stem: &str) -> Option<String> {
    let mut parts = stem.splitn(3, '-');
    let name = format!("{}.{}", parts.next()?, parts.next()?);
    (parts.next().is_some() && is_collection_name(&name)).then_some(name)
}

/// The format of collections.
///
/// A root is a `requirements.yml`, or the `galaxy.yml` or `MANIFEST.json` of a collection. A release is an artifact, or
/// the folder of a collection, be it the source or installed.
#[derive(Debug, Clone, Copy)]
pub struct Collections;

impl Format for Collections {
    fn ecosystem(&self) -> &'static dyn Ecosystem {
        ECOSYSTEM
    }

    fn rules(&self) -> Rules {
        Rules::OF_MODULES
            .with_prereleases(Prereleases::IfNamed)
            .with_newest_of_registries()
            .with_host(ANSIBLE_CORE)
    }

    fn names(&self) -> FormatNames {
        FormatNames {
            usual_roots: &[GALAXY_FILE, COLLECTION_MANIFEST, REQUIREMENTS_FILE],
            installed_roots: &[COLLECTION_MANIFEST],
            nested_roots: &["collections/requirements.yml"],
            artifact_ending: ARTIFACT_SUFFIX,
            distribution: Distribution {
                release: "a collection",
                pack: Some("`ansible-galaxy collection build` makes an artifact of it"),
                publish: Some(
                    "`ansible-galaxy collection publish ARTIFACT --server URL` publishes a collection",
                ),
            },
        }
    }

    fn is_root(&self, file: &FormatFile<'_>) -> bool {
        is_folder_of_collection(file) || is_requirements(file)
    }

    fn read_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Root> {
        if !is_metadata_name(file.name()) {
            return read_requirements(file.path, file.bytes, &options.limits);
        }
        match read_folder(file, tree, options).into_result() {
            Ok((record, findings)) => {
                let root = Root {
                    record,
                    extent: Some(ReleaseExtent::Folder),
                    entries: Vec::new(),
                };
                Parsed::new(Some(root), findings)
            }
            Err(findings) => Parsed::new(None, findings),
        }
    }

    fn editor(&self, file: &FormatFile<'_>) -> Result<&dyn RootEditor, NotEditable> {
        if file.name() == COLLECTION_MANIFEST {
            return Err(NotEditable::because(
                "a MANIFEST.json is made when the collection is built, from the dependencies in galaxy.yml",
            ));
        }
        Ok(self)
    }

    fn is_release_name(&self, name: &str) -> bool {
        is_metadata_name(name) || name.ends_with(ARTIFACT_SUFFIX)
    }

    fn release_extent(&self, file: &FormatFile<'_>) -> Option<ReleaseExtent> {
        if file.name().ends_with(ARTIFACT_SUFFIX) {
            return may_be_artifact(file).then_some(ReleaseExtent::File);
        }
        is_folder_of_collection(file).then_some(ReleaseExtent::Folder)
    }

    fn read_releases(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Vec<DigestedRecord>> {
        if file.name().ends_with(ARTIFACT_SUFFIX) {
            return read_artifact(file, options);
        }
        let (record, mut findings) = match read_folder(file, tree, options).into_result() {
            Ok(read) => read,
            Err(findings) => return Parsed::new(None, findings),
        };
        match digest_of_folder(file, tree, options) {
            Ok((digest, more)) => {
                findings.extend(more);
                Parsed::new(Some(vec![DigestedRecord { record, digest }]), findings)
            }
            Err(error) => Parsed::failed(error),
        }
    }

    fn releases_of_artifact(
        &self,
        file: &FormatFile<'_>,
        options: &ReadOptions,
    ) -> Result<Vec<Release>, Vec<Diagnostic>> {
        let artifact = CollectionArtifact::read(file.path, file.bytes, options)?;
        Ok(vec![artifact.manifest.record.release()])
    }

    fn written_names(&self, file: &FormatFile<'_>, options: &ReadOptions) -> Vec<String> {
        let name = match file.name().strip_suffix(ARTIFACT_SUFFIX) {
            Some(stem) => name_of_artifact(stem),
            None => written_collection_name(file.name(), file.bytes, &options.limits)
                .or_else(|| installed_name(file.path)),
        };
        name.into_iter().collect()
    }

    fn folder_digest(&self, bytes: &[u8], options: &ReadOptions) -> Option<ArtifactDigest> {
        let files = CollectionFiles::of_artifact("the artifact", bytes, options).ok()?;
        Some(files.digest())
    }

    fn check_root(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        known: &dyn ReleaseLookup,
        options: &ReadOptions,
    ) -> Vec<Diagnostic> {
        let artifact;
        let mut prefix = folder_prefix(file);
        let artifact_prefix = format!("{}/", file.path);
        let is_artifact = file.name().ends_with(ARTIFACT_SUFFIX);
        let (tree, read): (&dyn FileTree, _) = if is_artifact {
            artifact = match CollectionArtifact::read(file.path, file.bytes, options) {
                Ok(artifact) => artifact,
                Err(errors) => return errors,
            };
            prefix = &artifact_prefix;
            (
                &artifact,
                Parsed::new(Some(artifact.manifest.record.clone()), Vec::new()),
            )
        } else if is_metadata_name(file.name()) {
            (tree, read_folder(file, tree, options))
        } else {
            return self.check_requirements(file, tree, known, options);
        };
        let (record, mut findings) = match read.into_result() {
            Ok(read) => read,
            Err(errors) => return errors,
        };
        let tree = &BuiltFiles::new(file, tree, options);
        match facts_of_files::read(record.name.as_str(), prefix, tree, options) {
            Ok((facts, _, more)) => {
                if is_artifact {
                    findings.extend(more);
                }
                let references = CollectionReferences::new(
                    &record, &facts, tree, prefix, file.path, options, known,
                );
                let check = ReferenceCheck {
                    record: &record,
                    root: &references,
                    rules: self.rules(),
                    known,
                    path: file.path,
                };
                findings.extend(check.findings());
                findings.extend(references.dangling_redirects());
                capped(findings)
            }
            Err(error) => vec![error],
        }
    }

    fn reference_place(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        class: &ClassName,
        options: &ReadOptions,
    ) -> Option<Location> {
        if !is_folder_of_collection(file) {
            return None;
        }
        let (record, _) = read_folder(file, tree, options).into_result().ok()?;
        let prefix = folder_prefix(file);
        let tree = &BuiltFiles::new(file, tree, options);
        let (facts, ..) = facts_of_files::read(record.name.as_str(), prefix, tree, options).ok()?;
        let references =
            CollectionReferences::new(&record, &facts, tree, prefix, file.path, options, &());
        let all = references.references();
        let mut found = all.iter().filter(|reference| reference.to == *class);
        // An import is more than a name in a YAML file.
        let first = found.clone().find(|reference| reference.is_needed);
        Some(references.place_of(first.or_else(|| found.next())?))
    }

    fn declarations(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> Parsed<Declarations> {
        if file.name().ends_with(ARTIFACT_SUFFIX) {
            return match CollectionArtifact::read(file.path, file.bytes, options) {
                Ok(artifact) => {
                    let name = artifact.manifest.record.name.clone();
                    declared(name.as_str(), file.path, &artifact, options)
                }
                Err(errors) => Parsed::new(None, errors),
            };
        }
        if !is_folder_of_collection(file) {
            return Parsed::new(Some(Declarations::default()), Vec::new());
        }
        let folder = file.path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        match read_folder(file, tree, options).into_result() {
            Ok((record, _)) => {
                let tree = BuiltFiles::new(file, tree, options);
                declared(record.name.as_str(), folder, &tree, options)
            }
            Err(errors) => Parsed::new(None, errors),
        }
    }

    fn project_uses(
        &self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        options: &ReadOptions,
    ) -> (Vec<ProjectUse>, Vec<Diagnostic>) {
        if is_requirements(file) {
            project_uses(file, tree, options)
        } else {
            (Vec::new(), Vec::new())
        }
    }

    fn moved_classes<'record>(
        &self,
        record: &'record IndexRecord,
    ) -> BTreeMap<&'record ClassName, &'record ClassName> {
        moved_classes(record)
    }

    fn artifact_name(&self, package: &PackageName, version: &Version) -> String {
        let package = package.as_str().replace('.', "-");
        format!("{package}-{version}{ARTIFACT_SUFFIX}")
    }
}

impl RootEditor for Collections {
    fn with_ranges(
        &self,
        file: &FormatFile<'_>,
        ranges: &[(PackageName, Spec)],
        options: &ReadOptions,
    ) -> Result<String, Diagnostic> {
        with_ranges(file, ranges, &options.limits)
    }

    fn with_requirement(
        &self,
        file: &FormatFile<'_>,
        edit: &RequirementEdit,
        options: &ReadOptions,
    ) -> Result<String, Diagnostic> {
        with_requirement(file, edit, &options.limits)
    }
}

impl Collections {
    /// The findings about a `requirements.yml` and the playbooks around it.
    fn check_requirements(
        self,
        file: &FormatFile<'_>,
        tree: &dyn FileTree,
        known: &dyn ReleaseLookup,
        options: &ReadOptions,
    ) -> Vec<Diagnostic> {
        let (root, mut findings) = match self.read_root(file, tree, options).into_result() {
            Ok(read) => read,
            Err(errors) => return errors,
        };
        let (uses, more) = self.project_uses(file, tree, options);
        findings.extend(more);
        let references =
            ProjectReferences::new(&uses, file.path, ForeignRoutes::new(known, options));
        let check = ReferenceCheck {
            record: &root.record,
            root: &references,
            rules: self.rules(),
            known,
            path: file.path,
        };
        findings.extend(check.findings());
        capped(findings)
    }
}

/// What the plug-ins of a collection declare. `root` is its path in messages.
fn declared(
    collection: &str,
    root: &str,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Parsed<Declarations> {
    let read = || {
        let (facts, ..) = facts_of_files::read(collection, "", tree, options)?;
        documentation::read(collection, root, tree, &facts.redirects(), options)
    };
    match read() {
        Ok((classes, findings)) => {
            let declarations = Declarations {
                options: classes,
                ..Declarations::default()
            };
            Parsed::new(Some(declarations), findings)
        }
        Err(error) => Parsed::failed(error),
    }
}

/// Whether a file has the name of the metadata of a collection.
fn is_metadata_name(name: &str) -> bool {
    matches!(name, GALAXY_FILE | COLLECTION_MANIFEST)
}

fn is_folder_of_collection(file: &FormatFile<'_>) -> bool {
    match file.name() {
        GALAXY_FILE => true,
        // Other tools have files of this name.
        COLLECTION_MANIFEST => {
            let beginning = &file.bytes[..file.bytes.len().min(HEAD_BYTES)];
            memchr::memmem::find(beginning, b"\"collection_info\"").is_some()
                || installed_name(file.path).is_some()
        }
        _ => false,
    }
}

/// Whether a file is a list of requirements: by its name, by the key `collections` at the beginning of a line, or as a
/// list of roles, with or without the key `roles`.
fn is_requirements(file: &FormatFile<'_>) -> bool {
    let name = file.name();
    if matches!(name, REQUIREMENTS_FILE | "requirements.yaml") {
        return true;
    }
    let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
    if !is_yaml {
        return false;
    }
    let is_key = |line: &[u8]| line.starts_with(b"collections:");
    let text = String::from_utf8_lossy(file.bytes);
    file.bytes.split(|byte| *byte == b'\n').any(is_key)
        || has_only_roles(&text)
        || is_list_of_roles(&text)
}

/// Whether `roles` is the only key at the beginning of a line. Other tools use the key beside others.
fn has_only_roles(text: &str) -> bool {
    let is_part = |line: &&str| line.is_empty() || line.starts_with([' ', '#', '-', '\r']);
    let mut keys = text.lines().filter(|line| !is_part(line)).peekable();
    keys.peek().is_some() && keys.all(|line| line.starts_with("roles:"))
}

/// Whether a file looks like a list of roles: its first item is the name of a role, or its items have sources, or the
/// names of roles and no other keys than roles have. Playbooks and lists of tasks are lists, too.
fn is_list_of_roles(text: &str) -> bool {
    let is_content = |line: &&str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with(['#', '-']) || line.starts_with("- ")
    };
    let mut lines = text.lines().filter(is_content).peekable();
    let Some(first) = lines.peek().and_then(|line| line.strip_prefix("- ")) else {
        return false;
    };
    if is_collection_name(first.trim()) {
        return true;
    }
    let (mut has_sources, mut has_targets) = (false, false);
    let (mut has_names, mut has_other_keys) = (false, false);
    for line in lines {
        let entry = line.strip_prefix("- ").or_else(|| line.strip_prefix("  "));
        let (key, value) = entry
            .and_then(|entry| entry.split_once(':'))
            .unwrap_or_default();
        let value = value.trim().trim_matches(['"', '\'']);
        has_sources |= key == "src";
        has_targets |= key == "dest";
        has_names |= key == "name" && is_collection_name(value);
        has_other_keys |= !["name", "src", "scm", "version"].contains(&key);
    }
    has_sources && !has_targets || has_names && !has_other_keys
}

/// Reads the folder of a collection: its metadata, its files, and what `meta/runtime.yml` requires.
fn read_folder(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Parsed<IndexRecord> {
    let limits = &options.limits;
    let read = if file.name() == GALAXY_FILE {
        match tree.read(COLLECTION_MANIFEST, limits.manifest_bytes) {
            Ok(None) => {}
            Ok(Some(_)) => {
                let message = "a folder with MANIFEST.json is an installed collection, and cannot have a galaxy.yml";
                let place = Location::new(&SourceText::new(file.path, ""), Span::default());
                return Parsed::failed(Diagnostic::error(Code::PackageShape, message).at(place));
            }
            Err(error) => return Parsed::failed(error),
        }
        read_galaxy_file(file.path, file.bytes, limits)
    } else {
        match read_collection_manifest(file.path, file.bytes, limits).into_result() {
            Ok((manifest, findings)) => Parsed::new(Some(manifest.record), findings),
            Err(findings) => return Parsed::new(None, findings),
        }
    };
    let tree: &dyn FileTree = &BuiltFiles::new(file, tree, options);
    match read.into_result() {
        Ok((record, mut findings)) => {
            // In an installed collection, they are differences from its list of files.
            if file.name() == GALAXY_FILE {
                match links_to_elsewhere(file, tree) {
                    Ok(finding) => findings.extend(finding),
                    Err(error) => return Parsed::failed(error),
                }
            }
            let files = (tree, folder_prefix(file));
            with_files(record, findings, files, options)
        }
        Err(findings) => Parsed::new(None, findings),
    }
}

/// The folder of a file with its slash, which precedes the paths of other files in messages.
fn folder_prefix<'file>(file: &FormatFile<'file>) -> &'file str {
    let length = file.path.len() - file.name().len();
    &file.path[..length]
}

/// Adds the classes of the files to a record, and the requirement on ansible-core. The files have a prefix in messages.
fn with_files(
    mut record: IndexRecord,
    mut findings: Vec<Diagnostic>,
    (tree, prefix): (&dyn FileTree, &str),
    options: &ReadOptions,
) -> Parsed<IndexRecord> {
    let name = record.name.as_str();
    let (facts, runtime, more) = match facts_of_files::read(name, prefix, tree, options) {
        Ok(read) => read,
        Err(error) => {
            findings.push(error);
            return Parsed::new(None, findings);
        }
    };
    findings.extend(more);
    let requirements = record.requirements.clone();
    let classes = facts.classes(&|collection| {
        let mut requirements = requirements.iter();
        requirements.any(|requirement| requirement.package.as_str() == collection)
    });
    if let Some(spec) = runtime.requires_ansible {
        let core = PackageName::native(ANSIBLE_CORE).expect("a native name");
        record = add_requirement(record, core, spec, None);
    }
    Parsed::new(Some(record.with_classes(classes)), findings)
}

/// A release that was read from an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionRelease {
    /// The record, with digest and size, and the digest.
    pub release: DigestedRecord,
    /// The metadata for people.
    pub about: CollectionAbout,
    /// The name and the content of the readme.
    pub readme: Option<(String, Vec<u8>)>,
    /// The name and the content of the licence.
    pub licence: Option<(String, Vec<u8>)>,
}

/// Reads an artifact of any name: its chain of digests is right, and the record has its classes.
pub fn read_collection(
    name: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Parsed<CollectionRelease> {
    let mut artifact = match CollectionArtifact::read(name, bytes, options) {
        Ok(artifact) => artifact,
        Err(errors) => return Parsed::new(None, errors),
    };
    let findings = artifact.take_findings();
    let record = artifact.manifest.record.clone();
    let size = u64::try_from(bytes.len()).ok();
    let read = with_files(record, findings, (&artifact, &format!("{name}/")), options);
    match read.into_result() {
        Ok((mut record, findings)) => {
            let digest = ArtifactDigest::of_archive(bytes);
            record.digest = Some(digest);
            record.size = size;
            let owned = |(name, content): (&str, &[u8])| (name.to_owned(), content.to_vec());
            let read = CollectionRelease {
                release: DigestedRecord { record, digest },
                readme: artifact.readme().map(owned),
                licence: artifact.licence().map(owned),
                about: artifact.manifest.about,
            };
            Parsed::new(Some(read), findings)
        }
        Err(findings) => Parsed::new(None, findings),
    }
}

fn read_artifact(file: &FormatFile<'_>, options: &ReadOptions) -> Parsed<Vec<DigestedRecord>> {
    match read_collection(file.path, file.bytes, options).into_result() {
        Ok((read, findings)) => Parsed::new(Some(vec![read.release]), findings),
        Err(findings) => Parsed::new(None, findings),
    }
}

/// The digest of all files of a folder. Those of an installed collection are compared with its list of files.
fn digest_of_folder(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<(ArtifactDigest, Vec<Diagnostic>), Diagnostic> {
    let listed = listed_files(file, tree, options)?;
    let tree = &BuiltFiles::new(file, tree, options);
    let mut digests = Vec::new();
    let mut findings = Vec::new();
    for path in tree.paths()? {
        if is_compiled(&path) {
            continue;
        }
        let bytes = tree.read(&path, options.limits.unpacked_bytes)?;
        let digest = sha256(&bytes.unwrap_or_default());
        if let Some(ListedFile::File { digest: expected }) = listed.get(&path)
            && *expected != digest
        {
            let place = Location::new(&SourceText::new(file.path, ""), Span::default());
            let message = format!(
                "`{path}` was changed after it was installed: its SHA-256 is {}",
                Hexadecimal(&digest)
            );
            findings.push(Diagnostic::warning(Code::Digest, message).at(place));
        }
        let path = PackagePath::parse(&path)
            .map_err(|error| Diagnostic::error(Code::Path, error.to_string()))?;
        digests.push((path, digest));
    }
    let digests = digests.iter().map(|(path, digest)| (path, *digest));
    Ok((ArtifactDigest::of_tree(digests), findings))
}

/// The list of files of an installed collection; empty for a source folder.
fn listed_files(
    file: &FormatFile<'_>,
    tree: &dyn FileTree,
    options: &ReadOptions,
) -> Result<FileList, Diagnostic> {
    if file.name() == GALAXY_FILE {
        return Ok(FileList::default());
    }
    let read = read_collection_manifest(file.path, file.bytes, &options.limits);
    let bytes = tree.read(FILE_LIST, options.limits.unpacked_bytes)?;
    let folder = file
        .path
        .trim_end_matches(COLLECTION_MANIFEST)
        .trim_end_matches('/');
    match (read.value(), bytes) {
        (Some(manifest), Some(bytes)) => FileList::read(manifest, &bytes, folder, &options.limits),
        // Reported where the manifest is read, or nothing to compare with.
        _ => Ok(FileList::default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_roles_are_roots_whatever_their_name_is() {
        let is_root = |text: &str| {
            Collections.is_root(&FormatFile {
                path: "roles.yml",
                bytes: text.as_bytes(),
            })
        };
        for roles in [
            "---\n# Roles\n- geerlingguy.nginx\n- geerlingguy.java\n",
            "- src: geerlingguy.nginx\n  version: 3.1.0\n",
            "- name: web\n  src: https://git.example/web\n  scm: git\n",
            "- name: acme.nginx\n  version: \"1.0\"\n\n- name: 'acme.java'\n",
            "---\n# Roles\nroles:\n- name: acme.nginx\n",
            "roles:\r\n  - acme.nginx\r\n\r\n",
        ] {
            assert!(is_root(roles), "{roles}");
        }
        for other in [
            "- hosts: all\n  roles:\n    - geerlingguy.nginx\n",
            "- name: Copy\n  ansible.builtin.copy:\n    src: a\n    dest: b\n",
            "- src: a\n  dest: b\n",
            "- import_playbook: acme.net.whole\n",
            "- name: acme.nginx\n  ansible.builtin.debug:\n",
            "- name: acme.nginx\n  hosts: all\n",
            "roles:\n- name: admin\nusers: []\n",
            "src: a\n",
            "",
        ] {
            assert!(!is_root(other), "{other}");
        }
    }
}
