//! What the rules do not hold for yet, and what they never hold for.
//!
//! An exception that is not needed fails the test that it is an exception from.

/// Uses that close a circle of modules, as crate, module that uses, module that is used. A circle
/// is broken when one of its arrows is here. To be empty.
pub(crate) const CIRCLES: &[(&str, &str, &str)] = &[
    (
        "manifest",
        "index_record::reader",
        "index_record::fast_path",
    ),
    ("manifest", "index_record::reader", "index_record::json"),
    ("registry-client", "http::address", "http::credentials"),
    ("registry-client", "http::answer", "http::transport"),
    ("tests", "build", "reference::answer"),
    ("tests", "universe", "reference::answer"),
    ("tests", "universe::locks", "reference::answer"),
    ("tests", "universe::locks", "reference::rules"),
    ("tests", "universe::locks", "reference::tiers"),
];

/// Names that two types of a crate share. To be empty.
pub(crate) const TYPES: &[(&str, &str)] = &[
    ("resolver", "Entry"),
    ("resolver", "Found"),
    ("resolver", "Owner"),
    ("resolver", "Step"),
    ("resolver", "Visit"),
    ("files", "Content"),
    ("registry-client", "Answer"),
    ("registry-client", "Digest"),
    ("registry-client", "Entry"),
    ("registry-client", "Header"),
    ("registry-client", "Records"),
    ("registry-client", "Release"),
    ("registry-server", "BoxError"),
];

/// Where a library reads its surroundings, as crate, module and what is read: a server measures how
/// long something takes, by a clock that only goes on.
pub(crate) const SURROUNDINGS: &[(&str, &str, &str)] = &[
    ("registry-server", "background", "std::time::Instant::now"),
    (
        "registry-server",
        "http::dispatch",
        "std::time::Instant::now",
    ),
    (
        "registry-server",
        "http::authenticate",
        "std::time::Instant::now",
    ),
    (
        "registry-server",
        "http::write_timeout",
        "tokio::time::Instant::now",
    ),
    (
        "registry-server",
        "registry::sweep",
        "std::time::Instant::now",
    ),
];
