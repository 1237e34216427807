//! How messages name the source of a release.

use pkgres_manifest::ReleaseSource;

use crate::registries::is_override;
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// A source as messages name it after its package; the default registry is "the registry".
pub(crate) fn registry_title(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if name.is_default() => "the registry".to_owned(),
        ReleaseSource::Registry(name) if name.as_str() == WORKSPACE => "the workspace".to_owned(),
        ReleaseSource::Registry(name) if is_override(name) => "its override".to_owned(),
        ReleaseSource::Registry(name) => format!("the registry `{name}`"),
        source => format!("`{source}`"),
    }
}

/// A source in a table or list: its name, except that nobody gave one to the folder of an override.
pub(crate) fn listed_source(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if is_override(name) => "override".to_owned(),
        source => source.to_string(),
    }
}

/// A source beside another one, so that "the registry" would not say which one.
pub(crate) fn distinct_title(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Registry(name) if name.is_default() => {
            "a registry without a name".to_owned()
        }
        source => registry_title(source),
    }
}

/// A source after the release that comes from it.
pub(crate) fn from_source(source: &ReleaseSource) -> String {
    match source {
        ReleaseSource::Host => "from the host".to_owned(),
        ReleaseSource::BuiltIn => "that is built into pkgres".to_owned(),
        source @ ReleaseSource::Registry(_) => format!("from {}", registry_title(source)),
    }
}
