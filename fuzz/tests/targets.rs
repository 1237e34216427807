//! Every fuzz target on its seeds and on mutations of them: the quick run, which is the same each time.
//!
//! `EXECUTIONS` is the number of inputs of each target, `FIRST` the number of the generator, so that
//! `EXECUTIONS=10000000 FIRST=7 cargo test --release -p pkgres-fuzzing --test targets` tries other inputs.
//! A failure shows the input.

// The output of a test is shown if it fails.
#![allow(clippy::print_stderr)]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pkgres_fuzzing::{Target, all, mutation, target};

/// Returns the number in an environment variable, if it is set.
fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().expect("the variable is a number"))
}

/// Runs a target, and shows the input for which a property does not hold.
fn run(target: &Target) {
    let executions = number("EXECUTIONS").map_or(target.quick, |count| {
        usize::try_from(count).expect("a number of inputs")
    });
    let seeds = (target.seeds)();
    let first = number("FIRST").unwrap_or(1);
    for input in mutation::inputs(&seeds, target.words, first).take(executions) {
        // Nothing is used after a panic.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            eprintln!("{} on \"{}\"", target.name, input.escape_ascii());
            resume_unwind(panic);
        }
    }
}

/// A test for each target.
macro_rules! targets {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                run(target(stringify!($name)).expect("there is a target of this name"));
            }
        )*

        #[test]
        fn every_target_has_a_test() {
            let tests = BTreeSet::from([$(stringify!($name)),*]);
            let names = all().map(|target| target.name);
            assert_eq!(names.collect::<BTreeSet<_>>(), tests);
        }
    };
}

targets! {
    version spec names manifest class_file interface_file resources_file validation_file facts baseline archive lock model record compiled documents frames proofs addresses
    locations model_check requests export tls_certificates nodeset model_record requirements_file collection_files collection_artifact collection_record galaxy_answers settings
    pseudo_boolean_proof certificate_claim inventory machine_state machine_facts
}
