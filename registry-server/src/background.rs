//! The background threads of a node: they follow changes of other nodes, and remove artifacts that no release has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use crate::registry::RegistryBackend;

/// How often the node looks for changes of other nodes without a notification, which can be lost.
const FOLLOW_INTERVAL: Duration = Duration::from_secs(2);

/// How often artifacts without a release are removed.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);

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
            match builder.spawn(move || work(&registry, &is_over)) {
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
                // A thread that panicked has printed its message.
                let _ = handle.join();
            }
        }
    }
}

/// Follows the changes of other nodes.
fn follow(registry: &RegistryBackend, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let followed = registry
            .wait_for_change(FOLLOW_INTERVAL)
            .and_then(|()| registry.refresh());
        if let Err(problem) = followed {
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
