//! How resources find each other automatically: a resource has identifiers, such as a path, and wishes for those of
//! others.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that a resource is or provides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Identifier {
    /// A file, folder or link at a path.
    Path(PathBuf),
    /// A folder at a path that goes if nothing is left in it.
    EmptiedFolder(PathBuf),
    /// What another resource describes below the folder at a path. Only wishes name it.
    Below(PathBuf),
    /// A package of the operating system, without its architecture.
    Package(String),
    /// A service, without the ending `.service`.
    Service(String),
    /// A user.
    User(String),
    /// A group.
    Group(String),
    /// The number of a user.
    UserNumber(u32),
    /// The number of a group.
    GroupNumber(u32),
    /// Something else: its kind and its name.
    Other(String, String),
}

impl Identifier {
    /// The identifier of a file, folder or link.
    pub fn path(path: impl AsRef<Path>) -> Self {
        Self::Path(path.as_ref().to_owned())
    }
}

/// What can own files and run commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// A user.
    User,
    /// A group.
    Group,
}

impl Account {
    /// The identifier of the account with a name.
    pub fn identifier(self, name: impl Into<String>) -> Identifier {
        match self {
            Self::User => Identifier::User(name.into()),
            Self::Group => Identifier::Group(name.into()),
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::User => "user",
            Self::Group => "group",
        })
    }
}

/// The order between a resource and one that it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// The other one goes first.
    After,
    /// The other one goes second.
    Before,
    /// The other one goes second, unless the rest of the graph requires the opposite.
    BeforeIfPossible,
}

/// A resource that another one looks for. Of several alternatives, the first one that exists counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wish {
    /// The order of the two resources.
    pub relation: Relation,
    /// The identifiers to look for, best first.
    pub alternatives: Vec<Identifier>,
}

impl Wish {
    /// A resource that goes first, if it exists.
    pub fn after(identifier: Identifier) -> Self {
        Self {
            relation: Relation::After,
            alternatives: vec![identifier],
        }
    }

    /// A resource that goes second, if it is there.
    pub fn before(identifier: Identifier) -> Self {
        Self {
            relation: Relation::Before,
            alternatives: vec![identifier],
        }
    }

    /// A resource that goes second, if it exists and no other edge makes it go first.
    pub fn before_if_possible(identifier: Identifier) -> Self {
        Self {
            relation: Relation::BeforeIfPossible,
            alternatives: vec![identifier],
        }
    }

    /// The wishes of a resource at a path: it comes after the nearest folder around it, and before a folder that is
    /// removed once it is empty.
    pub fn around(path: &Path) -> [Self; 2] {
        let folders = path.ancestors().skip(1);
        let emptied = Self {
            relation: Relation::BeforeIfPossible,
            alternatives: folders
                .map(|path| Identifier::EmptiedFolder(path.to_owned()))
                .collect(),
        };
        [Self::nearest_folder(path), emptied]
    }

    /// The nearest folder around a path goes first.
    pub fn nearest_folder(path: &Path) -> Self {
        Self {
            relation: Relation::After,
            alternatives: path.ancestors().skip(1).map(Identifier::path).collect(),
        }
    }
}
