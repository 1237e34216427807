//! Inputs that are nearly right: seeds, changed in a few places by a seeded generator.
//!
//! The same seed makes the same inputs on every machine. Apart from bytes, mutations change lines, parts in
//! brackets, indentation and numbers, because most inputs with a random byte fail at the first token.

use pkgres_tests::random::Random;

/// The most bytes of a mutated input. Growth has tests of its own.
const MAX_BYTES: usize = 8_192;

/// Words that are special in some format.
const WORDS: [&str; 42] = [
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    ": ",
    ":",
    "- ",
    ", ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "#",
    "? ",
    "| ",
    "> ",
    "&a ",
    "*a",
    "!yaql ",
    "---\n",
    "...\n",
    "<<: ",
    "~",
    "null",
    "true",
    "0",
    "-1",
    "1.10",
    "1e999",
    "\u{feff}",
    "\u{2028}",
    "\u{85}",
    "\u{202e}",
    "\u{1b}[2J",
    "\u{0}",
    "\\u0000",
    "\\ud800",
    "%0d%0a",
];

/// Returns an endless series of inputs for seeds: first the seeds themselves, then mutations of them.
///
/// # Panics
///
/// If there are no seeds.
pub fn inputs<'seeds>(
    seeds: &'seeds [Vec<u8>],
    words: &'seeds [&'static str],
    seed: u64,
) -> impl Iterator<Item = Vec<u8>> + 'seeds {
    assert!(!seeds.is_empty(), "there is something to start from");
    let mut mutator = Mutator {
        random: Random::new(seed),
        seeds,
        words,
    };
    let mutated = std::iter::repeat_with(move || mutator.next());
    seeds.iter().cloned().chain(mutated)
}

struct Mutator<'seeds> {
    random: Random,
    seeds: &'seeds [Vec<u8>],
    words: &'seeds [&'static str],
}

impl Mutator<'_> {
    /// Returns one changed seed.
    fn next(&mut self) -> Vec<u8> {
        let mut input = self.random.pick(self.seeds).clone();
        // One change mostly, so that most inputs are still read to their end.
        let changes = 1 + self.random.below(2) * self.random.below(6);
        for _ in 0..changes {
            self.change(&mut input);
            input.truncate(MAX_BYTES.max(self.longest()));
        }
        input
    }

    fn longest(&self) -> usize {
        self.seeds.iter().map(Vec::len).max().unwrap_or_default()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        match self.random.below(14) {
            0 => {
                let at = self.random.below(input.len() + 1);
                let byte = self.byte();
                input.insert(at, byte);
            }
            1 if !input.is_empty() => {
                let at = self.random.below(input.len());
                input[at] = self.byte();
            }
            2 if !input.is_empty() => {
                let at = self.random.below(input.len());
                input[at] ^= 1 << self.random.below(8);
            }
            3 => {
                let (start, end) = self.range(input.len());
                input.drain(start..end);
            }
            4 => {
                let (start, end) = self.range(input.len());
                let part = input[start..end].to_vec();
                self.insert(input, &part);
            }
            5 | 6 => {
                let word = self.word();
                self.insert(input, word.as_bytes());
            }
            7 => {
                let (start, end) = self.range(input.len());
                let word = self.word();
                input.splice(start..end, word.bytes());
            }
            8 => self.change_line(input),
            9 => self.change_number(input),
            10 => self.nest(input),
            11 => {
                let other = self.random.pick(self.seeds);
                let (start, end) = self.range(other.len());
                let part = other[start..end].to_vec();
                self.insert(input, &part);
            }
            12 => input.truncate(self.random.below(input.len() + 1)),
            _ => self.repeat(input),
        }
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.random.below(256)).expect("below 256")
    }

    fn word(&mut self) -> &'static str {
        if !self.words.is_empty() && self.random.chance(60) {
            self.random.pick::<&str>(self.words)
        } else {
            self.random.pick::<&str>(&WORDS)
        }
    }

    /// Returns the ends of a range, mostly of a short one.
    fn range(&mut self, length: usize) -> (usize, usize) {
        let start = self.random.below(length + 1);
        let most = if self.random.chance(80) { 16 } else { length };
        let end = start + self.random.below((length - start).min(most) + 1);
        (start, end)
    }

    fn insert(&mut self, input: &mut Vec<u8>, part: &[u8]) {
        let at = self.random.below(input.len() + 1);
        input.splice(at..at, part.iter().copied());
    }

    /// Removes, repeats, indents or swaps whole lines.
    fn change_line(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = input
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        if lines.is_empty() {
            return;
        }
        let (one, other) = (
            self.random.below(lines.len()),
            self.random.below(lines.len()),
        );
        match self.random.below(5) {
            0 => drop(lines.remove(one)),
            1 => lines.insert(other, lines[one].clone()),
            2 => lines.swap(one, other),
            3 => drop(lines[one].splice(0..0, *b"  ")),
            _ => {
                let blanks = lines[one].iter().take_while(|byte| **byte == b' ').count();
                lines[one].drain(..blanks.min(2));
            }
        }
        *input = lines.concat();
    }

    /// Replaces a number by an extreme one.
    fn change_number(&mut self, input: &mut Vec<u8>) {
        let start = self.random.below(input.len() + 1);
        let digit = input[start..].iter().position(u8::is_ascii_digit);
        let Some(start) = digit.map(|at| start + at) else {
            return;
        };
        let digits = input[start..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit());
        let end = start + digits.count();
        let number = self.random.pick(&[
            "0",
            "00",
            "1",
            "255",
            "65536",
            "2147483648",
            "4294967295",
            "9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "99999999999999999999999999999999999999",
        ]);
        input.splice(start..end, number.bytes());
    }

    /// Wraps a part in many brackets, closed or not.
    fn nest(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.range(input.len());
        let (open, close) = *self.random.pick(&[
            ("[", "]"),
            ("{\"a\":", "}"),
            ("(", ")"),
            ("- ", ""),
            ("{", "}"),
        ]);
        let levels = self.random.between(1, 80);
        let closed = if self.random.chance(70) { levels } else { 0 };
        let mut nested = open.repeat(levels).into_bytes();
        nested.extend_from_slice(&input[start..end]);
        nested.extend_from_slice(close.repeat(closed).as_bytes());
        input.splice(start..end, nested);
    }

    /// Repeats a part many times.
    fn repeat(&mut self, input: &mut Vec<u8>) {
        let (start, end) = self.range(input.len());
        let times = self.random.between(2, 70);
        let part = input[start..end].repeat(times);
        if part.len() <= MAX_BYTES {
            input.splice(start..end, part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_begin_with_the_seeds_and_depend_only_on_their_number() {
        let seeds = vec![b"a: 1\n".to_vec(), b"{\"b\": [2]}".to_vec()];
        let of = |seed| {
            inputs(&seeds, &["word"], seed)
                .take(200)
                .collect::<Vec<_>>()
        };
        let first = of(1);
        assert_eq!(&first[..2], &seeds[..]);
        assert_eq!(first, of(1));
        assert_ne!(first, of(2));
        let changed = first[2..].iter().filter(|input| !seeds.contains(input));
        assert!(changed.count() > 150, "most inputs differ from their seed");
    }
}
