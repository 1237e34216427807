//! Which unpacked archives an application uses.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pkgres_manifest::ResourceId;

use super::{AppliedState, Memory, StateError};
use crate::graph::Graph;
use crate::kinds::Artifact;
use crate::runner::NodeStatus;
use crate::store::{STORE, mentioned_archives, note_uses};
use crate::target::{Target, TargetError};

fn failed(source: TargetError) -> StateError {
    StateError::Target {
        folder: PathBuf::from(STORE),
        source,
    }
}

impl AppliedState {
    /// Notes the archives of a graph that is going to run. Those of earlier runs may still be needed until it ends.
    pub(super) fn use_archives(
        &self,
        target: &dyn Target,
        graph: &Graph,
    ) -> Result<(), StateError> {
        let nodes = graph.nodes().iter();
        let artifacts = nodes.filter_map(|node| node.resource.as_any()?.downcast_ref::<Artifact>());
        let archives: BTreeSet<String> = artifacts.map(Artifact::digest_text).collect();
        let application = self.location.of_application();
        note_uses(target, &application, &archives, true).map_err(failed)?;
        self.memory().archives = archives;
        Ok(())
    }

    /// Gives up the archives of earlier releases, if everything is in order now. What may have to be restored one day can
    /// lead to an archive as well.
    pub(super) fn give_up_archives(
        &self,
        target: &dyn Target,
        memory: &Memory,
        nodes: &[(ResourceId, NodeStatus)],
    ) -> Result<(), StateError> {
        let mut statuses = nodes.iter().map(|(_, status)| status);
        let is_in_order = statuses.all(|status| matches!(status, NodeStatus::InOrder));
        let records = memory.records.values();
        let mut archives = memory.archives.clone();
        archives.extend(records.flat_map(|record| mentioned_archives(&record.to_json())));
        let application = self.location.of_application();
        note_uses(target, &application, &archives, !is_in_order).map_err(failed)
    }
}
