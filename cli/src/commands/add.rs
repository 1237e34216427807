//! `pkgres add` and `pkgres remove`

mod together;

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_formats::NotEditable;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{Ecosystem, LockDiff, Lockfile, PackageName, RequirementEdit, Spec, Version};
use pkgres_resolver::{Resolution, Update};
use serde_json::{Value, json};

use self::together::Together;
use super::lock::{LockedFolders, stale_members};
use super::several_projects::Batch;
use crate::args::{AddArgs, EditArgs, RemoveArgs, WriteArgs};
use crate::capabilities::lock_with_capabilities;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::invocation::quoted;
use crate::lock_owner::require_own_lock;
use crate::lockfile::{LockText, PreviousLock, WriteOutcome, write_lock};
use crate::named_packages::package_name;
use crate::output::Output;
use crate::project::Project;
use crate::root::ForeignRoot;
use crate::show::{self, counted};
use crate::solve::reject_lock_modes;
use crate::solve_task::SolveTask;
use crate::write_together::{ChangedFile, PendingFiles, Writing, write_together};
use crate::yank_reasons::YankReasons;

pub(super) fn add(args: &AddArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if !args.edit.no_lock {
        reject_lock_modes("add", &args.edit.write, context)?;
    }
    let path = edited_path(&args.edit, context);
    let absent = ForeignRoot::absent(path, context.ecosystem, &context.read_options);
    let creates = absent.is_some();
    let project = match absent {
        Some(root) => Project::foreign(root),
        None => Project::open(path, context)?,
    };
    let ecosystem = project.format.ecosystem();
    let named = args
        .packages
        .iter()
        .map(|text| named_requirement(text, ecosystem))
        .collect::<Result<Vec<_>>>()?;
    reject_twice(named.iter().map(|(package, _)| package))?;
    reject_not_editable(&project, named.first().map(|(package, _)| package), context)?;
    let edits = |spec_of: &dyn Fn(&PackageName) -> Spec| -> Vec<RequirementEdit> {
        let edits = named.iter().map(|(package, spec)| {
            let spec = spec.clone().or_else(|| required(&project, package));
            let spec = spec.unwrap_or_else(|| spec_of(package));
            RequirementEdit::Set(package.clone(), spec)
        });
        edits.collect()
    };
    // The first solve finds the newest possible version; the compatible spec follows from it.
    let unrestricted = edits(&|_| ecosystem.spec("*").unwrap_or_else(|_| Spec::any()));
    let edited = project.with_requirements(&unrestricted, context)?;
    let members = Batch::solved_with(&project.manifest, context)?;
    let lock = read_lock(&project, context, output)?;
    let solved = match members {
        Some(batch) => Together::solve(batch, &edited, context, output).map(Solved::Together)?,
        None => Solved::Alone(solve(&edited, &lock, Warnings::Report, context, output)?),
    };
    let edits = edits(&|package| {
        let chosen = bound_version(solved.resolution(), &project, package);
        chosen.map_or_else(Spec::any, |chosen| ecosystem.compatible_with(chosen))
    });
    let edited = project.with_requirements(&edits, context)?;
    let with_spec = named.iter().filter(|(_, spec)| spec.is_some());
    let with_spec: BTreeSet<&PackageName> = with_spec.map(|(package, _)| package).collect();
    let edit = ManifestEdit {
        before: &project,
        edited: &edited,
        edits: &edits,
        with_spec: &with_spec,
        creates,
        write: &args.edit.write,
        lock: Some(&lock).filter(|_| !args.edit.no_lock),
        verb: if args.edit.write.dry_run {
            "Would add"
        } else {
            "Added"
        },
        // The first solve reported them.
        warnings: Warnings::Suppress,
    };
    match solved {
        // What the members agreed on without the spec fits the spec, which follows from it.
        Solved::Together(together) if !args.edit.no_lock => together.finish(&edit, context, output),
        _ => edit.finish(context, output),
    }
}

pub(super) fn remove(args: &RemoveArgs, context: &Context, output: &mut Output) -> Result<Exit> {
    if !args.edit.no_lock {
        reject_lock_modes("remove", &args.edit.write, context)?;
    }
    let project = Project::open(edited_path(&args.edit, context), context)?;
    let ecosystem = project.format.ecosystem();
    let named = args
        .packages
        .iter()
        .map(|text| package_name(text, Some(ecosystem)))
        .collect::<Result<Vec<_>>>()?;
    reject_twice(&named)?;
    reject_not_editable(&project, None, context)?;
    let core = context.core().filter(|core| named.contains(core));
    let core = core.filter(|_| project.package().is_some());
    output.remarks(core.map(|core| {
        format!("every package requires {core}, also one whose manifest does not list it")
    }));
    let edits: Vec<RequirementEdit> = named.into_iter().map(RequirementEdit::Remove).collect();
    let edited = project.with_requirements(&edits, context)?;
    let (mut members, mut lock) = (None, None);
    if !args.edit.no_lock {
        members = Batch::solved_with(&project.manifest, context)?;
        lock = Some(read_lock(&project, context, output)?);
    }
    let edit = ManifestEdit {
        before: &project,
        edited: &edited,
        edits: &edits,
        with_spec: &BTreeSet::new(),
        creates: false,
        write: &args.edit.write,
        lock: lock.as_ref(),
        verb: if args.edit.write.dry_run {
            "Would remove"
        } else {
            "Removed"
        },
        warnings: Warnings::Report,
    };
    match members {
        Some(batch) => {
            Together::solve(batch, &edited, context, output)?.finish(&edit, context, output)
        }
        None => edit.finish(context, output),
    }
}

/// The first solve of `add`.
enum Solved {
    Alone(NewLock),
    Together(Together),
}

impl Solved {
    fn resolution(&self) -> &Resolution {
        match self {
            Self::Alone(lock) => &lock.resolution,
            Self::Together(together) => &together.agreement.resolution,
        }
    }
}

/// The version that a requirement of a project is bound to.
fn bound_version<'resolution>(
    resolution: &'resolution Resolution,
    project: &Project,
    package: &PackageName,
) -> Option<&'resolution Version> {
    let mut roots = resolution.roots().iter();
    let root = roots.find(|root| root.owner.name() == Some(project.name()))?;
    let mut bound = root.requires.iter();
    let bound = bound.find(|bound| bound.package == *package)?;
    Some(&bound.version)
}

/// The path of the project whose requirements change: the member that is named, or that of the manifest.
fn edited_path<'run>(args: &'run EditArgs, context: &'run Context) -> &'run Path {
    context.members.first().unwrap_or(&args.project.manifest)
}

/// Rejects a root whose requirements only a person can edit, and says how a package is added to it.
fn reject_not_editable(
    project: &Project,
    added: Option<&PackageName>,
    context: &Context,
) -> Result<()> {
    let Err(NotEditable { reason, addition }) = project.editor() else {
        return Ok(());
    };
    let message = format!(
        "{} cannot be edited: {reason}",
        Escaped::path(&project.manifest)
    );
    let finding = Diagnostic::error(Code::Usage, message);
    let by_hand = added.zip(addition);
    let by_hand = by_hand.map(|(package, addition)| addition(package));
    let lock = context
        .invocation
        .command_for_manifest("lock", &project.manifest);
    if project.package().is_some() {
        return Err(finding
            .hint("it requires the core library alone, which `[overrides]` in pkgres.toml can set to another version")
            .into());
    }
    Err(finding
        .hint(match by_hand {
            Some(by_hand) => format!("{by_hand}, then run `{lock}`"),
            None => format!("edit the file, then run `{lock}`"),
        })
        .into())
}

/// The spec of an existing requirement.
fn required(project: &Project, package: &PackageName) -> Option<Spec> {
    let record = project.record();
    let mut requirements = record.requirements.iter();
    let requirement = requirements.find(|requirement| requirement.package == *package)?;
    Some(requirement.spec.clone())
}

/// Parses `NAME` or `NAME@SPEC`.
fn named_requirement(
    text: &str,
    ecosystem: &'static dyn Ecosystem,
) -> Result<(PackageName, Option<Spec>)> {
    let (name, spec) = match text.split_once('@') {
        Some((name, spec)) => (name, Some(spec)),
        None => (text, None),
    };
    let name = package_name(name, Some(ecosystem))?;
    if spec == Some("") {
        let message = format!("`{text}`: a spec is expected after `@`");
        return Err(Failure::usage(message));
    }
    let spec = spec
        .map(|spec| {
            let spec = ecosystem.spec(spec);
            spec.map_err(|error| {
                let finding = Diagnostic::error(Code::Usage, format!("{name}: {error}"));
                match &error.suggestion {
                    Some(spec) => {
                        let whole = quoted(Path::new(&format!("{name}@{spec}")));
                        Failure::from(finding.hint(format!("write {whole}")))
                    }
                    None => finding.into(),
                }
            })
        })
        .transpose()?;
    Ok((name, spec))
}

/// Rejects a package that is named twice, possibly with two specs.
fn reject_twice<'name>(packages: impl IntoIterator<Item = &'name PackageName>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for package in packages {
        if !seen.insert(package) {
            return Err(Failure::usage(format!("`{package}` is named twice")));
        }
    }
    Ok(())
}

/// Reads the lockfile, if there is one, and reports one that is damaged.
fn read_lock(project: &Project, context: &Context, output: &mut Output) -> Result<PreviousLock> {
    let previous = PreviousLock::read(&project.lock_path(), context)?;
    require_own_lock(project, previous.roots(), context)?;
    output.remarks(previous.note());
    Ok(previous)
}

/// A context in which a project that is not written yet is the one on the disk.
fn edited_context(edited: &Project, context: &Context) -> Result<Context> {
    context.with_edited(&edited.manifest, &edited.text(), edited.package())
}

/// Whether a solve reports the warnings about its project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Warnings {
    Report,
    Suppress,
}

/// Solves, keeping locked releases where possible.
fn solve(
    project: &Project,
    lock: &PreviousLock,
    warnings: Warnings,
    context: &Context,
    output: &mut Output,
) -> Result<NewLock> {
    let mut task = SolveTask::of_project(project, context)?;
    if warnings == Warnings::Suppress {
        task.warnings.clear();
    }
    if lock.is_complete() {
        task.request.update = Some(Update::default());
    }
    task.request.locked = lock.locked();
    let (resolution, registries) = task.solve_with_registries(context, output)?;
    let reasons = YankReasons::of_resolution(&resolution, &registries);
    let mut notes = show::notes(&resolution, &reasons, context);
    notes.extend(show::newly_built_in(&resolution, &lock.locked()));
    Ok(NewLock {
        lockfile: lock_with_capabilities(&resolution, project.package(), &registries, context)?,
        notes,
        resolution,
    })
}

/// A lockfile to write.
struct NewLock {
    resolution: Box<Resolution>,
    lockfile: Lockfile,
    /// What is worth knowing about the chosen releases.
    notes: Vec<String>,
}

/// An edit of requirements, and how it is written and reported.
struct ManifestEdit<'a> {
    before: &'a Project,
    edited: &'a Project,
    edits: &'a [RequirementEdit],
    /// The packages that were named with a spec.
    with_spec: &'a BTreeSet<&'a PackageName>,
    /// Whether there is no file of the project yet.
    creates: bool,
    write: &'a WriteArgs,
    /// The lockfile to replace, unless it is to be left alone.
    lock: Option<&'a PreviousLock>,
    /// What was done, as the beginning of a line.
    verb: &'static str,
    warnings: Warnings,
}

/// A lockfile that was written.
struct WrittenLock {
    outcome: WriteOutcome,
    diff: LockDiff,
    /// The number of locked packages.
    packages: usize,
    /// What is worth knowing about the chosen releases.
    notes: Vec<String>,
    /// A note about other members of the workspace.
    others: Option<String>,
}

impl ManifestEdit<'_> {
    /// Solves with the edited requirements, then writes the manifest and the lockfile.
    fn finish(&self, context: &Context, output: &mut Output) -> Result<Exit> {
        let options = &context.read_options;
        let mut locked = None;
        if let Some(previous) = self.lock {
            let new = solve(self.edited, previous, self.warnings, context, output)?;
            // If the lockfile cannot be written, the manifest is not written either.
            let text = LockText::new(&new.lockfile, options)?;
            locked = Some((new, text, previous));
        }
        let mut others = None;
        if locked.is_some() && self.changes_manifest() {
            let edited = edited_context(self.edited, context)?;
            let locked = LockedFolders::of(std::slice::from_ref(&self.before.manifest));
            others = stale_members(self.edited, &locked, !self.write.dry_run, &edited)?;
        }
        let pending = PendingFiles::default();
        let writing = if self.write.dry_run {
            Writing::Never
        } else {
            self.changed_files()?
                .into_iter()
                .for_each(|file| pending.add(file));
            Writing::Together(&pending)
        };
        let mut written = None;
        if let Some((new, text, previous)) = locked {
            let bytes = previous.bytes.as_deref();
            let outcome = write_lock(&self.before.lock_path(), &text, bytes, writing, options)?;
            written = Some(WrittenLock {
                outcome,
                diff: previous.diff(&new.lockfile),
                packages: new.resolution.len(),
                notes: new.notes,
                others,
            });
        }
        write_together(&pending.into_files())?;
        if output.is_json() {
            output.json(&self.document(written.as_ref()));
        } else {
            self.report(written.as_ref(), output);
        }
        Ok(Exit::Done)
    }

    /// The manifest, if it changes.
    fn changed_files(&self) -> Result<Vec<ChangedFile>> {
        if !self.changes_manifest() {
            return Ok(Vec::new());
        }
        let path = self.before.manifest.clone();
        let changed = ChangedFile::with_text(path, &self.before.text(), &self.edited.text())?;
        Ok(vec![changed])
    }

    fn changes_manifest(&self) -> bool {
        self.edited.text() != self.before.text()
    }

    /// Whether an edit changes the spec of a requirement, or removes it.
    fn is_change(&self, edit: &RequirementEdit) -> bool {
        match edit {
            RequirementEdit::Set(package, spec) => {
                required(self.before, package).as_ref() != Some(spec)
            }
            RequirementEdit::Remove(_) => true,
        }
    }

    /// The report as JSON.
    fn document(&self, written: Option<&WrittenLock>) -> Value {
        let is_changed =
            self.changes_manifest() || written.is_some_and(|lock| lock.outcome.is_changed);
        let changes = written.map(|lock| show::changes_json(&lock.diff));
        let notes = written.map(|lock| lock.notes.iter().chain(&lock.others));
        let notes: Vec<String> = notes.into_iter().flatten().cloned().collect();
        self.document_with(is_changed, &json!(changes), &notes)
    }

    /// The report as JSON, with the changes of the lockfile.
    fn document_with(&self, is_changed: bool, changes: &Value, notes: &[String]) -> Value {
        let requirements = self.edits.iter().map(|edit| match edit {
            RequirementEdit::Set(package, spec) => {
                json!({"package": package, "spec": spec.written()})
            }
            RequirementEdit::Remove(package) => json!({"package": package, "spec": null}),
        });
        json!({
            "schema_version": 1,
            "status": match (is_changed, self.write.dry_run) {
                (false, _) => "unchanged",
                (true, true) => "would_edit",
                (true, false) => "edited",
            },
            "manifest_changed": self.changes_manifest(),
            "requirements": requirements.collect::<Vec<_>>(),
            "changes": changes,
            "notes": notes,
        })
    }

    /// Reports the edits.
    fn report_edits(&self, output: &mut Output) {
        if self.creates {
            let manifest = Escaped::path(&self.before.manifest);
            output.note(&if self.write.dry_run {
                format!("Would create {manifest}")
            } else {
                format!("Created {manifest}")
            });
        }
        for edit in self.edits {
            output.note(&match edit {
                RequirementEdit::Set(package, spec) if !self.is_change(edit) => {
                    let required = format!("{package} is already required as \"{spec}\"");
                    if self.with_spec.contains(package) {
                        required
                    } else {
                        format!("{required}; `{package}@SPEC` changes that")
                    }
                }
                RequirementEdit::Set(package, spec) => {
                    format!("{} {package} \"{spec}\"", self.verb)
                }
                RequirementEdit::Remove(package) => format!("{} {package}", self.verb),
            });
        }
    }

    /// Reports the edits and the changes of the lockfile.
    fn report(&self, written: Option<&WrittenLock>, output: &mut Output) {
        self.report_edits(output);
        if let Some(lock) = written {
            let lines = show::changes(&lock.diff);
            output.notes(&lines);
            output.notes(&lock.notes);
            output.note(&lock.outcome.summary(lock.packages, lines.len()));
            output.notes(&lock.others);
        } else if self.write.dry_run {
            output.note("Nothing was written");
        } else {
            let changed = self.edits.iter().filter(|edit| self.is_change(edit));
            let manifest = match changed.count() {
                0 => "is unchanged".to_owned(),
                count => format!("has {}", counted(count, "changed requirement")),
            };
            output.note(&format!(
                "The manifest {manifest}; the lockfile was not touched"
            ));
        }
    }
}
