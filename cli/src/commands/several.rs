//! What is done with several projects: one after the other or beside each other, with one summary.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use pkgres_manifest::ReadOptions;
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use serde_json::{Value, json};

use super::fail_with;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::given;
use crate::members;
use crate::output::{Output, Part};
use crate::parse::folder_of;
use crate::settings::{self, Origin, Settings};
use crate::show::counted;

/// Projects that a command is about together.
#[derive(Debug)]
pub(crate) struct Several {
    /// Their manifests, or their folders.
    pub(crate) manifests: Vec<PathBuf>,
    /// Whether they are to agree on versions.
    pub(crate) one_solve: bool,
}

/// How a command ended for several projects.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The worst of all.
    pub(crate) exit: Exit,
    /// How many projects it did not end well for.
    pub(crate) failed: usize,
    /// How many there are.
    pub(crate) projects: usize,
    /// What it answered of each, as JSON.
    documents: Vec<Value>,
}

impl Several {
    /// The members of the workspace.
    pub(crate) fn of_workspace(options: &ReadOptions) -> Result<Self> {
        let Some(workspace) = settings::workspace(&settings::current().project)? else {
            return Err(Failure::usage(
                "no pkgres.toml has a table `[workspace]` with `members = [\"FOLDER\"]`",
            ));
        };
        Self::of(&workspace.members, workspace.one_solve, options)
    }

    /// Projects that were named. Those of which each has settings of its own are refused.
    pub(crate) fn of(
        manifests: &[PathBuf],
        one_solve: bool,
        options: &ReadOptions,
    ) -> Result<Self> {
        let manifests = each_once(manifests);
        refuse_other_settings(&manifests)?;
        members::check(options)?;
        Ok(Self {
            manifests,
            one_solve,
        })
    }

    /// Does something with each project by itself, and shows what that says.
    pub(crate) fn each(
        &self,
        doing: &str,
        each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
        output: &mut Output,
    ) -> Ended {
        let results = beside_each_other(&self.manifests, doing, each, output);
        let mut ended = Ended {
            exit: Exit::Done,
            failed: 0,
            projects: self.manifests.len(),
            documents: Vec::new(),
        };
        for (manifest, (part, exit)) in self.manifests.iter().zip(results) {
            ended.exit = ended.exit.max(exit);
            ended.failed += usize::from(exit != Exit::Done);
            if output.is_json() {
                let result: Value = serde_json::from_str(&part.data).unwrap_or(Value::Null);
                let manifest = manifest.to_string_lossy();
                ended
                    .documents
                    .push(json!({"manifest": manifest, "exit": exit as u8, "result": result}));
                continue;
            }
            output.data(&part.data);
            let shown = manifest.to_string_lossy();
            if !part.said.is_empty() {
                output.note(&format!("{}:", Escaped::new(&shown)));
                output.say(part.said.trim_end());
            }
        }
        ended
    }
}

impl Ended {
    /// What a command that looks at projects says in the end.
    pub(crate) fn looked_at(&self, verb: &str) -> String {
        let projects = counted(self.projects, "project");
        match self.failed {
            0 => format!("{verb} {projects}"),
            failed => format!("{verb} {projects}, of which {failed} failed"),
        }
    }

    /// Likewise one that changes them. What failed was looked at, but not changed.
    pub(crate) fn changed(&self, verb: &str) -> String {
        let projects = counted(self.projects, "project");
        match self.failed {
            0 => format!("{verb} {projects}"),
            failed => {
                let done = self.projects - failed;
                format!("{verb} {done} of {projects}; {failed} failed")
            }
        }
    }

    /// The beginning of what it answers as JSON.
    pub(crate) fn document(self) -> Value {
        json!({
            "schema_version": 1,
            "status": if self.exit == Exit::Done { "done" } else { "failed" },
            "projects": self.documents,
        })
    }
}

/// Each project once, however it is written: two that write one lockfile would be in each other's way.
fn each_once(manifests: &[PathBuf]) -> Vec<PathBuf> {
    let mut seen = BTreeSet::new();
    let is_new = |manifest: &&PathBuf| {
        let folder = folder_of(manifest);
        seen.insert(folder.canonicalize().unwrap_or(folder))
    };
    manifests.iter().filter(is_new).cloned().collect()
}

/// Refuses projects with settings of their own: those of a run are the ones of the first project, and
/// what they say of versions would be locked for the others as well.
fn refuse_other_settings(manifests: &[PathBuf]) -> Result<()> {
    let place = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let ours = &settings::current().project.path;
    for manifest in manifests {
        let theirs = Settings::nearest(&folder_of(manifest))?.path;
        if place(&theirs) == place(ours) {
            continue;
        }
        let shown = manifest.to_string_lossy();
        let shown = Escaped::new(&shown);
        let of = |path: &Path| {
            if path.as_os_str().is_empty() {
                return "no settings".to_owned();
            }
            format!("the settings of {}", Origin::File(path.to_owned()))
        };
        let message = format!("{shown} has {}, and this run {}", of(&theirs), of(ours));
        let verb = if given::is("update") {
            "update"
        } else {
            "lock"
        };
        let command = given::command_on(verb, manifest);
        return Err(Diagnostic::error(Code::Usage, message)
            .hint(format!("{verb} it by itself: `{command}`"))
            .into());
    }
    Ok(())
}

/// Does something with each project by itself, on all processors.
fn beside_each_other(
    manifests: &[PathBuf],
    doing: &str,
    each: impl Fn(&Path, &mut Output) -> Result<Exit> + Sync,
    output: &mut Output,
) -> Vec<(Part, Exit)> {
    let manner = output.manner();
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, (Part, Exit))>> = Mutex::new(Vec::new());
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(manifest) = manifests.get(at) else {
                return;
            };
            let mut exit = Exit::Done;
            let part = Output::keep(manner, |output| {
                exit = match each(manifest, output) {
                    Ok(exit) => exit,
                    Err(failure) => fail_with(&failure, output),
                };
            });
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.push((at, (part, exit)));
        }
    };
    let progress = output.progress(doing);
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
