//! Watches files with one inotify instance for all paths.
//!
//! For each path, this watches the entries of the folders on the way, and the file at the path itself. So it notices if
//! a file is replaced, a folder around it is renamed, or a missing folder appears. A watch may report too much: a
//! folder that was moved away is still watched until it is gone.

mod inotify;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
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

/// Watches paths of one root, until it is dropped.
pub(crate) struct Watcher {
    shared: Arc<Shared>,
}

struct Shared {
    inotify: Inotify,
    root: RootFolder,
    table: Mutex<Table>,
    is_stopped: AtomicBool,
}

/// Which watches matter to which nodes.
#[derive(Default)]
struct Table {
    paths: HashMap<NodeKey, Vec<PathBuf>>,
    watches: HashMap<WatchNumber, Watch>,
    /// Whether nobody reads events any more.
    is_ended: bool,
}

/// A watched file or folder.
#[derive(Default)]
struct Watch {
    /// The nodes to which everything matters.
    all: BTreeSet<NodeKey>,
    /// The nodes to which only an entry of a name matters, by this name.
    entries: HashMap<OsString, BTreeSet<NodeKey>>,
}

impl Watcher {
    /// Starts a thread that calls `notice`.
    pub(crate) fn start(
        root: &Path,
        notice: impl Fn(Noticed) + Send + 'static,
    ) -> Result<Self, TargetError> {
        let unsupported = |error: std::io::Error| {
            TargetError::Unsupported(format!("files cannot be watched: {error}"))
        };
        let shared = Arc::new(Shared {
            inotify: Inotify::new().map_err(unsupported)?,
            root: RootFolder::open(root)?,
            table: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        thread::Builder::new()
            .name("watcher".to_owned())
            .spawn(move || of_thread.run(&notice))
            .map_err(unsupported)?;
        Ok(Self { shared })
    }

    /// Watches paths for a node.
    ///
    /// # Errors
    ///
    /// The limit of the system on watches is reached, for instance. Then nothing is watched for the node.
    pub(crate) fn watch(&self, node: NodeKey, paths: Vec<PathBuf>) -> Result<(), TargetError> {
        let mut table = self.shared.table();
        if table.is_ended {
            return Err(TargetError::Unsupported(NO_EVENTS.to_owned()));
        }
        let watched = paths
            .iter()
            .try_for_each(|path| self.shared.watch_path(&mut table, node, path));
        if watched.is_ok() {
            table.paths.insert(node, paths);
        } else {
            self.shared.forget(&mut table, node);
        }
        watched
    }

    /// Ends the watches of a node.
    pub(crate) fn unwatch(&self, node: NodeKey) {
        self.shared.forget(&mut self.shared.table(), node);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        // A panic leaves the table as it is between two statements, which at most reports too much.
        self.table
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Removes a node from the table, and the watches that it was the last to need.
    fn forget(&self, table: &mut Table, node: NodeKey) {
        for number in table.forget(node) {
            self.inotify.remove(number);
        }
    }

    fn watch_path(&self, table: &mut Table, node: NodeKey, path: &Path) -> Result<(), TargetError> {
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
            let Some(number) = self.watch_entry(folder, true)? else {
                return Ok(());
            };
            let watch = table.watches.entry(number).or_default();
            let nodes = watch.entries.entry(name.to_owned()).or_default();
            nodes.insert(node);
        }
        if let Some(number) = self.watch_entry(path, false)? {
            table.watches.entry(number).or_default().all.insert(node);
        }
        Ok(())
    }

    /// Watches what is at a path; `None` if there is nothing.
    fn watch_entry(&self, path: &Path, follow: bool) -> Result<Option<WatchNumber>, TargetError> {
        // A final `.` lets a link at the end be followed.
        let followed = follow.then(|| path.join("."));
        let Some(descriptor) = self.root.descriptor(followed.as_deref().unwrap_or(path))? else {
            return Ok(None);
        };
        let added = self.inotify.add(&descriptor);
        added.map(Some).map_err(|error| {
            TargetError::Unsupported(format!("{} cannot be watched: {error}", path.display()))
        })
    }

    fn run(&self, notice: &dyn Fn(Noticed)) {
        while !self.is_stopped.load(Ordering::Relaxed) {
            let Ok(seen) = self.inotify.wait() else {
                let nodes: Vec<NodeKey> = {
                    let mut table = self.table();
                    table.is_ended = true;
                    table.paths.drain().map(|(node, _)| node).collect()
                };
                // What changed since the last event was not seen.
                notice(Noticed::Lost);
                for node in nodes {
                    notice(Noticed::NotWatched(node, NO_EVENTS.to_owned()));
                }
                return;
            };
            let mut noticed = BTreeSet::new();
            let mut unwatched = Vec::new();
            let mut moved = BTreeSet::new();
            let mut is_lost = false;
            {
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
                    let watched = paths
                        .iter()
                        .try_for_each(|path| self.watch_path(&mut table, node, path));
                    if let Err(error) = watched {
                        self.forget(&mut table, node);
                        unwatched.push((node, error.to_string()));
                    }
                }
            }
            if is_lost {
                notice(Noticed::Lost);
            } else if !noticed.is_empty() {
                notice(Noticed::Changed(noticed.into_iter().collect()));
            }
            for (node, reason) in unwatched {
                notice(Noticed::NotWatched(node, reason));
            }
        }
    }
}

impl Table {
    fn nodes_of(&self, number: WatchNumber, name: Option<&OsStr>) -> Vec<NodeKey> {
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
    fn forget(&mut self, node: NodeKey) -> Vec<WatchNumber> {
        self.paths.remove(&node);
        let mut unused = Vec::new();
        for (number, watch) in &mut self.watches {
            watch.all.remove(&node);
            watch.entries.retain(|_, nodes| {
                nodes.remove(&node);
                !nodes.is_empty()
            });
            if watch.all.is_empty() && watch.entries.is_empty() {
                unused.push(*number);
            }
        }
        for number in &unused {
            self.watches.remove(number);
        }
        unused
    }
}

impl Watch {
    fn nodes(&self) -> Vec<NodeKey> {
        let entries = self.entries.values().flatten();
        self.all.iter().chain(entries).copied().collect()
    }
}
