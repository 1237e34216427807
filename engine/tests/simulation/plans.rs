//! Random graphs, and graphs that differ from them a bit.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pkgres_engine::{File, Graph, GraphBuilder, Receipt};
use pkgres_manifest::{MetaParameters, Polling, RateLimit, ResourceId, Retries};

use crate::random::Random;
use crate::resources::{Meddler, Source, Unit};

/// What a node is to become.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Wanted {
    File(String),
    Received,
    Unit,
    Source,
    /// It writes its own file, and that of another node, and fails unless it is refreshed.
    Meddler {
        other: Option<usize>,
        fails: bool,
    },
}

impl Wanted {
    pub(crate) fn always_fails(&self) -> bool {
        matches!(self, Self::Meddler { fails: true, .. })
    }

    /// The node whose file it writes.
    pub(crate) fn meddles_with(&self) -> Option<usize> {
        match self {
            Self::Meddler { other, .. } => *other,
            _ => None,
        }
    }
}

/// A node as the simulation knows it.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) id: ResourceId,
    pub(crate) path: PathBuf,
    pub(crate) wanted: Wanted,
    pub(crate) meta: MetaParameters,
    /// The nodes that go before it, with whether they notify it.
    pub(crate) after: Vec<(usize, bool)>,
    pub(crate) receives_from: Option<usize>,
}

pub(crate) fn random_plans(random: &mut Random) -> Vec<Plan> {
    let count = 1 + random.below(7);
    let mut plans: Vec<Plan> = Vec::new();
    for number in 0..count {
        let plan = random_plan(random, number, &plans);
        plans.push(plan);
    }
    plans
}

/// A node behind others.
fn random_plan(random: &mut Random, number: usize, plans: &[Plan]) -> Plan {
    let sources: Vec<_> = (0..number)
        .filter(|node| plans[*node].wanted == Wanted::Source)
        .collect();
    let wanted = match random.below(8) {
        0 | 1 => Wanted::Unit,
        2 => Wanted::Source,
        5 if random.chance(8) => Wanted::Meddler {
            other: (number > 0).then(|| random.below(number)),
            fails: random.chance(60),
        },
        3 | 4 if !sources.is_empty() => Wanted::Received,
        _ => Wanted::File(format!("content {number}")),
    };
    let receives_from = (wanted == Wanted::Received).then(|| sources[random.below(sources.len())]);
    let mut after: Vec<(usize, bool)> = (0..number)
        .filter(|_| random.chance(35))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|node| (node, random.chance(50)))
        .collect();
    if let Some(from) = receives_from
        && after.iter().all(|(node, _)| *node != from)
    {
        after.push((from, false));
    }
    Plan {
        id: ResourceId::new("node", &number.to_string()).expect("it is an identity"),
        path: Path::new("/").join(number.to_string()),
        meta: random_meta(random, matches!(wanted, Wanted::File(_) | Wanted::Received)),
        wanted,
        after,
        receives_from,
    }
}

fn random_meta(random: &mut Random, is_file: bool) -> MetaParameters {
    let mut meta = MetaParameters::default();
    if random.chance(8) {
        meta.noop = true;
    }
    if random.chance(30) {
        meta.retry = Retries::Times(1 + u32::try_from(random.below(3)).expect("it is small"));
        meta.delay = Duration::from_millis(random.next() % 100);
    }
    if random.chance(10) {
        meta.limit = Some(RateLimit {
            per_second: 10.0,
            burst: 1,
        });
    }
    if random.chance(10) {
        meta.semaphores = vec!["disk".parse().expect("it is a semaphore")];
    }
    if random.chance(10) {
        meta.rewatch = true;
    }
    meta.reverse = is_file && random.chance(50);
    // Polling is in place of watching, and never settles for long.
    debug_assert_eq!(meta.poll, Polling::Watch);
    meta
}

/// Plans that differ a bit: another content, other parameters, nodes less or more at the end, an edge more.
pub(crate) fn changed_plans(random: &mut Random, plans: &[Plan]) -> Vec<Plan> {
    let mut plans = plans.to_vec();
    while plans.len() > 1 && random.chance(40) {
        plans.pop();
    }
    if random.chance(30) {
        let new = random_plan(random, plans.len(), &plans);
        plans.push(new);
    }
    for (node, plan) in plans.iter_mut().enumerate() {
        if random.chance(20) {
            plan.meta.retry = Retries::Times(4);
        }
        if let Wanted::File(content) = &mut plan.wanted
            && random.chance(40)
        {
            content.push_str(" changed");
        }
        if node > 0 && random.chance(20) {
            let before = random.below(node);
            if plan.after.iter().all(|(other, _)| *other != before) {
                plan.after.push((before, false));
            }
        }
    }
    plans
}

pub(crate) fn graph_of(plans: &[Plan]) -> Graph {
    let mut builder = GraphBuilder::new();
    for plan in plans {
        let (id, meta) = (plan.id.clone(), plan.meta.clone());
        let path = &plan.path;
        match &plan.wanted {
            Wanted::File(content) => builder.add(id, File::new(path).with_content(content), meta),
            Wanted::Received => builder.add(id, File::new(path), meta),
            Wanted::Unit => builder.add(id, Unit(path.clone()), meta),
            Wanted::Source => builder.add(id, Source(path.clone()), meta),
            Wanted::Meddler { other, fails } => {
                let others = other.iter().map(|other| plans[*other].path.clone());
                let paths = [path.clone()].into_iter().chain(others).collect();
                let fails = *fails;
                builder.add(id, Meddler { paths, fails }, meta)
            }
        };
    }
    for plan in plans {
        for (before, notifies) in &plan.after {
            let (first, second) = (plans[*before].id.clone(), plan.id.clone());
            if *notifies {
                builder.notify(first, second);
            } else {
                builder.order(first, second);
            }
        }
        if let Some(from) = plan.receives_from {
            let receipt = Receipt {
                property: "content".to_owned(),
                from: plans[from].id.clone(),
                value: "content".to_owned(),
            };
            builder.add_receipt(&plan.id, receipt);
        }
    }
    builder.without_automatic_edges();
    builder.build().expect("edges lead forward")
}
