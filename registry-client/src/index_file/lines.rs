//! The lines of a file, in a buffer.

use std::io::{self, Read};

use memchr::memchr;

/// The number of bytes of the file that are read at a time.
const BUFFER_BYTES: usize = 1 << 17;

/// The most bytes that are kept of a line that is too long.
const HEAD_BYTES: usize = 1 << 12;

/// Iterates over lines. Only a line that crosses the end of the buffer is copied.
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// The start of the next line in the buffer.
    start: usize,
    /// The end of the bytes in the buffer.
    end: usize,
    /// The start of the next line in the file.
    position: u64,
    limit: usize,
    /// The beginning of the last line that was too long.
    head: Vec<u8>,
}

/// A line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'buffer> {
    /// A line from `start`; the next one starts at `end`. `content` is without white space at its end.
    Whole {
        start: u64,
        end: u64,
        content: &'buffer [u8],
    },
    /// It is longer than a line may be, and begins like this.
    TooLong { head: &'buffer [u8] },
}

impl<R: Read> Lines<R> {
    /// The lines of an input, none of which may have more than `limit` bytes.
    pub(super) fn new(input: R, limit: u64) -> Self {
        Self {
            input,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            position: 0,
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            head: Vec::new(),
        }
    }

    /// The next line. A line that is too long is skipped to its end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        // Only new bytes are searched for the end of the line.
        let mut searched = self.start;
        let end = loop {
            if let Some(found) = memchr(b'\n', &self.buffer[searched..self.end]) {
                break searched + found + 1;
            }
            searched = self.end;
            // One more byte may be a carriage return.
            if self.end - self.start > self.limit.saturating_add(1) {
                self.keep_head(self.start, self.end);
                self.skip_to_end()?;
                return Ok(Some(Line::TooLong { head: &self.head }));
            }
            let moved = self.make_room();
            searched -= moved;
            let read = self.read()?;
            if read == 0 {
                break self.end;
            }
            self.end += read;
        };
        let line = &self.buffer[self.start..end];
        if line.is_empty() {
            return Ok(None);
        }
        let start = self.position;
        self.position += line.len() as u64;
        self.start = end;
        let length = line.trim_ascii_end().len();
        let begin = end - line.len();
        if length > self.limit {
            self.keep_head(begin, end);
            return Ok(Some(Line::TooLong { head: &self.head }));
        }
        Ok(Some(Line::Whole {
            start,
            end: self.position,
            content: &self.buffer[begin..begin + length],
        }))
    }

    /// Keeps the beginning of a line in the buffer.
    fn keep_head(&mut self, start: usize, end: usize) {
        let end = end.min(start + HEAD_BYTES);
        self.head.clear();
        self.head.extend_from_slice(&self.buffer[start..end]);
    }

    /// Reads to the end of a line without keeping it.
    fn skip_to_end(&mut self) -> io::Result<()> {
        loop {
            let rest = &self.buffer[self.start..self.end];
            let found = memchr(b'\n', rest);
            let skipped = found.map_or(rest.len(), |found| found + 1);
            self.position += skipped as u64;
            self.start += skipped;
            if found.is_some() {
                return Ok(());
            }
            (self.start, self.end) = (0, 0);
            self.end = self.read()?;
            if self.end == 0 {
                return Ok(());
            }
        }
    }

    /// Makes room for more bytes; returns by how many bytes the line was moved to the front.
    fn make_room(&mut self) -> usize {
        let moved = self.start;
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= moved;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        moved
    }

    fn read(&mut self) -> io::Result<usize> {
        loop {
            match self.input.read(&mut self.buffer[self.end..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out a few bytes at a time.
    struct Drip<'text>(&'text [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn collect(text: &[u8], portion: usize, limit: u64) -> Vec<Option<(u64, u64, Vec<u8>)>> {
        let mut lines = Lines::new(Drip(text, portion), limit);
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            match line {
                Line::Whole {
                    start,
                    end,
                    content,
                } => found.push(Some((start, end, content.to_vec()))),
                Line::TooLong { head } => {
                    assert!(text.windows(head.len()).any(|part| part == head));
                    found.push(None);
                }
            }
        }
        found
    }

    #[test]
    fn lines_are_found_however_they_arrive() {
        let text = b"one\n\ntwo \r\nlast";
        let line = |start, end, content: &[u8]| Some((start, end, content.to_vec()));
        for portion in [1, 2, 3, 100] {
            assert_eq!(
                collect(text, portion, 5),
                [
                    line(0, 4, b"one"),
                    line(4, 5, b""),
                    line(5, 11, b"two"),
                    line(11, 15, b"last"),
                ],
                "{portion}"
            );
        }
        assert_eq!(collect(b"", 1, 5), []);
    }

    #[test]
    fn lines_may_be_longer_than_the_buffer_but_not_than_the_limit() {
        let long = vec![b'x'; BUFFER_BYTES * 3];
        let text = [b"a\n", long.as_slice(), b"\nb\n"].concat();
        let length = long.len() as u64;
        for portion in [1000, BUFFER_BYTES, text.len()] {
            let found = collect(&text, portion, length);
            assert_eq!(found.len(), 3);
            assert_eq!(found[1], Some((2, length + 3, long.clone())));
            assert_eq!(found[2], Some((length + 3, length + 5, b"b".to_vec())));
            let found = collect(&text, portion, length - 1);
            let after = Some((length + 3, length + 5, b"b".to_vec()));
            assert_eq!(found[1..], [None, after]);
            // Nothing of it is kept, however long it is.
            assert_eq!(collect(&text, portion, 5)[1..], found[1..]);
        }
    }
}
