//! Breaking a solver off from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Breaks a [`Resolver`](crate::Resolver) off, from another thread or a signal handler.
///
/// ```
/// use pkgres_manifest::{IndexRecord, Limits};
/// use pkgres_resolver::{Request, Resolver, Step};
///
/// let root = IndexRecord::parse_line(
///     r#"{"name":"org.acme.Web","version":"1.0.0","require":[["org.acme.Db","1"]]}"#,
///     &Limits::default(),
/// )?;
/// let mut resolver = Resolver::new(Request::new(root));
/// let cancellation = resolver.cancellation();
/// std::thread::spawn(move || cancellation.cancel()).join().unwrap();
/// assert_eq!(resolver.step(), Step::Cancelled);
/// # Ok::<(), pkgres_manifest::diagnostic::Diagnostic>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// Lets the solver end at its next step. There is no way back.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the solver was told to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
