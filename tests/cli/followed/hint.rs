//! The hints in the output of a command, and the commands in them.

/// The options with a value in hints and in the commands that print them.
const TAKE_VALUES: [&str; 10] = [
    "--core-library",
    "--exclude-newer",
    "--max-steps",
    "--name",
    "--object",
    "--output",
    "--prerelease",
    "--provide",
    "--registry",
    "--state",
];

/// Those of them that can be repeated.
const REPEATED: [&str; 2] = ["--provide", "--registry"];

/// A hint, and the finding that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hint {
    /// The first line of the finding; empty if there is none.
    pub(super) finding: String,
    /// The line with the hint.
    pub(super) text: String,
    /// Whether the line is marked as a hint.
    pub(super) is_marked: bool,
}

/// What a hint says to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Suggestion {
    /// A whole command line.
    Command(String),
    /// Options to add to the command that printed the hint.
    Options(String),
    /// An option that this command does better without.
    Without(String),
}

/// The hints of an output: lines that begin with `hint: ` or `tip: `, and all other lines with a command in quotes. The
/// lines of a JSON document are none.
pub(super) fn hints(output: &str) -> Vec<Hint> {
    let mut finding = "";
    let mut hints = Vec::new();
    for line in output.lines() {
        let is_finding = ["error", "warning"]
            .iter()
            .any(|start| line.starts_with(start));
        if is_finding {
            finding = line;
        }
        let is_json = line.trim_start().starts_with(['"', '{']);
        let is_marked = ["hint: ", "tip: "]
            .iter()
            .any(|mark| line.trim_start().starts_with(mark));
        if is_marked || !is_json && line.contains("`pkgres ") {
            hints.push(Hint {
                finding: finding.to_owned(),
                text: line.trim_start().to_owned(),
                is_marked,
            });
        }
    }
    hints
}

impl Hint {
    /// Everything that the hint says to run.
    pub(super) fn suggestions(&self) -> Vec<Suggestion> {
        let mut found = Vec::new();
        let parts: Vec<&str> = self.text.split('`').collect();
        for pair in parts.chunks_exact(2) {
            let (before, quoted) = (pair[0], pair[1].to_owned());
            if quoted.starts_with("pkgres ") || quoted.contains(" pkgres ") {
                // A command without arguments is only named, unless it is in a hint.
                if self.is_marked || has_arguments(&quoted) {
                    found.push(Suggestion::Command(quoted));
                }
            } else if quoted.starts_with("--") && self.is_marked {
                found.push(if before.to_lowercase().ends_with("without ") {
                    Suggestion::Without(quoted)
                } else {
                    Suggestion::Options(quoted)
                });
            }
        }
        if self.text.starts_with("tip: ") {
            let quoted = self.text.split('\'').skip(1).step_by(2);
            let commands =
                quoted.filter(|quoted| quoted.starts_with("pkgres ") && has_arguments(quoted));
            found.extend(commands.map(|command| Suggestion::Command(command.to_owned())));
        }
        found
    }
}

impl Suggestion {
    /// What is in quotes.
    pub(super) fn text(&self) -> &str {
        let (Self::Command(text) | Self::Options(text) | Self::Without(text)) = self;
        text
    }

    /// Whether it is an option that lacks a value.
    pub(super) fn lacks_value(&self) -> bool {
        matches!(self, Self::Options(options) if TAKE_VALUES.contains(&options.as_str()))
    }

    /// The commands and options of a suggestion, without values. Suggestions of one kind are sampled together.
    pub(super) fn kind(&self, printed_by: &str) -> String {
        let kind = |text: &str| {
            let command = text.split(' ').skip_while(|word| *word != "pkgres").nth(1);
            let options = text.split(' ').filter(|word| word.starts_with('-'));
            command
                .into_iter()
                .chain(options)
                .collect::<Vec<_>>()
                .join(" ")
        };
        format!("{}: {}", kind(printed_by), kind(self.text()))
    }

    /// The line to run instead of one that printed the hint.
    pub(super) fn line(&self, printed_by: &str) -> String {
        let mut words: Vec<&str> = printed_by.split(' ').collect();
        match self {
            Self::Command(line) => return line.clone(),
            Self::Without(options) => remove(&mut words, options),
            Self::Options(options) => {
                // They replace what is there.
                for option in options.split(' ').filter(|word| word.starts_with("--")) {
                    let option = option.split('=').next().expect("there is a first part");
                    if !REPEATED.contains(&option) {
                        remove(&mut words, option);
                        remove(&mut words, &option.replacen("--no-", "--", 1));
                    }
                }
                words.push(options);
            }
        }
        words.join(" ")
    }
}

/// Whether a command line has more than the name of a command.
fn has_arguments(line: &str) -> bool {
    line.split(' ').count() > 2
}

/// Removes an option and its value.
fn remove(words: &mut Vec<&str>, option: &str) {
    while let Some(at) = words
        .iter()
        .position(|word| word.split('=').next() == Some(option))
    {
        let is_value = |word: &&str| TAKE_VALUES.contains(&option) && !word.starts_with('-');
        let has_value = !words[at].contains('=') && words.get(at + 1).is_some_and(is_value);
        words.drain(at..=at + usize::from(has_value));
    }
}

/// Whether a text contains a placeholder, such as `FOLDER`.
pub(super) fn has_placeholder(text: &str) -> bool {
    let is_placeholder = |word: &str| {
        let word = word.trim_end_matches(['.', '…']);
        word.len() > 1
            && word
                .chars()
                .all(|letter| letter.is_ascii_uppercase() || letter == '_')
    };
    text.contains('…')
        || text
            .split([' ', ':', '@', '=', '\'', '[', ']'])
            .enumerate()
            .any(|(number, word)| {
                is_placeholder(word) && !(number == 0 && word.starts_with("PKGRES_"))
            })
}

#[test]
fn hints_belong_to_findings() {
    let output = "error[PK0024]: there is no lock\nhint: `pkgres lock app` writes it, `--frozen` does not\n\
                  error: unrecognized\n  tip: 'pkgres lock -q' exists, 'pkgres why' too\n  \"hint\": `pkgres tree`\n\
                  see `pkgres tree`, or run without `--frozen`\nhint: run without `--frozen`\n";
    let hints = hints(output);
    assert_eq!(hints.len(), 4);
    assert_eq!(hints[0].finding, "error[PK0024]: there is no lock");
    let suggested: Vec<String> = hints
        .iter()
        .flat_map(Hint::suggestions)
        .map(|suggestion| suggestion.line("pkgres tree --frozen --prerelease never app"))
        .collect();
    let expected = [
        "pkgres lock app",
        "pkgres tree --prerelease never app --frozen",
        "pkgres lock -q",
        "pkgres tree --prerelease never app",
    ];
    assert_eq!(suggested, expected);
    let allow = Suggestion::Options("--prerelease allow".to_owned());
    let line = "pkgres tree --prerelease never app";
    assert_eq!(allow.line(line), "pkgres tree app --prerelease allow");
    let none = Suggestion::Options("--no-core-library".to_owned());
    let line = "pkgres tree --core-library org.example.Core";
    assert_eq!(none.line(line), "pkgres tree --no-core-library");
    for (text, expected) in [
        ("pkgres add PACKAGE", true),
        ("pkgres yank org.example.A@VERSION", true),
        ("--registry dir:FOLDER", true),
        ("PKGRES_LOCKED=false pkgres lock 'my app'", false),
    ] {
        assert_eq!(has_placeholder(text), expected, "{text}");
    }
}
