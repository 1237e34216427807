//! What becomes of groups whose members end differently.

use std::any::Any;
use std::time::Duration;

use pkgres_manifest::{MetaParameters, Retries};

use super::*;
use crate::graph::GraphBuilder;
use crate::resource::{Checked, Input, Resource, Values};
use crate::runner::{Action, Event, NodeKey, RunOptions, Status};
use crate::target::Probe;

/// A part of a group. It is never checked: the tests say how attempts end.
#[derive(Debug)]
struct Part;

impl Resource for Part {
    fn definition(&self) -> String {
        "part".to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::in_order())
    }

    fn group(&self) -> Option<String> {
        Some("parts".to_owned())
    }

    fn grouped(&self, _: &[&dyn Resource]) -> Option<Box<dyn Resource>> {
        Some(Box::new(Self))
    }

    fn is_refreshable(&self) -> bool {
        true
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A resource that cannot be grouped.
#[derive(Debug)]
struct Single;

impl Resource for Single {
    fn definition(&self) -> String {
        "single".to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::in_order())
    }

    fn is_refreshable(&self) -> bool {
        true
    }
}

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

fn in_order() -> Outcome {
    Outcome::InOrder(Values::new())
}

fn changed() -> Outcome {
    Outcome::Changed(differences("a"), Values::new())
}

fn differences(name: &str) -> Vec<Difference> {
    vec![Difference::new(name, None::<String>, Some("made"))]
}

fn unknown() -> Outcome {
    Outcome::Failed(ResourceError::Unknown("nobody can say".to_owned()))
}

fn failed() -> Outcome {
    Outcome::Failed(ResourceError::Invalid("the disk is full".to_owned()))
}

/// A runner of a group with three members, `before` in front of it, and `after` that it notifies.
fn run(before: MetaParameters) -> Runner {
    let names = ["part:a", "part:b", "part:c"];
    run_group(before, &MetaParameters::default(), &names)
}

/// The same with parameters of the members, of which only some notify.
fn run_group(before: MetaParameters, of_parts: &MetaParameters, notifying: &[&str]) -> Runner {
    let mut builder = GraphBuilder::new();
    builder.add(id("single:before"), Single, before);
    for name in ["part:a", "part:b", "part:c"] {
        builder.add(id(name), Part, of_parts.clone());
        builder.order(id("single:before"), id(name));
    }
    builder.add(id("single:after"), Single, MetaParameters::default());
    for name in notifying {
        builder.notify(id(name), id("single:after"));
    }
    let graph = builder.build().expect("it has no cycle");
    assert_eq!(graph.nodes().len(), 3, "the parts are one group");
    let mut runner = Runner::new(graph, RunOptions::default());
    runner.handle(Event::Time, Duration::ZERO);
    runner
}

/// The node of the next attempt, and whether it is a refresh.
fn attempt(runner: &mut Runner) -> Option<(NodeKey, bool)> {
    let actions = std::iter::from_fn(|| runner.next_action());
    let mut attempts = actions.filter_map(|action| match action {
        Action::Attempt { node, input, .. } => Some((node, input.refresh)),
        _ => None,
    });
    attempts.next()
}

/// Ends the next attempt; returns whether it was one that refreshes.
fn end(runner: &mut Runner, outcome: Outcome) -> bool {
    let (node, refresh) = attempt(runner).expect("there is an attempt");
    runner.handle(Event::Finished(node, outcome), Duration::ZERO);
    refresh
}

fn statuses(runner: &Runner) -> Vec<String> {
    let parts = runner.resources().into_iter();
    let parts = parts.filter(|(id, _)| id.kind() == "part");
    parts.map(|(_, status)| format!("{status:?}")).collect()
}

#[test]
fn the_failure_of_a_member_counts_whatever_others_say() {
    let mut runner = run(MetaParameters::default());
    end(&mut runner, in_order());
    let outcomes = vec![unknown(), failed(), unknown()];
    end(&mut runner, Outcome::Members(outcomes));
    assert_eq!(
        statuses(&runner),
        [
            "Unknown(\"nobody can say\")",
            "Failed(\"the disk is full\")",
            "Unknown(\"nobody can say\")"
        ]
    );
    assert_eq!(attempt(&mut runner), None, "the rest is blocked");
    assert_eq!(runner.status(), Status::Failed);
}

#[test]
fn what_is_deferred_does_not_hide_a_failure() {
    let noop = MetaParameters {
        noop: true,
        ..MetaParameters::default()
    };
    let mut runner = run(noop);
    end(&mut runner, Outcome::Pending(differences("before")));
    // A member for which something before it matters waits, and the others are what they are.
    let outcomes = vec![failed(), unknown(), in_order()];
    end(&mut runner, Outcome::Members(outcomes));
    assert_eq!(
        statuses(&runner),
        [
            "Deferred(ResourceId { kind: \"single\", name: \"before\" }, \"the disk is full\")",
            "Unknown(\"nobody can say\")",
            "InOrder"
        ]
    );
}

#[test]
fn a_group_of_which_only_some_is_unknown_has_not_failed() {
    let mut runner = run(MetaParameters::default());
    end(&mut runner, in_order());
    let outcomes = vec![changed(), unknown(), in_order()];
    end(&mut runner, Outcome::Members(outcomes));
    assert_eq!(
        statuses(&runner),
        ["InOrder", "Unknown(\"nobody can say\")", "InOrder"]
    );
    assert!(
        end(&mut runner, in_order()),
        "a changed member refreshes what it notifies"
    );
    assert!(runner.owed().is_empty());
}

/// A change made by an earlier attempt triggers refreshes even if the last attempt fails.
#[test]
fn a_change_is_known_after_another_attempt() {
    for last in [failed(), unknown()] {
        let shown = format!("{last:?}");
        let retried = MetaParameters {
            retry: Retries::Times(1),
            ..MetaParameters::default()
        };
        let mut runner = run_group(MetaParameters::default(), &retried, &["part:a"]);
        end(&mut runner, in_order());
        end(
            &mut runner,
            Outcome::Members(vec![changed(), failed(), in_order()]),
        );
        end(
            &mut runner,
            Outcome::Members(vec![in_order(), last, in_order()]),
        );
        let (node, refresh) = attempt(&mut runner).expect("what only the first part notifies");
        assert!(refresh, "{:?} after {shown}", runner.id_of(node));
    }
}

/// A node that waited for a failed member is refreshed once it no longer waits, even if an earlier attempt made the
/// change.
#[test]
fn a_change_is_known_once_nothing_holds_what_it_notifies() {
    let parameters = MetaParameters::default();
    let mut runner = run_group(parameters.clone(), &parameters, &["part:a", "part:b"]);
    runner.options.watch = true;
    end(&mut runner, in_order());
    let (group, _) = attempt(&mut runner).expect("the group");
    let first = Outcome::Members(vec![changed(), failed(), in_order()]);
    runner.handle(Event::Finished(group, first), Duration::ZERO);
    assert_eq!(attempt(&mut runner), None, "it waits for the second part");
    runner.handle(Event::Changed(vec![group]), Duration::ZERO);
    // Another chance comes after a pause.
    let later = Duration::from_hours(1);
    runner.handle(Event::Time, later);
    let (again, _) = attempt(&mut runner).expect("the group");
    assert_eq!(again, group);
    let second = Outcome::Members(vec![in_order(), in_order(), failed()]);
    runner.handle(Event::Finished(group, second), later);
    let (node, refresh) = attempt(&mut runner).expect("what the first part notifies");
    assert!(refresh, "{:?}", runner.id_of(node));
}

#[test]
fn the_verification_of_a_group_is_one_failure_of_the_members_that_differ() {
    let apart = |name: &str| Outcome::Pending(differences(name));
    for outcome in [
        apart("b"),
        Outcome::Members(vec![in_order(), apart("b"), unknown()]),
    ] {
        let mut runner = run(MetaParameters::default());
        end(&mut runner, in_order());
        end(&mut runner, in_order());
        end(&mut runner, changed());
        // What was in order before the last change is looked at again.
        let mut is_failed = false;
        let mut outcome = Some(outcome);
        while let Some((node, _)) = attempt(&mut runner) {
            let is_group = runner.id_of(node).is_some_and(|id| id.kind() == "part");
            let outcome = outcome.take_if(|_| is_group).unwrap_or_else(in_order);
            runner.handle(Event::Finished(node, outcome), Duration::ZERO);
            if is_group {
                is_failed = true;
                let failed = runner.failures_of(node);
                let failed: Vec<String> = failed.iter().map(|(id, _)| id.to_string()).collect();
                assert_eq!(failed, ["part:b"]);
                let group = runner.nodes.iter().find(|state| state.has_failed());
                assert_eq!(group.map(|state| state.failures.times), Some(1));
            }
        }
        assert!(is_failed);
        assert_eq!(
            statuses(&runner),
            [
                "InOrder",
                "Failed(\"it is no longer up to date: b: made; changed after it: single:after\")",
                "InOrder"
            ]
        );
    }
}
