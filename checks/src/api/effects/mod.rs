//! What other versions of required packages change for the classes of a package.
//!
//! The members that a class has from other packages in the old versions are compared with those in the new versions, by
//! the [rules](super::ApiRule) of [`compare_apis`](super::compare_apis). Only differences remain that concern the class
//! according to its own declarations: it extends or names a class, it declares the member itself, or a body uses the
//! member in one of the forms that need no interpretation (`$this.name` and `new(Class, ...)`). Contracts are texts.

mod changed_method;
mod created_class;
mod differing_members;
mod found;
mod inheritor;
mod search;

use std::fmt;

use pkgres_manifest::diagnostic::Location;
use pkgres_manifest::{ClassName, PackageName, Release};

use self::search::EffectSearch;
use super::ApiDifference;
use super::rules::Impact;
use crate::bound_packages::BoundPackages;

/// The way in which a class relies on something that another version of a package changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Reliance {
    /// It extends the class.
    Extends,
    /// It names the class: in a contract, to create an object, or as a meta class.
    Names,
    /// It declares the member itself.
    Declares,
    /// The body of a method calls the method.
    Calls,
    /// The body of a method uses the property.
    Uses,
    /// The body of a method creates an object.
    Creates,
    /// It inherits the property, so that its objects have it.
    Inherits,
    /// It does not work without it: it imports the module, or is another name for the plug-in.
    Needs,
    /// It extends the class through others.
    Descends,
    /// Its tasks set the option.
    Sets,
    /// Some of its tasks do not set the option.
    LeavesOut,
}

impl Reliance {
    /// The stable id, such as `calls`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Extends => "extends",
            Self::Names => "names",
            Self::Declares => "declares",
            Self::Calls => "calls",
            Self::Uses => "uses",
            Self::Creates => "creates",
            Self::Inherits => "inherits",
            Self::Needs => "needs",
            Self::Descends => "descends",
            Self::Sets => "sets",
            Self::LeavesOut => "leaves-out",
        }
    }
}

/// What the class does, to be written after its name.
impl fmt::Display for Reliance {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Extends => "extends it",
            Self::Names => "names it",
            Self::Declares => "has its own declaration",
            Self::Calls => "calls the method",
            Self::Uses => "uses the property",
            Self::Creates => "creates such an object",
            Self::Inherits => "inherits the property",
            Self::Needs => "needs it",
            Self::Descends => "inherits from it",
            Self::Sets => "sets it",
            Self::LeavesOut => "does not set it",
        })
    }
}

/// A difference between two versions of a package that concerns a class of a package that depends on it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct UpdateEffect {
    /// The difference.
    pub difference: ApiDifference,
    /// The package that declares what differs.
    pub package: PackageName,
    /// The class that it concerns.
    pub class: ClassName,
    /// The way in which the class relies on it.
    pub reliance: Reliance,
    /// The impact on the class: [major](Impact::Major) if something fails for certain, otherwise to
    /// [review](Impact::Review).
    pub impact: Impact,
    /// The places where the class relies on it, in the order of the file; never empty.
    pub places: Vec<Location>,
}

/// Finds the differences between two versions of required packages that concern the classes of a release. The gravest
/// come first.
///
/// `old` and `new` have the release, and what it is bound to before and after an update. Classes of packages that are
/// not available in both are not compared.
pub fn update_effects(
    release: &Release,
    old: &BoundPackages,
    new: &BoundPackages,
) -> Vec<UpdateEffect> {
    let package = old.releases.get(release);
    let package = package.and_then(|bound| bound.package.as_deref());
    let Some(classes) = package.and_then(|package| package.classes.as_ref()) else {
        return Vec::new();
    };
    let mut search = EffectSearch::new(release, old, new);
    for class in classes.values() {
        search.class(class);
    }
    search.found.into_sorted()
}
