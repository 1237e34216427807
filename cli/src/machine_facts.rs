//! The facts about this machine, by which interfaces distinguish platforms.

use std::collections::BTreeMap;
use std::path::Path;

use pkgres_engine::{ARCHITECTURE, Probe, TargetError};
use pkgres_files::{Follow, read_file};
use pkgres_manifest::Facts;

/// The most bytes of a file that describes the operating system.
const OS_RELEASE_BYTES: u64 = 64 * 1024;

/// Where distributions of Linux describe themselves.
const OS_RELEASE: [&str; 2] = ["/etc/os-release", "/usr/lib/os-release"];

/// Distributions, and the family that each belongs to.
const FAMILIES: [(&str, &str); 16] = [
    ("almalinux", "RedHat"),
    ("alpine", "Alpine"),
    ("amzn", "RedHat"),
    ("arch", "Arch"),
    ("centos", "RedHat"),
    ("debian", "Debian"),
    ("fedora", "RedHat"),
    ("gentoo", "Gentoo"),
    ("opensuse", "Suse"),
    ("opensuse-leap", "Suse"),
    ("opensuse-tumbleweed", "Suse"),
    ("rhel", "RedHat"),
    ("rocky", "RedHat"),
    ("sles", "Suse"),
    ("suse", "Suse"),
    ("ubuntu", "Debian"),
];

/// The keys of the facts that are gathered.
const KEYS: [&str; 5] = ["kernel", "arch", "os", "os_family", "osrelease"];

/// Gathers the facts of this machine: `kernel`, `os`, `os_family`, `osrelease` and `arch`, as far as they are known.
pub(crate) fn facts_of_this_machine() -> Facts {
    let texts = OS_RELEASE.into_iter().filter_map(|file| {
        let bytes = read_file(Path::new(file), OS_RELEASE_BYTES, Follow::Links).ok()?;
        String::from_utf8(bytes).ok()
    });
    let described = texts.take(1).next().unwrap_or_default();
    facts_of(std::env::consts::OS, std::env::consts::ARCH, &described)
}

/// Gathers the same facts of another machine. `others` are known beside them, and replace those with the same key.
pub(crate) fn facts_of_machine(
    machine: &dyn Probe,
    others: &[(String, String)],
) -> Result<Facts, TargetError> {
    let described = match machine.read(Path::new(OS_RELEASE[0]), OS_RELEASE_BYTES) {
        Err(TargetError::File(error)) if error.is_not_found() => Vec::new(),
        described => described?,
    };
    let described = String::from_utf8_lossy(&described);
    let architecture = machine.facts().values(ARCHITECTURE).next();
    let found = facts_of("linux", architecture.unwrap_or_default(), &described);
    let others = || {
        others
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    };
    let known = Facts::from_pairs(others());
    let kept = KEYS.into_iter().filter(|key| !known.has(key));
    let kept = kept.flat_map(|key| found.values(key).map(move |value| (key, value)));
    Ok(Facts::from_pairs(kept.chain(others())))
}

/// The facts of a machine with a kernel, an architecture, and the text in which its operating system describes itself.
fn facts_of(kernel: &str, arch: &str, os_release: &str) -> Facts {
    let fields = fields(os_release);
    let mut facts = vec![("kernel", kernel), ("arch", arch)];
    let field = |key: &str| fields.get(key).map(String::as_str);
    let os = match kernel {
        "linux" => field("ID").unwrap_or("linux"),
        other => other,
    };
    // Some write the distributions that they are like with a space between.
    let like = field("ID_LIKE").unwrap_or_default();
    let names = std::iter::once(os).chain(like.split_whitespace());
    let family = names
        .filter_map(|name| FAMILIES.iter().find(|(known, _)| *known == name))
        .map(|(_, family)| *family)
        .next();
    facts.push(("os", if os == "rhel" { "RedHat" } else { os }));
    facts.push(("os_family", family.unwrap_or(os)));
    if let Some(version) = field("VERSION_ID") {
        facts.push(("osrelease", version));
    }
    Facts::from_pairs(facts)
}

/// The fields of an `os-release` file.
fn fields(text: &str) -> BTreeMap<&str, String> {
    let lines = text.lines().filter_map(|line| line.trim().split_once('='));
    lines
        .map(|(key, value)| (key, value.trim_matches(['"', '\'']).to_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_have_a_family() {
        for (text, expected) in [
            (
                "ID=debian\nVERSION_ID=\"12\"\n",
                "arch=x86_64 kernel=linux os=debian os_family=debian osrelease=12",
            ),
            (
                "NAME=\"Linux Mint\"\nID=linuxmint\nID_LIKE=\"ubuntu debian\"\n",
                "arch=x86_64 kernel=linux os=linuxmint os_family=debian",
            ),
            (
                "ID=\"rhel\"\nID_LIKE=\"fedora\"\nVERSION_ID=\"9.4\"\n",
                "arch=x86_64 kernel=linux os=redhat os_family=redhat osrelease=9.4",
            ),
            ("", "arch=x86_64 kernel=linux os=linux os_family=linux"),
        ] {
            assert_eq!(facts_of("linux", "x86_64", text).to_string(), expected);
        }
        let facts = facts_of("windows", "aarch64", "");
        let expected = "arch=aarch64 kernel=windows os=windows os_family=windows";
        assert_eq!(facts.to_string(), expected);
    }

    #[test]
    fn this_machine_has_facts() {
        let facts = facts_of_this_machine();
        assert!(facts.has("os") && facts.has("osfamily") && facts.has("kernel"));
    }
}
