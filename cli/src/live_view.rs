//! The view of a run on a terminal, drawn in place while the run goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pkgres_engine::RunRecord;
use terminal_size::{Height, Width, terminal_size_of};

use crate::output::Output;
use crate::show::{LiveLine, live_view};
use crate::terminal_text::harmless;
use crate::ticker::Ticker;

/// How long a run may take before the view appears.
const MOMENT: Duration = Duration::from_millis(200);

/// How often the view is drawn.
const TICK: Duration = Duration::from_millis(100);

/// The size of a terminal that does not say how large it is.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// The view of a run, if there is a terminal for it. Dropping it removes the view.
pub(crate) struct LiveView {
    drawn: Option<(Ticker, ProgressBar)>,
}

impl LiveView {
    /// Starts to draw the record of a run on `target`, where progress is shown.
    pub(crate) fn start(record: &Arc<Mutex<RunRecord>>, target: &str, output: &Output) -> Self {
        if !output.shows_progress() || output.is_json() {
            return Self { drawn: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        let (record, view_bar, target) = (Arc::clone(record), bar.clone(), target.to_owned());
        let is_styled = output.is_styled();
        let start = Instant::now();
        let ticker = Ticker::start(MOMENT, TICK, move || {
            let view = {
                let record = record.lock().unwrap_or_else(PoisonError::into_inner);
                let now = start.elapsed().max(record.at());
                live_view(&record, &target, now, terminal_size())
            };
            view_bar.set_message(text(&view, is_styled));
            view_bar.tick();
        });
        Self {
            drawn: Some((ticker, bar)),
        }
    }

    /// Writes something to the terminal, with the view below it.
    pub(crate) fn above<Result>(&self, write: impl FnOnce() -> Result) -> Result {
        match &self.drawn {
            Some((_, bar)) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        if let Some((ticker, bar)) = self.drawn.take() {
            drop(ticker);
            bar.finish_and_clear();
        }
    }
}

/// The columns and lines that the view can use.
fn terminal_size() -> (usize, usize) {
    let size = terminal_size_of(std::io::stderr());
    // A terminal that knows no size says 0.
    let (width, height) = match size {
        Some((Width(width), Height(height))) if width > 0 && height > 0 => {
            (width.into(), height.into())
        }
        _ => USUAL_SIZE,
    };
    // A full last column or line would scroll.
    (width.saturating_sub(1), height.saturating_sub(1))
}

fn text(lines: &[LiveLine], is_styled: bool) -> String {
    let lines = lines.iter().map(|line| match line.color {
        Some(color) if is_styled => {
            let style = color.on_default();
            format!("{style}{}{style:#}", line.text)
        }
        _ => line.text.clone(),
    });
    let lines: Vec<String> = lines.collect();
    harmless(&lines.join("\n")).into_owned()
}
