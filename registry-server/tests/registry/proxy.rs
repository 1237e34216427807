//! A proxy between a registry and its bucket, which can hold requests or responses back.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The traffic that a proxy holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// Requests of a method, before they reach the bucket.
    Requests(&'static str),
    /// Responses to requests of a method, which the bucket has carried out.
    Responses(&'static str),
}

#[derive(Default)]
struct State {
    held: Option<Held>,
    /// How many requests and responses wait.
    waiting: usize,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    /// Waits as long as something is held back.
    fn pass(&self, what: Held) {
        let mut state = self.state.lock().expect("no panic");
        if state.held != Some(what) {
            return;
        }
        state.waiting += 1;
        self.changed.notify_all();
        while state.held == Some(what) {
            state = self.changed.wait(state).expect("no panic");
        }
        state.waiting -= 1;
    }
}

/// A port in front of another one.
pub(crate) struct Proxy {
    port: u16,
    shared: Arc<Shared>,
}

impl Proxy {
    /// A proxy in front of a local port, until the process ends.
    pub(crate) fn before(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let proxy = Self {
            port: listener.local_addr().expect("an address").port(),
            shared: Arc::default(),
        };
        let shared = Arc::clone(&proxy.shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = TcpStream::connect(("127.0.0.1", port)).expect("the server is there");
                connect(&client, &server, &shared);
            }
        });
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Holds something back from now on.
    pub(crate) fn hold(&self, held: Held) {
        self.shared.state.lock().expect("no panic").held = Some(held);
    }

    /// Waits until something is held back.
    pub(crate) fn wait(&self) {
        let state = self.shared.state.lock().expect("no panic");
        let (_state, waited) = self
            .shared
            .changed
            .wait_timeout_while(state, Duration::from_mins(5), |state| state.waiting == 0)
            .expect("no panic");
        assert!(!waited.timed_out(), "nothing came to the proxy");
    }

    /// Lets everything through.
    pub(crate) fn open(&self) {
        self.shared.state.lock().expect("no panic").held = None;
        self.shared.changed.notify_all();
    }
}

/// Carries bytes both ways. A request is recognized by the beginning of a piece: a client sends the next one after
/// the response to the last one.
fn connect(client: &TcpStream, server: &TcpStream, shared: &Arc<Shared>) {
    let method = Arc::new(Mutex::new(""));
    let copies = || {
        let client = client.try_clone().expect("a socket");
        (client, server.try_clone().expect("a socket"))
    };
    let (mut from, mut to) = copies();
    let (shared_there, method_there) = (Arc::clone(shared), Arc::clone(&method));
    std::thread::spawn(move || {
        let mut piece = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            for name in ["GET", "HEAD", "PUT", "POST"] {
                if piece[..count].starts_with(format!("{name} /").as_bytes()) {
                    *method_there.lock().expect("no panic") = name;
                    shared_there.pass(Held::Requests(name));
                }
            }
            if to.write_all(&piece[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
    let (mut to, mut from) = copies();
    let shared = Arc::clone(shared);
    std::thread::spawn(move || {
        let mut piece = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut piece) {
            let asked = *method.lock().expect("no panic");
            shared.pass(Held::Responses(asked));
            if to.write_all(&piece[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
