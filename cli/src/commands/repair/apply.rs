//! Makes the changes of a repair.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_manifest::{LockDiff, PackageName, Spec};
use pkgres_resolver::{Change, PrereleasePolicy, Repair, Request};
use pkgres_settings::SETTINGS_FILE;
use serde_json::{Value, json};
use similar::{ChangeTag, TextDiff};

use super::RepairRun;
use crate::capabilities::lock_with_capabilities;
use crate::commands::lock::stale_members;
use crate::commands::several_projects::is_solved_together;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::Result;
use crate::lockfile::{LockText, WriteOutcome, write_lock};
use crate::output::Output;
use crate::project::Project;
use crate::settings::{read_text, with_override, with_setting, without_override, without_setting};
use crate::show;
use crate::solve_task::SolveTask;
use crate::write_together::{ChangedFile, write_together};

impl RepairRun<'_> {
    /// Makes the changes of a repair, after solving with them once more, and reports the differences.
    pub(super) fn apply(
        &self,
        number: usize,
        repair: &Repair,
        output: &mut Output,
    ) -> Result<Exit> {
        let Self {
            project,
            previous,
            context,
            ..
        } = *self;
        if let Some(reason) = show::unapplicable(repair, self.editable) {
            let message = format!("number {number} cannot be applied: {reason}");
            let hint = show::repair_changes(repair).join("; ");
            return Err(Diagnostic::error(Code::Usage, message).hint(hint).into());
        }
        let edits = Edits::of(repair);
        let edited = edits.edited(project, context)?;
        let edited = edited.as_ref().unwrap_or(project);
        let task = self.task_with(&edits, edited)?;
        let (resolution, registries) = task.solve_with_registries(context, output)?;
        let lock = lock_with_capabilities(&resolution, edited.package(), &registries, context)?;
        // If the lockfile cannot be written, nothing else is written either.
        let lock_text = LockText::new(&lock, &context.read_options)?;
        let files = changed_files(project, edited, &edits.settings, context)?;
        let diff = previous.shown_diff(previous.diff(&lock));
        let others = self.other_members(edited)?;
        let outcome = self.write(&files, &lock_text)?;
        if output.is_json() {
            output.remarks(others);
            let document = self.document(number, repair, &files, &outcome, &diff);
            output.json(&document);
            return Ok(Exit::Done);
        }
        let changes = show::changes(&diff);
        self.report_changes(&files, &changes, output);
        output.note(&outcome.summary(resolution.len(), changes.len()));
        output.notes(others);
        Ok(Exit::Done)
    }

    /// A note about other members of the workspace, whose lockfiles a repair does not change.
    fn other_members(&self, edited: &Project) -> Result<Option<String>> {
        let context = self.context;
        if is_solved_together(&edited.manifest, context)? {
            let command = context.invocation.command_for_none("lock --workspace");
            return Ok(Some(format!(
                "The members of the workspace are solved together: `{command}` locks all of them"
            )));
        }
        let context = context.with_edited(&edited.manifest, &edited.text(), edited.package())?;
        let (locked, is_written) = ([edited.manifest.clone()], !self.args.write.dry_run);
        stale_members(edited, &locked, is_written, &context)
    }

    /// The task to solve the edited project with the edited settings.
    fn task_with(&self, edits: &Edits<'_>, edited: &Project) -> Result<SolveTask> {
        let mut task = SolveTask::of_project(edited, self.context)?;
        for edit in &edits.settings {
            edit.apply_to(&mut task.request);
        }
        task.request.locked = self.request.locked.clone();
        task.request.update.clone_from(&self.request.update);
        // Warnings about the manifest were reported when the conflict was found.
        task.warnings.clear();
        Ok(task)
    }

    /// Writes the files and the lockfile, or none of them.
    fn write(&self, files: &[ChangedFile], lock: &LockText) -> Result<WriteOutcome> {
        let dry_run = self.args.write.dry_run;
        let written = if dry_run { &[] } else { files };
        write_together(written, || {
            let path = self.project.lock_path();
            let bytes = self.previous.bytes.as_deref();
            write_lock(&path, lock, bytes, dry_run, &self.context.read_options)
        })
    }

    fn document(
        &self,
        number: usize,
        repair: &Repair,
        files: &[ChangedFile],
        outcome: &WriteOutcome,
        diff: &LockDiff,
    ) -> Value {
        let dry_run = self.args.write.dry_run;
        let lock_path = outcome.is_changed.then(|| self.project.lock_path());
        let paths = files.iter().map(|file| file.path.clone()).chain(lock_path);
        let paths = paths.map(|path| shown_path(&path, self.project));
        json!({
            "schema_version": 1,
            "status": if dry_run { "would_repair" } else { "repaired" },
            "number": number,
            "repair": show::repair_changes_json(repair),
            "files": paths.collect::<Vec<_>>(),
            "changes": show::changes_json(diff),
        })
    }

    /// Shows the lines of each file that change.
    fn report_changes(
        &self,
        files: &[ChangedFile],
        changes: &[impl ToString],
        output: &mut Output,
    ) {
        let project = self.project;
        let mut shown: Vec<String> = Vec::new();
        for file in files {
            shown.push(shown_path(&file.path, project));
            let before = file.before.as_deref().unwrap_or_default();
            shown.extend(changed_lines(before, &file.after));
        }
        shown.extend(shared_settings(files, project, self.context));
        shown.push(shown_path(&project.lock_path(), project));
        shown.extend(changes.iter().map(ToString::to_string));
        if self.args.write.dry_run {
            // It is what was asked for, also with `--quiet`.
            output.data(&(shown.join("\n") + "\n"));
        } else {
            output.notes(&shown);
        }
    }
}

/// The changes of a repair, by the file that has them.
struct Edits<'repair> {
    /// The new specs of requirements, in the manifest.
    specs: Vec<(PackageName, Spec)>,
    settings: Vec<SettingEdit<'repair>>,
}

impl<'repair> Edits<'repair> {
    /// The changes of a repair that can be applied.
    fn of(repair: &'repair Repair) -> Self {
        let (mut specs, mut settings) = (Vec::new(), Vec::new());
        for change in &repair.changes {
            match change {
                Change::Requirement { package, to, .. } => {
                    specs.push((package.clone(), to.clone()));
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
        if self.specs.is_empty() {
            return Ok(None);
        }
        project.with_specs(&self.specs, context).map(Some)
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
    /// Makes a request one with the setting.
    fn apply_to(&self, request: &mut Request) {
        match self {
            Self::Override(package, Some(spec)) => {
                let overridden = &mut request.overrides;
                overridden.insert((*package).clone(), (*spec).clone());
            }
            Self::Override(package, None) => {
                request.overrides.remove(*package);
            }
            Self::CutOff(until) => request.options.exclude_newer = *until,
            Self::Prereleases(policy) => request.options.prerelease = *policy,
            Self::SideBySide => request.options.single_version = false,
        }
    }

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

/// The manifest and the settings file, as far as they change.
fn changed_files(
    before: &Project,
    edited: &Project,
    settings: &[SettingEdit<'_>],
    context: &Context,
) -> Result<Vec<ChangedFile>> {
    let mut files = Vec::new();
    let (old, new) = (before.text(), edited.text());
    if old != new {
        files.push(ChangedFile {
            path: before.manifest.clone(),
            before: Some(old.into_owned()),
            after: new.into_owned(),
        });
    }
    if !settings.is_empty() {
        let path = settings_path(before, context);
        let old = read_text(&path)?;
        let mut new = old.clone();
        for edit in settings {
            new = edit.text_with(&path, &new)?;
        }
        files.push(ChangedFile {
            before: path.exists().then_some(old),
            path,
            after: new,
        });
    }
    Ok(files)
}

/// The settings file of a project, which may not exist yet.
fn settings_path(project: &Project, context: &Context) -> PathBuf {
    let known = &context.settings.project.path;
    if known.as_os_str().is_empty() {
        return project.folder.join(SETTINGS_FILE);
    }
    // A link to the file is what the user made it: the file behind it changes.
    known.canonicalize().unwrap_or_else(|_| known.clone())
}

/// A note about settings that the projects below another folder share.
fn shared_settings(files: &[ChangedFile], project: &Project, context: &Context) -> Option<String> {
    let path = settings_path(project, context);
    let file = files.iter().find(|file| file.path == path)?;
    let folder = file.path.parent()?;
    let is_own = folder.canonicalize().ok() == project.folder.canonicalize().ok();
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
