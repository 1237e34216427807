//! Locations of registries: `[NAME=]KIND:LOCATION`, or `[NAME=]` and an address on the network.

use std::path::{Component, Path, PathBuf};

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{ReadOptions, RegistryName};

use crate::directory::DirectoryRegistry;
use crate::http::{Address, AddressError, GalaxyRegistry, HttpOptions, HttpRegistry};
use crate::index_cache::IndexCache;
use crate::index_file::IndexFileRegistry;
use crate::registry::Registry;
use crate::registry_error::RegistryError;

/// The location of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryLocation {
    /// The name of the registry in lockfiles.
    pub name: RegistryName,
    /// Whether the name was written. Registries without a name get one.
    is_named: bool,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Directory(PathBuf),
    IndexFile(PathBuf),
    Http(Address),
    Galaxy(Address),
}

/// A string that is not the location of a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LocationError {
    /// The name is not valid.
    #[error(transparent)]
    Name(#[from] pkgres_manifest::RegistryNameError),
    /// Two registries have one name: a lockfile could not distinguish them.
    #[error("two registries are called `{0}`")]
    NameTwice(RegistryName),
    /// The kind is missing or not known.
    #[error("`{}` is not a registry: `dir:FOLDER`, `index:FILE`, `https://ADDRESS` or `galaxy:https://ADDRESS` is expected, with `NAME=` in front for another name", Escaped::shortened(.0))]
    Kind(String),
    /// The address is not valid.
    #[error(transparent)]
    Address(#[from] AddressError),
}

/// A path from a folder, without the steps of the folder that the path goes back.
fn from_base(base: &Path, path: &str) -> PathBuf {
    let (mut base, mut path) = (base, Path::new(path));
    while let (Ok(rest), Some(Component::Normal(_)), false) = (
        path.strip_prefix(".."),
        base.components().next_back(),
        // What is above the target of a link is somewhere else.
        base.is_symlink(),
    ) {
        let Some(parent) = base.parent() else {
            break;
        };
        (base, path) = (parent, rest);
    }
    tidy(&base.join(path))
}

/// A path without `.` in it: messages and lists show it.
fn tidy(path: &Path) -> PathBuf {
    let is_step = |part: &Component| *part != Component::CurDir;
    let tidy: PathBuf = path.components().filter(is_step).collect();
    if tidy.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        tidy
    }
}

impl RegistryLocation {
    /// Reads locations, in order of preference. The first one without a name is called `default`, the others
    /// `registry-2` and so on by their position. Paths are relative to `base`.
    pub fn parse_all<'text>(
        texts: impl IntoIterator<Item = &'text str>,
        base: &Path,
    ) -> Result<Vec<Self>, LocationError> {
        let mut locations: Vec<Self> = Vec::new();
        for text in texts {
            let (name, rest) = split_name(text)?;
            let is_named = name.is_some();
            let name = if let Some(name) = name {
                name
            } else {
                let taken = locations.iter().any(|other| other.name.is_default());
                let fallback = format!("registry-{}", locations.len() + 1);
                RegistryName::parse(if taken {
                    &fallback
                } else {
                    RegistryName::DEFAULT
                })?
            };
            let is_path = |path: &str| !path.is_empty() && !is_web(path);
            let kind = match rest.split_once(':') {
                Some(("dir", path)) if is_path(path) => Kind::Directory(from_base(base, path)),
                Some(("index", path)) if is_path(path) => Kind::IndexFile(from_base(base, path)),
                Some(("galaxy", address)) => Kind::Galaxy(Address::parse(address)?),
                _ if is_web(rest) => Kind::Http(Address::parse(rest)?),
                _ => return Err(LocationError::Kind(text.to_owned())),
            };
            if locations.iter().any(|other| other.name == name) {
                return Err(LocationError::NameTwice(name));
            }
            locations.push(Self {
                name,
                is_named,
                kind,
            });
        }
        Ok(locations)
    }

    /// The default registry of a root that is a file and not a folder: the folder with the file. So files in one
    /// folder find each other.
    pub fn with_file(folder: &Path) -> Self {
        let folder = if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder.to_owned()
        };
        Self {
            name: RegistryName::parse(RegistryName::DEFAULT).expect("the name is valid"),
            is_named: false,
            kind: Kind::Directory(folder),
        }
    }

    /// The default registry: the folder that contains the package folder of the root. So packages in one folder find
    /// each other. If the package folder is a link, its target counts: it is the same project, wherever the link is.
    pub fn beside(package_folder: &Path) -> Self {
        let linked = package_folder
            .is_symlink()
            .then(|| package_folder.canonicalize().ok())
            .flatten();
        let package_folder = linked.as_deref().unwrap_or(package_folder);
        // A path such as `.` has no parent in its text.
        let folder = match package_folder.components().next_back() {
            Some(Component::Normal(_)) => package_folder
                .parent()
                .filter(|parent| !parent.as_os_str().is_empty())
                .map_or_else(|| PathBuf::from("."), Path::to_owned),
            _ => tidy(&package_folder.join("..")),
        };
        Self::with_file(&folder)
    }

    /// The address, if the registry is on the network.
    pub fn address(&self) -> Option<&Address> {
        match &self.kind {
            Kind::Http(address) | Kind::Galaxy(address) => Some(address),
            Kind::Directory(_) | Kind::IndexFile(_) => None,
        }
    }

    /// Whether its name was written, and not made for a registry without a name.
    pub fn is_named(&self) -> bool {
        self.is_named
    }

    /// Whether both are the same folder, file or address, whatever their names are.
    pub fn is_same_place(&self, other: &Self) -> bool {
        self.kind == other.kind
    }

    /// The registry that is at the path, if it is one of the other kind: a folder in place of a file, or a file in
    /// place of a folder.
    pub fn of_other_kind(&self) -> Option<String> {
        let (kind, path) = match &self.kind {
            Kind::IndexFile(path) if path.is_dir() => ("dir", path),
            Kind::Directory(path) if path.is_file() => ("index", path),
            _ => return None,
        };
        Some(format!("{kind}:{}", Escaped::path(&path)))
    }

    /// Whether the registry is a server with the Galaxy API.
    pub fn is_galaxy(&self) -> bool {
        matches!(self.kind, Kind::Galaxy(_))
    }

    /// Opens the registry. Index files use the cache, if there is one. No request is sent to a registry on the network
    /// before the first call.
    ///
    /// # Errors
    ///
    /// The folder or file cannot be read.
    pub fn open(
        &self,
        options: &ReadOptions,
        cache: Option<&IndexCache>,
        http: &HttpOptions,
    ) -> Result<Box<dyn Registry>, RegistryError> {
        Ok(match &self.kind {
            Kind::Http(address) => {
                let (name, limits) = (self.name.clone(), &options.limits);
                let registry = HttpRegistry::new(name, address.clone(), limits, http.clone());
                Box::new(registry.of_ecosystem(options.ecosystem))
            }
            Kind::Galaxy(address) => Box::new(GalaxyRegistry::new(
                self.name.clone(),
                address.clone(),
                options,
                http.clone(),
            )),
            Kind::Directory(path) => {
                Box::new(DirectoryRegistry::open(self.name.clone(), path, options)?)
            }
            Kind::IndexFile(path) => {
                let (name, threads) = (self.name.clone(), http.threads);
                let opened = IndexFileRegistry::open_for(name, path, options, threads, cache);
                Box::new(opened?)
            }
        })
    }
}

/// Writes the location as `NAME=KIND:LOCATION`, without credentials.
impl std::fmt::Display for RegistryLocation {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (kind, path) = match &self.kind {
            Kind::Directory(path) => ("dir", path),
            Kind::IndexFile(path) => ("index", path),
            // An address is shown without credentials.
            Kind::Http(address) => return write!(formatter, "{}={address}", self.name),
            Kind::Galaxy(address) => return write!(formatter, "{}=galaxy:{address}", self.name),
        };
        write!(formatter, "{}={kind}:{}", self.name, Escaped::path(&path))
    }
}

/// Whether a string is an address, of which no path may be made: messages would show its credentials.
fn is_web(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    ["https", "http"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web))
}

/// `name=rest`, where the name ends before anything that begins the kind.
fn split_name(text: &str) -> Result<(Option<RegistryName>, &str), LocationError> {
    match text.split_once('=') {
        Some((name, rest)) if !name.contains(':') => Ok((Some(RegistryName::parse(name)?), rest)),
        _ => Ok((None, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(texts: &[&str]) -> Result<Vec<(String, Kind)>, LocationError> {
        let locations = RegistryLocation::parse_all(texts.iter().copied(), Path::new("base"))?;
        Ok(locations
            .into_iter()
            .map(|location| (location.name.to_string(), location.kind))
            .collect())
    }

    #[test]
    fn paths_have_no_steps_that_lead_nowhere() {
        for (base, path, expected) in [
            ("", ".", "."),
            ("", "./packages", "packages"),
            ("", "a/./b/../c", "a/b/../c"),
            ("app", "../packages", "packages"),
            ("apps/web", "../..", "."),
            ("apps/web", "./x", "apps/web/x"),
            ("..", "../packages", "../../packages"),
            ("../..", ".", "../.."),
            ("/srv/app", "../packages", "/srv/packages"),
            ("/", "../packages", "/../packages"),
        ] {
            let path_from = from_base(Path::new(base), path);
            assert_eq!(path_from, Path::new(expected), "{base} {path}");
        }
        let beside = RegistryLocation::beside(Path::new("."));
        assert_eq!(beside.kind, Kind::Directory("..".into()));
    }

    #[test]
    fn names_and_kinds() {
        assert_eq!(
            parse(&["dir:a=b", "acme=index:/x/y", "index:z"]),
            Ok(vec![
                ("default".to_owned(), Kind::Directory("base/a=b".into())),
                ("acme".to_owned(), Kind::IndexFile("/x/y".into())),
                ("registry-3".to_owned(), Kind::IndexFile("base/z".into())),
            ])
        );
        for bad in [
            "",
            "dir:",
            "folder",
            "ftp:x",
            "=dir:x",
            "host=dir:x",
            "1=dir:x",
            "dir:https://example.org/",
            "acme=index:http://example.org/x",
        ] {
            assert!(parse(&[bad]).is_err(), "{bad}");
        }
        let error = parse(&["index:https://me:secret@example.org/x"]).expect_err("no path");
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn addresses_are_shown_without_credentials() {
        let texts = [
            "acme=https://me:secret@example.org/base",
            "http://127.0.0.1:8080",
            "hub=galaxy:https://me:secret@hub.example/",
            "upper=HTTPS://Example.ORG/Base",
        ];
        let locations = RegistryLocation::parse_all(texts, Path::new("")).expect("two addresses");
        let shown: Vec<String> = locations.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "acme=https://example.org/base/",
                "default=http://127.0.0.1:8080/",
                "hub=galaxy:https://hub.example/",
                "upper=https://example.org/Base/",
            ]
        );
        assert!(locations[0].address().is_some() && !locations[0].is_galaxy());
        assert!(locations[2].address().is_some() && locations[2].is_galaxy());
        assert!(parse(&["galaxy:dir"]).is_err());
        assert!(parse(&["https://"]).is_err());
        assert!(parse(&["https:x y"]).is_err());
    }

    #[test]
    fn packages_beside_each_other_find_each_other() {
        let folder = |path: &str| RegistryLocation::beside(Path::new(path)).kind;
        assert_eq!(folder("apps/web"), Kind::Directory("apps".into()));
        assert_eq!(folder("web"), Kind::Directory(".".into()));
        assert_eq!(folder("."), Kind::Directory("..".into()));
        assert_eq!(folder("../.."), Kind::Directory("../../..".into()));
    }
}
