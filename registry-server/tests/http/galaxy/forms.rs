//! What clients send: forms with artifacts, right ones and wrong ones.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_server::RegistryOptions;
use pkgres_tests::collections::{ArtifactBuilder, artifact, compressed, form as form_of};
use serde_json::json;
use tar::EntryType;

use super::PUBLISH;
use crate::support::Served;

/// A form of parts, each with the lines of its head.
fn form(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend_from_slice(format!("--limit\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--limit--\r\n");
    body
}

const FILE: &str =
    "Content-Disposition: form-data; name=\"file\"; filename=\"acme-web-1.0.0.tar.gz\"";
const SHA256: &str = "Content-Disposition: form-data; name=\"sha256\"";

#[test]
fn forms_are_read_as_clients_write_them() {
    let bytes = artifact("acme.web", "1.0.0", &[]);
    let digest = Digest::of(&bytes).to_string();
    let text = BASE64_STANDARD.encode(&bytes);
    let lines: Vec<&str> = text
        .as_bytes()
        .chunks(76)
        .map(|line| std::str::from_utf8(line).expect("text"))
        .collect();
    let text = lines.join("\r\n") + "\r\n";
    let encoded = format!(
        "Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\n{FILE}"
    );
    let nameless = "Content-Disposition: form-data; name=\"file\"";
    let binary = format!("{FILE}\r\nContent-Transfer-Encoding: binary");
    for body in [
        form(&[(&encoded, text.as_bytes()), (SHA256, digest.as_bytes())]),
        form(&[(SHA256, digest.to_uppercase().as_bytes()), (FILE, &bytes)]),
        form(&[(nameless, &bytes)]),
        form(&[
            (&binary, &bytes),
            ("Content-Disposition: form-data; name=\"other\"", b"x"),
        ]),
    ] {
        let served = Served::new();
        let kind = "content-type: multipart/form-data; boundary=\"limit\"";
        let answer = served.ask("POST", PUBLISH, &[&served.authorization(), kind], &body);
        assert_eq!(answer.status, 202, "{answer:?}");
        assert_eq!(served.get("/api/v3/collections/acme/web/").status, 200);
    }
}

/// An error unless a form is refused for a reason, and nothing of it is there afterwards.
fn refused(body: &[u8], kind: &str, status: u16, expected: &str) {
    let served = Served::new();
    let kind = format!("content-type: {kind}");
    let answer = served.ask("POST", PUBLISH, &[&served.authorization(), &kind], body);
    let shown = String::from_utf8_lossy(&answer.body).into_owned();
    assert_eq!(answer.status, status, "{expected}: {shown}");
    assert!(shown.contains(expected), "{expected}: {shown}");
    assert_eq!(served.registry.package_count(), 0, "{expected}");
    assert_eq!(served.registry.serial(), 0, "{expected}");
    assert!(
        served.artifacts().is_empty(),
        "{expected}: {:?}",
        served.artifacts()
    );
}

#[test]
fn bad_forms_store_nothing() {
    let bytes = artifact("acme.web", "1.0.0", &[]);
    let multipart = "multipart/form-data; boundary=limit";
    let whole = form(&[(FILE, &bytes)]);
    let encoded = format!("{FILE}\r\nContent-Transfer-Encoding: base64");
    let quoted = format!("{FILE}\r\nContent-Transfer-Encoding: quoted-printable");
    let many: Vec<(&str, &[u8])> = vec![("Content-Disposition: form-data; name=\"x\"", b"x"); 21];
    for (body, kind, expected) in [
        (whole.clone(), "multipart/form-data", "boundary"),
        (
            whole.clone(),
            "multipart/form-data; boundary=other",
            "ends too early",
        ),
        (Vec::new(), multipart, "ends too early"),
        (
            whole[..whole.len() / 2].to_vec(),
            multipart,
            "ends too early",
        ),
        (
            whole[..whole.len() - 12].to_vec(),
            multipart,
            "ends too early",
        ),
        (form(&[]), multipart, "no artifact"),
        (form(&[(SHA256, b"ab")]), multipart, "no artifact"),
        (form(&[(FILE, b"")]), multipart, "no artifact"),
        (form(&[(FILE, &bytes), (FILE, &bytes)]), multipart, "twice"),
        (
            form(&[(SHA256, b"ab"), (FILE, &bytes)]),
            multipart,
            "SHA-256",
        ),
        (
            form(&[(FILE, &bytes), (SHA256, b"a"), (SHA256, b"a")]),
            multipart,
            "twice",
        ),
        (form(&[(&encoded, b"*not base64*")]), multipart, "base64"),
        (form(&[(&encoded, b"H4sI")]), multipart, "gzip"),
        (form(&[(&encoded, b"H4s")]), multipart, "base64"),
        (
            form(&[(&quoted, &bytes)]),
            multipart,
            "Content-Transfer-Encoding",
        ),
        (form(&many), multipart, "parts"),
    ] {
        refused(&body, kind, 400, expected);
    }
    refused(
        &whole,
        "application/json",
        415,
        "pkgres.media_type_unsupported",
    );
    refused(
        &whole,
        "multipart/mixed; boundary=limit",
        415,
        "multipart/form-data",
    );
    // More than an artifact can have in base64.
    let limit = RegistryOptions::default().read.limits.archive_bytes;
    let length = usize::try_from(limit + limit / 2 + (1 << 20) + 1).expect("a length");
    refused(&vec![b'x'; length], multipart, 413, "pkgres.body_too_large");
}

#[test]
fn bad_artifacts_store_nothing() {
    let make = |change: &dyn Fn(&mut ArtifactBuilder)| {
        let mut builder = ArtifactBuilder::new("acme.web", "1.0.0", &[]);
        change(&mut builder);
        builder.finish()
    };
    let right = artifact("acme.web", "1.0.0", &[]);
    let mut damaged = right.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x40;
    let limit =
        usize::try_from(RegistryOptions::default().read.limits.archive_bytes).expect("a length");
    for (bytes, expected) in [
        (b"PK\x03\x04".to_vec(), "gzip"),
        (compressed(b"not a tar file"), "tar file"),
        (right[..right.len() / 2].to_vec(), "pkgres.package_invalid"),
        (damaged, "pkgres.package_invalid"),
        (vec![0; limit + 1], "limit"),
        (compressed(&vec![0; 48 << 20]), "pkgres.package_invalid"),
        (
            make(&|new| new.file("zeros.bin", &vec![0; 8 << 20])),
            "limit",
        ),
        (
            make(&|new| new.member(EntryType::Regular, "../x", "", b"x")),
            "..",
        ),
        (
            make(&|new| new.member(EntryType::Regular, "/etc/x", "", b"x")),
            "/etc/x",
        ),
        (
            make(&|new| new.member(EntryType::Symlink, "x", "../../etc", b"")),
            "leads out",
        ),
        (
            make(&|new| new.member(EntryType::Symlink, "x", "/etc/passwd", b"")),
            "leads out",
        ),
        (
            make(&|new| new.member(EntryType::Link, "x", "../x", b"")),
            "leads out",
        ),
        (
            make(&|new| new.member(EntryType::Char, "x", "", b"")),
            "neither a file",
        ),
        (
            make(&|new| new.member(EntryType::Regular, "README.md", "", b"other")),
            "appears twice",
        ),
        (make(&|new| new.list("missing.txt", b"x")), "missing.txt"),
        (
            make(&|new| {
                new.member(EntryType::Regular, "x.txt", "", b"one");
                new.list("x.txt", b"two");
            }),
            "FILES.json says otherwise",
        ),
        (
            make(&|new| new.set("namespace", json!("a-b"))),
            "identifier",
        ),
        (
            make(&|new| new.set("namespace", json!("aux"))),
            "device name",
        ),
        (make(&|new| new.set("name", json!("import"))), "pkgres."),
        (
            make(&|new| new.set("version", json!("1.0"))),
            "three numbers",
        ),
        (make(&|new| new.set("version", json!("latest"))), "version"),
        (
            make(&|new| new.set("version", json!("1.0.1"))),
            "acme-web-1.0.1.tar.gz",
        ),
        (
            make(&|new| new.set("dependencies", json!({ "acme.net": "^1" }))),
            "`^` is not an operator",
        ),
        (
            make(&|new| new.set("dependencies", json!({ "acme.web": "*" }))),
            "requires itself",
        ),
        (
            make(&|new| new.set("dependencies", json!({ "aux.x": "*" }))),
            "device name",
        ),
    ] {
        let (kind, body) = form_of("acme-web-1.0.0.tar.gz", &bytes);
        refused(&body, &kind, 400, expected);
    }
}

/// Whatever bytes of a form are changed or cut off: the answer is no failure of the server, and what is stored is right.
#[test]
fn changed_forms_do_no_harm() {
    let served = Served::new();
    let bytes = artifact("acme.web", "1.0.0", &[]);
    let (kind, body) = form_of("acme-web-1.0.0.tar.gz", &bytes);
    let kind = format!("content-type: {kind}");
    let headers = [&*served.authorization(), &kind];
    let mut random = 0x2545_f491_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).expect("31 bits")
    };
    let mut refused = 0;
    for round in 0..300 {
        let mut changed = body.clone();
        for _ in 0..=round % 3 {
            let at = next() % changed.len();
            changed[at] = u8::try_from(next() % 256).expect("a byte");
        }
        if round % 5 == 0 {
            changed.truncate(next() % changed.len());
        }
        let answer = served.ask("POST", PUBLISH, &headers, &changed);
        assert!(
            answer.status == 202 || (400..500).contains(&answer.status),
            "{answer:?}"
        );
        refused += u32::from(answer.status != 202);
    }
    // The form has the digest of the artifact, which nearly every change contradicts.
    assert!(refused > 250, "{refused}");
    let stored = served.artifacts();
    assert!(stored.len() <= 1, "{stored:?}");
    assert!(
        stored
            .iter()
            .all(|name| *name == Digest::of(&bytes).to_string())
    );
}
