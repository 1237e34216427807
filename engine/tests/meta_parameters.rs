//! Meta-parameters: when and how often a resource is checked.

use std::collections::BTreeMap;
use std::time::Duration;

use pkgres_engine::{
    Action, CancelMode, Checked, Event, GraphBuilder, Input, NodeKey, NodeStatus, Outcome, Probe,
    Resource, ResourceError, RunOptions, Runner, Status,
};
use pkgres_manifest::{MetaParameters, Polling, RateLimit, ResourceId, Retries};

/// A resource that is never checked: the tests say how attempts end.
#[derive(Debug)]
struct Any;

impl Resource for Any {
    fn definition(&self) -> String {
        "any".to_owned()
    }

    fn check(&self, _: &dyn Probe, _: &Input) -> Result<Checked, ResourceError> {
        Ok(Checked::in_order())
    }
}

fn id(number: usize) -> ResourceId {
    ResourceId::new("any", &number.to_string()).expect("it is an identity")
}

/// A watched run of independent resources with these parameters, and a job for each.
struct Run {
    runner: Runner,
    now: Duration,
    running: Vec<(ResourceId, NodeKey)>,
    killed: Vec<NodeKey>,
}

impl Run {
    fn new(parameters: Vec<MetaParameters>) -> Self {
        let mut builder = GraphBuilder::new();
        let options = RunOptions {
            jobs: parameters.len(),
            watch: true,
            ..RunOptions::default()
        };
        for (number, meta) in parameters.into_iter().enumerate() {
            builder.add(id(number), Any, meta);
        }
        let graph = builder.build().expect("it has no cycle");
        let mut run = Self {
            runner: Runner::new(graph, options),
            now: Duration::ZERO,
            running: Vec::new(),
            killed: Vec::new(),
        };
        run.tell(Event::Time);
        run
    }

    fn tell(&mut self, event: Event) {
        self.runner.handle(event, self.now);
        while let Some(action) = self.runner.next_action() {
            match action {
                Action::Attempt { node, id, .. } => self.running.push((id, node)),
                Action::Cancel { node, how } => {
                    assert_eq!(how, CancelMode::Kill, "it took too long");
                    self.killed.push(node);
                }
                _ => {}
            }
        }
    }

    /// Ends the attempt that began first.
    fn end(&mut self, outcome: Outcome) -> NodeKey {
        let (_, key) = self.running.remove(0);
        self.tell(Event::Finished(key, outcome));
        key
    }

    /// Lets time pass until the next alarm; returns how long that is.
    fn wait(&mut self) -> Duration {
        let alarm = self.runner.next_alarm().expect("it waits for something");
        let passed = alarm.saturating_sub(self.now);
        self.now = alarm;
        self.tell(Event::Time);
        passed
    }

    fn status(&self) -> NodeStatus {
        self.runner.nodes().next().expect("there is a resource").1
    }
}

fn in_order() -> Outcome {
    Outcome::InOrder(BTreeMap::new())
}

fn failed() -> Outcome {
    Outcome::Failed(ResourceError::Invalid("the disk is full".to_owned()))
}

fn with(change: impl FnOnce(&mut MetaParameters)) -> MetaParameters {
    let mut meta = MetaParameters::default();
    change(&mut meta);
    meta
}

#[test]
fn as_many_resources_run_at_once_as_a_semaphore_lets_through() {
    let holding = |semaphores: &[&str]| {
        with(|meta| {
            let semaphores = semaphores.iter();
            let semaphores = semaphores.map(|text| text.parse().expect("it is a semaphore"));
            meta.semaphores = semaphores.collect();
        })
    };
    for (semaphore, most) in [("disk", 1), ("disk:1", 1), ("disk:3", 3)] {
        let mut run = Run::new(vec![holding(&[semaphore]); 5]);
        let mut ended = 0;
        while ended < 5 {
            assert_eq!(run.running.len(), most.min(5 - ended), "{semaphore}");
            run.end(in_order());
            ended += 1;
        }
        assert_eq!(run.runner.status(), Status::Converged);
    }
    // `disk` and `disk:1` are two, and one that holds both waits for both.
    let mut run = Run::new(vec![
        holding(&["disk"]),
        holding(&["disk:1"]),
        holding(&["disk:1", "disk"]),
    ]);
    assert_eq!(run.running.len(), 2);
    run.end(in_order());
    assert_eq!(run.running.len(), 1);
    run.end(in_order());
    assert_eq!(run.running.len(), 1);
    run.end(failed());
    assert_eq!(run.runner.status(), Status::Failed);
}

#[test]
fn a_failed_attempt_is_repeated_as_often_and_after_as_long_as_asked() {
    let mut run = Run::new(vec![with(|meta| {
        meta.retry = Retries::Times(2);
        meta.delay = Duration::from_millis(300);
    })]);
    for _ in 0..2 {
        run.end(failed());
        assert!(run.running.is_empty(), "it waits");
        assert_eq!(run.runner.status(), Status::Working);
        assert_eq!(run.wait(), Duration::from_millis(300));
    }
    run.end(failed());
    assert_eq!(run.runner.status(), Status::Failed);

    // Without `retryreset`, a success does not give back attempts.
    for (retry_reset, wanted) in [(false, Status::Failed), (true, Status::Working)] {
        let mut run = Run::new(vec![with(|meta| {
            meta.retry = Retries::Times(1);
            meta.retry_reset = retry_reset;
        })]);
        run.end(failed());
        let key = run.end(in_order());
        run.tell(Event::Changed(vec![key]));
        run.end(failed());
        assert_eq!(run.runner.status(), wanted);
    }

    let mut run = Run::new(vec![with(|meta| meta.retry = Retries::Forever)]);
    for _ in 0..1_000 {
        run.end(failed());
        assert_eq!(run.running.len(), 1);
    }
}

#[test]
fn an_attempt_that_takes_too_long_is_killed_and_says_so() {
    let mut run = Run::new(vec![with(|meta| {
        meta.timeout = Some(Duration::from_millis(1_500));
    })]);
    assert_eq!(run.wait(), Duration::from_millis(1_500));
    assert_eq!(run.killed.len(), 1);
    run.end(Outcome::Failed(ResourceError::Target(
        pkgres_engine::TargetError::Cancelled,
    )));
    let reason = "it did not end in 1.5 s".to_owned();
    assert_eq!(run.status(), NodeStatus::Failed(reason));
}

#[test]
fn a_resource_is_polled_once_or_from_time_to_time() {
    let mut run = Run::new(vec![with(|meta| {
        meta.poll = Polling::Every(Duration::from_secs(7));
    })]);
    for _ in 0..3 {
        run.end(in_order());
        assert_eq!(run.runner.status(), Status::Converged);
        assert_eq!(run.wait(), Duration::from_secs(7));
    }
    let mut run = Run::new(vec![with(|meta| meta.poll = Polling::Once)]);
    run.end(in_order());
    assert_eq!(run.runner.next_alarm(), None);
}

#[test]
fn events_lead_to_as_many_checks_as_the_limit_lets_through() {
    let mut run = Run::new(vec![with(|meta| {
        meta.limit = Some(RateLimit {
            per_second: 0.5,
            burst: 2,
        });
    })]);
    let key = run.end(in_order());
    for _ in 0..2 {
        run.tell(Event::Changed(vec![key]));
        assert_eq!(run.running.len(), 1, "the burst lets it through");
        run.end(in_order());
    }
    run.tell(Event::Changed(vec![key]));
    assert!(run.running.is_empty());
    // The change is not lost: it is looked at as soon as the limit allows.
    assert_eq!(run.runner.status(), Status::Working);
    assert_eq!(run.wait(), Duration::from_secs(2));
    run.end(in_order());
    assert_eq!(run.runner.status(), Status::Converged);
}

#[test]
fn what_is_hidden_is_never_looked_at() {
    let mut run = Run::new(vec![with(|meta| meta.hidden = true)]);
    run.tell(Event::AllChanged);
    assert!(run.running.is_empty());
    assert_eq!(run.runner.status(), Status::Converged);
}
