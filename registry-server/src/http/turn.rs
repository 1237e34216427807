//! Turns of requests that change something.
//!
//! A precondition is evaluated before the change is made. If another change came in between, both clients would believe
//! that they have changed what they had read. So a node makes a change with preconditions while it makes no other one;
//! other nodes are not asked. Changes without preconditions do not wait for each other here, but turns come in the order
//! of the requests: while a change with preconditions waits for a slow one, all later changes wait as well.

use std::sync::Arc;

use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Gives out turns.
#[derive(Default)]
pub(super) struct Turns(Arc<RwLock<()>>);

/// The permission to make a change. It ends when it is dropped.
pub(super) enum Turn {
    /// Together with others.
    Shared { _guard: OwnedRwLockReadGuard<()> },
    /// Alone.
    Exclusive { _guard: OwnedRwLockWriteGuard<()> },
}

impl Turns {
    /// Waits for the turn of a change.
    pub(super) async fn next(&self, has_preconditions: bool) -> Turn {
        let lock = Arc::clone(&self.0);
        if has_preconditions {
            Turn::Exclusive {
                _guard: lock.write_owned().await,
            }
        } else {
            Turn::Shared {
                _guard: lock.read_owned().await,
            }
        }
    }
}
