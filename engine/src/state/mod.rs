//! The state of an application on a machine: which of its resources were applied, and the earlier state of those that
//! can be reversed.
//!
//! A resource with the parameter `reverse` describes the state before its first change ([`Resource::reversed`]). This
//! description is stored on the machine before anything is changed. Once the resource is gone from the graph, a
//! resource that restores the earlier state takes its place: before new resources, and in the reverse order of the
//! changes. Only then is the description removed.
//!
//! A run can be killed between any two steps. A description is stored before the first change, and is only removed
//! after the state was restored, so the next run can continue.

mod error;
mod left_out;
mod other_applications;
mod owed_refreshes;
mod record;
mod record_before_change;
mod reversal_order;
mod reversals;
mod sent_values;
mod storage;
mod used_archives;

pub use error::StateError;
pub use left_out::ObjectResources;
pub use storage::StateLocation;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pkgres_manifest::diagnostic::Diagnostic;
use pkgres_manifest::{MetaParameters, ResourceDescription, ResourceId};

use crate::graph::{Graph, GraphBuilder, Node};
use crate::kinds::Kinds;
use crate::resource::{Before, Input, Resource, ResourceError};
use crate::runner::NodeStatus;
use crate::target::{Probe, Target, TargetError, TargetLock};
use other_applications::{OtherApplications, OtherRecord};
use owed_refreshes::notifying;
use record::{Applied, Record, is_absence};
use record_before_change::Prepared;
use reversal_order::{After, Origins, asking, asks};
use reversals::Reversing;

/// The kind of run that a graph is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Nothing is changed, and nothing has to be remembered or forgotten.
    Plan,
    /// The machine is changed.
    Run,
}

/// When the state before is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Occasion {
    /// Before a change.
    Change,
    /// Without one: another application has made the resource what this one describes.
    InOrder,
}

/// The state of an application on a machine.
///
/// ```
/// use std::sync::Arc;
/// use pkgres_engine::{
///     AppliedState, DriveOptions, File, Graph, GraphBuilder, Kinds, Machine, StateLocation, drive,
/// };
/// use pkgres_manifest::MetaParameters;
///
/// # let folder = tempfile::tempdir()?;
/// let machine = Arc::new(Machine::root_folder(folder.path())?);
/// let location = StateLocation::new("org.example.Web").in_folder("/state");
/// let apply = |graph: Graph| -> Result<(), Box<dyn std::error::Error>> {
///     let state = AppliedState::lock(&*machine, location.clone(), Kinds::default())?;
///     let graph = state.begin(&*machine, graph)?;
///     let (_control, controlled) = std::sync::mpsc::channel();
///     let ending = drive(graph, machine.clone(), &DriveOptions::default(), controlled, |_| {});
///     Ok(state.finish(&*machine, &ending.nodes)?)
/// };
///
/// std::fs::write(folder.path().join("motd"), "hello\n")?;
/// let mut builder = GraphBuilder::new();
/// let meta = MetaParameters { reverse: true, ..MetaParameters::default() };
/// builder.add("file:/motd".parse()?, File::new("/motd").with_content("welcome\n"), meta);
/// apply(builder.build().expect("no cycle"))?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("motd"))?, "welcome\n");
///
/// // The file is gone from the graph, so that what was there before comes back.
/// apply(Graph::default())?;
/// assert_eq!(std::fs::read_to_string(folder.path().join("motd"))?, "hello\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AppliedState {
    location: StateLocation,
    kinds: Kinds,
    memory: Mutex<Memory>,
    /// Held until the end of the run.
    lock: Mutex<Option<TargetLock>>,
}

/// What is known of the files of the state.
#[derive(Debug, Default)]
struct Memory {
    records: BTreeMap<ResourceId, Record>,
    others: OtherApplications,
    /// The records of other applications that changed the same resource later.
    later: BTreeMap<ResourceId, OtherRecord>,
    /// The resources that were applied as far as the machine knows.
    applied: Applied,
    /// The resources of the graph that runs.
    wanted: BTreeSet<ResourceId>,
    /// The archives that they unpack, by the names of their folders in the store.
    archives: BTreeSet<String>,
    /// Those of them that belong to objects.
    of_objects: ObjectResources,
    /// The resources of the graph that runs which receive values, by the one that sends them.
    receivers: BTreeMap<ResourceId, BTreeSet<ResourceId>>,
    next_position: u64,
    /// The resources that have to be refreshed.
    owed: BTreeSet<ResourceId>,
    /// The resources that have to be refreshed if changes that are being made succeed, by what is changed.
    noted: BTreeMap<ResourceId, BTreeSet<ResourceId>>,
}

impl Memory {
    /// What a reversal restores; `None` if that is nothing, or not known yet. What another application changed later
    /// stays as it is.
    fn to_restore(&self, id: &ResourceId) -> Option<ResourceDescription> {
        let before = self.records.get(id)?.before.as_ref()?;
        match self.later.get(id) {
            Some(later) => later.rest_of(before),
            None => Some(before.clone()),
        }
    }
}

impl std::fmt::Debug for AppliedState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("AppliedState")
            .field("location", &self.location)
            .finish_non_exhaustive()
    }
}

impl AppliedState {
    /// Reads the state, to see what a run would do. Nothing is locked.
    pub fn read(
        probe: &dyn Probe,
        location: StateLocation,
        kinds: Kinds,
    ) -> Result<Arc<Self>, StateError> {
        Self::open(probe, location, kinds, None)
    }

    /// Locks the states of the machine, and reads this one. Only their owner can read the folder that is locked, so no
    /// one else can hold the lock. It ends with [`finish`](Self::finish), or when the state is dropped.
    ///
    /// # Errors
    ///
    /// Another engine works on the machine, or the state cannot be read.
    pub fn lock(
        target: &dyn Target,
        location: StateLocation,
        kinds: Kinds,
    ) -> Result<Arc<Self>, StateError> {
        let lock = location.lock(target)?;
        Self::open(target, location, kinds, lock)
    }

    /// Locks and reads the states of the machine for a run that changes nothing: if the machine has none, none are made.
    ///
    /// # Errors
    ///
    /// Another engine works on the machine, or the state cannot be read.
    pub fn lock_existing(
        target: &dyn Target,
        location: StateLocation,
        kinds: Kinds,
    ) -> Result<Arc<Self>, StateError> {
        let lock = location.lock_existing(target)?;
        Self::open(target, location, kinds, lock)
    }

    fn open(
        probe: &dyn Probe,
        location: StateLocation,
        kinds: Kinds,
        lock: Option<TargetLock>,
    ) -> Result<Arc<Self>, StateError> {
        let records = location.read_records(probe)?;
        let records: BTreeMap<_, _> = records
            .into_iter()
            .map(|record| (record.resource.clone(), record))
            .collect();
        let last = records.values().map(|record| record.position).max();
        let applied = location.read_applied(probe)?;
        let others = OtherApplications::find(probe, &location);
        let others = others.map_err(|source| location.failed(source))?;
        let memory = Memory {
            later: others.next_records(probe, &records),
            others,
            owed: applied.owed.clone(),
            applied,
            next_position: last.map_or(0, |last| last.saturating_add(1)),
            wanted: BTreeSet::new(),
            archives: BTreeSet::new(),
            of_objects: ObjectResources::default(),
            receivers: BTreeMap::new(),
            noted: BTreeMap::new(),
            records,
        };
        Ok(Arc::new(Self {
            location,
            kinds,
            memory: Mutex::new(memory),
            lock: Mutex::new(lock),
        }))
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The applied resources that are no longer in a graph and stay on the machine as they are.
    pub fn left_behind(&self, graph: &Graph) -> Vec<ResourceId> {
        let wanted: BTreeSet<&ResourceId> = graph.ids().collect();
        let memory = self.memory();
        let gone = memory
            .applied
            .ids()
            .filter(|id| !wanted.contains(id) && !memory.records.contains_key(id))
            .filter(|id| !memory.is_of_left_out_object(id));
        gone.cloned().collect()
    }

    /// A graph with the reversals of what it lacks, to see what a run would do.
    pub fn with_reversals(self: &Arc<Self>, graph: Graph) -> Graph {
        let graph = self.with_sent_values(graph, Purpose::Plan);
        self.add_reversals(graph, &After::new(), Purpose::Plan)
    }

    /// Begins a run: notes what is going to be applied, and returns the graph with the reversals of what it lacks. What
    /// was there before a resource that is to be reversed is kept when the graph is run.
    ///
    /// # Errors
    ///
    /// The state cannot be written, or a content that has to be restored is damaged.
    pub fn begin(self: &Arc<Self>, target: &dyn Target, graph: Graph) -> Result<Graph, StateError> {
        self.replace(target, graph, &Graph::default())
    }

    /// Prepares a graph that replaces one which runs.
    ///
    /// # Errors
    ///
    /// As of [`begin`](Self::begin).
    pub fn replace(
        self: &Arc<Self>,
        target: &dyn Target,
        graph: Graph,
        running: &Graph,
    ) -> Result<Graph, StateError> {
        self.check_contents(target, &graph)?;
        self.use_archives(target, &graph)?;
        let wanted: BTreeSet<ResourceId> = graph.ids().cloned().collect();
        let unasked: Vec<ResourceId> = (graph.nodes().iter())
            .filter(|node| !node.meta.reverse)
            .flat_map(|node| node.parts().into_iter().map(|(id, _)| id))
            .collect();
        // What runs at this moment may be changed before it is replaced.
        let asking = asking(running);
        let graph = notifying(self, self.remembering(graph));
        let graph = self.with_sent_values(graph, Purpose::Run);
        let graph = self.add_reversals(graph, &asking, Purpose::Run);
        // If this fails, the graph that runs goes on, and with it what it needs.
        let before = self.memory().wanted.clone();
        let noted = self.note_wanted(target, wanted);
        let forgotten = noted.and_then(|()| {
            let forgotten = self.forget_unasked(target, &unasked);
            forgotten.map_err(|source| self.location.failed(source))
        });
        if forgotten.is_err() {
            self.memory().wanted = before;
        }
        forgotten.map(|()| graph)
    }

    /// Ends a run and the lock: forgets the resources that are gone, and contents that nothing needs. `nodes` are those
    /// of its [`Ending`](crate::Ending): what did not get into order is new in the next run, so that reversals still go
    /// first.
    pub fn finish(
        &self,
        target: &dyn Target,
        nodes: &[(ResourceId, NodeStatus)],
    ) -> Result<(), StateError> {
        let mut memory = self.memory();
        let left = memory.applied_after(nodes);
        if left != memory.applied {
            self.location.write_applied(target, &left)?;
            memory.applied = left;
        }
        self.sweep(target, &memory)?;
        self.give_up_archives(target, &memory, nodes)?;
        // A thread that has just ended its work may hold the state for a moment longer.
        drop(
            self.lock
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        Ok(())
    }

    /// Notes which resources are going to be applied, so that they are known if the run is killed.
    fn note_wanted(
        &self,
        target: &dyn Target,
        wanted: BTreeSet<ResourceId>,
    ) -> Result<(), StateError> {
        let mut memory = self.memory();
        memory.wanted = wanted;
        let new = memory.wanted.difference(&memory.applied.ended);
        let mut applied = memory.applied.clone();
        applied.begun.extend(new.cloned());
        applied
            .of_objects
            .extend(memory.of_objects.known().cloned());
        if applied != memory.applied {
            self.location.write_applied(target, &applied)?;
            memory.applied = applied;
        }
        self.sweep(target, &memory)
    }

    fn sweep(&self, target: &dyn Target, memory: &Memory) -> Result<(), StateError> {
        let records = memory.records.values();
        let needed = records.flat_map(|record| &record.contents);
        let needed = needed.map(String::as_str).collect();
        self.location.sweep_contents(target, &needed)
    }

    /// Forgets what was there before resources that are still wanted, and are not to be reversed any more: all of it, or
    /// nothing.
    fn forget_unasked(
        &self,
        target: &dyn Target,
        unasked: &[ResourceId],
    ) -> Result<(), TargetError> {
        let mut memory = self.memory();
        let known = unasked.iter().filter_map(|id| memory.records.get(id));
        let records: Vec<Record> = known.cloned().collect();
        for (number, record) in records.iter().enumerate() {
            if let Err(error) = self.location.remove_record(target, &record.resource) {
                for removed in &records[..number] {
                    self.location.write_record(target, removed)?;
                }
                return Err(error);
            }
        }
        for record in records {
            memory.records.remove(&record.resource);
        }
        Ok(())
    }

    /// Checks that the contents which are restored if a graph is run are what was kept.
    ///
    /// # Errors
    ///
    /// One of them is lost, so [`begin`](Self::begin) would fail.
    pub fn check_contents(&self, probe: &dyn Probe, graph: &Graph) -> Result<(), StateError> {
        let wanted: BTreeSet<&ResourceId> = graph.ids().collect();
        let memory = self.memory();
        let gone = memory.records.values();
        let gone = gone
            .filter(|record| !wanted.contains(&record.resource))
            .filter(|record| !memory.is_of_left_out_object(&record.resource));
        for record in gone {
            for digest in &record.contents {
                let is_whole = self.location.is_content_whole(probe, digest);
                if !is_whole.map_err(|source| self.location.failed(source))? {
                    return Err(StateError::Lost {
                        resource: Box::new(record.resource.clone()),
                        content: self.location.contents().join(digest),
                        record: self.location.record(&record.resource),
                    });
                }
            }
        }
        Ok(())
    }

    /// The graph with resources that keep what was there before their first change.
    fn remembering(self: &Arc<Self>, mut graph: Graph) -> Graph {
        let after = asking(&graph);
        for node in graph.nodes_mut().iter_mut().filter(|node| asks(node)) {
            let parts = node.parts();
            let after = parts.first().and_then(|(id, _)| after.get(id));
            let after = after.cloned().unwrap_or_default();
            let wrapped = |parts: Vec<(ResourceId, Arc<dyn Resource>)>, resource| {
                let ids: Vec<ResourceId> = parts.iter().map(|(id, _)| id.clone()).collect();
                let is_due = {
                    let state = Arc::clone(self);
                    move |probe: &dyn Probe| state.is_only_of_others(probe, &ids)
                };
                let remember = |occasion| {
                    let (state, parts, after) = (Arc::clone(self), parts.clone(), after.clone());
                    move |target: &dyn Target, input: &Input| {
                        state.remember(target, input, &parts, &after, occasion)
                    }
                };
                let prepared = Prepared::new(resource, remember(Occasion::Change));
                Arc::new(prepared.or_in_order(is_due, remember(Occasion::InOrder)))
            };
            node.resource = wrapped(parts, node.resource.clone());
            node.wrap_members(|id, resource| {
                wrapped(vec![(id.clone(), Arc::clone(resource))], resource.clone())
            });
        }
        graph
    }

    /// Adds the reversals of the resources that have records, or may get some, and that are not in a graph.
    fn add_reversals(self: &Arc<Self>, graph: Graph, asking: &After, purpose: Purpose) -> Graph {
        let memory = self.memory();
        let wanted: BTreeSet<&ResourceId> = graph.ids().collect();
        let gone: BTreeSet<&ResourceId> = memory
            .records
            .keys()
            .chain(asking.keys())
            .filter(|id| !wanted.contains(id) && !memory.is_of_left_out_object(id))
            .collect();
        if gone.is_empty() {
            drop(memory);
            return graph;
        }
        let mut builder = GraphBuilder::new();
        builder.without_automatic_edges();
        // In the order in which they are reversed.
        let mut in_order: Vec<&ResourceId> = gone.iter().copied().collect();
        in_order.sort_by_key(|id| {
            let position = memory.records.get(*id).map(|record| record.position);
            (Reverse(position), *id)
        });
        let origins = Origins::new(&memory.records, asking);
        for id in in_order {
            let meta = MetaParameters::default();
            let read = memory.to_restore(id).map(|before| self.kinds.read(&before));
            match read {
                Some(Ok(resource)) => builder.add_shared(id.clone(), resource, meta),
                // It has an error that its check reports, or no record yet.
                _ => builder.add(id.clone(), Reversing::unread(self, id, purpose), meta),
            };
            for before in origins.gone_before(id, &gone) {
                builder.order(id.clone(), before.clone());
            }
        }
        // What no run brought into order is new.
        let known = memory.applied.ended.clone();
        drop(memory);
        let mut reversals = builder
            .build()
            .expect("each id is added once, and origins form no cycle");
        for node in reversals.nodes_mut() {
            node.is_reversal = true;
            let ids = node.parts().into_iter().map(|(id, _)| id).collect();
            if let Some(reversing) = Reversing::of(self, &node.resource, ids, purpose) {
                node.resource = Arc::new(reversing);
            }
            node.wrap_members(|id, resource| {
                match Reversing::of(self, resource, vec![id.clone()], purpose) {
                    Some(reversing) => Arc::new(reversing),
                    None => Arc::clone(resource),
                }
            });
        }
        let is_new = |node: &Node| {
            let mut parts = std::iter::once(&node.id).chain(&node.members);
            parts.any(|id| !known.contains(id))
        };
        graph.preceded_by(reversals, is_new)
    }

    /// The resource that restores what was there before a resource; `None` if there is nothing to restore.
    fn reversal_of(&self, id: &ResourceId) -> Result<Option<Arc<dyn Resource>>, ResourceError> {
        let before = self.memory().to_restore(id);
        let read = before.map(|before| self.kinds.read(&before));
        read.transpose().map_err(|findings: Vec<Diagnostic>| {
            let texts: Vec<_> = findings.iter().map(ToString::to_string).collect();
            let message = format!(
                "what was there before cannot be restored: {}",
                texts.join("; ")
            );
            ResourceError::Invalid(message)
        })
    }

    fn has_record(&self, id: &ResourceId) -> bool {
        self.memory().records.contains_key(id)
    }

    /// Whether one of some resources has a record of another application, and none of this one. If that application goes,
    /// the resource has to stay as this one describes it, even if it was in order when this one came.
    fn is_only_of_others(&self, probe: &dyn Probe, ids: &[ResourceId]) -> bool {
        let memory = self.memory();
        ids.iter().any(|id| {
            !memory.records.contains_key(id) && !memory.others.records(probe, id).is_empty()
        })
    }

    /// Keeps what is there before the first change of resources, all of which are going to be changed at once, or what
    /// other applications made of them.
    fn remember(
        &self,
        target: &dyn Target,
        input: &Input,
        parts: &[(ResourceId, Arc<dyn Resource>)],
        after: &BTreeSet<ResourceId>,
        occasion: Occasion,
    ) -> Result<(), ResourceError> {
        // One record at a time: two may have the same content.
        let mut memory = self.memory();
        let new = parts.iter().map(|(id, _)| id);
        let new = new.filter(|id| !memory.records.contains_key(*id));
        // Later than the change of another application.
        let others = new.flat_map(|id| memory.others.records(target, id));
        let last = others
            .map(|other| other.record.position.saturating_add(1))
            .max();
        let position = memory.next_position.max(last.unwrap_or_default());
        for (id, resource) in parts {
            let known = memory.records.get(id);
            if known.is_some_and(|record| !record.can_be_extended()) {
                continue;
            }
            let folder = self.location.contents();
            if occasion == Occasion::InOrder && memory.others.records(target, id).is_empty() {
                continue;
            }
            let mut before = Before::new(id, target, input, &folder);
            let mut description = match resource.reversed(&mut before) {
                // What was there first is known, so the change goes on.
                Err(_) if known.is_some() => continue,
                described => described?,
            };
            // To undo what another application has done is not up to this one.
            if occasion == Occasion::InOrder && description.as_ref().is_some_and(is_absence) {
                description = None;
            }
            let mut contents = before.into_contents();
            let record = match known {
                // An earlier change did not touch properties that the packages have added since then.
                Some(record) => match record.extended(description, &contents) {
                    Some(extended) => extended,
                    None => continue,
                },
                None => Record {
                    resource: id.clone(),
                    position,
                    after: after.clone(),
                    before: description,
                    contents: contents.keys().cloned().collect(),
                },
            };
            contents.retain(|digest, _| record.contents.contains(digest));
            for (digest, content) in &contents {
                self.location.write_content(target, digest, content)?;
            }
            self.location.write_record(target, &record)?;
            memory.records.insert(id.clone(), record);
            memory.next_position = memory.next_position.max(position.saturating_add(1));
        }
        Ok(())
    }

    /// Forgets what was there before resources, unless another application restores it one day. Contents go at the end
    /// of the run.
    fn forget(&self, target: &dyn Target, ids: &[ResourceId]) -> Result<(), ResourceError> {
        let mut memory = self.memory();
        for id in ids {
            if let (Some(later), Some(record)) = (memory.later.get(id), memory.records.get(id)) {
                later.take_over(target, record, &self.location.contents())?;
            }
            self.location.remove_record(target, id)?;
            memory.records.remove(id);
            memory.later.remove(id);
        }
        Ok(())
    }
}
