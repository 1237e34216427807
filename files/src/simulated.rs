//! A file system in memory that fails, or stops, at a chosen step.
//!
//! For tests of everything that writes. After a stop, [`after_crash`](SimulatedFileSystem::after_crash)
//! gives the states in which a machine could come up again: what was not brought to the disk may
//! be there, be missing or be cut short.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::file_system::{Access, EntryKind, FileSystem, NewFile};

/// What happens at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The step fails and has no effect.
    Fails,
    /// The machine stops before the step: it and all later ones fail.
    Stops,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Folder,
    /// What a reader sees, and what is on the disk.
    File {
        seen: Vec<u8>,
        durable: Vec<u8>,
    },
}

#[derive(Debug, Default)]
struct State {
    nodes: BTreeMap<PathBuf, Node>,
    /// The names on the disk: a name that was made, moved or removed is there or gone only after
    /// its folder was brought to the disk.
    durable_names: BTreeMap<PathBuf, Node>,
    steps: usize,
    fault: Option<(usize, Fault)>,
    stopped: bool,
}

/// A file system in memory.
#[derive(Debug, Clone, Default)]
pub struct SimulatedFileSystem {
    state: Rc<RefCell<State>>,
}

impl SimulatedFileSystem {
    /// A file system that holds these files, all of them on the disk.
    pub fn with_files<'file>(files: impl IntoIterator<Item = (&'file str, &'file [u8])>) -> Self {
        let system = Self::default();
        {
            let mut state = system.state.borrow_mut();
            for (path, bytes) in files {
                let path = PathBuf::from(path);
                for folder in path.ancestors().skip(1) {
                    state.nodes.insert(folder.to_owned(), Node::Folder);
                }
                let node = Node::File {
                    seen: bytes.to_vec(),
                    durable: bytes.to_vec(),
                };
                state.nodes.insert(path, node);
            }
            state.durable_names = state.nodes.clone();
        }
        system
    }

    /// Lets the step of this number, counted from zero, fail or be where the machine stops.
    pub fn set_fault(&self, step: usize, fault: Fault) {
        self.state.borrow_mut().fault = Some((step, fault));
    }

    /// How many steps were taken.
    pub fn steps(&self) -> usize {
        self.state.borrow().steps
    }

    /// The files that a reader sees.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        files_of(&self.state.borrow().nodes, false)
    }

    /// The files that there can be when a stopped machine comes up again: with everything that
    /// was on its way to the disk, with nothing of it, and with file contents cut in half.
    pub fn after_crash(&self) -> Vec<BTreeMap<PathBuf, Vec<u8>>> {
        let state = self.state.borrow();
        let half = |nodes: &BTreeMap<PathBuf, Node>| {
            let mut files = files_of(nodes, true);
            for (path, node) in nodes {
                if let Node::File { seen, durable } = node
                    && seen != durable
                {
                    files.insert(path.clone(), seen[..seen.len() / 2].to_vec());
                }
            }
            files
        };
        vec![
            files_of(&state.nodes, false),
            files_of(&state.nodes, true),
            files_of(&state.durable_names, true),
            half(&state.nodes),
            half(&state.durable_names),
        ]
    }

    fn step(&self) -> io::Result<std::cell::RefMut<'_, State>> {
        let mut state = self.state.borrow_mut();
        let number = state.steps;
        state.steps += 1;
        if let Some((step, fault)) = state.fault
            && step == number
        {
            state.stopped = fault == Fault::Stops;
            return Err(io::Error::other("simulated fault"));
        }
        if state.stopped {
            return Err(io::Error::other("the simulated machine stands still"));
        }
        Ok(state)
    }
}

fn files_of(nodes: &BTreeMap<PathBuf, Node>, on_disk: bool) -> BTreeMap<PathBuf, Vec<u8>> {
    nodes
        .iter()
        .filter_map(|(path, node)| match node {
            Node::Folder => None,
            Node::File { seen, durable } => Some((
                path.clone(),
                if on_disk {
                    durable.clone()
                } else {
                    seen.clone()
                },
            )),
        })
        .collect()
}

struct SimulatedFile {
    system: SimulatedFileSystem,
    path: PathBuf,
}

impl NewFile for SimulatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.system.step()?;
        match state.nodes.get_mut(&self.path) {
            Some(Node::File { seen, .. }) => {
                seen.extend_from_slice(bytes);
                Ok(())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.system.step()?;
        match state.nodes.get_mut(&self.path) {
            Some(Node::File { seen, durable }) => {
                durable.clone_from(seen);
                Ok(())
            }
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl FileSystem for SimulatedFileSystem {
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        let state = self.step()?;
        Ok(state.nodes.get(path).map(|node| match node {
            Node::Folder => EntryKind::Folder,
            Node::File { .. } => EntryKind::File,
        }))
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let state = self.step()?;
        let names: BTreeSet<String> = state
            .nodes
            .keys()
            .filter(|path| path.parent() == Some(folder))
            .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
            .collect();
        Ok(names.into_iter().collect())
    }

    fn create_file(&self, path: &Path, _: Access) -> io::Result<Box<dyn NewFile>> {
        let mut state = self.step()?;
        if state.nodes.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let empty = Node::File {
            seen: Vec::new(),
            durable: Vec::new(),
        };
        state.nodes.insert(path.to_owned(), empty);
        Ok(Box::new(SimulatedFile {
            system: self.clone(),
            path: path.to_owned(),
        }))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        if state.nodes.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.nodes.insert(path.to_owned(), Node::Folder);
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let moved: Vec<PathBuf> = state
            .nodes
            .keys()
            .filter(|path| path.starts_with(from))
            .cloned()
            .collect();
        if moved.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        for path in moved {
            let node = state.nodes.remove(&path).expect("it was listed");
            let rest = path.strip_prefix(from).expect("it was filtered");
            let target = if rest.as_os_str().is_empty() {
                to.to_owned()
            } else {
                to.join(rest)
            };
            state.nodes.insert(target, node);
        }
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let below = |path: &Path| path.starts_with(folder);
        state.durable_names.retain(|path, _| !below(path));
        let now: Vec<(PathBuf, Node)> = state
            .nodes
            .iter()
            .filter(|(path, _)| below(path))
            .map(|(path, node)| (path.clone(), node.clone()))
            .collect();
        state.durable_names.extend(now);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let before = state.nodes.len();
        state.nodes.retain(|other, _| !other.starts_with(path));
        if state.nodes.len() == before {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(())
    }

    fn remove_if_idle(&self, path: &Path) -> io::Result<bool> {
        self.remove(path).map(|()| true)
    }
}
