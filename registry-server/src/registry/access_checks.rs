//! Checks and errors that several operations share.

use pkgres_manifest::{PackageName, Version};

use crate::access::Principal;
use crate::database::{DatabaseError, Transaction};
use crate::problem::{Problem, ProblemCode};
use crate::store::packages;

/// An error if a package exists and belongs to others.
pub(super) fn require_owner(
    transaction: &mut dyn Transaction,
    principal: &Principal,
    name: &PackageName,
) -> Result<(), Problem> {
    if principal.is_admin() {
        return Ok(());
    }
    let owners = packages::owners(transaction, name)?;
    if owners.is_empty() || owners.contains(&principal.owner) {
        return Ok(());
    }
    let detail = format!("{name} belongs to others than {}", principal.owner);
    Err(Problem::new(ProblemCode::NotOwner, detail))
}

/// Why a principal may not see a release of the catalog, if it is so. A release that is not public is for the owners of
/// its package, if their token is for it.
pub(super) fn why_hidden(
    transaction: &mut dyn Transaction,
    principal: Option<&Principal>,
    name: &PackageName,
    is_public: bool,
) -> Result<Option<Problem>, DatabaseError> {
    if is_public {
        return Ok(None);
    }
    let Some(principal) = principal else {
        let detail = "this release is not public: a token is needed";
        return Ok(Some(Problem::new(ProblemCode::Unauthorized, detail)));
    };
    if !principal.is_admin() && !packages::owners(transaction, name)?.contains(&principal.owner) {
        let detail = format!("this release of {name} is not public");
        return Ok(Some(Problem::new(ProblemCode::NotOwner, detail)));
    }
    Ok(principal.require_to_see(name).err())
}

/// The problem that there is no package with a name.
pub(crate) fn no_such_package(name: &PackageName) -> Problem {
    Problem::new(
        ProblemCode::NoSuchPackage,
        format!("there is no package {name}"),
    )
}

/// The problem that there is no release: because there is no package, or not the version.
pub(super) fn no_such_version(
    transaction: &mut dyn Transaction,
    name: &PackageName,
    version: &Version,
) -> Result<Problem, DatabaseError> {
    if packages::get(transaction, name)?.is_none() {
        return Ok(no_such_package(name));
    }
    let detail = format!("{name} has no version {version}");
    Ok(Problem::new(ProblemCode::NoSuchVersion, detail))
}

/// The problem that the catalog has no release with an id.
pub(super) fn no_such_entry() -> Problem {
    let detail = "the catalog has no package with this id";
    Problem::new(ProblemCode::NoSuchEntry, detail)
}
