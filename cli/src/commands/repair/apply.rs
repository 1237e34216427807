//! Makes the changes of a repair.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{PackageName, Spec};
use pkgres_resolver::{Change, PrereleasePolicy, Repair, SolveOptions};
use pkgres_settings::SETTINGS_FILE;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::RepairRun;
use crate::capabilities::lock_with_capabilities;
use crate::commands::lock::{AgreedLocks, LockOptions, LockedFolders, agree, stale_members};
use crate::commands::several_projects::Batch;
use crate::commands::update::{MembersUpdate, stabilize_update};
use crate::context::{Context, EditedSettings};
use crate::exit::Exit;
use crate::failure::Result;
use crate::lockfile::{LockText, changes_lock, write_lock};
use crate::output::Output;
use crate::paths::{canonical, is_same_path};
use crate::project::Project;
use crate::settings::{read_text, with_override, with_setting, without_override, without_setting};
use crate::show::{self, KeptBy};
use crate::solve_task::SolveTask;
use crate::write_together::{ChangedFile, PendingFiles, Writing, write_together};
use crate::yank_reasons::YankReasons;

impl RepairRun<'_> {
    /// Makes the changes of a repair, after solving with them once more, and reports the differences.
    pub(super) fn apply(
        &self,
        number: usize,
        repair: &Repair,
        output: &mut Output,
    ) -> Result<Exit> {
        let Self {
            project, context, ..
        } = *self;
        if let Some(reason) = show::unapplicable(repair, self.editable) {
            let message = format!("number {number} cannot be applied: {reason}");
            let hint = show::repair_changes(repair).join("; ");
            return Err(Diagnostic::error(Code::Usage, message).hint(hint).into());
        }
        let edits = Edits::of(repair);
        let edited = self.edited(&edits)?;
        let mut files = changed_settings(project, &edits.settings, context)?;
        let mut edited_context = context
            .clone()
            .with_settings(edits.settings(&context.solve_options));
        for (before, after) in edited.iter().rev() {
            files.extend(changed_manifest(before, after)?);
            let (path, text) = (&after.manifest, after.text());
            edited_context = edited_context.with_edited(path, &text, after.package())?;
        }
        files.reverse();
        let applied = Applied {
            run: self,
            number,
            repair,
            files,
        };
        let context = edited_context;
        if let Some(batch) = Batch::solved_with(&project.manifest, &context)? {
            return applied.lock_together(&batch, &context, output);
        }
        let mut edited = edited.iter().map(|(_, edited)| edited);
        let edited = edited.find(|edited| edited.manifest == project.manifest);
        applied.lock(edited.unwrap_or(project), &context, output)
    }

    /// The projects whose manifests change, as they are and as they become.
    fn edited(&self, edits: &Edits<'_>) -> Result<Vec<(Project, Project)>> {
        let own = std::slice::from_ref(&self.project.manifest);
        let manifests = if self.members.is_empty() {
            own
        } else {
            self.members
        };
        let mut edited = Vec::new();
        for manifest in manifests {
            let project = Project::open(manifest, self.context)?;
            if let Some(after) = edits.edited(&project, self.context)? {
                edited.push((project, after));
            }
        }
        Ok(edited)
    }
}

/// A repair whose changes are made.
struct Applied<'run> {
    run: &'run RepairRun<'run>,
    number: usize,
    repair: &'run Repair,
    /// The manifests and the settings file, as far as they change.
    files: Vec<ChangedFile>,
}

impl Applied<'_> {
    /// Writes the files and the lockfile of the project, or none of them.
    fn lock(self, edited: &Project, context: &Context, output: &mut Output) -> Result<Exit> {
        let RepairRun { previous, .. } = *self.run;
        let mut task = SolveTask::of_project(edited, context)?;
        task.request.locked = self.run.request.locked.clone();
        task.request.update.clone_from(&self.run.request.update);
        // Warnings about the manifest were reported when the conflict was found.
        task.warnings.clear();
        let (resolution, registries) = task.solve_with_registries(context, output)?;
        let lock = lock_with_capabilities(&resolution, edited.package(), &registries, context)?;
        let diff = previous.shown_diff(previous.diff(&lock));
        let locked = LockedFolders::of(std::slice::from_ref(&edited.manifest));
        let is_written = !self.is_dry_run();
        let reasons = YankReasons::of_resolution(&resolution, &registries);
        let unusual = show::unusual(&resolution, &reasons, |_, _| KeptBy::Lockfile);
        let others = stale_members(edited, &locked, is_written, context)?;
        let pending = PendingFiles::default();
        let outcome = write_lock(
            &edited.lock_path(),
            &LockText::new(&lock, &context.read_options)?,
            previous.bytes.as_deref(),
            if is_written {
                Writing::Together(&pending)
            } else {
                Writing::Never
            },
            &context.read_options,
        )?;
        let files = if is_written { &*self.files } else { &[] };
        write_together(files.iter().chain(&pending.into_files()))?;
        if output.is_json() {
            output.remarks(unusual);
            output.remarks(others);
            let locks = outcome.is_changed.then(|| edited.lock_path());
            output.json(&self.document(locks, &show::changes_json(&diff)));
            return Ok(Exit::Done);
        }
        let mut lines = self.changed_lines();
        lines.push(shown_path(&edited.lock_path(), edited));
        let changes = show::changes(&diff);
        lines.extend(changes.iter().map(ToString::to_string));
        self.report(&lines, output);
        output.note(&outcome.summary(resolution.len(), changes.len()));
        output.notes(unusual);
        output.notes(others);
        Ok(Exit::Done)
    }

    /// Writes the files and the lockfiles of all members that are solved together, or none of them.
    fn lock_together(self, batch: &Batch, context: &Context, output: &mut Output) -> Result<Exit> {
        let (args, manifests) = (self.run.args, &batch.manifests);
        let update = MembersUpdate {
            packages: &args.update,
            precise: args.precise.as_deref(),
        };
        let agreement = if args.update.is_empty() {
            agree(manifests, &LockOptions::default(), context, output)?
        } else {
            let moved = update.solve(manifests, context, output)?;
            stabilize_update(moved.agreement, &moved.named, manifests, context, output)?
        };
        let locks = AgreedLocks {
            batch,
            agreement: &agreement,
            dry_run: self.is_dry_run(),
        };
        let announce = |output: &mut Output| {
            if !output.is_json() {
                self.report(&self.changed_lines(), output);
            }
        };
        let result = locks.write(&self.files, announce, context, output)?;
        let exit = result.exit;
        if output.is_json() {
            let mut document = result.into_json();
            if exit == Exit::Done {
                let projects = document["projects"].take();
                let folder = &self.run.project.folder;
                let changes = &batch.document_of(&projects, folder)["changes"];
                document = self.document(changed_locks(&projects), changes);
                document["projects"] = projects;
            }
            document["side_by_side"] = json!(show::side_by_side_json(&agreement.resolution));
            output.json(&document);
            return Ok(exit);
        }
        if exit == Exit::Done {
            output.notes(show::side_by_side(&agreement.resolution, context));
        }
        output.note(&if self.is_dry_run() || exit != Exit::Done {
            result.summary_of_reading("Looked at")
        } else {
            result.summary_of_writing("Locked")
        });
        Ok(exit)
    }

    fn is_dry_run(&self) -> bool {
        self.run.args.write.dry_run
    }

    /// The report as JSON. `locks` are the lockfiles that change, and `changes` what changes in that of the project.
    fn document(&self, locks: impl IntoIterator<Item = PathBuf>, changes: &Value) -> Value {
        let paths = self.files.iter().map(|file| file.path.clone()).chain(locks);
        let paths = paths.map(|path| shown_path(&path, self.run.project));
        json!({
            "schema_version": 1,
            "status": if self.is_dry_run() { "would_repair" } else { "repaired" },
            "number": self.number,
            "repair": show::repair_changes_json(self.repair),
            "files": paths.collect::<Vec<_>>(),
            "changes": changes,
        })
    }

    /// The lines of each file that change.
    fn changed_lines(&self) -> Vec<String> {
        let RepairRun {
            project, context, ..
        } = *self.run;
        let mut lines = Vec::new();
        for file in &self.files {
            lines.push(shown_path(&file.path, project));
            let [before, after] = file.texts();
            lines.extend(changed_lines(&before, &after));
        }
        lines.extend(shared_settings(&self.files, project, context));
        lines
    }

    fn report(&self, lines: &[String], output: &mut Output) {
        if self.is_dry_run() {
            // It is what was asked for, also with `--quiet`.
            output.data(&(lines.join("\n") + "\n"));
        } else {
            output.notes(lines);
        }
    }
}

/// The lockfiles that change, by the documents of members that were locked.
fn changed_locks(projects: &Value) -> Vec<PathBuf> {
    let results = projects.as_array().into_iter().flatten();
    let results = results.map(|project| &project["result"]);
    let changed = results.filter(|result| changes_lock(result));
    changed
        .filter_map(|result| result["file"].as_str().map(PathBuf::from))
        .collect()
}

/// The changes of a repair, by the file that has them.
struct Edits<'repair> {
    /// The new specs of requirements, by the roots that require them.
    specs: BTreeMap<&'repair PackageName, Vec<(PackageName, Spec)>>,
    settings: Vec<SettingEdit<'repair>>,
}

impl<'repair> Edits<'repair> {
    /// The changes of a repair that can be applied.
    fn of(repair: &'repair Repair) -> Self {
        let (mut specs, mut settings) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
        for change in &repair.changes {
            match change {
                Change::Requirement {
                    root, package, to, ..
                } => {
                    let of_root = specs.entry(root).or_default();
                    of_root.push((package.clone(), to.clone()));
                }
                Change::Override { package, to, .. } => {
                    settings.push(SettingEdit::Override(package, Some(to)));
                }
                Change::NoOverride { package, .. } => {
                    settings.push(SettingEdit::Override(package, None));
                }
                Change::CutOff { until } => settings.push(SettingEdit::CutOff(*until)),
                Change::Prereleases { policy } => settings.push(SettingEdit::Prereleases(*policy)),
                Change::SideBySide => settings.push(SettingEdit::SideBySide),
                Change::Release { .. } => unreachable!("it cannot be applied"),
            }
        }
        Self { specs, settings }
    }

    /// The project with the changed manifest; `None` if that stays as it is.
    fn edited(&self, project: &Project, context: &Context) -> Result<Option<Project>> {
        let specs = self.specs.get(project.name());
        specs
            .map(|specs| project.with_specs(specs, context))
            .transpose()
    }

    /// The settings with the changes, which apply to all members of a workspace. `options` are those before.
    fn settings(&self, options: &SolveOptions) -> EditedSettings {
        let mut edited = EditedSettings::default();
        let mut options = options.clone();
        for edit in &self.settings {
            match edit {
                SettingEdit::Override(package, spec) => {
                    let (package, spec) = ((*package).clone(), spec.cloned());
                    edited.overrides.insert(package, spec);
                }
                SettingEdit::CutOff(until) => options.exclude_newer = *until,
                SettingEdit::Prereleases(policy) => options.prerelease = *policy,
                SettingEdit::SideBySide => options.single_version = false,
            }
        }
        edited.options = Some(options);
        edited
    }
}

/// A change of the settings file of a project.
enum SettingEdit<'repair> {
    /// An override of a package, or that there is none.
    Override(&'repair PackageName, Option<&'repair Spec>),
    /// The cut-off date, or that there is none.
    CutOff(Option<Timestamp>),
    Prereleases(PrereleasePolicy),
    SideBySide,
}

impl SettingEdit<'_> {
    /// The text of a settings file with the setting.
    fn text_with(&self, path: &Path, text: &str) -> Result<String> {
        match self {
            Self::Override(package, Some(spec)) => with_override(path, text, package, spec),
            Self::Override(package, None) => without_override(path, text, package),
            Self::CutOff(None) => without_setting(path, text, "exclude-newer"),
            Self::SideBySide => without_setting(path, text, "single-version"),
            Self::CutOff(Some(until)) => {
                with_setting(path, text, "exclude-newer", &show::last_day(*until))
            }
            Self::Prereleases(policy) => {
                with_setting(path, text, "prerelease", show::policy_name(*policy))
            }
        }
    }
}

/// The manifest of a project, if it changes.
fn changed_manifest(before: &Project, after: &Project) -> Result<Option<ChangedFile>> {
    let (old, new) = (before.text(), after.text());
    (old != new)
        .then(|| ChangedFile::with_text(before.manifest.clone(), &old, &new))
        .transpose()
}

/// The settings file of a project, if it changes.
fn changed_settings(
    project: &Project,
    settings: &[SettingEdit<'_>],
    context: &Context,
) -> Result<Vec<ChangedFile>> {
    if settings.is_empty() {
        return Ok(Vec::new());
    }
    let path = settings_path(project, context);
    let old = read_text(&path)?;
    let mut new = old.clone();
    for edit in settings {
        new = edit.text_with(&path, &new)?;
    }
    Ok(vec![ChangedFile::with_text(path, &old, &new)?])
}

/// The settings file of a project, which may not exist yet.
fn settings_path(project: &Project, context: &Context) -> PathBuf {
    let known = &context.settings.project.path;
    if known.as_os_str().is_empty() {
        return project.folder.join(SETTINGS_FILE);
    }
    // A link to the file is what the user made it: the file behind it changes.
    canonical(known)
}

/// A note about settings that the projects below another folder share.
fn shared_settings(files: &[ChangedFile], project: &Project, context: &Context) -> Option<String> {
    let path = settings_path(project, context);
    let file = files.iter().find(|file| file.path == path)?;
    let folder = file.path.parent()?;
    let is_own = is_same_path(folder, &project.folder);
    (!is_own).then(|| {
        let path = shown_path(&path, project);
        format!("  {path} holds for every project below its folder")
    })
}

/// The path of a file for people: below the folder of the project as they named it.
fn shown_path(path: &Path, project: &Project) -> String {
    let folder = std::path::absolute(&project.folder).ok();
    let path_from_root = std::path::absolute(path).ok();
    let below = folder.zip(path_from_root).and_then(|(folder, path)| {
        let below = path.strip_prefix(&folder).ok()?;
        Some(project.folder.join(below))
    });
    let path = below.unwrap_or_else(|| path.to_owned());
    let path = path.strip_prefix(".").unwrap_or(&path);
    Escaped::path(path).to_string()
}

/// The lines that differ, with their marks.
fn changed_lines(before: &str, after: &str) -> Vec<String> {
    let diff = TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter_map(|change| {
        let mark = match change.tag() {
            ChangeTag::Equal => return None,
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let line = change.value().trim();
        (!line.is_empty()).then(|| format!("  {mark} {}", Escaped::new(line)))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_that_differ_are_shown() {
        let lines = changed_lines("a: 1\nb: '2'\n", "a: 1\nb: ^3\n\nc: 4\n");
        assert_eq!(lines, ["  - b: '2'", "  + b: ^3", "  + c: 4"]);
    }
}
