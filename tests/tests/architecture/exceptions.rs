//! What the rules do not hold for yet, and what they never hold for.
//!
//! An exception that is not needed fails the test that it is an exception from.

/// Uses that close a circle of modules, as crate, module that uses, module that is used. A circle
/// is broken when one of its arrows is here. To be empty.
pub(crate) const CIRCLES: &[(&str, &str, &str)] = &[
    (
        "manifest",
        "index_record::reader",
        "index_record::canonical",
    ),
    ("manifest", "index_record::reader", "index_record::json"),
    (
        "resolver",
        "engine::native::state::sets",
        "engine::native::state::sides",
    ),
    (
        "resolver",
        "engine::native::state::var",
        "engine::native::state::side_list",
    ),
    ("resolver", "universe::lone", "universe::shards"),
    ("registry-server", "index::node", "index::snapshot"),
    ("registry-server", "registry::catalog", "registry::write"),
    (
        "registry-server",
        "registry::catalog::change",
        "registry::write",
    ),
];

/// Names that two types of a crate share. To be empty.
pub(crate) const TYPES: &[(&str, &str)] = &[
    ("manifest", "Composer"),
    ("manifest", "Entry"),
    ("manifest", "Method"),
    ("manifest", "Reader"),
    ("manifest", "Rest"),
    ("manifest", "Style"),
    ("manifest", "Text"),
    ("resolver", "Asking"),
    ("resolver", "Clause"),
    ("resolver", "Decided"),
    ("resolver", "Demand"),
    ("resolver", "Entry"),
    ("resolver", "Found"),
    ("resolver", "Lists"),
    ("resolver", "Owner"),
    ("resolver", "Place"),
    ("resolver", "Reason"),
    ("resolver", "State"),
    ("resolver", "Step"),
    ("resolver", "Stop"),
    ("resolver", "Target"),
    ("resolver", "Trail"),
    ("resolver", "Versions"),
    ("resolver", "Visit"),
    ("files", "Content"),
    ("registry-client", "Answer"),
    ("registry-client", "Digest"),
    ("registry-client", "Entry"),
    ("registry-client", "Header"),
    ("registry-client", "Records"),
    ("registry-client", "Release"),
    ("registry-server", "Asked"),
    ("registry-server", "Kind"),
    ("registry-server", "Listed"),
    ("registry-server", "Node"),
    ("registry-server", "Open"),
    ("registry-server", "Pieces"),
    ("cli", "Place"),
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
        "http::identify",
        "std::time::Instant::now",
    ),
    (
        "registry-server",
        "http::patience",
        "tokio::time::Instant::now",
    ),
    (
        "registry-server",
        "registry::sweep",
        "std::time::Instant::now",
    ),
];
