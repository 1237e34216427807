//! Requirements that pkgres writes or suggests.

use std::path::Path;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{PackageName, Spec};
use pkgres_resolver::{Conflict, Hint, SingleRepair};

use crate::invocation::Invocation;

/// Adds a command to each repair that changes a requirement in the manifest of the root.
pub(crate) fn add_commands(conflict: &mut Conflict, root: &PackageName, invocation: &Invocation) {
    // These commands solve with a manifest that was not written.
    if invocation.is("add") || invocation.is("remove") {
        return;
    }
    let is_own = |repair: &&mut SingleRepair| repair.owner == *root && !repair.is_override;
    for repair in conflict.repairs.iter_mut().filter(is_own) {
        // An implied requirement has no location: there is nothing to change.
        let Some(location) = &repair.location else {
            continue;
        };
        let words = format!(
            "add {}@{}",
            repair.package,
            Spec::compatible_with(&repair.allow)
        );
        let manifest = Path::new(location.source().name());
        let command = invocation.command_for_manifest(&words, manifest);
        let text = format!("{}: `{command}`", repair.text);
        let hints = conflict.hints.iter_mut();
        for hint in hints.filter(|hint| hint.text == repair.text) {
            hint.text.clone_from(&text);
        }
        repair.text = text;
    }
}

/// A hint for a conflict that no single change would repair, as far as that was tried.
pub(crate) fn repair_hint(conflict: &Conflict, invocation: &Invocation) -> Option<Hint> {
    // These commands solve for something else than the manifest as it is.
    let others = ["add", "remove", "update", "why-not"];
    let is_other = others.iter().any(|command| invocation.is(command));
    if is_other || invocation.is("repair") || !conflict.hints.is_empty() {
        return None;
    }
    (conflict.code == Code::NoVersion).then(|| {
        let command = invocation.command("repair");
        Hint::option(format!("`{command}` looks for changes that would help"))
    })
}

#[cfg(test)]
mod tests {
    use pkgres_manifest::{Spec, Version};

    #[test]
    fn compatible_specs_match_their_version() {
        let compatible_with = |text: &str| {
            let version = Version::parse(text).expect("a version");
            let spec = Spec::compatible_with(&version);
            assert!(spec.matches(&version), "{text}: {spec}");
            spec.to_string()
        };
        assert_eq!(compatible_with("1.2.3"), "^1.2.3");
        assert_eq!(compatible_with("0.3.0"), "^0.3.0");
        assert_eq!(compatible_with("1.2.3+build"), "^1.2.3");
        for prerelease in ["0.3.0-rc.1", "1.0.0-rc.1", "0.0.1-a"] {
            compatible_with(prerelease);
        }
    }
}
