//! Lockfiles in git: merges of two branches that add different packages.
//!
//! Two branches conflict if both add a package between the same two neighbours. The more packages the
//! base has, the rarer that is, so the base is a project of realistic size.

use std::collections::BTreeSet;
use std::path::Path;

use pkgres_manifest::{ArtifactDigest, IndexRecord, Limits, Lockfile, ReadOptions, RegistryName};
use pkgres_registry_client::{Answer, MemoryRegistry, RegistrySet, check_lock, drive};
use pkgres_resolver::{LockCheck, Locked, Request, Resolver, Update};
use pkgres_tests::build::{Build, release};
use pkgres_tests::random::Random;
use pkgres_tests::repository::{git, try_git};

/// The number of bases, each in its own universe, and of pairs of branches for each base.
const UNIVERSES: u64 = 20;
const PAIRS_OF_EACH: u64 = 10;
/// The percentage of pairs that must merge without a conflict.
const WITHOUT_CONFLICT: u64 = 90;
/// The number of packages, and of those that the base requires directly.
const PACKAGES: usize = 600;
const REQUIRED: usize = 60;
/// The number that a small base requires: so few that both branches often add at the same place.
const FEW_REQUIRED: usize = 8;

/// Makes git keep the lines of both sides instead of a conflict.
const UNION: &str = "pkgres.lock merge=union\n";

#[expect(clippy::disallowed_methods, reason = "files of a test")]
fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a temporary folder can be written");
}

/// The name of a package. The order of names differs from that of numbers.
fn name(number: usize) -> String {
    format!("org.p{:03}.Package", (number * 77) % 997)
}

/// A registry in which each package requires some packages with higher numbers.
fn registry(random: &mut Random) -> RegistrySet {
    let mut registry = MemoryRegistry::new(RegistryName::parse("default").expect("a name"));
    for number in 0..PACKAGES {
        let required: BTreeSet<usize> = (0..random.below(3))
            .map(|_| number + 1 + random.below(PACKAGES))
            .filter(|other| *other < PACKAGES)
            .collect();
        for version in ["1.0.0", "1.1.0"] {
            let mut record = release(&name(number), version);
            let content = format!("{number} {version}");
            record.digest = Some(ArtifactDigest::of_archive(content.as_bytes()));
            let record = required
                .iter()
                .fold(record, |record, other| record.requires(&name(*other), "1"));
            registry.add_record(record);
        }
    }
    RegistrySet::new(vec![Box::new(registry)])
}

fn root(required: &BTreeSet<usize>) -> IndexRecord {
    let names: BTreeSet<String> = required.iter().map(|number| name(*number)).collect();
    let root = release("org.example.App", "1");
    names
        .iter()
        .fold(root, |root, name| root.requires(name, "1"))
}

/// The lockfile that `pkgres lock` and `pkgres add` write.
fn lock(required: &BTreeSet<usize>, registries: &RegistrySet, locked: Locked) -> Lockfile {
    let mut request = Request::new(root(required));
    request.core = None;
    request.update = (!locked.roots.is_empty()).then(Update::default);
    request.locked = locked;
    match drive(
        &mut Resolver::new(request),
        registries,
        &ReadOptions::default(),
    ) {
        Ok(Answer::Solved(resolution)) => {
            // No release has changed, so no merge can cause a violation.
            let mut changes = resolution.artifact_changes().into_iter();
            let violation = changes.find(pkgres_resolver::ArtifactChange::is_violation);
            assert_eq!(violation, None);
            resolution.to_lockfile().expect("the roots are packages")
        }
        other => panic!("every package is available: {other:?}"),
    }
}

/// The merged text as a lockfile, if it is valid.
fn read(merged: &str) -> Option<Lockfile> {
    let read = Lockfile::read("lock", merged.as_bytes(), &Limits::default()).into_result();
    read.ok().map(|(lock, _)| lock)
}

/// The lockfile that `pkgres lock` makes of a merged text.
fn relock(merged: &str, required: &BTreeSet<usize>, registries: &RegistrySet) -> Lockfile {
    let locked = match read(merged) {
        Some(lock) if lock.merge_problems().is_empty() => Locked::from_lockfile(&lock),
        Some(lock) => Locked::preferring_releases_of(&lock),
        None => Locked::salvaged(Lockfile::salvage(merged.as_bytes(), &Limits::default())),
    };
    lock(required, registries, locked)
}

/// Merges two branches, each with its own lockfile. Returns the merged text, and whether git found no
/// conflict.
fn merge(folder: &Path, attributes: &str, base: &str, sides: [&str; 2]) -> (String, bool) {
    let file = folder.join("pkgres.lock");
    git(folder, &["checkout", "--quiet", "--orphan", "base"]);
    write(&file, base);
    write(&folder.join(".gitattributes"), attributes);
    git(folder, &["add", "pkgres.lock", ".gitattributes"]);
    git(folder, &["commit", "--quiet", "-m", "base"]);
    for (branch, text) in ["one", "two"].into_iter().zip(sides) {
        git(folder, &["checkout", "--quiet", "-B", branch, "base"]);
        write(&file, text);
        git(
            folder,
            &["commit", "--quiet", "--allow-empty", "-am", branch],
        );
    }
    let merged = try_git(folder, &["merge", "--quiet", "--no-edit", "one"]);
    let text = std::fs::read_to_string(&file).expect("a lockfile");
    if !merged.status.success() {
        git(folder, &["merge", "--abort"]);
    }
    git(folder, &["checkout", "--quiet", "--detach"]);
    git(folder, &["branch", "--quiet", "-D", "base"]);
    (text, merged.status.success())
}

#[test]
fn branches_that_add_different_packages_merge() {
    let mut without_conflict = 0;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    git(
        folder,
        &["commit", "--quiet", "--allow-empty", "-m", "main"],
    );
    for seed in 0..UNIVERSES {
        let mut random = Random::new(seed);
        let registries = registry(&mut random);
        let mut base = BTreeSet::new();
        while base.len() < REQUIRED {
            base.insert(random.below(PACKAGES));
        }
        let before = lock(&base, &registries, Locked::default());
        let text = before.to_text();
        for _ in 0..PAIRS_OF_EACH {
            let mut fresh = || loop {
                let number = random.below(PACKAGES);
                if !base.contains(&number) {
                    break number;
                }
            };
            let (one, mut two) = (fresh(), fresh());
            while two == one {
                two = fresh();
            }
            let side = |added: usize| {
                let mut required = base.clone();
                required.insert(added);
                let after = lock(&required, &registries, Locked::from_lockfile(&before));
                let after = after.to_text();
                // Existing lines stay, in the same order.
                let mut lines = after.lines();
                let stays = text.lines().all(|line| lines.any(|found| found == line));
                assert!(stays, "{seed}: adding {} changes other lines", name(added));
                after
            };
            let (merged, is_merged) = merge(folder, "", &text, [&side(one), &side(two)]);
            without_conflict += u64::from(is_merged);
            let mut both = base.clone();
            both.extend([one, two]);
            let relocked = relock(&merged, &both, &registries);
            assert!(relocked.merge_problems().is_empty(), "{seed}");
            if is_merged {
                assert_eq!(relocked.to_text(), merged, "{seed}: git's merge is valid");
            }
            let again = lock(&both, &registries, Locked::from_lockfile(&relocked));
            assert_eq!(again.to_text(), relocked.to_text(), "{seed}");
        }
    }
    let pairs = UNIVERSES * PAIRS_OF_EACH;
    assert!(
        without_conflict * 100 >= pairs * WITHOUT_CONFLICT,
        "only {without_conflict} of {pairs} pairs merge without a conflict"
    );
}

/// With `merge=union` git leaves no conflict markers. The merged lockfile is right, or the check reports
/// it as stale or invalid. In both cases `pkgres lock` gives the same lockfile as without the merge.
#[test]
fn a_union_merge_is_right_or_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    git(folder, &["init", "--quiet", "--initial-branch=main"]);
    git(
        folder,
        &["commit", "--quiet", "--allow-empty", "-m", "main"],
    );
    let (mut right, mut reported) = (0, 0);
    for seed in 0..UNIVERSES {
        let mut random = Random::new(1000 + seed);
        let registries = registry(&mut random);
        let mut base = BTreeSet::new();
        while base.len() < FEW_REQUIRED {
            base.insert(random.below(PACKAGES));
        }
        let before = lock(&base, &registries, Locked::default());
        for _ in 0..PAIRS_OF_EACH {
            let mut both = base.clone();
            let sides = [(); 2].map(|()| {
                let mut required = base.clone();
                while required.len() == base.len() {
                    let number = random.below(PACKAGES);
                    if !both.contains(&number) {
                        required.insert(number);
                    }
                }
                both.extend(&required);
                lock(&required, &registries, Locked::from_lockfile(&before)).to_text()
            });
            let [one, two] = &sides;
            let (merged, is_merged) = merge(folder, UNION, &before.to_text(), [one, two]);
            assert!(is_merged, "{seed}: a union has no conflicts");
            let relocked = relock(&merged, &both, &registries);
            let afresh = lock(&both, &registries, Locked::from_lockfile(&before));
            assert_eq!(relocked.to_text(), afresh.to_text(), "{seed}: {merged}");
            let fits = read(&merged).filter(|lock| lock.merge_problems().is_empty());
            let fits = fits.is_some_and(|lock| {
                let mut request = Request::new(root(&both));
                request.core = None;
                let report = check_lock(
                    LockCheck::new(request, lock),
                    &registries,
                    &ReadOptions::default(),
                );
                report.expect("the registry is at hand").stale.is_empty()
            });
            if fits {
                right += 1;
                assert_eq!(
                    relocked.to_text(),
                    merged,
                    "{seed}: the check found it up to date"
                );
            } else {
                reported += 1;
            }
        }
    }
    assert_eq!(right + reported, UNIVERSES * PAIRS_OF_EACH);
    assert!(reported > 0, "some pairs add at the same place");
    // A union is right where a plain merge has no conflict: it avoids the stop, not `pkgres lock`.
    assert!(
        right > reported,
        "{right} are right, {reported} are reported"
    );
}
