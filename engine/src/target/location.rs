//! Parses the locations of machines: `local:`, `rootfs:PATH` and `ssh://USER@HOST:PORT`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{did_you_mean, most_similar};
use thiserror::Error;

use super::Target;
use super::error::TargetError;
use super::machine::Machine;
use super::overlay::Overlay;
use super::ssh::{SshAddress, SshMachine, SshOptions};

/// Folders that an overlay can be mounted over in a namespace of its own. Each system has one of them.
const OVERLAY_PLACES: [&str; 4] = ["/mnt", "/media", "/run", "/tmp"];

/// The location of a machine: `local:` is the machine that the program runs on, `rootfs:PATH` a folder with the root
/// file system of another one, and `ssh://USER@HOST:PORT` a machine that the program `ssh` connects to.
///
/// ```
/// use pkgres_engine::TargetLocation;
///
/// let location: TargetLocation = "rootfs:images/web".parse()?;
/// assert_eq!(location, TargetLocation::RootFolder("images/web".into()));
/// assert_eq!(location.to_string(), "rootfs:images/web");
/// assert!("images/web".parse::<TargetLocation>().is_err());
/// # Ok::<(), pkgres_engine::TargetLocationError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TargetLocation {
    /// The machine that the program runs on.
    Local,
    /// A folder with the root of a machine.
    RootFolder(PathBuf),
    /// A machine that is reached by ssh.
    Ssh(SshAddress),
}

/// The error for a text that does not say where a machine is.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{}` is not a target: `local:`, `rootfs:PATH` or `ssh://USER@HOST:PORT` is expected; {}", Escaped::shortened(.0), meant(.0))]
pub struct TargetLocationError(String);

/// The target that was probably meant: another spelling, or a folder.
fn meant(text: &str) -> String {
    let kind = text.split_once(':').map_or(text, |(kind, _)| kind);
    match most_similar(kind, ["local", "rootfs", "ssh"]) {
        Some("local") => return did_you_mean("local:"),
        Some("ssh") => return "a machine is named as in `ssh://root@web1`".to_owned(),
        Some(_) => return "a folder is named as in `rootfs:image`".to_owned(),
        None => {}
    }
    if text.is_empty() || text.contains(':') {
        return "`local:` is this machine".to_owned();
    }
    let folder = Escaped::shortened(text);
    format!("`local:` is this machine, `rootfs:{folder}` a folder with the root of another one")
}

impl TargetLocation {
    /// Opens the machine.
    pub fn open(&self, ssh: &SshOptions) -> Result<Arc<dyn Target>, TargetError> {
        Ok(match self {
            Self::Local => Arc::new(Machine::local()?),
            Self::RootFolder(folder) => Arc::new(Machine::root_folder(folder)?),
            Self::Ssh(address) => Arc::new(SshMachine::connect(address, ssh)?),
        })
    }

    /// Whether the machine is reached over a network.
    pub fn is_remote(&self) -> bool {
        matches!(self, Self::Ssh(_))
    }

    /// A machine on top of this one, which stays as it is.
    pub fn overlay(&self) -> Result<Overlay, TargetError> {
        let root = Path::new("/");
        let folder = match self {
            Self::Local => root,
            Self::RootFolder(folder) => folder,
            Self::Ssh(_) => {
                let message = "changes cannot be kept apart on a machine that is reached by ssh";
                return Err(TargetError::Unsupported(message.to_owned()));
            }
        };
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        // What is mounted there hides what was there.
        let mut places = OVERLAY_PLACES.iter().map(Path::new);
        let place = places.find(|place| place.is_dir() && !absolute.starts_with(place));
        Overlay::new(folder, place.unwrap_or(root))
    }
}

impl std::str::FromStr for TargetLocation {
    type Err = TargetLocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            Some(("local", "")) => Ok(Self::Local),
            Some(("rootfs", path)) if !path.is_empty() => Ok(Self::RootFolder(path.into())),
            Some(("ssh", rest)) => {
                let rest = rest.strip_prefix("//").unwrap_or_default();
                let address = SshAddress::parse(rest.strip_suffix('/').unwrap_or(rest));
                let address = address.ok_or_else(|| TargetLocationError(text.to_owned()))?;
                Ok(Self::Ssh(address))
            }
            _ => Err(TargetLocationError(text.to_owned())),
        }
    }
}

impl fmt::Display for TargetLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local => formatter.write_str("local:"),
            Self::RootFolder(folder) => {
                write!(formatter, "rootfs:{}", Escaped::path(&folder))
            }
            Self::Ssh(address) => address.fmt(formatter),
        }
    }
}
