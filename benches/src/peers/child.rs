//! Peers in a process of their own, which measures its own computing time and memory.
//!
//! The child reads a universe as numbers with white space in between: how many packages there are
//! and how many roots; for each package how many releases it has, and for each of those its
//! version and what it requires; then what each root requires. Something required is a number of
//! requirements, each a package, a number of intervals, and their bounds, where an upper bound of
//! 0 is none. It says `ready` and how many bytes it keeps.
//!
//! Then it reads the number of a root and a limit in milliseconds, and says in one line whether
//! there is an answer (1 or 0), how many nanoseconds that took, how many bytes at most, and the
//! answer: how many releases it has, and the package and version of each. Past the limit it
//! ends without a word.

use std::io::{self, BufRead as _, BufReader, BufWriter, Read, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use rustix::process::{Resource, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::check::Answer;
use crate::memory;
use crate::peers::{Memory, Peer, Timeout};
use crate::universe::{Plain, PlainRelease, Versions};

/// A child process with a universe.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    time: Duration,
    memory: Memory,
    answer: Answer,
}

impl Process {
    /// Starts a program and gives it a universe.
    pub fn start(command: &mut Command, universe: &Plain) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut input = child.stdin.take().expect("it is piped");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut writer = BufWriter::new(&mut input);
        write(universe, &mut writer)?;
        writer.flush()?;
        drop(writer);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let index = line
            .trim()
            .strip_prefix("ready ")
            .and_then(|bytes| bytes.parse().ok());
        let index = index.ok_or_else(|| io::Error::other("the child is not ready"))?;
        Ok(Self {
            child,
            input,
            output,
            time: Duration::ZERO,
            memory: Memory { index, peak: 0 },
            answer: Answer::new(),
        })
    }

    fn ask(&mut self, root: usize, limit: Duration) -> io::Result<String> {
        writeln!(self.input, "{root} {}", limit.as_millis())?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself, and there is nothing to be done about an error.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer for Process {
    fn solve(&mut self, root: usize, limit: Duration) -> Result<bool, Timeout> {
        let line = self.ask(root, limit).map_err(|_| Timeout)?;
        let mut numbers = line.split_ascii_whitespace().map(|word| {
            word.parse::<u64>()
                .expect("a child that knows the protocol")
        });
        // A child that is past the limit ends without an answer.
        let is_solved = numbers.next().ok_or(Timeout)? == 1;
        self.time += Duration::from_nanos(numbers.next().ok_or(Timeout)?);
        let peak = numbers.next().ok_or(Timeout)?;
        let peak = usize::try_from(peak).expect("the child has the same address space");
        self.memory.peak = self.memory.peak.max(peak);
        let rest: Vec<u64> = numbers.skip(1).collect();
        let release = |pair: &[u64]| {
            let package = usize::try_from(pair[0]).expect("a package");
            (package, u32::try_from(pair[1]).expect("a version"))
        };
        self.answer = rest.chunks_exact(2).map(release).collect();
        Ok(is_solved)
    }

    fn take_answer(&mut self) -> Answer {
        std::mem::take(&mut self.answer)
    }

    fn time(&self) -> Duration {
        self.time
    }

    fn memory(&self) -> Option<Memory> {
        Some(self.memory)
    }
}

fn write(universe: &Plain, output: &mut impl io::Write) -> io::Result<()> {
    writeln!(
        output,
        "{} {}",
        universe.packages.len(),
        universe.roots.len()
    )?;
    for releases in &universe.packages {
        writeln!(output, "{}", releases.len())?;
        for release in releases {
            write!(output, "{} ", release.version)?;
            write_requirements(&release.dependencies, output)?;
        }
    }
    for root in &universe.roots {
        write_requirements(root, output)?;
    }
    Ok(())
}

fn write_requirements(
    dependencies: &[(usize, Versions)],
    output: &mut impl io::Write,
) -> io::Result<()> {
    write!(output, "{}", dependencies.len())?;
    for (package, versions) in dependencies {
        write!(output, " {package} {}", versions.len())?;
        for (low, high) in versions {
            write!(output, " {low} {}", high.unwrap_or(0))?;
        }
    }
    writeln!(output)
}

/// Reads numbers with white space in between.
struct Numbers<Input> {
    input: io::Bytes<Input>,
}

impl<Input: Read> Numbers<Input> {
    fn next(&mut self) -> Option<u32> {
        let mut number = None;
        for byte in self.input.by_ref() {
            match byte.ok()? {
                digit @ b'0'..=b'9' => {
                    number = Some(number.unwrap_or(0) * 10 + u32::from(digit - b'0'));
                }
                _ if number.is_some() => break,
                _ => {}
            }
        }
        number
    }

    fn size(&mut self) -> Option<usize> {
        Some(self.next()? as usize)
    }

    fn universe(&mut self) -> Option<Plain> {
        let (packages, roots) = (self.size()?, self.size()?);
        let mut universe = Plain {
            packages: Vec::with_capacity(packages),
            roots: Vec::with_capacity(roots),
        };
        for _ in 0..packages {
            let releases = self.size()?;
            let mut package = Vec::with_capacity(releases);
            for _ in 0..releases {
                package.push(PlainRelease {
                    version: self.next()?,
                    dependencies: self.requirements()?,
                });
            }
            universe.packages.push(package);
        }
        for _ in 0..roots {
            universe.roots.push(self.requirements()?);
        }
        Some(universe)
    }

    fn requirements(&mut self) -> Option<Vec<(usize, Versions)>> {
        let count = self.size()?;
        let mut requirements = Vec::with_capacity(count);
        for _ in 0..count {
            let (package, intervals) = (self.size()?, self.size()?);
            let mut versions = Vec::with_capacity(intervals);
            for _ in 0..intervals {
                let (low, high) = (self.next()?, self.next()?);
                versions.push((low, Some(high).filter(|high| *high > 0)));
            }
            requirements.push((package, versions));
        }
        Some(requirements)
    }
}

/// Is a child: solves what standard input asks for, until it ends.
///
/// The solver is made from a universe, and solves a root of it. It is measured by the allocator
/// [`memory::Counting`], and broken off by the kernel, some time after the limit.
pub fn serve<Solver>(
    make: impl Fn(Plain) -> Solver,
    solve: impl Fn(&Solver, usize) -> Option<Answer>,
) -> io::Result<()> {
    let mut numbers = Numbers {
        input: BufReader::new(io::stdin()).bytes(),
    };
    let mut output = io::stdout().lock();
    memory::start();
    let universe = numbers.universe();
    let solver = make(universe.ok_or_else(|| io::Error::other("no universe"))?);
    writeln!(output, "ready {}", memory::stop().0)?;
    output.flush()?;
    memory::start();
    while let (Some(root), Some(limit)) = (numbers.size(), numbers.next()) {
        limit_computing(Duration::from_millis(u64::from(limit)))?;
        let start = crate::measure::thread_time();
        let answer = memory::watch(|| solve(&solver, root));
        let peak = memory::peak();
        let time = crate::measure::thread_time().saturating_sub(start);
        write!(
            output,
            "{} {} {peak}",
            u8::from(answer.is_some()),
            time.as_nanos()
        )?;
        let answer = answer.unwrap_or_default();
        write!(output, " {}", answer.len())?;
        for (package, version) in answer {
            write!(output, " {package} {version}")?;
        }
        writeln!(output)?;
        output.flush()?;
    }
    Ok(())
}

/// Has the kernel end this process when it has computed for some time more, to the second.
fn limit_computing(limit: Duration) -> io::Result<()> {
    let spent = clock_gettime(ClockId::ProcessCPUTime).tv_sec;
    let spent = u64::try_from(spent).expect("time goes forward");
    let mut bound = getrlimit(Resource::Cpu);
    bound.current = Some(spent + limit.as_secs() + 2);
    Ok(setrlimit(Resource::Cpu, bound)?)
}
