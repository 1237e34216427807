//! The releases in a lockfile that cannot be read, such as an unresolved merge.
//!
//! Both sides of a conflict continue what comes before it, and what follows it continues either side. The
//! reader therefore keeps all names and releases that the next line may belong to. Their number is bounded
//! ([`MOST_SUBJECTS`]), so that the time is linear in the length of the text.

use std::collections::{BTreeMap, BTreeSet};

use crate::digest::ArtifactDigest;
use crate::name::PackageName;
use crate::read_options::Limits;
use crate::release::Release;
use crate::version::Version;

/// Releases, each with the digests that may belong to it.
type Salvaged = BTreeMap<Release, BTreeSet<ArtifactDigest>>;

/// The most names, and the most releases, that a line may belong to. A merge of two sides gives two names and
/// four releases, and a merge of merges a few more. Without a bound, a thousand names followed by a thousand
/// versions would give a million releases.
const MOST_SUBJECTS: usize = 16;

/// The names and releases that the next line may belong to. A merge without markers leaves the lines of both
/// sides one after the other.
#[derive(Debug, Clone, Default)]
struct Subject {
    names: BTreeSet<PackageName>,
    releases: BTreeSet<Release>,
    /// The key of the line before.
    last: LineKey,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LineKey {
    #[default]
    Other,
    Name,
    Version,
}

/// Adds values up to the bound.
fn add<T: Ord>(set: &mut BTreeSet<T>, values: impl IntoIterator<Item = T>) {
    for value in values {
        if set.len() == MOST_SUBJECTS {
            break;
        }
        set.insert(value);
    }
}

impl Subject {
    /// Adds the subjects of another side.
    fn join(&mut self, other: Self) {
        add(&mut self.names, other.names);
        add(&mut self.releases, other.releases);
        self.last = LineKey::Other;
    }

    fn read(&mut self, line: &str, found: &mut Salvaged) {
        let mut key = LineKey::Other;
        if let Some(written) = line.strip_prefix("- name: ") {
            if self.last != LineKey::Name {
                self.names.clear();
            }
            add(&mut self.names, PackageName::parse(written.trim_end()));
            self.releases.clear();
            key = LineKey::Name;
        } else if let Some(written) = line.strip_prefix("  version: ") {
            if self.last != LineKey::Version {
                self.releases.clear();
            }
            if let Ok(version) = Version::parse(written.trim_end()) {
                let release = |name: &PackageName| Release::new(name.clone(), version.clone());
                add(&mut self.releases, self.names.iter().map(release));
            }
            for release in &self.releases {
                found.entry(release.clone()).or_default();
            }
            key = LineKey::Version;
        } else if let Some(written) = line.strip_prefix("  sha256: ")
            && let Ok(digest) = ArtifactDigest::parse(written.trim_end())
        {
            for release in &self.releases {
                found.entry(release.clone()).or_default().insert(digest);
            }
        }
        self.last = key;
    }
}

/// The state of the reader in a conflict.
struct Conflict {
    before: Subject,
    /// The subjects after the conflict, from the sides that were read.
    after: Subject,
    /// Whether the current side is the common ancestor, which neither side contains any more.
    is_base: bool,
}

pub(super) fn salvage(bytes: &[u8], limits: &Limits) -> Salvaged {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > limits.lock_bytes) {
        return Salvaged::new();
    }
    let text = String::from_utf8_lossy(bytes);
    let mut found = Salvaged::new();
    let mut subject = Subject::default();
    let mut conflict: Option<Conflict> = None;
    for whole in text.split_inclusive('\n') {
        // A file that was cut off can end in the middle of a version, which would read as another one.
        let Some(line) = whole.strip_suffix('\n') else {
            break;
        };
        match (line.as_bytes().get(..7), &mut conflict) {
            (Some(b"<<<<<<<"), _) => {
                subject.last = LineKey::Other;
                conflict = Some(Conflict {
                    before: subject.clone(),
                    after: Subject::default(),
                    is_base: false,
                });
            }
            (Some(b"|||||||" | b"======="), Some(conflict)) => {
                let side = std::mem::replace(&mut subject, conflict.before.clone());
                if !conflict.is_base {
                    conflict.after.join(side);
                }
                conflict.is_base = line.starts_with('|');
            }
            (Some(b">>>>>>>"), Some(_)) => {
                if let Some(conflict) = conflict.take() {
                    subject.join(conflict.after);
                }
            }
            (_, Some(Conflict { is_base: true, .. })) => {}
            _ => subject.read(line, &mut found),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The salvaged releases as text, with the first digits of their digests.
    fn saved(text: &str) -> String {
        let digits = |digest: &ArtifactDigest| digest.to_string()[..1].to_owned();
        let line = |(release, digests): (Release, BTreeSet<ArtifactDigest>)| {
            let digests: Vec<String> = digests.iter().map(digits).collect();
            format!("{release} {}\n", digests.join(" "))
        };
        let digest = |letter: &str| letter.repeat(64);
        let text = text
            .replace("sha256: a", &format!("sha256: {}", digest("a")))
            .replace("sha256: b", &format!("sha256: {}", digest("b")));
        salvage(text.as_bytes(), &Limits::default())
            .into_iter()
            .map(line)
            .collect()
    }

    /// One side moved a package, the other one added the next.
    #[test]
    fn a_digest_of_the_second_side_belongs_to_the_release_before_the_conflict() {
        let text = "\
- name: A
  version: 1.1.0
<<<<<<< HEAD
  sha256: a
- name: B
  version: 2.0.0
  sha256: a
=======
  sha256: b
>>>>>>> other
- name: C
  version: 1.0.0
  sha256: a
";
        assert_eq!(saved(text), "A 1.1.0 a b\nB 2.0.0 a\nC 1.0.0 a\n");
    }

    /// Both sides added a package at one place, and git joined the lines that they share.
    #[test]
    fn lines_after_a_conflict_belong_to_both_sides() {
        let text = "\
<<<<<<< HEAD
- name: A
=======
- name: B
>>>>>>> other
  version: 1.0.0
<<<<<<< HEAD
  sha256: a
=======
  sha256: b
>>>>>>> other
";
        assert_eq!(saved(text), "A 1.0.0 a b\nB 1.0.0 a b\n");
        let united: String = text
            .lines()
            .filter(|line| line.starts_with([' ', '-']))
            .map(|line| format!("{line}\n"))
            .collect();
        assert_eq!(saved(&united), saved(text));
    }

    #[test]
    fn the_common_ancestor_is_left_out() {
        let text = "\
- name: A
<<<<<<< HEAD
  version: 1.2.0
  sha256: a
||||||| base
  version: 1.0.0
  sha256: b
=======
  version: 1.1.0
  sha256: b
>>>>>>> other
";
        assert_eq!(saved(text), "A 1.1.0 b\nA 1.2.0 a\n");
    }

    /// `1.10.0` could have been `1.1`, and `Base.Core` `Base`.
    #[test]
    fn a_line_that_was_cut_off_is_left_out() {
        let text = "- name: A\n  version: 1.0.0\n- name: Base.Core\n  version: 1.10.0\n";
        let whole = "A 1.0.0 \nBase.Core 1.10.0 \n";
        assert_eq!(saved(text), whole);
        let second = text.find("- name: B").expect("there is one");
        for end in second..text.len() {
            assert_eq!(saved(&text[..end]), "A 1.0.0 \n", "{:?}", &text[..end]);
        }
    }

    #[test]
    fn markers_without_a_conflict_are_skipped() {
        let text =
            "=======\n- name: A\n>>>>>>> x\n  version: 1.0.0\n|||||||\n  sha256: a\n<<<<<<<\n";
        assert_eq!(saved(text), "A 1.0.0 a\n");
    }

    /// Neither the subjects of one line nor the result grow with the number of pairs of lines.
    #[test]
    fn names_and_versions_do_not_multiply() {
        let many = |line: &dyn Fn(usize) -> String| (0..20_000).map(line).collect::<String>();
        let name = |number: usize| format!("- name: A{number}\n");
        let version = |number: usize| format!("  version: 1.0.{number}\n");
        let text = many(&name) + &many(&version);
        let found = salvage(text.as_bytes(), &Limits::default());
        assert!(found.len() <= MOST_SUBJECTS, "{}", found.len());
        // Each conflict leaves one more name that the next lines may belong to.
        let conflict = |number: usize| {
            let (name, version) = (name(number), version(number));
            format!("<<<<<<<\n{name}{version}=======\n>>>>>>>\n{version}")
        };
        let found = salvage(many(&conflict).as_bytes(), &Limits::default());
        assert!(
            found.len() <= 20_000 * (MOST_SUBJECTS + 1),
            "{}",
            found.len()
        );
    }

    #[test]
    fn a_file_that_is_too_large_is_not_read() {
        let text = "- name: A\n  version: 1.0.0\n";
        let mut limits = Limits::default();
        assert_eq!(salvage(text.as_bytes(), &limits).len(), 1);
        limits.lock_bytes = 10;
        assert!(salvage(text.as_bytes(), &limits).is_empty());
    }
}
