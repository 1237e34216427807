//! `pkgres check`

use std::path::{Path, PathBuf};

use pkgres_checks::{Required, RequiredPackages, check_manifest, check_package};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{
    Archive, ClassName, IndexRecord, MANIFEST_FILE, Package, PackageManifest, PackageName,
    ReadOptions, Spec, read_class_file,
};
use pkgres_registry_client::{PackageFolder, RegistrySet};
use pkgres_resolver::Supply;
use serde_json::json;

use crate::args::{CheckArgs, RegistryArgs};
use crate::exit::Exit;
use crate::failure::Result;
use crate::output::Output;
use crate::registries;
use crate::show::{self, counted};

pub(crate) fn run(args: &CheckArgs, output: &mut Output) -> Result<Exit> {
    let options = ReadOptions::default();
    let core = registries::core_library(&args.registry)?;
    let provided = registries::provided(&args.registry, &options)?;
    let mut findings = Vec::new();
    let mut checked = 0;
    for path in &args.paths {
        for target in targets(path)? {
            checked += 1;
            match target {
                Target::Package(folder) => {
                    let read = read_package(&folder, &options);
                    let package = match read {
                        Ok(package) => package,
                        Err(errors) => {
                            findings.extend(errors);
                            continue;
                        }
                    };
                    let known = Known::open(&args.registry, &folder, &provided, &options)?;
                    findings.extend(check_package(&package, core.as_ref(), &known));
                    findings.extend(known.registries.take_findings());
                }
                Target::Archive(file) => {
                    let package = match read_archive(&file, &options) {
                        Ok(package) => package,
                        Err(errors) => {
                            findings.extend(errors);
                            continue;
                        }
                    };
                    let known = Known::open(&args.registry, &file, &provided, &options)?;
                    findings.extend(check_package(&package, core.as_ref(), &known));
                }
                Target::File(file) => {
                    findings.extend(check_file(&file, core.as_ref(), &options));
                }
            }
        }
    }
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let warnings = findings.len() - errors;
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": if errors == 0 { "passed" } else { "failed" },
            "checked": checked,
            "errors": errors,
            "warnings": warnings,
            "diagnostics": show::diagnostics_json(&findings),
        }));
    } else {
        output.findings(&findings);
        output.note(&format!(
            "Checked {}: {}, {}",
            counted(checked, "input"),
            counted(errors, "error"),
            counted(warnings, "warning")
        ));
    }
    Ok(if errors == 0 {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Something to check.
enum Target {
    /// A folder with a manifest.
    Package(PathBuf),
    /// A package archive.
    Archive(PathBuf),
    /// A manifest or class file by itself.
    File(PathBuf),
}

/// What a path names: a package, a file, or everything below a folder that is no package.
fn targets(path: &Path) -> Result<Vec<Target>> {
    if path.is_dir() {
        if path.join(MANIFEST_FILE).symlink_metadata().is_ok() {
            return Ok(vec![Target::Package(path.to_owned())]);
        }
        let found = packages_below(path)?;
        if found.is_empty() {
            let message = format!("{} holds no package", path.to_string_lossy());
            return Err(Diagnostic::error(Code::PackageShape, message)
                .hint(format!(
                    "a package has a `{MANIFEST_FILE}` in its top folder"
                ))
                .into());
        }
        return Ok(found);
    }
    Ok(vec![
        match path.file_name().and_then(|name| name.to_str()) {
            Some(MANIFEST_FILE) => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty());
                Target::Package(folder.unwrap_or(Path::new(".")).to_owned())
            }
            _ if path.extension().is_some_and(|extension| extension == "zip") => {
                Target::Archive(path.to_owned())
            }
            _ => Target::File(path.to_owned()),
        },
    ])
}

fn packages_below(folder: &Path) -> Result<Vec<Target>> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(folder) = rest.pop() {
        if folder.join(MANIFEST_FILE).symlink_metadata().is_ok() {
            found.push(Target::Package(folder));
            continue;
        }
        let entries = std::fs::read_dir(&folder)
            .and_then(Iterator::collect::<std::io::Result<Vec<_>>>)
            .map_err(|error| {
                let message = format!("cannot read {}: {error}", folder.to_string_lossy());
                Diagnostic::error(Code::File, message)
            })?;
        let mut folders = Vec::new();
        for entry in entries {
            let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
            let kind = entry.file_type().ok();
            let path = entry.path();
            if is_hidden {
                continue;
            }
            if kind.is_some_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "zip") {
                found.push(Target::Archive(path));
            }
        }
        folders.sort_unstable_by(|one, two| two.cmp(one));
        rest.extend(folders);
    }
    Ok(found)
}

fn read_package(
    folder: &Path,
    options: &ReadOptions,
) -> std::result::Result<Package, Vec<Diagnostic>> {
    let folder =
        PackageFolder::open(folder, options).map_err(|error| vec![error.to_diagnostic()])?;
    folder
        .package(options)
        .into_result()
        .map(|(package, _)| package)
}

fn read_archive(
    file: &Path,
    options: &ReadOptions,
) -> std::result::Result<Package, Vec<Diagnostic>> {
    let shown = file.to_string_lossy();
    let bytes = read_file(file, options.limits.archive_bytes, Follow::Links)
        .map_err(|error| vec![error.to_diagnostic()])?;
    let archive = Archive::open(&shown, bytes, &options.limits).map_err(|error| vec![error])?;
    Package::from_archive(&shown, &archive, options)
        .into_result()
        .map(|(package, _)| package)
}

/// A manifest or class file by itself: a manifest if it has a `FullName`, else a class file.
fn check_file(file: &Path, core: Option<&PackageName>, options: &ReadOptions) -> Vec<Diagnostic> {
    let limit = options
        .limits
        .manifest_bytes
        .max(options.limits.class_file_bytes);
    let bytes = match read_file(file, limit, Follow::Links) {
        Ok(bytes) => bytes,
        Err(error) => return vec![error.to_diagnostic()],
    };
    let shown = file.to_string_lossy();
    // Class files say where their names come from; manifests say what the package is called.
    let has_line = |key: &str| {
        bytes
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(key.as_bytes()))
    };
    if has_line("Namespaces:") && !has_line("FullName:") {
        return read_class_file(&shown, &bytes, options)
            .diagnostics()
            .to_vec();
    }
    match PackageManifest::read(&shown, &bytes, options).into_result() {
        Ok((manifest, mut findings)) => {
            findings.extend(check_manifest(&manifest, core));
            findings
        }
        Err(errors) => errors,
    }
}

/// The classes of the packages that registries and the host have.
struct Known {
    registries: RegistrySet,
    provided: Vec<IndexRecord>,
}

impl Known {
    fn open(
        args: &RegistryArgs,
        path: &Path,
        provided: &[IndexRecord],
        options: &ReadOptions,
    ) -> Result<Self> {
        Ok(Self {
            registries: registries::open(args, Some(path), options)?,
            provided: provided.to_vec(),
        })
    }

    /// All releases of a package; none if nothing is known of it.
    fn releases(&self, package: &PackageName) -> Vec<IndexRecord> {
        let provided: Vec<IndexRecord> = self
            .provided
            .iter()
            .filter(|record| record.name == *package)
            .cloned()
            .collect();
        if !provided.is_empty() {
            return provided;
        }
        match self.registries.supply(std::slice::from_ref(package)) {
            Ok(supplies) => match supplies.into_iter().next() {
                Some(Supply::Releases { records, .. }) => records,
                _ => Vec::new(),
            },
            Err(_) => Vec::new(),
        }
    }
}

impl RequiredPackages for Known {
    fn defines(&self, package: &PackageName, spec: &Spec, class: &ClassName) -> Required {
        let releases = self.releases(package);
        let mut matching = releases
            .iter()
            .filter(|record| spec.matches(&record.version))
            .peekable();
        if matching.peek().is_none() {
            return Required::Unknown;
        }
        let mut result = Required::DoesNot;
        for record in matching {
            match &record.classes {
                None => return Required::Unknown,
                Some(classes)
                    if classes
                        .iter()
                        .any(|known| known.name == *class && !known.internal) =>
                {
                    result = Required::Defines;
                }
                Some(_) => {}
            }
        }
        result
    }

    fn classes(&self, package: &PackageName) -> Vec<ClassName> {
        let mut names: Vec<ClassName> = self
            .releases(package)
            .into_iter()
            .flat_map(|record| record.classes.unwrap_or_default())
            .filter(|class| !class.internal)
            .map(|class| class.name)
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
