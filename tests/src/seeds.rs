//! The seeds of random universes.

use std::num::NonZero;
use std::thread;

/// From 0 to how many seeds a test goes: `SEEDS` says it, or else as many as `usual`.
///
/// # Panics
///
/// If `SEEDS` is no number.
pub fn count(usual: u64) -> u64 {
    let asked = std::env::var("SEEDS").ok();
    asked.map_or(usual, |asked| asked.parse().expect("SEEDS is a number"))
}

/// Does something for every seed below `count`, on all processors. The results come in no particular
/// order.
///
/// # Panics
///
/// If it panics for a seed.
pub fn for_all<T: Send>(count: u64, each: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let each = &each;
    thread::scope(|scope| {
        let workers: Vec<_> = (0..count)
            .take(threads)
            .map(|first| {
                let seeds = (first..count).step_by(threads);
                scope.spawn(move || seeds.map(each).collect::<Vec<T>>())
            })
            .collect();
        let results = workers.into_iter();
        results
            .flat_map(|worker| worker.join().expect("no seed panics"))
            .collect()
    })
}
