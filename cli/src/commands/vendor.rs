//! `pkgres vendor`

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use pkgres_files::{
    FileError, FileSystem as _, FolderWriter, RealFileSystem, lock_folder, write_file,
};
use pkgres_formats::{Format, FormatFile};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    ArtifactDigest, CLASS_PACKAGES, IndexRecord, Lockfile, ReadOptions, Release,
};
use pkgres_registry_client::{
    Artifact, PackageFolder, ReceivedArtifact, VENDORED_FILE, VendoredArchives,
};
use serde_json::json;

use super::locked_artifacts::{WithoutDigest, fetch_locked, locked_project};
use crate::args::VendorArgs;
use crate::commands::members::Projects;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;
use crate::project::Project;
use crate::requirements_first::requirements_first;
use crate::root_file::release_of_folder;
use crate::show::counted;

pub(super) fn run(args: &VendorArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    let manifests = match Projects::of(&args.locked.members, &args.locked.manifest, context)? {
        Projects::One(manifest) => vec![manifest],
        Projects::Several(batch) => {
            // The folder would look as if it had everything.
            batch.require_all(context)?;
            batch.manifests
        }
    };
    // Nothing is written if a lockfile is missing.
    let projects: Vec<(Project, Lockfile)> = (manifests.iter())
        .map(|manifest| locked_project(&args.locked, manifest, context, output))
        .collect::<Result<_>>()?;
    let writer = FolderWriter::open(&RealFileSystem, &args.folder)?;
    // Two runs with different lockfiles would remove what the other one wrote.
    let _alone = lock_folder(&args.folder, || {
        output.note_waiting(&args.folder);
    })?;
    let mut vendored = Vendored {
        writer,
        record: Record::read(&args.folder)?,
        written: BTreeSet::new(),
        without_digest: BTreeSet::new(),
    };
    for (project, lock) in &projects {
        if project.format.rules().load_order {
            vendored.add_in_load_order(project, lock, context, output)?;
        } else {
            vendored.add(project, lock, context, output)?;
        }
    }
    let Vendored {
        writer,
        record,
        written,
        without_digest,
    } = vendored;
    writer.finish()?;
    for Release { name, version } in &without_digest {
        output.remarks([format!("{name} {version} has no digest; skipped")]);
    }
    let (removed, left) = clean(&record, &written)?;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "vendored",
            "folder": args.folder.to_string_lossy(),
            "archives": written.len(),
            "removed": removed,
            "left": left,
        }));
    }
    for file in &removed {
        output.note(&format!("removed: {} (not locked)", Escaped::new(file)));
    }
    for file in &left {
        output.note(&format!("left as it is: {}", Escaped::new(file)));
    }
    let shown = args.folder.to_string_lossy();
    let shown = Escaped::new(&shown);
    output.note(&format!(
        "Wrote {} to {shown}",
        counted(written.len(), "archive")
    ));
    Ok(Exit::Done)
}

/// A folder of archives, while it is written.
struct Vendored<'run> {
    writer: FolderWriter<'run, RealFileSystem>,
    record: Record<'run>,
    /// The files that were written.
    written: BTreeSet<String>,
    /// The releases that were left out.
    without_digest: BTreeSet<Release>,
}

impl Vendored<'_> {
    /// Writes the artifacts of a project as they arrive.
    fn add(
        &mut self,
        project: &Project,
        lock: &Lockfile,
        context: &Context,
        output: &mut Output,
    ) -> Result<()> {
        let names = artifact_names(lock, project.format);
        let write = |release: &Release, received: ReceivedArtifact| {
            let file = &names[release];
            self.write(file, &received.artifact, project, names.values(), context)
        };
        let fetched = fetch_locked(
            project,
            lock,
            WithoutDigest::Rejected,
            context,
            output,
            write,
        )?;
        self.without_digest.extend(fetched.without_digest);
        Ok(())
    }

    /// Writes the artifacts of a project whose files are loaded one after the other. Which of them are needed is known
    /// only when all have arrived.
    fn add_in_load_order(
        &mut self,
        project: &Project,
        lock: &Lockfile,
        context: &Context,
        output: &mut Output,
    ) -> Result<()> {
        let mut artifacts = LoadedFiles::new();
        let hold = |release: &Release, received: ReceivedArtifact| {
            artifacts.insert(release.clone(), received.artifact);
            Ok(())
        };
        let fetched = fetch_locked(
            project,
            lock,
            WithoutDigest::Rejected,
            context,
            output,
            hold,
        )?;
        self.without_digest.extend(fetched.without_digest);
        let inside = files_inside_others(lock, &artifacts, project.format, context);
        let names = names_in_load_order(lock, project.format, &inside);
        let mut seen = BTreeSet::new();
        for (release, artifact) in &artifacts {
            let Some(file) = names.get(release) else {
                continue;
            };
            let digest = lock.packages[release].digest;
            if digest.is_some_and(|digest| inside.contains_key(&digest)) {
                let Release { name, version } = release;
                output.remarks([format!(
                    "{name} {version} is also in {file}: its own file is skipped"
                )]);
                continue;
            }
            // A file can have several of the releases.
            if seen.insert(file) {
                self.write(file, artifact, project, names.values(), context)?;
            }
        }
        Ok(())
    }

    /// Writes an archive. `all` are the names of all archives of the project.
    fn write<'name>(
        &mut self,
        file: &str,
        artifact: &Artifact,
        project: &Project,
        all: impl Iterator<Item = &'name String>,
        context: &Context,
    ) -> Result<()> {
        self.record.add_before_writing(file, all)?;
        let options = &context.read_options;
        write_artifact(artifact, &self.writer, file, project.format, options)?;
        self.written.insert(file.to_owned());
        Ok(())
    }
}

/// The file names of the releases of a lockfile.
fn artifact_names(lock: &Lockfile, format: &'static dyn Format) -> BTreeMap<Release, String> {
    let releases = lock.packages.keys();
    let names = releases.map(|release| {
        let name = format.artifact_name(&release.name, &release.version);
        (release.clone(), name)
    });
    names.collect()
}

/// The artifacts of releases whose files are loaded one after the other.
type LoadedFiles = BTreeMap<Release, Artifact>;

/// The files of which another file has all releases: a registry can have a model by itself, and another registry the
/// same model with a second one in one file. Loading both files would load the model twice.
fn files_inside_others(
    lock: &Lockfile,
    artifacts: &LoadedFiles,
    format: &'static dyn Format,
    context: &Context,
) -> BTreeMap<ArtifactDigest, ArtifactDigest> {
    let mut contents: BTreeMap<ArtifactDigest, BTreeSet<Release>> = BTreeMap::new();
    for (release, artifact) in artifacts {
        let (Some(digest), Artifact::File(bytes)) = (lock.packages[release].digest, artifact)
        else {
            continue;
        };
        contents.entry(digest).or_insert_with(|| {
            let path = &format.artifact_name(&release.name, &release.version);
            let file = FormatFile { path, bytes };
            let read = format.read_releases(&file, &(), &context.read_options);
            let records = read.value().into_iter().flatten();
            let records = records.map(|read| &read.record);
            records.map(IndexRecord::release).collect()
        });
    }
    let mut inside = BTreeMap::new();
    for (digest, releases) in &contents {
        let around = contents.iter().filter(|(other, others)| {
            let is_more = others.len() > releases.len() || *other < digest;
            *other != digest && is_more && releases.is_subset(others)
        });
        if let Some((other, _)) =
            around.max_by_key(|(other, others)| (others.len(), std::cmp::Reverse(*other)))
        {
            inside.insert(*digest, *other);
        }
    }
    inside
}

/// The names of files that are loaded one after the other. They begin with numbers, so that those that a file requires
/// come before it. Releases of files [inside others](files_inside_others) have the names of these.
fn names_in_load_order(
    lock: &Lockfile,
    format: &'static dyn Format,
    inside: &BTreeMap<ArtifactDigest, ArtifactDigest>,
) -> BTreeMap<Release, String> {
    let files = files_in_load_order(lock, inside);
    let digits = files.len().to_string().len().max(2);
    let mut names = BTreeMap::new();
    for (at, releases) in files.iter().enumerate() {
        let is_inside = |release: &Release| {
            let digest = lock.packages[release].digest;
            digest.is_some_and(|digest| inside.contains_key(&digest))
        };
        let own = releases.iter().find(|release| !is_inside(release));
        let Release {
            name: package,
            version,
        } = own.unwrap_or(&releases[0]);
        let name = format.artifact_name(package, version);
        let file = format!("{:0digits$}-{name}", at + 1);
        names.extend(
            releases
                .iter()
                .map(|release| ((*release).clone(), file.clone())),
        );
    }
    names
}

/// The releases of each file, in the order in which the files are loaded: each after those with releases that one of its
/// own requires. Releases with the same digest are in one file, and so are those of a file inside another one.
fn files_in_load_order<'lock>(
    lock: &'lock Lockfile,
    inside: &BTreeMap<ArtifactDigest, ArtifactDigest>,
) -> Vec<Vec<&'lock Release>> {
    // A file is named by the first of its releases.
    let mut first_of: BTreeMap<ArtifactDigest, &Release> = BTreeMap::new();
    let mut files: BTreeMap<&Release, Vec<&Release>> = BTreeMap::new();
    let mut file_of = BTreeMap::new();
    for (release, locked) in &lock.packages {
        let digest = locked
            .digest
            .map(|digest| inside.get(&digest).copied().unwrap_or(digest));
        let first = match digest {
            Some(digest) => *first_of.entry(digest).or_insert(release),
            None => release,
        };
        files.entry(first).or_default().push(release);
        file_of.insert(release, first);
    }
    let order = requirements_first(files.keys().copied(), |file| {
        let bindings = files[file]
            .iter()
            .flat_map(|release| lock.packages[*release].requires.iter());
        let required = bindings.filter_map(|(package, version)| {
            let required = file_of.get(&Release::new(package.clone(), version.clone()))?;
            (*required != file).then_some(*required)
        });
        required.collect()
    });
    order.into_iter().map(|file| files[file].clone()).collect()
}

/// The record of the archives that runs wrote into a folder, or were about to write.
///
/// They are in it before they are written, so that a later run removes what one that failed left behind.
struct Record<'folder> {
    folder: &'folder Path,
    names: BTreeSet<String>,
}

impl<'folder> Record<'folder> {
    fn read(folder: &'folder Path) -> Result<Self> {
        let VendoredArchives(names) = VendoredArchives::of(folder)?;
        Ok(Self { folder, names })
    }

    /// Adds all archives of a run, unless the one that is written next is known or there. A file that is there already
    /// may be of somebody else: it is added once its archive is written.
    fn add_before_writing<'name>(
        &mut self,
        next: &str,
        all: impl Iterator<Item = &'name String>,
    ) -> Result<()> {
        let is_absent = |name: &str| self.folder.join(name).symlink_metadata().is_err();
        if self.names.contains(next) || !is_absent(next) {
            return Ok(());
        }
        let new: Vec<&String> = all.filter(|name| is_absent(name)).collect();
        self.names.extend(new.into_iter().cloned());
        self.write(&self.names)
    }

    /// Writes these names in place of the earlier ones.
    fn write(&self, names: &BTreeSet<String>) -> Result<()> {
        let text: String = names.iter().map(|name| format!("{name}\n")).collect();
        let path = self.folder.join(VENDORED_FILE);
        write_file(&RealFileSystem, &path, text.as_bytes())?;
        Ok(())
    }
}

/// Removes the archives that an earlier run wrote and this one did not; returns their names and those of all other files
/// that were not `written`.
fn clean(record: &Record<'_>, written: &BTreeSet<String>) -> Result<(Vec<String>, Vec<String>)> {
    let system = RealFileSystem;
    let folder = record.folder;
    let failed = |action: &'static str| {
        move |source| FileError::System {
            action,
            path: folder.to_owned(),
            source,
        }
    };
    let (mut removed, mut left) = (Vec::new(), Vec::new());
    let mut names = system.names(folder).map_err(failed("cannot read"))?;
    names.sort_unstable();
    for name in names {
        if written.contains(&name) || name == VENDORED_FILE {
            continue;
        }
        // Also the name has to be that of an artifact: the record is a file that anybody can write.
        let is_artifact = PackageFolder::release_of_archive(&name).is_some()
            || pkgres_formats::ALL.iter().any(|format| {
                format.ecosystem() != CLASS_PACKAGES && format.is_release_name(&name)
            });
        if is_artifact && record.names.contains(&name) {
            system
                .remove(&folder.join(&name))
                .map_err(failed("cannot clean"))?;
            removed.push(name);
        } else {
            left.push(name);
        }
    }
    record.write(written)?;
    Ok((removed, left))
}

/// The error about a release of another ecosystem that is only there as a folder: pkgres does not make its artifact. The
/// program that makes one takes the folder of the sources, and not what was installed.
fn no_artifact(artifact: &Artifact, format: &dyn Format) -> Failure {
    let message = "it comes from a folder and has no artifact to copy";
    let mut finding = Diagnostic::error(Code::Usage, message);
    let root = match artifact {
        Artifact::Tree(folder) => release_of_folder(folder),
        _ => None,
    };
    let is_written = root.is_some_and(|(root, format)| {
        let names = format.names();
        let mut written = names.written_roots();
        written.any(|name| root.file_name() == Some(name.as_ref()))
    });
    if let Some(pack) = format.names().distribution.pack.filter(|_| is_written) {
        finding = finding.hint(pack);
    }
    finding
        .hint("put the artifact into a registry in place of the folder")
        .into()
}

/// Writes the archive of a release; the release of a folder registry is packed first.
fn write_artifact(
    artifact: &Artifact,
    writer: &FolderWriter<'_, RealFileSystem>,
    file: &str,
    format: &dyn Format,
    options: &ReadOptions,
) -> Result<()> {
    let packed;
    let bytes = match artifact {
        Artifact::Archive(archive) => archive.bytes(),
        Artifact::Folder(folder) => {
            packed = folder.archive(options)?;
            &packed
        }
        Artifact::File(bytes) => bytes,
        _ => return Err(no_artifact(artifact, format)),
    };
    writer.write(file, bytes)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pkgres_manifest::{LockedPackage, PackageName, ReleaseSource, Version};

    #[test]
    fn a_file_comes_before_what_requires_one_of_its_models() {
        let release = |name: &str| {
            let name: PackageName = name.parse().expect("a name");
            Release::new(name, Version::new(1, 0, 0))
        };
        let locked = |file: &str, required: &[&str]| LockedPackage {
            source: ReleaseSource::Host,
            digest: Some(ArtifactDigest::of_archive(file.as_bytes())),
            requires: required.iter().map(|name| release(name)).collect(),
        };
        // An index does not say that the two models of one file require each other.
        let packages = [
            (release("a"), locked("a and z", &[])),
            (release("m"), locked("m", &["a"])),
            (release("z"), locked("a and z", &["y"])),
            (release("y"), locked("y", &[])),
        ];
        let lock = Lockfile {
            packages: packages.into_iter().collect(),
            ..Lockfile::default()
        };
        let files = files_in_load_order(&lock, &BTreeMap::new());
        let files = files.into_iter().map(|releases| {
            let names = releases.iter().map(|Release { name, .. }| name.to_string());
            names.collect::<Vec<_>>()
        });
        let expected: [&[&str]; 3] = [&["y"], &["a", "z"], &["m"]];
        assert!(
            files.eq(expected),
            "a file is loaded before its requirements"
        );
    }

    #[test]
    fn a_file_inside_another_one_is_loaded_with_that() {
        let release = |name: &str| {
            let name: PackageName = name.parse().expect("a name");
            Release::new(name, Version::new(1, 0, 0))
        };
        let digest = |file: &str| ArtifactDigest::of_archive(file.as_bytes());
        let locked = |file: &str, required: &[&str]| LockedPackage {
            source: ReleaseSource::Host,
            digest: Some(digest(file)),
            requires: required.iter().map(|name| release(name)).collect(),
        };
        let packages = [
            (release("a"), locked("a", &["b"])),
            (release("b"), locked("b", &[])),
            (release("c"), locked("b and c", &["b", "d"])),
            (release("d"), locked("d", &[])),
        ];
        let lock = Lockfile {
            packages: packages.into_iter().collect(),
            ..Lockfile::default()
        };
        let inside = BTreeMap::from([(digest("b"), digest("b and c"))]);
        let files = files_in_load_order(&lock, &inside);
        let files = files.into_iter().map(|releases| {
            let names = releases.iter().map(|Release { name, .. }| name.to_string());
            names.collect::<Vec<_>>()
        });
        let expected: [&[&str]; 3] = [&["d"], &["b", "c"], &["a"]];
        assert!(files.eq(expected), "a model is loaded twice");
    }
}
