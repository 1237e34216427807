//! The commands in the README and in the book print what it says they print.

use std::path::Path;

#[test]
fn commands() {
    // The commands are meant to be run at the root of the project.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::env::set_current_dir(root).expect("the root of the project is there");
    trycmd::TestCases::new()
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .env("NO_COLOR", "1")
        .env("PKGRES_REGISTRY", "")
        .case("README.md")
        .case("docs/start.md")
        .case("docs/concepts.md");
}
