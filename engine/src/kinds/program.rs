//! What commands need of other resources.

use std::path::Path;

use crate::resource::{Identifier, Wish};
use crate::target::Command;

/// The file of a program, the user and group that it runs as, and its folder have to be there first.
pub(super) fn program_wishes(command: &Command) -> Vec<Wish> {
    let program = Path::new(&command.program);
    let alternatives = if program.is_absolute() {
        vec![Identifier::path(program)]
    } else {
        let path = command.variables.get("PATH").map_or("", String::as_str);
        let folders = path.split(':').filter(|folder| folder.starts_with('/'));
        folders
            .map(|folder| Identifier::path(Path::new(folder).join(program)))
            .collect()
    };
    let program = Wish {
        relation: crate::resource::Relation::After,
        alternatives,
    };
    let user = command.user.clone().map(Identifier::User);
    let group = command.group.clone().map(Identifier::Group);
    let mut wishes = vec![program, Wish::after(Identifier::path(&command.folder))];
    wishes.extend(user.into_iter().chain(group).map(Wish::after));
    wishes
}
