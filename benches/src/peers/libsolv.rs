//! The library libsolv, which `zypper` and `dnf` stand on, if it can be compiled against. The
//! names of the versions are compared as those of RPM packages are; the pool is made ready before.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};

use tempfile::TempPath;

use crate::peers::child::Process;
use crate::universe::Plain;

/// The program that uses the library.
const SOURCE: &str = include_str!("libsolv.c");

/// The program, compiled. It is deleted in the end.
#[derive(Debug)]
pub struct Program(TempPath);

impl Program {
    /// Compiles the program with the compiler that `CC` names, or else `cc`.
    pub fn compile() -> io::Result<Self> {
        let path = tempfile::NamedTempFile::new()?.into_temp_path();
        let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
        let mut child = Command::new(compiler)
            .args(["-O2", "-x", "c", "-", "-lsolv", "-o"])
            .arg(&path)
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut input = child.stdin.take().expect("it is piped");
        input.write_all(SOURCE.as_bytes())?;
        drop(input);
        if child.wait()?.success() {
            Ok(Self(path))
        } else {
            Err(io::Error::other(
                "it does not compile; the headers may be missing",
            ))
        }
    }

    /// Starts the program to solve a universe.
    pub fn start(&self, universe: &Plain) -> io::Result<Process> {
        Process::start(&mut Command::new(&self.0), universe)
    }
}
