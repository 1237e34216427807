//! Lines around a syntax error.

/// The most lines before an error that are searched for its cause, and the most bytes of such a line.
const MOST_LINES: usize = 64;
const MOST_BYTES: usize = 1_000;

/// A line of the text, without its line feed.
#[derive(Clone, Copy)]
pub(super) struct Line<'text> {
    pub(super) start: usize,
    pub(super) text: &'text str,
}

impl<'text> Line<'text> {
    pub(super) fn at(text: &'text str, offset: usize) -> Self {
        let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let line = text[start..end].trim_end_matches('\r');
        Self { start, text: line }
    }

    /// The lines before this one, nearest first, without those that are blank, comments or very long.
    pub(super) fn before(self, text: &'text str) -> impl Iterator<Item = Self> {
        let all = std::iter::successors(Some(self), move |line| {
            let end = line.start.checked_sub(1)?;
            Some(Self::at(text, end))
        });
        all.skip(1).take(MOST_LINES).filter(|line| {
            let content = line.content();
            !content.is_empty() && !content.starts_with('#') && line.text.len() <= MOST_BYTES
        })
    }

    pub(super) fn indentation(self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    /// The line without indentation and what follows.
    pub(super) fn content(self) -> &'text str {
        self.text.trim()
    }

    /// The line without its comment.
    pub(super) fn without_comment(self) -> &'text str {
        let end = self.text.find(" #").unwrap_or(self.text.len());
        self.text[..end].trim_end()
    }

    /// The columns at which an entry beside one of this line can begin: for `- a: 1`, those of `-` and `a`.
    pub(super) fn columns(self) -> Vec<usize> {
        let mut columns = vec![self.indentation()];
        let mut rest = &self.text[self.indentation()..];
        while let Some(item) = rest.strip_prefix('-') {
            let content = item.trim_start_matches(' ');
            if content.len() == item.len() {
                break;
            }
            columns.push(self.text.len() - content.len());
            rest = content;
        }
        columns
    }

    /// Whether what the line begins may be continued by lines with more indentation: it ends with a key, with a dash
    /// or with the mark of a block of text.
    pub(super) fn is_opening(self) -> bool {
        let text = self.without_comment();
        let end = text.rsplit(' ').next().unwrap_or_default();
        text.ends_with(':') || text.trim() == "-" || end.starts_with(['|', '>', '&', '!'])
    }

    /// The quotes of the line: the place of each opening one, and of the closing one if there is one on the line.
    pub(super) fn quotes(self) -> Vec<(usize, char, Option<usize>)> {
        let mut quotes = Vec::new();
        let mut characters = self.text.char_indices().peekable();
        // Whether a value can begin here: a quote elsewhere is a character like others.
        let mut is_beginning = true;
        while let Some((at, character)) = characters.next() {
            match character {
                '\'' | '"' if is_beginning => {
                    let mut end = None;
                    while let Some((inside, next)) = characters.next() {
                        if next == '\\' && character == '"' {
                            characters.next();
                        } else if next == character {
                            let is_pair = character == '\''
                                && characters.next_if(|(_, after)| *after == '\'').is_some();
                            if !is_pair {
                                end = Some(inside);
                                break;
                            }
                        }
                    }
                    quotes.push((at, character, end));
                    is_beginning = false;
                }
                '#' if self.text[..at].ends_with(' ') => break,
                ' ' => {
                    let before = self.text[..at].trim_end_matches(' ');
                    is_beginning = is_beginning || before.ends_with([':', ',', '-']);
                }
                '[' | '{' => is_beginning = true,
                _ => is_beginning = false,
            }
        }
        quotes
    }
}
