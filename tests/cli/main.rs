//! The binary from the outside: exit code, stdout and stderr of whole runs.
//!
//! Each Markdown file beside this one is a case: its commands run one after the other on a copy of
//! the folder `NAME.in`, and what they write is compared with `NAME.out` if that is there.
//! `TRYCMD=overwrite` writes down what is printed now.

#[test]
fn cases() {
    trycmd::TestCases::new()
        .register_bin("pkgres", trycmd::cargo::cargo_bin!("pkgres"))
        .env("NO_COLOR", "1")
        .env("PKGRES_REGISTRY", "")
        .case("../tests/cli/*.md");
}
