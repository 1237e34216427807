//! Connections that are slow, say nothing, or do not listen.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pkgres_manifest::Limits;
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::{ServeOptions, serve};
use pkgres_tests::archives::large_archive;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::support::Served;

/// A server on a port.
struct Listening {
    address: SocketAddr,
    runtime: Runtime,
    end: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

impl Listening {
    fn new(served: &Served, options: ServeOptions) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let listener = runtime
            .block_on(TcpListener::bind("127.0.0.1:0"))
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let (end, ended) = oneshot::channel::<()>();
        let service = Arc::clone(&served.service);
        let running = runtime.spawn(serve(listener, service, options, async {
            let _ = ended.await;
        }));
        Self {
            address,
            runtime,
            end,
            running,
        }
    }

    /// A connection on which this was sent.
    fn send(&self, begin: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .expect("a timeout");
        stream.write_all(begin).expect("the server reads");
        stream
    }

    /// Waits for a place among the connections, and for an answer.
    fn wait_for_a_place(&self) {
        let mut other = self.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        let mut answer = String::new();
        other.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    fn end(self) {
        let _ = self.end.send(());
        self.runtime
            .block_on(self.running)
            .expect("the end of the server");
    }
}

/// All that still comes. What was not read by the server makes the end a reset.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    let end = stream.read_to_end(&mut rest).map_err(|error| error.kind());
    assert!(
        matches!(end, Ok(_) | Err(ErrorKind::ConnectionReset)),
        "{end:?}"
    );
    rest
}

#[test]
fn who_says_nothing_is_hung_up_on() {
    let served = Served::new();
    let listening = Listening::new(
        &served,
        ServeOptions {
            connections: 4,
            head_patience: Duration::from_millis(200),
            shutdown_patience: Duration::from_secs(1),
            ..ServeOptions::default()
        },
    );
    // All places are taken by connections that hold back: nothing, a letter that both protocols
    // begin with, half of a head, and nothing after an answer.
    let begins = [
        "",
        "P",
        "GET / HTTP/1.1\r\nHo",
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    let mut silent = begins.map(|begin| listening.send(begin.as_bytes()));
    let begun = Instant::now();
    // One more waits for a place, and gets one.
    listening.wait_for_a_place();
    for stream in &mut silent {
        rest(stream);
    }
    let taken = begun.elapsed();
    assert!(taken < Duration::from_secs(5), "{taken:?}");
    listening.end();
}

/// More than the system keeps for a connection that is not read from.
const LARGE: usize = 12 << 20;

/// A service with a large artifact, and the address of that.
fn with_a_large_artifact() -> (Served, String) {
    let served = Served::new();
    let bytes = large_archive("a.Large", "1.0.0", LARGE, &Limits::default());
    let answer = served.publish("a.Large", "1.0.0", &bytes);
    assert_eq!(answer.status, 201, "{answer:?}");
    (served, format!("/blobs/sha256/{}", Digest::of(&bytes)))
}

/// One place, and a server that waits for a second.
fn impatient() -> ServeOptions {
    ServeOptions {
        connections: 1,
        head_patience: Duration::from_secs(1),
        write_patience: Duration::from_secs(1),
        shutdown_patience: Duration::from_secs(1),
    }
}

#[test]
fn who_does_not_listen_is_hung_up_on() {
    let (served, path) = with_a_large_artifact();
    let listening = Listening::new(&served, impatient());
    let ask = || listening.send(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());

    // Who takes a bit now and then gets all of it, though it takes longer than the server waits.
    let mut slow = ask();
    let begun = Instant::now();
    let mut piece = vec![0; LARGE / 30];
    let mut taken = 0;
    while taken < LARGE {
        std::thread::sleep(Duration::from_millis(100));
        let count = slow.read(&mut piece).expect("it is sent");
        assert_ne!(count, 0, "it ends after {taken} bytes");
        taken += count;
    }
    assert!(begun.elapsed() > Duration::from_secs(3));
    drop(slow);

    // Who takes nothing gives the place to others.
    let mut deaf = ask();
    listening.wait_for_a_place();
    let sent = rest(&mut deaf).len();
    assert!((1..LARGE).contains(&sent), "{sent}");
    listening.end();
}

/// A frame of HTTP/2.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).expect("a short frame");
    let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, stream];
    frame.extend_from_slice(payload);
    frame
}

/// Reads the next frame: its kind, flags and payload.
fn next_frame(stream: &mut TcpStream) -> io::Result<(u8, u8, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let mut payload = vec![0; length as usize];
    stream.read_exact(&mut payload)?;
    Ok((head[3], head[4], payload))
}

/// With HTTP/2 a client can read, answer to signs of life, and yet take nothing of an answer.
#[test]
fn who_does_not_listen_is_hung_up_on_with_http2() {
    const DATA: u8 = 0;
    const HEADERS: u8 = 1;
    const SETTINGS: u8 = 4;
    const PING: u8 = 6;
    const WINDOW_UPDATE: u8 = 8;

    let (served, path) = with_a_large_artifact();
    let listening = Listening::new(&served, impatient());
    // `GET`, `http`, the path and the authority, by their numbers in the static table.
    let mut head = vec![0x82, 0x86, 0x04, u8::try_from(path.len()).expect("short")];
    head.extend_from_slice(path.as_bytes());
    head.extend_from_slice(&[0x01, 1, b'x']);
    let mut greeting = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    // A stream begins with room for a thousand bytes.
    greeting.extend(frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 3, 232]));
    greeting.extend(frame(HEADERS, 0x4 | 0x1, 1, &head));
    let mut stream = listening.send(&greeting);

    let begun = Instant::now();
    let (mut taken, mut given, mut pings) = (0, 1000, 0);
    let end = loop {
        assert!(
            begun.elapsed() < Duration::from_secs(15),
            "it is not hung up on"
        );
        let (kind, flags, payload) = match next_frame(&mut stream) {
            Ok(frame) => frame,
            Err(error) => break error,
        };
        match kind {
            PING if flags == 0 => {
                pings += 1;
                // This is where the other side may have hung up.
                if let Err(error) = stream.write_all(&frame(PING, 1, 0, &payload)) {
                    break error;
                }
            }
            DATA => taken += payload.len(),
            _ => {}
        }
        // For longer than the server waits, as much more as there was, in small steps.
        if taken == given && begun.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(100));
            given += 1000;
            let more = frame(WINDOW_UPDATE, 0, 1, &1000_u32.to_be_bytes());
            stream.write_all(&more).expect("the server reads");
        }
    };
    assert!(
        matches!(
            end.kind(),
            ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
        ),
        "{end}"
    );
    let lasted = begun.elapsed();
    assert!(lasted > Duration::from_secs(3), "{lasted:?}");
    assert!(pings > 0 && taken == given, "{pings} {taken} {given}");
    listening.wait_for_a_place();
    listening.end();
}
