//! What a runner asks for after events that come at inconvenient moments.

use std::collections::BTreeMap;
use std::time::Duration;

use pkgres_engine::{
    Action, Checked, Difference, Event, File, Graph, GraphBuilder, Input, NodeKey, NodeStatus,
    Outcome, Probe, Receipt, Resource, ResourceError, RunOptions, Runner, Status, ValueType,
};
use pkgres_manifest::{MetaParameters, Polling, ResourceId};

/// A resource that is refreshed, and sends a text. It is never checked: the tests say how attempts end.
#[derive(Debug)]
struct Service(&'static str);

impl Resource for Service {
    fn definition(&self) -> String {
        self.0.to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::in_order())
    }

    fn is_refreshable(&self) -> bool {
        true
    }

    fn sends(&self) -> &[(&str, ValueType)] {
        &[("address", ValueType::Text)]
    }
}

fn id(text: &str) -> ResourceId {
    text.parse().expect("it is an identity")
}

fn noop() -> MetaParameters {
    MetaParameters {
        noop: true,
        ..MetaParameters::default()
    }
}

/// A graph of services with a definition, and edges, each with whether it notifies.
fn services(
    services: &[(&str, &'static str, MetaParameters)],
    edges: &[(&str, &str, bool)],
) -> Graph {
    let mut builder = GraphBuilder::new();
    for (name, definition, meta) in services {
        builder.add(id(name), Service(definition), meta.clone());
    }
    for (first, second, notifies) in edges {
        if *notifies {
            builder.notify(id(first), id(second));
        } else {
            builder.order(id(first), id(second));
        }
    }
    builder.build().expect("it has no cycle")
}

fn changed() -> Outcome {
    Outcome::Changed(difference(), BTreeMap::new())
}

fn in_order() -> Outcome {
    Outcome::InOrder(BTreeMap::new())
}

fn pending() -> Outcome {
    Outcome::Pending(difference())
}

fn failed() -> Outcome {
    Outcome::Failed(ResourceError::Invalid("the disk is full".to_owned()))
}

fn unfinished() -> Outcome {
    let error = ResourceError::Invalid("the disk is full".to_owned());
    Outcome::Unfinished(difference(), error)
}

fn difference() -> Vec<Difference> {
    vec![Difference::new("state", Some("down"), Some("up"))]
}

/// A runner, and the attempts that it asked for.
struct Run {
    runner: Runner,
    now: Duration,
    attempts: Vec<(ResourceId, NodeKey, Input)>,
}

impl Run {
    fn new(graph: Graph, options: RunOptions) -> Self {
        let mut run = Self {
            runner: Runner::new(graph, options),
            now: Duration::ZERO,
            attempts: Vec::new(),
        };
        run.tell(Event::Time);
        run
    }

    fn watched(graph: Graph) -> Self {
        let options = RunOptions {
            watch: true,
            ..RunOptions::default()
        };
        Self::new(graph, options)
    }

    fn tell(&mut self, event: Event) {
        self.runner.handle(event, self.now);
        while let Some(action) = self.runner.next_action() {
            if let Action::Attempt {
                node, id, input, ..
            } = action
            {
                self.attempts.push((id, node, input));
            }
        }
    }

    /// The key of a resource whose attempt runs.
    fn key(&self, name: &str) -> NodeKey {
        let mut attempts = self.attempts.iter();
        let attempt = attempts.find(|(attempted, ..)| *attempted == id(name));
        attempt.expect("it runs").1
    }

    /// Ends the attempt at a resource; returns what it was given.
    fn end(&mut self, name: &str, outcome: Outcome) -> Input {
        let running: Vec<_> = self.attempts.iter().map(|(id, ..)| id.clone()).collect();
        let position = running.iter().position(|running| *running == id(name));
        let position = position.unwrap_or_else(|| panic!("{name} is not in {running:?}"));
        let (_, key, input) = self.attempts.remove(position);
        self.tell(Event::Finished(key, outcome));
        input
    }

    fn status_of(&self, name: &str) -> NodeStatus {
        let mut nodes = self.runner.nodes();
        let node = nodes.find(|(node, _)| **node == id(name));
        node.expect("it is in the graph").1
    }

    fn is_idle(&self) -> bool {
        self.attempts.is_empty()
    }

    /// Lets time pass until the next attempt.
    fn wait(&mut self) {
        self.now = self.runner.next_alarm().expect("it waits for something");
        self.tell(Event::Time);
    }
}

#[test]
fn a_resource_that_another_graph_replaces_gets_the_value_that_was_sent() {
    let graph = |content: &str| {
        let mut builder = GraphBuilder::new();
        builder.add(id("exec:host"), Service("host"), MetaParameters::default());
        let file = File::new("/host").with_content(content);
        builder.add(id("file:/host"), file, MetaParameters::default());
        let receipt = Receipt {
            property: "content".to_owned(),
            from: id("exec:host"),
            value: "address".to_owned(),
        };
        builder.add_receipt(&id("file:/host"), receipt);
        builder.build().expect("it has no cycle")
    };
    let mut run = Run::watched(graph("before"));
    let sent = BTreeMap::from([("address".to_owned(), "10.0.0.7".into())]);
    run.end("exec:host", Outcome::InOrder(sent));
    run.end("file:/host", in_order());
    run.tell(Event::Replace(graph("after")));
    let input = run.end("file:/host", changed());
    assert_eq!(
        input.received.get("content").map(ToString::to_string),
        Some("10.0.0.7".to_owned())
    );
    assert_eq!(input.awaited, BTreeMap::new());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn a_refresh_stays_owed_to_a_resource_that_another_graph_replaces() {
    let graph = |definition| {
        services(
            &[
                ("file:/conf", "conf", MetaParameters::default()),
                ("service:web", definition, MetaParameters::default()),
            ],
            &[("file:/conf", "service:web", true)],
        )
    };
    let mut run = Run::watched(graph("before"));
    run.end("file:/conf", changed());
    // It fails, so that it is not refreshed.
    assert!(run.end("service:web", failed()).refresh);
    run.tell(Event::Replace(graph("after")));
    assert!(run.end("service:web", changed()).refresh);
    run.tell(Event::Replace(graph("later")));
    assert!(!run.end("service:web", in_order()).refresh, "it was done");
}

#[test]
fn a_refresh_is_owed_after_a_change_in_part_whose_resource_is_gone() {
    let all = [
        ("file:/conf", "conf", MetaParameters::default()),
        ("service:web", "web", MetaParameters::default()),
    ];
    let mut run = Run::watched(services(&all, &[("file:/conf", "service:web", true)]));
    run.end("file:/conf", changed());
    run.end("service:web", changed());
    run.tell(Event::AllChanged);
    run.end("file:/conf", unfinished());
    run.tell(Event::Replace(services(&all[1..], &[])));
    assert!(run.end("service:web", changed()).refresh);
}

#[test]
fn what_an_earlier_run_owed_is_done_once() {
    let graph = |definition| {
        let service = ("service:web", definition, MetaParameters::default());
        services(&[service], &[])
    };
    let options = RunOptions {
        owed: [id("service:web")].into(),
        ..RunOptions::default()
    };
    let mut run = Run::new(graph("before"), options);
    assert!(run.end("service:web", changed()).refresh);
    run.tell(Event::Replace(graph("after")));
    assert!(!run.end("service:web", in_order()).refresh);
}

#[test]
fn a_change_that_is_noticed_during_an_attempt_that_fails_gives_another_chance() {
    let service = ("service:web", "web", MetaParameters::default());
    let mut run = Run::watched(services(&[service], &[]));
    run.tell(Event::Changed(vec![run.key("service:web")]));
    run.end("service:web", failed());
    assert!(run.is_idle(), "an attempt can cause such events itself");
    run.wait();
    run.end("service:web", in_order());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn an_attempt_that_ran_while_what_goes_first_was_changed_is_made_again() {
    let graph = services(
        &[
            ("directory:/srv", "srv", MetaParameters::default()),
            ("file:/srv/a", "a", MetaParameters::default()),
        ],
        &[("directory:/srv", "file:/srv/a", false)],
    );
    let mut run = Run::watched(graph);
    let folder = run.key("directory:/srv");
    run.end("directory:/srv", changed());
    run.tell(Event::Changed(vec![folder]));
    // Both run now.
    run.end("directory:/srv", changed());
    run.end("file:/srv/a", failed());
    assert!(!matches!(run.runner.status(), Status::Failed));
    run.wait();
    run.end("file:/srv/a", changed());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn an_interrupted_run_ends_with_what_was_found_last() {
    let none = MetaParameters::default;
    let graph = services(
        &[("exec:slow", "slow", none()), ("exec:late", "late", none())],
        &[("exec:slow", "exec:late", false)],
    );
    let mut run = Run::watched(graph);
    let slow = run.key("exec:slow");
    run.tell(Event::Interrupt);
    // The run sees the change of the attempt, and does not look again.
    run.tell(Event::Changed(vec![slow]));
    run.end("exec:slow", changed());
    assert_eq!(run.runner.status(), Status::Interrupted);
    assert_eq!(run.status_of("exec:slow"), NodeStatus::InOrder);
    assert_eq!(run.status_of("exec:late"), NodeStatus::Waiting);
}

#[test]
fn what_failed_without_its_folder_is_made_as_soon_as_the_folder_is_there() {
    let graph = services(
        &[
            ("directory:/srv", "srv", MetaParameters::default()),
            ("file:/srv/a", "a", MetaParameters::default()),
        ],
        &[("directory:/srv", "file:/srv/a", false)],
    );
    let mut run = Run::watched(graph);
    let folder = run.key("directory:/srv");
    run.end("directory:/srv", changed());
    let file = run.key("file:/srv/a");
    run.end("file:/srv/a", changed());
    // Both are removed, which is noticed of the file first.
    run.tell(Event::Changed(vec![file]));
    run.tell(Event::Changed(vec![folder]));
    run.end("file:/srv/a", failed());
    run.tell(Event::Changed(vec![file]));
    run.end("directory:/srv", changed());
    run.end("file:/srv/a", changed());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn what_waits_for_a_change_that_nothing_may_make_follows_what_becomes_of_it() {
    let graph = || {
        services(
            &[
                ("package:web", "package", noop()),
                ("directory:/etc/web", "folder", MetaParameters::default()),
                ("service:web", "service", MetaParameters::default()),
            ],
            &[
                ("package:web", "service:web", false),
                ("directory:/etc/web", "service:web", false),
            ],
        )
    };
    let begin = || {
        let mut run = Run::watched(graph());
        let keys = (run.key("package:web"), run.key("directory:/etc/web"));
        run.end("package:web", pending());
        run.end("directory:/etc/web", in_order());
        run.end("service:web", failed());
        let status = run.status_of("service:web");
        assert!(matches!(status, NodeStatus::Deferred(by, _) if by == id("package:web")));
        assert_eq!(run.runner.status(), Status::Converged);
        (run, keys)
    };
    // The package cannot be looked at any more, and then it is there.
    let (mut run, (package, _)) = begin();
    run.tell(Event::Changed(vec![package]));
    run.end("package:web", failed());
    let status = run.status_of("service:web");
    assert_eq!(status, NodeStatus::Blocked(id("package:web")));
    run.tell(Event::Changed(vec![package]));
    run.wait();
    run.end("package:web", in_order());
    run.end("service:web", changed());
    assert_eq!(run.status_of("service:web"), NodeStatus::InOrder);

    // Something else that goes first was wrong, and is repaired.
    let (mut run, (_, folder)) = begin();
    run.tell(Event::Changed(vec![folder]));
    run.end("directory:/etc/web", changed());
    run.end("service:web", changed());
    assert_eq!(run.status_of("service:web"), NodeStatus::InOrder);
}

#[test]
fn a_resource_whose_failing_attempts_cause_events_counts_as_failed_in_the_end() {
    for converged_timeout in [Duration::ZERO, Duration::from_mins(2)] {
        let service = ("service:web", "web", MetaParameters::default());
        let options = RunOptions {
            watch: true,
            converged_timeout,
            ..RunOptions::default()
        };
        let mut run = Run::new(services(&[service], &[]), options);
        let mut attempts = 0;
        while run.runner.status() == Status::Working {
            if run.is_idle() {
                run.wait();
                continue;
            }
            attempts += 1;
            assert!(attempts < 20, "it goes on for ever");
            let key = run.key("service:web");
            run.end("service:web", unfinished());
            run.tell(Event::Changed(vec![key]));
        }
        assert_eq!(run.runner.status(), Status::Failed);
        let status = run.status_of("service:web");
        assert_eq!(status, NodeStatus::Failed("the disk is full".to_owned()));

        // It is still tried, and succeeds once the reason is gone.
        while run.is_idle() {
            run.wait();
        }
        run.end("service:web", changed());
        run.now += converged_timeout;
        run.tell(Event::Time);
        assert_eq!(run.runner.status(), Status::Converged);
    }
}

#[test]
fn a_failing_resource_that_changes_what_goes_first_does_not_run_for_ever() {
    let graph = services(
        &[
            ("file:/conf", "conf", MetaParameters::default()),
            ("service:web", "web", MetaParameters::default()),
        ],
        &[("file:/conf", "service:web", false)],
    );
    let mut run = Run::watched(graph);
    let file = run.key("file:/conf");
    let mut attempts = 0;
    while run.runner.status() == Status::Working {
        if run.is_idle() {
            run.wait();
            continue;
        }
        attempts += 1;
        assert!(attempts < 50, "it goes on for ever");
        if run.attempts[0].1 == file {
            run.end("file:/conf", changed());
        } else {
            run.end("service:web", failed());
            run.tell(Event::Changed(vec![file]));
        }
    }
    assert_eq!(run.runner.status(), Status::Failed);
    let status = run.status_of("service:web");
    assert_eq!(status, NodeStatus::Failed("the disk is full".to_owned()));
}

#[test]
fn resources_that_undo_each_others_changes_fail_and_are_named() {
    let graph = services(
        &[
            ("file:/conf", "conf", MetaParameters::default()),
            ("file:/other", "other", MetaParameters::default()),
            ("service:web", "web", MetaParameters::default()),
        ],
        &[("file:/conf", "service:web", true)],
    );
    for converged_timeout in [Duration::ZERO, Duration::from_mins(2)] {
        let options = RunOptions {
            watch: true,
            converged_timeout,
            ..RunOptions::default()
        };
        let mut run = Run::new(graph.clone(), options);
        let file = run.key("file:/conf");
        run.end("file:/other", changed());
        let mut attempts = 0;
        while run.runner.status() == Status::Working {
            let Some((id, ..)) = run.attempts.first() else {
                run.wait();
                continue;
            };
            attempts += 1;
            assert!(attempts < 100, "it goes on for ever");
            if id.to_string() == "file:/conf" {
                run.end("file:/conf", changed());
            } else {
                // It is refreshed, and changes the file.
                run.end("service:web", changed());
                run.tell(Event::Changed(vec![file]));
            }
        }
        assert_eq!(run.runner.status(), Status::Failed);
        let NodeStatus::Failed(reason) = run.status_of("file:/conf") else {
            panic!("{:?}", run.status_of("file:/conf"));
        };
        assert_eq!(
            reason,
            "it was changed 10 times in a row, each time soon after a change of service:web: they undo each other's changes"
        );
        assert_eq!(run.status_of("file:/other"), NodeStatus::InOrder);
    }
}

#[test]
fn what_others_change_again_and_again_does_not_fail() {
    let graph = services(
        &[
            ("file:/a", "a", MetaParameters::default()),
            ("file:/b", "b", MetaParameters::default()),
        ],
        &[],
    );
    let mut run = Run::watched(graph);
    let file = run.key("file:/a");
    run.end("file:/a", changed());
    run.end("file:/b", changed());
    for _ in 0..30 {
        run.now += Duration::from_millis(100);
        run.tell(Event::Changed(vec![file]));
        run.end("file:/a", changed());
    }
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn checks_that_find_all_in_order_do_not_put_off_the_end() {
    let meta = MetaParameters {
        poll: Polling::Every(Duration::from_secs(30)),
        ..MetaParameters::default()
    };
    let options = RunOptions {
        watch: true,
        converged_timeout: Duration::from_secs(100),
        ..RunOptions::default()
    };
    let mut run = Run::new(services(&[("service:web", "web", meta)], &[]), options);
    run.end("service:web", changed());
    while run.runner.status() == Status::Working {
        run.wait();
        if !run.is_idle() {
            run.end("service:web", in_order());
        }
        assert!(run.now < Duration::from_secs(200), "it does not end");
    }
    assert_eq!(run.now, Duration::from_secs(100));
    // A change does.
    let mut run = Run::watched(services(
        &[("file:/a", "a", MetaParameters::default())],
        &[],
    ));
    run.end("file:/a", changed());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn what_a_later_change_undid_has_failed_at_the_end() {
    let plain = MetaParameters::default;
    let graph = || {
        let all = ["service:a", "service:b", "service:c", "service:d"];
        let edges = [
            ("service:a", "service:b", false),
            ("service:b", "service:c", false),
            ("service:c", "service:d", false),
        ];
        services(&all.map(|name| (name, "1", plain())), &edges)
    };
    // Where nothing was changed, nothing is looked at again.
    let mut run = Run::new(graph(), RunOptions::default());
    for name in ["service:a", "service:b", "service:c", "service:d"] {
        run.end(name, in_order());
    }
    assert_eq!(run.runner.status(), Status::Converged);

    for is_undone in [false, true] {
        let mut run = Run::new(graph(), RunOptions::default());
        run.end("service:a", changed());
        run.end("service:b", in_order());
        run.end("service:c", changed());
        run.end("service:d", in_order());
        assert_eq!(run.runner.status(), Status::Working);
        // Only what was checked before the last change is looked at again, once.
        run.end("service:b", in_order());
        run.end("service:a", if is_undone { pending() } else { in_order() });
        assert!(run.attempts.is_empty());
        if !is_undone {
            assert_eq!(run.runner.status(), Status::Converged);
            continue;
        }
        assert_eq!(run.runner.status(), Status::Failed);
        let statuses: BTreeMap<_, _> = run.runner.nodes().collect();
        let reason = "it is no longer up to date: state: down -> up; changed after it: service:c";
        let failed = NodeStatus::Failed(reason.to_owned());
        assert_eq!(statuses[&id("service:a")], failed);
        assert_eq!(statuses[&id("service:d")], NodeStatus::InOrder);
    }
}
