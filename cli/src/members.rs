//! What the members of a workspace require of each other.
//!
//! A member that another one requires comes from the workspace, at the version that its manifest says,
//! whatever registries have. It has no digest: it is worked on, and a lockfile is not to be out of date
//! for that.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{
    IndexRecord, Package, PackageManifest, PackageName, ReadOptions, RegistryName, Version,
};
use pkgres_registry_client::{MemoryRegistry, PackageFolder};

use crate::failure::{Failure, Result};
use crate::project::Project;
use crate::settings;

/// What lockfiles call the registry by that members come from.
const NAME: &str = "workspace";

/// A member, as far as its manifest tells.
#[derive(Debug)]
struct Member {
    /// As messages call it.
    folder: PathBuf,
    place: PathBuf,
    version: Version,
    requires: Vec<PackageName>,
    /// All of it, once somebody needs it.
    package: OnceLock<Arc<Package>>,
}

type Members = BTreeMap<PackageName, Member>;

static MEMBERS: OnceLock<Members> = OnceLock::new();

/// The members of the workspace of this run, by name. Those that cannot be read are not among them:
/// what is wrong with them is said where they are locked themselves.
fn all(options: &ReadOptions) -> Result<&'static Members> {
    if let Some(members) = MEMBERS.get() {
        return Ok(members);
    }
    let workspace = settings::workspace(&settings::current().project)?;
    let folders = workspace.map(|workspace| workspace.members);
    let mut members = Members::new();
    let mut seen = BTreeSet::new();
    for folder in folders.unwrap_or_default() {
        let Ok(manifest) = PackageFolder::read_manifest(&folder, options) else {
            continue;
        };
        let PackageManifest {
            name,
            version,
            requirements,
            ..
        } = manifest;
        let place = place(&folder);
        if !seen.insert(place.clone()) {
            continue;
        }
        if let Some(other) = members.get(&name.value) {
            return Err(of_one_name(&name.value, &other.folder, &folder));
        }
        let requires = requirements.into_iter().map(|one| one.package).collect();
        let member = Member {
            place,
            folder,
            version,
            requires,
            package: OnceLock::new(),
        };
        members.insert(name.value, member);
    }
    Ok(MEMBERS.get_or_init(|| members))
}

/// Refuses a workspace whose members cannot be told apart.
pub(crate) fn check(options: &ReadOptions) -> Result<()> {
    all(options).map(|_| ())
}

/// What others get of a name has to be one member.
fn of_one_name(name: &PackageName, one: &Path, other: &Path) -> Failure {
    let [one, other] = [one, other].map(|folder| folder.to_string_lossy().into_owned());
    let (one, other) = (Escaped::new(&one), Escaped::new(&other));
    Failure::usage(format!(
        "two members of the workspace are called `{name}`: {one} and {other}"
    ))
}

/// Where a folder is, however it is written.
fn place(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// The member that a folder is, if it is one.
fn at<'members>(folder: &Path, members: &'members Members) -> Option<&'members Member> {
    if members.is_empty() {
        return None;
    }
    let place = place(folder);
    members.values().find(|member| member.place == place)
}

/// Whether the project in a folder is a member that requires others, as its manifest is written.
pub(crate) fn requires_others(folder: &Path, options: &ReadOptions) -> Result<bool> {
    let members = all(options)?;
    let member = at(folder, members);
    let mut requires = member.iter().flat_map(|member| &member.requires);
    Ok(requires.any(|name| members.contains_key(name)))
}

/// Whether a folder is a member of a workspace whose members are to agree on versions.
pub(crate) fn are_solved_together(folder: &Path, options: &ReadOptions) -> Result<bool> {
    let workspace = settings::workspace(&settings::current().project)?;
    let is_one_solve = workspace.is_some_and(|workspace| workspace.one_solve);
    Ok(is_one_solve && is_member(folder, options)?)
}

/// Whether a folder is a member, so that what it requires may come from the workspace.
pub(crate) fn is_member(folder: &Path, options: &ReadOptions) -> Result<bool> {
    Ok(at(folder, all(options)?).is_some())
}

/// The release that other members get of a package that is one. What is wrong with its files is said
/// where it is looked at itself: then it is as if nothing were known of its classes.
pub(crate) fn release(name: &PackageName, options: &ReadOptions) -> Result<Option<IndexRecord>> {
    let Some(member) = all(options)?.get(name) else {
        return Ok(None);
    };
    Ok(Some(match read(member, options) {
        Ok(package) => package.index_record(),
        Err(_) => IndexRecord::new(name.clone(), member.version.clone()),
    }))
}

/// The members that a project requires, itself or through others, if it is one of the workspace.
pub(crate) fn required_by(
    project: &Project,
    options: &ReadOptions,
) -> Result<Option<MemoryRegistry>> {
    let members = all(options)?;
    let root = &project.package.manifest;
    let mut open: Vec<&PackageName> = root.requirements.iter().map(|one| &one.package).collect();
    let mut found: BTreeMap<&PackageName, &Member> = BTreeMap::new();
    while let Some(name) = open.pop() {
        if *name == root.name.value {
            continue;
        }
        if let Some((name, member)) = members.get_key_value(name)
            && found.insert(name, member).is_none()
        {
            open.extend(&member.requires);
        }
    }
    if found.is_empty() || at(&project.folder, members).is_none() {
        return Ok(None);
    }
    let mut registry = MemoryRegistry::new(RegistryName::parse(NAME).expect("the name is valid"));
    for member in found.values() {
        registry.add_package(read(member, options)?);
    }
    Ok(Some(registry))
}

/// The package of a member. Projects that are locked together require the same ones.
fn read(member: &Member, options: &ReadOptions) -> Result<Arc<Package>> {
    if let Some(package) = member.package.get() {
        return Ok(Arc::clone(package));
    }
    let package = Project::open(&member.folder, options)?.package;
    Ok(Arc::clone(member.package.get_or_init(|| package)))
}
