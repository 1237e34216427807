//! The seeds of random universes.
//!
//! Every test on random universes runs through the seeds from 0 up, so that a failure names the seed that
//! repeats it. `SEEDS` makes the runs longer: `SEEDS=10000 cargo test -p pkgres-tests` runs each of these tests
//! with so many.

use std::num::NonZero;
use std::thread;

/// The number of seeds of a test: `SEEDS`, or `usual` if it is not set.
///
/// # Panics
///
/// If `SEEDS` is not a number.
pub fn count(usual: u64) -> u64 {
    let wanted = std::env::var("SEEDS").ok();
    wanted.map_or(usual, |wanted| wanted.parse().expect("SEEDS is a number"))
}

/// Runs something for every seed below `count`, on all processors. The results are in no particular order.
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
