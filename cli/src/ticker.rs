//! Something that happens at regular intervals while other work goes on.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that does something again and again. Dropping it ends the thread, and waits until it has ended.
pub(crate) struct Ticker {
    /// The sender is dropped to end the thread.
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Ticker {
    /// Calls `tick` after a first pause, and from then on with the same pause between two calls.
    pub(crate) fn start(
        first: Duration,
        pause: Duration,
        mut tick: impl FnMut() + Send + 'static,
    ) -> Self {
        let (end, has_ended) = channel();
        let thread = std::thread::spawn(move || {
            let mut next = first;
            while has_ended.recv_timeout(next) == Err(RecvTimeoutError::Timeout) {
                tick();
                next = pause;
            }
        });
        Self {
            running: Some((end, thread)),
        }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.running.take() {
            drop(end);
            // What goes on beside the work does not matter for it, even if it panicked.
            let _ = thread.join();
        }
    }
}
