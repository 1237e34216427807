//! The output of parts of a run: captured, or passed on line by line.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// A stream in memory.
#[derive(Debug, Default, Clone)]
pub(super) struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    pub(super) fn text(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl io::Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A message that several parts of a run can have.
pub(super) struct SharedMessage {
    /// Where it is in the bytes of stderr.
    pub(super) place: Range<usize>,
    /// The text that identifies it.
    pub(super) key: String,
}

/// The captured output of a part of a run.
pub(crate) struct Captured {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// Its warnings and shared notes, in the order in which they are in `stderr`.
    pub(super) shared: Vec<SharedMessage>,
    /// Whether its data begins with its name.
    pub(super) has_title: bool,
}

impl Captured {
    /// The messages without those that were reported before, which are remembered in `reported`.
    pub(super) fn new_messages(&self, reported: &mut BTreeSet<String>) -> String {
        let mut text = String::with_capacity(self.stderr.len());
        let mut written = 0;
        for SharedMessage { place, key } in &self.shared {
            text.push_str(&self.stderr[written..place.start]);
            if reported.insert(key.clone()) {
                text.push_str(&self.stderr[place.clone()]);
            }
            written = place.end;
        }
        text.push_str(&self.stderr[written..]);
        text
    }
}

/// Where a line goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Data,
    Messages,
}

/// A whole line of a part of a run that goes on beside others.
pub(crate) struct PartLine {
    pub(crate) stream: Stream,
    pub(crate) text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_messages_are_reported_once() {
        let part = |stderr: &str, place: Range<usize>| Captured {
            stdout: String::new(),
            stderr: stderr.to_owned(),
            shared: vec![SharedMessage {
                key: stderr[place.clone()].to_owned(),
                place,
            }],
            has_title: false,
        };
        let mut reported = BTreeSet::new();
        let first = part("a\nshared\nb\n", 2..9);
        assert_eq!(first.new_messages(&mut reported), "a\nshared\nb\n");
        let second = part("shared\nc\n", 0..7);
        assert_eq!(second.new_messages(&mut reported), "c\n");
    }
}
