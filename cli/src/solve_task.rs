//! What a command solves: a request with its registries, and reporting the answer.

use std::collections::BTreeMap;
use std::path::Path;

use pkgres_formats::{Format, Prereleases};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{CLASS_PACKAGES, Ecosystem, LockDiff, Lockfile, PackageName, RegistryName};
use pkgres_registry_client::{
    Answer, RegistryLocation, RegistrySet, UnmetUse, solve_with_evidence,
};
use pkgres_resolver::{ClassRules, Conflict, PrereleasePolicy, Request, Resolution, Root};
use serde_json::json;

use crate::certificate::Certified;
use crate::conflict_hints::{ConflictHints, OriginalRequest, RequestOrigin};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::Invocation;
use crate::output::Output;
use crate::project::Project;
use crate::project_uses::ProjectUses;
use crate::reference_positions::RootPlaces;
use crate::registries::{ConfiguredRegistry, RegistryOptions, is_unconfigured};
use crate::show::{self, ConflictLayout};

/// A request and everything that it is solved with.
pub(crate) struct SolveTask {
    pub(crate) registries: RegistrySet,
    pub(crate) request: Request,
    /// The locations of the registries, for a conflict about a package that none of them has.
    pub(crate) searched: Vec<String>,
    /// Whether no registry is configured.
    is_unconfigured: bool,
    /// The locations of the registries by name.
    locations: BTreeMap<RegistryName, String>,
    /// Whether a note reports newer releases in registries that are not used for their package.
    compares_registries: bool,
    /// Whether releases may have different digests than the locked ones.
    pub(crate) accept_changed: bool,
    /// Where a conflict can point to, and what its hints can name.
    pub(crate) origin: RequestOrigin,
    /// The existing lockfile.
    pub(crate) existing_lock: Option<ExistingLock>,
    /// Warnings about the roots.
    pub(crate) warnings: Vec<Diagnostic>,
}

/// An existing lockfile, with the remark for a resolution that differs from it.
pub(crate) struct ExistingLock {
    pub(crate) lock: Lockfile,
    pub(crate) remark: String,
}

/// The result of a search.
pub(crate) enum Searched {
    Solved(Box<Resolution>),
    Conflict(Box<Conflict>),
}

impl SolveTask {
    /// A task with everything but roots.
    pub(crate) fn new(registries: RegistrySet, request: Request) -> Self {
        Self {
            registries,
            request,
            searched: Vec::new(),
            is_unconfigured: false,
            locations: BTreeMap::new(),
            compares_registries: false,
            accept_changed: false,
            origin: RequestOrigin::default(),
            existing_lock: None,
            warnings: Vec::new(),
        }
    }

    /// The task of solving a project.
    pub(crate) fn of_project(project: &Project, context: &Context) -> Result<Self> {
        Self::for_projects_like(project, context)?.with_root(project, context)
    }

    /// The task of solving a project with what the cache has of registries on the network.
    pub(crate) fn of_project_offline(project: &Project, context: &Context) -> Result<Self> {
        let configured = project.registries(context)?;
        let ecosystem = project.format.ecosystem();
        let registries = context.registries.offline();
        Self::with_registries(&configured, ecosystem, &registries, context)?
            .with_root(project, context)
    }

    /// The part of a task that follows from the folder of a class package.
    pub(crate) fn in_folder(folder: &Path, context: &Context) -> Result<Self> {
        let configured = context.registries.for_root(Some(folder))?;
        Self::with_registries(&configured, CLASS_PACKAGES, &context.registries, context)
    }

    /// The part of a task that is the same for all projects with the registries and the ecosystem of one.
    pub(crate) fn for_projects_like(project: &Project, context: &Context) -> Result<Self> {
        let configured = project.registries(context)?;
        let ecosystem = project.format.ecosystem();
        Self::with_registries(&configured, ecosystem, &context.registries, context)
    }

    fn with_registries(
        configured: &[ConfiguredRegistry],
        ecosystem: &'static dyn Ecosystem,
        options: &RegistryOptions,
        context: &Context,
    ) -> Result<Self> {
        let host_releases = context.registries.host_releases(&context.read_options)?;
        let mut request = Request {
            core: context.core().cloned(),
            host_releases,
            overrides: context.registries.overriding_specs(ecosystem)?,
            options: context.solve_options.clone(),
            ..Request::of_roots(Vec::new())
        };
        context.edited_settings().apply_to(&mut request);
        let locations = configured.iter().map(|registry| &registry.location);
        let searched = locations.map(shown_location).collect();
        let locations = configured.iter().map(|registry| &registry.location);
        let named = locations.map(|location| {
            let shown = shown_location(location);
            let place = shown.strip_prefix(&format!("{}=", location.name));
            (location.name.clone(), place.unwrap_or(&shown).to_owned())
        });
        let locations = named.collect();
        let registries = options.open(
            configured,
            &context.read_options.of_ecosystem(ecosystem.id()),
        )?;
        let registries = if context.strict_uses {
            let core = request.core.clone();
            registries.with_strict_uses(request.host_releases.clone(), core)
        } else {
            registries
        };
        let _ = registries.apply_strict_uses(&mut request.host_releases);
        Ok(Self {
            searched,
            is_unconfigured: is_unconfigured(configured),
            locations,
            ..Self::new(registries, request)
        })
    }

    /// Makes a project the root.
    pub(crate) fn with_root(mut self, project: &Project, context: &Context) -> Result<Self> {
        self.origin = RequestOrigin {
            manifest: Some(project.manifest.clone()),
            ..RequestOrigin::default()
        };
        self.add_root(project, context)?;
        Ok(self)
    }

    /// Adds a project to the roots, and the members of the workspace that it requires to the registries.
    pub(crate) fn add_root(&mut self, project: &Project, context: &Context) -> Result<()> {
        if let (Some(workspace), Some(package)) = (context.workspace()?, project.package()) {
            let folder = &project.folder;
            let overridden = context.registries.overriding_folders().collect();
            let options = &context.read_options;
            let members = workspace.required_by(folder, package, &overridden, options)?;
            if let Some(members) = members {
                self.registries.push_front(Box::new(members));
            }
        }
        self.warnings.extend(project.warnings.iter().cloned());
        self.apply_rules(project.format);
        self.origin.packages.extend(project.package().cloned());
        let mut places = RootPlaces::of(project);
        let mut record = project.record();
        if context.strict_uses {
            let (mut uses, warnings) = project.uses(context);
            self.warnings.extend(warnings);
            // No version of a package that is not required can help the others.
            uses.retain(|one| {
                let mut required = record.requirements.iter();
                required.any(|required| required.package == one.package)
            });
            if let Some(places) = &mut places {
                places.add(&uses);
            }
            record = ProjectUses::new(&record, uses).record;
            let unmet = self
                .registries
                .apply_strict_uses(std::slice::from_mut(&mut record));
            let file = (!project.is_release()).then_some(&record.name);
            let warnings = unmet_uses(&unmet, file).into_iter().map(|finding| {
                let place = places.as_ref().and_then(|places| {
                    let first = unmet.first()?;
                    places.of_class(&first.used, &context.read_options)
                });
                match place {
                    Some(place) => finding.at(place),
                    None => finding,
                }
            });
            self.warnings.extend(warnings);
        }
        self.origin.places.extend(places);
        let record = Box::new(record);
        self.request.roots.push(if project.is_release() {
            Root::Package(record)
        } else {
            Root::File(record)
        });
        Ok(())
    }

    /// Applies the rules of an ecosystem to the request.
    fn apply_rules(&mut self, format: &dyn Format) {
        let rules = format.rules();
        let Request {
            core,
            options,
            host_releases,
            ..
        } = &mut self.request;
        if let Some(host) = rules.host
            && !host_releases
                .iter()
                .any(|record| record.name.as_str() == host)
        {
            options.host_package_of_unknown_version = PackageName::native(host).ok();
        }
        if !rules.has_core_library {
            *core = None;
        }
        options.single_version |= !format.ecosystem().has_side_by_side();
        self.compares_registries |= rules.newest_of_registries;
        if rules.class_cycles && options.classes == ClassRules::Inheritance {
            options.classes = ClassRules::Definition;
        }
        let is_default = options.prerelease == PrereleasePolicy::IfNecessary;
        if is_default && rules.prereleases == Prereleases::IfNamed {
            options.prerelease = PrereleasePolicy::IfNamed;
        }
    }

    /// Solves. A conflict is reported and ends the command.
    pub(crate) fn solve(self, context: &Context, output: &mut Output) -> Result<Box<Resolution>> {
        let (resolution, _) = self.solve_with_registries(context, output)?;
        Ok(resolution)
    }

    /// Solves, and returns the registries as well.
    pub(crate) fn solve_with_registries(
        mut self,
        context: &Context,
        output: &mut Output,
    ) -> Result<(Box<Resolution>, RegistrySet)> {
        let locations = std::mem::take(&mut self.searched);
        let lists_all = lists_all(&self.request, &context.invocation);
        let (searched, registries) = self.search(context, output)?;
        match searched {
            Searched::Solved(resolution) => Ok((resolution, registries)),
            Searched::Conflict(conflict) => {
                if output.is_json() {
                    output.json(&show::conflict_document(&conflict));
                } else {
                    report_conflict(&conflict, &locations, &lists_all, output);
                }
                Err(Failure::reported(Exit::Failed))
            }
        }
    }

    /// Searches, and returns the registries as well. Reports warnings, and a search that gave up.
    pub(crate) fn search(
        mut self,
        context: &Context,
        output: &mut Output,
    ) -> Result<(Searched, RegistrySet)> {
        output.findings(&self.warnings);
        let original = OriginalRequest::of(&self.request, context);
        let progress = output.progress("Resolving", context.registries.activity());
        let certified = Certified::of(&mut self.request, context);
        let options = self.request.options.clone();
        let answer = solve_with_evidence(self.request, &self.registries, &context.read_options);
        drop(progress);
        output.registry_findings(&self.registries.take_findings());
        let (answer, evidence) = answer?;
        if let Some(certified) = certified {
            certified.write(
                &answer,
                evidence,
                &self.registries,
                &context.read_options,
                output,
            )?;
        }
        let searched = match answer {
            Answer::Solved(resolution) => {
                if !self.accept_changed {
                    let changes =
                        (self.registries).changed_contents(&resolution, &context.read_options);
                    let findings = show::changed_digests(&changes, context);
                    if !findings.is_empty() {
                        return Err(Failure {
                            findings,
                            exit: Exit::Integrity,
                        });
                    }
                }
                if let Some(existing) = self.existing_lock
                    && let Ok(new_lock) = resolution.to_lockfile()
                    && !LockDiff::between(&existing.lock, &new_lock).is_empty()
                {
                    output.remarks([existing.remark]);
                }
                // As below.
                let unmet = self.registries.unmet_uses(&resolution);
                output.findings(&unmet_uses(&unmet.unwrap_or_default(), None));
                if self.compares_registries {
                    // A registry that fails here does not change the resolution.
                    let newer = self.registries.newer_elsewhere(&resolution, &options);
                    let newer = newer.unwrap_or_default();
                    output.remarks(show::newer_elsewhere(&newer, &self.locations));
                }
                Searched::Solved(resolution)
            }
            Answer::Conflict(mut conflict) => {
                let hints = ConflictHints {
                    original,
                    origin: &self.origin,
                    registries: &self.registries,
                    is_unconfigured: self.is_unconfigured,
                    context,
                };
                hints.complete(&mut conflict);
                Searched::Conflict(conflict)
            }
            Answer::GaveUp { steps } => {
                report_gave_up(steps, output);
                return Err(Failure::reported(Exit::GaveUp));
            }
            Answer::Cancelled => unreachable!("an interrupt ends the whole process"),
        };
        Ok((searched, self.registries))
    }
}

/// Warnings about uses that exclude no version because no version meets them: one for each release. `root` is the file
/// of a root that is no release.
fn unmet_uses(unmet: &[UnmetUse], root: Option<&PackageName>) -> Vec<Diagnostic> {
    let of_releases = unmet.chunk_by(|one, next| one.release == next.release);
    let warnings = of_releases.map(|unmet| {
        let first = &unmet[0];
        let user = match root {
            Some(root) => root.to_string(),
            None => first.release.to_string(),
        };
        let (more, end) = match unmet.len() - 1 {
            0 => (String::new(), "this use excludes no version"),
            more => (format!(" and {more} more"), "these uses exclude no version"),
        };
        let message = format!(
            "{user} uses `{}`{more}, which no version of a package that it requires defines: {end}",
            first.used
        );
        Diagnostic::warning(Code::UndefinedUse, message)
    });
    warnings.collect()
}

/// The command that prints a conflict in full. For updates and models, which no such command solves, an option.
pub(crate) fn lists_all(request: &Request, invocation: &Invocation) -> String {
    let mut roots = request.roots.iter();
    if request.update.is_some() || roots.any(|root| root.record().is_none()) {
        return "--format json".to_owned();
    }
    invocation.command("explain")
}

/// Prints a conflict as text. If no registry has a package, it lists the locations that were `searched`; `lists_all` is
/// the command or option that shows what is folded.
pub(crate) fn report_conflict(
    conflict: &Conflict,
    searched: &[String],
    lists_all: &str,
    output: &mut Output,
) {
    let layout = ConflictLayout {
        searched,
        lists_all,
        is_styled: output.is_styled(),
        columns: output.width(),
    };
    output.message(&show::conflict(conflict, &layout));
}

/// A location in messages: with a path below the current folder instead of an absolute one.
pub(crate) fn shown_location(location: &RegistryLocation) -> String {
    let text = location.to_string();
    match std::env::current_dir() {
        Ok(current) if location.address().is_none() => {
            let current = format!(":{}/", Escaped::path(&current));
            text.replacen(&current, ":", 1)
        }
        _ => text,
    }
}

/// Reports a search without an answer.
fn report_gave_up(steps: u64, output: &mut Output) {
    let steps = show::counted(usize::try_from(steps).unwrap_or(usize::MAX), "step");
    let summary = format!("gave up after {steps} without an answer");
    let hint = "`--max-steps` raises the limit";
    if output.is_json() {
        output.json(&json!({
            "schema_version": 1,
            "status": "gave_up",
            "conflict": {"summary": summary, "steps": [], "packages": [], "hints": [hint]},
        }));
    } else {
        output.findings(&[Diagnostic::error(Code::GaveUp, summary).hint(hint)]);
    }
}
