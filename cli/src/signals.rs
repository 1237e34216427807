//! Ctrl-C and other signals that end the program while it runs commands on a machine, or asks for a token: the commands
//! end before the program, and the terminal shows again what is typed.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

use pkgres_engine::{Cancellation, Control};
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;

/// Calls a function at each Ctrl-C, and at each signal that asks the program to end or says that its terminal is gone.
/// None of them ends the program any more.
pub(crate) fn on_interrupt(interrupted: impl FnMut() + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // Without it, Ctrl-C ends the program at once.
    let Ok(runtime) = runtime else {
        return;
    };
    let signals = {
        let _runtime = runtime.enter();
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        kinds.map(signal)
    };
    let interrupted = Arc::new(Mutex::new(interrupted));
    std::thread::spawn(move || {
        runtime.block_on(async {
            let mut listening = JoinSet::new();
            for mut signal in signals.into_iter().flatten() {
                let interrupted = Arc::clone(&interrupted);
                listening.spawn(async move {
                    while signal.recv().await.is_some() {
                        interrupted.lock().unwrap_or_else(PoisonError::into_inner)();
                    }
                });
            }
            while listening.join_next().await.is_some() {}
        });
    });
}

/// Ctrl-C for runs that bring machines into order, and for the validations around them.
pub(crate) struct RunInterrupts {
    /// Asks commands of validations to end the first time, and kills them the second time.
    pub(crate) cancellation: Cancellation,
    runs: Arc<Mutex<Vec<Sender<Control>>>>,
}

impl RunInterrupts {
    /// Starts to listen.
    pub(crate) fn listen() -> Self {
        let cancellation = Cancellation::default();
        let runs = Arc::new(Mutex::new(Vec::<Sender<Control>>::new()));
        let (cancelled, interrupted) = (cancellation.clone(), Arc::clone(&runs));
        on_interrupt(move || {
            let runs = interrupted.lock().unwrap_or_else(PoisonError::into_inner);
            cancel(&cancelled);
            for run in runs.iter() {
                // At the end of a run nobody listens.
                let _ = run.send(Control::Interrupt);
            }
        });
        Self { cancellation, runs }
    }

    /// The interrupts for a run: the first time it ends when what runs has ended, the second time that is asked to end,
    /// and the third time it is killed.
    pub(crate) fn control(&self) -> Receiver<Control> {
        let (sender, control) = channel();
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if self.cancellation.is_cancelled() {
            // It is received as soon as the run begins.
            let _ = sender.send(Control::Interrupt);
        }
        runs.push(sender);
        control
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
