//! Output of runs that end before they begin: usage errors, help and the version.

use std::borrow::Cow;
use std::io::{self, Write as _};

use anstream::AutoStream;
use terminal_size::{Width, terminal_size_of};

use crate::output::{color_choice, cut_short, is_reader_gone};
use crate::show;
use crate::terminal_text::harmless;

/// Writes the usage error of a command line that does not parse, with styles as in a message of a run.
pub(crate) fn usage_error(text: &str, color: clap::ColorChoice) {
    let choice = color_choice(color, &io::stderr());
    let mut stderr = AutoStream::new(io::stderr(), choice);
    let text = harmless(text);
    let text = match terminal_size_of(io::stderr()) {
        Some((Width(width), _)) => Cow::Owned(show::wrapped(&text, width.into())),
        None => text,
    };
    // There is no way to report that stderr cannot be written.
    let _ = stderr.write_all(text.as_bytes());
}

/// Writes requested help or the version to stdout. The parser breaks all lines but the usage, which may be wider than the
/// terminal.
pub(crate) fn help(help: &clap::Error, color: clap::ColorChoice) -> io::Result<()> {
    let Some((Width(width), _)) = terminal_size_of(io::stdout()) else {
        help.print()?;
        return io::stdout().flush();
    };
    let choice = color_choice(color, &io::stdout());
    let mut stdout = AutoStream::new(io::stdout(), choice);
    for line in help.render().ansi().to_string().split_inclusive('\n') {
        let is_usage = line.contains("Usage:");
        let line = if is_usage {
            Cow::Owned(show::wrapped(line, width.into()))
        } else {
            Cow::Borrowed(line)
        };
        stdout.write_all(line.as_bytes())?;
    }
    stdout.flush()
}

/// Reports that help or the version could not be written. Returns whether that is an error.
pub(crate) fn report_cut_short(result: io::Result<()>) -> bool {
    match result {
        Err(error) if !is_reader_gone(&error) => {
            let _ = writeln!(
                io::stderr(),
                "{}",
                show::diagnostic(&cut_short(&error), false)
            );
            true
        }
        _ => false,
    }
}
