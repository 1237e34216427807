//! The rules that classify differences between the classes of two versions as major, minor or patch.

use std::fmt;

/// The impact of a difference on dependants of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Impact {
    /// Dependants do not notice it.
    Patch,
    /// There is something new to use.
    Minor,
    /// Whether dependants break cannot be decided from the declarations: a person has to decide.
    Review,
    /// Dependants that were right before can break.
    Major,
}

impl fmt::Display for Impact {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Patch => "patch",
            Self::Minor => "minor",
            Self::Review => "review",
            Self::Major => "major",
        })
    }
}

/// Defines an enum of rules, each with its documentation, stable id, impact and title.
macro_rules! define_rules {
    (
        $(#[$attribute:meta])*
        $rules:ident;
        $($(#[doc = $documentation:literal])+ $name:ident = $id:literal, $impact:ident, $title:literal;)+
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $rules {
            $($(#[doc = $documentation])+ $name,)+
        }

        impl $rules {
            /// All rules, those with the gravest impact first.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The stable id, such as `class-removed`.
            pub fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// The impact of a difference of this kind on dependants.
            pub fn impact(self) -> $crate::api::Impact {
                match self { $(Self::$name => $crate::api::Impact::$impact,)+ }
            }

            /// The kind of difference in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }

            /// Why the difference has its impact, in a few sentences.
            pub fn explanation(self) -> &'static str {
                match self { $(Self::$name => concat!($($documentation, "\n"),+),)+ }
            }

            /// The rule with an id.
            pub fn with_id(id: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|rule| rule.id() == id)
            }
        }

        impl std::fmt::Display for $rules {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.id())
            }
        }
    };
}
pub(crate) use define_rules;

define_rules! {
    /// A rule for one kind of difference between the classes of two versions.
    ///
    /// An id never changes its meaning. The page [compatibility](https://pkgres.org/compatibility.html) of the
    /// guide has an example of each rule.
    ApiRule;
    /// A class that other packages could see is no longer listed in the manifest. Classes that extend it cannot be
    /// loaded, and no object of it can be created.
    ClassRemoved = "class-removed", Major, "a class was removed";
    /// A class of objects became a meta class, or the reverse. A class of objects cannot extend a meta class, and only
    /// meta classes can describe other classes under `Meta`.
    ClassUsageChanged = "class-usage-changed", Major, "the usage of a class changed";
    /// A class no longer declares a method, and none of its ancestors has it. Calls of the method fail.
    MethodRemoved = "method-removed", Major, "a method was removed";
    /// A class no longer declares a property, and none of its ancestors has it. Code that reads the property fails,
    /// and objects that have a value for it cannot be loaded.
    PropertyRemoved = "property-removed", Major, "a property was removed";
    /// A method no longer has an argument. Calls with a value for it fail.
    ArgumentRemoved = "argument-removed", Major, "an argument was removed";
    /// An argument was renamed, and nothing else changed. Calls by position still work; calls by name fail.
    ArgumentRenamed = "argument-renamed", Major, "an argument was renamed";
    /// A method has a new argument without `Default`, or a class has a new `.init` with such an argument. All existing calls, or all
    /// existing code that creates objects, fail, because they have no value for it.
    RequiredArgumentAdded = "required-argument-added", Major, "an argument without default was added";
    /// An argument lost its `Default`. Calls without a value for it fail.
    ArgumentBecameRequired = "argument-became-required", Major, "the default of an argument was removed";
    /// An argument moved, so a call by position sets a different argument than before.
    ArgumentMoved = "argument-moved", Major, "an argument moved";
    /// A class has a new property that is set when an object is created, has no `Default` and does not accept null.
    /// Existing objects, and code that creates objects, have no value for it.
    RequiredPropertyAdded = "required-property-added", Major, "a property without default was added";
    /// A property that needed no value before needs one now: it lost its `Default`, or it was not set from outside
    /// before.
    PropertyBecameRequired = "property-became-required", Major, "a property needs a value now";
    /// The contract of a property or an argument changed. pkgres cannot compare contracts, so a person has to decide
    /// whether the new one accepts every value that the old one accepted.
    ContractChanged = "contract-changed", Review, "a contract changed";
    /// The arguments changed so that calls need not fail, but may mean something else: an optional argument was
    /// inserted before others, a new argument takes values that went to `VarArgs` or `KwArgs` before, or these now take
    /// the value of a removed argument.
    ArgumentsChanged = "arguments-changed", Review, "arguments changed their meaning";
    /// The usage or the scope of a method changed. Calls that worked before may fail, such as calls without an
    /// object, as an extension of another class, or from outside.
    MethodUsageChanged = "method-usage-changed", Review, "the usage of a method changed";
    /// The usage of a property changed. It may no longer be possible to set it from outside, or to assign to it.
    PropertyUsageChanged = "property-usage-changed", Review, "the usage of a property changed";
    /// A new property has no `Default`, and its contract has a part that pkgres cannot evaluate, so it may or may not
    /// accept null.
    PropertyPerhapsRequired = "property-perhaps-required", Review, "a new property may need a value";
    /// A property that needs no value lost its `Default` or gained one, so an object that does not set it now gets a
    /// different value.
    PropertyDefaultChanged = "property-default-changed", Review, "a property that needs no value lost or gained its default";
    /// A class no longer declares a member. It may still inherit it from an ancestor that is not available, so the
    /// member may or may not have been removed.
    MemberPerhapsRemoved = "member-perhaps-removed", Review, "a member may have been removed";
    /// A class no longer inherits from another one. An object of the class is no longer accepted where a contract names
    /// the ancestor; pkgres cannot know whether there is such an object: that depends on object models and on running
    /// code.
    AncestorLost = "ancestor-lost", Review, "a class lost an ancestor";
    /// A meta class can be attached in other ways than before: `Applies` lost a kind of thing that it can describe,
    /// `Cardinality` changed, or `Inherited` did. Packages that attach it to such a thing, or several times, can no longer be
    /// loaded, and code that reads the meta objects of a class may find others.
    MetaAttachmentChanged = "meta-attachment-changed", Review, "the use of a meta class changed";
    /// There is a new class, to which no existing code refers. If a different package already has a class of this
    /// name, object models may have to name the package (PK0061).
    ClassAdded = "class-added", Minor, "a class was added";
    /// There is a new method.
    MethodAdded = "method-added", Minor, "a method was added";
    /// There is a new property, and objects need no value for it.
    PropertyAdded = "property-added", Minor, "a property was added";
    /// A class extends different classes than before. Ancestors and members that it lost are reported separately.
    ExtendsChanged = "extends-changed", Minor, "the parents of a class changed";
    /// A meta class can describe more kinds of things than before.
    MetaAppliesMore = "meta-applies-more", Minor, "a meta class can describe more";
    /// A method has a new argument that calls do not need.
    OptionalArgumentAdded = "optional-argument-added", Patch, "an argument with default was added";
    /// An argument or a property that needed a value before has a `Default` now.
    DefaultAdded = "default-added", Patch, "a default was added";
}
