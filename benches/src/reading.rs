//! Reading one document again and again with `wrk`, next to the same bytes in `nginx`.
//!
//! Both are asked in turns, several times: what else the machine does changes how many requests a
//! second there are by more than one is better than the other. The processor time of a request,
//! which others hardly change, is therefore counted as well.

// Files written here are temporary.
#![allow(clippy::disallowed_methods)]

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long `wrk` reads in one turn.
const SECONDS: u32 = 2;

/// The measurements of a server in one turn.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Requests a second.
    pub requests: f64,
    /// The time in which half of the requests are answered, as `wrk` writes it.
    pub half: String,
    /// The time in which 99 of 100 are.
    pub slowest: String,
    /// The computing time of the server per request, in microseconds.
    pub computing: f64,
}

/// The programs that this needs and that are not installed.
pub fn missing() -> Option<&'static str> {
    ["nginx", "wrk"].into_iter().find(|program| {
        let run = Command::new(program)
            .arg("-v")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.is_err()
    })
}

/// Has a document read from an address, by the processes of a server.
pub fn read(address: &str, processes: &[u32]) -> io::Result<Turn> {
    let before = computed(processes)?;
    let output = Command::new("wrk")
        .args(["-t1", "-c32", "--latency"])
        .args([&format!("-d{SECONDS}s"), address])
        .output()?;
    let computing = computed(processes)?.saturating_sub(before);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if text.contains("Non-2xx") {
        return Err(io::Error::other(format!("wrk was refused:\n{text}")));
    }
    let find = |begin: &str| {
        let mut lines = text.lines().map(str::trim);
        lines.find_map(|line| Some(line.strip_prefix(begin)?.trim().to_owned()))
    };
    let count = text.lines().find_map(|line| {
        let (count, _) = line.trim().split_once(" requests in ")?;
        count.parse::<u32>().ok()
    });
    let requests = find("Requests/sec:").and_then(|number| number.parse().ok());
    let times = find("50%").zip(find("99%"));
    match (requests, count, times) {
        (Some(requests), Some(count), Some((half, slowest))) => Ok(Turn {
            requests,
            half,
            slowest,
            computing: computing.as_secs_f64() * 1e6 / f64::from(count),
        }),
        _ => Err(io::Error::other(format!("wrk says:\n{text}"))),
    }
}

/// The middle turn by requests a second, with the middle of what was computed for one.
pub fn middle(mut turns: Vec<Turn>) -> Option<Turn> {
    let middle = turns.len() / 2;
    turns.sort_by(|one, two| one.computing.total_cmp(&two.computing));
    let computing = turns.get(middle)?.computing;
    turns.sort_by(|one, two| one.requests.total_cmp(&two.requests));
    Some(Turn {
        computing,
        ..turns[middle].clone()
    })
}

/// How long the threads of processes were on a processor.
fn computed(processes: &[u32]) -> io::Result<Duration> {
    let mut all = Duration::ZERO;
    for process in processes {
        for thread in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            let nanoseconds = text.split_whitespace().next();
            let nanoseconds = nanoseconds.and_then(|number| number.parse().ok());
            all += Duration::from_nanos(nanoseconds.unwrap_or_default());
        }
    }
    Ok(all)
}

/// `nginx` with a folder of files and a process for each processor, until it is dropped.
pub struct Nginx {
    child: Child,
    configuration: PathBuf,
    /// Where it answers, with a slash at the end.
    pub address: String,
}

impl Nginx {
    /// Starts it at a port. `folder` is for its own files.
    pub fn start(folder: &Path, files: &Path, port: u16) -> io::Result<Self> {
        let settings = format!(
            "daemon off; pid {0}/nginx.pid; error_log /dev/null; worker_processes auto;\n\
             events {{ worker_connections 256; }}\n\
             http {{ access_log off; open_file_cache max=100; keepalive_requests 1000000;\n\
             server {{ listen 127.0.0.1:{port}; root {1}; }} }}\n",
            folder.display(),
            files.display()
        );
        let configuration = folder.join("nginx.conf");
        std::fs::write(&configuration, settings)?;
        let child = Command::new("nginx")
            .arg("-c")
            .arg(&configuration)
            .stderr(Stdio::null())
            .spawn()?;
        std::thread::sleep(Duration::from_millis(500));
        Ok(Self {
            child,
            configuration,
            address: format!("http://127.0.0.1:{port}/"),
        })
    }

    /// The processes that answer.
    pub fn workers(&self) -> io::Result<Vec<u32>> {
        let master = self.child.id();
        let text = std::fs::read_to_string(format!("/proc/{master}/task/{master}/children"))?;
        Ok((text.split_whitespace())
            .filter_map(|process| process.parse().ok())
            .collect())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // The master ends its workers when it is asked, not when it is killed.
        let _ = Command::new("nginx")
            .arg("-c")
            .arg(&self.configuration)
            .args(["-s", "stop"])
            .stderr(Stdio::null())
            .status();
        let _ = self.child.wait();
    }
}
