//! What is taken in place of a pinned version that is gone.

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{ObjectId, ObjectModel, PackageName, Version};

/// What happens where a pinned version is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fallback {
    /// It is an error.
    #[default]
    Never,
    /// The newest of the same minor version is taken, else of the same major version; never an
    /// older one.
    Newer,
    /// Likewise, and an older one where there is no newer one.
    Any,
}

/// A pinned version that is gone, and what is taken instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Substitution {
    /// The object.
    pub object: ObjectId,
    /// Its package.
    pub package: PackageName,
    /// The version that is gone.
    pub gone: Version,
    /// The version that is taken instead.
    pub instead: Version,
}

/// Whether a pinned version is there; if not, what is taken instead.
pub(super) fn pinned(
    (model, object): (&ObjectModel, ObjectId),
    (package, version): (&PackageName, &Version),
    known: &[Version],
    fallback: Fallback,
) -> Result<Option<Substitution>, Diagnostic> {
    if known.contains(version) {
        return Ok(None);
    }
    let instead = match fallback {
        Fallback::Never => None,
        Fallback::Newer => instead_of(known, version, false),
        Fallback::Any => instead_of(known, version, true),
    };
    if let Some(instead) = instead {
        return Ok(Some(Substitution {
            object,
            package: package.clone(),
            gone: version.clone(),
            instead,
        }));
    }
    let shown = model.shown(object);
    let message = format!("the object {shown} is pinned to {package} {version}, which is gone");
    let mut error =
        Diagnostic::error(Code::ModelGone, message).at(model.object(object).location.clone());
    if let Some(nearest) = nearest(known, version) {
        error = error.hint(format!("the nearest version is {nearest}"));
        let helps = |older_too| instead_of(known, version, older_too).is_some();
        if fallback == Fallback::Never && helps(false) {
            error = error.hint("`--fallback` takes the newest of the same minor or major version");
        } else if fallback != Fallback::Any && helps(true) {
            error = error
                .hint("`--fallback --allow-older` takes an older one of the same major version");
        }
    } else {
        error = error.hint(format!("no registry has a package `{package}`"));
    }
    Err(error)
}

/// The newest of the same minor version, else of the same major version.
fn instead_of(known: &[Version], gone: &Version, older_too: bool) -> Option<Version> {
    let same_major = |version: &&Version| version.major() == gone.major();
    let same_minor = |version: &&Version| same_major(version) && version.minor() == gone.minor();
    let newer = |version: &&Version| *version > gone;
    let stable_first = |version: &&Version| (!version.is_prerelease(), (*version).clone());
    let pick = |fits: &dyn Fn(&&Version) -> bool| {
        known
            .iter()
            .filter(|version| fits(version))
            .max_by_key(stable_first)
            .cloned()
    };
    pick(&|version| same_minor(version) && newer(version))
        .or_else(|| pick(&|version| same_major(version) && newer(version)))
        .or_else(|| if older_too { pick(&same_minor) } else { None })
        .or_else(|| if older_too { pick(&same_major) } else { None })
}

/// The next newer version, else the next older one.
fn nearest<'version>(known: &'version [Version], gone: &Version) -> Option<&'version Version> {
    known
        .iter()
        .filter(|version| *version > gone)
        .min()
        .or_else(|| known.iter().filter(|version| *version < gone).max())
}
