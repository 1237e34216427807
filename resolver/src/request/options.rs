//! What the solver may do.

use jiff::Timestamp;

/// How prereleases compare with stable versions. Matching is not affected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PrereleasePolicy {
    /// Stable versions come first, then prereleases; but simply the newest first as soon as a
    /// requirement that is present names a prerelease.
    #[default]
    IfNecessary,
    /// The newest comes first, prerelease or not.
    Allow,
    /// Prereleases are no candidates unless a lockfile holds them.
    Never,
}

/// Which version is the better one of two stable versions, or of two prereleases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preference {
    /// The newer one.
    #[default]
    Newest,
    /// The older one: what a package says that it works with is put to the test.
    Oldest,
}

/// Which engine searches. An [update](crate::Request::update) and the search for
/// [repairs](crate::Conflict::repairs) are the native engine's whichever it is, because only that one
/// can be told what stays and what is to allow more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Engine {
    /// The engine of our own.
    #[default]
    Native,
    /// The `pubgrub` crate: a second opinion, with the cargo feature of that name.
    #[cfg(feature = "pubgrub")]
    Pubgrub,
}

impl Engine {
    /// Whether a search goes on where it was after a delivery, rather than starting anew.
    pub(crate) fn is_resumable(self) -> bool {
        matches!(self, Self::Native)
    }
}

/// What the solver may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SolveOptions {
    /// How prereleases compare.
    pub prerelease: PrereleasePolicy,
    /// Whether newer versions are better, or older ones.
    pub prefer: Preference,
    /// Releases that were published at this time or later are no candidates unless they are locked.
    /// A release without a date of publication is taken for old, and one whose date cannot be read
    /// for new ([`is_published_before`](pkgres_manifest::IndexRecord::is_published_before)).
    pub exclude_newer: Option<Timestamp>,
    /// Whether several releases of a package are out of the question.
    pub single_version: bool,
    /// After how many steps the solver gives up. A step is a decision, a conflict, or a release that is
    /// ruled out before it could be decided on.
    pub max_steps: u64,
    /// After how many conflicts a search settles for a locally best resolution: one in which no
    /// release can be exchanged for a better one with all others kept. The best resolution in the
    /// order of decisions can be out of reach where some resolution is not. 1,000 unless told
    /// otherwise.
    pub conflict_limit: u64,
    /// Which engine searches. [Updates](crate::Request::update), and which
    /// [reasons](crate::Conflict::reasons) are needed and what would [repair](crate::Conflict::repairs)
    /// a conflict, are always the native engine's.
    pub engine: Engine,
}

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            prerelease: PrereleasePolicy::default(),
            prefer: Preference::default(),
            exclude_newer: None,
            single_version: false,
            max_steps: 10_000_000,
            conflict_limit: 1000,
            engine: Engine::default(),
        }
    }
}
