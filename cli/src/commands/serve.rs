//! `pkgres serve`

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use pkgres_files::{FileLock, RealFileSystem, try_lock_folder, write_private_file};
use pkgres_manifest::diagnostic::{Code, Diagnostic, Escaped};
use pkgres_registry_server::{
    AccessKey, Background, BlobError, Bucket, DatabaseError, Environment, OpenError,
    RegistryBackend, RegistryOptions, ServeOptions, Service, Storage, serve,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

use crate::args::{ServeArgs, StorageArgs};
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::output::Output;

/// The default of `PKGRES_LOG`.
const DEFAULT_LOG_FILTER: &str = "warn,pkgres_registry_server=info";

/// The source of log lines of this command for filters: the server.
const LOG_TARGET: &str = "pkgres_registry_server";

/// The name of the file with the first token.
const TOKEN_FILE: &str = "admin-token";

pub(super) fn run(args: &ServeArgs, output: &mut Output) -> Result<Exit> {
    // Programs that wait for the address read one line.
    output.use_line_documents();
    let filter = std::env::var("PKGRES_LOG").unwrap_or_else(|_| DEFAULT_LOG_FILTER.to_owned());
    let filter = EnvFilter::try_new(&filter).map_err(|error| {
        Failure::usage(format!(
            "`PKGRES_LOG` is not a valid filter: {}",
            Escaped::new(&error.to_string())
        ))
    })?;
    // An error means that a logger is installed already.
    let _ = tracing_subscriber::fmt()
        .json()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .try_init();
    let runtime = runtime()?;
    // Nodes that share a database see what others write.
    let is_alone = args.storage.database.is_none();
    let data = args.storage.data.as_path();
    let mut lock = (is_alone && data.is_dir())
        .then(|| lock_data(data))
        .transpose()?;
    let registry = Arc::new(open(&args.storage, args.private, runtime.handle())?);
    if is_alone && lock.is_none() {
        lock = Some(lock_data(data)?);
    }
    let token_file = args.storage.data.join(TOKEN_FILE);
    let is_first = registry.create_first_token(|secret| write_token(&token_file, secret))?;
    if args.new_admin_token && !is_first {
        registry.create_admin_token(|secret| write_token(&token_file, secret))?;
    }
    let is_new = is_first || args.new_admin_token;
    let mut options = ServeOptions::default();
    if let Some(files) = raise_file_limit() {
        options = options.with_open_files(files);
    }
    let background = Background::start(&registry);
    let service = Arc::new(Service::new(Arc::clone(&registry)));
    let served = runtime.block_on(async {
        let listener = TcpListener::bind(args.listen)
            .await
            .map_err(|error| cannot_listen(args.listen, &error))?;
        let address = listener
            .local_addr()
            .map_err(|error| cannot_start(format!("cannot listen: {error}")))?;
        let shutdown = shutdown_signal().map_err(|error| cannot_start(error.to_string()))?;
        let address = format!("http://{address}/");
        if output.is_json() {
            output.json(&json!({
                "schema_version": 1,
                "status": "listening",
                "address": address,
            }));
        } else {
            output.data(&format!("{address}\n"));
        }
        output.flush();
        if is_new {
            // Programs that collect the log read lines of JSON only.
            tracing::info!(
                target: LOG_TARGET,
                file = %Escaped::path(&token_file),
                "the administrator token is in a file"
            );
        }
        serve(listener, service, options, shutdown).await;
        Ok(())
    });
    drop(background);
    // Connections to databases and buckets need the runtime to close.
    drop(registry);
    drop(lock);
    runtime.shutdown_timeout(Duration::from_secs(5));
    served.map(|()| Exit::Done)
}

/// Raises the limit of open files to what the system permits, as programs in Go do: the lower default is meant for
/// programs that use `select`. Returns the limit; `None` if there is none.
fn raise_file_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

/// Makes this process the only server of a data folder: another one would not see what this one writes.
fn lock_data(folder: &Path) -> Result<FileLock> {
    try_lock_folder(folder)?.ok_or_else(|| {
        let message = format!("another server uses {}", Escaped::path(&folder));
        Failure {
            findings: vec![Diagnostic::error(Code::RegistryUnreachable, message).hint(
                "stop it, name another folder with `--data`, or share a database with `--database`",
            )],
            exit: Exit::Registry,
        }
    })
}

/// The runtime that answers requests.
pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .max_blocking_threads(64)
        .build()
        .map_err(|error| cannot_start(format!("cannot start threads: {error}")))
}

/// Opens the storage of a registry, or creates it.
fn open(
    args: &StorageArgs,
    is_private: bool,
    runtime: &tokio::runtime::Handle,
) -> Result<RegistryBackend> {
    let options = RegistryOptions::default().with_private(is_private);
    let storage = storage(args, runtime);
    Ok(RegistryBackend::open(&storage, options, environment())?)
}

/// Opens the storage of a registry that exists.
pub(super) fn open_existing(
    args: &StorageArgs,
    runtime: &tokio::runtime::Handle,
) -> Result<RegistryBackend> {
    let storage = storage(args, runtime);
    let options = RegistryOptions::default();
    Ok(RegistryBackend::open_existing(
        &storage,
        options,
        environment(),
    )?)
}

/// The storage that arguments and variables describe.
fn storage(args: &StorageArgs, runtime: &tokio::runtime::Handle) -> Storage {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let key = variable("AWS_ACCESS_KEY_ID").zip(variable("AWS_SECRET_ACCESS_KEY"));
    let key = key.map(|(id, secret)| {
        AccessKey::new(id, secret).with_session_token(variable("AWS_SESSION_TOKEN"))
    });
    let bucket = args.blobs.clone();
    let bucket = bucket.map(|address| Bucket::new(address, runtime.clone()).with_access_key(key));
    Storage::new(&args.data)
        .with_database(args.database.clone())
        .with_blobs(bucket)
}

fn environment() -> Environment {
    Environment::new(jiff::Timestamp::now, |bytes| {
        getrandom::fill(bytes).expect("the system has a source of randomness");
    })
}

/// Writes the first token, readable by the user only.
fn write_token(path: &Path, secret: &str) -> Result<()> {
    Ok(write_private_file(
        &RealFileSystem,
        path,
        format!("{secret}\n").as_bytes(),
    )?)
}

/// A future that ends when the process is interrupted or terminated.
#[cfg(unix)]
fn shutdown_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};

    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn shutdown_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// The error for an address that cannot be listened on.
fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> Failure {
    let mut failure = cannot_start(format!("cannot listen on {address}: {error}"));
    if error.kind() == std::io::ErrorKind::AddrInUse {
        let free = SocketAddr::new(address.ip(), 0);
        let hint = format!(
            "another program uses this port: `--listen {free}` takes any free port, and prints its address"
        );
        failure.findings = failure
            .findings
            .into_iter()
            .map(|finding| finding.hint(hint.clone()))
            .collect();
    }
    failure
}

fn cannot_start(message: impl Into<String>) -> Failure {
    failed(Code::RegistryUnreachable, message)
}

fn failed(code: Code, message: impl Into<String>) -> Failure {
    Failure {
        findings: vec![Diagnostic::error(code, message)],
        exit: Exit::Registry,
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::File(error) | OpenError::Blobs(BlobError::File(error)) => error.into(),
            OpenError::Database(DatabaseError::Address(_)) => {
                Failure::usage(Escaped::new(&error.to_string()).to_string())
            }
            OpenError::Blobs(error @ BlobError::Address(_)) => {
                Failure::usage(Escaped::new(&error.to_string()).to_string())
            }
            OpenError::Missing(_) => {
                let message = Escaped::new(&error.to_string()).to_string();
                let finding = Diagnostic::error(Code::Usage, message);
                finding
                    .hint("`--data`, `--database` and `--blobs` are those of `pkgres serve`")
                    .into()
            }
            OpenError::Foreign(_) => {
                let message = Escaped::new(&error.to_string()).to_string();
                let finding = Diagnostic::error(Code::RegistryUnreachable, message);
                Failure {
                    findings: vec![finding.hint(
                        "use the database of that registry (`--database`, or restore `registry.sqlite`), or an empty \
                         folder and bucket (`--data`, `--blobs`)",
                    )],
                    exit: Exit::Registry,
                }
            }
            OpenError::NoArchives(_) => {
                let message = Escaped::new(&error.to_string()).to_string();
                let finding = Diagnostic::error(Code::RegistryUnreachable, message);
                Failure {
                    findings: vec![finding.hint(
                        "name the bucket or the folder that has the archives (`--blobs`, `--data`): all nodes that share a \
                         database share a bucket",
                    )],
                    exit: Exit::Registry,
                }
            }
            OpenError::Database(DatabaseError::NoTls) => failed(Code::NoTls, error.to_string()),
            OpenError::Database(DatabaseError::Untrusted(_)) => failed(
                Code::Certificate,
                Escaped::new(&error.to_string()).to_string(),
            ),
            other => cannot_start(Escaped::new(&other.to_string()).to_string()),
        }
    }
}

impl From<pkgres_registry_server::Problem> for Failure {
    fn from(problem: pkgres_registry_server::Problem) -> Self {
        // What clients are told of a problem with a cause is that the log has it.
        let message = match &problem.cause {
            Some(cause) => format!("the data of the registry cannot be used: {cause}"),
            None => problem.detail,
        };
        cannot_start(Escaped::new(&message).to_string())
    }
}

#[cfg(test)]
mod tests {
    use pkgres_registry_server::{Problem, ProblemCode};

    use super::*;

    #[test]
    fn problems_of_the_registry_are_sentences() {
        let message = |problem: Problem| Failure::from(problem).findings[0].message.clone();
        let lost = "the archive of org.acme.Db 1.0.0 is lost";
        assert_eq!(message(Problem::new(ProblemCode::Internal, lost)), lost);
        assert_eq!(
            message(Problem::internal("no such table")),
            "the data of the registry cannot be used: no such table"
        );
    }
}
