//! Several artifacts at once.

use std::ops::ControlFlow;
use std::path::Path;

use pkgres_manifest::diagnostic::Code;
use pkgres_manifest::{ArtifactDigest, Limits, PackagePath, Version, write_archive};
use pkgres_registry_client::http::ArtifactCache;
use pkgres_registry_client::protocol::Digest;
use pkgres_registry_client::{
    HttpRegistry, Registry as _, RegistryError, TakeArtifact, WantedArtifact,
};

use crate::fake::{Fake, Gate, Received, Reply, World, name};
use crate::{assert_says, connect, options};

/// The number of artifacts that are requested at once.
const AT_ONCE: usize = 6;

/// A registry with artifacts, and their digests in order.
fn world(count: usize) -> (World, Vec<Digest>) {
    let mut world = World::new();
    world.add("a.A", "1.0.0", &[]);
    let artifacts = (0..count).map(archive);
    world.blobs = artifacts.map(|bytes| (Digest::of(&bytes), bytes)).collect();
    let digests = world.blobs.keys().copied().collect();
    (world, digests)
}

/// An archive with one file.
fn archive(number: usize) -> Vec<u8> {
    let path = PackagePath::parse("manifest.yaml").expect("a path");
    let text = format!("Version: 1.0.{number}\n").into_bytes();
    write_archive([(path, false, text)], &Limits::default()).expect("it is small")
}

fn of_archives(digests: &[Digest]) -> Vec<ArtifactDigest> {
    let digests = digests.iter().map(|digest| digest.0);
    digests.map(ArtifactDigest::Archive).collect()
}

/// Fetches artifacts. This kind of registry knows them by digest alone.
fn take_all(registry: &HttpRegistry, digests: &[ArtifactDigest], take: TakeArtifact<'_>) {
    let (package, version) = (name("a.A"), Version::new(1, 0, 0));
    let wanted: Vec<WantedArtifact<'_>> = digests
        .iter()
        .map(|digest| WantedArtifact {
            package: &package,
            version: &version,
            digest: *digest,
        })
        .collect();
    registry.artifacts(&wanted, take);
}

/// Fetches artifacts; returns how many came, how many of them could not be kept, and the error of the first one that has
/// an error.
fn fetch(
    registry: &HttpRegistry,
    digests: &[ArtifactDigest],
) -> (usize, usize, Option<RegistryError>) {
    let (mut came, mut not_kept, mut first) = (0, 0, None);
    take_all(registry, digests, &mut |at, found| {
        match found {
            Ok(Some(received)) => {
                came += 1;
                not_kept += usize::from(received.not_kept.is_some());
            }
            Ok(None) => panic!("the registry has all of them"),
            Err(error) => {
                if first.as_ref().is_none_or(|(before, _)| at < *before) {
                    first = Some((at, error));
                }
            }
        }
        ControlFlow::Continue(())
    });
    (came, not_kept, first.map(|(_, error)| error))
}

/// Fetches artifacts from a registry that changes the response for one of them. Returns the error, and the
/// artifacts that are in the cache afterwards.
fn fetched(
    folder: &Path,
    (world, digests): &(World, Vec<Digest>),
    about: Digest,
    answer: impl Fn(Reply) -> Reply + Send + 'static,
) -> (Option<pkgres_manifest::diagnostic::Diagnostic>, Vec<Digest>) {
    let world = world.clone();
    let fake = Fake::start(move |request: &Received| {
        let reply = world.answer(request);
        if request.path.ends_with(&about.to_string()) {
            answer(reply)
        } else {
            reply
        }
    });
    let registry = connect(&fake, options(folder));
    let (_, _, error) = fetch(&registry, &of_archives(digests));
    let cache = ArtifactCache::new(&folder.join("cache"));
    let kept = digests
        .iter()
        .filter(|digest| cache.get(digest, 1000).is_some());
    (
        error.map(|error| error.to_diagnostic()),
        kept.copied().collect(),
    )
}

#[test]
fn six_are_downloaded_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (world, digests) = world(3 * AT_ONCE);
    let gate = Gate::new(AT_ONCE);
    let at_gate = std::sync::Arc::clone(&gate);
    let fake = Fake::start(move |request| {
        let mut reply = world.answer(request);
        if request.path.starts_with("/blobs/") {
            reply.gate = Some(std::sync::Arc::clone(&at_gate));
        }
        reply
    });
    let registry = connect(&fake, options(folder.path()));
    // Each is requested once, though it is named twice.
    let twice = [of_archives(&digests), of_archives(&digests)].concat();
    let all = twice.len();
    assert_eq!(fetch(&registry, &twice), (all, 0, None));
    assert_eq!(gate.most(), AT_ONCE);
    let requests = fake.take_paths();
    let requests = requests.iter().filter(|path| path.contains("/blobs/"));
    assert_eq!(requests.count(), digests.len());
    let cache = ArtifactCache::new(&folder.path().join("cache"));
    assert!(
        digests
            .iter()
            .all(|digest| cache.get(digest, 1000).is_some())
    );
    // Cached artifacts are not requested again.
    assert_eq!(fetch(&registry, &twice), (all, 0, None));
    assert!(fake.take_paths().is_empty());
}

#[test]
fn a_failed_download_does_not_stop_the_others() {
    let world = world(2 * AT_ONCE);
    for at in [0, 3, 2 * AT_ONCE - 1] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let about = world.1[at];
        let (error, kept) = fetched(folder.path(), &world, about, |_| Reply::new(500, "broken"));
        let error = error.expect("one of them cannot be had");
        assert_says(
            &error,
            Code::RegistryUnreachable,
            &["500", &about.to_string()],
        );
        let others = world.1.iter().filter(|digest| **digest != about).copied();
        assert_eq!(kept, others.collect::<Vec<_>>());
    }
}

#[test]
fn only_the_artifact_with_other_bytes_is_rejected() {
    let world = world(2 * AT_ONCE);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let about = world.1[AT_ONCE];
    let other = |mut reply: Reply| {
        reply.body[0] ^= 1;
        reply
    };
    let (error, kept) = fetched(folder.path(), &world, about, other);
    let announced = format!("{about} was announced");
    assert_says(&error.expect("it is rejected"), Code::Digest, &[&announced]);
    let others = world.1.iter().filter(|digest| **digest != about).copied();
    assert_eq!(kept, others.collect::<Vec<_>>());
    // Once it is correct, only it is requested.
    let fake = Fake::of(&world.0);
    let registry = connect(&fake, options(folder.path()));
    let all = world.1.len();
    assert_eq!(fetch(&registry, &of_archives(&world.1)), (all, 0, None));
    let requests = fake.take_paths();
    let requests: Vec<_> = requests
        .iter()
        .filter(|path| path.contains("/blobs/"))
        .collect();
    assert_eq!(requests, [&format!("GET /blobs/sha256/{about}")]);
}

#[test]
fn an_unreachable_registry_gets_few_requests() {
    let (world, digests) = world(5 * AT_ONCE);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::start(move |request| {
        if request.path.starts_with("/blobs/") {
            Reply::new(503, "gone")
        } else {
            world.answer(request)
        }
    });
    let registry = connect(&fake, options(folder.path()));
    let (_, _, error) = fetch(&registry, &of_archives(&digests));
    let error = error.expect("none can be had").to_diagnostic();
    assert_says(&error, Code::RegistryUnreachable, &["503"]);
    let requests = fake.take_paths();
    let mut requests: Vec<_> = requests
        .iter()
        .filter(|path| path.contains("/blobs/"))
        .collect();
    requests.sort();
    requests.dedup();
    // Those that were under way, and those that began before three of them failed.
    assert!(requests.len() <= AT_ONCE + 2, "{requests:?}");
}

/// A file where the folder of the cache should be, and no cache at all.
#[test]
fn an_artifact_that_cannot_be_kept_is_said_to_be_so() {
    let (world, digests) = world(3);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let is_file = folder.path().join("file");
    #[expect(clippy::disallowed_methods, reason = "a file of a test")]
    std::fs::write(&is_file, "").expect("it can be written");
    for cache in [Some(is_file), None] {
        let fake = Fake::of(&world);
        let mut options = options(folder.path());
        options.cache_folder = cache;
        let registry = connect(&fake, options);
        assert_eq!(fetch(&registry, &of_archives(&digests)), (3, 3, None));
        // One that is only read does not need the cache.
        let one = registry.artifact(&of_archives(&digests)[0]);
        assert!(one.expect("it can be had").is_some());
    }
}

#[test]
fn nothing_is_downloaded_after_the_caller_has_enough() {
    let (world, digests) = world(5 * AT_ONCE);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fake = Fake::of(&world);
    let registry = connect(&fake, options(folder.path()));
    let mut taken = 0;
    take_all(&registry, &of_archives(&digests), &mut |_, _| {
        taken += 1;
        ControlFlow::Break(())
    });
    assert_eq!(taken, 1);
    assert!(fake.take_paths().len() <= 2 * AT_ONCE);
}
