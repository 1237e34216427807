//! Connections in memory, with a clock that is paused: it jumps to the next timeout whenever the server
//! and all clients wait. So no timeout fires early, however busy the machine is.

use std::io::ErrorKind;

use jiff::Timestamp;
use pkgres_manifest::{Limits, PackageName, Version};
use pkgres_registry_client::protocol::Digest;
use pkgres_tests::archives::large_archive;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use super::*;
use crate::access::Principal;
use crate::environment::Environment;
use crate::registry::{RegistryBackend, RegistryOptions, RequirementCheck, Storage};

/// How much of what is sent to a client the connection holds, in bytes.
const BUFFER: usize = 64 << 10;

/// The size of an artifact that no connection holds as a whole.
const LARGE: usize = 3 << 20;

const SECOND: Duration = Duration::from_secs(1);

impl Listener for mpsc::UnboundedReceiver<DuplexStream> {
    type Stream = DuplexStream;

    async fn accept(&mut self) -> io::Result<DuplexStream> {
        match self.recv().await {
            Some(stream) => Ok(stream),
            None => std::future::pending().await,
        }
    }
}

/// A registry with one large artifact, and a server for it.
struct Server {
    clients: mpsc::UnboundedSender<DuplexStream>,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
    /// The path of the artifact.
    path: String,
    _folder: TempDir,
}

impl Server {
    fn start(options: ServeOptions) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::new(folder.path());
        let environment = Environment::new(|| Timestamp::UNIX_EPOCH, |bytes| bytes.fill(7));
        let registry = RegistryBackend::open(&storage, RegistryOptions::default(), environment);
        let registry = Arc::new(registry.expect("a registry"));
        let archive = large_archive("a.Large", "1.0.0", LARGE, &Limits::default());
        let path = format!("/blobs/sha256/{}", Digest::of(&archive));
        let name = PackageName::parse("a.Large").expect("a name");
        let version = Version::parse("1.0.0").expect("a version");
        registry
            .publish(
                &Principal::operator(),
                &name,
                &version,
                &archive.into(),
                RequirementCheck::Required,
            )
            .expect("a release");
        let service = Arc::new(Service::new(registry));
        let (clients, listener) = mpsc::unbounded_channel();
        let (end, ended) = oneshot::channel::<()>();
        let running = tokio::spawn(serve_all(listener, service, options, async {
            let _ = ended.await;
        }));
        Self {
            clients,
            end,
            running,
            path,
            _folder: folder,
        }
    }

    /// A connection over which this was sent.
    async fn send(&self, begin: &[u8]) -> DuplexStream {
        let (mut client, server) = duplex(BUFFER);
        self.clients.send(server).expect("the server listens");
        client
            .write_all(begin)
            .await
            .expect("the connection holds it");
        client
    }

    /// Gets an answer over a connection of its own, which has to be accepted for that.
    async fn get_health(&self) {
        let request = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let mut client = self.send(request).await;
        let response = rest(&mut client).await;
        assert!(response.starts_with(b"HTTP/1.1 200"), "{response:?}");
    }

    async fn end(self) {
        let _ = self.end.send(());
        self.running.await.expect("the server ends");
    }
}

/// All that still comes over a connection that the server closes.
async fn rest(client: &mut DuplexStream) -> Vec<u8> {
    let mut rest = Vec::new();
    client.read_to_end(&mut rest).await.expect("it is closed");
    rest
}

/// Runs a test with a paused clock.
fn paused(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(test);
}

/// One connection at a time, and timeouts of a second.
fn one_connection() -> ServeOptions {
    ServeOptions::default()
        .with_connections(1)
        .with_head_timeout(SECOND)
        .with_write_timeout(SECOND)
        .with_shutdown_timeout(SECOND)
}

#[test]
fn connections_leave_files_for_artifacts() {
    for (files, expected) in [(1024, 448), (524_288, 4096), (64, 1), (u64::MAX, 4096)] {
        let options = ServeOptions::default().with_open_files(files);
        assert_eq!(options.connections, expected, "{files}");
    }
}

#[test]
fn silent_connections_are_closed() {
    paused(async {
        let options = ServeOptions::default()
            .with_connections(4)
            .with_head_timeout(SECOND);
        let server = Server::start(options);
        // All places are taken by connections that hold back: nothing, a letter that both protocols
        // begin with, half of a head, and nothing after a response.
        let mut silent = Vec::new();
        for begin in [
            "",
            "P",
            "GET / HTTP/1.1\r\nHo",
            "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        ] {
            silent.push(server.send(begin.as_bytes()).await);
        }
        let begun = Instant::now();
        // One more waits for a place, and gets one.
        server.get_health().await;
        assert!(begun.elapsed() >= SECOND, "{:?}", begun.elapsed());
        let mut answered = Vec::new();
        for stream in &mut silent {
            answered.push(rest(stream).await.starts_with(b"HTTP/1.1 200"));
        }
        assert!(begun.elapsed() < 2 * SECOND, "{:?}", begun.elapsed());
        assert_eq!(answered, [false, false, false, true]);
        server.end().await;
    });
}

#[test]
fn a_silent_connection_does_not_delay_the_end() {
    paused(async {
        let server = Server::start(ServeOptions::default());
        let _silent = server.send(b"").await;
        // It has been accepted.
        server.get_health().await;
        let begun = Instant::now();
        server.end().await;
        assert!(begun.elapsed() < SECOND, "{:?}", begun.elapsed());
    });
}

#[test]
fn slow_heads_do_not_keep_others_waiting() {
    paused(async {
        let server = Server::start(ServeOptions::default());
        let mut slow = Vec::new();
        for _ in 0..300 {
            let begin = b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ";
            slow.push(server.send(begin).await);
        }
        let begun = Instant::now();
        for _ in 0..20 {
            server.get_health().await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        drop(slow);
        server.end().await;
    });
}

#[test]
fn a_client_that_stops_reading_is_disconnected() {
    paused(async {
        let server = Server::start(one_connection());
        let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", server.path);

        // A client that reads a bit now and then gets all of it, though that takes longer than the
        // timeout.
        let mut slow = server.send(request.as_bytes()).await;
        let begun = Instant::now();
        let mut piece = vec![0; LARGE / 30];
        let mut taken = 0;
        while taken < LARGE {
            sleep(SECOND / 10).await;
            let count = slow.read(&mut piece).await.expect("it is sent");
            assert_ne!(count, 0, "it ends after {taken} bytes");
            taken += count;
        }
        assert!(begun.elapsed() > 3 * SECOND, "{:?}", begun.elapsed());
        drop(slow);

        // A client that reads nothing loses its place to another one.
        let mut deaf = server.send(request.as_bytes()).await;
        let begun = Instant::now();
        server.get_health().await;
        let waited = begun.elapsed();
        assert!(waited >= SECOND && waited < 2 * SECOND, "{waited:?}");
        let sent = rest(&mut deaf).await.len();
        assert!((1..LARGE).contains(&sent), "{sent}");
        server.end().await;
    });
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short frame");
    let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, stream];
    frame.extend_from_slice(payload);
    frame
}

/// Reads the next frame: its kind, flags and payload.
async fn next_frame(stream: &mut DuplexStream) -> io::Result<(u8, u8, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head).await?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload).await?;
    Ok((head[3], head[4], payload))
}

/// With HTTP/2 a client can read, answer pings, and yet take nothing of a response.
#[test]
fn a_client_that_stops_reading_is_disconnected_with_http2() {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;

    paused(async {
        let server = Server::start(one_connection());
        let path = &server.path;
        // `GET`, `http`, the path and the authority, by their numbers in the static table.
        let mut head = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).expect("short")];
        head.extend_from_slice(path.as_bytes());
        head.extend_from_slice(&[0x01, 1, b'x']);
        let mut greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // The window of a stream begins with a thousand bytes.
        greeting.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 3, 232]));
        greeting.extend(frame(HEADERS, 0x4 | 0x1, 1, &head));
        let mut stream = server.send(&greeting).await;

        let begun = Instant::now();
        let (mut taken, mut window, mut pings) = (0, 1000, 0);
        let end = loop {
            let (kind, flags, payload) = match next_frame(&mut stream).await {
                Ok(frame) => frame,
                Err(error) => break error,
            };
            match kind {
                PING if flags == 0 => {
                    pings += 1;
                    // This is where the other side may have hung up.
                    if let Err(error) = stream.write_all(&frame(PING, 1, 0, &payload)).await {
                        break error;
                    }
                }
                DATA => taken += payload.len(),
                _ => {}
            }
            // For longer than the timeout, the client takes as much more, in small steps.
            if taken == window && begun.elapsed() < 3 * SECOND {
                sleep(SECOND / 10).await;
                window += 1000;
                let more = frame(WINDOW_UPDATE, 0, 1, &1000_u32.to_be_bytes());
                stream.write_all(&more).await.expect("the server reads");
            }
        };
        assert!(
            matches!(end.kind(), ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe),
            "{end}"
        );
        let lasted = begun.elapsed();
        assert!(lasted > 3 * SECOND && lasted < 6 * SECOND, "{lasted:?}");
        assert!(pings > 0 && taken == window, "{pings} {taken} {window}");
        server.get_health().await;
        server.end().await;
    });
}
