//! Runs commands in mount namespaces: with another root folder, or with all file systems read-only.

use std::path::Path;
use std::process::Stdio;

use super::command::Command;

/// Makes every file system read-only in a new mount namespace, then becomes the command. The first argument is the
/// folder that is the root of the command, the second one says whether it gets an empty `/tmp` of its own, the third one is
/// the `USER:GROUP` that it gets back in a namespace for users, if any. Writing to devices, such as `/dev/null`, stays
/// possible. If a file system that can be reached stays writable, the command does not run.
const READ_ONLY: &str = r#"
set -e
root=$1
scratch=$2
own=$3
shift 3
mount --make-rprivate /
# Older versions of `unshare` cannot do this.
if [ -n "$own" ] && ! unshare --user --map-user="${own%:*}" --map-group="${own#*:}" true 2>/dev/null; then
    own=
fi
if [ "$root" != / ]; then
    # As the list of mounts names it. The end keeps line breaks.
    root=$(cd -P -- "$root" && pwd -P && echo .)
    root=${root%
.}
    # With what is mounted below it, as commands that change something see it.
    mount --rbind "$root" "$root"
fi
mounts=$(cat /proc/self/mountinfo)
printf '%s\n' "$mounts" | while read -r _ _ _ _ folder _; do
    folder=$(printf '%b' "$folder")
    case $root:$folder/ in
    /:* | "$root:$root/"*) ;;
    *) continue ;;
    esac
    # The number of a user is written there. Users who are not root can only change their own processes in it.
    if [ -n "$own" ] && [ "$folder" = /proc ]; then continue; fi
    # What another mount hides cannot be reached.
    said=$(mount -o remount,bind,ro "$folder" 2>&1) || { mountpoint -q / && ! mountpoint -q "$folder"; } || {
        printf '%s\n' "$said" >&2
        exit 125
    }
done
if [ "$scratch" = yes ] && [ -d "$root/tmp" ]; then
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
fi
if [ -n "$own" ]; then
    exec unshare --user --map-user="${own%:*}" --map-group="${own#*:}" -- "$@"
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
cd "$1" && shift && unset OLDPWD && exec "$@"
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
///
/// A user who is not root is root in the namespace. The words get the user's own number back if `as_user` is set.
pub(super) fn read_only(
    root: &Path,
    has_scratch: bool,
    as_user: bool,
    words: Vec<String>,
) -> Vec<String> {
    let mut around = new_namespace();
    around.extend(["/bin/sh", "-c", READ_ONLY, "sh"].map(str::to_owned));
    around.push(root.to_string_lossy().into_owned());
    around.push(if has_scratch { "yes" } else { "no" }.to_owned());
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    around.push(if as_user && !user.is_root() {
        format!("{}:{}", user.as_raw(), group.as_raw())
    } else {
        String::new()
    });
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
    let words = read_only(Path::new("/"), false, false, vec!["true".to_owned()]);
    std::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
