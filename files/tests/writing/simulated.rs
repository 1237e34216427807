//! A file system in memory that fails or crashes at a chosen step, for tests of code that writes.
//!
//! [`after_crash`](SimulatedFileSystem::after_crash) returns the possible states after a restart: data that was not
//! synced may be there, be missing or be truncated.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use pkgres_files::{Access, BeingFilled, EntryKind, FileSystem, NewFile};

/// The fault at the chosen step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The step fails and has no effect.
    Fails,
    /// The machine crashes before the step: it and all later steps fail.
    Stops,
}

/// The number of a file or folder, which it keeps when it is renamed (inode).
type Number = usize;

/// The number of the root folder.
const TOP: Number = 0;

/// A folder or file, as a reader sees it and as it is on the disk. As on a real disk, a folder has the names of its
/// entries, and its own name is in its parent.
#[derive(Debug, Clone)]
enum Node {
    Folder {
        seen: BTreeMap<OsString, Number>,
        durable: BTreeMap<OsString, Number>,
    },
    File {
        seen: Vec<u8>,
        durable: Vec<u8>,
    },
}

impl Node {
    fn empty_folder() -> Self {
        Self::Folder {
            seen: BTreeMap::new(),
            durable: BTreeMap::new(),
        }
    }
}

#[derive(Debug)]
struct State {
    /// All files and folders that ever existed.
    nodes: Vec<Node>,
    steps: usize,
    fault: Option<(usize, Fault)>,
    stopped: bool,
}

impl Default for State {
    fn default() -> Self {
        Self {
            nodes: vec![Node::empty_folder()],
            steps: 0,
            fault: None,
            stopped: false,
        }
    }
}

impl State {
    /// The names in a folder.
    fn folder(&mut self, number: Number) -> io::Result<&mut BTreeMap<OsString, Number>> {
        match &mut self.nodes[number] {
            Node::Folder { seen, .. } => Ok(seen),
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The entry at a path, if there is one.
    fn find(&self, path: &Path) -> Option<Number> {
        names(path).try_fold(TOP, |folder, name| match &self.nodes[folder] {
            Node::Folder { seen, .. } => seen.get(name).copied(),
            Node::File { .. } => None,
        })
    }

    /// The names in the parent of a path, and the last name of the path.
    fn place(&mut self, path: &Path) -> io::Result<(&mut BTreeMap<OsString, Number>, OsString)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let folder = self.find(path.parent().unwrap_or(Path::new("")));
        let folder = folder.ok_or(io::ErrorKind::NotFound)?;
        Ok((self.folder(folder)?, name.to_owned()))
    }

    /// Adds an entry at a path that does not exist.
    fn add(&mut self, path: &Path, node: Node) -> io::Result<Number> {
        let number = self.nodes.len();
        let (folder, name) = self.place(path)?;
        if folder.contains_key(&name) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        folder.insert(name, number);
        self.nodes.push(node);
        Ok(number)
    }

    /// The files by path, with names and contents as they are seen or as they are on the disk.
    fn files(&self, names: Names, content: Content) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut rest = vec![(PathBuf::new(), TOP)];
        while let Some((path, number)) = rest.pop() {
            match &self.nodes[number] {
                Node::Folder { seen, durable } => {
                    let names = match names {
                        Names::Seen => seen,
                        Names::OnDisk => durable,
                    };
                    rest.extend(
                        names
                            .iter()
                            .map(|(name, number)| (path.join(name), *number)),
                    );
                }
                Node::File { seen, durable } => {
                    let bytes = match content {
                        Content::Seen => seen.clone(),
                        Content::Half if seen != durable => seen[..seen.len() / 2].to_vec(),
                        Content::Half | Content::OnDisk => durable.clone(),
                    };
                    files.insert(path, bytes);
                }
            }
        }
        files
    }
}

/// The names in folders: as seen, or as on the disk.
#[derive(Clone, Copy)]
enum Names {
    Seen,
    OnDisk,
}

/// The content of files: as seen, as on the disk, or half synced.
#[derive(Clone, Copy)]
enum Content {
    Seen,
    OnDisk,
    /// Content that was not synced is cut in half.
    Half,
}

/// The names in a path. A leading dot is the root folder.
fn names(path: &Path) -> impl Iterator<Item = &OsStr> {
    path.components()
        .filter(|part| !matches!(part, Component::CurDir | Component::RootDir))
        .map(Component::as_os_str)
}

/// A file system in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct SimulatedFileSystem {
    state: Rc<RefCell<State>>,
}

impl SimulatedFileSystem {
    /// A file system with these files, all synced.
    pub(crate) fn with_files<'file>(
        files: impl IntoIterator<Item = (&'file str, &'file [u8])>,
    ) -> Self {
        let system = Self::default();
        {
            let mut state = system.state.borrow_mut();
            for (path, bytes) in files {
                let path = Path::new(path);
                let folders: Vec<&Path> = path.ancestors().skip(1).collect();
                for folder in folders.into_iter().rev() {
                    if state.find(folder).is_none() {
                        let made = state.add(folder, Node::empty_folder());
                        made.expect("the folder that it lies in was made before it");
                    }
                }
                let node = Node::File {
                    seen: bytes.to_vec(),
                    durable: bytes.to_vec(),
                };
                state.add(path, node).expect("no file is listed twice");
            }
            for node in &mut state.nodes {
                if let Node::Folder { seen, durable } = node {
                    durable.clone_from(seen);
                }
            }
        }
        system
    }

    /// Sets a fault at a step, counted from zero.
    pub(crate) fn set_fault(&self, step: usize, fault: Fault) {
        self.state.borrow_mut().fault = Some((step, fault));
    }

    /// The number of steps taken.
    pub(crate) fn steps(&self) -> usize {
        self.state.borrow().steps
    }

    /// The files that a reader sees.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        self.state.borrow().files(Names::Seen, Content::Seen)
    }

    /// The states in which a crashed machine can come up again: with everything that was not synced, with nothing of it,
    /// and with file contents cut in half.
    pub(crate) fn after_crash(&self) -> Vec<BTreeMap<PathBuf, Vec<u8>>> {
        let state = self.state.borrow();
        vec![
            state.files(Names::Seen, Content::Seen),
            state.files(Names::Seen, Content::OnDisk),
            state.files(Names::OnDisk, Content::OnDisk),
            state.files(Names::Seen, Content::Half),
            state.files(Names::OnDisk, Content::Half),
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
            return Err(io::Error::other("the simulated machine has crashed"));
        }
        Ok(state)
    }
}

struct SimulatedFile {
    system: SimulatedFileSystem,
    number: Number,
}

impl NewFile for SimulatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.system.step()?;
        if let Node::File { seen, .. } = &mut state.nodes[self.number] {
            seen.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut state = self.system.step()?;
        if let Node::File { seen, durable } = &mut state.nodes[self.number] {
            durable.clone_from(seen);
        }
        Ok(())
    }
}

/// A folder that is being filled; no other process could remove it.
struct SimulatedFolder;

impl BeingFilled for SimulatedFolder {}

impl FileSystem for SimulatedFileSystem {
    fn kind(&self, path: &Path) -> io::Result<Option<EntryKind>> {
        let state = self.step()?;
        Ok(state.find(path).map(|number| match state.nodes[number] {
            Node::Folder { .. } => EntryKind::Folder,
            Node::File { .. } => EntryKind::File,
        }))
    }

    fn names(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut state = self.step()?;
        let folder = state.find(folder).ok_or(io::ErrorKind::NotFound)?;
        let names = state.folder(folder)?.keys();
        Ok(names
            .filter_map(|name| name.to_str().map(str::to_owned))
            .collect())
    }

    fn create_file(&self, path: &Path, _: Access) -> io::Result<Box<dyn NewFile>> {
        let empty = Node::File {
            seen: Vec::new(),
            durable: Vec::new(),
        };
        let number = self.step()?.add(path, empty)?;
        let system = self.clone();
        Ok(Box::new(SimulatedFile { system, number }))
    }

    fn create_file_like(&self, path: &Path, like: &Path) -> io::Result<Box<dyn NewFile>> {
        if self.state.borrow().find(like).is_none() {
            return Err(io::ErrorKind::NotFound.into());
        }
        self.create_file(path, Access::Data)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.step()?.add(path, Node::empty_folder()).map(|_| ())
    }

    fn create_link(&self, path: &Path, target: &str) -> io::Result<()> {
        // Readers of this file system do not follow links, and see their targets.
        let link = Node::File {
            seen: target.as_bytes().to_vec(),
            durable: target.as_bytes().to_vec(),
        };
        self.step()?.add(path, link).map(|_| ())
    }

    fn create_temporary_folder(&self, path: &Path) -> io::Result<Box<dyn BeingFilled>> {
        self.create_folder(path)?;
        Ok(Box::new(SimulatedFolder))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let number = state.find(from).ok_or(io::ErrorKind::NotFound)?;
        state.place(to)?;
        let (folder, name) = state.place(from)?;
        folder.remove(&name);
        let (folder, name) = state.place(to)?;
        folder.insert(name, number);
        Ok(())
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let number = state.find(folder).ok_or(io::ErrorKind::NotFound)?;
        match &mut state.nodes[number] {
            Node::Folder { seen, durable } => {
                durable.clone_from(seen);
                Ok(())
            }
            Node::File { .. } => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.step()?;
        let (folder, name) = state.place(path)?;
        let removed = folder.remove(&name);
        removed.map(|_| ()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn remove_if_idle(&self, path: &Path) -> io::Result<bool> {
        self.remove(path).map(|()| true)
    }

    fn rename_if_idle(&self, from: &Path, to: &Path) -> io::Result<bool> {
        self.rename(from, to).map(|()| true)
    }
}
