//! The style of output, and where it goes.

use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use terminal_size::{Width, terminal_size_of};

use crate::args::{Arguments, Color, Format};
use crate::help::format_of;

/// What has styles.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Styled {
    /// Messages on stderr.
    pub(super) messages: bool,
    /// Trees and differences on stdout.
    pub(super) data: bool,
}

/// The style of output.
#[derive(Debug, Clone)]
pub(crate) struct OutputStyle {
    pub(super) format: Format,
    pub(super) quiet: bool,
    pub(super) styled: Styled,
    /// The columns of the terminal that messages go to.
    pub(super) width: Option<usize>,
    /// The columns of the terminal that data go to.
    pub(super) data_width: Option<usize>,
    /// The folder that the run changed to: commands in hints and files in annotations have it.
    pub(super) folder: Option<PathBuf>,
    /// The settings file that the run reads instead of the user's: commands in hints have it.
    pub(super) config: Option<PathBuf>,
}

impl OutputStyle {
    /// The style of a process with these arguments, and whether its messages have colors.
    pub(super) fn of_process(arguments: &Arguments) -> (Self, ColorChoice) {
        let args = &arguments.global;
        let (choice, data_choice) = match args.color {
            Color::Auto => (
                AutoStream::choice(&io::stderr()),
                AutoStream::choice(&io::stdout()),
            ),
            Color::Always => (ColorChoice::Always, ColorChoice::Always),
            Color::Never => (ColorChoice::Never, ColorChoice::Never),
        };
        let style = Self {
            format: format_of(arguments),
            quiet: args.quiet,
            styled: Styled {
                messages: choice != ColorChoice::Never,
                data: data_choice != ColorChoice::Never,
            },
            width: terminal_size_of(io::stderr()).map(|(Width(width), _)| width.into()),
            data_width: terminal_size_of(io::stdout()).map(|(Width(width), _)| width.into()),
            folder: args.directory.clone(),
            config: args.config.clone(),
        };
        (style, choice)
    }

    /// The style of text without colors, of any width.
    pub(super) fn plain(format: Format) -> Self {
        Self {
            format,
            quiet: false,
            styled: Styled::default(),
            width: None,
            data_width: None,
            folder: None,
            config: None,
        }
    }
}

/// The kind of destination of stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StdoutKind {
    Terminal,
    Program,
}

impl StdoutKind {
    pub(super) fn of_stdout() -> Self {
        if io::stdout().is_terminal() {
            Self::Terminal
        } else {
            Self::Program
        }
    }
}

/// Whether stdout and stderr lead to the same terminal or file.
pub(super) fn same_destination() -> bool {
    let [Ok(stdout), Ok(stderr)] = [
        io::stdout().as_fd().try_clone_to_owned(),
        io::stderr().as_fd().try_clone_to_owned(),
    ] else {
        return false;
    };
    let identity = |file: OwnedFd| {
        let metadata = File::from(file).metadata().ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    identity(stdout).is_some_and(|stdout| identity(stderr) == Some(stdout))
}

/// Whether a stream gets colors.
pub(crate) fn color_choice(color: clap::ColorChoice, stream: &impl RawStream) -> ColorChoice {
    match color {
        clap::ColorChoice::Auto => AutoStream::choice(stream),
        clap::ColorChoice::Always => ColorChoice::Always,
        clap::ColorChoice::Never => ColorChoice::Never,
    }
}
