//! Whole processes: from the start to the end, with the memory that they reached.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use wait4::Wait4 as _;

/// What a run of a program took.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// Computing time, in the program and in the kernel on its behalf.
    pub computing: Duration,
    /// The most memory that was resident, in bytes.
    ///
    /// The kernel counts in what this process had resident when it started the program: whoever
    /// measures has to be small.
    pub memory: u64,
}

/// Runs a program to its end, its output thrown away.
pub fn run(command: &mut Command) -> io::Result<Usage> {
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = child.wait4()?;
    if !end.status.success() {
        let program = command.get_program().to_string_lossy().into_owned();
        return Err(io::Error::other(format!("{program}: {}", end.status)));
    }
    Ok(Usage {
        computing: end.rusage.utime + end.rusage.stime,
        memory: end.rusage.maxrss,
    })
}

/// Runs programs in turn, so that whatever else the machine does disturbs all of them alike, and
/// says the median of each.
pub fn medians<'command>(
    commands: impl IntoIterator<Item = &'command mut Command>,
    runs: usize,
) -> io::Result<Vec<Usage>> {
    let mut commands: Vec<&mut Command> = commands.into_iter().collect();
    let mut usages: Vec<Vec<Usage>> = vec![Vec::new(); commands.len()];
    for _ in 0..runs {
        for (command, usages) in commands.iter_mut().zip(&mut usages) {
            usages.push(run(command)?);
        }
    }
    let middle = |usages: &Vec<Usage>| {
        let mut times: Vec<Duration> = usages.iter().map(|usage| usage.computing).collect();
        let mut memory: Vec<u64> = usages.iter().map(|usage| usage.memory).collect();
        times.sort_unstable();
        memory.sort_unstable();
        Usage {
            computing: times[times.len() / 2],
            memory: memory[memory.len() / 2],
        }
    };
    Ok(usages.iter().map(middle).collect())
}

/// The binary to measure, built from this workspace unless one is named.
pub fn binary() -> io::Result<PathBuf> {
    if let Some(path) = std::env::var_os("PKGRES") {
        return Ok(path.into());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = Command::new(cargo)
        .args(["build", "--release", "--package", "pkgres"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .status()?;
    if !build.success() {
        return Err(io::Error::other("the binary cannot be built"));
    }
    // Benchmarks are built into the folder `deps` beside it.
    let this = std::env::current_exe()?;
    let folder = this.parent().and_then(Path::parent);
    let folder = folder.ok_or_else(|| io::Error::other("no folder of builds"))?;
    Ok(folder.join(format!("pkgres{}", std::env::consts::EXE_SUFFIX)))
}
