//! Resources that keep what was there before their first change, and those that restore it.

use std::collections::BTreeSet;
use std::sync::Arc;

use pkgres_manifest::ResourceId;

use super::AppliedState;
use crate::resource::{
    Change, Checked, Difference, Identifier, Input, Presence, Resource, ResourceError, ValueType,
    Watching, Wish,
};
use crate::target::{Probe, Target};

/// A resource that keeps what was there before its first change.
pub(super) struct Remembering {
    state: Arc<AppliedState>,
    resource: Arc<dyn Resource>,
    /// The resources that it consists of.
    parts: Vec<(ResourceId, Arc<dyn Resource>)>,
    /// The resources with the parameter `reverse` that come before it.
    after: BTreeSet<ResourceId>,
}

impl Remembering {
    pub(super) fn new(
        state: Arc<AppliedState>,
        resource: Arc<dyn Resource>,
        parts: Vec<(ResourceId, Arc<dyn Resource>)>,
        after: BTreeSet<ResourceId>,
    ) -> Self {
        Self {
            state,
            resource,
            parts,
            after,
        }
    }
}

/// It is what the resource is. Only its change does more.
impl Resource for Remembering {
    fn definition(&self) -> String {
        self.resource.definition()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let checked = self.resource.check(probe, input)?;
        let Checked::Drift(change) = checked else {
            return Ok(checked);
        };
        Ok(Checked::drift(RememberedChange {
            state: Arc::clone(&self.state),
            parts: self.parts.clone(),
            after: self.after.clone(),
            input: input.clone(),
            change,
        }))
    }

    fn watching(&self, probe: &dyn Probe) -> Watching {
        self.resource.watching(probe)
    }

    fn identifiers(&self) -> Vec<Identifier> {
        self.resource.identifiers()
    }

    fn wishes(&self) -> Vec<Wish> {
        self.resource.wishes()
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        self.resource.sends()
    }

    fn receives(&self) -> &[(&str, ValueType)] {
        self.resource.receives()
    }

    fn presence(&self) -> Presence {
        self.resource.presence()
    }

    fn is_refreshable(&self) -> bool {
        self.resource.is_refreshable()
    }
}

struct RememberedChange {
    state: Arc<AppliedState>,
    parts: Vec<(ResourceId, Arc<dyn Resource>)>,
    after: BTreeSet<ResourceId>,
    input: Input,
    change: Box<dyn Change>,
}

impl Change for RememberedChange {
    fn differences(&self) -> Vec<Difference> {
        self.change.differences()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.change.precheck(probe)
    }

    fn is_atomic(&self) -> bool {
        self.change.is_atomic()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        self.state
            .remember(target, &self.input, &self.parts, &self.after)?;
        self.change.apply(target)
    }
}

/// A resource that restores what was there before resources that are gone, and then forgets it.
#[derive(Clone)]
pub(super) struct Reversing {
    state: Arc<AppliedState>,
    /// The resources that are gone.
    ids: Vec<ResourceId>,
    /// What restores it; `None` if it is not known before the check.
    resource: Option<Arc<dyn Resource>>,
    /// Whether nothing is changed, so that nothing need be forgotten.
    is_plan: bool,
}

impl Reversing {
    /// The reversal of a resource whose record cannot be read yet.
    pub(super) fn unread(state: &Arc<AppliedState>, id: &ResourceId, is_plan: bool) -> Self {
        Self {
            state: Arc::clone(state),
            ids: vec![id.clone()],
            resource: None,
            is_plan,
        }
    }

    /// The reversal of resources by a resource that restores what was there; `None` if it is a reversal already.
    pub(super) fn of(
        state: &Arc<AppliedState>,
        resource: &Arc<dyn Resource>,
        ids: Vec<ResourceId>,
        is_plan: bool,
    ) -> Option<Self> {
        let is_reversal = resource
            .as_any()
            .is_some_and(<dyn std::any::Any>::is::<Self>);
        (!is_reversal).then(|| Self {
            state: Arc::clone(state),
            ids,
            resource: Some(Arc::clone(resource)),
            is_plan,
        })
    }
}

impl Resource for Reversing {
    fn definition(&self) -> String {
        let definition = self.resource.as_ref().map(|resource| resource.definition());
        format!("Reversing {:?} {definition:?}", self.ids)
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
            Checked::InOrder(_) if self.is_plan => return Ok(Checked::in_order()),
            Checked::InOrder(_) => None,
        };
        Ok(Checked::drift(Restoration {
            reversing: self.clone(),
            resource,
            change,
        }))
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
    fn differences(&self) -> Vec<Difference> {
        let nothing = || vec![Difference::new("reversal", Some("pending"), Some("done"))];
        self.change
            .as_ref()
            .map_or_else(nothing, |change| change.differences())
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
            return Err(ResourceError::StillDiffers(change.differences()));
        }
        let Reversing {
            state,
            ids,
            is_plan,
            ..
        } = &self.reversing;
        // A plan can be tried on a copy of the machine.
        if *is_plan {
            return Ok(());
        }
        state.forget(target, ids)
    }
}
