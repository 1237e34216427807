//! The spinner that is shown during long work, and its text.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pkgres_registry_client::NetworkActivity;
use pkgres_registry_client::http::AwaitedRegistry;

use crate::terminal_text::harmless;
use crate::ticker::Ticker;

/// How long work may take before the spinner appears.
const MOMENT: Duration = Duration::from_millis(200);

/// How often the spinner moves.
const TICK: Duration = Duration::from_millis(100);

/// A spinner for work that takes longer than a moment; dropping it removes the spinner.
pub(crate) struct Progress {
    drawn: Option<(Ticker, ProgressBar)>,
}

impl Progress {
    /// Starts the work; `is_shown` is whether there is a terminal for the spinner.
    pub(crate) fn new(message: &str, activity: &NetworkActivity, is_shown: bool) -> Self {
        if !is_shown {
            return Self { drawn: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // A message that is wider than the terminal is cut.
        let style = ProgressStyle::with_template("{spinner:.cyan} {elapsed:.dim} {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let (message, activity, spinner) = (message.to_owned(), activity.clone(), bar.clone());
        let ticker = Ticker::start(MOMENT, TICK, move || {
            spinner.set_message(progress_message(&message, activity.awaited()));
            spinner.tick();
        });
        Self {
            drawn: Some((ticker, bar)),
        }
    }
}

/// The message beside the spinner: the work, and the registry that it waits for.
fn progress_message(work: &str, awaited: Option<AwaitedRegistry>) -> String {
    let Some(awaited) = awaited else {
        return work.to_owned();
    };
    let address = harmless(&awaited.address).into_owned();
    match awaited.answered {
        0 => format!("{work}, waiting for {address}"),
        1 => format!("{work}, waiting for {address} (1 answer so far)"),
        answers => format!("{work}, waiting for {address} ({answers} answers so far)"),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((ticker, bar)) = self.drawn.take() {
            drop(ticker);
            bar.finish_and_clear();
        }
    }
}
