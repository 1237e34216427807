//! Watches files with one inotify instance for all paths, also those of several machines.
//!
//! A user may have few instances (128 unless the system is configured otherwise), and other programs need some as well.
//!
//! For each path, this watches the entries of the folders on the way, and the file at the path itself. So it notices if
//! a file is replaced, a folder around it is renamed, or a missing folder appears. A watch may report too much: a
//! folder that was moved away is still watched until it is gone.

mod inotify;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use pkgres_files::RootFolder;

use crate::runner::NodeKey;
use crate::target::TargetError;
use inotify::{Inotify, Seen, WatchNumber};

const NO_EVENTS: &str = "files can no longer be watched: the system gives no events";

/// What a watcher noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Noticed {
    /// Something changed at paths of these nodes.
    Changed(Vec<NodeKey>),
    /// Events were lost, so that everything may have changed.
    Lost,
    /// A node is no longer watched, for this reason.
    NotWatched(NodeKey, String),
}

/// The inotify instance of all runs that get clones of this. It is opened when the first of them watches something.
#[derive(Clone, Default)]
pub struct SharedWatches(Arc<Mutex<Weak<Instance>>>);

impl std::fmt::Debug for SharedWatches {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SharedWatches")
            .finish_non_exhaustive()
    }
}

impl SharedWatches {
    /// The instance, which is closed once nothing uses it.
    fn instance(&self) -> Result<Arc<Instance>, TargetError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // One that ended, because its events could not be read, watches nothing any more.
        let is_alive = |instance: &Arc<Instance>| !instance.shared.table().is_ended;
        if let Some(instance) = known.upgrade().filter(is_alive) {
            return Ok(instance);
        }
        let instance = Arc::new(Instance::start()?);
        *known = Arc::downgrade(&instance);
        Ok(instance)
    }
}

/// An inotify instance, and the thread that reads its events until this is dropped.
struct Instance {
    shared: Arc<Shared>,
}

impl Instance {
    fn start() -> Result<Self, TargetError> {
        let unsupported = |error: std::io::Error| {
            let reason = inotify::limit(&error).map_or_else(|| error.to_string(), str::to_owned);
            TargetError::Unsupported(format!("files cannot be watched: {reason}"))
        };
        let shared = Arc::new(Shared {
            inotify: Inotify::new().map_err(unsupported)?,
            table: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || of_thread.run())
            .map_err(unsupported)?;
        Ok(Self { shared })
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
    }
}

/// Watches paths of one root, until it is dropped.
pub(crate) struct Watcher {
    instance: Arc<Instance>,
    key: WatcherKey,
}

/// A watcher of an instance.
type WatcherKey = u64;

/// A node of the run that a watcher belongs to.
type WatchedNode = (WatcherKey, NodeKey);

/// What is called with what a watcher notices.
type Notice = dyn Fn(Noticed) + Send + Sync;

struct Shared {
    inotify: Inotify,
    table: Mutex<Table>,
    is_stopped: AtomicBool,
}

/// Which watches matter to which nodes.
#[derive(Default)]
struct Table {
    watchers: BTreeMap<WatcherKey, Listener>,
    next_key: WatcherKey,
    paths: HashMap<WatchedNode, Vec<PathBuf>>,
    watches: HashMap<WatchNumber, Watch>,
    /// Whether nobody reads events any more.
    is_ended: bool,
}

/// What the instance knows of a watcher.
#[derive(Clone)]
struct Listener {
    root: Arc<RootFolder>,
    notice: Arc<Notice>,
}

/// A watched file or folder. Several watchers can watch the same one.
#[derive(Default)]
struct Watch {
    /// The nodes to which everything matters.
    all: BTreeSet<WatchedNode>,
    /// The nodes to which only an entry of a name matters, by this name.
    entries: HashMap<OsString, BTreeSet<WatchedNode>>,
}

impl Watcher {
    /// Starts to watch paths of a root. `notice` is called by the thread of the instance.
    pub(crate) fn start(
        watches: &SharedWatches,
        root: &Path,
        notice: impl Fn(Noticed) + Send + Sync + 'static,
    ) -> Result<Self, TargetError> {
        let listener = Listener {
            root: Arc::new(RootFolder::open(root)?),
            notice: Arc::new(notice),
        };
        let instance = watches.instance()?;
        let mut table = instance.shared.table();
        let key = table.next_key;
        table.next_key += 1;
        table.watchers.insert(key, listener);
        drop(table);
        Ok(Self { instance, key })
    }

    /// Watches paths for a node.
    ///
    /// # Errors
    ///
    /// The limit of the system on watches is reached, for instance. Then nothing is watched for the node.
    pub(crate) fn watch(&self, node: NodeKey, paths: Vec<PathBuf>) -> Result<(), TargetError> {
        let shared = &self.instance.shared;
        let node = (self.key, node);
        let mut table = shared.table();
        if table.is_ended {
            return Err(TargetError::Unsupported(NO_EVENTS.to_owned()));
        }
        let watched = shared.watch_paths(&mut table, node, &paths);
        if watched.is_ok() {
            table.paths.insert(node, paths);
        } else {
            shared.forget(&mut table, node);
        }
        watched
    }

    /// Ends the watches of a node.
    pub(crate) fn unwatch(&self, node: NodeKey) {
        let shared = &self.instance.shared;
        shared.forget(&mut shared.table(), (self.key, node));
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let shared = &self.instance.shared;
        let mut table = shared.table();
        table.watchers.remove(&self.key);
        for number in table.forget_all_of(self.key) {
            shared.inotify.remove(number);
        }
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic leaves the table as it is between two statements, which at most reports too much.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a node from the table, and the watches that it was the last to need.
    fn forget(&self, table: &mut Table, node: WatchedNode) {
        for number in table.forget(node) {
            self.inotify.remove(number);
        }
    }

    fn watch_paths(
        &self,
        table: &mut Table,
        node: WatchedNode,
        paths: &[PathBuf],
    ) -> Result<(), TargetError> {
        let Some(listener) = table.watchers.get(&node.0).cloned() else {
            return Ok(());
        };
        let mut paths = paths.iter();
        paths.try_for_each(|path| self.watch_path(table, &listener.root, node, path))
    }

    fn watch_path(
        &self,
        table: &mut Table,
        root: &RootFolder,
        node: WatchedNode,
        path: &Path,
    ) -> Result<(), TargetError> {
        let mut names: Vec<&OsStr> = Vec::new();
        let mut folders: Vec<&Path> = Vec::new();
        for folder in path.ancestors() {
            if let (Some(name), Some(parent)) = (folder.file_name(), folder.parent()) {
                names.push(name);
                folders.push(parent);
            }
        }
        // From the root on: what is created in a folder after it is watched is noticed.
        for (folder, name) in folders.into_iter().zip(names).rev() {
            let Some(number) = self.watch_entry(root, folder, true)? else {
                return Ok(());
            };
            let watch = table.watches.entry(number).or_default();
            let nodes = watch.entries.entry(name.to_owned()).or_default();
            nodes.insert(node);
        }
        if let Some(number) = self.watch_entry(root, path, false)? {
            table.watches.entry(number).or_default().all.insert(node);
        }
        Ok(())
    }

    /// Watches what is at a path; `None` if there is nothing.
    fn watch_entry(
        &self,
        root: &RootFolder,
        path: &Path,
        follow: bool,
    ) -> Result<Option<WatchNumber>, TargetError> {
        // A final `.` lets a link at the end be followed.
        let followed = follow.then(|| path.join("."));
        let Some(descriptor) = root.descriptor(followed.as_deref().unwrap_or(path))? else {
            return Ok(None);
        };
        let added = self.inotify.add(&descriptor);
        added.map(Some).map_err(|error| {
            let reason = inotify::limit(&error).map_or_else(|| error.to_string(), str::to_owned);
            TargetError::Unsupported(format!("{} cannot be watched: {reason}", path.display()))
        })
    }

    fn run(&self) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            let Ok(seen) = self.inotify.wait() else {
                let (watchers, nodes): (_, Vec<WatchedNode>) = {
                    let mut table = self.table();
                    table.is_ended = true;
                    let nodes = table.paths.drain().map(|(node, _)| node).collect();
                    (table.watchers.clone(), nodes)
                };
                // What changed since the last event was not seen.
                for listener in watchers.values() {
                    (listener.notice)(Noticed::Lost);
                }
                for (watcher, node) in nodes {
                    if let Some(listener) = watchers.get(&watcher) {
                        (listener.notice)(Noticed::NotWatched(node, NO_EVENTS.to_owned()));
                    }
                }
                return;
            };
            if seen.is_empty() {
                continue;
            }
            let mut noticed: BTreeSet<WatchedNode> = BTreeSet::new();
            let mut unwatched = Vec::new();
            let mut moved: BTreeSet<WatchedNode> = BTreeSet::new();
            let mut is_lost = false;
            let watchers = {
                let mut table = self.table();
                for seen in seen {
                    match seen {
                        Seen::Lost => is_lost = true,
                        Seen::Gone(number) => {
                            if let Some(watch) = table.watches.remove(&number) {
                                noticed.extend(watch.nodes());
                                moved.extend(watch.nodes());
                            }
                        }
                        Seen::Event {
                            watch,
                            name,
                            is_structure,
                        } => {
                            let nodes = table.nodes_of(watch, name.as_deref());
                            if is_structure {
                                moved.extend(nodes.iter().copied());
                            }
                            noticed.extend(nodes);
                        }
                    }
                }
                if is_lost {
                    moved.extend(table.paths.keys().copied());
                }
                // The watches come before the notice, so that nothing happens in between unseen.
                for node in moved {
                    let paths = table.paths.get(&node).cloned().unwrap_or_default();
                    let watched = self.watch_paths(&mut table, node, &paths);
                    if let Err(error) = watched {
                        self.forget(&mut table, node);
                        unwatched.push((node, error.to_string()));
                    }
                }
                table.watchers.clone()
            };
            for (key, listener) in watchers {
                let nodes = noticed.iter().filter(|(watcher, _)| *watcher == key);
                let nodes: Vec<NodeKey> = nodes.map(|(_, node)| *node).collect();
                if is_lost {
                    (listener.notice)(Noticed::Lost);
                } else if !nodes.is_empty() {
                    (listener.notice)(Noticed::Changed(nodes));
                }
                for ((_, node), reason) in unwatched.extract_if(.., |((of, _), _)| *of == key) {
                    (listener.notice)(Noticed::NotWatched(node, reason));
                }
            }
        }
    }
}

impl Table {
    fn nodes_of(&self, number: WatchNumber, name: Option<&OsStr>) -> Vec<WatchedNode> {
        let Some(watch) = self.watches.get(&number) else {
            return Vec::new();
        };
        let mut nodes: Vec<_> = watch.all.iter().copied().collect();
        match name {
            Some(name) => nodes.extend(watch.entries.get(name).into_iter().flatten()),
            // The folder itself was moved or removed.
            None => nodes.extend(watch.entries.values().flatten()),
        }
        nodes
    }

    /// Forgets a node; returns the watches that nobody needs any more.
    fn forget(&mut self, node: WatchedNode) -> Vec<WatchNumber> {
        self.paths.remove(&node);
        self.remove_from_watches(|nodes| {
            nodes.remove(&node);
        })
    }

    /// Forgets all nodes of a watcher; returns the watches that nobody needs any more.
    fn forget_all_of(&mut self, watcher: WatcherKey) -> Vec<WatchNumber> {
        let is_other = |(of, _): &WatchedNode| *of != watcher;
        self.paths.retain(|node, _| is_other(node));
        self.remove_from_watches(|nodes| nodes.retain(is_other))
    }

    /// Removes nodes from all watches in one pass; returns the watches that nobody needs any more.
    fn remove_from_watches(
        &mut self,
        remove: impl Fn(&mut BTreeSet<WatchedNode>),
    ) -> Vec<WatchNumber> {
        let mut unused = Vec::new();
        self.watches.retain(|number, watch| {
            remove(&mut watch.all);
            watch.entries.retain(|_, nodes| {
                remove(nodes);
                !nodes.is_empty()
            });
            let is_used = !watch.all.is_empty() || !watch.entries.is_empty();
            if !is_used {
                unused.push(*number);
            }
            is_used
        });
        unused
    }
}

impl Watch {
    fn nodes(&self) -> Vec<WatchedNode> {
        let entries = self.entries.values().flatten();
        self.all.iter().chain(entries).copied().collect()
    }
}

#[cfg(test)]
mod tests;
