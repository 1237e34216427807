//! Pages of Markdown, and the fenced blocks in them.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// The root of the project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A page of Markdown.
pub(crate) struct Page {
    /// Its path below the root of the project.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// A fenced block of a page.
pub(crate) struct Block<'a> {
    /// The word after the opening fence; empty if there is none.
    pub(crate) language: &'a str,
    pub(crate) text: &'a str,
    /// Where the text is in the page, in bytes.
    pub(crate) range: Range<usize>,
    /// The number of the line with the opening fence.
    pub(crate) line: usize,
    /// The line before the block, which can be a comment about it.
    pub(crate) line_before: &'a str,
}

impl Page {
    /// The page at a path below the root of the project.
    pub(crate) fn read(name: &str) -> Self {
        let text = std::fs::read_to_string(root().join(name)).expect("a page can be read");
        let name = name.to_owned();
        Self { name, text }
    }

    /// The README, the book, and what contributors read.
    pub(crate) fn all() -> Vec<Self> {
        let docs = std::fs::read_dir(root().join("docs")).expect("the book is there");
        let mut names: Vec<String> = docs
            .map(|entry| entry.expect("an entry of it").file_name())
            .map(|name| format!("docs/{}", name.to_string_lossy()))
            .filter(|name| name.ends_with(".md"))
            .chain(["README.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned))
            .collect();
        names.sort();
        names.iter().map(|name| Self::read(name)).collect()
    }

    /// The value of the comment `<!-- NAME: VALUE -->` in the first line of the page.
    pub(crate) fn comment(&self, name: &str) -> Option<&str> {
        comment(self.text.lines().next().unwrap_or_default(), name)
    }

    /// Whether the commands of each section run in a folder of their own, which has nothing but the files that the
    /// section shows.
    pub(crate) fn is_fresh(&self) -> bool {
        self.comment("folder") == Some("fresh")
    }

    /// Whether the page begins in an empty folder, and shows all files that its commands need and do not write.
    pub(crate) fn has_files(&self) -> bool {
        self.is_fresh() || self.comment("folder") == Some("empty")
    }

    /// Where the section of a place begins, in bytes.
    pub(crate) fn section_of(&self, place: usize) -> usize {
        self.text[..place].rfind("\n## ").unwrap_or_default()
    }

    /// The fenced blocks, in their order.
    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut is_inside = false;
        let mut line_before = "";
        let mut start = 0;
        for (number, line) in self.text.split_inclusive('\n').enumerate() {
            let end = start + line.len();
            let line = line.trim_end_matches('\n');
            match (line.strip_prefix("```"), is_inside) {
                (Some(language), false) => {
                    blocks.push(Block {
                        language,
                        text: "",
                        range: end..end,
                        line: number + 1,
                        line_before,
                    });
                    is_inside = true;
                }
                (Some(_), true) => is_inside = false,
                (None, true) => {
                    let block = blocks.last_mut().expect("a block was begun");
                    block.range.end = end;
                    block.text = &self.text[block.range.clone()];
                }
                // Tests would not see it.
                (None, false) => assert!(
                    !line.trim_start().starts_with("```"),
                    "{}:{}: a block that is indented",
                    self.name,
                    number + 1
                ),
            }
            line_before = line;
            start = end;
        }
        assert!(!is_inside, "{}: the last block has no end", self.name);
        blocks
    }

    /// The lines outside of blocks.
    pub(crate) fn prose(&self) -> Vec<&str> {
        let mut is_inside = false;
        let mut lines = Vec::new();
        for line in self.text.lines() {
            if line.starts_with("```") {
                is_inside = !is_inside;
            } else if !is_inside {
                lines.push(line);
            }
        }
        lines
    }

    pub(crate) fn has_block_in(&self, language: &str) -> bool {
        self.blocks().iter().any(|block| block.language == language)
    }
}

impl Block<'_> {
    /// The path of the file that the block shows, on a page whose commands run in empty folders: the line before is
    /// the path as code, and a colon.
    pub(crate) fn file(&self) -> Option<&str> {
        let path = self.line_before.strip_prefix('`')?.strip_suffix("`:")?;
        Some(path).filter(|path| !path.contains('`'))
    }
}

/// The value of the comment `<!-- NAME: VALUE -->`, if the line is one.
pub(crate) fn comment<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inside.strip_prefix(name)?.strip_prefix(": ")
}

#[test]
fn blocks_are_found_with_the_text_before_them() {
    let text = "<!-- folder: a/b -->\n# Title\n```sh\nx\n```\n<!-- exit: 1 -->\n```console\n$ y\nz\n```\nend\n";
    let page = Page {
        name: "page".to_owned(),
        text: text.to_owned(),
    };
    assert_eq!(page.comment("folder"), Some("a/b"));
    let blocks = page.blocks();
    let found: Vec<(&str, &str, usize)> = blocks
        .iter()
        .map(|block| (block.language, block.text, block.line))
        .collect();
    assert_eq!(found, [("sh", "x\n", 3), ("console", "$ y\nz\n", 7)]);
    assert_eq!(comment(blocks[0].line_before, "exit"), None);
    assert_eq!(comment(blocks[1].line_before, "exit"), Some("1"));
    assert_eq!(page.prose().last(), Some(&"end"));
}
