//! `pkgres publish`

use std::path::Path;
use std::sync::Arc;

use pkgres_checks::check_manifest;
use pkgres_files::{Follow, read_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{
    Archive, ArtifactDigest, CLASS_PACKAGES, IndexRecord, MANIFEST_FILE, Package, PackageName,
    ReadOptions,
};
use pkgres_registry_client::http::Published;
use pkgres_registry_client::protocol::{ListedTexts, broken_rule};
use pkgres_registry_client::{
    HttpRegistry, Registry as _, RegistryError, titled_at, unsatisfiable,
};
use pkgres_resolver::Request;
use serde_json::json;

use crate::args::PublishArgs;
use crate::bound_release::BoundRelease;
use crate::commands::check::{PackageContents, check_before_publishing, unread_requirements};
use crate::commands::pack::{self, require_class_package};
use crate::commands::semver::{Compared, newest_release};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::output::Output;
use crate::read_manifest::package_of;
use crate::registries::{ConfiguredRegistry, RemoteRegistry, shown_target, title_of};
use crate::show::counted;
use crate::solve_task::SolveTask;

/// How many characters of a warning of the registry are shown; two package names fit.
const WARNING_CHARACTERS: usize = 1000;

pub(super) fn run(args: &PublishArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    not_address(&args.package, context)?;
    let path = package_of(&args.package);
    let (candidate, bytes) = Candidate::read(&path, context, output)?;
    if let Some(error) = without_version(&candidate.package) {
        let mut findings = candidate.findings;
        // A warning may be about the key that was meant.
        findings.extend(check_manifest(&candidate.package.manifest));
        findings.push(error);
        return Err(Failure {
            findings,
            exit: Exit::Failed,
        });
    }
    let name = candidate.package.name();
    let remote = target(args, name, context)?;
    let configured = remote.registry.clone();
    let registry = context.registries.open_remote(remote)?;
    let known = check(
        args,
        &path,
        &candidate,
        &registry,
        &configured,
        context,
        output,
    )?;
    let version = &candidate.package.manifest.version;
    let mut tried = PublishOutcome::WouldPublish;
    if let Some(known) = known {
        same_package_system(name, &known, &registry)?;
        tried = candidate.try_out(&known);
        if tried == PublishOutcome::WouldPublish && !args.allow_unsatisfiable {
            output.during("Looking up releases", context.registries.activity(), || {
                check_requirements(&candidate.package, &path, &configured, context)
            })?;
        }
        if !args.allow_incompatible
            && let Some(below) = newest_release(known, None, Some(version))
        {
            check_bump(
                (&candidate.package, &path),
                &below,
                &configured,
                context,
                output,
            )?;
        }
    }
    let (outcome, warnings) = if args.dry_run {
        (tried, Vec::new())
    } else {
        let message = format!("Publishing {name} {version}");
        output.during(&message, context.registries.activity(), || {
            candidate.publish(bytes, &registry, args.allow_unsatisfiable)
        })?
    };
    report(&candidate, outcome, &warnings, &registry, output);
    Ok(outcome.exit())
}

/// A package that is to be published.
struct Candidate {
    package: Package,
    /// What was found when it was read.
    findings: Vec<Diagnostic>,
    digest: ArtifactDigest,
    /// The size of its archive in bytes.
    size: usize,
    contents: PackageContents,
}

/// The way in which a package is in a registry after a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PublishOutcome {
    Published,
    /// It would be published, if this were no dry run.
    WouldPublish,
    /// The registry already has it with the same content.
    Same,
    /// The registry already has it with other content.
    Exists,
}

impl PublishOutcome {
    /// The status of the JSON document.
    fn status(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::WouldPublish => "would_publish",
            Self::Same => "same",
            Self::Exists => "exists",
        }
    }

    /// The sentence about a release of a size in a registry.
    fn summary(self, release: &str, target: &str, size: usize) -> String {
        match self {
            Self::Published => format!("Published {release} to {target}"),
            Self::WouldPublish => format!("Would publish {release} to {target}: {size} bytes"),
            Self::Same => format!("{target} already has {release} with the same content"),
            Self::Exists => format!("{target} already has {release} with other content"),
        }
    }

    fn exit(self) -> Exit {
        match self {
            Self::Published | Self::WouldPublish | Self::Same => Exit::Done,
            Self::Exists => Exit::Failed,
        }
    }
}

impl Candidate {
    /// Reads a package, and returns its archive as well; a folder is packed.
    fn read(path: &Path, context: &Context, output: &mut Output) -> Result<(Self, Vec<u8>)> {
        let options = ReadOptions::default();
        let (package, findings, contents, bytes) = read(path, &options, context, output)?;
        let candidate = Self {
            package,
            findings,
            contents,
            digest: ArtifactDigest::of_archive(&bytes),
            size: bytes.len(),
        };
        Ok((candidate, bytes))
    }

    /// What publishing would do in a registry with these releases of the package.
    fn try_out(&self, known: &[IndexRecord]) -> PublishOutcome {
        let version = &self.package.manifest.version;
        let same_version = known.iter().find(|record| record.version == *version);
        match same_version {
            None => PublishOutcome::WouldPublish,
            Some(record) if record.digest == Some(self.digest) => PublishOutcome::Same,
            Some(_) => PublishOutcome::Exists,
        }
    }

    /// Fails if no registry would accept it, whatever it has.
    fn check_rules(&self, registry: &HttpRegistry) -> Result<()> {
        let mut record = self.package.index_record();
        record.digest = Some(self.digest);
        record.size = Some(self.size as u64);
        let manifest = &self.package.manifest;
        let max_line_bytes = ReadOptions::default().limits.index_line_bytes;
        let texts = ListedTexts::of_manifest(manifest);
        let Some(rule) = broken_rule(&record, &texts, max_line_bytes) else {
            return Ok(());
        };
        let target = titled_at(registry.name(), registry.address());
        let message = format!(
            "{target} would not accept {}: {rule}",
            self.package.release()
        );
        Err(Failure {
            findings: vec![
                Diagnostic::error(Code::Rejected, message).at(manifest.name.location.clone()),
            ],
            exit: Exit::Registry,
        })
    }

    /// Publishes its archive; also returns the warnings of the registry.
    fn publish(
        &self,
        archive: Vec<u8>,
        registry: &HttpRegistry,
        allows_unsatisfiable: bool,
    ) -> Result<(PublishOutcome, Vec<String>)> {
        let (name, version) = (self.package.name(), &self.package.manifest.version);
        let answer = registry.publish(name, version, archive, allows_unsatisfiable)?;
        let outcome = match answer.published {
            Published::New => PublishOutcome::Published,
            Published::Same => PublishOutcome::Same,
        };
        Ok((outcome, answer.warnings))
    }
}

/// Checks a package before it is published, and reports the findings. Returns the releases that the registry has of it;
/// `None` if the token cannot read them.
fn check(
    args: &PublishArgs,
    path: &Path,
    candidate: &Candidate,
    registry: &HttpRegistry,
    configured: &ConfiguredRegistry,
    context: &Context,
    output: &mut Output,
) -> Result<Option<Vec<IndexRecord>>> {
    let known = output.during("Looking up releases", context.registries.activity(), || {
        known_releases(registry, candidate.package.name(), context)
    })?;
    // That the token cannot read is said once.
    let mut said = None;
    if known.is_none() && (args.dry_run || !args.allow_incompatible) {
        output.findings(&[unread_releases(args, registry)]);
        said = Some(unread_requirements(configured));
    }
    let mut findings = candidate.findings.clone();
    let allows = args.allow_unsatisfiable;
    let read = (&candidate.package, &candidate.contents);
    for finding in check_before_publishing(path, read, configured, allows, context, output)? {
        if said.as_ref() != Some(&finding) && !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    if findings.iter().any(Diagnostic::is_error) {
        return Err(Failure {
            findings,
            exit: Exit::Failed,
        });
    }
    output.findings(&findings);
    registry.check_accepts(candidate.size)?;
    candidate.check_rules(registry)?;
    Ok(known)
}

/// The error about a package whose manifest states no version: nobody meant to give it 0.0.0, and a release cannot
/// change.
fn without_version(package: &Package) -> Option<Diagnostic> {
    if package.manifest.states_version() {
        return None;
    }
    let message =
        "the manifest has no `Version`, and a release cannot be changed once it is published";
    let hint = "add `Version: 0.1.0` to the manifest, or `Version: 0.0.0` if that is meant";
    Some(
        Diagnostic::error(Code::Version, message)
            .at(package.manifest.version_location.clone())
            .hint(hint),
    )
}

/// Reports the outcome, and what the registry warned of.
fn report(
    candidate: &Candidate,
    outcome: PublishOutcome,
    warnings: &[String],
    registry: &HttpRegistry,
    output: &mut Output,
) {
    let (name, version) = (
        candidate.package.name(),
        &candidate.package.manifest.version,
    );
    let (digest, size) = (candidate.digest, candidate.size);
    let warnings = warnings.iter();
    let warnings: Vec<String> = warnings
        .map(|text| Escaped::within(text, WARNING_CHARACTERS).to_string())
        .collect();
    let findings = warnings.iter();
    let findings: Vec<Diagnostic> = findings
        .map(|text| Diagnostic::warning(Code::PublishWarning, text.as_str()))
        .collect();
    output.findings(&findings);
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": outcome.status(),
            "registry": registry.name().as_str(),
            "name": name,
            "version": version,
            "sha256": digest,
            "size": size,
            "warnings": warnings,
        }));
    } else {
        output.data(&format!("{digest}  {name} {version}\n"));
    }
    let (release, target) = (format!("{name} {version}"), shown_target(registry));
    output.note(&outcome.summary(&release, &target, size));
}

/// The registry that a package is published to. It is an error if the package is bound to another one: no project with
/// these settings would look it up there, and what is internal could become public.
fn target(args: &PublishArgs, name: &PackageName, context: &Context) -> Result<RemoteRegistry> {
    let remote = (context.registries).remote_for(name, args.target.registry.as_deref())?;
    let bound = context.registries.bound(name)?;
    let Some(bound) = bound.filter(|bound| bound.location.address() != Some(&remote.address))
    else {
        return Ok(remote);
    };
    let message = format!(
        "`{name}` is bound to the registry `{}`, so it is not published to {}",
        bound.location.name,
        title_of(&remote.registry.location)
    );
    let finding = Diagnostic::error(Code::Usage, message);
    let finding = match bound.location.address() {
        Some(_) => {
            let package = quoted(&args.package);
            let words = format!("publish {package} --registry {}", bound.location.name);
            let command = context.invocation.command_for_none(&words);
            finding.hint(format!("`{command}` publishes it there"))
        }
        None => finding,
    };
    Err(finding
        .hint(format!(
            "`namespaces` of `registries.{}` in pkgres.toml binds it; change that if the package is meant for others",
            bound.location.name
        ))
        .into())
}

/// The releases that a registry has of a package; `None` if the token may publish there but not read, as that of a job
/// may.
fn known_releases(
    registry: &HttpRegistry,
    name: &PackageName,
    context: &Context,
) -> Result<Option<Vec<IndexRecord>>> {
    let error = match registry.records(std::slice::from_ref(name)) {
        Ok(known) => return Ok(Some(known.into_iter().flatten().flatten().collect())),
        Err(error) => error,
    };
    let is_denied = error.to_diagnostic().code == Code::Denied;
    if !is_denied || registry.whoami().is_err() {
        return Err(without_cache(error, context));
    }
    Ok(None)
}

/// The warning that the token cannot read the releases of a registry.
fn unread_releases(args: &PublishArgs, registry: &HttpRegistry) -> Diagnostic {
    let registry = titled_at(registry.name(), registry.address());
    if args.dry_run {
        let message = format!(
            "the token cannot read {registry}, so it is unknown whether the registry has the version already and \
             accepts it"
        );
        return Diagnostic::warning(Code::Denied, message)
            .hint("a token that may also read permits the comparison");
    }
    let message = format!(
        "the token cannot read {registry}, so the version is not compared with earlier ones, and what the package uses \
         of others is not checked"
    );
    Diagnostic::warning(Code::Denied, message).hint(
        "a token that may also read permits both; `--allow-incompatible` skips the comparison",
    )
}

/// Fails if the registry cannot satisfy the requirements of a package. The registry checks that, too, but only once it
/// has the archive, and it knows no positions.
fn check_requirements(
    package: &Package,
    path: &Path,
    registry: &ConfiguredRegistry,
    context: &Context,
) -> Result<()> {
    let options = &context.read_options;
    let registries = context
        .registries
        .open(std::slice::from_ref(registry), options)?;
    let Some(proof) = unsatisfiable(&package.index_record(), &registries, options)? else {
        return Ok(());
    };
    let provided = context.registries.with_host_of(path)?;
    let provided = provided.host_releases(options)?;
    let provided = (provided.iter()).find(|host| proof.packages.contains(&host.name));
    let message = format!(
        "{} cannot satisfy the requirements of {}: {}",
        title_of(&registry.location),
        package.release(),
        proof.reason
    );
    let mut finding = Diagnostic::error(Code::Rejected, message);
    if let Some(location) = proof.location {
        finding = finding.at(location);
    }
    for hint in proof.hints {
        finding = finding.hint(hint);
    }
    let hint = match provided {
        // Nobody can publish what is part of a host.
        Some(host) => format!(
            "the host provides `{}`, so no registry needs it: `--allow-unsatisfiable` publishes the package",
            host.name
        ),
        None => {
            "publish what it requires first; `--allow-unsatisfiable` publishes it anyway".to_owned()
        }
    };
    Err(Failure {
        findings: vec![finding.hint(hint)],
        exit: Exit::Registry,
    })
}

/// Fails if the registry has something of another ecosystem under the name.
fn same_package_system(
    name: &PackageName,
    known: &[IndexRecord],
    registry: &HttpRegistry,
) -> Result<()> {
    let is_other = |record: &&IndexRecord| record.ecosystem != CLASS_PACKAGES;
    let Some(other) = known.iter().find(is_other) else {
        return Ok(());
    };
    let message = format!(
        "{} has releases of the ecosystem `{}` called {name}",
        titled_at(registry.name(), registry.address()),
        other.ecosystem.id()
    );
    let hint =
        "all ecosystems share the names of a registry: publish this under another `FullName`";
    Err(Failure {
        findings: vec![Diagnostic::error(Code::Rejected, message).hint(hint)],
        exit: Exit::Registry,
    })
}

/// Fails if the package is the address of a registry: `login` takes it so.
fn not_address(package: &Path, context: &Context) -> Result<()> {
    let text = package.to_string_lossy();
    let is_address = ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    if !is_address {
        return Ok(());
    }
    let text = Escaped::shortened(&text).to_string();
    let message = format!("`{text}` is an address, not a package");
    let (words, what) = if Path::new(MANIFEST_FILE).is_file() {
        ("publish", "the package of this folder")
    } else {
        ("publish PACKAGE", "a package")
    };
    let command = context
        .invocation
        .command_for_none(&format!("{words} --registry {}", quoted(Path::new(&text))));
    Err(Diagnostic::error(Code::Usage, message)
        .hint(format!("`{command}` publishes {what} there"))
        .into())
}

/// The failure to read a registry, without the hint to use the cache instead, which does not help to publish.
fn without_cache(error: RegistryError, context: &Context) -> Failure {
    let mut failure = Failure::from(error.without_cache());
    for finding in &mut failure.findings {
        if finding.code == Code::Offline {
            // Another run would not fill a cache that this one could use.
            finding.hints = vec![format!("run {}", context.settings.run_without("offline"))];
        }
    }
    failure
}

/// Compares a package with a lower version in the registry. It is an error if the bump between the versions is
/// smaller than their differences need. That there are differences to review is said.
fn check_bump(
    (package, path): (&Package, &Path),
    below: &IndexRecord,
    registry: &ConfiguredRegistry,
    context: &Context,
    output: &mut Output,
) -> Result<()> {
    let open = || {
        let options = &context.read_options;
        let remote = std::slice::from_ref(registry);
        context.registries.open(remote, options)
    };
    let registries = open()?;
    let name = package.name();
    // A release without an artifact promises nothing that could be compared.
    let old = output.during("Reading classes", context.registries.activity(), || {
        registries.package(name, &below.version, &context.read_options)
    });
    let Some(old) = old? else {
        return Ok(());
    };
    drop(registries);
    let mut bind = |package: Arc<Package>| {
        let request = request_of(&package, context)?;
        let task = SolveTask::new(open()?, request);
        BoundRelease::solve(package, task, None, context, output)
    };
    let (old, new) = (bind(old)?, bind(Arc::new(package.clone()))?);
    let compared = Compared::new(old, new);
    if compared.verdict(false).is_none() {
        let reviews = compared.to_review();
        if reviews > 0 {
            let (lower, path) = (&below.version, quoted(path));
            let words = format!("semver {name}@{lower} {path}");
            output.remarks([format!(
                "{} to {name} {lower} to review: `{}`",
                counted(reviews, "difference"),
                context.invocation.command_for_none(&words)
            )]);
        }
        return Ok(());
    }
    let mut findings = compared.findings(false);
    if let Some(verdict) = findings.last_mut() {
        let hint = "`--allow-incompatible` publishes it anyway";
        verdict.hints.push(hint.to_owned());
    }
    Err(Failure {
        findings,
        exit: Exit::Failed,
    })
}

/// The request that binds a package to the newest releases of a registry.
fn request_of(package: &Package, context: &Context) -> Result<Request> {
    let record = package.index_record();
    Ok(Request {
        core: context.core().cloned(),
        host_releases: context.registries.host_releases(&context.read_options)?,
        options: context.solve_options.clone(),
        ..Request::new(record)
    })
}

/// Reads a package and its archive; a folder is packed.
fn read(
    path: &Path,
    options: &ReadOptions,
    context: &Context,
    output: &mut Output,
) -> Result<(Package, Vec<Diagnostic>, PackageContents, Vec<u8>)> {
    require_class_package(path, "publish", |distribution| distribution.publish)?;
    if path.is_dir() {
        let packed = pack::build(path, options, context)?;
        pack::report_excluded(packed.folder.excluded(), output);
        let contents = PackageContents::Folder(packed.folder);
        return Ok((packed.package, packed.warnings, contents, packed.bytes));
    }
    let shown = path.to_string_lossy();
    let bytes = read_file(path, options.limits.archive_bytes, Follow::Links)?;
    let archive = Archive::open(&shown, bytes, &options.limits)?;
    let (package, mut warnings) = Package::from_archive(&shown, &archive, options).into_result()?;
    let findings = package.manifest.check_files(|path| Ok(archive.read(path)));
    if findings.iter().any(Diagnostic::is_error) {
        return Err(findings.into());
    }
    warnings.extend(findings);
    let bytes = archive.bytes().to_vec();
    Ok((package, warnings, PackageContents::Archive(archive), bytes))
}
