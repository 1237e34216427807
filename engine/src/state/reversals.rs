//! Resources that restore what was there before resources that are no longer in the graph.

use std::path::Path;
use std::sync::Arc;

use pkgres_manifest::ResourceId;

use super::{AppliedState, Purpose};
use crate::resource::{
    Change, Checked, Definition, Difference, Input, Resource, ResourceError, Watching,
};
use crate::target::{Probe, Target};

/// A resource that restores what was there before resources that are gone, and then forgets it.
#[derive(Clone)]
pub(super) struct Reversing {
    state: Arc<AppliedState>,
    /// The resources that are gone.
    ids: Vec<ResourceId>,
    /// What restores it; `None` if it is not known before the check.
    resource: Option<Arc<dyn Resource>>,
    purpose: Purpose,
}

impl Reversing {
    /// The reversal of a resource whose record cannot be read yet.
    pub(super) fn unread(state: &Arc<AppliedState>, id: &ResourceId, purpose: Purpose) -> Self {
        Self {
            state: Arc::clone(state),
            ids: vec![id.clone()],
            resource: None,
            purpose,
        }
    }

    /// The reversal of resources by a resource that restores what was there; `None` if it is a reversal already.
    pub(super) fn of(
        state: &Arc<AppliedState>,
        resource: &Arc<dyn Resource>,
        ids: Vec<ResourceId>,
        purpose: Purpose,
    ) -> Option<Self> {
        let is_reversal = resource
            .as_any()
            .is_some_and(<dyn std::any::Any>::is::<Self>);
        (!is_reversal).then(|| Self {
            state: Arc::clone(state),
            ids,
            resource: Some(Arc::clone(resource)),
            purpose,
        })
    }
}

impl Resource for Reversing {
    fn definition(&self) -> String {
        let definition = self.resource.as_ref().map(|resource| resource.definition());
        let ids: Vec<_> = self.ids.iter().map(ToString::to_string).collect();
        Definition::new("reversing")
            .with("ids", ids)
            .with("resource", definition)
            .into_text()
    }

    fn check(&self, probe: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        if !self.ids.iter().any(|id| self.state.has_record(id)) {
            return Ok(Checked::in_order());
        }
        let resource = match (&self.resource, self.ids.as_slice()) {
            (Some(resource), _) => Some(Arc::clone(resource)),
            (None, [id]) => self.state.reversal_of(id)?,
            (None, _) => None,
        };
        let checked = match &resource {
            Some(resource) => resource.check(probe, &Input::default())?,
            None => Checked::in_order(),
        };
        let change = match checked {
            Checked::Drift(change) => Some(change),
            Checked::Kept(reason) if self.purpose == Purpose::Plan => {
                return Ok(Checked::Kept(reason));
            }
            Checked::InOrder(_) if self.purpose == Purpose::Plan => return Ok(Checked::in_order()),
            Checked::InOrder(_) | Checked::Kept(_) => None,
        };
        Ok(Checked::drift(Restoration {
            reversing: self.clone(),
            resource,
            change,
        }))
    }

    /// Nothing that is new goes on before it has succeeded, so that one which failed is tried again in any case.
    fn watching(&self, probe: &dyn Probe) -> Watching {
        let watching = (self.resource.as_ref()).map(|resource| resource.watching(probe));
        match watching {
            Some(
                Watching::Paths(paths)
                | Watching::PathsAndPolling(paths)
                | Watching::UntilInOrder(paths),
            ) => Watching::PathsAndPolling(paths),
            Some(Watching::Polling | Watching::Nothing) | None => {
                Watching::PathsAndPolling(Vec::new())
            }
        }
    }

    fn may_make_folder(&self, folder: &Path) -> bool {
        let resource = self.resource.as_ref();
        resource.is_none_or(|resource| resource.may_make_folder(folder))
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        let resource = self.resource.as_ref();
        resource.is_none_or(|resource| resource.may_open_folder(folder))
    }

    fn may_remedy(&self, error: &ResourceError) -> bool {
        let resource = self.resource.as_ref();
        resource.is_none_or(|resource| resource.may_remedy(error))
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }
}

struct Restoration {
    reversing: Reversing,
    resource: Option<Arc<dyn Resource>>,
    /// The change that restores what was there; `None` if it is there already.
    change: Option<Box<dyn Change>>,
}

impl Change for Restoration {
    /// None if only the record goes, which is no change of the machine.
    fn differences(&self) -> Vec<Difference> {
        let change = self.change.as_ref();
        change.map_or_else(Vec::new, |change| change.differences())
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        let change = self.change.as_ref();
        change.map_or(Ok(()), |change| change.precheck(probe))
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        if let Some(change) = self.change {
            change.apply(target)?;
        }
        if let Some(resource) = &self.resource
            && let Checked::Drift(change) = resource.check(target, &Input::default())?
        {
            return Err(ResourceError::still_differs(&*change));
        }
        let Reversing {
            state,
            ids,
            purpose,
            ..
        } = &self.reversing;
        // A plan can be tried on a copy of the machine.
        if *purpose == Purpose::Plan {
            return Ok(());
        }
        state.forget(target, ids)
    }
}
