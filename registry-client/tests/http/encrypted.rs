//! Registries over TLS: whose certificates are trusted, and what is said about the others.

use std::io::{BufRead, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use pkgres_manifest::diagnostic::Code;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::fake::{Fake, World};
use crate::{assert_says, connect, options, rejection, some, versions};

/// A certificate authority.
struct Authority(rcgen::CertifiedIssuer<'static, rcgen::KeyPair>);

impl Authority {
    fn new() -> Self {
        let key = rcgen::KeyPair::generate().expect("a key");
        let names = vec!["127.0.0.1".to_owned()];
        let mut parameters = rcgen::CertificateParams::new(names).expect("a name");
        parameters.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let issuer = rcgen::CertifiedIssuer::self_signed(parameters, key);
        Self(issuer.expect("a certificate"))
    }

    fn pem(&self) -> Vec<u8> {
        self.0.pem().into_bytes()
    }

    /// The configuration of a server with this name.
    fn server(&self, name: &str) -> ServerConfig {
        let key = rcgen::KeyPair::generate().expect("a key");
        let parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("a name");
        let certificate = parameters.signed_by(&key, &self.0).expect("a certificate");
        config(certificate.der().clone(), &key)
    }

    /// The configuration of a server that shows the certificate of the authority itself.
    fn itself(&self) -> ServerConfig {
        config(self.0.der().clone(), self.0.key())
    }
}

fn config(
    certificate: rustls::pki_types::CertificateDer<'static>,
    key: &rcgen::KeyPair,
) -> ServerConfig {
    let key = PrivateKeyDer::try_from(key.serialize_der()).expect("a key");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the versions are known")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the key fits")
}

/// Listens with TLS, and passes each request on. The registry's address becomes this one.
fn encrypt(fake: &mut Fake, config: ServerConfig) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let upstream = fake
        .address
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    fake.address = format!("https://{address}/");
    let config = Arc::new(config);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (config, upstream) = (config.clone(), upstream.clone());
            // A client that does not trust the certificate ends the connection.
            std::thread::spawn(move || pass_on(stream, config, &upstream));
        }
    });
}

fn pass_on(stream: TcpStream, config: Arc<ServerConfig>, upstream: &str) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut client = BufReader::new(StreamOwned::new(connection, stream));
    let mut server = BufReader::new(TcpStream::connect(upstream)?);
    loop {
        let request = read_message(&mut client)?;
        server.get_mut().write_all(&request)?;
        let response = read_message(&mut server)?;
        client.get_mut().write_all(&response)?;
        client.get_mut().flush()?;
    }
}

/// A request or response with its body.
fn read_message(stream: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let (mut message, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        message.extend_from_slice(line.as_bytes());
        if line.trim().is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').unwrap_or_default();
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    message.extend(body);
    Ok(message)
}

fn world() -> World {
    let mut world = World::new();
    world.add("org.acme.A", "1.0.0", &[]);
    world
}

#[test]
fn a_registry_is_read_with_the_certificate_of_its_authority() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut fake = Fake::of(&world());
    let authority = Authority::new();
    encrypt(&mut fake, authority.server("127.0.0.1"));
    let mut options = options(folder.path());
    options.authorities.push(authority.pem());
    let registry = connect(&fake, options);
    let found = versions(&registry, &["org.acme.A"]).expect("it can be read");
    assert_eq!(found, [some(&["1.0.0"])]);
}

#[test]
fn certificates_that_are_not_trusted_are_explained_and_not_tried_again() {
    let authority = Authority::new();
    for (config, trusted, part, hint) in [
        (
            authority.server("127.0.0.1"),
            false,
            "UnknownIssuer",
            "--ca-file",
        ),
        (
            authority.server("packages.example.org"),
            true,
            "packages.example.org",
            "",
        ),
        (
            authority.itself(),
            true,
            "it is the certificate of an authority",
            "signed by the authority",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut fake = Fake::of(&world());
        encrypt(&mut fake, config);
        let mut options = options(folder.path());
        if trusted {
            options.authorities.push(authority.pem());
        }
        let finding = rejection(&connect(&fake, options), "org.acme.A");
        assert_says(&finding, Code::RegistryUnreachable, &["certificate", part]);
        assert!(!finding.message.contains("tried"), "{finding}");
        let hints = finding.hints.join("\n");
        assert!(hints.contains(hint), "{finding}");
    }
}
