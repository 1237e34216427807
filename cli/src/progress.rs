//! What is shown while something takes longer than a moment.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long something may take before anything is shown.
const MOMENT: Duration = Duration::from_millis(200);

/// How often the picture changes.
const TICK: Duration = Duration::from_millis(100);

/// Something that is being done. It is shown until this is dropped.
pub(crate) struct Progress {
    running: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Begins to wait; `is_shown` says whether there is a terminal to show it on.
    pub(crate) fn new(what: &str, is_shown: bool) -> Self {
        if !is_shown {
            return Self { running: None };
        }
        let (done, is_done) = channel();
        let what = what.to_owned();
        let shown = std::thread::spawn(move || {
            if is_done.recv_timeout(MOMENT) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{spinner:.cyan} {msg} {elapsed:.dim}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_message(what);
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                bar.tick();
            }
            bar.finish_and_clear();
        });
        Self {
            running: Some((done, shown)),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((done, shown)) = self.running.take() {
            drop(done);
            // Nothing is lost if the picture was not drawn to the end.
            let _ = shown.join();
        }
    }
}
