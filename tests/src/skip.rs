//! Tests that can do nothing here, because something is missing that is no part of the project.

use std::io::Write as _;

/// Says that a test does nothing for want of data beside the project.
///
/// # Panics
///
/// If `PKGRES_REQUIRE_SHARED` is set: then they have to be there.
pub fn without_data(reason: &str) {
    skip("PKGRES_REQUIRE_SHARED", reason);
}

/// Likewise for want of a program or service.
///
/// # Panics
///
/// If `PKGRES_REQUIRE_SERVICES` is set.
pub fn without_service(reason: &str) {
    skip("PKGRES_REQUIRE_SERVICES", reason);
}

fn skip(forbidden_by: &str, reason: &str) {
    let forbidden = std::env::var_os(forbidden_by).is_some();
    assert!(!forbidden, "{reason}, and {forbidden_by} is set");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // What the macros print of a test that passes is not shown, and whoever runs the tests is to know
    // that this one did nothing.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}
