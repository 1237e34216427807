//! How work grows with input: ten times the input is at most fifteen times the work, for every parser and printer.
//!
//! Work is counted, not timed: allocations and allocated bytes, from 100 kB to 1 MB, or to the limit of the format
//! with `GROWTH=limit`, which also runs the shapes of all readers of documents; `GROWTH=all` does only that.
//! Loops that allocate nothing are not seen so: `INSTRUCTIONS=1` also counts instructions, with
//! `perf` and a process for each input. `SHAPES=TEXT` selects the shapes whose names contain a
//! text.

// The output of a test is shown if it fails.
#![allow(clippy::print_stderr)]

mod allocations;
mod certificates;
mod comparisons;
mod credentials;
mod documents;
mod ecosystems;
mod effects;
mod engine;
mod formats;
mod interfaces;
mod packages;
mod pinning;
mod registries;
mod solving;

use std::panic::AssertUnwindSafe;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use allocations::Work;

/// A kind of input for a reader, in any size.
pub(crate) struct Shape {
    /// The reader and the input.
    name: String,
    /// Makes an input of about so many bytes.
    make: Box<dyn Fn(usize) -> Vec<u8>>,
    /// Reads it, and prints what a user would see.
    read: fn(&[u8]),
    /// The limit of the format in bytes.
    limit: usize,
}

/// The least size.
const SMALL: usize = 100_000;

/// The greatest factor between the work for an input and for one of ten times its size.
const FACTOR: usize = 15;

/// Work that is not measured, because something constant could dominate.
const FREE: Work = Work {
    allocations: 200,
    bytes: SMALL,
};

/// Returns all shapes, or those that `SHAPES` selects.
fn shapes() -> Vec<Shape> {
    let mut shapes = documents::shapes();
    shapes.extend(certificates::shapes());
    shapes.extend(comparisons::shapes());
    shapes.extend(credentials::shapes());
    shapes.extend(ecosystems::shapes());
    shapes.extend(effects::shapes());
    shapes.extend(engine::shapes());
    shapes.extend(formats::shapes());
    shapes.extend(interfaces::shapes());
    shapes.extend(packages::shapes());
    shapes.extend(pinning::shapes());
    shapes.extend(registries::shapes());
    shapes.extend(solving::shapes());
    if let Ok(wanted) = std::env::var("SHAPES") {
        shapes.retain(|shape| shape.name.contains(&wanted));
    }
    shapes
}

/// Returns the allocations for a size.
fn allocations(shape: &Shape, size: usize) -> Work {
    let input = (shape.make)(size);
    allocations::during(|| (shape.read)(&input))
}

/// Returns the pairs of sizes that are compared.
fn sizes(shape: &Shape) -> Vec<(usize, usize)> {
    let mut sizes = vec![(SMALL, 10 * SMALL)];
    if std::env::var_os("GROWTH").is_some_and(|value| value == "limit") {
        // A little below the limit, so that it is not what ends the work.
        let most = shape.limit - shape.limit / 50;
        sizes.push((most / 10, most));
    }
    sizes
}

#[test]
fn allocations_grow_with_input() {
    // Each thread counts its own allocations, so that the shapes can be shared among threads.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let found = std::thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .map(|_| scope.spawn(|| not_linear(&next)))
            .collect();
        let found = running.into_iter().map(|worker| match worker.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        found.collect::<Vec<_>>().concat()
    });
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// The shapes whose work does not grow linearly, of those that no other thread took before.
fn not_linear(next: &AtomicUsize) -> Vec<String> {
    let mut found = Vec::new();
    let shapes = shapes();
    while let Some(shape) = shapes.get(next.fetch_add(1, Ordering::Relaxed)) {
        for (small, large) in sizes(shape) {
            // Says which shape a reader failed on.
            let work = |size| {
                let counted =
                    std::panic::catch_unwind(AssertUnwindSafe(|| allocations(shape, size)));
                counted.unwrap_or_else(|panic| {
                    eprintln!("{} with {size} bytes", shape.name);
                    std::panic::resume_unwind(panic)
                })
            };
            let (less, more) = (work(small), work(large));
            let is_linear = more.allocations <= FACTOR * less.allocations.max(FREE.allocations)
                && more.bytes <= FACTOR * less.bytes.max(FREE.bytes);
            if !is_linear {
                found.push(format!(
                    "{}: {less:?} for {small} bytes, {more:?} for {large}",
                    shape.name
                ));
            }
        }
    }
    found
}

/// Counts the instructions of a process that makes an input, and reads it or not.
fn instructions_of_process(shape: &Shape, size: usize, reads: bool) -> u64 {
    let program = std::env::current_exe().expect("a test is a program");
    let output = Command::new("perf")
        .args(["stat", "-x", ",", "-e", "instructions:u"])
        .arg(program)
        .args(["--exact", "one_shape", "--ignored", "--test-threads", "1"])
        .env("SHAPE", &shape.name)
        .env("SIZE", size.to_string())
        .env("READS", if reads { "1" } else { "0" })
        .output()
        .expect("perf is there");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {log}", shape.name);
    let line = log.lines().find(|line| line.contains("instructions"));
    let number = line.and_then(|line| line.split(',').next()?.parse().ok());
    number.unwrap_or_else(|| panic!("perf cannot count instructions here: {log}"))
}

/// Counts the instructions for a shape in processes of its own.
fn instructions(shape: &Shape, size: usize) -> u64 {
    let [with, without] = [true, false].map(|reads| instructions_of_process(shape, size, reads));
    with.saturating_sub(without)
}

#[test]
fn instructions_grow_with_input() {
    if std::env::var_os("INSTRUCTIONS").is_none() {
        return;
    }
    let mut found = Vec::new();
    for shape in shapes() {
        for (small, large) in sizes(&shape) {
            let (less, more) = (instructions(&shape, small), instructions(&shape, large));
            // One instruction for each byte is free, as for allocations.
            let is_linear = more <= FACTOR as u64 * less.max(small as u64);
            let line = format!(
                "{}: {less} for {small} bytes, {more} for {large}",
                shape.name
            );
            eprintln!("{line}");
            if !is_linear {
                found.push(line);
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// What `perf` runs.
#[test]
#[ignore = "a part of another test"]
fn one_shape() {
    let name = std::env::var("SHAPE").expect("a shape");
    let size = std::env::var("SIZE").expect("a size");
    let size = size.parse().expect("a size is a number");
    let shapes = shapes();
    let shape = shapes.iter().find(|shape| shape.name == name);
    let shape = shape.expect("the shape of this name");
    let input = (shape.make)(size);
    if std::env::var("READS").is_ok_and(|reads| reads == "1") {
        (shape.read)(&input);
    }
}
