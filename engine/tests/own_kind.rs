//! The page of the book about kinds of one's own: its program is the example, and does what the page says.

// The tests look at files themselves.
#![allow(clippy::disallowed_methods)]

use pkgres_engine::Status;

#[path = "../examples/sysctl.rs"]
// Its `main` is for people.
#[allow(dead_code)]
mod sysctl;

/// The most lines of the program.
const MOST_LINES: usize = 80;

#[test]
fn the_page_has_the_example() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let read = |path: &str| {
        let path = format!("{folder}/{path}");
        std::fs::read_to_string(path).expect("it is there")
    };
    let (page, example) = (
        read("../docs/resource-kinds.md"),
        read("examples/sysctl.rs"),
    );
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    assert_eq!(blocks, [format!("rust\n{example}")]);
    assert!(example.lines().count() <= MOST_LINES);
}

#[test]
fn the_example_sets_what_it_says() {
    let root = tempfile::tempdir().expect("a folder for the test");
    std::fs::create_dir_all(root.path().join("etc/sysctl.d")).expect("it can be made");
    let file = root.path().join("etc/sysctl.d/vm.swappiness.conf");
    for before in [None, Some("vm.swappiness = 60\n")] {
        if let Some(before) = before {
            std::fs::write(&file, before).expect("it can be written");
        }
        let status = sysctl::apply(root.path()).expect("it is a machine");
        assert_eq!(status, Status::Converged);
        let text = std::fs::read_to_string(&file).expect("it is there");
        assert_eq!(text, "vm.swappiness = 10\n");
    }
}
