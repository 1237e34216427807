//! PostgreSQL and an object store for tests.
//!
//! If the programs are not installed, the tests that need them report that on stderr and pass, unless
//! `PKGRES_REQUIRE_SERVICES` is set. Dropping the value stops the service.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::skip;

/// The time after which a service counts as not started.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A PostgreSQL server with its own data folder.
pub struct Postgres {
    server: Child,
    port: u16,
    tools: PathBuf,
    next: AtomicU32,
    folder: TempDir,
}

/// An S3 server that keeps objects in memory.
pub struct ObjectStore {
    server: Child,
    port: u16,
}

/// Starts PostgreSQL. Reports why and returns `None` if that is impossible.
///
/// # Panics
///
/// If it cannot be started though `PKGRES_REQUIRE_SERVICES` is set.
pub fn postgres() -> Option<Postgres> {
    required("PostgreSQL", start_postgres(false))
}

/// Starts PostgreSQL with a certificate for `localhost`, so that it accepts TLS connections only.
/// Reports why and returns `None` if that is impossible.
///
/// # Panics
///
/// If it cannot be started though `PKGRES_REQUIRE_SERVICES` is set.
pub fn postgres_with_tls() -> Option<Postgres> {
    required("PostgreSQL", start_postgres(true))
}

/// Starts an object store. Reports why and returns `None` if that is impossible.
///
/// # Panics
///
/// If it cannot be started though `PKGRES_REQUIRE_SERVICES` is set.
pub fn object_store() -> Option<ObjectStore> {
    required("moto_server", start_object_store())
}

/// The path of a program in `PATH`. Reports it and returns `None` if it is missing.
///
/// # Panics
///
/// If it is missing though `PKGRES_REQUIRE_SERVICES` is set.
pub fn program(name: &str) -> Option<PathBuf> {
    required(
        name,
        find(name).ok_or_else(|| "it is not in the PATH".to_owned()),
    )
}

fn required<T>(name: &str, started: Result<T, String>) -> Option<T> {
    match started {
        Ok(service) => Some(service),
        Err(reason) => {
            skip::without_service(&format!("{name} cannot be used: {reason}"));
            None
        }
    }
}

fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

/// A port that is free at the moment.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok(address.port())
}

/// The folder with the programs of PostgreSQL, which distributions do not put into `PATH`.
fn postgres_tools() -> Option<PathBuf> {
    if let Some(initdb) = find("initdb") {
        return initdb.parent().map(Path::to_owned);
    }
    let versions = std::fs::read_dir("/usr/lib/postgresql").ok()?;
    let mut tools: Vec<PathBuf> = versions
        .filter_map(|version| Some(version.ok()?.path().join("bin")))
        .filter(|folder| folder.join("initdb").is_file())
        .collect();
    tools.sort();
    tools.pop()
}

/// A command that runs as the user `postgres` if the tests run as root, because PostgreSQL refuses to
/// run as root.
fn as_user(program: &Path, user: Option<&(u32, u32)>) -> Command {
    let Some((user, group)) = user else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command
        .arg(format!("--reuid={user}"))
        .arg(format!("--regid={group}"))
        .arg("--clear-groups")
        .arg(program);
    command
}

fn id_of(arguments: &[&str]) -> Result<u32, String> {
    let output = Command::new("id")
        .args(arguments)
        .output()
        .map_err(|error| format!("`id` cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    text.parse()
        .map_err(|_| format!("`id {}` says nothing", arguments.join(" ")))
}

fn start_postgres(with_tls: bool) -> Result<Postgres, String> {
    let tools = postgres_tools().ok_or("there is no `initdb`")?;
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let user = if id_of(&["-u"])? == 0 {
        let user = (id_of(&["-u", "postgres"])?, id_of(&["-g", "postgres"])?);
        find("setpriv").ok_or("root needs `setpriv`")?;
        #[cfg(unix)]
        std::os::unix::fs::chown(folder.path(), Some(user.0), Some(user.1))
            .map_err(|error| error.to_string())?;
        Some(user)
    } else {
        None
    };
    let data = folder.path().join("data");
    let made = as_user(&tools.join("initdb"), user.as_ref())
        .arg("-D")
        .arg(&data)
        .args([
            "-U",
            "pkgres",
            "-A",
            "trust",
            "--no-sync",
            "-E",
            "UTF8",
            "--locale=C",
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("`initdb` cannot be run: {error}"))?;
    if !made.status.success() {
        return Err(format!(
            "`initdb`: {}",
            String::from_utf8_lossy(&made.stderr)
        ));
    }
    if with_tls {
        certify(folder.path(), &data, user.as_ref())?;
    }
    let port = free_port()?;
    let sockets = folder.path().to_string_lossy().into_owned();
    let server = as_user(&tools.join("postgres"), user.as_ref())
        .arg("-D")
        .arg(&data)
        .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
        .args(["-c", &format!("port={port}"), "-c", "max_connections=200"])
        .args(["-c", &format!("unix_socket_directories={sockets}")])
        .args(["-c", if with_tls { "ssl=on" } else { "ssl=off" }])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("`postgres` cannot be run: {error}"))?;
    let postgres = Postgres {
        server,
        port,
        tools,
        next: AtomicU32::new(0),
        folder,
    };
    wait_until("PostgreSQL", || {
        let ready = Command::new(postgres.tools.join("pg_isready"))
            .args(["-q", "-h", "127.0.0.1", "-p", &port.to_string()])
            .status();
        let psql = postgres.sql("postgres", "select 1");
        (ready.is_ok_and(|status| status.success()) || psql.is_ok()).then_some(())
    })?;
    Ok(postgres)
}

/// Creates a certificate authority and a certificate for `localhost` in a data folder. From then on the
/// server accepts TLS connections only.
fn certify(folder: &Path, data: &Path, user: Option<&(u32, u32)>) -> Result<(), String> {
    let (authority, text) = authority()?;
    let key = rcgen::KeyPair::generate().map_err(|error| error.to_string())?;
    let certificate = rcgen::CertificateParams::new(vec!["localhost".to_owned()])
        .and_then(|parameters| parameters.signed_by(&key, &authority))
        .map_err(|error| error.to_string())?;
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
    for (path, content) in [
        (folder.join("authority.pem"), text),
        (folder.join("another.pem"), self::authority()?.1),
        (data.join("server.crt"), certificate.pem()),
        (data.join("server.key"), key.serialize_pem()),
        (data.join("pg_hba.conf"), rules.to_owned()),
    ] {
        // The product writes files through `pkgres-files`; this is a folder of the test.
        #[allow(clippy::disallowed_methods)]
        std::fs::write(&path, content).map_err(|error| error.to_string())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let rights = std::fs::Permissions::from_mode(0o600);
            #[allow(clippy::disallowed_methods)]
            std::fs::set_permissions(&path, rights).map_err(|error| error.to_string())?;
            if let Some((user, group)) = user {
                std::os::unix::fs::chown(&path, Some(*user), Some(*group))
                    .map_err(|error| error.to_string())?;
            }
        }
    }
    Ok(())
}

/// A new certificate authority, and its certificate as text.
fn authority() -> Result<(rcgen::CertifiedIssuer<'static, rcgen::KeyPair>, String), String> {
    let made = || {
        let key = rcgen::KeyPair::generate()?;
        let mut parameters = rcgen::CertificateParams::new(Vec::new())?;
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        rcgen::CertifiedIssuer::self_signed(parameters, key)
    };
    let issuer = made().map_err(|error: rcgen::Error| error.to_string())?;
    let text = issuer.pem();
    Ok((issuer, text))
}

impl Postgres {
    /// The path of the certificate of the authority that signed the server's certificate.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// The path of the certificate of an unrelated authority.
    pub fn another_authority(&self) -> PathBuf {
        self.folder.path().join("another.pem")
    }

    /// Runs a statement in a database.
    fn sql(&self, database: &str, statement: &str) -> Result<(), String> {
        let beside = self.tools.join("psql");
        let psql = if beside.is_file() {
            beside
        } else {
            PathBuf::from("psql")
        };
        let output = Command::new(psql)
            .args([
                "-h",
                "127.0.0.1",
                "-U",
                "pkgres",
                "-d",
                database,
                "-q",
                "-c",
                statement,
            ])
            .args(["-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("`psql` cannot be run: {error}"))?;
        if output.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }

    /// Creates an empty database. Returns its address.
    ///
    /// # Panics
    ///
    /// If it cannot be created.
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.next.fetch_add(1, Ordering::Relaxed));
        if let Err(error) = self.sql("postgres", &format!("create database {name}")) {
            panic!("the database cannot be made: {error}");
        }
        format!("postgres://pkgres@127.0.0.1:{}/{name}", self.port)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // A fast shutdown, so that PostgreSQL releases its shared memory.
        let _ = Command::new("kill")
            .args(["-INT", &self.server.id().to_string()])
            .status();
        let begun = Instant::now();
        while begun.elapsed() < START_TIMEOUT {
            if !matches!(self.server.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn start_object_store() -> Result<ObjectStore, String> {
    let program = find("moto_server").ok_or("it is not in the PATH")?;
    let port = free_port()?;
    let server = Command::new(program)
        .args(["-H", "127.0.0.1", "-p", &port.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let store = ObjectStore { server, port };
    wait_until("moto_server", || store.put("/pkgres").ok())?;
    Ok(store)
}

impl ObjectStore {
    fn put(&self, path: &str) -> Result<(), String> {
        let exchange = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            let request = format!(
                "PUT {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 0\r\n\
                 Connection: close\r\n\r\n",
                self.port
            );
            stream.write_all(request.as_bytes())?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = exchange().map_err(|error| error.to_string())?;
        if answer.starts_with("HTTP/1.1 200") {
            return Ok(());
        }
        Err(answer)
    }

    /// The address of a new folder in a bucket, in the form that `--blobs` takes.
    pub fn bucket(&self, folder: &str) -> String {
        self.bucket_at(folder, self.port)
    }

    /// The same address at another port, such as that of a proxy.
    pub fn bucket_at(&self, folder: &str, port: u16) -> String {
        format!("s3://pkgres/{folder}?endpoint=http://127.0.0.1:{port}")
    }

    /// The port that the server listens on.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn wait_until<T>(name: &str, mut ready: impl FnMut() -> Option<T>) -> Result<T, String> {
    let begun = Instant::now();
    while begun.elapsed() < START_TIMEOUT {
        if let Some(value) = ready() {
            return Ok(value);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err(format!(
        "{name} did not start within {} s",
        START_TIMEOUT.as_secs()
    ))
}
