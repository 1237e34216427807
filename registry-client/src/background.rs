//! What is done beside everything else.

use std::cell::RefCell;
use std::thread::JoinHandle;

/// Work on threads of its own, which is done at the latest when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Background {
    threads: RefCell<Vec<JoinHandle<()>>>,
}

impl Background {
    /// Begins a piece of work. Where that is not possible it is left undone, so nothing but time may
    /// depend on it.
    pub(crate) fn run(&self, work: impl FnOnce() + Send + 'static) {
        if let Ok(thread) = std::thread::Builder::new().spawn(work) {
            self.threads.borrow_mut().push(thread);
        }
    }

    /// Waits until all that was begun is done.
    pub(crate) fn finish(&self) {
        for thread in self.threads.take() {
            // That it panicked was said by then, and costs the cache alone.
            let _ = thread.join();
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.finish();
    }
}
