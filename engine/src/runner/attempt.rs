//! One attempt at a resource: a check, a change if it is needed, and another check.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::resource::{Checked, Difference, Input, Resource, ResourceError, Values};
use crate::target::{Probe, Target};

/// The result of an attempt.
#[derive(Debug)]
pub enum Outcome {
    /// The resource was in order. It sends these values.
    InOrder(Values),
    /// The resource was in order, and nothing may be changed, but it may differ after changes of resources that go
    /// first.
    Kept(String),
    /// The resource differed, was changed, and is in order now. It sends these values.
    Changed(Vec<Difference>, Values),
    /// The resource differs, and nothing may be changed.
    Pending(Vec<Difference>),
    /// The resource differs, nothing may be changed, and the machine would not let it be changed as it is now.
    Impossible(Vec<Difference>, ResourceError),
    /// The resource differed, and the attempt failed after its change was begun. Some of it may have been done.
    Unfinished(Vec<Difference>, ResourceError),
    /// The attempt failed.
    Failed(ResourceError),
}

/// Checks a resource, and changes it if it differs, unless `noop` is set. A resource that was changed is checked once
/// more: it has to be in order after one change. A panic is an error like others.
pub fn attempt(resource: &dyn Resource, target: &dyn Target, input: &Input, noop: bool) -> Outcome {
    let attempt = || try_once(resource, target, input, noop);
    match catch_unwind(AssertUnwindSafe(attempt)) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => Outcome::Failed(error),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
            Outcome::Failed(ResourceError::Panicked(text.unwrap_or_default()))
        }
    }
}

fn try_once(
    resource: &dyn Resource,
    target: &dyn Target,
    input: &Input,
    noop: bool,
) -> Result<Outcome, ResourceError> {
    let probe: &dyn Probe = target;
    let change = match resource.check(probe, input)? {
        Checked::InOrder(values) => return Ok(Outcome::InOrder(values)),
        Checked::Kept(reason) if noop => return Ok(Outcome::Kept(reason)),
        Checked::Kept(_) => return Ok(Outcome::InOrder(Values::new())),
        Checked::Drift(change) => change,
    };
    let differences = change.differences();
    if noop {
        return Ok(match change.precheck(probe) {
            Ok(()) => Outcome::Pending(differences),
            Err(error) => Outcome::Impossible(differences, error),
        });
    }
    let is_atomic = change.is_atomic();
    if !is_atomic {
        // What cannot be made as a whole is not begun.
        change.precheck(probe)?;
    }
    if let Err(error) = change.apply(target) {
        return Ok(if is_atomic {
            Outcome::Failed(error)
        } else {
            Outcome::Unfinished(differences, error)
        });
    }
    let input = Input {
        refresh: false,
        ..input.clone()
    };
    Ok(match resource.check(probe, &input) {
        Ok(Checked::InOrder(values)) => Outcome::Changed(differences, values),
        // What could be changed was.
        Ok(Checked::Kept(_)) | Err(ResourceError::Unknown(_)) => {
            Outcome::Changed(differences, Values::new())
        }
        Ok(Checked::Drift(change)) => {
            Outcome::Unfinished(differences, ResourceError::still_differs(&*change))
        }
        Err(error) => Outcome::Unfinished(differences, error),
    })
}
