//! The binary for libFuzzer. `TARGET` names the fuzz target: one binary for all of them is linked once.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pkgres_fuzzing::{Target, target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("TARGET").expect("TARGET names a fuzz target");
    target(&name).expect("TARGET is the name of a fuzz target")
});

fuzz_target!(|data: &[u8]| (TARGET.run)(data));
