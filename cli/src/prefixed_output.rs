//! The output of parts of a run that go on at the same time, such as of several machines: whole lines, each with the
//! name of its part.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Map, Value, json};

use crate::output::{PartLine, Stream};
use crate::show::padded;

/// How the lines of a part show its name.
#[derive(Debug, Clone)]
pub(crate) enum PartMark {
    /// In front of each line.
    Prefix(String),
    /// The name of a machine, as the first field of each line that is a JSON object.
    Machine(String),
}

impl PartMark {
    /// The mark of text: the names of all parts are as wide.
    pub(crate) fn prefix(name: &str, width: usize) -> Self {
        Self::Prefix(format!("{} | ", padded(name, width)))
    }

    /// The mark of JSON lines.
    pub(crate) fn field(name: &str) -> Self {
        Self::Machine(name.to_owned())
    }

    fn marked(&self, line: &str) -> String {
        match self {
            Self::Prefix(prefix) => format!("{prefix}{line}").trim_end().to_owned() + "\n",
            Self::Machine(name) => {
                let Ok(fields) = serde_json::from_str::<Map<String, Value>>(line) else {
                    return line.to_owned();
                };
                let mut marked = Map::from_iter([("machine".to_owned(), json!(name))]);
                marked.extend(fields);
                format!("{}\n", Value::Object(marked))
            }
        }
    }
}

/// The lines of all parts, in the order in which they are complete.
pub(crate) fn part_lines() -> (Sender<PartLine>, Receiver<PartLine>) {
    channel()
}

/// A stream of a part: passes complete lines on.
pub(crate) struct PartWriter {
    stream: Stream,
    mark: PartMark,
    lines: Sender<PartLine>,
    pending: Vec<u8>,
}

impl PartWriter {
    pub(crate) fn new(stream: Stream, mark: PartMark, lines: &Sender<PartLine>) -> Self {
        Self {
            stream,
            mark,
            lines: lines.clone(),
            pending: Vec::new(),
        }
    }

    fn pass(&self, line: &[u8]) {
        let text = self.mark.marked(&String::from_utf8_lossy(line));
        let stream = self.stream;
        // If nobody reads any more, the run ends.
        let _ = self.lines.send(PartLine { stream, text });
    }
}

impl io::Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        while let Some(end) = self.pending.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.pending.drain(..=end).collect();
            self.pass(&line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let mut line = std::mem::take(&mut self.pending);
            line.push(b'\n');
            self.pass(&line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn lines(mark: &PartMark, texts: &[&str]) -> Vec<String> {
        let (sender, receiver) = part_lines();
        let mut writer = PartWriter::new(Stream::Data, mark.clone(), &sender);
        for text in texts {
            writer.write_all(text.as_bytes()).expect("it is in memory");
        }
        drop((writer, sender));
        receiver.iter().map(|line| line.text).collect()
    }

    #[test]
    fn lines_are_whole_and_marked() {
        let prefix = PartMark::prefix("web", 5);
        let expected = ["web   | one\n", "web   |\n", "web   | end\n"];
        assert_eq!(lines(&prefix, &["on", "e\n\n", "end"]), expected);
        let field = PartMark::field("a\"b");
        let expected = ["{\"machine\":\"a\\\"b\",\"event\":\"x\"}\n"];
        assert_eq!(lines(&field, &["{\"event\":", "\"x\"}\n"]), expected);
    }
}
