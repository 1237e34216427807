//! Skipped tests: they need data, a program or a service that is not part of the repository.

use std::io::Write as _;

/// Reports that a test is skipped because shared data is missing.
///
/// # Panics
///
/// If `PKGRES_REQUIRE_SHARED` is set.
pub fn without_data(reason: &str) {
    skip("PKGRES_REQUIRE_SHARED", reason);
}

/// Reports that a test is skipped because a program or service is missing.
///
/// # Panics
///
/// If `PKGRES_REQUIRE_SERVICES` is set.
pub fn without_service(reason: &str) {
    skip("PKGRES_REQUIRE_SERVICES", reason);
}

/// Reports that a test is skipped because the user or the machine may not do what it needs.
pub fn without_rights(reason: &str) {
    report(reason);
}

fn skip(forbidden_by: &str, reason: &str) {
    let forbidden = std::env::var_os(forbidden_by).is_some();
    assert!(!forbidden, "{reason}, and {forbidden_by} is set");
    report(reason);
}

fn report(reason: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    // The harness hides what `eprintln!` prints in a test that passes; a skipped test has to be seen.
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {reason}");
}
