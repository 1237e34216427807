//! Requirements that pkgres writes or suggests.

use std::path::Path;

use pkgres_manifest::{PackageName, Spec, Version};
use pkgres_resolver::{Conflict, Repair};

use crate::invocation::Invocation;

/// The spec of the versions that are compatible with one under Semantic Versioning; only that version if they do
/// not include it, as for some prereleases.
pub(crate) fn compatible(version: &Version) -> Spec {
    let version = version.without_build();
    let compatible = Spec::parse(&format!("^{version}")).ok();
    let compatible = compatible.filter(|spec| spec.matches(&version));
    compatible.unwrap_or_else(|| Spec::exactly(&version))
}

/// Adds a command to each repair that changes a requirement in the manifest of the root.
pub(crate) fn add_commands(conflict: &mut Conflict, root: &PackageName, invocation: &Invocation) {
    // These commands solve with a manifest that was not written.
    if invocation.is("add") || invocation.is("remove") {
        return;
    }
    let is_own = |repair: &&mut Repair| repair.owner == *root && !repair.is_override;
    for repair in conflict.repairs.iter_mut().filter(is_own) {
        // An implied requirement has no location: there is nothing to change.
        let Some(location) = &repair.location else {
            continue;
        };
        let words = format!("add {}@{}", repair.package, compatible(&repair.allow));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compatible_specs_match_their_version() {
        let compatible_with = |text: &str| {
            let version = Version::parse(text).expect("a version");
            let spec = compatible(&version);
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
