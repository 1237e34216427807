//! Debian systems for tests of programs, and what tests of resources need on one.
//!
//! All tests share the folder that `PKGRES_DEBIAN_ROOT` names, as debootstrap makes it. Each of them has an overlay of
//! its own, so that the folder stays as it is.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::skip;

/// Builds packages, and a repository with them that apt does not know yet.
pub const REPOSITORY: &str = r#"
set -e
mkdir -p /repository && cd /repository
package() {
    folder=$(mktemp -d)
    mkdir -p "$folder/DEBIAN" "$folder/etc"
    printf 'Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\n' "$1" "$2" \
        >"$folder/control"
    [ -z "$3" ] || printf 'Depends: %s\n' "$3" >>"$folder/control"
    printf 'Description: sample\n' >>"$folder/control"
    cp "$folder/control" "$folder/DEBIAN/control" && rm "$folder/control"
    echo "version $2" >"$folder/etc/$1.conf"
    echo "/etc/$1.conf" >"$folder/DEBIAN/conffiles"
    chmod 0755 "$folder"
    dpkg-deb --build "$folder" "$1_$2.deb" >/dev/null
    cat "$folder/DEBIAN/control" >>Packages
    printf 'Filename: ./%s\nSize: %s\nSHA256: %s\n\n' "$1_$2.deb" "$(stat -c %s "$1_$2.deb")" \
        "$(sha256sum "$1_$2.deb" | cut -d' ' -f1)" >>Packages
}
package sample 1.0
package sample 2.0
package sample-plugin 1.0 sample
package other 1.0
package needy 1.0 nowhere
echo 'deb [trusted=yes] file:/repository ./' >/etc/apt/sources.list
"#;

/// Defines a service `web` of runit on a machine on which nothing supervises, as `sv` says: only files matter.
pub const UNSUPERVISED_WEB: &str = r#"
set -e
mkdir -p /etc/sv/web /etc/service
cat >/usr/bin/sv <<'END'
#!/bin/sh
echo "warning: $4: unable to open supervise/ok"
exit 1
END
cat >/etc/sv/web/run <<'END'
#!/bin/sh
echo started >>/starts
exec sleep 1000
END
chmod 0755 /usr/bin/sv /etc/sv/web/run
"#;

/// Mounts an overlay in a new mount namespace, says so, and keeps the namespace until its input ends.
const HOLD: &str = r#"
set -e
mount --make-rprivate /
mount -t tmpfs pkgres "$2"
mkdir "$2/upper" "$2/work" "$2/root"
mount -t overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" pkgres "$2/root"
[ -e "$2/root/dev/null" ] || mknod -m 666 "$2/root/dev/null" c 1 3
echo ready
read -r _ || true
"#;

/// A Debian system that programs can change, in a mount namespace of its own.
pub struct DebianSystem {
    holder: Child,
    place: TempDir,
}

impl DebianSystem {
    /// A system as debootstrap makes it. Reports it and returns `None` if there is none, or if the user may not use it.
    ///
    /// # Panics
    ///
    /// If there is none though `PKGRES_REQUIRE_SERVICES` is set.
    pub fn start() -> Option<Self> {
        let Some(root) = std::env::var_os("PKGRES_DEBIAN_ROOT") else {
            skip::without_service("PKGRES_DEBIAN_ROOT names no Debian system");
            return None;
        };
        let place = tempfile::tempdir().expect("a folder for the test");
        let mut holder = Command::new("unshare")
            .args(["--mount", "--", "sh", "-c", HOLD, "sh"])
            .args([Path::new(&root), place.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("there is `unshare`");
        let mut line = String::new();
        let stdout = holder.stdout.take().expect("it is piped");
        // An error shows as a missing line.
        let _ = BufReader::new(stdout).read_line(&mut line);
        if line != "ready\n" {
            let output = holder.wait_with_output().expect("it has ended");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let reason = said.lines().last().unwrap_or("no reason is known");
            skip::without_service(&format!("an overlay cannot be mounted: {reason}"));
            return None;
        }
        Some(Self { holder, place })
    }

    /// The root folder of the system, for programs of [`command`](Self::command).
    pub fn root(&self) -> PathBuf {
        self.place.path().join("root")
    }

    /// A program of this machine that sees the root folder of the system.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg("--mount")
            .arg(format!("--target={}", self.holder.id()))
            .arg("--")
            .arg(program);
        command
    }

    /// What a shell of the system writes that runs a text.
    ///
    /// # Panics
    ///
    /// If it fails.
    pub fn shell(&self, text: &str) -> String {
        let output = self
            .command("chroot")
            .arg(self.root())
            .args(["/bin/sh", "-c", text])
            .output()
            .expect("there is `nsenter`");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}: {said}");
        String::from_utf8(output.stdout).expect("the output is text")
    }
}

impl Drop for DebianSystem {
    fn drop(&mut self) {
        // The namespace ends with its last process, and the mounts with the namespace.
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}
