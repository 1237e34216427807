//! The lines of a report about a stale lockfile: one for each difference.

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{
    ArtifactDigest, CapabilityChange, CapabilityChangeKind, ClassName, LockedCapability,
    PackageName, Release, ReleaseSource, Spec, Version,
};
use pkgres_resolver::Staleness;

use super::source_title::{distinct_title, registry_title};
use crate::registries::is_override;
use crate::workspace::REGISTRY_NAME as WORKSPACE;

/// A difference as a line of a report.
pub(super) struct Line<'s> {
    /// The kind of difference in JSON.
    pub(super) kind: &'static str,
    pub(super) mark: char,
    /// The package that it is about, if it is about one.
    pub(super) package: Option<&'s PackageName>,
    pub(super) text: String,
}

impl<'s> Line<'s> {
    pub(super) fn of(entry: &'s Staleness) -> Self {
        Self {
            kind: kind(entry),
            mark: mark(entry),
            package: package(entry),
            text: text(entry),
        }
    }
}

/// The kind of a difference in JSON.
fn kind(entry: &Staleness) -> &'static str {
    match entry {
        Staleness::RootNotLocked(_) => "root_not_locked",
        Staleness::ModelNotLocked => "model_not_locked",
        Staleness::NotARoot(_) => "not_a_root",
        Staleness::RequirementAdded { .. } => "requirement_added",
        Staleness::RequirementRemoved { .. } => "requirement_removed",
        Staleness::RequirementChanged { .. } => "requirement_changed",
        Staleness::OverrideChanged { .. } => "override_changed",
        Staleness::Gone { .. } => "gone",
        Staleness::SourceDiffers { .. } => "source_differs",
        Staleness::DigestDiffers { .. } => "digest_differs",
        Staleness::NotBound { .. } => "not_bound",
        Staleness::NotAllowed { .. } => "not_allowed",
        Staleness::NotRequired { .. } => "not_required",
        Staleness::ClassNotFound { .. } => "class_not_found",
        Staleness::InheritsTwice { .. } => "inherits_twice",
        Staleness::ClassCycle(_) => "class_cycle",
        Staleness::SeveralReleases { .. } => "several_releases",
        Staleness::NotSideBySide(_) => "not_side_by_side",
        Staleness::NotReached { .. } => "not_reached",
        Staleness::CapabilityChanged(_) => "capability_changed",
    }
}

/// The mark of a difference: `+` for what is new, `-` for what is gone, `~` for what changed.
fn mark(entry: &Staleness) -> char {
    match entry {
        Staleness::RootNotLocked(_)
        | Staleness::ModelNotLocked
        | Staleness::RequirementAdded { .. }
        | Staleness::NotBound { .. } => '+',
        Staleness::NotARoot(_)
        | Staleness::RequirementRemoved { .. }
        | Staleness::NotRequired { .. }
        | Staleness::NotReached { .. } => '-',
        Staleness::RequirementChanged { .. }
        | Staleness::SourceDiffers { .. }
        | Staleness::DigestDiffers { .. }
        | Staleness::NotAllowed { .. }
        | Staleness::ClassNotFound { .. }
        | Staleness::InheritsTwice { .. }
        | Staleness::ClassCycle(_)
        | Staleness::SeveralReleases { .. }
        | Staleness::NotSideBySide(_) => '~',
        Staleness::CapabilityChanged(change) => match change.kind {
            CapabilityChangeKind::Added => '+',
            CapabilityChangeKind::Removed => '-',
            CapabilityChangeKind::DefinedBy { .. } | CapabilityChangeKind::Function { .. } => '~',
        },
        Staleness::OverrideChanged { locked, spec, .. } => match (locked, spec) {
            (_, None) => '-',
            (None, Some(_)) => '+',
            (Some(_), Some(_)) => '~',
        },
        Staleness::Gone {
            package,
            found,
            newest,
            ..
        } => match replacement_place(package, found.as_ref()).zip(newest.as_ref()) {
            Some(_) => '~',
            None => '-',
        },
    }
}

/// The package that a difference is about, if it is about one.
fn package(entry: &Staleness) -> Option<&PackageName> {
    match entry {
        Staleness::RootNotLocked(package)
        | Staleness::NotARoot(package)
        | Staleness::NotSideBySide(package)
        | Staleness::RequirementAdded { package, .. }
        | Staleness::RequirementRemoved { package, .. }
        | Staleness::RequirementChanged { package, .. }
        | Staleness::OverrideChanged { package, .. }
        | Staleness::Gone { package, .. }
        | Staleness::SourceDiffers { package, .. }
        | Staleness::DigestDiffers { package, .. }
        | Staleness::NotBound { package, .. }
        | Staleness::NotAllowed { package, .. }
        | Staleness::NotRequired { package, .. }
        | Staleness::ClassNotFound { owner: package, .. }
        | Staleness::SeveralReleases { package, .. }
        | Staleness::NotReached { package, .. } => Some(package),
        Staleness::CapabilityChanged(change) => Some(&change.implementation.package),
        Staleness::ModelNotLocked | Staleness::InheritsTwice { .. } | Staleness::ClassCycle(_) => {
            None
        }
    }
}

/// The text of a difference.
fn text(entry: &Staleness) -> String {
    match entry {
        Staleness::RootNotLocked(root) => format!("{root} is not in the lockfile"),
        Staleness::ModelNotLocked => "the object model is not in the lockfile".to_owned(),
        Staleness::NotARoot(root) => format!("{root} is in the lockfile, but is not a root"),
        Staleness::RequirementAdded {
            root,
            package,
            spec,
            location,
        } => {
            let place = at(location.as_ref());
            format!("{package} {spec} is required by {root}{place}, but not in the lockfile")
        }
        Staleness::RequirementRemoved { root, package } => {
            format!("{package} is no longer required by {root}")
        }
        Staleness::RequirementChanged {
            root,
            package,
            locked,
            spec,
            location,
        } => {
            let place = at(location.as_ref());
            format!("{root} requires {package} {spec}{place}, locked with {locked}")
        }
        Staleness::OverrideChanged {
            package,
            locked,
            spec,
        } => override_change(package, locked.as_ref(), spec.as_ref()),
        Staleness::Gone { .. } => gone(entry),
        Staleness::SourceDiffers {
            package,
            version,
            locked,
            found,
        } => source_change(package, version, locked, found),
        Staleness::DigestDiffers {
            package,
            version,
            locked,
            found,
        } => {
            let (found, locked) = (digest(found.as_ref()), digest(locked.as_ref()));
            format!("{package} {version} has the digest {found}, not {locked}")
        }
        Staleness::NotBound {
            owner,
            owner_version,
            package,
        } => format!("{package} is required by {owner} {owner_version}, but not in the lockfile"),
        Staleness::NotAllowed { .. } => not_allowed(entry),
        Staleness::NotRequired {
            owner,
            owner_version,
            package,
        } => format!("{package} is not required by {owner} {owner_version}"),
        Staleness::ClassNotFound {
            owner,
            owner_version,
            class,
        } => class_not_found(owner, owner_version, class),
        Staleness::InheritsTwice { class, inherited } => inherits_twice(class, inherited),
        Staleness::ClassCycle(classes) => {
            let names: Vec<&str> = classes.iter().map(ClassName::as_str).collect();
            format!("classes extend each other: {}", names.join(", "))
        }
        Staleness::SeveralReleases { package, versions } => several_releases(package, versions),
        Staleness::NotSideBySide(package) => {
            format!("{package} is listed as side by side, and does not have several releases")
        }
        Staleness::NotReached { package, version } => {
            format!("{package} {version} is no longer needed")
        }
        Staleness::CapabilityChanged(change) => capability_change(change),
    }
}

/// The text of a change of a class that implements an interface.
fn capability_change(change: &CapabilityChange) -> String {
    let (class, interface) = (
        &change.implementation.class,
        &change.implementation.interface,
    );
    let status = |capability: &Option<LockedCapability>| match capability {
        Some(capability) => format!("`{capability}`"),
        None => "unknown".to_owned(),
    };
    match &change.kind {
        CapabilityChangeKind::Added => format!("{class} implements {interface}"),
        CapabilityChangeKind::Removed => format!("{class} no longer implements {interface}"),
        CapabilityChangeKind::DefinedBy { locked, now } => {
            let now = now.as_ref().map_or_else(
                || "is not found".to_owned(),
                |Release { name, version }| format!("comes from {name} {version}"),
            );
            let Release { name, version } = locked;
            format!(
                "{interface}, which {class} implements, {now}, locked with that of {name} {version}"
            )
        }
        CapabilityChangeKind::Function { name, locked, now } => format!(
            "{class}: the function `{name}` of {interface} is {}, locked as {}",
            status(now),
            status(locked)
        ),
    }
}

/// The text of a change of an override.
fn override_change(package: &PackageName, locked: Option<&Spec>, spec: Option<&Spec>) -> String {
    match (locked, spec) {
        (None, Some(spec)) => format!("{package} is overridden with {}", spec.in_words()),
        (_, None) => format!("{package} is no longer overridden"),
        (Some(locked), Some(spec)) => format!(
            "{package} is overridden with {}, locked with {}",
            spec.in_words(),
            locked.in_words()
        ),
    }
}

/// The text about a release that comes from another source now.
fn source_change(
    package: &PackageName,
    version: &Version,
    locked: &ReleaseSource,
    found: &ReleaseSource,
) -> String {
    let was = was_from(locked);
    let now = match found {
        ReleaseSource::BuiltIn => "is now the one that is built in".to_owned(),
        found => format!("now comes from {}", distinct_title(found)),
    };
    format!("{package} {version} {was} and {now}")
}

/// The text about a release that a requirement does [not allow](Staleness::NotAllowed).
fn not_allowed(entry: &Staleness) -> String {
    let Staleness::NotAllowed {
        owner,
        owner_version,
        package,
        spec,
        is_override,
        version,
        location,
    } = entry
    else {
        unreachable!("only called for what is not allowed");
    };
    let requires = if *is_override {
        "whose requirement is overridden with"
    } else {
        "which requires"
    };
    let (spec, place) = (spec.in_words(), at(location.as_ref()));
    format!(
        "{package} {version} is not allowed by {owner} {owner_version}, {requires} {spec}{place}"
    )
}

/// The text about a class or an interface that is not found.
fn class_not_found(owner: &PackageName, owner_version: &Version, class: &ClassName) -> String {
    let (subject, verb) = match class.interface_name() {
        Some(interface) => (format!("the interface {interface}"), "implements"),
        None => (format!("the class {class}"), "extends"),
    };
    format!("{subject}, which a class of {owner} {owner_version} {verb}, is not found")
}

/// The text about a class that inherits two versions of a class.
fn inherits_twice(class: &ClassName, inherited: &ClassName) -> String {
    match inherited.interface_name() {
        Some(interface) => format!("the class {class} implements {interface} twice"),
        None => format!("the class {class} inherits {inherited} twice"),
    }
}

/// The text about a package with several releases.
fn several_releases(package: &PackageName, versions: &[Version]) -> String {
    let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
    let versions = versions.join(", ");
    format!("{package} has the releases {versions}, but `--single-version` allows one")
}

/// The beginning of a sentence about the version that replaces a locked release, in a place with one version of each
/// package.
fn replacement_place(package: &PackageName, found: Option<&ReleaseSource>) -> Option<String> {
    match found? {
        ReleaseSource::Host => Some("the host now provides".to_owned()),
        ReleaseSource::Registry(name) if name.as_str() == WORKSPACE => {
            Some("the workspace now has".to_owned())
        }
        ReleaseSource::Registry(name) if is_override(name) => {
            Some(format!("the override of {package} now has"))
        }
        ReleaseSource::Registry(_) | ReleaseSource::BuiltIn => None,
    }
}

/// The text about a release that is [gone](Staleness::Gone).
fn gone(entry: &Staleness) -> String {
    let Staleness::Gone {
        package,
        version,
        locked,
        found,
        newest,
    } = entry
    else {
        unreachable!("only called for what is gone");
    };
    let release = format!("{package} {version}");
    let place = replacement_place(package, found.as_ref());
    if let Some((place_has, newest)) = place.zip(newest.as_ref()) {
        return format!("{release}: {place_has} {newest}");
    }
    let instead = newest.as_ref().map_or_else(String::new, |newest| {
        format!("; the newest there is {newest}")
    });
    match (locked, found) {
        (ReleaseSource::Host, None) => {
            format!("{release} was provided by the host, and nothing has it now")
        }
        (ReleaseSource::Registry(name), None) if name.as_str() == WORKSPACE => {
            format!("{release} is no longer a member of the workspace, and no registry has it")
        }
        (ReleaseSource::Registry(name), None) if is_override(name) => {
            format!("{release} {}, and no registry has it", was_from(locked))
        }
        (_, None) => format!("{release} is no longer in any registry"),
        (ReleaseSource::BuiltIn, Some(ReleaseSource::BuiltIn)) => {
            format!("{release} is no longer built in{instead}")
        }
        (_, Some(ReleaseSource::BuiltIn)) => {
            let newest = newest
                .as_ref()
                .map_or_else(String::new, |newest| format!(" {newest}"));
            let was = was_from(locked);
            format!(
                "{release} {was}, and nothing has it now; pkgres has {package}{newest} built in"
            )
        }
        (ReleaseSource::BuiltIn, Some(found)) => {
            let now = registry_title(found);
            format!("{release} was built in; {package} now comes from {now}{instead}")
        }
        (ReleaseSource::Host, Some(found)) => format!(
            "{release} was provided by the host; {package} now comes from {}, which does not have it",
            registry_title(found)
        ),
        (locked, Some(found)) if found == locked => {
            format!(
                "{release} is no longer in {}{instead}",
                registry_title(found)
            )
        }
        (locked, Some(found)) => format!(
            "{release} was locked from {}; {package} now comes from {}, which does not have it",
            distinct_title(locked),
            distinct_title(found)
        ),
    }
}

/// A position in parentheses; empty if there is none.
fn at(location: Option<&Location>) -> String {
    location
        .map(|location| format!(" ({location})"))
        .unwrap_or_default()
}

fn digest(digest: Option<&ArtifactDigest>) -> String {
    digest.map_or_else(|| "none".to_owned(), ToString::to_string)
}

/// Where a locked release came from, as a verb.
fn was_from(locked: &ReleaseSource) -> String {
    match locked {
        ReleaseSource::Host => "was provided by the host".to_owned(),
        ReleaseSource::BuiltIn => "was built in".to_owned(),
        source @ ReleaseSource::Registry(_) => {
            format!("was locked from {}", distinct_title(source))
        }
    }
}
