//! Ctrl-C where commands run on a machine: they end before the program does.

use pkgres_engine::Cancellation;

/// A cancellation that the first Ctrl-C asks commands to end with; the second one kills them.
pub(crate) fn cancelled_by_interrupts() -> Cancellation {
    let cancellation = Cancellation::default();
    let cancelled = cancellation.clone();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    // Without it, Ctrl-C ends the program alone.
    let Ok(runtime) = runtime else {
        return cancellation;
    };
    std::thread::spawn(move || {
        runtime.block_on(async {
            while tokio::signal::ctrl_c().await.is_ok() {
                if cancelled.is_cancelled() {
                    cancelled.kill();
                }
                cancelled.interrupt();
            }
        });
    });
    cancellation
}
