//! Wraps a resource so that something is recorded before its change, such as the earlier state, or after it. If that
//! fails before the change, nothing is changed.

use std::sync::Arc;

use crate::resource::{
    Change, Checked, Difference, Input, Resource, ResourceError, Values, forward_resource,
};
use crate::target::{Probe, Target};

/// What is done before a change, with what the resource received. If it fails, nothing is changed.
type Preparation = dyn Fn(&dyn Target, &Input) -> Result<(), ResourceError> + Send + Sync;

/// Whether something is due although the resource is in order.
type Demand = dyn Fn(&dyn Probe) -> bool + Send + Sync;

/// Keeps the values that a resource sends only after its change.
pub(super) trait ValueKeeper: Send + Sync {
    /// The values of the resource, whose check found it in order: those that it sent after its change, if it sends none
    /// now.
    fn or_kept(&self, values: Values) -> Values;

    /// Keeps what the resource sends right after its change.
    fn keep(&self, resource: &dyn Resource, target: &dyn Target, input: &Input);
}

/// A resource whose changes are prepared. In everything else, it is that resource.
pub(super) struct Prepared {
    resource: Arc<dyn Resource>,
    prepare: Arc<Preparation>,
    /// What is done, and when, although the resource is in order.
    in_order: Option<(Arc<Demand>, Arc<Preparation>)>,
    /// Where its values are kept after its change.
    kept: Option<Arc<dyn ValueKeeper>>,
}

impl Prepared {
    pub(super) fn new(
        resource: Arc<dyn Resource>,
        prepare: impl Fn(&dyn Target, &Input) -> Result<(), ResourceError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            resource,
            prepare: Arc::new(prepare),
            in_order: None,
            kept: None,
        }
    }

    /// Does something although the resource is in order, if that is due. Nothing of the machine changes by it.
    pub(super) fn or_in_order(
        mut self,
        is_due: impl Fn(&dyn Probe) -> bool + Send + Sync + 'static,
        prepare: impl Fn(&dyn Target, &Input) -> Result<(), ResourceError> + Send + Sync + 'static,
    ) -> Self {
        self.in_order = Some((Arc::new(is_due), Arc::new(prepare)));
        self
    }

    /// Keeps what the resource sends after its change.
    pub(super) fn keeping(mut self, kept: impl ValueKeeper + 'static) -> Self {
        self.kept = Some(Arc::new(kept));
        self
    }
}

impl Resource for Prepared {
    fn definition(&self) -> String {
        self.resource.definition()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let checked = self.resource.check(probe, input)?;
        let change = match checked {
            Checked::Drift(change) => change,
            Checked::InOrder(values) => {
                if let Some((is_due, prepare)) = &self.in_order
                    && is_due(probe)
                {
                    return Ok(Checked::drift(PreparedChange {
                        prepare: Arc::clone(prepare),
                        kept: None,
                        input: input.clone(),
                        change: Box::new(NoChange),
                    }));
                }
                return Ok(Checked::InOrder(match &self.kept {
                    Some(kept) => kept.or_kept(values),
                    None => values,
                }));
            }
            Checked::Kept(reason) => return Ok(Checked::Kept(reason)),
        };
        let kept = self.kept.as_ref();
        Ok(Checked::drift(PreparedChange {
            prepare: Arc::clone(&self.prepare),
            kept: kept.map(|kept| (Arc::clone(&self.resource), Arc::clone(kept))),
            input: input.clone(),
            change,
        }))
    }

    forward_resource!(resource);

    fn may_remedy(&self, error: &ResourceError) -> bool {
        self.resource.may_remedy(error)
    }
}

struct PreparedChange {
    prepare: Arc<Preparation>,
    kept: Option<(Arc<dyn Resource>, Arc<dyn ValueKeeper>)>,
    input: Input,
    change: Box<dyn Change>,
}

impl Change for PreparedChange {
    fn differences(&self) -> Vec<Difference> {
        self.change.differences()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        self.change.precheck(probe)
    }

    fn is_atomic(&self) -> bool {
        self.change.is_atomic()
    }

    fn still_necessary(&self) -> Option<String> {
        self.change.still_necessary()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        (self.prepare)(target, &self.input)?;
        self.change.apply(target)?;
        if let Some((resource, kept)) = &self.kept {
            kept.keep(&**resource, target, &self.input);
        }
        Ok(())
    }
}

/// What is prepared although nothing of the machine changes.
struct NoChange;

impl Change for NoChange {
    fn differences(&self) -> Vec<Difference> {
        Vec::new()
    }

    fn apply(self: Box<Self>, _: &dyn Target) -> Result<(), ResourceError> {
        Ok(())
    }
}
