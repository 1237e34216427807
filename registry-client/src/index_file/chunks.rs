//! Reads all records of a file on several threads.
//!
//! The file is read in chunks of whole lines. A thread that has finished a chunk fetches the next one, so that only
//! the chunks being read are in memory. The result does not depend on which thread reads a chunk: chunks are put
//! together in order, and a file with an error anywhere has no result.

use std::io::{self, Read};
use std::sync::Mutex;

use memchr::{memchr, memchr_iter, memrchr};
use pkgres_manifest::diagnostic::{Location, SourceText};
use pkgres_manifest::{IndexReader, IndexRecord, Limits};

use super::records::without_mark;
use crate::threads::lock;

/// The size of a chunk in bytes: enough for hundreds of lines, and little enough for all threads to end at about the
/// same time.
pub(super) const CHUNK_BYTES: usize = 1 << 16;

/// The shortest line with a record: `{"name":"a","version":"1"}`.
const SHORTEST_LINE: usize = 26;

/// The records of each chunk of an input, in the order of the file. Reads it to its end on a number of threads, this
/// one included, in chunks of about `chunk` bytes; `None` if a line has an error, or the input cannot be read.
pub(super) fn read_all(
    input: impl Read + Send,
    limits: &Limits,
    threads: usize,
    chunk: usize,
) -> Option<Vec<Vec<IndexRecord>>> {
    let chunks = Mutex::new(Chunks::new(input, limits, chunk));
    let mut parts = std::thread::scope(|scope| {
        let work = || read_chunks(&chunks, limits);
        // A thread that cannot be started is one less.
        let others: Vec<_> = (1..threads)
            .filter_map(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok())
            .collect();
        let own = work();
        let others = others.into_iter().map(|other| other.join().ok().flatten());
        let parts: Option<Vec<Vec<_>>> = others.chain([own]).collect();
        Some(parts?.into_iter().flatten().collect::<Vec<_>>())
    })?;
    parts.sort_unstable_by_key(|(number, _)| *number);
    Some(parts.into_iter().map(|(_, records)| records).collect())
}

/// Reads chunks until there are no more; returns the records of each with its number.
fn read_chunks<R: Read>(
    chunks: &Mutex<Chunks<R>>,
    limits: &Limits,
) -> Option<Vec<(usize, Vec<IndexRecord>)>> {
    let mut reader = IndexReader::of_ecosystems(limits.clone(), pkgres_formats::ECOSYSTEMS);
    let mut buffer = Vec::new();
    let mut parts = Vec::new();
    loop {
        // The lock is released before the chunk is read.
        let fetched = lock(chunks).fetch(&mut buffer);
        let Some(number) = fetched.transpose() else {
            return Some(parts);
        };
        let records = number.ok().and_then(|number| {
            let bytes = without_mark(&buffer, number == 1);
            Some((number, read_lines(bytes, &mut reader, limits)?))
        });
        if records.is_none() {
            // The other threads stop, too.
            lock(chunks).is_over = true;
        }
        parts.push(records?);
    }
}

/// The records of whole lines, unless one has an error.
fn read_lines(bytes: &[u8], reader: &mut IndexReader, limits: &Limits) -> Option<Vec<IndexRecord>> {
    let text = std::str::from_utf8(bytes).ok()?;
    let longest = longest_line(limits);
    // The location is never shown.
    let nowhere = |span| Location::new(&SourceText::new("", ""), span);
    let lines = memchr_iter(b'\n', bytes).count() + 1;
    let mut records = Vec::with_capacity(lines.min(bytes.len() / SHORTEST_LINE));
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        if end > longest {
            return None;
        }
        let line = rest[..end].trim_ascii_end();
        if !line.is_empty() {
            records.push(reader.read_line(line, &nowhere).ok()?);
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Some(records)
}

/// The longest line that is accepted, with the white space at its end; see [`Lines`].
///
/// [`Lines`]: super::lines::Lines
fn longest_line(limits: &Limits) -> usize {
    usize::try_from(limits.index_line_bytes)
        .unwrap_or(usize::MAX)
        .saturating_add(1)
}

/// An input that is cut at the ends of lines.
struct Chunks<R> {
    input: R,
    chunk: usize,
    longest_line: usize,
    /// The number of chunks that were fetched.
    count: usize,
    /// Whether the input has ended.
    is_over: bool,
    /// The start of a line whose end is in the next chunk.
    begun: Vec<u8>,
}

impl<R: Read> Chunks<R> {
    fn new(input: R, limits: &Limits, chunk: usize) -> Self {
        Self {
            input,
            chunk,
            longest_line: longest_line(limits),
            count: 0,
            is_over: false,
            begun: Vec::new(),
        }
    }

    /// Fetches the next whole lines; returns the number of chunks before them.
    fn fetch(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
        buffer.clear();
        if self.is_over {
            return Ok(None);
        }
        buffer.append(&mut self.begun);
        loop {
            let before = buffer.len();
            buffer.reserve(self.chunk);
            let mut input = self.input.by_ref().take(self.chunk as u64);
            let read = input.read_to_end(buffer)?;
            if read < self.chunk {
                self.is_over = true;
                break;
            }
            if let Some(end) = memrchr(b'\n', &buffer[before..]) {
                let end = before + end + 1;
                self.begun.extend_from_slice(&buffer[end..]);
                buffer.truncate(end);
                break;
            }
            if buffer.len() > self.longest_line {
                return Err(io::Error::other("a line is too long"));
            }
        }
        self.count += 1;
        Ok(Some(self.count))
    }
}

#[cfg(test)]
mod tests {
    use sha2::{Digest as _, Sha256};

    use super::super::lines::{Line, Lines};
    use super::*;
    use crate::index_cache::{HashingReader, Sha256Digest};

    const LIMIT: u64 = 60;

    fn limits() -> Limits {
        let mut limits = Limits::default();
        limits.index_line_bytes = LIMIT;
        limits
    }

    /// The records of all lines, read one after the other; `None` if one has an error.
    fn one_by_one(text: &[u8]) -> Option<Vec<IndexRecord>> {
        let mut lines = Lines::new(text, LIMIT);
        let mut records = Vec::new();
        while let Some(line) = lines.next().expect("memory can be read") {
            let Line::Whole { content, .. } = line else {
                return None;
            };
            if !content.is_empty() {
                let line = std::str::from_utf8(content).ok()?;
                records.push(IndexRecord::parse_line(line, &limits()).ok()?);
            }
        }
        Some(records)
    }

    fn line(package: usize, version: usize) -> String {
        format!(r#"{{"name":"a.P{package}","version":"1.{version}.0"}}"#)
    }

    /// Reads a string in every way, with equal results; returns whether it has no error.
    fn is_read_alike(text: &[u8]) -> bool {
        let expected = one_by_one(text);
        for threads in [1, 2, 7] {
            for chunk in [1, 2, 33, 100, 1000, CHUNK_BYTES] {
                let mut input = HashingReader::new(text);
                let records = read_all(&mut input, &limits(), threads, chunk);
                if records.is_some() {
                    assert_eq!(input.digest(), <Sha256Digest>::from(Sha256::digest(text)));
                }
                let records = records.map(|records| records.concat());
                assert_eq!(records, expected, "{threads} threads, {chunk} bytes");
            }
        }
        expected.is_some()
    }

    #[test]
    fn records_are_the_same_however_many_read_them() {
        let lines: Vec<String> = (0..60).map(|at| line(at * 7 % 10, at)).collect();
        let text = lines.join("\n");
        assert!(
            is_read_alike(text.as_bytes()),
            "without a line end at the end"
        );
        assert!(is_read_alike(format!("{text}\n").as_bytes()));
        assert!(is_read_alike(text.replace('\n', "\r\n").as_bytes()));
        assert!(is_read_alike(text.replace('\n', "\n\n \r\n").as_bytes()));
        assert!(
            is_read_alike(format!("{text}\n{text}").as_bytes()),
            "lines twice"
        );
        for short in ["", "\n", "\r\n", " ", &line(1, 1)] {
            assert!(is_read_alike(short.as_bytes()), "{short:?}");
        }
    }

    #[test]
    fn a_fault_anywhere_is_a_fault_however_many_read() {
        let lines: Vec<String> = (0..40).map(|at| line(at / 10, at)).collect();
        let long = format!(
            r#"{{"name":"a.P","version":"1.0.0","x":"{}"}}"#,
            "x".repeat(60)
        );
        for fault in ["{", "nonsense", r#"{"name":"a.P","version":"one"}"#, &long] {
            for at in 0..=lines.len() {
                let mut lines = lines.clone();
                lines.insert(at, fault.to_owned());
                assert!(
                    !is_read_alike(lines.join("\n").as_bytes()),
                    "{fault} at {at}"
                );
            }
        }
        let mut text = lines.join("\n").into_bytes();
        assert!(is_read_alike(&text));
        for at in [0, 500, text.len() - 1] {
            let before = std::mem::replace(&mut text[at], 0xff);
            assert!(!is_read_alike(&text), "not UTF-8 at {at}");
            text[at] = before;
        }
    }

    #[test]
    fn lines_have_a_limit_with_the_white_space_at_their_end() {
        let short = line(1, 1);
        let limit = usize::try_from(LIMIT).expect("it is small");
        for (bytes, is_right) in [(limit, true), (limit + 1, true), (limit + 2, false)] {
            let padded = format!("{short}{}", " ".repeat(bytes - short.len()));
            for text in [padded.clone(), format!("{short}\n{padded}\n{short}\n")] {
                for (threads, chunk) in [(1, 1), (2, 50), (2, CHUNK_BYTES)] {
                    let records = read_all(text.as_bytes(), &limits(), threads, chunk);
                    assert_eq!(records.is_some(), is_right, "{bytes} bytes");
                }
            }
        }
    }

    #[test]
    fn an_unreadable_input_has_no_records() {
        struct Failing;

        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::TimedOut.into())
            }
        }

        let text = vec![line(1, 1); 20].join("\n");
        for threads in [1, 2, 7] {
            let input = text.as_bytes().chain(Failing);
            assert!(read_all(input, &limits(), threads, 100).is_none());
        }
    }
}
