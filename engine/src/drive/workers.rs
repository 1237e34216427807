//! The threads that check and change resources, so that slow ones do not delay others.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::Message;
use crate::resource::{Input, Resource};
use crate::runner::{NodeKey, attempt};
use crate::target::{Cancellable, Cancellation, Target};

/// An attempt to make.
pub(super) struct Work {
    pub(super) node: NodeKey,
    pub(super) resource: Arc<dyn Resource>,
    pub(super) input: Input,
    pub(super) noop: bool,
    pub(super) cancellation: Cancellation,
}

/// Threads that make attempts, until this is dropped. They are not waited for: a third interrupt ends the run while
/// some still work.
pub(super) struct Workers(Sender<Work>);

impl Workers {
    /// Starts threads that report to `sender`.
    pub(super) fn start(count: usize, target: &Arc<dyn Target>, sender: &Sender<Message>) -> Self {
        let (give, take) = channel();
        let take = Arc::new(Mutex::new(take));
        for _ in 0..count.max(1) {
            let (take, target, sender) = (Arc::clone(&take), Arc::clone(target), sender.clone());
            thread::spawn(move || work(&take, target.as_ref(), &sender));
        }
        Self(give)
    }

    /// Lets a thread make an attempt as soon as one is free.
    pub(super) fn give(&self, work: Work) {
        // The threads live as long as this.
        let _ = self.0.send(work);
    }
}

fn work(take: &Mutex<Receiver<Work>>, target: &dyn Target, sender: &Sender<Message>) {
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else {
            return;
        };
        let target = Cancellable::new(target, work.cancellation);
        let outcome = attempt(work.resource.as_ref(), &target, &work.input, work.noop);
        if sender.send(Message::Finished(work.node, outcome)).is_err() {
            return;
        }
    }
}
