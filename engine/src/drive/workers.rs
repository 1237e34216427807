//! The threads that check and change resources, so that slow ones do not delay others.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::Message;
use crate::graph::Node;
use crate::resource::Input;
use crate::runner::{Cause, NodeKey, Outcome, attempt_node, verify_node};
use crate::target::{Cancellable, Cancellation, Target};

/// An attempt to make.
pub(super) struct Work {
    pub(super) node: NodeKey,
    /// The machine. A thread without work has none, so that its connection is closed with the last one that uses it.
    pub(super) target: Arc<dyn Target>,
    pub(super) in_graph: Node,
    pub(super) cause: Cause,
    pub(super) input: Input,
    pub(super) noop: bool,
    pub(super) cancellation: Cancellation,
}

/// Threads that make attempts, until this is dropped. They are not waited for: a third interrupt ends the run while
/// some still work.
pub(super) struct Workers(Sender<Work>);

impl Workers {
    /// Starts threads that report to `sender`.
    pub(super) fn start(count: usize, sender: &Sender<Message>) -> Self {
        let (give, take) = channel();
        let take = Arc::new(Mutex::new(take));
        for _ in 0..count.max(1) {
            let (take, sender) = (Arc::clone(&take), sender.clone());
            thread::spawn(move || work(&take, &sender));
        }
        Self(give)
    }

    /// Lets a thread make an attempt as soon as one is free.
    pub(super) fn give(&self, work: Work) {
        // The threads live as long as this.
        let _ = self.0.send(work);
    }
}

fn work(take: &Mutex<Receiver<Work>>, sender: &Sender<Message>) {
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(work) = next else {
            return;
        };
        let node = work.node;
        let outcome = finish(work);
        if sender.send(Message::Finished(node, outcome)).is_err() {
            return;
        }
    }
}

/// Makes an attempt, and gives the machine back.
fn finish(work: Work) -> Outcome {
    let target = Cancellable::new(work.target.as_ref(), work.cancellation);
    let attempt = match work.cause {
        Cause::Verified => verify_node,
        _ => attempt_node,
    };
    attempt(&work.in_graph, &target, &work.input, work.noop)
}
