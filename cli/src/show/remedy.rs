//! Commands that do what would mend a conflict.

use std::path::Path;

use pkgres_manifest::PackageName;
use pkgres_resolver::{Conflict, Repair};

use crate::compatible::compatible;
use crate::given;

/// Adds to what would mend a conflict the command that does it, where a requirement of the project has to
/// change that is written in its manifest.
pub(crate) fn add_commands(conflict: &mut Conflict, root: &PackageName) {
    // These are about a manifest that was not written.
    if given::is("add") || given::is("remove") {
        return;
    }
    let is_own = |repair: &&mut Repair| repair.owner == *root && !repair.is_override;
    for repair in conflict.repairs.iter_mut().filter(is_own) {
        // What is implied is not written anywhere.
        let Some(location) = &repair.location else {
            continue;
        };
        let words = format!("add {}@{}", repair.package, compatible(&repair.allow));
        let command = given::command_for(&words, Path::new(location.source().name()));
        let text = format!("{}: `{command}`", repair.text);
        for hint in conflict
            .hints
            .iter_mut()
            .filter(|hint| hint.text == repair.text)
        {
            hint.text.clone_from(&text);
        }
        repair.text = text;
    }
}
