//! Exceptions from the rules: temporary ones, and permanent ones.
//!
//! An exception that is not needed fails the test that it is an exception from.

/// Uses that close a circle of modules, as crate, module that uses, module that is used. A circle
/// is broken when one of its arrows is here. To be empty.
pub(crate) const CIRCLES: &[(&str, &str, &str)] = &[
    (
        "resolver",
        "search::assignment::sets",
        "search::assignment::literals",
    ),
    (
        "resolver",
        "search::assignment::var",
        "search::assignment::watch_list",
    ),
    ("resolver", "search::engine", "search::pubgrub"),
];

/// Names that two types of a crate share. To be empty.
pub(crate) const TYPES: &[(&str, &str)] = &[
    ("resolver", "Owner"),
    ("resolver", "Step"),
    ("resolver", "Target"),
    ("resolver", "Trail"),
    ("resolver", "Versions"),
    ("resolver", "Visit"),
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
