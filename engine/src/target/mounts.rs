//! Runs commands in mount namespaces: with another root folder, or with all file systems read-only.

use std::path::Path;
use std::process::Stdio;

use super::command::Command;

/// Makes every file system read-only in a new mount namespace, then becomes the command. The first argument is the
/// folder that is the root of the command, the second one says whether it gets an empty `/tmp` of its own. Writing to
/// devices, such as `/dev/null`, stays possible. If a file system stays writable, the command does not run.
const READ_ONLY: &str = r#"
set -e
root=$1
scratch=$2
shift 2
mount --make-rprivate /
if [ "$root" = / ]; then
    mounts=$(cat /proc/self/mountinfo)
    printf '%s\n' "$mounts" | while read -r _ _ _ _ folder _; do
        folder=$(printf '%b' "$folder")
        mount -o remount,bind,ro "$folder" || exit 125
    done
else
    mount --bind "$root" "$root"
    mount -o remount,bind,ro "$root"
fi
if [ "$scratch" = yes ] && [ -d "$root/tmp" ]; then
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
fi
exec "$@"
"#;

/// Sets the variables of the command, changes to its folder, then becomes it. The names of variables come before `--`.
/// They are words of letters, digits and `_`, and their values are in variables with a prefix. The script has no
/// variables of its own, which could be some of the command.
const IN_FOLDER: &str = r#"
while [ "$1" != -- ]; do
    eval "export $1=\"\$PKGRES_VALUE_$1\"; unset PKGRES_VALUE_$1"
    shift
done
shift
cd "$1" && shift && exec "$@"
"#;

/// The prefix of variables until the command starts. What runs before it, with more rights or outside of the root, must
/// not see `PATH` or `LD_PRELOAD` of a package.
const PREFIX: &str = "PKGRES_VALUE_";

/// The folders with the programs of this machine that run before a command.
const PROGRAM_FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// The variables of the programs that run before a command, with those of the command for [`with_root`].
pub(super) fn variables(command: &Command) -> impl Iterator<Item = (String, &str)> {
    let fixed = [
        ("LC_ALL".to_owned(), "C.UTF-8"),
        ("PATH".to_owned(), "/usr/sbin:/usr/bin:/sbin:/bin"),
    ];
    let own = command.variables.iter();
    let own = own.map(|(name, value)| (format!("{PREFIX}{name}"), value.as_str()));
    fixed.into_iter().chain(own)
}

/// The path of a program of this machine.
fn program(name: &str) -> String {
    let paths = PROGRAM_FOLDERS
        .iter()
        .map(|folder| format!("{folder}/{name}"));
    paths
        .into_iter()
        .find(|path| Path::new(path).exists())
        .unwrap_or_else(|| name.to_owned())
}

/// The words that run a command with a folder as its root.
pub(super) fn with_root(root: &Path, command: &Command) -> Vec<String> {
    with_root_by(&program("chroot"), root, command)
}

/// The words that run a command with a folder as its root, on a machine with this program for it.
pub(super) fn with_root_by(chroot: &str, root: &Path, command: &Command) -> Vec<String> {
    let mut words = Vec::new();
    let owned = |text: &str| text.to_owned();
    if root != Path::new("/") || command.user.is_some() || command.group.is_some() {
        words.push(chroot.to_owned());
        if command.user.is_some() || command.group.is_some() {
            let user = command.user.as_deref().unwrap_or_default();
            let group = command.group.as_deref().map(|group| format!(":{group}"));
            words.push(format!("--userspec={user}{}", group.unwrap_or_default()));
        }
        words.push(root.to_string_lossy().into_owned());
    }
    words.extend(["/bin/sh", "-c", IN_FOLDER, "sh"].map(owned));
    words.extend(command.variables.keys().cloned());
    words.push(owned("--"));
    words.push(command.folder.to_string_lossy().into_owned());
    words.extend(command.words().map(owned));
    words
}

/// The words that run other words while every file system below a folder is read-only, but for a `/tmp` of their own if they
/// need one.
pub(super) fn read_only(root: &Path, has_scratch: bool, words: Vec<String>) -> Vec<String> {
    let mut around = new_namespace();
    around.extend(["/bin/sh", "-c", READ_ONLY, "sh"].map(str::to_owned));
    around.push(root.to_string_lossy().into_owned());
    around.push(if has_scratch { "yes" } else { "no" }.to_owned());
    around.extend(words);
    around
}

/// The words that run others in the namespaces of a process, in its root folder.
pub(super) fn into_process(id: u32) -> Vec<String> {
    let namespaces = ["--mount", "--pid", "--ipc", "--uts", "--cgroup", "--root"];
    let mut words = vec![program("nsenter"), format!("--target={id}")];
    words.extend(namespaces.map(str::to_owned));
    // The folder that the program is in does not exist there.
    words.extend(["--", "chroot", "/"].map(str::to_owned));
    words
}

/// The words that run others in a mount namespace of their own. Users who are not root need one for users as well.
pub(super) fn new_namespace() -> Vec<String> {
    let mut words = vec![program("unshare"), "--mount".to_owned()];
    if !rustix::process::geteuid().is_root() {
        words.extend(["--user", "--map-root-user"].map(str::to_owned));
    }
    words.push("--".to_owned());
    words
}

/// Whether mount namespaces can be made, and file systems in them be read-only.
pub(super) fn are_available() -> bool {
    let words = read_only(Path::new("/"), false, vec!["true".to_owned()]);
    std::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
