//! The section of the book about validators of one's own: its program is the example, and does what the section says.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

#[path = "../examples/swap_validator.rs"]
// Its `main` is for people.
#[allow(dead_code)]
mod swap_validator;

#[test]
fn the_section_has_the_example() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| {
        let path = format!("{folder}/{path}");
        std::fs::read_to_string(path).expect("it is there")
    };
    let example = read("examples/swap_validator.rs");
    let block = format!("\n```rust\n{example}```\n");
    assert!(read("../docs/validating.md").contains(&block));
}

#[test]
fn the_example_tests_and_refuses_to_reconcile() {
    let root = tempfile::tempdir().expect("a folder for the test");
    let test = || swap_validator::validate(root.path(), false).expect("it can test");
    assert!(test().is_passed());
    let file = root.path().join("swapfile");
    std::fs::write(&file, "").expect("it can be written");
    let report = test();
    let findings: Vec<_> = report.findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        findings,
        ["validate.yaml:2:3: error[PK0111]: there is a swap file /swapfile"]
    );

    let refused = swap_validator::validate(root.path(), true);
    assert_eq!(
        refused.expect_err("it can only test").to_string(),
        "validate.yaml:2:3: error[PK0095]: `no_swap` cannot reconcile"
    );
    assert!(file.exists());
}
