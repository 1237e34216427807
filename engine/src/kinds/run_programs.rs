//! Changes that run programs of the machine, such as `useradd`, one after another.

use super::command_prerequisites::require_startable;
use crate::resource::{Change, Difference, ResourceError};
use crate::target::{Command, Probe, Target, TargetError};

/// Runs commands one after another, until one fails.
pub(super) struct Commands {
    differences: Vec<Difference>,
    in_order: Vec<Command>,
    /// Why they cannot succeed on the machine as it is.
    obstacle: Option<String>,
}

impl Commands {
    /// Commands that make these differences disappear.
    pub(super) fn new(differences: Vec<Difference>, commands: Vec<Command>) -> Self {
        Self {
            differences,
            in_order: commands,
            obstacle: None,
        }
    }

    /// Sets why the commands cannot succeed on the machine as it is.
    pub(super) fn with_obstacle(mut self, obstacle: Option<String>) -> Self {
        self.obstacle = obstacle;
        self
    }
}

impl Change for Commands {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn precheck(&self, probe: &dyn Probe) -> Result<(), ResourceError> {
        if let Some(obstacle) = &self.obstacle {
            return Err(ResourceError::Invalid(obstacle.clone()));
        }
        // What the others need may come with the first one.
        let first = self.in_order.first();
        first.map_or(Ok(()), |command| require_startable(command, probe))
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        for command in &self.in_order {
            TargetError::unless_success(command, target.run(command)?)?;
        }
        Ok(())
    }
}
