//! Shapes of lockfiles, index records, and the documents of the registry protocol.

use std::io::Write as _;
use std::num::NonZeroUsize;

use pkgres_manifest::diagnostic::{Escaped, Location, SourceText};
use pkgres_manifest::{
    IndexReader, IndexRecord, Limits, LockDiff, Lockfile, PackageName, RegistryName, Spec, Version,
};
use pkgres_registry_client::protocol::{
    BatchRequest, Changes, ClassDocument, Config, ErrorDocument, FrameDecoder, FrameLimits,
    IndexDocument, NamesLine, SignedSnapshot,
};
use pkgres_registry_client::{IndexFileRegistry, Registry as _};
use pkgres_resolver::CompiledIndex;

use crate::Shape;
use crate::documents::{of_parts, show};

const MIB: usize = 1 << 20;

/// Reads a lockfile, writes it again, compares it, and salvages it.
fn lock(input: &[u8]) {
    let limits = Limits::default();
    match Lockfile::read("pkgres.lock", input, &limits).into_result() {
        Ok((lock, _)) => {
            assert!(!lock.to_text().is_empty());
            let _ = lock.merge_problems();
            let nothing = Lockfile::default();
            assert!(LockDiff::between(&lock, &lock).is_empty());
            let _ = LockDiff::between(&nothing, &lock);
            let _ = LockDiff::between(&lock, &nothing);
        }
        Err(findings) => show(&findings),
    }
    let salvaged = Lockfile::salvage(input, &limits);
    let _ = LockDiff::from_salvaged(&salvaged, &Lockfile::default());
}

/// Reads a text as lines of an index, of which the first error ends it, and compiles them.
fn records(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    let mut reader = IndexReader::new(Limits::default());
    let mut records = Vec::new();
    for line in text.lines() {
        let _ = IndexRecord::package_of_line(line.as_bytes());
        let locate = |span| Location::new(&SourceText::new("index.ndjson", line), span);
        match reader.read_line(line, &locate) {
            Ok(record) => records.push(record),
            Err(finding) => return show(&[finding]),
        }
    }
    for record in &records {
        assert!(!record.to_line().is_empty());
    }
    let index = CompiledIndex::compile(&records);
    let source = [7; 32];
    if let Some(bytes) = index.to_bytes(&source) {
        assert!(CompiledIndex::from_bytes(bytes, &source).is_ok());
    }
}

/// Opens a text as an index file, and reads the records of a package.
fn index_file(input: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(input).expect("it is written");
    let name = RegistryName::parse("default").expect("a name");
    let (limits, threads) = (Limits::default(), NonZeroUsize::MIN);
    let registry = match IndexFileRegistry::open(name, file.path(), &limits, threads) {
        Ok(registry) => registry,
        Err(error) => return show(&[error.to_diagnostic()]),
    };
    let package = PackageName::parse("a.A").expect("a name");
    let read = registry.records(&[package]);
    assert!(read.is_ok(), "lines are left out: {read:?}");
    let findings = registry.take_findings();
    // A run shows no more, and counts the rest.
    show(&findings[..findings.len().min(100)]);
}

/// Reads every document of the protocol, and an answer in frames.
fn protocol(input: &[u8]) {
    let package = PackageName::parse("a.B").expect("a name");
    let mut reader = IndexReader::new(Limits::default());
    match IndexDocument::parse("a.B", input, &package, &mut reader) {
        Ok(mut records) => assert!(!IndexDocument::render(&mut records).bytes.is_empty()),
        Err(finding) => show(&[finding]),
    }
    let shown = |error: &dyn std::fmt::Display| {
        assert!(Escaped::shortened(&error.to_string()).to_string().len() < 2_000);
    };
    let _ = NamesLine::parse_all(input).map_err(|error| shown(&error));
    let _ = ClassDocument::parse(input).map_err(|error| shown(&error));
    let _ = BatchRequest::parse(input, 10_000).map_err(|error| shown(&error));
    let _ = Changes::parse(input).map_err(|error| shown(&error));
    let _ = Config::parse(input).map_err(|error| shown(&error));
    let _ = ErrorDocument::parse(input).map_err(|error| shown(&error));
    let _ = SignedSnapshot::parse(input).map_err(|error| shown(&error));
    // In small pieces, as they come from a network.
    let mut decoder = FrameDecoder::new(FrameLimits::default());
    for piece in input.chunks(100) {
        decoder.push(piece.to_vec());
        loop {
            match decoder.next_frame() {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(error) => return shown(&error),
            }
        }
    }
    let _ = decoder.finish().map_err(|error| shown(&error));
}

/// Reads versions and specs of any length.
fn values(input: &[u8]) {
    let text = str::from_utf8(input).expect("a text");
    if let Err(error) = Version::parse(text) {
        assert!(error.to_string().len() < 2_000);
    }
    if let Err(error) = Spec::parse(text) {
        assert!(error.to_string().len() < 2_000);
    }
}

/// All shapes of what registries and projects hold.
pub(crate) fn shapes() -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut add = |reader, read: fn(&[u8]), limit, parts: &[_]| {
        let parts = parts.iter();
        shapes.extend(parts.map(|parts| of_parts(reader, read, limit, "", *parts)));
    };
    add("lock", lock, 32 * MIB, LOCKS);
    add("record", records, MIB, RECORDS);
    add("index", records, 32 * MIB, INDEXES);
    add("index file", index_file, 32 * MIB, FILES);
    add("protocol", protocol, 32 * MIB, DOCUMENTS);
    add("value", values, MIB, VALUES);
    shapes
}

type Parts = (&'static str, &'static str, &'static str, &'static str);

const FILES: &[Parts] = &[
    (
        "versions",
        "",
        "{\"name\":\"a.A\",\"version\":\"1.0.#\"}\n",
        "",
    ),
    (
        "versions that cannot be read",
        "{\"name\":\"a.A\",\"version\":\"1.0.0\"}\n",
        "{\"name\":\"a.A\",\"version\":\"x#\"}\n",
        "",
    ),
    (
        "lines without a package",
        "{\"name\":\"a.A\",\"version\":\"1.0.0\"}\n",
        "{\"version\":\"1.0.#\"}\n",
        "",
    ),
    (
        "versions with two contents",
        "{\"name\":\"a.A\",\"version\":\"2.0.0\"}\n",
        "{\"name\":\"a.A\",\"version\":\"1.0.#\"}\n{\"name\":\"a.A\",\"version\":\"1.0.#\",\"yanked\":true}\n",
        "",
    ),
    (
        "a version with many contents",
        "{\"name\":\"a.A\",\"version\":\"2.0.0\"}\n",
        "{\"name\":\"a.A\",\"version\":\"1.0.0\",\"size\":#}\n",
        "",
    ),
    (
        "packages in turn",
        "",
        "{\"name\":\"a.A\",\"version\":\"1.0.#\"}\n{\"name\":\"a.B\",\"version\":\"1.0.#\"}\n",
        "",
    ),
];

const LOCKS: &[Parts] = &[
    (
        "packages",
        "lock: 1\norder: 1\npackages:\n",
        "- name: A\n  version: #.0.0\n  source: default\n",
        "complete: true\n",
    ),
    (
        "packages out of order",
        "lock: 1\norder: 1\npackages:\n",
        "- name: A#\n  version: 1.0.0\n  source: default\n",
        "complete: true\n",
    ),
    (
        "prereleases",
        "lock: 1\norder: 1\npackages:\n",
        "- name: A\n  version: 1.0.0-#\n  source: default\n",
        "complete: true\n",
    ),
    (
        "comments",
        "lock: 1\norder: 1\n",
        "# comment\n",
        "complete: true\n",
    ),
    (
        "blank lines",
        "lock: 1\norder: 1\n",
        "\n",
        "complete: true\n",
    ),
    ("a long line", "lock: 1\norder: 1\n", "x", "\n"),
    (
        "a long spec",
        "lock: 1\norder: 1\nroots:\n- name: R\n  requires:\n    A:\n      spec: \"1",
        ",1",
        "\"\n",
    ),
    ("lines without meaning", "lock: 1\n", "- name: A\n", ""),
    (
        "merge conflicts",
        "lock: 1\n",
        "<<<<<<< a\n- name: A\n  version: #.0.0\n  sha256: 0\n=======\n>>>>>>> b\n",
        "",
    ),
    (
        "names before versions",
        "lock: 1\n<<<<<<< a\n",
        "- name: A#\n",
        "=======\n  version: 1.0.0\n",
    ),
    (
        "versions after names",
        "lock: 1\n<<<<<<< a\n- name: A\n=======\n",
        "  version: #.0.0\n",
        ">>>>>>> b\n",
    ),
    (
        "names and versions",
        "lock: 1\n<<<<<<< a\n",
        "- name: A#\n  version: #.0.0\n",
        ">>>>>>> b\n",
    ),
];

const RECORDS: &[Parts] = &[
    (
        "requirements",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"require\":[[\"a.C\",\"1\"]",
        ",[\"a.D#\",\"1\"]",
        "]}",
    ),
    (
        "requirements as an object",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"require\":{\"a.C\":\"1\"",
        ",\"a.D#\":\"1\"",
        "}}",
    ),
    (
        "one requirement many times",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"require\":[[\"a.C\",\"1\"]",
        ",[\"a.C\",\"1\"]",
        "]}",
    ),
    (
        "classes",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{}",
        ",\"a.D#\":{\"extends\":[\"a.C\"],\"uses\":[\"a.E#\"]}",
        "}}",
    ),
    (
        "classes in a chain",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{}",
        ",\"a.D#\":{\"extends\":[\"a.D#0\",\"a.D1\"]}",
        "}}",
    ),
    (
        "classes in cycles",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{}",
        ",\"a.D#\":{\"extends\":[\"a.D#\"]}",
        "}}",
    ),
    (
        "one class many times",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{}",
        ",\"a.C\":{}",
        "}}",
    ),
    (
        "parents",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{\"extends\":[\"a.D\"",
        ",\"a.E#\"",
        "]}}}",
    ),
    (
        "one parent many times",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{\"extends\":[\"a.D\"",
        ",\"a.D\"",
        "]}}}",
    ),
    (
        "uses",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"classes\":{\"a.C\":{\"uses\":[\"a.D\"",
        ",\"a.E#\"",
        "]}}}",
    ),
    (
        "unknown keys",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\"",
        ",\"k#\":1",
        "}",
    ),
    (
        "one key many times",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\"",
        ",\"size\":1",
        "}",
    ),
    (
        "an unknown list",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"k\":[1",
        ",[[1]]",
        "]}",
    ),
    ("brackets", "{\"k\":", "[", ""),
    ("an escaped key", "{\"", "\\u006e", "\":1}"),
    (
        "a long name",
        "{\"name\":\"",
        "a",
        "\",\"version\":\"1.0.0\"}",
    ),
    (
        "a long format",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"format\":\"",
        "\\u0001",
        "\"}",
    ),
    (
        "blanks",
        "{\"name\":",
        " ",
        "\"a.B\",\"version\":\"1.0.0\"}",
    ),
    (
        "a bad spec",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\",\"require\":[[\"a.C\",\"",
        "\\u001b",
        "\"]]}",
    ),
];

const INDEXES: &[Parts] = &[
    (
        "releases",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n",
        "",
    ),
    (
        "packages",
        "",
        "{\"name\":\"a.B#\",\"version\":\"1.0.0\"}\n",
        "",
    ),
    (
        "prereleases",
        "",
        "{\"name\":\"a.B\",\"version\":\"1.0.0-#\"}\n",
        "",
    ),
    (
        "one release many times",
        "",
        "{\"name\":\"a.B\",\"version\":\"1.0.0\"}\n",
        "",
    ),
    (
        "specs",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"require\":[[\"a.C\",\"<#\"]]}\n",
        "",
    ),
    (
        "another required package in each release",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"require\":[[\"a.C#\",\"*\"]]}\n",
        "",
    ),
    (
        "another required package with a release in each release",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"require\":[[\"a.C#\",\"*\"]]}\n{\"name\":\"a.C#\",\"version\":\"1.0.0\"}\n",
        "",
    ),
    (
        "another spec on a large package in each release",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n{\"name\":\"a.D\",\"version\":\"#.0.0\",\"require\":[[\"a.B\",\"<#\"]]}\n",
        "",
    ),
    (
        "another spec on a large package in each package",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n{\"name\":\"a.D#\",\"version\":\"1.0.0\",\"require\":[[\"a.B\",\"<#\"]]}\n",
        "",
    ),
    (
        "a chain of packages",
        "",
        "{\"name\":\"a.B#\",\"version\":\"1.0.0\",\"require\":[[\"a.B#0\",\"1\"]]}\n",
        "",
    ),
    (
        "classes of packages",
        "",
        "{\"name\":\"a.B#\",\"version\":\"1.0.0\",\"classes\":{\"c.C#\":{\"extends\":[\"c.C#0\"]}}}\n",
        "",
    ),
    (
        "one class in all packages",
        "",
        "{\"name\":\"a.B#\",\"version\":\"1.0.0\",\"classes\":{\"c.C\":{\"extends\":[\"c.D\"]}}}\n",
        "",
    ),
    (
        "classes that use others",
        "",
        "{\"name\":\"a.B#\",\"version\":\"1.0.0\",\"classes\":{\"c.C#\":{\"uses\":[\"c.C#1\"]}}}\n",
        "",
    ),
    (
        "parents in all releases",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"classes\":{\"c.C\":{\"extends\":[\"c.D#\"]}}}\n",
        "",
    ),
    (
        "parents in all releases of two packages",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"require\":[[\"a.C\",\"*\"]],\"classes\":{\"c.C\":{\"extends\":[\"c.D#\"]}}}\n\
         {\"name\":\"a.C\",\"version\":\"#.0.0\",\"classes\":{\"c.D#\":{}}}\n",
        "",
    ),
    (
        "classes in all releases",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"classes\":{\"c.C#\":{}}}\n",
        "",
    ),
    (
        "classes beside unknown ones",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\",\"classes\":{\"c.C#\":{}}}\n\
         {\"name\":\"a.B\",\"version\":\"#.0.1\"}\n",
        "",
    ),
    (
        "an error at the end",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n",
        "{\n",
    ),
];

const DOCUMENTS: &[Parts] = &[
    (
        "an index document",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n",
        "",
    ),
    (
        "an index document with an error",
        "",
        "{\"name\":\"a.B\",\"version\":\"#.0.0\"}\n",
        "{}\n",
    ),
    (
        "names",
        "",
        "{\"name\":\"a\",\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n",
        "",
    ),
    (
        "packages of a class",
        "{\"class\":\"a.B\",\"packages\":[\"a\"",
        ",\"b#\"",
        "]}",
    ),
    (
        "a batch request",
        "{\"names\":{\"a\":null",
        ",\"b#\":null",
        "}}",
    ),
    (
        "one name in a batch request",
        "{\"names\":{\"a\":null",
        ",\"a\":null",
        "}}",
    ),
    (
        "keys of a registry",
        "{\"protocol\":1,\"packages\":\"\",\"classes\":\"\",\"names\":\"\",\"blobs\":\"\"",
        ",\"k#\":1",
        "}",
    ),
    ("errors", "{\"errors\":[{}", ",{\"detail\":\"d#\"}", "]}"),
    (
        "signatures",
        "{\"signed\":\"\",\"signatures\":[",
        "{},",
        "]}",
    ),
    (
        "frames of absent packages",
        "",
        "{\"name\":\"a#\",\"status\":\"absent\"}\n",
        "{\"status\":\"complete\",\"serial\":1}\n",
    ),
    (
        "a frame with names",
        "{\"status\":\"truncated\",\"names\":[\"a\"",
        ",\"b#\"",
        "]}\n{\"status\":\"complete\",\"serial\":1}\n",
    ),
    ("an endless frame", "{\"status\":\"", "x", ""),
    (
        "a long document in a frame",
        "{\"name\":\"a\",\"status\":\"changed\",\"length\":99999999,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n",
        "x",
        "",
    ),
    (
        "empty documents in frames",
        "",
        "{\"name\":\"a#\",\"status\":\"changed\",\"length\":0,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n",
        "",
    ),
];

const VALUES: &[Parts] = &[
    ("numbers", "1", ".1", ""),
    ("clauses", ">=1", ",>=1", ""),
    ("letters", "v", "v", ""),
    ("words", "1", " 1", ""),
    ("escapes", "1-", "\u{1b}", ""),
];
