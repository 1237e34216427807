//! A server process, and connections to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use pkgres_tests::described::{Description, Exchange};

/// The description that servers give of themselves, which every response is compared with.
static DESCRIPTION: OnceLock<Description> = OnceLock::new();

/// A server process. It is killed when this is dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    /// `http://127.0.0.1:PORT/`
    pub(crate) base: String,
    pub(crate) stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts a server on the data in a folder, and waits until it listens.
    pub(crate) fn start(data: &Path, arguments: &[&str]) -> Self {
        Self::start_with_log(data, arguments, "error")
    }

    /// Starts a server that logs what the filter lets through.
    pub(crate) fn start_with_log(data: &Path, arguments: &[&str], filter: &str) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .arg("serve")
            .arg("--data")
            .arg(data)
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("PKGRES_LOG", filter)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("a line");
        assert!(line.starts_with("http://127.0.0.1:"), "{line:?}");
        let server = Self {
            process,
            base: line.trim().to_owned(),
            stdout,
        };
        DESCRIPTION.get_or_init(|| {
            let answer = server.connect().ask("GET", "/v1/openapi.json", &[], b"");
            Description::parse(&answer.expect("an answer").2)
        });
        server
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address()).expect("the server listens")
    }

    pub(crate) fn address(&self) -> &str {
        self.base
            .trim_start_matches("http://")
            .trim_end_matches('/')
    }

    /// The first token, with the scope `admin`.
    pub(crate) fn token(data: &Path) -> String {
        let token = std::fs::read_to_string(data.join("admin-token")).expect("the first token");
        token.trim().to_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A connection that is kept alive.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    host: String,
}

impl Connection {
    pub(crate) fn open(address: &str) -> std::io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_mins(5)))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
            host: address.to_owned(),
        })
    }

    /// Sends a request and reads the response: status, head and body.
    pub(crate) fn ask(
        &mut self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> std::io::Result<(u16, String, Vec<u8>)> {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.host);
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut request = head.into_bytes();
        request.extend_from_slice(body);
        self.stream.get_mut().write_all(&request)?;
        let (status, head, body) = self.answer()?;
        if let Some(description) = DESCRIPTION.get() {
            let headers = head.lines().filter_map(|line| line.split_once(": "));
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
            description.check(&Exchange {
                method,
                path,
                status,
                headers: headers.collect(),
                body: &body,
            });
        }
        Ok((status, head, body))
    }

    /// Publishes a new release.
    pub(crate) fn publish(&mut self, token: &str, name: &str, version: &str, archive: &[u8]) {
        let (status, _, body) = self
            .ask(
                "PUT",
                &format!("/v1/packages/{name}/versions/{version}"),
                &[
                    &format!("Authorization: Bearer {token}"),
                    "Content-Type: application/zip",
                ],
                archive,
            )
            .expect("an answer");
        assert_eq!(status, 201, "{}", String::from_utf8_lossy(&body));
    }

    pub(crate) fn answer(&mut self) -> std::io::Result<(u16, String, Vec<u8>)> {
        let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                return Err(broken());
            }
        }
        let status = head
            .get(9..12)
            .and_then(|status| status.parse().ok())
            .ok_or_else(broken)?;
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")?
                    .trim()
                    .parse()
                    .ok()
            })
            .unwrap_or(0);
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok((status, head, body))
    }

    /// Waits until the server closes the connection; false if it sends something instead.
    pub(crate) fn is_closed(&mut self) -> bool {
        let rest = self.stream.fill_buf().expect("the server closes it");
        rest.is_empty()
    }

    pub(crate) fn stream(&mut self) -> &mut TcpStream {
        self.stream.get_mut()
    }
}
