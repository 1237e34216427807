//! What the reversal of resources has to lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use pkgres_engine::SimulatedFiles;
use pkgres_manifest::ResourceId;

use crate::plans::Plan;

/// The folder with what the engine keeps.
pub(crate) const STATE: &str = "/state";

/// What was there before the first change of a resource.
struct Expected {
    path: PathBuf,
    /// The content; `None` if there was no file.
    content: Option<Vec<u8>>,
    /// Whether others changed it at that moment, so that nobody knows.
    is_unknown: bool,
    /// The resources that came before it.
    after: BTreeSet<ResourceId>,
    /// When it was changed.
    changed_at: usize,
    /// When it was restored.
    restored_at: Option<usize>,
}

/// What was there before resources that are to be reversed, found out without the engine.
#[derive(Default)]
pub(crate) struct Restorations(BTreeMap<ResourceId, Expected>);

/// Whether the engine keeps what was there before a resource.
fn is_kept(id: &ResourceId, files: &SimulatedFiles) -> bool {
    let name = format!("{}:{}.json", id.kind(), id.name());
    let folder = Path::new(STATE).join("simulation/before");
    files.contains_key(&folder.join(name))
}

impl Restorations {
    /// An attempt at a resource of a plan has ended. `before` is what was at its path, `is_written` says whether the
    /// engine wrote there, and `is_touched` whether others did.
    pub(crate) fn attempted(
        &mut self,
        plans: &[Plan],
        id: &ResourceId,
        before: Option<Vec<u8>>,
        (is_written, is_touched): (bool, bool),
        (files, step): (&SimulatedFiles, usize),
    ) {
        let Some(plan) = plans.iter().find(|plan| plan.id == *id) else {
            return;
        };
        let is_changed = is_written || is_kept(id, files);
        if !plan.meta.reverse || !is_changed || self.0.contains_key(id) {
            return;
        }
        let after = plan.after.iter().map(|(node, _)| plans[*node].id.clone());
        let expected = Expected {
            path: plan.path.clone(),
            content: before,
            is_unknown: is_touched,
            after: after.collect(),
            changed_at: step,
            restored_at: None,
        };
        self.0.insert(id.clone(), expected);
    }

    /// A resource is not to be reversed any more.
    pub(crate) fn forget(&mut self, id: &ResourceId) {
        self.0.remove(id);
    }

    /// A reversal has ended well.
    pub(crate) fn restored(&mut self, id: &ResourceId, step: usize) {
        if let Some(expected) = self.0.get_mut(id) {
            // Later attempts have nothing left to restore.
            expected.restored_at.get_or_insert(step);
        }
    }

    /// The resources that have to be restored before one, because they came after it.
    pub(crate) fn first(&self, id: &ResourceId) -> Vec<&ResourceId> {
        let Some(own) = self.0.get(id) else {
            return Vec::new();
        };
        let later = self
            .0
            .iter()
            .filter(|(_, other)| other.after.contains(id) && other.changed_at > own.changed_at);
        later.map(|(id, _)| id).collect()
    }

    /// Compares what is gone with the machine. Nobody knows about paths that others changed later.
    pub(crate) fn judge(
        &self,
        plans: &[Plan],
        unfinished: &BTreeSet<ResourceId>,
        files: &SimulatedFiles,
        touched_at: &BTreeMap<PathBuf, usize>,
    ) -> Result<(), String> {
        for (id, expected) in &self.0 {
            if plans.iter().any(|plan| plan.id == *id) || unfinished.contains(id) {
                continue;
            }
            let Some(restored_at) = expected.restored_at else {
                return Err(format!("what was there before {id} was not restored"));
            };
            if is_kept(id, files) {
                return Err(format!("what was there before {id} is not forgotten"));
            }
            let is = files.get(&expected.path);
            let is_touched = touched_at
                .get(&expected.path)
                .is_some_and(|touched| *touched >= restored_at);
            let wanted = expected.content.as_ref();
            if !is_touched && !expected.is_unknown && wanted != is {
                return Err(format!(
                    "{id} was restored as {is:?} in place of {wanted:?}"
                ));
            }
        }
        Ok(())
    }
}
