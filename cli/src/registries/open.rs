//! Opens registries and the other sources of releases: the host and overrides.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use pkgres_files::{Follow, read_file};
use pkgres_formats::{Format, FormatFile, ReleaseExtent};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    Ecosystem, IndexRecord, PackageName, ReadOptions, Spec, Version, did_you_mean,
};
use pkgres_registry_client::{
    CheckedLocks, DirectoryRegistry, IndexCache, Registry as _, RegistryError, RegistrySet,
    SinglePackage, built_in_core_library, read_provided,
};

use super::configured::override_name;
use super::{ConfiguredRegistry, RegistryOptions, reject_shared, title_of};
use crate::environment::state_folder;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::root_file::format_of_release;

/// The largest file of provided releases, in bytes.
const MAX_PROVIDED_BYTES: u64 = 32 << 20;

impl RegistryOptions {
    /// Opens registries, in order of preference, and the packages that override them.
    pub(crate) fn open(
        &self,
        registries: &[ConfiguredRegistry],
        options: &ReadOptions,
    ) -> Result<RegistrySet> {
        let index_cache = self
            .cache_folder
            .clone()
            .map(|folder| IndexCache::new(folder, SystemTime::now()));
        reject_shared(registries)?;
        let mut opened = Vec::with_capacity(registries.len());
        for registry in registries {
            self.check_state(registry)?;
            let http = self.http(registry)?;
            let location = &registry.location;
            let registry = location.open(options, index_cache.as_ref(), &http);
            opened.push(registry.map_err(|error| {
                let hint = location.of_other_kind();
                let hint = hint.map(did_you_mean);
                with_hints(error, hint)
            })?);
        }
        let mut set = RegistrySet::new(opened);
        if options.core == Some(PackageName::default_core_library()) {
            set = set.with_built_in(vec![built_in_core_library()]);
        }
        for registry in registries {
            for namespace in &registry.namespaces {
                set.bind(namespace.clone(), registry.location.name.clone());
            }
        }
        // All registries of a run have the same ones.
        let elsewhere = registries.first().map(|one| &one.bound_elsewhere);
        for (namespace, bound) in elsewhere.into_iter().flatten() {
            set.bind(namespace.clone(), bound.clone());
        }
        for (package, path) in self.overrides.folders()? {
            set.push_front(Box::new(overriding_package(&package, path, options)?));
        }
        Ok(set)
    }

    /// Fails if the state of a registry on the network could not be remembered. Without it, each run would trust the
    /// first answer it gets, also that of a registry that went back in time.
    fn check_state(&self, registry: &ConfiguredRegistry) -> Result<()> {
        let is_remembered = self.network.without_state || state_folder().is_some();
        // A Galaxy server signs no state.
        let has_state = registry.location.address().is_some() && !registry.location.is_galaxy();
        if is_remembered || !has_state {
            return Ok(());
        }
        let message = format!(
            "there is no folder to store the state of {}, so a rollback could not be detected",
            title_of(&registry.location)
        );
        let finding = Diagnostic::error(Code::Usage, message)
            .hint("set PKGRES_STATE to a folder that is kept, or HOME or XDG_STATE_HOME")
            .hint("PKGRES_NO_STATE=1 uses registries without that protection");
        Err(finding.into())
    }

    /// The specs that override requirements in a project of an ecosystem, by package.
    pub(crate) fn overriding_specs(
        &self,
        ecosystem: &dyn Ecosystem,
    ) -> Result<BTreeMap<PackageName, Spec>> {
        Ok(self.overrides.specs(ecosystem)?)
    }

    /// The packages that come from folders instead of registries, because overrides say so.
    pub(crate) fn overriding_folders(&self) -> impl Iterator<Item = PackageName> {
        let folders = self.overrides.folders().unwrap_or_default();
        folders.into_iter().map(|(package, _)| package)
    }

    /// Reads the releases that the host provides.
    pub(crate) fn host_releases(&self, options: &ReadOptions) -> Result<Vec<IndexRecord>> {
        let mut records = Vec::new();
        for path in &self.provided_files {
            if let Some(record) = provided_host(path)? {
                records.push(record);
                continue;
            }
            let bytes = read_file(path, MAX_PROVIDED_BYTES, Follow::Links)?;
            let shown = path.to_string_lossy();
            let file = FormatFile {
                path: &shown,
                bytes: &bytes,
            };
            if let Some(format) = format_of_release(path)
                && format.release_extent(&file) == Some(ReleaseExtent::File)
            {
                let (releases, _) = format.read_releases(&file, &(), options).into_result()?;
                records.extend(releases.into_iter().map(|release| release.record));
                continue;
            }
            let text = String::from_utf8(bytes).map_err(|_| {
                let message = format!("{}: the text is not UTF-8", Escaped::path(path));
                Diagnostic::error(Code::Encoding, message)
            })?;
            records.extend(read_provided(&shown, &text, &options.limits)?);
        }
        reject_contradictions(&records)?;
        let is_provided = |package: &PackageName| records.iter().any(|it| it.name == *package);
        if let Some(package) = self.overriding_folders().find(is_provided) {
            let message = format!(
                "`overrides` in pkgres.toml takes `{package}` from a folder, and the host provides it, too"
            );
            let finding = Diagnostic::error(Code::Usage, message)
                .hint("remove the override, or leave the package out of what `--provide` names");
            return Err(finding.into());
        }
        Ok(records)
    }

    /// The earlier checks of lockfiles by this very executable.
    pub(crate) fn checked_locks(&self) -> Option<CheckedLocks> {
        let folder = self.cache_folder()?;
        let program = std::env::current_exe().ok()?;
        let program = std::fs::metadata(program).ok()?;
        let (length, modified) = (program.len(), program.modified().ok()?);
        let program = format!("{} {length} {modified:?}", env!("CARGO_PKG_VERSION"));
        Some(CheckedLocks::new(folder, program, SystemTime::now()))
    }
}

/// The failure of a registry with hints of its own instead of the general ones, if there are any.
fn with_hints(error: RegistryError, hints: impl IntoIterator<Item = String>) -> Failure {
    let mut failure = Failure::from(error);
    let hints: Vec<String> = hints.into_iter().collect();
    if let [finding] = failure.findings.as_mut_slice()
        && !hints.is_empty()
    {
        finding.hints = hints;
    }
    failure
}

/// The ecosystem whose host the name in `NAME=VERSION` is, with the name and the version. `None` for anything else,
/// such as a file.
pub(crate) fn named_host(text: &str) -> Option<(&'static dyn Format, &str, &str)> {
    let (name, version) = text.split_once('=')?;
    let is_host = |format: &&&dyn Format| format.rules().host == Some(name);
    let format = pkgres_formats::ALL.iter().find(is_host)?;
    Some((*format, name, version))
}

/// Returns the release that `NAME=VERSION` declares, with the name of a package that the host provides, such as
/// `ansible-core`. `None` for anything else, such as a file.
fn provided_host(path: &Path) -> Result<Option<IndexRecord>> {
    let text = path.file_name().and_then(|name| name.to_str());
    let Some((format, name, text)) = text.and_then(named_host) else {
        return Ok(None);
    };
    let Ok(package) = PackageName::native(name) else {
        return Ok(None);
    };
    let Ok(version) = format.ecosystem().host_version(text) else {
        if path.exists() {
            return Ok(None);
        }
        let text = Escaped::shortened(text);
        let message = format!("`{text}` is not a version of {name}");
        return Err(Failure::usage(message));
    };
    let mut record = IndexRecord::new(package, version).with_classes([]);
    record.ecosystem = format.ecosystem();
    Ok(Some(record))
}

/// Opens the package in a folder, which replaces the releases that registries have of it.
fn overriding_package(
    package: &PackageName,
    path: &Path,
    options: &ReadOptions,
) -> Result<SinglePackage> {
    if !path.is_dir() {
        return Err(Failure::usage(format!(
            "overrides: there is no folder {} for `{package}`",
            Escaped::path(path)
        )));
    }
    let with_hint = |error: RegistryError| {
        let hint = format!("`overrides` in pkgres.toml names it for `{package}`");
        Failure {
            exit: Exit::Registry,
            ..with_hints(error, [hint])
        }
    };
    let registry = DirectoryRegistry::open(override_name(package), path, options);
    let registry = registry.map_err(with_hint)?;
    let records = registry
        .records(std::slice::from_ref(package))
        .map_err(with_hint)?;
    if records.iter().flatten().next().is_none() {
        return Err(Failure::usage(format!(
            "overrides: there is no package `{package}` in {}",
            Escaped::path(&path)
        )));
    }
    Ok(SinglePackage::new(Box::new(registry), package.clone()))
}

/// Fails if two files declare different contents of a release of the host.
fn reject_contradictions(records: &[IndexRecord]) -> Result<()> {
    let mut seen: BTreeMap<(&PackageName, &Version), &IndexRecord> = BTreeMap::new();
    for record in records {
        let known = seen
            .entry((&record.name, &record.version))
            .or_insert(record);
        if **known != *record {
            let message = format!(
                "{} {} is provided twice with different content",
                record.name, record.version
            );
            let finding = Diagnostic::error(Code::DuplicateRelease, message)
                .hint("leave it out of one of the files that `--provide` names");
            return Err(finding.into());
        }
    }
    Ok(())
}
