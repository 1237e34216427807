//! A registry: requests over HTTP, exports, and the certificates that users name.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use jiff::Timestamp;
use pkgres_manifest::{Limits, PackageName, PackagePath, RegistryName};
use pkgres_registry_client::http::{Address, HttpOptions, HttpRegistry};
use pkgres_registry_client::{Registry as _, RegistryError};
use pkgres_registry_server::{
    Environment, Problem, RegistryBackend, RegistryOptions, Service, Storage,
};
use pkgres_tests::archives::{archive, files};
use pkgres_tests::described::{Description, Exchange};
use tempfile::TempDir;

use crate::property::{are_safe_causes, is_safe, is_safe_line};
use crate::seeds::texts;
use crate::target::Target;

/// The fuzz targets of a registry.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "requests",
        run: requests,
        seeds: request_seeds,
        words: &[
            "GET ",
            "HEAD ",
            "POST ",
            "PUT ",
            "PATCH ",
            "DELETE ",
            "OPTIONS ",
            "?limit=1&marker=x",
            "&order_by=name&sort_dir=desc",
            "?fqn=a.Web&version=>=1",
            "%00",
            "%2e%2e",
            "%ff",
            "content-type: application/json\n",
            "accept: text/html;q=0.5\n",
            "range: bytes=0-9,-1\n",
            "if-none-match: *\n",
            "if-modified-since: Sun, 06 Nov 1994 08:49:37 GMT\n",
            "authorization: Bearer x\n",
            "openstack-api-version: placement 1.1\n",
            "{\"op\":\"replace\",\"path\":\"/tags\",\"value\":[]}",
            "\"scopes\":[\"publish\"]",
            "--x\r\n",
            "\r\n\r\n",
            "\n\n",
            "null",
        ],
        quick: 1_500,
    },
    Target {
        name: "export",
        run: export,
        seeds: || {
            texts(&[
                "org.acme.Web\n1.0.0\norg.acme.Web,org.acme.Db\n",
                "a\n1.0.0-rc.1+b\nCON,nul.x,a.A\n",
                "a.B\n1\na.b,a.B\nFullName: a.B",
            ])
        },
        words: &[
            ".",
            "-",
            "\n",
            ",",
            "+",
            "_",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            "\u{df}",
        ],
        quick: 60,
    },
    Target {
        name: "tls_certificates",
        run: tls_certificates,
        seeds: || {
            texts(&[
                CERTIFICATE,
                "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n",
            ])
        },
        words: &[
            "-----BEGIN CERTIFICATE-----\n",
            "-----END CERTIFICATE-----\n",
            "-----BEGIN PRIVATE KEY-----\n",
            "-----BEGIN X509 CRL-----\n",
            "MIIB",
            "====",
            "\u{0}",
            "\r\n",
        ],
        quick: 60,
    },
];

/// A self-signed certificate of an authority (an elliptic curve, valid for a century).
const CERTIFICATE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBijCCAS+gAwIBAgIUbsXS+bVxDNKznidvusfNwf7YoyswCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOVGVzdCBhdXRob3JpdHkwIBcNMjYxMTI2MTUwMTU5WhgPMjEy
NjExMDIxNTAxNTlaMBkxFzAVBgNVBAMMDlRlc3QgYXV0aG9yaXR5MFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAE5LjZOrv7lutq4RxV6Gz1840gwfJR900SgRDjsD3a
J9qQyxRnuW+/7/SIhqVtmUTgXoWm8Z5W1Bhyrof7kR/Qv6NTMFEwHQYDVR0OBBYE
FAQdn1tG27DTJMVMHQJS3hs/Q1C9MB8GA1UdIwQYMBaAFAQdn1tG27DTJMVMHQJS
3hs/Q1C9MA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAPd7i8Uh
KJnk2g4L9RERckkWy5zUynCpZCyBBEEERIEFAiEArAKAPn67tsa/ThNxpHb2UvWc
vgTJ9Ld1kQYq6gTKN3I=
-----END CERTIFICATE-----
";

/// How many requests one registry gets: what they leave behind slows down later ones.
const REQUESTS: usize = 500;

/// How many packages are published before an export.
const PUBLISHED: usize = 20;

/// A service on a registry of its own.
struct Served {
    service: Arc<Service>,
    registry: Arc<RegistryBackend>,
    authorization: String,
    description: Description,
    runtime: tokio::runtime::Runtime,
    /// The number of requests or packages so far.
    used: usize,
    _folder: TempDir,
}

/// The registries that are in use, one for each kind of target: opening one takes longer than a request.
static SERVED: LazyLock<[Mutex<Option<Served>>; 2]> = LazyLock::new(Default::default);

/// Does something with a registry that was used less than `limit` times.
fn with_registry<T>(place: usize, limit: usize, work: impl FnOnce(&mut Served) -> T) -> T {
    let mut place = SERVED[place].lock().unwrap_or_else(PoisonError::into_inner);
    let mut served = place
        .take()
        .filter(|served| served.used < limit)
        .unwrap_or_else(Served::new);
    served.used += 1;
    let result = work(&mut served);
    // After a panic, the next input gets another registry.
    *place = Some(served);
    result
}

impl Served {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let storage = Storage::new(folder.path().join("data"));
        let next = AtomicU64::new(1);
        let now = || Timestamp::from_second(1_800_000_000).expect("a time");
        // Numbers that never repeat, and are the same in each run.
        let environment = Environment::new(now, move |bytes: &mut [u8]| {
            for chunk in bytes.chunks_mut(8) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
                chunk.copy_from_slice(&number[..chunk.len()]);
            }
        });
        let registry = RegistryBackend::open(&storage, RegistryOptions::default(), environment);
        let registry = Arc::new(registry.expect("a registry"));
        let mut authorization = String::new();
        let token = registry.create_first_token(|secret| {
            authorization = format!("Bearer {secret}");
            Ok::<_, Problem>(())
        });
        token.expect("a token");
        let service =
            Service::new(Arc::clone(&registry)).with_body_timeout(Duration::from_hours(1));
        let runtime = tokio::runtime::Builder::new_current_thread();
        let mut served = Self {
            service: Arc::new(service),
            registry,
            authorization,
            description: Description::parse(b"{}"),
            runtime: { runtime }.enable_all().build().expect("a runtime"),
            used: 0,
            _folder: folder,
        };
        let request = http::Request::get("/v1/openapi.json").header("host", "localhost");
        let (_, description) = served.answered(request.body(Full::default()).expect("a request"));
        served.description = Description::parse(&description);
        for (name, requires) in [("a.Web", &[("a.Db", "1")][..]), ("a.Db", &[])] {
            served.publish(name, "1.0.0", archive(name, "1.0.0", requires));
        }
        served
    }

    fn answered(&self, request: http::Request<Full<Bytes>>) -> (http::response::Parts, Bytes) {
        self.runtime.block_on(async {
            let (parts, body) = self.service.answer(request).await.into_parts();
            let body = body.collect().await.expect("the body of a response");
            (parts, body.to_bytes())
        })
    }

    /// Publishes an archive over HTTP, and returns the status.
    fn publish(&self, name: &str, version: &str, archive: Vec<u8>) -> Option<u16> {
        let request = http::Request::put(format!("/v1/packages/{name}/versions/{version}"))
            .header("host", "registry.example.org")
            .header("authorization", &self.authorization)
            .header("content-type", "application/zip");
        // A name or version that cannot be a part of a path is no request.
        let request = request.body(Full::from(archive)).ok()?;
        Some(self.answered(request).0.status.as_u16())
    }
}

fn request_seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(&[
        "GET /\n\n",
        "GET /packages/a.Web\naccept: text/html\n\n",
        "GET /classes/a.Web\n\n",
        "GET /packages?search=web&page=2\naccept: text/html\n\n",
        "GET /v1/packages?limit=1&marker=a.Db\n\n",
        "GET /v1/packages/a.Web\nif-none-match: \"x\"\n\n",
        "GET /v1/packages/a.Db/dependants\n\n",
        "PUT /v1/packages/a.Web/owners\ncontent-type: application/json\n\n{\"owners\":[\"x\"]}",
        "POST /v1/packages/a.Web/versions/1.0.0/yank\ncontent-type: application/json\n\n{\"yanked\":true}",
        "DELETE /v1/packages/a.Web/versions/1.0.0\nif-match: *\n\n",
        "POST /v1/tokens\ncontent-type: application/json\n\n{\"scopes\":[\"publish\"],\"owner\":\"x\",\"names\":[\"a.*\"]}",
        "GET /v1/whoami\nopenstack-api-version: placement 1.1\n\n",
        "GET /index/config.json\nrange: bytes=0-9\n\n",
        "GET /index/v1/packages/a.!web.ndjson\n\n",
        "GET /index/v1/classes/a.!web.json\n\n",
        "GET /index/v1/names.ndjson\naccept-encoding: gzip\n\n",
        "GET /index/v1/changes?since=0\n\n",
        "POST /index/v1/batch\ncontent-type: application/json\n\n{\"names\":{\"a.Web\":null,\"b\":null}}",
        "GET /v1/catalog/packages?limit=2&order_by=fqn&search=web&type=Library&owned=true&catalog=false\n\n",
        "GET /v1/catalog/packages?fqn=a.Web&version=>=1&class_name=a.Web&tag=x&category=y&include_disabled=true\n\n",
        "PATCH /v1/catalog/packages/x\ncontent-type: application/murano-packages-json-patch\n\n[{\"op\":\"add\",\"path\":\"/tags\",\"value\":[\"x\"]}]",
        "POST /v1/catalog/categories\ncontent-type: application/json\n\n{\"name\":\"Web\"}",
        "GET /apps/a.Web.1.0.0.zip\n\n",
        "PUT /bundles/all.bundle\ncontent-type: application/json\n\n{\"Packages\":[{\"Name\":\"a.Web\",\"Version\":\"1\"}]}",
        "GET /healthz\n\n",
        "GET /metrics\n\n",
    ]);
    let web = archive("a.More", "1.0.0", &[("a.Db", "1")]);
    let mut put =
        b"PUT /v1/packages/a.More/versions/1.0.0\ncontent-type: application/zip\n\n".to_vec();
    put.extend_from_slice(&web);
    let mut form = b"POST /v1/catalog/packages?is_public=true\ncontent-type: multipart/form-data; boundary=x\n\n\
        --x\r\nContent-Disposition: form-data; name=\"JsonString\"\r\n\r\n{\"categories\":[],\"is_public\":true}\r\n\
        --x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.zip\"\r\n\r\n"
        .to_vec();
    form.extend_from_slice(&web);
    form.extend_from_slice(b"\r\n--x--\r\n");
    seeds.extend([put, form]);
    seeds
}

/// A method and a path, headers on lines of their own, an empty line, and a body.
fn parse_request(data: &[u8], authorization: &str) -> Option<http::Request<Full<Bytes>>> {
    let end = data.windows(2).position(|two| two == b"\n\n");
    let (head, body) = end.map_or((data, &[][..]), |end| (&data[..end], &data[end + 2..]));
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.next()?;
    let space = first.iter().position(|byte| *byte == b' ')?;
    let mut request = http::Request::builder()
        .method(&first[..space])
        .uri(&first[space + 1..]);
    let mut has_credentials = false;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        has_credentials |= name.eq_ignore_ascii_case(b"authorization");
        request = request.header(name, value);
    }
    if !request.headers_ref()?.contains_key("host") {
        request = request.header("host", "registry.example.org");
    }
    if !has_credentials {
        request = request.header("authorization", authorization);
    }
    request.body(Full::new(Bytes::copy_from_slice(body))).ok()
}

/// Every request gets a response that the service describes, and none is an error of the server.
fn requests(data: &[u8]) {
    with_registry(0, REQUESTS, |served| {
        let Some(request) = parse_request(data, &served.authorization) else {
            return;
        };
        let (method, path) = (request.method().to_string(), request.uri().to_string());
        // hyper hands on only absolute paths, `*` and, for `CONNECT`, hosts.
        if !path.starts_with('/') {
            return;
        }
        let (parts, body) = served.answered(request);
        let status = parts.status.as_u16();
        assert!(status < 500, "{method} {path}: {status} {body:?}");
        let headers = parts.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            is_safe_line(&value);
            (name.to_string(), value.into_owned())
        });
        served.description.check(&Exchange {
            method: &method,
            path: &path,
            status,
            headers: headers.collect(),
            body: &body,
        });
    });
}

/// Whatever packages and classes are called, the files of an export have paths of their own.
fn export(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let mut lines = text.splitn(4, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let (name, version, classes, more) = (next(), next(), next(), next());
    let listed: String = classes
        .split(',')
        .map(|class| format!("  \"{class}\": Main.yaml\n"))
        .collect();
    let manifest = format!(
        "Format: 1.4\nType: Library\nFullName: \"{name}\"\nVersion: \"{version}\"\n\
         Name: x\nClasses:\n{listed}{more}\n"
    );
    // The name of a class document may be missing.
    let archive = files(&[
        ("manifest.yaml", manifest.as_bytes()),
        ("Classes/Main.yaml", b"Properties: {}\n"),
    ]);
    with_registry(1, PUBLISHED, |served| {
        let published = served.publish(name, version, archive);
        if !matches!(published, Some(200..300)) {
            assert!(published.is_none_or(|status| status < 500), "{published:?}");
            return;
        }
        assert!(PackageName::is_name(name), "{name}");
        let mut paths = BTreeSet::new();
        let exported = served.registry.export(|path, _| {
            let parsed = PackagePath::parse(&path);
            assert!(parsed.is_ok(), "{path}: {parsed:?}");
            // On file systems that ignore case, too.
            assert!(paths.insert(path.to_lowercase()), "{path} twice");
            Ok::<_, Problem>(())
        });
        assert!(exported.is_ok(), "{:?}", exported.err());
    });
}

/// A file of certificates is trusted or refused, by a client and for a database.
fn tls_certificates(data: &[u8]) {
    // Nothing listens there.
    let address = Address::parse("https://127.0.0.1:1/").expect("an address");
    let mut options = HttpOptions::new(Timestamp::UNIX_EPOCH);
    options.authorities = vec![data.to_vec()];
    options.retry.attempts = 1;
    let name = RegistryName::parse("default").expect("a name");
    let registry = HttpRegistry::new(name, address, &Limits::default(), options);
    let wanted = [PackageName::parse("a.B").expect("a name")];
    let found: Result<_, RegistryError> = registry.records(&wanted);
    let error = found.expect_err("nothing listens there");
    is_safe(&error);
    are_safe_causes(&error);

    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("the file can be written");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let address = format!(
        "postgres://user@127.0.0.1:1/x?connect_timeout=1&sslmode=verify-full&sslrootcert={}",
        file.path().display()
    );
    let storage = Storage::new(folder.path()).with_database(Some(address));
    let environment = Environment::new(|| Timestamp::UNIX_EPOCH, |_| {});
    let opened = RegistryBackend::open(&storage, RegistryOptions::default(), environment);
    let error = opened.err().expect("nothing listens there");
    is_safe(&error);
    are_safe_causes(&error);
}
