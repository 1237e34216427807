//! Index records, compiled indexes, documents of the registry protocol, addresses and credentials.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;

use pkgres_manifest::diagnostic::{Escaped, Location, SourceText};
use pkgres_manifest::{ClassName, IndexReader, IndexRecord, Limits, PackageName, Release};
use pkgres_registry_client::http::CredentialSources;
use pkgres_registry_client::protocol::{
    BatchRequest, Changes, ClassDocument, Config, Digest, ErrorDocument, FrameDecoder, FrameError,
    FrameLimits, IndexDocument, NamesLine, ProvedNodes, PublicKey, SignedSnapshot, SigningKey,
    Snapshot, escape_name, root_of_path, unescape_name,
};
use pkgres_registry_client::{Address, Namespace, PackageFolder, RegistryLocation};
use pkgres_resolver::CompiledIndex;

use crate::property::{are_safe, is_safe, is_safe_line};
use crate::seeds::{files, texts};
use crate::target::Target;

/// The fuzz targets of registries.
pub(crate) const TARGETS: &[Target] = &[
    Target {
        name: "record",
        run: record,
        seeds: || {
            let mut seeds = texts(&RECORDS);
            let indexes = files(|path| path.ends_with(".ndjson"));
            let lines = indexes
                .iter()
                .flat_map(|index| index.split(|byte| *byte == b'\n'));
            seeds.extend(lines.take(200).map(<[u8]>::to_vec));
            seeds
        },
        words: RECORD_WORDS,
        quick: 8_000,
    },
    Target {
        name: "compiled",
        run: compiled,
        seeds: || texts(&[&RECORDS.join("\n")]),
        words: &["\u{1}", "\u{0}\u{0}\u{0}\u{0}", "a.B", "\u{ff}"],
        quick: 4_000,
    },
    Target {
        name: "documents",
        run: documents,
        seeds: documents_seeds,
        words: RECORD_WORDS,
        quick: 4_000,
    },
    Target {
        name: "frames",
        run: frames,
        seeds: || texts(&[FRAMES, "{\"status\":\"complete\",\"serial\":1}\n"]),
        words: &[
            "\n",
            "{\"status\":\"complete\",\"serial\":1}\n",
            "\"length\":0",
            "\"absent\"",
            "\"index\":1",
            "\"proof\":[]",
            "\"truncated\"",
            "\"beside\":[]",
            "\"names\":[\"a\"]",
        ],
        quick: 6_000,
    },
    Target {
        name: "proofs",
        run: proofs,
        seeds: || {
            vec![
                (0..=255).collect(),
                vec![0; 40],
                vec![1, 0, 0, 0, 0, 0, 0, 0, 2],
            ]
        },
        words: &["\u{0}", "\u{1}", "\u{7f}"],
        quick: 6_000,
    },
    Target {
        name: "addresses",
        run: addresses,
        seeds: || {
            texts(&[
                "https://user:pass@registry.example.org:8443/a/b/",
                "http://[::1]:80/x?y#z",
                "org.acme.*",
                "org.acme",
                "machine h login a password b\nmacdef x\ny\n\ndefault login c password d # e\n",
                "{\"tokens\": {\"https://registry.example.org/\": \"secret\"}}",
                "org.acme.Web-1.0.0-rc.1.zip",
                "io.murano.!apache",
            ])
        },
        words: &[
            "machine ",
            "default ",
            "login ",
            "password ",
            "macdef ",
            "https://",
            "@",
            "%00",
            "!a",
            ".zip",
            "-",
        ],
        quick: 1_000,
    },
    LOCATION_TARGET,
];

const LOCATION_TARGET: Target = Target {
    name: "locations",
    run: locations,
    seeds: || {
        texts(&[
            "dir:packages\nlocal=index:../index.ndjson\nhttps://registry.example.org/a/",
            "org.acme.*\norg.acme\n*",
            "a=b=dir:x\nhost=dir:y",
        ])
    },
    words: &[
        "dir:",
        "index:",
        "https://",
        "http://",
        "=",
        ".*",
        "*",
        "..",
        "default=",
        "registry-2=",
        "%2e",
        "@",
        "\u{202e}",
        "\n",
    ],
    quick: 10_000,
};

const RECORD_WORDS: &[&str] = &[
    "\"name\":",
    "\"version\":",
    "\"require\":",
    "\"classes\":",
    "\"internal\":",
    "\"extends\":",
    "\"uses\":",
    "\"sha256\":",
    "\"size\":",
    "\"yanked\":true",
    "\"published\":",
    "[[\"a.C\",\"1\"]]",
    "{\"a.C\":null}",
    "null",
    "\\u0041",
    "\\n",
];

const RECORDS: [&str; 5] = [
    r#"{"name":"org.acme.Web","version":"1.2.0-rc.1+b","format":"MuranoPL/1.3","require":[["org.acme.Db","1"],["plug-in","*"]],"classes":{"org.acme.Web":{"extends":["io.murano.Application"],"uses":["a.B"]},"org.acme.X":{}},"internal":{"org.acme.Y":{"extends":["org.acme.X"]}},"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","size":1234,"yanked":true,"published":"2026-01-31T12:00:00Z"}"#,
    r#"{"name": "a.B", "version": "1", "require": {"a.C": null, "a.D": ">=1,<2"}, "other": [{"x": 1}]}"#,
    r#"{"name":"a.B","version":"1.0.0"}"#,
    r#"{"version":"1.0","yanked":false,"size":null,"name":"a\u002eB","classes":null}"#,
    r#"{"name":"a.C","version":"2.0.0","classes":{"a.C":{"extends":["a.D","a.D"]},"a.D":{"extends":["a.C"]}},"sha256":"tree:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#,
];

const FRAMES: &str = "\
{\"name\":\"a\",\"status\":\"changed\",\"sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"length\":3}
abc{\"name\":\"b\",\"status\":\"unchanged\",\"sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"index\":1,\"proof\":[]}
{\"name\":\"c\",\"status\":\"absent\",\"beside\":[{\"name\":\"b\",\"sha256\":\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\",\"index\":1,\"proof\":[]}]}
{\"status\":\"truncated\",\"names\":[\"d\",\"e\"]}
{\"status\":\"complete\",\"serial\":7}
";

/// A record of each document of the protocol.
fn documents_seeds() -> Vec<Vec<u8>> {
    let key = SigningKey::from_bytes(&[1; 32]);
    let snapshot = Snapshot {
        registry: "r".to_owned(),
        serial: 3,
        names: 2,
        root: Digest::of(b"root"),
        issued: jiff::Timestamp::UNIX_EPOCH,
        expires: jiff::Timestamp::UNIX_EPOCH,
    };
    let signed = SignedSnapshot::sign(&snapshot, &[&key]);
    let name = |text| PackageName::parse(text).expect("a name");
    let names = ["a", "b"].map(|text| NamesLine {
        name: name(text),
        sha256: Digest::of(b""),
    });
    let names = names.map(|line| line.to_line() + "\n").concat();
    let changes = format!(
        r#"{{"serial":9,"changes":[{{"serial":8,"kind":"publish","name":"a","version":"1.0.0","at":"2026-01-31T12:00:00Z"}},{{"serial":9,"kind":"x","name":"a","at":"2026-01-31T12:00:00Z"}}],"snapshot":{}}}"#,
        signed.to_json()
    );
    let mut seeds = texts(&[
        &names,
        &changes,
        &signed.to_json(),
        &Config::of_server(vec![key.public()]).to_json(),
        &Config::of_static().to_json(),
        r#"{"class":"a.B","packages":["a","b"]}"#,
        r#"{"names":{"a":null,"b":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},"closure":true}"#,
        r#"{"errors":[{"status":404,"code":"x","title":"t","detail":"d","request_id":"r"}]}"#,
        &key.public().to_string(),
        &Digest::of(b"").to_etag(),
    ]);
    seeds.push([RECORDS[2], "\n", RECORDS[2], "\n"].concat().into_bytes());
    seeds
}

/// Reads a line with a new reader.
fn read_line(reader: &mut IndexReader, line: &str) -> Option<IndexRecord> {
    let locate = |span| Location::new(&SourceText::new("index.ndjson", line), span);
    match reader.read_line(line, &locate) {
        Ok(record) => Some(record),
        Err(finding) => {
            are_safe(&[finding]);
            None
        }
    }
}

/// The fast path reads a line as the general reader does, and a record reads as it is written.
fn record(data: &[u8]) {
    let package = IndexRecord::package_of_line(data);
    let Ok(line) = str::from_utf8(data) else {
        return;
    };
    let read = read_line(&mut IndexReader::new(Limits::default()), line);
    // White space in front keeps the fast path out.
    let general = read_line(
        &mut IndexReader::new(Limits::default()),
        &format!(" {line}"),
    );
    if !line.starts_with('\u{feff}') {
        assert_eq!(read, general);
    }
    let Some(record) = read else {
        return;
    };
    let package = package.expect("a record names its package");
    assert_eq!(package, record.name.as_str());
    let line = record.to_line();
    let mut reader = IndexReader::new(Limits::default());
    let again = read_line(&mut reader, &line);
    assert_eq!(again.as_ref(), Some(&record));
    // The reader has its memory of the line before now.
    assert_eq!(read_line(&mut reader, &line), again);
    assert!(record.cmp_content(&record).is_eq());
    let written = IndexRecord::package_of_line(line.as_bytes());
    assert_eq!(written.as_deref(), Some(record.name.as_str()));
    assert_eq!(again.map(|record| record.to_line()), Some(line));
}

/// A compiled index is what was compiled, and damaged bytes are rejected or harmless.
fn compiled(data: &[u8]) {
    const SOURCE: [u8; 32] = [7; 32];
    // Lines that are records are compiled; the last line says where the bytes are damaged.
    let mut lines: Vec<&[u8]> = data.split(|byte| *byte == b'\n').collect();
    let damage = lines.pop().unwrap_or_default();
    let mut reader = IndexReader::new(Limits::default());
    let lines = lines.iter().filter_map(|line| str::from_utf8(line).ok());
    let records: Vec<IndexRecord> = lines
        .filter_map(|line| read_line(&mut reader, line))
        .collect();
    let index = CompiledIndex::compile(&records);
    let Some(mut bytes) = index.to_bytes(&SOURCE) else {
        return;
    };
    let read = CompiledIndex::from_bytes(bytes.clone(), &SOURCE);
    let read = read.expect("a compiled index reads as it is written");
    assert_eq!(read.release_count(), index.release_count());
    assert!(read.packages().eq(index.packages()));
    assert!(read.defined_classes().eq(index.defined_classes()));
    assert_eq!(read.to_bytes(&SOURCE), Some(bytes.clone()));

    let [place @ .., value] = damage else {
        return;
    };
    let place = place.iter().fold(0_usize, |place, byte| {
        place * 256 % bytes.len() + usize::from(*byte)
    });
    let length = bytes.len();
    bytes[place % length] ^= value;
    // The checksum is made right, as whoever damages the bytes on purpose would.
    let end = length - 16;
    let checksum = twox_hash::XxHash3_128::oneshot(&bytes[..end]);
    bytes[end..].copy_from_slice(&checksum.to_ne_bytes());
    if let Ok(damaged) = CompiledIndex::from_bytes(bytes, &SOURCE) {
        let classes: Vec<ClassName> = damaged.defined_classes().collect();
        for package in damaged.packages() {
            assert!(damaged.has(&package));
        }
        for class in classes {
            let _ = damaged.defining(&class);
        }
    }
}

/// Each document reads as it is written, and signatures hold for what was signed alone.
fn documents(data: &[u8]) {
    let shown = |error: &dyn std::fmt::Display| {
        is_safe_line(&Escaped::new(&error.to_string()).to_string());
    };
    let package = PackageName::parse("a.B").expect("a name");
    let mut reader = IndexReader::new(Limits::default());
    match IndexDocument::parse("a.B", data, &package, &mut reader) {
        Ok(mut records) => {
            let rendered = IndexDocument::render(&mut records);
            let again = IndexDocument::parse("a.B", &rendered.bytes, &package, &mut reader);
            assert_eq!(again.as_ref(), Ok(&records));
        }
        Err(finding) => are_safe(&[finding]),
    }
    match NamesLine::parse_all(data) {
        Ok(names) => {
            let lines: String = names.iter().map(|name| name.to_line() + "\n").collect();
            assert_eq!(lines.as_bytes(), data, "there is one spelling");
        }
        Err(error) => shown(&error),
    }
    /// Asserts that a document reads as it is written.
    macro_rules! same_again {
        ($($parse:expr),* $(,)?) => {
            $(match $parse(data) {
                Ok(document) => {
                    let again = $parse(document.to_json().as_bytes());
                    assert_eq!(again.as_ref(), Ok(&document));
                }
                Err(error) => shown(&error),
            })*
        };
    }
    same_again!(
        ClassDocument::parse,
        |data| BatchRequest::parse(data, 10_000),
        Changes::parse,
        Config::parse,
        ErrorDocument::parse,
        SignedSnapshot::parse,
    );
    if let Ok(signed) = SignedSnapshot::parse(data) {
        let key = SigningKey::from_bytes(&[1; 32]);
        if let Ok(snapshot) = signed.verify(&key.public()) {
            let again = SignedSnapshot::sign(&snapshot, &[&key]);
            assert_eq!(again.verify(&key.public()), Ok(snapshot));
        }
    }
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match PublicKey::parse(text) {
        Ok(key) => assert_eq!(key.to_string(), text),
        Err(error) => shown(&error),
    }
    if let Some(digest) = Digest::from_etag(text) {
        assert_eq!(Digest::from_etag(&digest.to_etag()), Some(digest));
    }
    if let Some(name) = unescape_name(text) {
        assert_eq!(escape_name(&name), text);
    }
}

/// Decodes an answer that comes in pieces.
fn decoded(data: &[u8], piece: usize) -> (Vec<String>, Result<(), FrameError>) {
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    let mut frames = Vec::new();
    for piece in data.chunks(piece) {
        decoder.push(piece.to_vec());
        loop {
            match decoder.next_frame() {
                Ok(Some(frame)) => {
                    frames.push(format!("{frame:?}"));
                    let mut encoded = Vec::new();
                    frame.encode(&mut encoded);
                    let mut again = FrameDecoder::new(FrameLimits::default());
                    again.push(encoded);
                    assert_eq!(again.next_frame(), Ok(Some(frame)));
                }
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, decoder.finish())
}

/// An answer is the same in whatever pieces it comes, and each frame reads as it is written.
fn frames(data: &[u8]) {
    let whole = decoded(data, data.len().max(1));
    for piece in [1, 7, 64] {
        assert_eq!(decoded(data, piece), whole);
    }
    if let Err(error) = whole.1 {
        is_safe_line(&Escaped::new(&error.to_string()).to_string());
    }
}

/// Proofs from outside: no leaf is proved that its own path does not prove.
fn proofs(data: &[u8]) {
    let (size, rest) = data.split_at_checked(2).unwrap_or((&[0, 0], data));
    let size = u64::from(u16::from_le_bytes([size[0], size[1]]) % 70);
    let tree: Vec<Digest> = (0..size).map(|at| Digest::of(&at.to_le_bytes())).collect();
    let tree = pkgres_registry_client::protocol::MerkleTree::new(tree);
    let mut proved = ProvedNodes::new(tree.root(), size);
    for step in rest.chunks(4) {
        let [index, of, length, change] = [0, 1, 2, 3].map(|at| step.get(at).copied().unwrap_or(0));
        let index = u64::from(index) % 80;
        let leaf = Digest::of(&(u64::from(of) % 80).to_le_bytes());
        let at = usize::try_from(index).expect("it is small");
        let mut path = tree.audit_path(at).unwrap_or_default();
        path.truncate(usize::from(length) % 10);
        if let (true, Some(first)) = (change % 4 == 0, path.first_mut()) {
            *first = Digest::of(&[change]);
        }
        let is_there = tree.leaves().get(at) == Some(&leaf);
        let alone = root_of_path(&leaf, index, size, &path);
        assert!(alone != Some(tree.root()) || is_there);
        assert!(!proved.prove(&leaf, index, &path) || is_there);
    }
}

/// Addresses, files of credentials, namespaces and names of archives, as settings have them.
fn addresses(data: &[u8]) {
    let address = Address::parse("https://registry.example.org/a/").expect("an address");
    // Credentials are read from files, which nobody else may read.
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(data).expect("the file can be written");
    let mut netrc = CredentialSources::default();
    netrc.netrc = Some(file.path().to_owned());
    let mut tokens = CredentialSources::default();
    tokens.token_file = Some(file.path().to_owned());
    for sources in [netrc, tokens] {
        if let Err(error) = sources.find(&address) {
            is_safe(&error);
        }
    }
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    match Address::parse(text) {
        Ok(address) => {
            is_safe_line(address.as_str());
            let again = Address::parse(address.as_str()).expect("an address is one");
            assert_eq!(again.as_str(), address.as_str());
        }
        Err(error) => is_safe(&error),
    }
    match Namespace::parse(text) {
        Ok(namespace) => {
            is_safe(&namespace);
            assert!(namespace.covers(&namespace));
        }
        Err(error) => is_safe(&error),
    }
    if let Some(Release { name, version }) = PackageFolder::release_of_archive(text) {
        assert_eq!(PackageFolder::archive_name(&name, &version), text);
    }
}

/// Locations have names of their own and keep their order, and a namespace reads as it is written.
fn locations(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let base = Path::new("base");
    match RegistryLocation::parse_all(text.lines(), base) {
        Ok(locations) => {
            assert_eq!(locations.len(), text.lines().count());
            let names: BTreeSet<&str> = locations.iter().map(|one| one.name.as_str()).collect();
            assert_eq!(names.len(), locations.len(), "{names:?}");
            for (location, line) in locations.iter().zip(text.lines()) {
                is_safe(&location.name);
                // With its name in front, each is the same on its own.
                let whole = if location.is_named() {
                    line.to_owned()
                } else {
                    format!("{}={line}", location.name)
                };
                let again = RegistryLocation::parse_all([&*whole], base);
                let again = &again.expect("a location by itself is one")[0];
                assert!(again.is_named() && again.name == location.name);
                assert!(again.is_same_place(location));
                if let Some(address) = location.address() {
                    is_safe_line(address.as_str());
                }
            }
        }
        Err(error) => is_safe(&error),
    }
    for line in text.lines() {
        match Namespace::parse(line) {
            Ok(namespace) => {
                let written = namespace.to_string();
                is_safe_line(&written);
                assert_eq!(Namespace::parse(&written), Ok(namespace));
            }
            Err(error) => is_safe(&error),
        }
    }
}
