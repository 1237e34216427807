//! The background threads of a node: they follow changes of other nodes, and remove artifacts that no release has.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::registry::RegistryBackend;

/// How often the node looks for changes of other nodes without a notification, which can be lost.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(2);

/// How often artifacts without a release are removed.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

/// How long the node waits until it restarts the work of a thread that panicked.
const RESTART_INTERVAL: Duration = Duration::from_secs(2);

/// The background threads of a node. They end when this is dropped.
pub struct Background {
    is_over: Arc<AtomicBool>,
    threads: Vec<(Thread, Option<JoinHandle<()>>)>,
}

impl Background {
    /// Starts the threads.
    pub fn start(registry: &Arc<RegistryBackend>) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        let mut spawn = |name: &str, work: fn(&RegistryBackend, &AtomicBool)| {
            let (registry, is_over) = (Arc::clone(registry), Arc::clone(&is_over));
            let builder = std::thread::Builder::new().name(name.to_owned());
            let again = move || work(&registry, &is_over);
            match builder.spawn(move || restarted(RESTART_INTERVAL, again)) {
                Ok(handle) => threads.push((handle.thread().clone(), Some(handle))),
                Err(error) => tracing::error!(%error, name, "a thread could not be started"),
            }
        };
        if registry.is_shared() {
            spawn("follow", follow);
        }
        spawn("sweep", sweep);
        Self { is_over, threads }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for (thread, handle) in &mut self.threads {
            thread.unpark();
            if let Some(handle) = handle.take() {
                // Its work is restarted after a panic, so it has ended by itself.
                let _ = handle.join();
            }
        }
    }
}

/// Does the work of a thread, and does it again after each panic: without it, the node would go on with old data.
fn restarted(pause: Duration, work: impl Fn()) {
    while std::panic::catch_unwind(AssertUnwindSafe(&work)).is_err() {
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default();
        tracing::error!(name, "a background thread panicked; it is restarted");
        std::thread::park_timeout(pause);
    }
}

/// Follows the changes of other nodes.
fn follow(registry: &RegistryBackend, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        if let Err(problem) = registry.follow(FOLLOW_INTERVAL) {
            tracing::error!(
                problem = format!("{problem:#}"),
                "other nodes cannot be followed; trying again"
            );
            std::thread::park_timeout(FOLLOW_INTERVAL);
        }
    }
}

/// Removes artifacts without a release, again and again.
fn sweep(registry: &RegistryBackend, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        match registry.sweep() {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "removed artifacts that no release has"),
            Err(problem) => tracing::error!(
                problem = format!("{problem:#}"),
                "artifacts cannot be cleaned up"
            ),
        }
        let begun = Instant::now();
        while begun.elapsed() < SWEEP_INTERVAL && !is_over.load(Ordering::Relaxed) {
            std::thread::park_timeout(SWEEP_INTERVAL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn work_goes_on_after_a_panic() {
        let runs = AtomicU32::new(0);
        restarted(Duration::ZERO, || {
            let before = runs.fetch_add(1, Ordering::Relaxed);
            assert!(before >= 2, "the first two runs panic");
        });
        assert_eq!(runs.into_inner(), 3);
    }
}
