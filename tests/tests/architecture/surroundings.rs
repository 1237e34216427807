//! Printing, the environment and the clock, which libraries leave to the program.

use crate::sources::{Crate, ModuleId};

/// Macros that print.
const PRINTING: [&str; 5] = ["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// The functions that give the streams of the process.
const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Every path in a crate that prints, reads the environment or the clock, with its module.
pub(crate) fn uses(read: &Crate) -> Vec<(ModuleId, String)> {
    let modules = read.modules.iter().enumerate();
    let paths = modules.flat_map(|(id, module)| {
        let paths = module.mentions.iter();
        paths.map(move |path| (id, read.in_full(id, path)))
    });
    let found = paths.filter(|(_, path)| is_of_the_surroundings(path));
    found
        .map(|(module, path)| (module, path.join("::")))
        .collect()
}

fn is_of_the_surroundings(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path[..] {
        [name] if PRINTING.contains(&name) => true,
        ["std", name] if PRINTING.contains(&name) => true,
        ["std", "io", name] => STREAMS.contains(&name),
        // The second is `Instant::now`, `SystemTime::now`, `Timestamp::now`, ...
        ["std", "env", ..] | [.., _, "now"] => true,
        _ => false,
    }
}

/// The functions of `serde_json` that accept lists in place of structs, with their modules: documents of others are
/// read with `pkgres_manifest::read_json`.
pub(crate) fn lenient_readers(read: &Crate) -> Vec<(ModuleId, String)> {
    let modules = read.modules.iter().enumerate();
    let paths = modules.flat_map(|(id, module)| {
        let paths = module.mentions.iter();
        paths.map(move |path| (id, read.in_full(id, path).join("::")))
    });
    let lenient = [
        "serde_json::from_slice",
        "serde_json::from_str",
        "serde_json::from_reader",
    ];
    paths
        .filter(|(_, path)| lenient.contains(&&**path))
        .collect()
}

/// The uses of these functions that are allowed, as crate and module.
pub(crate) const LENIENT: &[(&str, &str)] = &[
    // A number, a text, or a raw value: no struct.
    ("manifest", "document::as_json"),
    ("manifest", "document::json"),
    // A default, which the reader of class files writes.
    ("manifest", "object_model::default_value"),
    // Its own text.
    ("registry-server", "http::openapi"),
];

/// The uses that are allowed, as crate, module and path: servers and commands measure durations by a monotonic clock,
/// and a client the rate of answers.
pub(crate) const ALLOWED: &[(&str, &str, &str)] = &[
    (
        "registry-client",
        "http::network_limits",
        "tokio::time::Instant::now",
    ),
    // The processor that the program was compiled for.
    ("engine", "target::machine", "std::env::consts::ARCH"),
    ("engine", "target::cancellation", "std::time::Instant::now"),
    ("engine", "drive", "std::time::Instant::now"),
    ("engine", "target::process", "std::time::Instant::now"),
    ("engine", "target::ssh::process", "std::time::Instant::now"),
    (
        "engine",
        "target::ssh::last_answer",
        "std::time::Instant::now",
    ),
    (
        "engine",
        "target::ssh::remote_command",
        "std::time::Instant::now",
    ),
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
        "http::read_body",
        "tokio::time::Instant::now",
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
