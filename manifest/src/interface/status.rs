//! The conformance statuses: whether a class implements a function of an interface, and if not, why.

use std::fmt;

macro_rules! statuses {
    ($($(#[doc = $documentation:literal])+ $name:ident = $word:literal,)+) => {
        /// Whether a class implements a function of an interface on a platform, and if not, why.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum ConformanceStatus {
            $($(#[doc = $documentation])+ $name,)+
        }

        impl ConformanceStatus {
            /// All of them.
            pub const ALL: [Self; 7] = [$(Self::$name,)+];

            /// The word for it in files, messages and arguments.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

statuses! {
    /// The class has the function, and every call that the interface allows is right.
    Implemented = "implemented",
    /// The class has the function, but some call that the interface allows is wrong.
    SignatureMismatch = "signature-mismatch",
    /// The class has the function, but the interface does not have it, or announces its removal.
    Deprecated = "deprecated",
    /// The class does not have the function, although it should.
    NotImplemented = "not-implemented",
    /// The class does not have the function, and the interface does not list the platform as one that supports it.
    NotSupported = "not-supported",
    /// The function does not apply on the platform, and a call returns its default.
    NotApplicable = "not-applicable",
    /// The interface says two things about the platform, or the class has a function that does not apply on it.
    Conflict = "conflict",
}

impl ConformanceStatus {
    /// Reads the word for a status.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for ConformanceStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}
