//! Ctrl-C where commands run on a machine: they end before the program does.

use std::sync::mpsc::{Receiver, channel};

use pkgres_engine::{Cancellation, Control};

/// Calls a function at each Ctrl-C, which does not end the program any more.
fn on_interrupt(mut interrupted: impl FnMut() + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // Without it, Ctrl-C ends the program at once.
    let Ok(runtime) = runtime else {
        return;
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                interrupted();
            }
        });
    });
}

/// Ctrl-C for a run that brings a machine into order, and for the validations around it.
pub(crate) struct RunInterrupts {
    /// Tells the run: the first time it ends when what runs has ended, the second time that is asked to end, and the
    /// third time it is killed.
    pub(crate) control: Receiver<Control>,
    /// Asks commands of validations to end the first time, and kills them the second time.
    pub(crate) cancellation: Cancellation,
}

impl RunInterrupts {
    /// Starts to listen.
    pub(crate) fn listen() -> Self {
        let (sender, control) = channel();
        let cancellation = Cancellation::default();
        let cancelled = cancellation.clone();
        on_interrupt(move || {
            cancel(&cancelled);
            // At the end of a run nobody listens.
            let _ = sender.send(Control::Interrupt);
        });
        Self {
            control,
            cancellation,
        }
    }
}

fn cancel(cancellation: &Cancellation) {
    if cancellation.is_cancelled() {
        cancellation.kill();
    }
    cancellation.interrupt();
}

/// A cancellation that the first Ctrl-C asks commands to end with; the second one kills them.
pub(crate) fn cancelled_by_interrupts() -> Cancellation {
    let cancellation = Cancellation::default();
    let cancelled = cancellation.clone();
    on_interrupt(move || cancel(&cancelled));
    cancellation
}
