//! A spinner for work that takes longer than a moment.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long work may take before the spinner appears.
const MOMENT: Duration = Duration::from_millis(200);

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(100);

/// Work in progress; dropping it removes the spinner.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the work; `is_shown` is whether there is a terminal for the spinner.
    pub(crate) fn new(message: &str, is_shown: bool) -> Self {
        if !is_shown {
            return Self { running: None };
        }
        let (done, is_done) = channel();
        let message = message.to_owned();
        let spinner = std::thread::spawn(move || {
            if is_done.recv_timeout(MOMENT) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(message);
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Self {
            running: Some((done, spinner)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, spinner)) = self.running.take() {
            drop(done);
            // A spinner that panicked does not matter.
            let _ = spinner.join();
        }
    }
}
