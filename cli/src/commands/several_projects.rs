//! Runs a command on several projects, in parallel, with one summary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_client::NetworkActivity;
use serde_json::{Value, json};

use super::fail;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::lock_owner::OWN_FOLDER;
use crate::output::{Captured, Output};
use crate::paths::{canonical, is_same_path};
use crate::read_manifest::{folder_of, manifest_at};
use crate::root_file::recognize;
use crate::settings::{Origin, nearest_settings};
use crate::show::counted;
use crate::workspace::no_workspace;
use crate::write_together::{ChangedFile, PendingFiles, Writing, write_together};

/// The projects of a run.
#[derive(Debug)]
pub(super) struct Batch {
    /// Their manifests or folders.
    pub(super) manifests: Vec<PathBuf>,
    /// Whether they are solved together.
    pub(super) one_solve: bool,
    /// Members of the workspace that have settings of their own, and are not among the projects.
    pub(super) apart: Vec<PathBuf>,
    /// The requests of the run that have no answer yet.
    activity: NetworkActivity,
}

/// How files are written for several projects.
pub(super) struct Change {
    pub(super) is_dry_run: bool,
    /// Whether nothing is written if a project fails.
    pub(super) needs_all: bool,
}

/// What the run of each project printed, and its exit code.
pub(super) struct Outcomes(Vec<(Captured, Exit)>);

impl Outcomes {
    /// Whether no project failed.
    pub(super) fn are_all_done(&self) -> bool {
        self.0.iter().all(|(_, exit)| *exit == Exit::Done)
    }
}

/// The result of running a command on several projects.
#[derive(Debug)]
pub(super) struct BatchResult {
    /// The most severe exit code.
    pub(super) exit: Exit,
    /// How many projects failed.
    failed: usize,
    /// How many projects there are.
    projects: usize,
    /// The JSON document of each project, if the output is JSON.
    documents: Vec<Value>,
}

impl Batch {
    /// The members of the workspace that have its settings.
    pub(super) fn of_workspace(context: &Context) -> Result<Self> {
        let Some(workspace) = context.workspace()? else {
            return Err(no_workspace());
        };
        let mut apart = Vec::new();
        let mut members = Vec::new();
        for folder in &workspace.folders {
            let is_apart = own_settings(folder, context)?.is_some();
            if is_apart { &mut apart } else { &mut members }.push(folder.clone());
        }
        Ok(Self {
            apart,
            ..Self::new(&members, workspace.one_solve, context)?
        })
    }

    /// The members that are solved together with a project, which is one of them; `None` if it is solved alone. A
    /// certificate is about one project.
    pub(super) fn solved_with(manifest: &Path, context: &Context) -> Result<Option<Self>> {
        if context.certificate.is_some() || !is_solved_together(manifest, context)? {
            return Ok(None);
        }
        let members = Self::of_workspace(context)?;
        Ok(Some(Self {
            apart: Vec::new(),
            ..members
        }))
    }

    /// Fails if members have settings of their own, for a result that has to have all members.
    pub(super) fn require_all(&self, context: &Context) -> Result<()> {
        check_settings(&self.apart, context)
    }

    /// Says which members of the workspace are left out because they do not have its settings.
    pub(super) fn report_left_out(&self, context: &Context, output: &mut Output) {
        for folder in &self.apart {
            let command = context.invocation.command_of_its_own_for(folder);
            let command = command.map_or_else(String::new, |command| format!(": `{command}`"));
            // They were read before without an error.
            let theirs = own_settings(folder, context).ok().flatten();
            let reason = if theirs.is_some_and(|path| path.as_os_str().is_empty()) {
                "is outside the folder of the workspace, so its pkgres.toml does not apply,"
            } else {
                "has settings of its own,"
            };
            output.remarks([format!(
                "{} {reason} and is skipped{command}",
                Escaped::path(&folder)
            )]);
        }
    }

    /// Named projects, which must all have the settings of the run.
    pub(super) fn new(manifests: &[PathBuf], one_solve: bool, context: &Context) -> Result<Self> {
        if context.certificate.is_some() {
            return Err(Failure::usage(
                "`--certificate` is for one project: name its manifest",
            ));
        }
        let manifests = without_duplicates(manifests, context)?;
        check_settings(&manifests, context)?;
        // Projects that require members of the workspace need one that can be read.
        context.workspace()?;
        Ok(Self {
            manifests,
            one_solve,
            apart: Vec::new(),
            activity: context.registries.activity().clone(),
        })
    }

    /// Projects that each have the settings of their folders.
    pub(super) fn with_own_settings(manifests: &[PathBuf], context: &Context) -> Result<Self> {
        Ok(Self {
            manifests: without_duplicates(manifests, context)?,
            one_solve: false,
            apart: Vec::new(),
            activity: context.registries.activity().clone(),
        })
    }

    /// Runs `each` on every project, and prints what it printed, project by project.
    pub(super) fn run(
        &self,
        progress: &str,
        each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
        output: &mut Output,
    ) -> BatchResult {
        let outcomes = self.outcomes(progress, each, output);
        self.report(outcomes, output)
    }

    /// Runs `each` on every project, and writes the files that it changes, together with `files`. If the projects depend on
    /// each other, all files are written, or none if a project fails or a file cannot be written.
    pub(super) fn write(
        &self,
        progress: &str,
        change: &Change,
        files: &[ChangedFile],
        each: impl Fn(&Path, Writing<'_>, &mut Output) -> Result<Exit> + Sync,
        output: &mut Output,
    ) -> Result<Outcomes> {
        let try_all = |output: &mut Output| {
            let each =
                |manifest: &Path, output: &mut Output| each(manifest, Writing::Never, output);
            self.outcomes(progress, each, output)
        };
        if change.is_dry_run {
            return Ok(try_all(output));
        }
        if !change.needs_all {
            write_together(files)?;
            let each =
                |manifest: &Path, output: &mut Output| each(manifest, Writing::AtOnce, output);
            return Ok(self.outcomes(progress, each, output));
        }
        let pending = PendingFiles::default();
        let add = |manifest: &Path, output: &mut Output| {
            each(manifest, Writing::Together(&pending), output)
        };
        let outcomes = self.outcomes(progress, add, output);
        if !outcomes.are_all_done() {
            // They say that files were written.
            return Ok(try_all(output));
        }
        write_together(files.iter().chain(&pending.into_files()))?;
        Ok(outcomes)
    }

    /// Runs `each` on every project.
    fn outcomes(
        &self,
        progress: &str,
        each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
        output: &mut Output,
    ) -> Outcomes {
        let progress = (progress, &self.activity);
        Outcomes(in_parallel(&self.manifests, progress, each, output))
    }

    /// The JSON document of the member in a folder, among the `projects` of the result.
    pub(super) fn document_of<'value>(
        &self,
        projects: &'value Value,
        folder: &Path,
    ) -> &'value Value {
        let mut manifests = self.manifests.iter();
        let at = manifests.position(|manifest| is_same_path(manifest, folder));
        at.map_or(&Value::Null, |at| &projects[at]["result"])
    }

    /// Prints what the run of each project printed.
    pub(super) fn report(&self, Outcomes(outcomes): Outcomes, output: &mut Output) -> BatchResult {
        let mut result = BatchResult {
            exit: Exit::Done,
            failed: 0,
            projects: self.manifests.len(),
            documents: Vec::new(),
        };
        for (manifest, (captured, exit)) in self.manifests.iter().zip(outcomes) {
            result.exit = result.exit.max(exit);
            result.failed += usize::from(!matches!(exit, Exit::Done | Exit::Pending));
            let manifest = manifest.to_string_lossy();
            if output.is_json() {
                let document: Value = serde_json::from_str(&captured.stdout).unwrap_or(Value::Null);
                result
                    .documents
                    .push(json!({"manifest": manifest, "exit": exit as u8, "result": document}));
                continue;
            }
            output.captured(&format!("{}:", Escaped::new(&manifest)), &captured);
        }
        result
    }
}

impl BatchResult {
    /// The summary of a command that reads projects: `Checked 3 projects, of which 1 failed`.
    pub(super) fn summary_of_reading(&self, verb: &str) -> String {
        let projects = counted(self.projects, "project");
        match self.failed {
            0 => format!("{verb} {projects}"),
            failed => format!("{verb} {projects}, of which {failed} failed"),
        }
    }

    /// The summary of a command that writes lockfiles: `Locked 2 of 3 projects; 1 failed`.
    pub(super) fn summary_of_writing(&self, verb: &str) -> String {
        let projects = counted(self.projects, "project");
        match self.failed {
            0 => format!("{verb} {projects}"),
            failed => {
                let done = self.projects - failed;
                format!("{verb} {done} of {projects}; {failed} failed")
            }
        }
    }

    /// The JSON document of the command, without the fields of its own.
    pub(super) fn into_json(self) -> Value {
        json!({
            "schema_version": 1,
            "status": if self.failed == 0 { "done" } else { "failed" },
            "projects": self.documents,
        })
    }
}

/// The projects without repetitions, however they are spelled. Two roots in one folder are an error: they would write one
/// lockfile.
fn without_duplicates(manifests: &[PathBuf], context: &Context) -> Result<Vec<PathBuf>> {
    let mut seen: BTreeMap<PathBuf, PathBuf> = BTreeMap::new();
    let mut projects = Vec::new();
    for manifest in manifests {
        // What is wrong with a root is an error of its project.
        let root = recognize(manifest, context.ecosystem).ok().flatten();
        let root = root.map_or_else(|| manifest_at(manifest), |(path, _)| path);
        let folder = canonical(&folder_of(&root));
        match seen.get(&folder) {
            None => {
                seen.insert(folder, root);
                projects.push(manifest.clone());
            }
            Some(other) if is_same_path(other, &root) => {}
            Some(other) => {
                let [other, root] = [other, &root].map(|path| path.to_string_lossy());
                let (other, root) = (Escaped::new(&other), Escaped::new(&root));
                let message = format!("{other} and {root} would have the same lockfile");
                return Err(Diagnostic::error(Code::Usage, message)
                    .hint(OWN_FOLDER)
                    .into());
            }
        }
    }
    Ok(projects)
}

/// Rejects projects with a settings file of their own: a run has the settings of the first project, which would decide
/// what is locked for the others.
fn check_settings(manifests: &[PathBuf], context: &Context) -> Result<()> {
    let ours = &context.settings.project.path;
    for manifest in manifests {
        let Some(theirs) = own_settings(manifest, context)? else {
            continue;
        };
        let shown = manifest.to_string_lossy();
        let shown = Escaped::new(&shown);
        let described = |path: &Path| {
            if path.as_os_str().is_empty() {
                return "no settings".to_owned();
            }
            format!("the settings of {}", Origin::File(path.to_owned()))
        };
        let message = format!(
            "{shown} uses {}, but this run uses {}",
            described(&theirs),
            described(ours)
        );
        let invocation = &context.invocation;
        let hint = match invocation.command_of_its_own_for(manifest) {
            Some(command) => format!("use a run of its own for it: `{command}`"),
            None => "use a run of its own for it".to_owned(),
        };
        return Err(Diagnostic::error(Code::Usage, message).hint(hint).into());
    }
    Ok(())
}

/// Whether a project is a member of a workspace whose members are solved together. Those with settings of their own are
/// solved alone.
pub(super) fn is_solved_together(manifest: &Path, context: &Context) -> Result<bool> {
    let workspace = context.workspace()?.filter(|workspace| workspace.one_solve);
    let is_member = workspace.is_some_and(|it| it.has_folder(&folder_of(manifest)));
    Ok(is_member && own_settings(manifest, context)?.is_none())
}

/// The settings file of a project, if it is not that of the run.
pub(super) fn own_settings(manifest: &Path, context: &Context) -> Result<Option<PathBuf>> {
    let theirs = nearest_settings(&folder_of(manifest))?.path;
    let is_ours = is_same_path(&theirs, &context.settings.project.path);
    Ok((!is_ours).then_some(theirs))
}

/// Runs `each` on every project, on all processors.
fn in_parallel(
    manifests: &[PathBuf],
    (progress, activity): (&str, &NetworkActivity),
    each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
    output: &mut Output,
) -> Vec<(Captured, Exit)> {
    let style = output.style();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, (Captured, Exit))>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(manifest) = manifests.get(at) else {
                return;
            };
            let mut exit = Exit::Done;
            let captured = Output::capture(&style, |output| {
                exit = match each(manifest, output) {
                    Ok(exit) => exit,
                    Err(failure) => fail(&failure, output),
                };
            });
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((at, (captured, exit)));
        }
    };
    let progress = output.progress(progress, activity);
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        for _ in 0..threads.min(manifests.len()) {
            scope.spawn(work);
        }
    });
    drop(progress);
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}
