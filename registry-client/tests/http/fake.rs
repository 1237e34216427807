//! A fake registry for tests: it follows the protocol, unless a test changes its responses.

mod world;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

pub(crate) use world::{World, name, record};

/// A received request.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

/// A response.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The number of bytes of the body to send, if not all.
    pub(crate) cut: Option<usize>,
    /// The gate where it waits before it is sent.
    pub(crate) gate: Option<Arc<Gate>>,
}

/// A barrier where responses wait until there are enough of them. It opens repeatedly.
pub(crate) struct Gate {
    wanted: usize,
    waiting: Mutex<Waiting>,
    opened: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// The number of waiting responses.
    now: usize,
    /// The most responses that waited at once.
    most: usize,
    /// The number of openings, so that a response that wakes late does not wait for the next one.
    openings: usize,
}

impl Gate {
    pub(crate) fn new(wanted: usize) -> Arc<Self> {
        Arc::new(Self {
            wanted,
            waiting: Mutex::default(),
            opened: Condvar::new(),
        })
    }

    /// The most responses that waited at once.
    pub(crate) fn most(&self) -> usize {
        self.waiting.lock().expect("no thread panicked").most
    }

    fn wait(&self) {
        let mut waiting = self.waiting.lock().expect("no thread panicked");
        let openings = waiting.openings;
        waiting.now += 1;
        waiting.most = waiting.most.max(waiting.now);
        if waiting.now == self.wanted {
            drop(waiting);
            // If there are more to come, they come now.
            std::thread::sleep(Duration::from_millis(100));
            let mut waiting = self.waiting.lock().expect("no thread panicked");
            waiting.now = 0;
            waiting.openings += 1;
            self.opened.notify_all();
            return;
        }
        // A gate that stays closed is a failed test, not one that hangs: `most` shows it.
        let is_closed = |waiting: &mut Waiting| waiting.openings == openings;
        let limit = Duration::from_mins(5);
        let waited = self.opened.wait_timeout_while(waiting, limit, is_closed);
        drop(waited.expect("no thread panicked"));
    }
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a gate for {}", self.wanted)
    }
}

impl Reply {
    pub(crate) fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            cut: None,
            gate: None,
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }
}

type Answer = Box<dyn FnMut(&Received) -> Reply + Send>;

/// A registry that listens.
pub(crate) struct Fake {
    pub(crate) address: String,
    answer: Arc<Mutex<Answer>>,
    requests: Arc<Mutex<Vec<Received>>>,
}

impl Fake {
    /// Listens, and responds with a function.
    pub(crate) fn start(answer: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/", listener.local_addr().expect("an address"));
        let answer: Arc<Mutex<Answer>> = Arc::new(Mutex::new(Box::new(answer)));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let shared = (Arc::clone(&answer), Arc::clone(&requests));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (answer, requests) = (Arc::clone(&shared.0), Arc::clone(&shared.1));
                std::thread::spawn(move || serve(&stream, &answer, &requests));
            }
        });
        Self {
            address,
            answer,
            requests,
        }
    }

    /// Listens, and follows the protocol.
    pub(crate) fn of(world: &World) -> Self {
        let world = world.clone();
        Self::start(move |request| world.answer(request))
    }

    /// Replaces the function.
    pub(crate) fn answer(&self, answer: impl FnMut(&Received) -> Reply + Send + 'static) {
        *self.answer.lock().expect("no thread panicked") = Box::new(answer);
    }

    /// Replaces the content of the registry.
    pub(crate) fn becomes(&self, world: &World) {
        let world = world.clone();
        self.answer(move |request| world.answer(request));
    }

    /// The requests since the last call.
    pub(crate) fn take_requests(&self) -> Vec<Received> {
        std::mem::take(&mut *self.requests.lock().expect("no thread panicked"))
    }

    /// The requests since the last call, as methods and paths.
    pub(crate) fn take_paths(&self) -> Vec<String> {
        self.take_requests()
            .into_iter()
            .map(|request| format!("{} {}", request.method, request.path))
            .collect()
    }
}

fn serve(stream: &TcpStream, answer: &Mutex<Answer>, log: &Mutex<Vec<Received>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else {
                break;
            };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers
            .get("content-length")
            .and_then(|length| length.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let request = Received {
            method,
            path,
            headers,
            body,
        };
        log.lock().ok()?.push(request.clone());
        let reply = (answer.lock().ok()?)(&request);
        if let Some(gate) = &reply.gate {
            gate.wait();
        }
        let mut stream = stream;
        let mut head = format!("HTTP/1.1 {} Answer\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", reply.body.len()));
        let sent = &reply.body[..reply.cut.unwrap_or(reply.body.len())];
        // In one piece: otherwise the second one waits until the client confirms the first.
        let mut answer = head.into_bytes();
        answer.extend_from_slice(sent);
        stream.write_all(&answer).ok()?;
        if reply.cut.is_some() {
            stream.shutdown(std::net::Shutdown::Both).ok()?;
            return None;
        }
    }
}
