//! Reads the properties of each kind, and makes the resource from them.

use pkgres_manifest::diagnostic::Escaped;
use pkgres_manifest::{Properties, PropertyErrors};

use super::accounts::{check_field, check_name};
use super::package_files::FilesOfPackage;
use super::property_values::{
    check_account, require_path, take_account, take_command, take_id, take_mode, take_output,
    take_path, take_place, take_required_command, takes_absence, takes_directory_absence, valid,
};
use super::{Directory, Exec, File, Group, Guard, Link, Package, Query, Service, User};
use crate::resource::Account;

pub(super) fn read_file(
    name: &str,
    properties: &mut Properties,
    files: FilesOfPackage<'_>,
) -> Result<File, PropertyErrors> {
    require_path("file", name, properties)?;
    let mut file = File::new(name);
    if takes_absence("file", properties)? {
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
        file = file.with_bytes(files.read(properties, "source", &source)?);
    }
    if let Some(path) = take_path("copy_of", properties)? {
        if file.has_content() {
            let message = "`copy_of` and `content` or `source` both say what is in the file";
            return Err(properties.invalid("copy_of", message).into());
        }
        file = file.with_copy_of(path);
    }
    if properties.take_bool("parents")? == Some(true) {
        file = file.with_parents();
    }
    if let Some(mode) = take_mode(properties)? {
        file = file.with_mode(mode);
    }
    if let Some(owner) = take_account("owner", properties)? {
        file = file.with_owner(owner);
    }
    if let Some(group) = take_account("group", properties)? {
        file = file.with_group(group);
    }
    Ok(file)
}

pub(super) fn read_directory(
    name: &str,
    properties: &mut Properties,
) -> Result<Directory, PropertyErrors> {
    require_path("directory", name, properties)?;
    let mut directory = Directory::new(name);
    if takes_directory_absence(&mut directory, properties)? {
        if name == "/" {
            let message = "the folder `/` cannot be absent";
            return Err(properties.invalid("state", message).into());
        }
        return Ok(directory);
    }
    if properties.take_bool("parents")? == Some(true) {
        directory = directory.with_parents();
    }
    if let Some(mode) = take_mode(properties)? {
        directory = directory.with_mode(mode);
    }
    if let Some(owner) = take_account("owner", properties)? {
        directory = directory.with_owner(owner);
    }
    if let Some(group) = take_account("group", properties)? {
        directory = directory.with_group(group);
    }
    Ok(directory)
}

pub(super) fn read_link(name: &str, properties: &mut Properties) -> Result<Link, PropertyErrors> {
    require_path("link", name, properties)?;
    if takes_absence("link", properties)? {
        return Ok(Link::absent(name));
    }
    let target = properties.take_required_text("target")?;
    // No system has a link with such a target.
    if target.is_empty() || target.contains('\0') {
        let target = Escaped::shortened(&target);
        let message = format!("`target` must be a path, not `{target}`");
        return Err(properties.invalid("target", message).into());
    }
    let link = Link::new(name, target);
    Ok(match properties.take_bool("parents")? {
        Some(true) => link.with_parents(),
        _ => link,
    })
}

pub(super) fn read_package(
    name: &str,
    properties: &mut Properties,
) -> Result<Package, PropertyErrors> {
    let package = Package::new(name);
    valid("package", package.validate(), properties)?;
    if takes_absence("package", properties)? {
        return Ok(package.absent());
    }
    let Some(version) = properties.take_text("version")? else {
        return Ok(package);
    };
    let package = package.with_version(version);
    valid("version", package.validate(), properties)?;
    Ok(package)
}

pub(super) fn read_group(name: &str, properties: &mut Properties) -> Result<Group, PropertyErrors> {
    valid("group", check_name(Account::Group, name), properties)?;
    let mut group = Group::new(name);
    if takes_absence("group", properties)? {
        return Ok(group.absent());
    }
    if let Some(number) = take_id("number", properties)? {
        group = group.with_number(number);
    }
    if properties.take_bool("system")? == Some(true) {
        group = group.system();
    }
    Ok(group)
}

pub(super) fn read_user(name: &str, properties: &mut Properties) -> Result<User, PropertyErrors> {
    valid("user", check_name(Account::User, name), properties)?;
    let mut user = User::new(name);
    if takes_absence("user", properties)? {
        return Ok(user.absent());
    }
    if let Some(number) = take_id("number", properties)? {
        user = user.with_number(number);
    }
    if let Some(group) = take_account("group", properties)? {
        user = user.with_group(group);
    }
    if let Some(groups) = properties.take_texts("groups")? {
        for group in &groups {
            check_account("groups", group, properties)?;
        }
        user = user.with_groups(groups);
    }
    if let Some(groups) = properties.take_texts("only_groups")? {
        if properties.has_taken("groups") {
            let message = "`groups` and `only_groups` both say which groups the user is in";
            return Err(properties.invalid("only_groups", message).into());
        }
        user = user.with_only_groups(groups);
    }
    if let Some(home) = take_place("home", properties)? {
        user = user.with_home(home);
    }
    if let Some(shell) = take_place("shell", properties)? {
        valid("shell", check_field("shell", &shell), properties)?;
        user = user.with_shell(shell);
    }
    if let Some(comment) = properties.take_text("comment")? {
        valid("comment", check_field("comment", &comment), properties)?;
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
    if let Some(path) = take_path("creates", properties)? {
        guards.push(Guard::creates(path));
    }
    // A guard that hangs would stop a plan.
    let timeout = command.timeout;
    if let Some(command) = take_command("unless", properties)? {
        guards.push(Guard::Unless(command.timeout(timeout)));
    }
    if let Some(command) = take_command("only_if", properties)? {
        guards.push(Guard::OnlyIf(command.timeout(timeout)));
    }
    if properties.take_bool("on_refresh")? == Some(true) {
        guards.push(Guard::OnRefresh);
    }
    let mut exec = Exec::guarded(command, guards, properties)?;
    if let Some(output) = take_output(properties)? {
        exec = exec.with_output(output);
    }
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
    let query = Query::new(take_required_command(properties)?);
    Ok(match take_output(properties)? {
        Some(output) => query.with_output(output),
        None => query,
    })
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
    let service = match properties.take_bool("enabled")? {
        None => service,
        Some(true) => service.enabled(),
        Some(false) => service.disabled(),
    };
    let receives = properties.is_received("enabled");
    valid("service", service.validate_receiving(receives), properties)?;
    Ok(service)
}
