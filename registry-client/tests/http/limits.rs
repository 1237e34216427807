//! Registries that cost too much: answers that drip or never end, and packages without end.
//!
//! The servers never send more than what is described, and the clients have short limits: a loaded machine takes
//! longer, but the outcome is the same.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use pkgres_manifest::diagnostic::{Code, Diagnostic};
use pkgres_manifest::{Limits, RegistryName};
use pkgres_registry_client::http::{HttpOptions, NetworkLimits};
use pkgres_registry_client::{Address, HttpRegistry};

use crate::fake::{Fake, Reply, World};
use crate::{assert_says, connect, options, rejection};

/// A server that handles each connection once it has received a request; counts the connections.
fn server(handle: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/", listener.local_addr().expect("an address"));
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let handle = Arc::new(handle);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            counted.fetch_add(1, Ordering::Relaxed);
            let handle = Arc::clone(&handle);
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                handle(&mut stream);
            });
        }
    });
    (address, connections)
}

/// Sends something, and then nothing until the client closes the connection.
fn stalls(sent: &'static str) -> impl Fn(&mut TcpStream) + Send + Sync + 'static {
    move |stream| {
        let _ = stream.write_all(sent.as_bytes());
        while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {}
    }
}

/// The finding of a registry at an address, with some limits.
fn finding(address: &str, change: impl FnOnce(&mut NetworkLimits)) -> Diagnostic {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut options: HttpOptions = options(folder.path());
    change(&mut options.limits);
    let name = RegistryName::parse("acme").expect("a name");
    let address = Address::parse(address).expect("an address");
    rejection(
        &HttpRegistry::new(name, address, &Limits::default(), options),
        "a.A",
    )
}

fn assert_limit(finding: &Diagnostic, part: &str, setting: &str, variable: &str) {
    let parts = ["the registry `acme` exceeds a limit", part];
    assert_says(finding, Code::Limit, &parts);
    assert!(finding.hints[0].contains(setting), "{finding}");
    assert!(finding.hints[0].contains(variable), "{finding}");
}

#[test]
fn a_server_that_drips_is_not_waited_for() {
    for sent in [
        "",
        "HTTP/1.1 200 OK\r\nX-",
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
        // The body of an error drips as well.
        "HTTP/1.1 503 Busy\r\nContent-Length: 100\r\n\r\n{",
    ] {
        let (address, connections) = server(stalls(sent));
        let found = finding(&address, |limits| limits.window = Duration::from_millis(50));
        let (setting, variable) = ("`network-min-rate`", "PKGRES_NETWORK_MIN_RATE");
        assert_limit(&found, "/index/config.json", setting, variable);
        // One clear error, not the same wait again and again. The server may accept the connection later than that.
        while connections.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        assert_eq!(connections.load(Ordering::Relaxed), 1, "{sent:?}");

        let (address, _) = server(stalls(sent));
        let found = finding(&address, |limits| {
            limits.rate = 0;
            limits.answer = Duration::from_millis(50);
        });
        let (setting, variable) = ("`network-timeout`", "PKGRES_NETWORK_TIMEOUT");
        assert_limit(&found, "no whole answer within 0.05 s", setting, variable);
    }
}

/// Sends a body in chunks of 64 KiB until the client has enough.
fn endless(stream: &mut TcpStream) {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(1 << 16));
    if stream.write_all(head.as_bytes()).is_ok() {
        while stream.write_all(chunk.as_bytes()).is_ok() {}
    }
}

#[test]
fn an_endless_body_ends_at_the_limit_of_the_answer_or_of_the_run() {
    let (address, connections) = server(endless);
    let found = finding(&address, |_| {});
    assert_says(
        &found,
        Code::RegistryUnreachable,
        &["/index/config.json", "more than the limit of 4194304 bytes"],
    );
    assert_eq!(connections.load(Ordering::Relaxed), 1);
    let (address, connections) = server(endless);
    let found = finding(&address, |limits| limits.bytes = 1 << 20);
    let part = "more than 1048576 bytes in this run";
    assert_limit(&found, part, "`max-download`", "PKGRES_MAX_DOWNLOAD");
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[test]
fn the_bytes_of_a_run_count_over_all_answers() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Each answer is far below the limit.
    let fake = Fake::of(&chain(100, 1));
    let mut options = options(folder.path());
    options.limits.bytes = 20_000;
    let found = rejection(&connect(&fake, options), "p.P0");
    let part = "more than 20000 bytes in this run";
    assert_limit(&found, part, "`max-download`", "PKGRES_MAX_DOWNLOAD");
    let answers = fake.take_requests().len();
    assert!((5..100).contains(&answers), "{answers}");
}

/// A registry in which each package requires the next one; `room` documents fit into an answer.
fn chain(length: usize, room: usize) -> World {
    let mut world = World::new();
    for number in 0..length {
        let next = format!("p.P{}", number + 1);
        let requires: &[&str] = if number + 1 < length { &[&next] } else { &[] };
        world.add(&format!("p.P{number}"), "1.0.0", requires);
    }
    world.room = room;
    world
}

#[test]
fn a_registry_in_which_each_package_requires_a_new_one_is_left() {
    let mirror = World {
        is_mirror: true,
        ..chain(200, 1)
    };
    for (world, most_requests) in [(chain(200, 1), 25), (chain(200, 200), 5), (mirror, 60)] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let fake = Fake::of(&world);
        let mut options = options(folder.path());
        options.limits.packages = 20;
        let found = rejection(&connect(&fake, options.clone()), "p.P0");
        let part = "more than 20 packages";
        assert_limit(&found, part, "`max-packages`", "PKGRES_MAX_PACKAGES");
        let requests = fake.take_requests().len();
        assert!(requests <= most_requests, "{requests}");
        // All of them are within the limit.
        options.limits.packages = 200;
        let registry = connect(&fake, options);
        crate::versions(&registry, &["p.P0"]).expect("the limit is not exceeded");
    }
}

/// Packages that the registry does not have are looked up, too.
#[test]
fn absent_packages_count() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::of(&chain(1, 1));
    let mut options = options(folder.path());
    options.limits.packages = 3;
    let registry = connect(&fake, options);
    let names = ["p.P0", "a.A", "b.B", "c.C"];
    crate::versions(&registry, &names[..3]).expect("the limit is not exceeded");
    let found = crate::versions(&registry, &names).expect_err("it is exceeded");
    let part = "more than 3 packages";
    let (setting, variable) = ("`max-packages`", "PKGRES_MAX_PACKAGES");
    assert_limit(&found.to_diagnostic(), part, setting, variable);
}

#[test]
fn redirects_without_end_are_an_error_after_a_few() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let fake = Fake::start(move |_| {
        // Each target is a new one.
        let next = counted.fetch_add(1, Ordering::Relaxed);
        Reply::new(307, "").with("Location", &format!("/{next}"))
    });
    let found = finding(&fake.address, |_| {});
    assert_says(
        &found,
        Code::RegistryUnreachable,
        &["redirects more than 3 times"],
    );
    assert_eq!(count.load(Ordering::Relaxed), 4);
}
