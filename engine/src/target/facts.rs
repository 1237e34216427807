//! Reads facts about a machine, such as its operating system, from its files.

use pkgres_manifest::{Facts, OsName};

/// The fact that says which operating system a machine has, such as `debian`.
pub const OS: &str = "os";
/// The fact that says which family the operating system belongs to: `debian`, `redhat`, `suse`, `arch`, `alpine`.
pub const OS_FAMILY: &str = "os_family";
/// The fact that says which version of the operating system a machine has, such as `12`.
pub const OS_VERSION: &str = "os_version";
/// The fact that says which instructions the processor has, such as `x86_64`.
pub const ARCHITECTURE: &str = "architecture";

/// Reads facts from the text of a file `os-release`.
///
/// ```
/// use pkgres_engine::read_facts;
///
/// let facts = read_facts("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_ID=22\n", "x86_64");
/// assert_eq!(
///     facts.to_string(),
///     "architecture=x86_64 os=linuxmint os_family=debian os_version=22"
/// );
/// ```
pub fn read_facts(os_release: &str, architecture: &str) -> Facts {
    let value_of = |key: &str| {
        os_release.lines().find_map(|line| {
            let value = line.trim().strip_prefix(key)?.strip_prefix('=')?;
            Some(value.trim_matches(['"', '\'']))
        })
    };
    let mut pairs = vec![(ARCHITECTURE, architecture)];
    if let Some(id) = value_of("ID") {
        pairs.push((OS, id));
        let like = value_of("ID_LIKE").unwrap_or_default().split_whitespace();
        // A derived system says which ones it is like, and belongs to the family of these.
        let systems = std::iter::once(id).chain(like);
        let mut families = systems.filter_map(|system| OsName::parse(system).ok()?.family());
        pairs.extend(families.next().map(|family| (OS_FAMILY, family)));
    }
    pairs.extend(value_of("VERSION_ID").map(|version| (OS_VERSION, version)));
    Facts::from_pairs(pairs)
}
