//! Random models: what `pin` writes passes `pin --check`.
//!
//! `SEEDS` sets the number of seeds; see `pkgres_tests::seeds` for long runs. `PINNING` is the path of another
//! binary, such as an optimized one:
//!
//! ```sh
//! cargo build --release -p pkgres
//! SEEDS=30000 PINNING=target/release/pkgres cargo test -p pkgres --test cli what_pin_writes -- --nocapture
//! ```

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::LazyLock;

use pkgres_tests::examples::variation;
use pkgres_tests::models::Model;
use pkgres_tests::seeds;
use pkgres_tests::universe::Universe;

use super::program::write;

const SEEDS: u64 = 200;

/// The codes of findings that say why there is no model to write.
const REFUSALS: [&str; 7] = [
    "PK0011", "PK0012", "PK0013", "PK0014", "PK0015", "PK0062", "PK0063",
];

/// The binary that is tested.
static BINARY: LazyLock<PathBuf> = LazyLock::new(|| {
    let usual = || OsString::from(trycmd::cargo::cargo_bin!("pkgres"));
    let binary = std::env::var_os("PINNING").unwrap_or_else(usual);
    // Tests run in the folder of their crate.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let binary = workspace.join(binary).canonicalize();
    binary.expect("the binary is there")
});

/// Whether the first finding that was printed says that nothing can be pinned.
fn is_refusal(output: &Output) -> bool {
    let printed = String::from_utf8_lossy(&output.stderr);
    let code = printed.strip_prefix("error[").unwrap_or_default();
    REFUSALS.iter().any(|refusal| code.starts_with(refusal))
}

/// What `pin` does with a model.
#[derive(Debug, PartialEq, Eq)]
enum Pinned {
    /// It writes a model that passes.
    Passes,
    /// It writes nothing.
    Refused,
    /// Something else, with the model and what was printed.
    Wrong(String),
}

/// Runs `pin` with a model of a folder.
fn pin(model: &Model, folder: &Path, arguments: &[&str]) -> Output {
    Command::new(&*BINARY)
        .arg("pin")
        .args(arguments)
        .args(["--registry", "dir:packages", "--no-cache"])
        .args(model.options())
        .current_dir(folder)
        .env("HOME", folder)
        .output()
        .expect("the program starts")
}

#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn write_packages(model: &Model, folder: &Path) {
    for (path, text) in model.files() {
        let path = folder.join(path);
        let parent = path.parent().expect("the folder of a release");
        std::fs::create_dir_all(parent).expect("a temporary folder can be written");
        write(&path, &text);
    }
}

/// Pins a model, and checks what was written.
fn pinned(seed: u64, model: &Model) -> Pinned {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    write_packages(model, &folder.join("packages"));
    write(&folder.join("model.json"), &model.text());
    let wrong = |output: &Output| {
        let printed = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        Pinned::Wrong(format!("seed {seed}: {code:?}\n{printed}\n{model}"))
    };
    let output = pin(model, folder, &["model.json", "--output", "pinned.json"]);
    match output.status.code() {
        Some(0) => {}
        Some(1) if !folder.join("pinned.json").exists() && is_refusal(&output) => {
            return Pinned::Refused;
        }
        _ => return wrong(&output),
    }
    let checked = pin(model, folder, &["pinned.json", "--check"]);
    if checked.status.success() {
        Pinned::Passes
    } else {
        wrong(&checked)
    }
}

#[test]
fn what_pin_writes_passes_its_check() {
    let each = |seed: u64| {
        let universe = if seed.is_multiple_of(2) {
            Universe::random(seed)
        } else {
            variation(seed)
        };
        Model::random(seed, universe).map(|model| pinned(seed, &model))
    };
    let found = seeds::for_all(seeds::count(SEEDS), each);
    let found: Vec<Pinned> = found.into_iter().flatten().collect();
    let wrong = found.iter().filter_map(|pinned| match pinned {
        Pinned::Wrong(text) => Some(text.as_str()),
        _ => None,
    });
    let wrong: Vec<&str> = wrong.collect();
    assert!(wrong.is_empty(), "{} are wrong: {}", wrong.len(), wrong[0]);
    let count = |wanted: &Pinned| found.iter().filter(|pinned| *pinned == wanted).count();
    let (passes, refused) = (count(&Pinned::Passes), count(&Pinned::Refused));
    assert!(passes > 0 && refused > 0, "{passes} and {refused}");
    #[expect(clippy::print_stdout, reason = "the result of a long run")]
    if std::env::var_os("SEEDS").is_some() {
        println!("{passes} models were pinned and passed, {refused} were refused");
    }
}
