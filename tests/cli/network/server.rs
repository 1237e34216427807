//! A server that runs the binary.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running server, which ends with the test.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
}

impl Server {
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_at("127.0.0.1:0", data)
    }

    /// Starts a server whose port no other test uses after it ended: it listens on another loopback address, if there
    /// are several.
    pub(crate) fn start_alone(data: &Path) -> Self {
        let has_several = cfg!(target_os = "linux");
        let address = if has_several {
            "127.0.0.2:0"
        } else {
            "127.0.0.1:0"
        };
        Self::start_at(address, data)
    }

    /// Starts a server on a certain address.
    pub(crate) fn start_at(listen: &str, data: &Path) -> Self {
        Self::start_with(&["--listen", listen], data)
    }

    /// Starts a server that only those with a token can read.
    pub(crate) fn start_private(data: &Path) -> Self {
        Self::start_with(&["--listen", "127.0.0.1:0", "--private"], data)
    }

    fn start_with(arguments: &[&str], data: &Path) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_pkgres"))
            .arg("serve")
            .args(arguments)
            .arg("--data")
            .arg(data)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("it was piped");
        BufReader::new(stdout)
            .read_line(&mut line)
            .expect("an address");
        let token = std::fs::read_to_string(data.join("admin-token")).expect("a token");
        Self {
            child,
            address: line.trim().to_owned(),
            token: token.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Creates a token of another owner that can publish.
pub(crate) fn another_token(server: &Server, owner: &str) -> String {
    let address = server.address.trim_start_matches("http://");
    let address = address.trim_end_matches('/');
    let body = format!(r#"{{"scopes":["publish"],"owner":"{owner}"}}"#);
    let request = format!(
        "POST /v1/tokens HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        server.token,
        body.len()
    );
    let mut stream = std::net::TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let answer = std::io::read_to_string(stream).expect("an answer");
    let (_, document) = answer.split_once("\r\n\r\n").expect("a body");
    let document: serde_json::Value = serde_json::from_str(document).expect("JSON");
    document["token"].as_str().expect("a token").to_owned()
}
