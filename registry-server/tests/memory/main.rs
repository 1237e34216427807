//! Large artifacts are never in memory as a whole, neither when they are received nor when they are sent, nor is the
//! catalog when it is searched.
//!
//! This is a process of its own, so that nothing else takes memory meanwhile. The measure is the private memory of the
//! process; mapped files are not part of it.
#![cfg(target_os = "linux")]

#[path = "../shared/mod.rs"]
mod shared;

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use pkgres_files::{RealFileSystem, write_file};
use pkgres_manifest::Limits;
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{
    AccessKey, Bucket, Principal, RegistryBackend, RegistryOptions, RequirementCheck, ServeOptions,
    Service, Storage, serve,
};
use pkgres_tests::archives::{files, large_archive};
use pkgres_tests::build::{package, version};
use pkgres_tests::collections::ArtifactBuilder;
use pkgres_tests::services;

use shared::{environment, first_token};

/// The size of the artifact, in bytes.
const LARGE: usize = 64 << 20;

/// The limit of the memory that server and client take in addition, in bytes.
const ROOM: u64 = 4 << 20;

/// The resident private memory of this process, in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("the system says");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number.expect("a number").parse::<u64>().expect("a number") * 1024
}

/// The peak of the memory that work takes in addition.
fn most(work: impl FnOnce()) -> u64 {
    let before = resident();
    let (highest, is_over) = (AtomicU64::new(before), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                highest.fetch_max(resident(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_micros(500));
            }
        });
        // Otherwise a failure would wait for the thread above forever.
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
    highest.into_inner() - before
}

/// Writes an archive that cannot be compressed; gives its digest.
fn write_large(path: &Path, version: &str, limits: &Limits) -> Digest {
    let bytes = large_archive("org.acme.Large", version, LARGE, limits);
    write_file(&RealFileSystem, path, &bytes).expect("it is written");
    Digest::of(&bytes)
}

/// Writes the artifact of a collection with a file that cannot be compressed.
fn write_large_collection(path: &Path, limits: &Limits) {
    let noise = large_archive("org.acme.Noise", "1.0.0", LARGE, limits);
    let mut artifact = ArtifactBuilder::new("acme.large", "1.0.0", &[]);
    artifact.file("files/noise.bin", &noise);
    write_file(&RealFileSystem, path, &artifact.finish()).expect("it is written");
}

/// A server and its client.
struct Served {
    address: std::net::SocketAddr,
    token: String,
    runtime: tokio::runtime::Runtime,
    registry: Arc<RegistryBackend>,
}

impl Served {
    fn new(folder: &Path, bucket: Option<String>, limits: &Limits) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let bucket = bucket.map(|address| {
            Bucket::new(address, runtime.handle().clone())
                .with_access_key(Some(AccessKey::new("key", "secret")))
        });
        let storage = Storage::new(folder).with_blobs(bucket);
        let mut options = RegistryOptions::default();
        options.read.limits = limits.clone();
        let environment = environment(jiff::Timestamp::now);
        let registry = RegistryBackend::open(&storage, options, environment).expect("a registry");
        let registry = Arc::new(registry);
        let token = first_token(&registry);
        let service =
            Service::new(Arc::clone(&registry)).with_body_timeout(Duration::from_hours(1));
        let listener = runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let options = ServeOptions::default()
            .with_head_timeout(Duration::from_hours(1))
            .with_write_timeout(Duration::from_hours(1));
        runtime.spawn(serve(
            listener,
            Arc::new(service),
            options,
            std::future::pending(),
        ));
        Self {
            address,
            token,
            runtime,
            registry,
        }
    }

    /// Sends a request with a body in parts. Returns the status; `sink` takes each piece of the body.
    fn ask(&self, head: &str, body: &mut [&mut dyn Body], mut sink: impl FnMut(&[u8])) -> u16 {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        let length: u64 = body.iter_mut().map(|part| part.length()).sum();
        let head = format!(
            "{head}Host: localhost\r\nConnection: close\r\nAuthorization: Bearer {}\r\n\
             Content-Length: {length}\r\n\r\n",
            self.token
        );
        stream.write_all(head.as_bytes()).expect("it is sent");
        for part in body {
            part.send(&mut stream);
        }
        let mut answer = BufReader::new(stream);
        let mut line = String::new();
        answer.read_line(&mut line).expect("an answer");
        let status = line
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        while line != "\r\n" {
            line.clear();
            answer.read_line(&mut line).expect("headers");
        }
        let mut piece = vec![0; 64 << 10];
        loop {
            match answer.read(&mut piece).expect("a body") {
                0 => return status.expect("a status"),
                count => sink(&piece[..count]),
            }
        }
    }

    fn get(&self, path: &str, headers: &str, sink: impl FnMut(&[u8])) -> u16 {
        self.ask(&format!("GET {path} HTTP/1.1\r\n{headers}"), &mut [], sink)
    }

    fn publish(&self, version: &str, archive: &mut dyn Body) -> u16 {
        let head = format!(
            "PUT /v1/packages/org.acme.Large/versions/{version} HTTP/1.1\r\n\
             Content-Type: application/zip\r\n"
        );
        self.ask(&head, &mut [archive], |_| ())
    }

    /// Publishes with the form of the catalog.
    fn upload(&self, archive: &mut dyn Body) -> u16 {
        let head = "POST /v1/catalog/packages HTTP/1.1\r\n\
             Content-Type: multipart/form-data; boundary=edge\r\n";
        let mut before = &b"--edge\r\nContent-Disposition: form-data; name=\"file\"; \
             filename=\"large.zip\"\r\n\r\n"[..];
        let mut after = &b"\r\n--edge--\r\n"[..];
        self.ask(head, &mut [&mut before, archive, &mut after], |_| ())
    }
}

/// Publishes a collection as `ansible-galaxy` does.
fn publish_collection(served: &Served, artifact: &mut dyn Body, encoding: &str) -> u16 {
    let head = "POST /api/v3/artifacts/collections/ HTTP/1.1\r\n\
         Content-Type: multipart/form-data; boundary=edge\r\n";
    let before = format!(
        "--edge\r\nContent-Disposition: form-data; name=\"file\"\r\n\
         Content-Transfer-Encoding: {encoding}\r\n\r\n"
    );
    let (mut before, mut after) = (before.as_bytes(), &b"\r\n--edge--\r\n"[..]);
    served.ask(head, &mut [&mut before, artifact, &mut after], |_| ())
}

/// Part of the body of a request.
trait Body {
    fn length(&mut self) -> u64;
    fn send(&mut self, to: &mut TcpStream);
}

impl Body for File {
    fn length(&mut self) -> u64 {
        self.metadata().expect("a file").len()
    }

    fn send(&mut self, to: &mut TcpStream) {
        self.seek(SeekFrom::Start(0)).expect("a file");
        std::io::copy(self, to).expect("it is sent");
    }
}

impl Body for &[u8] {
    fn length(&mut self) -> u64 {
        self.len() as u64
    }

    fn send(&mut self, to: &mut TcpStream) {
        to.write_all(self).expect("it is sent");
    }
}

/// A file in base64, which is encoded while it is sent.
struct Encoded(File);

/// The bytes of a file that are encoded together. A multiple of three, so that only the last ones are padded.
const GROUP: usize = 57 * 1024;

impl Body for Encoded {
    fn length(&mut self) -> u64 {
        self.0.length().div_ceil(3) * 4
    }

    fn send(&mut self, to: &mut TcpStream) {
        self.0.seek(SeekFrom::Start(0)).expect("a file");
        let mut left = self.0.length();
        let mut group = vec![0; GROUP];
        let mut text = String::new();
        while left > 0 {
            let count = GROUP.min(usize::try_from(left).unwrap_or(GROUP));
            self.0.read_exact(&mut group[..count]).expect("a file");
            text.clear();
            BASE64_STANDARD.encode_string(&group[..count], &mut text);
            to.write_all(text.as_bytes()).expect("it is sent");
            left -= count as u64;
        }
    }
}

/// A digest of what comes piece by piece, compared with what is in a file.
fn same(file: &mut File, from: u64, count: u64) -> impl FnMut(&[u8]) {
    file.seek(SeekFrom::Start(from)).expect("a file");
    let (mut left, mut held) = (count, Vec::new());
    move |piece| {
        held.resize(piece.len(), 0);
        file.read_exact(&mut held).expect("no more than there is");
        assert!(held == piece, "these are other bytes");
        left = left
            .checked_sub(piece.len() as u64)
            .expect("no more than was asked for");
    }
}

/// The files that are sent: two archives of class packages, and the artifact of a collection.
struct Sent<'path> {
    first: &'path Path,
    digest: &'path Digest,
    second: &'path Path,
    collection: &'path Path,
}

fn check(name: &str, served: &Served, sent: &Sent<'_>) {
    let Sent {
        first,
        digest,
        second,
        collection,
    } = *sent;
    let mut measured = Vec::new();
    let mut measure = |what: &str, work: &mut dyn FnMut()| {
        let taken = most(work);
        measured.push((format!("{name}, {what}"), taken));
    };
    let mut file = File::open(first).expect("an archive");
    let length = file.length();
    measure("published", &mut || {
        assert_eq!(served.publish("1.0.0", &mut file), 201);
    });
    let path = format!("/blobs/sha256/{digest}");
    let mut come = 0;
    measure("downloaded", &mut || {
        let mut compare = same(&mut file, 0, length);
        let status = served.get(&path, "", |piece| {
            // A client that reads late finds no more of it in memory.
            if come == 0 {
                std::thread::sleep(Duration::from_secs(1));
            }
            compare(piece);
            come += piece.len() as u64;
        });
        assert_eq!(status, 200);
    });
    assert_eq!(come, length);
    let (from, mut come) = (1000, 0);
    measure("downloaded from somewhere on", &mut || {
        let mut compare = same(&mut file, from, length - from);
        let status = served.get(&path, "Range: bytes=1000-\r\n", |piece| {
            compare(piece);
            come += piece.len() as u64;
        });
        assert_eq!(status, 206);
    });
    assert_eq!(come, length - from);
    let mut other = File::open(second).expect("an archive");
    measure("uploaded with a form", &mut || {
        assert_eq!(served.upload(&mut other), 200);
    });
    let mut artifact = File::open(collection).expect("an artifact");
    measure("published as a collection", &mut || {
        assert_eq!(publish_collection(served, &mut artifact, "binary"), 202);
    });
    let mut artifact = Encoded(File::open(collection).expect("an artifact"));
    measure("published as a collection in base64", &mut || {
        assert_eq!(publish_collection(served, &mut artifact, "base64"), 202);
    });
    for (what, taken) in &measured {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("{what}: {} KiB", taken / 1024);
        }
    }
    let over: Vec<_> = measured.iter().filter(|(_, taken)| *taken > ROOM).collect();
    assert!(over.is_empty(), "more than {ROOM} bytes: {over:?}");
}

/// Held by each test, because they measure the same process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn a_search_takes_no_more_memory_in_a_larger_catalog() {
    const RELEASES: usize = 400;
    const DESCRIPTION: usize = 50_000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let served = Served::new(folder.path(), None, &Limits::default());
    let description = "words ".repeat(DESCRIPTION / 6);
    for number in 0..RELEASES {
        let name = format!("org.acme.P{number}");
        let manifest = format!(
            "FullName: {name}\nType: Library\nVersion: 1.0.0\nDescription: '{description}'\n"
        );
        let bytes = files(&[("manifest.yaml", manifest.as_bytes())]);
        let (name, version) = (package(&name), version("1.0.0"));
        let operator = Principal::operator();
        let published = served.registry.publish(
            &operator,
            &name,
            &version,
            &bytes.into(),
            RequirementCheck::Required,
        );
        published.expect("a release");
    }
    for query in ["search=words", "search=none", "version=latest"] {
        let path = format!("/v1/catalog/packages?limit=1&{query}");
        // Everything that is created once and kept exists from here on.
        assert_eq!(served.get("/v1/catalog/packages?limit=50", "", |_| ()), 200);
        let taken = most(|| assert_eq!(served.get(&path, "", |_| ()), 200));
        // The whole catalog has 20 MB.
        assert!(taken < 2 * ROOM, "{query}: {taken}");
    }
}

#[test]
fn large_artifacts_are_never_in_memory_as_a_whole() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let mut limits = Limits::default();
    limits.archive_bytes = 2 * LARGE as u64;
    limits.unpacked_bytes = 4 * LARGE as u64;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (first, second) = (folder.path().join("1.zip"), folder.path().join("2.zip"));
    let digest = write_large(&first, "1.0.0", &limits);
    write_large(&second, "2.0.0", &limits);
    let collection = folder.path().join("collection.tar.gz");
    write_large_collection(&collection, &limits);
    let sent = Sent {
        first: &first,
        digest: &digest,
        second: &second,
        collection: &collection,
    };
    let objects = services::object_store();
    let mut places = vec![("files", None)];
    places.extend(
        objects
            .iter()
            .map(|objects| ("bucket", Some(objects.bucket("large")))),
    );
    for (name, bucket) in places {
        let served = Served::new(&folder.path().join(name), bucket, &limits);
        // Everything that is created once and kept exists from here on.
        let small = pkgres_tests::archives::archive("org.acme.Large", "0.1.0", &[]);
        assert_eq!(served.publish("0.1.0", &mut &small[..]), 201);
        let path = format!("/blobs/sha256/{}", Digest::of(&small));
        assert_eq!(served.get(&path, "", |_| ()), 200);
        let small = pkgres_tests::collections::artifact("acme.large", "0.1.0", &[]);
        assert_eq!(publish_collection(&served, &mut &small[..], "binary"), 202);
        check(name, &served, &sent);
        served.runtime.shutdown_background();
        let left = std::fs::read_dir(folder.path().join(name).join("incoming"));
        assert_eq!(
            left.expect("the folder").count(),
            0,
            "nothing is left behind"
        );
    }
}
