//! The rules of resolution. Each can be switched off, to measure whether it decides an answer.

use std::fmt;

/// The rules that apply: all by default.
// One independent switch for each rule: an enum could not express the combinations.
#[allow(clippy::struct_excessive_bools)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Rule 1: a bound version is inside the requirer's spec. Otherwise any version is.
    pub specs: bool,
    /// Rule 2: every extended name is found. Otherwise missing names are skipped.
    pub classes: bool,
    /// Rule 3, first half: no class extends itself, directly or through others.
    pub cycles: bool,
    /// Rule 3, second half: no class reaches two classes of one name.
    pub diamonds: bool,
    /// Second tier: packages may have several releases if one of each is impossible.
    pub second_tier: bool,
    /// The lock is used. Otherwise it is ignored.
    pub locks: bool,
    /// The first required release that defines a class provides it. Otherwise the last does.
    pub lookup_order: bool,
    /// A yanked release is a candidate only if it is locked. Otherwise yanking has no effect.
    pub yanks: bool,
    /// The prerelease policy orders candidates. Otherwise the newest is the best.
    pub prerelease_order: bool,
    /// A release that is a candidate only because it is kept is tried last. Otherwise it is ordered like
    /// any other.
    pub last_resort: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            specs: true,
            classes: true,
            cycles: true,
            diamonds: true,
            second_tier: true,
            locks: true,
            lookup_order: true,
            yanks: true,
            prerelease_order: true,
            last_resort: true,
        }
    }
}

/// One of the switches of [`Rules`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// [`Rules::specs`]
    Specs,
    /// [`Rules::classes`]
    Classes,
    /// [`Rules::cycles`]
    Cycles,
    /// [`Rules::diamonds`]
    Diamonds,
    /// [`Rules::second_tier`]
    SecondTier,
    /// [`Rules::locks`]
    Locks,
    /// [`Rules::lookup_order`]
    LookupOrder,
    /// [`Rules::yanks`]
    Yanks,
    /// [`Rules::prerelease_order`]
    PrereleaseOrder,
    /// [`Rules::last_resort`]
    LastResort,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 10] = [
        Self::Specs,
        Self::Classes,
        Self::Cycles,
        Self::Diamonds,
        Self::SecondTier,
        Self::Locks,
        Self::LookupOrder,
        Self::Yanks,
        Self::PrereleaseOrder,
        Self::LastResort,
    ];
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Specs => "specs",
            Self::Classes => "classes",
            Self::Cycles => "cycles",
            Self::Diamonds => "diamonds",
            Self::SecondTier => "second tier",
            Self::Locks => "locks",
            Self::LookupOrder => "lookup order",
            Self::Yanks => "yanks",
            Self::PrereleaseOrder => "prerelease order",
            Self::LastResort => "last resort",
        })
    }
}

impl Rules {
    /// All rules but one.
    pub fn without(rule: Rule) -> Self {
        let mut rules = Self::default();
        let switch = match rule {
            Rule::Specs => &mut rules.specs,
            Rule::Classes => &mut rules.classes,
            Rule::Cycles => &mut rules.cycles,
            Rule::Diamonds => &mut rules.diamonds,
            Rule::SecondTier => &mut rules.second_tier,
            Rule::Locks => &mut rules.locks,
            Rule::LookupOrder => &mut rules.lookup_order,
            Rule::Yanks => &mut rules.yanks,
            Rule::PrereleaseOrder => &mut rules.prerelease_order,
            Rule::LastResort => &mut rules.last_resort,
        };
        *switch = false;
        rules
    }
}
