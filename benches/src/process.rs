//! Whole processes: from the start to the end, with the memory that they reached.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

/// The cost of a run of a program.
#[derive(Debug, Clone, Copy)]
pub struct Usage {
    /// The time that passed from the start to the end.
    pub elapsed: Duration,
    /// Computing time, in the program and in the kernel on its behalf.
    pub computing: Duration,
    /// The most memory that was resident, in bytes.
    ///
    /// The kernel includes the memory of this process at the start of the program, so the measuring
    /// process has to be small.
    pub memory: u64,
}

/// Runs a program to its end, its output thrown away.
pub fn run(command: &mut Command) -> io::Result<Usage> {
    run_to_end(command, false)
}

fn run_to_end(command: &mut Command, may_fail: bool) -> io::Result<Usage> {
    let start = Instant::now();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let end = child.wait4()?;
    if !may_fail && !end.status.success() {
        let program = command.get_program().to_string_lossy().into_owned();
        return Err(io::Error::other(format!("{program}: {}", end.status)));
    }
    Ok(Usage {
        elapsed: start.elapsed(),
        computing: end.rusage.utime + end.rusage.stime,
        memory: end.rusage.maxrss,
    })
}

/// A program that is run over and over.
#[derive(Debug)]
pub struct Repeated {
    /// How it is run.
    pub command: Command,
    /// The files and folders that it writes, which are removed before each run so that there is
    /// something to do.
    pub writes: Vec<PathBuf>,
    /// Whether it may end with a code other than 0.
    pub may_fail: bool,
}

impl Repeated {
    // The measured program wrote the removed files.
    #[allow(clippy::disallowed_methods)]
    fn run(&mut self) -> io::Result<Usage> {
        for path in &self.writes {
            let removed = if path.is_dir() {
                std::fs::remove_dir_all(path)
            } else {
                std::fs::remove_file(path)
            };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        run_to_end(&mut self.command, self.may_fail)
    }
}

impl From<Command> for Repeated {
    fn from(command: Command) -> Self {
        Self {
            command,
            writes: Vec::new(),
            may_fail: false,
        }
    }
}

/// Runs programs in turn, so that whatever else the machine does disturbs all of them alike, and
/// says the median of each.
pub fn medians<'program>(
    programs: impl IntoIterator<Item = &'program mut Repeated>,
    runs: usize,
) -> io::Result<Vec<Usage>> {
    let mut programs: Vec<&mut Repeated> = programs.into_iter().collect();
    let mut usages: Vec<Vec<Usage>> = vec![Vec::new(); programs.len()];
    for _ in 0..runs {
        for (program, usages) in programs.iter_mut().zip(&mut usages) {
            usages.push(program.run()?);
        }
    }
    let middle = |usages: &Vec<Usage>| Usage {
        elapsed: median(usages, |usage| usage.elapsed),
        computing: median(usages, |usage| usage.computing),
        memory: median(usages, |usage| usage.memory),
    };
    Ok(usages.iter().map(middle).collect())
}

/// The median of something of each usage.
fn median<T: Ord + Copy>(usages: &[Usage], of: impl Fn(&Usage) -> T) -> T {
    let mut values: Vec<T> = usages.iter().map(of).collect();
    values.sort_unstable();
    values[values.len() / 2]
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
