//! Artifacts of locked collections, from servers with the Galaxy API.

use super::*;

#[test]
fn an_artifact_with_another_digest_is_an_error() {
    let galaxy = world();
    let fake = Fake::start(move |request| {
        let mut reply = galaxy.answer(request);
        if request.path.contains("acme-net-2.2.0") {
            reply.body[20] ^= 1;
        }
        reply
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let registries = RegistrySet::new(vec![Box::new(connect(&fake, options(folder.path())))]);
    let error = solve(request(), &registries, &ReadOptions::default()).expect_err("it is changed");
    let finding = error.to_diagnostic();
    assert_says(
        &finding,
        Code::Digest,
        &["`hub`", "acme-net-2.2.0.tar.gz", "was announced"],
    );
}

#[test]
fn locked_artifacts_are_fetched_by_name_and_checked() {
    let galaxy = world();
    let bytes = galaxy.artifact("acme.net", "1.2.0").to_vec();
    let digest = ArtifactDigest::of_archive(&bytes);
    let fake = Fake::start(galaxy.answers());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let package = collection("acme.net");
    let fetch = |version: Version, digest: ArtifactDigest, options: HttpOptions| {
        let registry = connect(&fake, options);
        let wanted = WantedArtifact {
            package: &package,
            version: &version,
            digest,
        };
        let mut taken = Vec::new();
        registry.artifacts(&[wanted], &mut |_, found| {
            taken.push(found.map(|received| match received?.artifact {
                Artifact::File(bytes) => Some(bytes.to_vec()),
                other => panic!("{other:?}"),
            }));
            ControlFlow::Continue(())
        });
        assert_eq!(taken.len(), 1);
        taken.remove(0)
    };
    let found = fetch(Version::new(1, 2, 0), digest, options(folder.path()));
    assert_eq!(found, Ok(Some(bytes.clone())));
    assert_eq!(fake.take_paths().len(), 4);
    // The cache has it now.
    let mut offline = options(folder.path());
    offline.offline = true;
    let found = fetch(Version::new(1, 2, 0), digest, offline.clone());
    assert_eq!(found, Ok(Some(bytes)));
    assert!(fake.take_paths().is_empty());
    // An artifact other than the locked one does not count.
    let other = ArtifactDigest::Archive([7; 32]);
    let found = fetch(Version::new(1, 2, 0), other, options(folder.path()));
    assert_eq!(found, Ok(None));
    let found = fetch(Version::new(9, 0, 0), other, options(folder.path()));
    assert_eq!(found, Ok(None));
    let error = fetch(Version::new(1, 2, 0), other, offline).expect_err("it is not there");
    assert_says(&error.to_diagnostic(), Code::Offline, &["acme.net 1.2.0"]);
}

#[test]
fn a_dead_server_gets_few_requests_for_artifacts() {
    let galaxy = world();
    let fake = Fake::start(move |request| {
        if request.path.starts_with("/download/") {
            Reply::new(503, "gone")
        } else {
            galaxy.answer(request)
        }
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut options = options(folder.path());
    options.concurrency = 2;
    let registry = connect(&fake, options);
    let (package, galaxy) = (collection("acme.net"), world());
    // The last ones come first, although their digests do not.
    let versions = [
        (2, 2),
        (2, 1),
        (2, 0),
        (1, 4),
        (1, 3),
        (1, 2),
        (1, 1),
        (1, 0),
    ];
    let versions = versions.map(|(major, minor)| Version::new(major, minor, 0));
    let wanted: Vec<WantedArtifact<'_>> = versions
        .iter()
        .map(|version| WantedArtifact {
            package: &package,
            version,
            digest: ArtifactDigest::of_archive(galaxy.artifact("acme.net", &version.to_string())),
        })
        .collect();
    let mut failed = Vec::new();
    registry.artifacts(&wanted, &mut |at, found| {
        assert!(found.is_err(), "{found:?}");
        failed.push(at);
        ControlFlow::Continue(())
    });
    assert!(
        failed.is_sorted() && failed.len() < wanted.len(),
        "{failed:?}"
    );
    let paths = fake.take_paths();
    let downloads = paths.iter().filter(|path| path.contains("/download/"));
    let downloads: std::collections::BTreeSet<&String> = downloads.collect();
    assert!(downloads.len() < wanted.len(), "{downloads:?}");
}
