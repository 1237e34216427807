//! The operating systems that validations can name, and the family that each belongs to.

use super::OsName;

/// Operating systems, and the family that each belongs to.
const FAMILIES: [(&str, &str); 36] = [
    ("almalinux", "redhat"),
    ("alpine", "alpine"),
    ("amzn", "redhat"),
    ("arch", "arch"),
    ("centos", "redhat"),
    ("debian", "debian"),
    ("devuan", "debian"),
    ("elementary", "debian"),
    ("endeavouros", "arch"),
    ("fedora", "redhat"),
    ("gentoo", "gentoo"),
    ("kali", "debian"),
    ("linuxmint", "debian"),
    ("manjaro", "arch"),
    ("neon", "debian"),
    ("ol", "redhat"),
    ("opensuse", "suse"),
    ("opensuse-leap", "suse"),
    ("opensuse-tumbleweed", "suse"),
    ("oracle", "redhat"),
    ("parrot", "debian"),
    ("pop", "debian"),
    ("postmarketos", "alpine"),
    ("raspbian", "debian"),
    ("redhat", "redhat"),
    ("rhel", "redhat"),
    ("rocky", "redhat"),
    ("scientific", "redhat"),
    ("sled", "suse"),
    ("sles", "suse"),
    ("sles_sap", "suse"),
    ("suse", "suse"),
    ("trisquel", "debian"),
    ("ubuntu", "debian"),
    ("virtuozzo", "redhat"),
    ("zorin", "debian"),
];

/// Operating systems that belong to no family that matters here.
const OTHERS: [&str; 16] = [
    "azurelinux",
    "bottlerocket",
    "cirros",
    "clear-linux-os",
    "flatcar",
    "mageia",
    "mariner",
    "nixos",
    "openeuler",
    "openwrt",
    "photon",
    "slackware",
    "solus",
    "talos",
    "void",
    "wolfi",
];

impl OsName {
    /// The family of the operating system, if it is known.
    ///
    /// ```
    /// use pkgres_manifest::OsName;
    ///
    /// assert_eq!(OsName::parse("ubuntu")?.family(), Some("debian"));
    /// assert_eq!(OsName::parse("debian")?.family(), Some("debian"));
    /// # Ok::<(), pkgres_manifest::ValidationValueError>(())
    /// ```
    pub fn family(&self) -> Option<&'static str> {
        let mut families = FAMILIES.iter();
        let found = families.find(|(os, _)| *os == self.as_str());
        found.map(|(_, family)| *family)
    }

    /// Whether it is a known operating system or family.
    ///
    /// ```
    /// use pkgres_manifest::OsName;
    ///
    /// assert!(OsName::parse("debian")?.is_known());
    /// assert!(!OsName::parse("debain")?.is_known());
    /// # Ok::<(), pkgres_manifest::ValidationValueError>(())
    /// ```
    pub fn is_known(&self) -> bool {
        Self::known().any(|known| known == self.as_str())
    }

    /// The known operating systems, those that are families among them.
    pub fn known() -> impl Iterator<Item = &'static str> {
        let with_family = FAMILIES.iter().map(|(os, _)| *os);
        with_family.chain(OTHERS)
    }
}
