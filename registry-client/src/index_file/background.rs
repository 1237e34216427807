//! What is done beside everything else.

use std::cell::RefCell;
use std::thread::JoinHandle;

/// Work on threads of its own, which is done at the latest when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Background {
    threads: RefCell<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Begins a piece of work. Where that is not possible it is left undone, so nothing but time may
    /// depend on it.
    pub(super) fn run(&self, work: impl FnOnce() + Send + 'static) {
        if let Ok(thread) = std::thread::Builder::new().spawn(work) {
            self.threads.borrow_mut().push(thread);
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        for thread in self.threads.take() {
            // That it panicked was said by then, and costs the cache alone.
            let _ = thread.join();
        }
    }
}
