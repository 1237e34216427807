//! What a command needs to start: its program, its user and its folder. Missing ones are found before it is run.

use std::path::{Path, PathBuf};

use pkgres_files::EntryKind;
use pkgres_manifest::diagnostic::Escaped;

use super::accounts::has_other_sources;
use crate::resource::{Account, Identifier, ResourceError, Wish};
use crate::target::{Command, NO_SHELL, Probe, shown};

/// The shell of a machine, which starts commands.
const SHELL: &str = "/bin/sh";

/// The file of a program, the user and group that it runs as, and its folder have to be there first.
pub(super) fn program_wishes(command: &Command) -> Vec<Wish> {
    let places = places_of_program(command);
    let program = Wish {
        relation: crate::resource::Relation::After,
        alternatives: places.into_iter().map(Identifier::path).collect(),
    };
    let user = command.user.clone().map(Identifier::User);
    let group = command.group.clone().map(Identifier::Group);
    let mut wishes = vec![program, Wish::after(Identifier::path(&command.folder))];
    wishes.extend(user.into_iter().chain(group).map(Wish::after));
    wishes
}

/// The paths at which the program of a command may be.
fn places_of_program(command: &Command) -> Vec<PathBuf> {
    let program = Path::new(&command.program);
    if program.is_absolute() {
        return vec![program.to_owned()];
    }
    let path = command.variables.get("PATH").map_or("", String::as_str);
    let folders = path.split(':').filter(|folder| folder.starts_with('/'));
    folders
        .map(|folder| Path::new(folder).join(program))
        .collect()
}

/// Checks that a command can be started, as far as that is known without starting it.
pub(super) fn require_startable(command: &Command, probe: &dyn Probe) -> Result<(), ResourceError> {
    probe.check_startable()?;
    let Some(Obstacle { reason, needs }) = obstacle(command, probe) else {
        return Ok(());
    };
    Err(ResourceError::NotStartable {
        message: format!("cannot run `{}`: {reason}", shown(command)),
        needs,
    })
}

/// Why a command cannot be started, and what would help.
struct Obstacle {
    reason: String,
    needs: Vec<Identifier>,
}

impl Obstacle {
    fn new(reason: String, needs: impl IntoIterator<Item = Identifier>) -> Self {
        let needs = needs.into_iter().collect();
        Self { reason, needs }
    }
}

/// What keeps a command from starting; `None` if that is not certain.
fn obstacle(command: &Command, probe: &dyn Probe) -> Option<Obstacle> {
    // What cannot be read may be there.
    let is_missing = |path: &Path| matches!(probe.entry(path), Ok(None));
    if is_missing(Path::new(SHELL)) {
        let shell = Identifier::path(SHELL);
        return Some(Obstacle::new(NO_SHELL.to_owned(), [shell]));
    }
    if is_missing(&command.folder) {
        let folder = command.folder.to_string_lossy();
        let folder = Escaped::shortened(&folder);
        return Some(Obstacle::new(
            format!("the folder {folder}, which it starts in, does not exist"),
            [Identifier::path(&command.folder)],
        ));
    }
    for (account, name) in [
        (Account::User, &command.user),
        (Account::Group, &command.group),
    ] {
        if let Some(name) = name
            && is_unknown(account, name, probe)
        {
            let needed = account.identifier(name);
            let name = Escaped::shortened(name);
            let reason = format!("the machine has no {account} `{name}`");
            return Some(Obstacle::new(reason, [needed]));
        }
    }
    let program = Escaped::shortened(&command.program);
    let places = places_of_program(command);
    let is_name = !command.program.contains('/');
    if !is_name && !Path::new(&command.program).is_absolute() {
        // It begins at the folder.
        return None;
    }
    let found = places.iter().find(|place| !is_missing(place));
    let Some(found) = found else {
        // A shell of BusyBox may have the program in itself.
        let is_built_in = is_name && is_busybox(probe);
        return (!is_built_in).then(|| {
            let reason = format!("the machine has no program `{program}`");
            Obstacle::new(reason, places.iter().map(Identifier::path))
        });
    };
    let entry = probe.entry(found).ok().flatten()?;
    let is_plain = entry.kind == EntryKind::File && entry.mode & 0o111 == 0 && !is_name;
    is_plain.then(|| {
        let reason = format!("{program} is not executable");
        Obstacle::new(reason, [Identifier::path(found)])
    })
}

/// Whether a user or group does not exist, as far as the files of the machine tell.
fn is_unknown(account: Account, name: &str, probe: &dyn Probe) -> bool {
    // A number needs no name.
    if name.bytes().all(|byte| byte.is_ascii_digit()) || has_other_sources(account, probe) {
        return false;
    }
    // What cannot be read may have it.
    let listed = account.listed(probe);
    listed.is_ok_and(|listed| listed.iter().all(|(known, _)| known != name))
}

fn is_busybox(probe: &dyn Probe) -> bool {
    let shell = probe.entry(Path::new(SHELL)).ok().flatten();
    let target = shell.and_then(|shell| shell.link_target);
    target.is_some_and(|target| target.ends_with("busybox"))
}
