//! `cargo bench -p pkgres-benches --bench collections`: `pkgres lock` of a `requirements.yml`, compared with
//! `ansible-galaxy collection download`. Both run in turns, with warm caches, against the same `pkgres serve` on the
//! loopback interface. For ansible-galaxy only the resolution counts, without the start of Python and the download; for
//! pkgres, the whole process counts.
//!
//! `ANSIBLE` is the folder of a Python environment with ansible-core. The other variables are `COLLECTIONS`, the number
//! of collections (100), `RELEASES`, the releases of each (8), `ROOTS`, the number of required collections (30),
//! `RUNS`, the number of runs of which the median is taken (7), and `PKGRES`, a binary to measure instead of the one of
//! this workspace.

// The table is what this program is run for, and what it writes is thrown away.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use pkgres_benches::measure::{median, number};
use pkgres_benches::process::{self, binary};
use pkgres_benches::server::Server;
use pkgres_tests::collections::{artifact, file_name, form};

/// Runs ansible-galaxy with its arguments, and writes to a file the seconds that the resolution took.
const TIMED: &str = "
import sys, time
import ansible.galaxy.collection as collection
from ansible.cli.galaxy import GalaxyCLI

path, resolve = sys.argv.pop(1), collection._resolve_depenency_map

def timed(*arguments, **named):
    begin = time.monotonic()
    found = resolve(*arguments, **named)
    with open(path, 'w') as file:
        file.write(str(time.monotonic() - begin))
    return found

collection._resolve_depenency_map = timed
GalaxyCLI.cli_executor(['ansible-galaxy'] + sys.argv[1:])
";

fn main() -> ExitCode {
    let Some(ansible) = std::env::var_os("ANSIBLE") else {
        eprintln!("LEFT OUT: `ANSIBLE` does not name a Python environment with ansible-core");
        return ExitCode::SUCCESS;
    };
    match measure(Path::new(&ansible)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn collection(number: usize) -> String {
    format!("bench.c{number}")
}

/// Publishes the releases. A collection requires up to three later ones, with ranges around its own version.
fn publish(server: &Server, folder: &Path, collections: usize, releases: usize) -> io::Result<()> {
    let body_path = folder.join("body");
    for at in 0..collections {
        for major in 1..=releases {
            let range = format!(
                ">={}.0.0,<{}.0.0",
                major.saturating_sub(1).max(1),
                major + 2
            );
            let names: Vec<String> = [2 * at + 1, 2 * at + 2, at + 7]
                .into_iter()
                .filter(|number| *number < collections)
                .map(collection)
                .collect();
            let requires: BTreeMap<&str, &str> =
                names.iter().map(|name| (&**name, &*range)).collect();
            let requires: Vec<(&str, &str)> = requires.into_iter().collect();
            let (name, version) = (collection(at), format!("{major}.0.0"));
            let (kind, body) = form(
                &file_name(&name, &version),
                &artifact(&name, &version, &requires),
            );
            std::fs::File::create(&body_path)?.write_all(&body)?;
            process::run(
                Command::new("curl")
                    .args(["--silent", "--fail", "--header"])
                    .arg(format!("Authorization: Token {}", server.token))
                    .args([
                        "--header",
                        &format!("Content-Type: {kind}"),
                        "--data-binary",
                    ])
                    .arg(format!("@{}", body_path.display()))
                    .arg(format!("{}api/v3/artifacts/collections/", server.address)),
            )?;
        }
    }
    Ok(())
}

/// The seconds in a file.
fn seconds(path: &Path) -> io::Result<Duration> {
    let text = std::fs::read_to_string(path)?;
    let seconds: f64 = text.trim().parse().map_err(io::Error::other)?;
    Ok(Duration::from_secs_f64(seconds))
}

fn measure(ansible: &Path) -> io::Result<()> {
    let (collections, releases) = (number("COLLECTIONS", 100), number("RELEASES", 8));
    let (roots, runs) = (number("ROOTS", 30), number("RUNS", 7));
    let binary = binary()?;
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    let server = Server::start(&binary, &folder.join("data"))?;
    publish(&server, folder, collections, releases)?;
    let mut requirements = "collections:\n".to_owned();
    for root in 0..roots {
        requirements.push_str(&format!("- {}\n", collection(root)));
    }
    let requirements_path = folder.join("requirements.yml");
    std::fs::write(&requirements_path, requirements)?;
    let script = folder.join("timed.py");
    std::fs::write(&script, TIMED)?;
    let time_path = folder.join("seconds");

    let lock = || {
        let mut command = Command::new(&binary);
        command
            .args(["lock", "requirements.yml", "--quiet", "--registry"])
            .arg(format!("hub=galaxy:{}", server.address))
            .current_dir(folder)
            .env("PKGRES_CACHE", folder.join("cache"))
            .env("PKGRES_STATE", folder.join("state"));
        command
    };
    let download = || {
        let mut command = Command::new(ansible.join("bin/python"));
        command
            .arg(&script)
            .arg(&time_path)
            .args([
                "collection",
                "download",
                "-r",
                "requirements.yml",
                "-p",
                "downloads",
                "-s",
            ])
            .arg(&server.address)
            .current_dir(folder)
            .env("HOME", folder.join("home"))
            .env("ANSIBLE_GALAXY_CACHE_DIR", folder.join("galaxy"))
            .stdout(Stdio::null());
        command
    };
    let lock_path = folder.join("pkgres.lock");
    // The first runs fill the caches, and are compared.
    process::run(&mut lock())?;
    process::run(&mut download())?;
    let same = compare(&lock_path, &folder.join("downloads"))?;
    let (mut own, mut theirs, mut whole) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        std::fs::remove_file(&lock_path)?;
        own.push(process::run(&mut lock())?.elapsed);
        whole.push(process::run(&mut download())?.elapsed);
        theirs.push(seconds(&time_path)?);
    }
    let own = median(own);
    println!(
        "{roots} of {collections} collections with {releases} releases each are required; {same} are chosen by both\n"
    );
    println!("| program | wall-clock time | relative to pkgres |\n|---|---:|---:|");
    for (program, time) in [
        ("`pkgres lock`, the whole process", own),
        (
            "`ansible-galaxy collection download`, its resolution",
            median(theirs),
        ),
        (
            "`ansible-galaxy collection download`, the whole process",
            median(whole),
        ),
    ] {
        let ratio = time.as_secs_f64() / own.as_secs_f64();
        println!(
            "| {program} | {:.1} ms | {ratio:.1}x |",
            time.as_secs_f64() * 1000.0
        );
    }
    Ok(())
}

/// How many releases are locked. Those that were downloaded have to be the same.
fn compare(lock: &Path, downloads: &Path) -> io::Result<usize> {
    let text = std::fs::read_to_string(lock)?;
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("- name: "));
    let locked = names.filter(|name| name.starts_with("bench.")).count();
    let downloaded: Vec<PathBuf> = std::fs::read_dir(downloads)?
        .map(|entry| Ok(entry?.path()))
        .filter(|path: &io::Result<PathBuf>| {
            path.as_ref()
                .is_ok_and(|path| path.extension().is_some_and(|end| end == "gz"))
        })
        .collect::<io::Result<_>>()?;
    for path in &downloaded {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let name = name.trim_end_matches(".tar.gz");
        let (name, version) = name
            .rsplit_once('-')
            .ok_or_else(|| io::Error::other("no version"))?;
        let entry = format!("- name: {}\n  version: {version}\n", name.replace('-', "."));
        if !text.contains(&entry) {
            return Err(io::Error::other(format!("{name} {version} is not locked")));
        }
    }
    if downloaded.len() == locked {
        Ok(locked)
    } else {
        Err(io::Error::other(
            "more or fewer releases are locked than downloaded",
        ))
    }
}
