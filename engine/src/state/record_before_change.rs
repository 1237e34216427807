//! Wraps a resource so that something is recorded before its change, such as the earlier state. If that fails, nothing
//! is changed.

use std::path::Path;
use std::sync::Arc;

use crate::resource::{
    Change, Checked, Difference, Identifier, Input, Presence, Resource, ResourceError, ValueType,
    Watching, Wish,
};
use crate::target::{Probe, Target};

/// What is done before a change, with what the resource received. If it fails, nothing is changed.
type Preparation = dyn Fn(&dyn Target, &Input) -> Result<(), ResourceError> + Send + Sync;

/// A resource whose changes are prepared. In everything else, it is that resource.
pub(super) struct Prepared {
    resource: Arc<dyn Resource>,
    prepare: Arc<Preparation>,
}

impl Prepared {
    pub(super) fn new(
        resource: Arc<dyn Resource>,
        prepare: impl Fn(&dyn Target, &Input) -> Result<(), ResourceError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            resource,
            prepare: Arc::new(prepare),
        }
    }
}

impl Resource for Prepared {
    fn definition(&self) -> String {
        self.resource.definition()
    }

    fn check(&self, probe: &dyn Probe, input: &Input) -> Result<Checked, ResourceError> {
        let checked = self.resource.check(probe, input)?;
        let Checked::Drift(change) = checked else {
            return Ok(checked);
        };
        Ok(Checked::drift(PreparedChange {
            prepare: Arc::clone(&self.prepare),
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

    fn may_make_folder(&self, folder: &Path) -> bool {
        self.resource.may_make_folder(folder)
    }

    fn may_open_folder(&self, folder: &Path) -> bool {
        self.resource.may_open_folder(folder)
    }

    fn may_remedy(&self, error: &ResourceError) -> bool {
        self.resource.may_remedy(error)
    }

    fn is_plain_file(&self) -> bool {
        self.resource.is_plain_file()
    }

    fn is_refreshable(&self) -> bool {
        self.resource.is_refreshable()
    }
}

struct PreparedChange {
    prepare: Arc<Preparation>,
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
        self.change.apply(target)
    }
}
