//! Ctrl-C where commands run on a machine: they end before the program does.

use pkgres_engine::Cancellation;

/// Calls a function at each Ctrl-C, which does not end the program any more.
pub(crate) fn on_interrupt(mut interrupted: impl FnMut() + Send + 'static) {
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

/// A cancellation that the first Ctrl-C asks commands to end with; the second one kills them.
pub(crate) fn cancelled_by_interrupts() -> Cancellation {
    let cancellation = Cancellation::default();
    let cancelled = cancellation.clone();
    on_interrupt(move || {
        if cancelled.is_cancelled() {
            cancelled.kill();
        }
        cancelled.interrupt();
    });
    cancellation
}
