//! Runs commands in mount namespaces: with another root folder, or with all file systems read-only.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::command::Command;

/// Makes every file system read-only in a new mount namespace, then becomes the command. The first argument is the
/// folder that is the root of the command, the second one says whether it gets an empty `/tmp` of its own, the third
/// one is the `USER:GROUP` that it gets back in a namespace for users, if any. Writing to devices, such as `/dev/null`,
/// stays possible. If a file system that can be reached stays writable, the command does not run.
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

/// The list of what is mounted, as a process sees it, and how much of it is read.
pub(super) const LIST: &str = "/proc/self/mountinfo";
pub(super) const MOST_BYTES: u64 = 16 << 20;

/// The first mount point of a list that is at a path or below it.
pub(super) fn first_below(list: &[u8], path: &Path) -> Option<PathBuf> {
    let lines = list.split(|byte| *byte == b'\n');
    let mut points = lines.filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points.find_map(|point| {
        let point = PathBuf::from(OsString::from_vec(unescaped(point)));
        point.starts_with(path).then_some(point)
    })
}

/// A path of the list, in which blanks and backslashes are octal numbers.
fn unescaped(path: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = path;
    while let Some((first, after)) = rest.split_first() {
        let number = after.get(..3).filter(|_| *first == b'\\');
        let number = number.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = number.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = &after[3..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

/// The mount point that is at a path of a root folder or below it, as a path of that folder. `opened` is where the system
/// says that an opened entry at the path is.
pub(super) fn first_below_opened(path: &Path, opened: &Path) -> Option<PathBuf> {
    let list = std::fs::read(LIST).ok()?;
    let point = first_below(&list, opened)?;
    let inside = point.strip_prefix(opened).ok()?;
    if inside.as_os_str().as_bytes().is_empty() {
        return Some(path.to_owned());
    }
    Some(path.join(inside))
}

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

/// The words that run other words while every file system below a folder is read-only, but for a `/tmp` of their own if
/// they need one.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_found_at_a_path_and_below_it() {
        let list = b"22 1 0:20 / / rw - ext4 /dev/sda1 rw\n\
            23 22 0:21 / /srv/my\\040data rw,nosuid shared:5 - tmpfs tmpfs rw\n\
            24 22 8:1 /hosts /etc/hosts rw - ext4 /dev/sda1 rw\n";
        let first = |path: &str| first_below(list, Path::new(path));
        assert_eq!(first("/srv"), Some(PathBuf::from("/srv/my data")));
        assert_eq!(first("/srv/my data"), Some(PathBuf::from("/srv/my data")));
        assert_eq!(first("/etc/hosts"), Some(PathBuf::from("/etc/hosts")));
        assert_eq!(first("/etc/hosts.allow"), None);
        assert_eq!(first("/srv/my data/inside"), None);
    }
}
