//! One attempt at a resource: a check, a change if it is needed, and another check.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::graph::Node;
use crate::resource::{Checked, Difference, Input, Resource, ResourceError, Values, Watching};
use crate::target::{Probe, Target, TargetError};

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
    /// The attempt at a group failed for some of its members. These are the results of all, in their order.
    Members(Vec<Outcome>),
}

impl Outcome {
    /// Why the attempt failed.
    fn error(&self) -> Option<&ResourceError> {
        match self {
            Self::Impossible(_, error) | Self::Unfinished(_, error) | Self::Failed(error) => {
                Some(error)
            }
            Self::Members(members) => members.iter().find_map(Self::error),
            Self::InOrder(_) | Self::Kept(_) | Self::Changed(..) | Self::Pending(_) => None,
        }
    }

    /// Whether a change was begun.
    pub(super) fn is_change(&self) -> bool {
        match self {
            Self::Changed(..) | Self::Unfinished(..) => true,
            Self::Members(members) => members.iter().any(Self::is_change),
            _ => false,
        }
    }
}

/// Checks a resource, and changes it if it differs, unless `noop` is set. A resource that was changed is checked once
/// more: it has to be in order after one change. A panic is an error like others.
pub fn attempt(resource: &dyn Resource, target: &dyn Target, input: &Input, noop: bool) -> Outcome {
    catching(|| try_once(resource, target, input, noop))
}

/// The outcome of an attempt whose panic is an error like others.
fn catching(attempt: impl FnOnce() -> Result<Outcome, ResourceError>) -> Outcome {
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

/// Checks a node of a graph once more at the end of a run, if files alone say whether it is in order. Other checks are
/// expensive, so their earlier result is assumed to hold.
pub(crate) fn verify_node(node: &Node, target: &dyn Target, input: &Input, noop: bool) -> Outcome {
    catching(|| {
        let is_cheap = matches!(
            node.resource.watching(target),
            Watching::Paths(_) | Watching::PathsAndPolling(_) | Watching::UntilInOrder(_)
        );
        Ok(if is_cheap {
            attempt_node(node, target, input, noop)
        } else {
            Outcome::InOrder(Values::new())
        })
    })
}

/// Attempts a node of a graph: its resource or, if it is a group whose members cannot be changed together, each member by
/// itself. So one that cannot be changed does not keep the others from it.
pub(crate) fn attempt_node(node: &Node, target: &dyn Target, input: &Input, noop: bool) -> Outcome {
    let outcome = attempt(node.resource.as_ref(), target, input, noop);
    let error = outcome.error();
    if node.members.is_empty() || !error.is_some_and(may_concern_one) {
        return outcome;
    }
    // What the attempt at all of them has begun.
    let mut begun: Vec<Vec<Difference>> = match &outcome {
        Outcome::Unfinished(differences, _) => {
            let ids = node.members.iter();
            ids.map(|id| node.differences_of(id, differences)).collect()
        }
        _ => vec![Vec::new(); node.members.len()],
    };
    let members = node.parts();
    let mut outcomes: Vec<Option<Outcome>> = members.iter().map(|_| None).collect();
    loop {
        let mut has_changed = false;
        for (number, (_, member)) in members.iter().enumerate() {
            let before = &outcomes[number];
            if before
                .as_ref()
                .is_some_and(|before| before.error().is_none())
            {
                continue;
            }
            let outcome = attempt(member.as_ref(), target, input, noop);
            if let Outcome::Changed(differences, _) | Outcome::Unfinished(differences, _) = &outcome
            {
                begun[number].clone_from(differences);
            }
            has_changed |= matches!(outcome, Outcome::Changed(..));
            match outcome {
                Outcome::Impossible(_, error)
                | Outcome::Unfinished(_, error)
                | Outcome::Failed(error)
                    if !may_concern_one(&error) =>
                {
                    return with_begun(Outcome::Failed(error), begun.concat());
                }
                outcome => outcomes[number] = Some(outcome),
            }
        }
        // One may have waited for another, such as a package that another one needs and that has to go.
        if !has_changed {
            break;
        }
    }
    let outcomes = outcomes.into_iter().flatten().zip(begun);
    joined(outcomes.map(|(outcome, begun)| with_begun(outcome, begun)))
}

/// Whether an error of an attempt at several resources may be due to one of them.
fn may_concern_one(error: &ResourceError) -> bool {
    match error {
        ResourceError::Target(error) => matches!(
            error,
            TargetError::Command { .. } | TargetError::File(_) | TargetError::OutputLimit { .. }
        ),
        _ => true,
    }
}

/// The result of an attempt, after an earlier one that has begun to change what differed.
fn with_begun(outcome: Outcome, begun: Vec<Difference>) -> Outcome {
    match outcome {
        Outcome::InOrder(values) if !begun.is_empty() => Outcome::Changed(begun, values),
        Outcome::Failed(error) if !begun.is_empty() => Outcome::Unfinished(begun, error),
        outcome => outcome,
    }
}

/// The result of a group: that of all its members, unless some of them failed.
fn joined(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let outcomes: Vec<Outcome> = outcomes.collect();
    if outcomes.iter().any(|outcome| outcome.error().is_some()) {
        return Outcome::Members(outcomes);
    }
    let (mut changed, mut pending, mut sent) = (Vec::new(), Vec::new(), Values::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Changed(differences, values) => {
                changed.extend(differences);
                sent.extend(values);
            }
            Outcome::Pending(differences) => pending.extend(differences),
            Outcome::InOrder(values) => sent.extend(values),
            _ => {}
        }
    }
    if !pending.is_empty() {
        Outcome::Pending(pending)
    } else if changed.is_empty() {
        Outcome::InOrder(sent)
    } else {
        Outcome::Changed(changed, sent)
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
        // Only what the state knows has changed.
        Ok(Checked::InOrder(values)) if differences.is_empty() => Outcome::InOrder(values),
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
