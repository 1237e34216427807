//! The variables whose domains were reduced and whose constraints were not looked at since.

use super::{Assignment, Var};

impl Assignment {
    #[inline]
    pub(crate) fn enqueue(&mut self, var: Var) {
        let state = &mut self.vars[var as usize];
        if !state.queued {
            state.queued = true;
            self.queue.push(var);
        }
    }

    /// The next variable whose domain was reduced. It stays in the queue until it is
    /// [done](Self::dequeue).
    #[inline]
    pub(crate) fn next_in_queue(&self) -> Option<Var> {
        self.queue.get(self.queue_head).copied()
    }

    pub(crate) fn dequeue(&mut self) {
        let var = self.queue[self.queue_head];
        self.vars[var as usize].queued = false;
        self.queue_head += 1;
        if self.queue_head == self.queue.len() {
            self.queue.clear();
            self.queue_head = 0;
        }
    }

    pub(super) fn clear_queue(&mut self) {
        for var in self.queue.drain(..) {
            self.vars[var as usize].queued = false;
        }
        self.queue_head = 0;
    }
}
