//! Changes that are made by programs of the machine.

use crate::resource::{Change, Difference, ResourceError};
use crate::target::{Command, Target, TargetError};

/// Runs commands one after another, until one fails.
pub(super) struct Commands {
    differences: Vec<Difference>,
    commands: Vec<Command>,
}

impl Commands {
    /// Commands that make these differences disappear.
    pub(super) fn new(differences: Vec<Difference>, commands: Vec<Command>) -> Self {
        Self {
            differences,
            commands,
        }
    }
}

impl Change for Commands {
    fn differences(&self) -> Vec<Difference> {
        self.differences.clone()
    }

    fn apply(self: Box<Self>, target: &dyn Target) -> Result<(), ResourceError> {
        for command in &self.commands {
            TargetError::unless_success(command, target.run(command)?)?;
        }
        Ok(())
    }
}
