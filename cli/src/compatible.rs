//! Which versions go with one, for requirements that are written for the user.

use pkgres_manifest::{Spec, Version};

/// The versions that are compatible with one, as Semantic Versioning has it; that version alone where these
/// do not hold it, as is so of prereleases.
pub(crate) fn compatible(version: &Version) -> Spec {
    let version = version.without_build();
    let compatible = Spec::parse(&format!("^{version}")).ok();
    let compatible = compatible.filter(|spec| spec.matches(&version));
    compatible.unwrap_or_else(|| Spec::exactly(&version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compatible_with_a_version_holds_it() {
        let compatible = |text: &str| {
            let version = Version::parse(text).expect("a version");
            let spec = compatible(&version);
            assert!(spec.matches(&version), "{text}: {spec}");
            spec.to_string()
        };
        assert_eq!(compatible("1.2.3"), "^1.2.3");
        assert_eq!(compatible("0.3.0"), "^0.3.0");
        assert_eq!(compatible("1.2.3+build"), "^1.2.3");
        for prerelease in ["0.3.0-rc.1", "1.0.0-rc.1", "0.0.1-a"] {
            compatible(prerelease);
        }
    }
}
