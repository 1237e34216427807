//! A full disk: the server says that it is unavailable for now, and loses nothing that it acknowledged.

use pkgres_manifest::{ArtifactDigest, Limits};
use pkgres_tests::archives::{archive, large_archive};
use pkgres_tests::small_disk::SmallDisk;

use crate::server::Server;

/// More than what the server keeps in memory, in bytes.
const LARGE: usize = 1_200_000;

/// A request with a token on a connection of its own: a server that cannot take a body closes it.
fn ask(
    server: &Server,
    token: &str,
    method: &str,
    path: &str,
    media_type: &str,
    body: &[u8],
) -> (u16, String, String) {
    let headers = [
        &*format!("Authorization: Bearer {token}"),
        &*format!("Content-Type: {media_type}"),
    ];
    let (status, head, body) = server
        .connect()
        .ask(method, path, &headers, body)
        .expect("an answer");
    (status, head, String::from_utf8_lossy(&body).into_owned())
}

fn assert_unavailable((status, head, body): &(u16, String, String)) {
    assert_eq!(*status, 503, "{head}{body}");
    let head = head.to_ascii_lowercase();
    assert!(head.contains("\r\nretry-after: "), "{head}");
    assert!(body.contains("pkgres.unavailable"), "{body}");
}

#[test]
fn a_full_disk_is_unavailable_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount(16) else {
        return;
    };
    let data = disk.path().join("data");
    let server = Server::start(&data, &[]);
    let token = Server::token(&data);
    let publish = |server: &Server, name: &str, bytes: &[u8]| {
        let path = format!("/v1/packages/{name}/versions/1.0.0");
        ask(server, &token, "PUT", &path, "application/zip", bytes)
    };
    let yank = |server: &Server, name: &str, is_yanked: bool| {
        let path = format!("/v1/packages/{name}/versions/1.0.0/yank");
        let (method, body) = if is_yanked {
            ("PUT", r#"{"reason":"broken"}"#)
        } else {
            ("DELETE", "")
        };
        ask(
            server,
            &token,
            method,
            &path,
            "application/json",
            body.as_bytes(),
        )
    };
    // Large archives, until one does not fit.
    let mut stored = Vec::new();
    for number in 0.. {
        let name = format!("a.P{number}");
        let bytes = large_archive(&name, "1.0.0", LARGE, &Limits::default());
        let answer = publish(&server, &name, &bytes);
        if answer.0 != 201 {
            assert_unavailable(&answer);
            break;
        }
        stored.push((name, ArtifactDigest::of_archive(&bytes).to_string()));
        assert!(number < 16, "the disk is not full");
    }
    assert!(stored.len() >= 3, "{stored:?}");
    // Small ones, until nothing at all fits.
    disk.fill();
    for number in 0.. {
        let name = format!("b.P{number}");
        let bytes = archive(&name, "1.0.0", &[]);
        let answer = publish(&server, &name, &bytes);
        if answer.0 != 201 {
            assert_unavailable(&answer);
            break;
        }
        stored.push((name, ArtifactDigest::of_archive(&bytes).to_string()));
        assert!(number < 10_000, "the disk is not full");
    }
    // The log of the database may have room for some changes.
    let mut is_yanked = false;
    for number in 0.. {
        let answer = yank(&server, &stored[0].0, !is_yanked);
        if answer.0 >= 400 {
            assert_unavailable(&answer);
            break;
        }
        is_yanked = !is_yanked;
        assert!(number < 20_000, "the disk is not full");
    }
    check(&server, &stored, is_yanked);
    // What was acknowledged is there after a start, too, and everything works once there is space.
    drop(server);
    disk.resize(64);
    let server = Server::start(&data, &[]);
    check(&server, &stored, is_yanked);
    assert!(yank(&server, &stored[0].0, !is_yanked).0 < 300);
    let bytes = large_archive("c.P", "1.0.0", LARGE, &Limits::default());
    assert_eq!(publish(&server, "c.P", &bytes).0, 201);
    stored.push((
        "c.P".to_owned(),
        ArtifactDigest::of_archive(&bytes).to_string(),
    ));
    check(&server, &stored, !is_yanked);
}

/// Checks that every release is there with its artifact, and no other one.
fn check(server: &Server, stored: &[(String, String)], is_yanked: bool) {
    let mut connection = server.connect();
    let mut get = |path: &str| {
        let (status, _, body) = connection.ask("GET", path, &[], b"").expect("an answer");
        (status, body)
    };
    let (status, names) = get("/index/v1/names.ndjson");
    assert_eq!(status, 200);
    let names = String::from_utf8(names).expect("text");
    assert_eq!(names.lines().count(), stored.len(), "{names}");
    for (at, (name, digest)) in stored.iter().enumerate() {
        let address = name.replace('P', "!p");
        let (status, document) = get(&format!("/index/v1/packages/{address}.ndjson"));
        assert_eq!(status, 200, "{name}");
        let document = String::from_utf8(document).expect("text");
        assert!(document.contains(digest), "{document}");
        let expected = at == 0 && is_yanked;
        assert_eq!(document.contains("\"yanked\":"), expected, "{document}");
        let (status, bytes) = get(&format!("/blobs/sha256/{digest}"));
        assert_eq!(status, 200, "{name}");
        assert_eq!(ArtifactDigest::of_archive(&bytes).to_string(), *digest);
    }
}
