//! `cargo bench -p pkgres-benches --bench registry`: a registry and its client over the loopback interface, compared with
//! programs that only move the same bytes.
//!
//! - *publish*: releases are published one after the other. The table has the time of each thousand and the peak memory of
//!   the server.
//! - *resolve*: `pkgres resolve` of a root that needs every package, with an empty cache (*cold*) and with a cache
//!   (*warm*), compared with `curl` sending the same request.
//! - *read*: `wrk` reads one index document in turns from the server and from `nginx`. If one of the two programs is not
//!   installed, this part is left out with a note.
//!
//! Variables: `RELEASES` is the number of releases (10,000), `PACKAGES` that of packages (1,000), `RUNS` the number of
//! runs of which the median is taken (11), `TURNS` the number of turns of *read* (5), and `PKGRES` a binary to measure
//! instead of the one of this workspace.

// The table is what this program is run for, and what it writes is thrown away.
#![allow(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use pkgres_benches::measure::{median, number};
use pkgres_benches::process::binary;
use pkgres_benches::reading::{self, Nginx};
use pkgres_benches::server::Server;
use pkgres_manifest::{Limits, PackageName, PackagePath, RegistryName, Version, write_archive};
use pkgres_registry_client::http::Secret;
use pkgres_registry_client::protocol::BatchRequest;
use pkgres_registry_client::{Address, HttpOptions, HttpRegistry};

fn main() -> ExitCode {
    match measure() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn package(number: usize) -> String {
    format!("org.bench.p{}.Package{number}", number % 17)
}

/// The archive of a release. Packages require two others and those two more, so that the first one
/// needs all of them, ten steps deep; some are required from elsewhere, too.
fn archive(of: usize, packages: usize, version: usize) -> io::Result<Vec<u8>> {
    let mut manifest = format!(
        "Format: 1.4\nType: Library\nFullName: {}\nVersion: 1.{version}.0\n",
        package(of)
    );
    if 2 * of + 1 < packages || of + 61 < packages {
        manifest.push_str("Require:\n");
    }
    for required in BTreeSet::from([2 * of + 1, 2 * of + 2, of + 61]) {
        if required < packages {
            manifest.push_str(&format!("  {}: 1\n", package(required)));
        }
    }
    let class = format!("Name: {}\n", package(of));
    manifest.push_str(&format!("Classes:\n  {}: Main.yaml\n", package(of)));
    let path = |text| PackagePath::parse(text).map_err(io::Error::other);
    let files = [
        (path("Classes/Main.yaml")?, false, class.into_bytes()),
        (path("manifest.yaml")?, false, manifest.into_bytes()),
    ];
    write_archive(files, &Limits::default()).map_err(|error| io::Error::other(error.message))
}

fn measure() -> io::Result<()> {
    let (releases, packages) = (number("RELEASES", 10_000), number("PACKAGES", 1_000));
    let runs = number("RUNS", 11);
    let binary = binary()?;
    let folder = tempfile::tempdir()?;
    let server = Server::start(&binary, &folder.path().join("data"))?;
    publish(&server, releases, packages)?;
    resolve(&server, &binary, folder.path(), runs, packages)?;
    read_index(&server, folder.path(), number("TURNS", 5))
}

fn publish(server: &Server, releases: usize, packages: usize) -> io::Result<()> {
    let mut options = HttpOptions::new("2026-01-01T00:00:00Z".parse().map_err(io::Error::other)?);
    options.credentials.token = Some(Secret::new(server.token.clone()));
    let registry = HttpRegistry::new(
        RegistryName::parse("bench").map_err(io::Error::other)?,
        Address::parse(&server.address).map_err(io::Error::other)?,
        &Limits::default(),
        options,
    );
    println!("| releases published | time for the last 1,000 | peak memory of the server |");
    println!("|---:|---:|---:|");
    let mut begin = Instant::now();
    for number in 0..releases {
        let (of, version) = (number % packages, number / packages);
        let bytes = archive(of, packages, version)?;
        let name = PackageName::parse(&package(of)).map_err(io::Error::other)?;
        let version = Version::parse(&format!("1.{version}.0")).map_err(io::Error::other)?;
        registry
            .publish(&name, &version, bytes, true)
            .map_err(io::Error::other)?;
        let done = number + 1;
        if done % 1000 == 0 || done == releases {
            let memory = server.peak_memory().unwrap_or_default();
            println!(
                "| {done} | {:.2} s | {memory} MiB |",
                begin.elapsed().as_secs_f64()
            );
            begin = Instant::now();
        }
    }
    Ok(())
}

/// The time that a program takes from start to end.
fn timed(command: &mut Command) -> io::Result<Duration> {
    let begin = Instant::now();
    let status = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let time = begin.elapsed();
    if status.success() {
        Ok(time)
    } else {
        let program = command.get_program().to_string_lossy().into_owned();
        Err(io::Error::other(format!("{program}: {status}")))
    }
}

fn resolve(
    server: &Server,
    binary: &Path,
    folder: &Path,
    runs: usize,
    packages: usize,
) -> io::Result<()> {
    let root = folder.join("root");
    std::fs::create_dir_all(&root)?;
    let manifest = format!(
        "Format: 1.4\nType: Application\nFullName: org.bench.Root\nVersion: 1.0.0\nRequire:\n  {}: 1\n",
        package(0)
    );
    std::fs::write(root.join("manifest.yaml"), manifest)?;
    let mut request = BatchRequest {
        closure: true,
        ..BatchRequest::default()
    };
    request.names.insert(
        PackageName::parse(&package(0)).map_err(io::Error::other)?,
        None,
    );
    let body = folder.join("request.json");
    std::fs::write(&body, request.to_json())?;
    let cache = folder.join("cache");
    let pkgres = || {
        let mut command = Command::new(binary);
        command
            .args([
                "resolve",
                "--no-core-library",
                "--registry",
                &server.address,
            ])
            .arg(&root)
            .env("PKGRES_CACHE", &cache)
            .env("PKGRES_STATE", folder.join("state"));
        command
    };
    let curl = || {
        let mut command = Command::new("curl");
        let address = format!("{}index/v1/batch", server.address);
        command.args([
            "--silent",
            "--fail",
            "--output",
            "/dev/null",
            "--data-binary",
        ]);
        command.arg(format!("@{}", body.display()));
        command.args(["--header", "content-type: application/json", &address]);
        command
    };
    let (mut cold, mut warm, mut copied) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..runs {
        let _ = std::fs::remove_dir_all(&cache);
        cold.push(timed(&mut pkgres())?);
        warm.push(timed(&mut pkgres())?);
        copied.push(timed(&mut curl())?);
    }
    let peer = median(copied);
    let row = |case: &str, time: Duration| {
        let ratio = time.as_secs_f64() / peer.as_secs_f64();
        println!(
            "| {case} | {:.1} ms | {ratio:.2}x |",
            time.as_secs_f64() * 1000.0
        );
    };
    println!("\n| whole runs, {packages} packages | wall-clock time | relative to curl |");
    println!("|---|---:|---:|");
    row("pkgres resolve, cold", median(cold));
    row("pkgres resolve, warm", median(warm));
    row("curl, the same request", peer);
    Ok(())
}

fn read_index(server: &Server, folder: &Path, turns: usize) -> io::Result<()> {
    if let Some(program) = reading::missing() {
        eprintln!("\nthe comparison with nginx is left out: `{program}` is not installed");
        return Ok(());
    }
    let document = "index/v1/packages/org.bench.p0.!package0.ndjson";
    let address = format!("{}{document}", server.address);
    let files = folder.join("files");
    let path = files.join(document);
    std::fs::create_dir_all(path.parent().unwrap_or(&files))?;
    let fetched = Command::new("curl")
        .args(["--silent", "--fail", "--output"])
        .arg(&path)
        .arg(&address)
        .status()?;
    if !fetched.success() {
        return Err(io::Error::other(format!("curl: {fetched}")));
    }
    // The port of the server is taken, so the next one is probably free.
    let port: u16 = server
        .address
        .trim_end_matches('/')
        .rsplit(':')
        .next()
        .and_then(|port| port.parse().ok())
        .unwrap_or(8000);
    let nginx = Nginx::start(folder, &files, port.checked_sub(1).unwrap_or(8001))?;
    let workers = nginx.workers()?;
    let peer = format!("{}{document}", nginx.address);
    let (mut own, mut other) = (Vec::new(), Vec::new());
    for _ in 0..turns {
        own.push(reading::read(&address, &[server.id()])?);
        other.push(reading::read(&peer, &workers)?);
    }
    let none = || io::Error::other("TURNS is 0");
    let own = reading::middle(own).ok_or_else(none)?;
    let other = reading::middle(other).ok_or_else(none)?;
    let bytes = std::fs::metadata(&path)?.len();
    println!(
        "\n| reading a document of {bytes} bytes | requests per second | relative to nginx | CPU time per request | median, p99 |"
    );
    println!("|---|---:|---:|---:|---:|");
    for (program, turn) in [("pkgres serve", &own), ("nginx", &other)] {
        println!(
            "| {program} | {:.0} | {:.2}x | {:.2} us | {}, {} |",
            turn.requests,
            turn.requests / other.requests,
            turn.computing,
            turn.half,
            turn.slowest
        );
    }
    Ok(())
}
