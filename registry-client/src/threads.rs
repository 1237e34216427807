//! Threads: work in the background, and locks that outlive a panic.

use std::sync::{Mutex, MutexGuard, PoisonError};
#[cfg(feature = "index")]
use std::thread::JoinHandle;

/// Locks a value that is whole between any two statements that change it, so that a thread which panicked while
/// it held the lock leaves nothing half done.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Work on threads of its own, finished at the latest when this is dropped.
#[cfg(feature = "index")]
#[derive(Debug, Default)]
pub(crate) struct Background {
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[cfg(feature = "index")]
impl Background {
    /// Starts a piece of work. If no thread can be started, the work is left undone: only speed may
    /// depend on it.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        if let Ok(thread) = std::thread::Builder::new().spawn(work) {
            lock(&self.threads).push(thread);
        }
    }

    /// Waits until all work is finished.
    pub(crate) fn finish(&self) {
        let threads = std::mem::take(&mut *lock(&self.threads));
        for thread in threads {
            // A panic was reported by the thread itself, and costs the cache alone.
            let _ = thread.join();
        }
    }
}

#[cfg(feature = "index")]
impl Drop for Background {
    fn drop(&mut self) {
        self.finish();
    }
}
