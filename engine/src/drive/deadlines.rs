//! When a run ends although work is left: its longest time, and the end of the wait for commands that were killed.

use std::time::Duration;

use crate::target::GRACE;

/// How long a run that is over waits for the commands that it killed.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// The deadlines that are still to come.
#[derive(Debug, Default)]
pub(super) struct Deadlines {
    /// When nothing new starts any more, and running commands are asked to end.
    end_at: Option<Duration>,
    /// When commands that still run are killed.
    kill_at: Option<Duration>,
    /// When killed commands are not waited for any longer.
    give_up_at: Option<Duration>,
    is_out_of_time: bool,
}

impl Deadlines {
    pub(super) fn new(max_runtime: Option<Duration>) -> Self {
        Self {
            end_at: max_runtime,
            kill_at: max_runtime.map(|limit| limit + GRACE),
            ..Self::default()
        }
    }

    /// Whether the longest time of the run has passed.
    pub(super) fn is_out_of_time(&self) -> bool {
        self.is_out_of_time
    }

    /// The next deadline.
    pub(super) fn next(&self) -> Option<Duration> {
        let all = [self.end_at, self.kill_at, self.give_up_at];
        all.into_iter().flatten().min()
    }

    /// Whether a run that was interrupted does not wait for killed commands any longer. The wait begins with the first
    /// call.
    pub(super) fn gives_up(&mut self, now: Duration) -> bool {
        now >= *self.give_up_at.get_or_insert(now + KILL_GRACE)
    }

    /// How many interrupts of the run are due: two ask what runs to end, and a third one kills it.
    pub(super) fn due_interrupts(&mut self, now: Duration) -> usize {
        let is_due = |at: &mut Duration| *at <= now;
        let mut interrupts = 0;
        if self.end_at.take_if(is_due).is_some() {
            interrupts += 2;
        }
        if self.kill_at.take_if(is_due).is_some() {
            interrupts += 1;
        }
        self.is_out_of_time |= interrupts > 0;
        interrupts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_too_long_is_asked_to_end_and_then_killed() {
        let seconds = Duration::from_secs;
        let mut deadlines = Deadlines::new(Some(seconds(60)));
        assert_eq!(deadlines.next(), Some(seconds(60)));
        assert_eq!(deadlines.due_interrupts(seconds(59)), 0);
        assert!(!deadlines.is_out_of_time());
        assert_eq!(deadlines.due_interrupts(seconds(60)), 2);
        assert!(deadlines.is_out_of_time());
        assert_eq!(deadlines.next(), Some(seconds(60) + GRACE));
        assert_eq!(deadlines.due_interrupts(seconds(60) + GRACE), 1);
        assert_eq!(deadlines.next(), None);

        assert!(!deadlines.gives_up(seconds(70)));
        assert_eq!(deadlines.next(), Some(seconds(70) + KILL_GRACE));
        assert!(deadlines.gives_up(seconds(70) + KILL_GRACE));
    }
}
