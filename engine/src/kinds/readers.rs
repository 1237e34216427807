//! How the kinds read their properties.

use std::path::Path;
use std::time::Duration;

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Properties, PropertyError, PropertyErrors};

use super::package_files::FilesOfPackage;
use super::{Directory, Exec, File, Group, Guard, Link, Package, Query, Service, User};
use crate::target::Command;

pub(super) fn read_file(
    name: &str,
    properties: &mut Properties,
    files: FilesOfPackage<'_>,
) -> Result<File, PropertyErrors> {
    require_absolute("file", name, properties)?;
    let mut file = File::new(name);
    if takes_absence(properties)? {
        return Ok(file.absent());
    }
    if let Some(content) = properties.take_text("content")? {
        file = file.with_content(content);
    }
    if let Some(source) = properties.take_text("source")? {
        if file.has_content() {
            let message = "`source` and `content` both say what is in the file";
            return Err(properties.invalid("source", message).into());
        }
        let bytes = files.read(&source);
        file = file.with_bytes(bytes.map_err(|reason| properties.invalid("source", reason))?);
    }
    if let Some(path) = properties.take_text("copy_of")? {
        if file.has_content() {
            let message = "`copy_of` and `content` or `source` both say what is in the file";
            return Err(properties.invalid("copy_of", message).into());
        }
        file = file.with_copy_of(path);
    }
    if let Some(mode) = take_mode(properties)? {
        file = file.with_mode(mode);
    }
    if let Some(owner) = properties.take_text("owner")? {
        file = file.with_owner(owner);
    }
    if let Some(group) = properties.take_text("group")? {
        file = file.with_group(group);
    }
    Ok(file)
}

pub(super) fn read_directory(
    name: &str,
    properties: &mut Properties,
) -> Result<Directory, PropertyErrors> {
    require_absolute("directory", name, properties)?;
    let mut directory = Directory::new(name);
    match properties.take_text("state")?.as_deref() {
        None | Some("present") => {}
        Some("absent") => return Ok(directory.absent()),
        Some("absent-if-empty") => return Ok(directory.absent_if_empty()),
        Some(other) => {
            let other = Escaped::shortened(other);
            let message =
                format!("`state` must be `present`, `absent` or `absent-if-empty`, not `{other}`");
            return Err(properties.invalid("state", message).into());
        }
    }
    if let Some(mode) = take_mode(properties)? {
        directory = directory.with_mode(mode);
    }
    if let Some(owner) = properties.take_text("owner")? {
        directory = directory.with_owner(owner);
    }
    if let Some(group) = properties.take_text("group")? {
        directory = directory.with_group(group);
    }
    Ok(directory)
}

pub(super) fn read_link(name: &str, properties: &mut Properties) -> Result<Link, PropertyErrors> {
    require_absolute("link", name, properties)?;
    if takes_absence(properties)? {
        return Ok(Link::absent(name));
    }
    Ok(Link::new(name, properties.take_required_text("target")?))
}

pub(super) fn read_package(
    name: &str,
    properties: &mut Properties,
) -> Result<Package, PropertyErrors> {
    let package = Package::new(name);
    if takes_absence(properties)? {
        return Ok(package.absent());
    }
    Ok(match properties.take_text("version")? {
        Some(version) => package.with_version(version),
        None => package,
    })
}

pub(super) fn read_group(name: &str, properties: &mut Properties) -> Result<Group, PropertyErrors> {
    let mut group = Group::new(name);
    if takes_absence(properties)? {
        return Ok(group.absent());
    }
    if let Some(number) = properties.take_parsed("number")? {
        group = group.with_number(number);
    }
    if properties.take_bool("system")? == Some(true) {
        group = group.system();
    }
    Ok(group)
}

pub(super) fn read_user(name: &str, properties: &mut Properties) -> Result<User, PropertyErrors> {
    let mut user = User::new(name);
    if takes_absence(properties)? {
        return Ok(user.absent());
    }
    if let Some(number) = properties.take_parsed("number")? {
        user = user.with_number(number);
    }
    if let Some(group) = properties.take_text("group")? {
        user = user.with_group(group);
    }
    if let Some(groups) = properties.take_texts("groups")? {
        user = user.with_groups(groups);
    }
    if let Some(groups) = properties.take_texts("only_groups")? {
        if properties.has_taken("groups") {
            let message = "`groups` and `only_groups` both say which groups the user is in";
            return Err(properties.invalid("only_groups", message).into());
        }
        user = user.with_only_groups(groups);
    }
    if let Some(home) = properties.take_text("home")? {
        user = user.with_home(home);
    }
    if let Some(shell) = properties.take_text("shell")? {
        user = user.with_shell(shell);
    }
    if let Some(comment) = properties.take_text("comment")? {
        user = user.with_comment(comment);
    }
    if properties.take_bool("system")? == Some(true) {
        user = user.system();
    }
    Ok(user)
}

/// The name of a command is only a name.
pub(super) fn read_exec(_name: &str, properties: &mut Properties) -> Result<Exec, PropertyErrors> {
    let command = take_required_command(properties)?;
    let mut guards = Vec::new();
    if let Some(path) = properties.take_text("creates")? {
        guards.push(Guard::creates(path));
    }
    if let Some(command) = take_command("unless", properties)? {
        guards.push(Guard::Unless(command));
    }
    if let Some(command) = take_command("only_if", properties)? {
        guards.push(Guard::OnlyIf(command));
    }
    if properties.take_bool("on_refresh")? == Some(true) {
        guards.push(Guard::OnRefresh);
    }
    let mut guards = guards.into_iter();
    let Some(first) = guards.next() else {
        let message = "nothing says when the command has to run";
        let error = properties.invalid("guard", message);
        let hint = "add `creates`, `unless`, `only_if` or `on_refresh`";
        return Err(error.hint(hint).into());
    };
    let mut exec = guards.fold(Exec::new(command, first), Exec::with_guard);
    if let Some(undo) = take_command("undo", properties)? {
        exec = exec.with_undo(undo);
    }
    match properties.take_text("state")?.as_deref() {
        None | Some("done") => Ok(exec),
        Some("undone") if properties.has_taken("undo") => Ok(exec.undone()),
        Some("undone") => {
            let error = properties.invalid("state", "without `undo`, nothing can be undone");
            Err(error
                .hint("add the command that undoes it as `undo`")
                .into())
        }
        Some(other) => {
            let other = Escaped::shortened(other);
            let message = format!("`state` must be `done` or `undone`, not `{other}`");
            Err(properties.invalid("state", message).into())
        }
    }
}

/// The name of a query is only a name.
pub(super) fn read_query(
    _name: &str,
    properties: &mut Properties,
) -> Result<Query, PropertyErrors> {
    Ok(Query::new(take_required_command(properties)?))
}

pub(super) fn read_service(
    name: &str,
    properties: &mut Properties,
) -> Result<Service, PropertyErrors> {
    let service = Service::new(name);
    let service = match properties.take_text("state")?.as_deref() {
        None => service,
        Some("running") => service.running(),
        Some("stopped") => service.stopped(),
        Some(other) => {
            let other = Escaped::shortened(other);
            let message = format!("`state` must be `running` or `stopped`, not `{other}`");
            return Err(properties.invalid("state", message).into());
        }
    };
    Ok(match properties.take_bool("enabled")? {
        None => service,
        Some(true) => service.enabled(),
        Some(false) => service.disabled(),
    })
}

/// Takes the command of a resource, and how it runs.
fn take_required_command(properties: &mut Properties) -> Result<Command, PropertyError> {
    let Some(mut command) = take_command("command", properties)? else {
        return Err(properties.invalid("command", "the property `command` is missing"));
    };
    let variables = properties.take_text_mapping("environment")?;
    for (name, value) in variables.unwrap_or_default() {
        command = command.variable(name, value);
    }
    if let Some(folder) = properties.take_text("folder")? {
        command = command.folder(folder);
    }
    if let Some(user) = properties.take_text("user")? {
        command = command.user(user);
    }
    if let Some(group) = properties.take_text("group")? {
        command = command.group(group);
    }
    if let Some(seconds) = properties.take_number("timeout")? {
        command = command.timeout(Duration::from_secs(seconds));
    }
    Ok(command)
}

/// Takes a command: a list of its program and arguments. No shell reads it.
fn take_command(key: &str, properties: &mut Properties) -> Result<Option<Command>, PropertyError> {
    let Some(words) = properties.take_texts(key)? else {
        return Ok(None);
    };
    let mut words = words.into_iter();
    let Some(program) = words.next().filter(|program| !program.is_empty()) else {
        return Err(properties.invalid(key, format!("`{key}` names no program")));
    };
    if words.len() == 0 && program.contains(' ') {
        let message =
            format!("`{key}` is a list of a program and its arguments, and no text for a shell");
        let error = properties.invalid(key, message);
        return Err(error.hint("write it as in `[systemctl, reload, web]`"));
    }
    Ok(Some(Command::new(program).arguments(words)))
}

/// Checks that the name of a resource is an absolute path.
fn require_absolute(kind: &str, name: &str, properties: &Properties) -> Result<(), PropertyError> {
    if Path::new(name).is_absolute() {
        return Ok(());
    }
    let name = Escaped::shortened(name);
    let message = format!("the name of a {kind} must be an absolute path, not `{name}`");
    Err(properties.invalid(kind, message))
}

/// Takes `state`: whether the resource shall not exist.
fn takes_absence(properties: &mut Properties) -> Result<bool, PropertyError> {
    match properties.take_text("state")?.as_deref() {
        None | Some("present") => Ok(false),
        Some("absent") => Ok(true),
        Some(other) => {
            let other = Escaped::shortened(other);
            let message = format!("`state` must be `present` or `absent`, not `{other}`");
            Err(properties.invalid("state", message))
        }
    }
}

/// Takes `mode`: three or four octal digits.
fn take_mode(properties: &mut Properties) -> Result<Option<u32>, PropertyError> {
    let Some(text) = properties.take_text("mode")? else {
        return Ok(None);
    };
    let mode = u32::from_str_radix(&text, 8).ok();
    let is_octal = (3..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let mode = mode.filter(|_| is_octal);
    mode.map(Some).ok_or_else(|| {
        let text = Escaped::shortened(&text);
        let message = format!("`mode` must be three or four octal digits, not `{text}`");
        properties
            .invalid("mode", message)
            .hint("write it as in 0644")
    })
}
