//! Mount namespaces: how a command runs with a root folder of its own, and with file systems that are read-only.

use std::path::Path;
use std::process::Stdio;

use super::command::Command;

/// Makes every file system read-only in a new mount namespace, then becomes the command. The first argument is the
/// folder that is the root of the command. Writing to devices, such as `/dev/null`, stays possible. A file system whose
/// mount cannot be changed, other than the root, hides itself behind one that can: there is no way to tell them apart.
const READ_ONLY: &str = r#"
set -e
root=$1
shift
mount --make-rprivate /
if [ "$root" = / ]; then
    mounts=$(cat /proc/self/mountinfo)
    printf '%s\n' "$mounts" | while read -r _ _ _ _ folder _; do
        folder=$(printf '%b' "$folder")
        mount -o remount,bind,ro "$folder" 2>/dev/null || [ "$folder" != / ] || exit 125
    done
else
    mount --bind "$root" "$root"
    mount -o remount,bind,ro "$root"
fi
exec "$@"
"#;

/// Changes to a folder, then becomes the command.
const IN_FOLDER: &str = r#"cd "$1" && shift && exec "$@""#;

/// The words that run a command with a folder as its root.
pub(super) fn with_root(root: &Path, command: &Command) -> Vec<String> {
    let mut words = Vec::new();
    let owned = |text: &str| text.to_owned();
    if root != Path::new("/") || command.user.is_some() || command.group.is_some() {
        words.push(owned("chroot"));
        if command.user.is_some() || command.group.is_some() {
            let user = command.user.as_deref().unwrap_or_default();
            let group = command.group.as_deref().map(|group| format!(":{group}"));
            words.push(format!("--userspec={user}{}", group.unwrap_or_default()));
        }
        words.push(root.to_string_lossy().into_owned());
    }
    words.extend(["/bin/sh", "-c", IN_FOLDER, "sh"].map(owned));
    words.push(command.folder.to_string_lossy().into_owned());
    words.extend(command.words().map(owned));
    words
}

/// The words that run other words while every file system below a folder is read-only.
pub(super) fn read_only(root: &Path, words: Vec<String>) -> Vec<String> {
    let mut around = new_namespace();
    around.extend(["/bin/sh", "-c", READ_ONLY, "sh"].map(str::to_owned));
    around.push(root.to_string_lossy().into_owned());
    around.extend(words);
    around
}

/// The words that run others in a mount namespace of their own. Users who are not root need one for users as well.
pub(super) fn new_namespace() -> Vec<String> {
    let mut words = vec!["unshare", "--mount"];
    if !rustix::process::geteuid().is_root() {
        words.extend(["--user", "--map-root-user"]);
    }
    words.push("--");
    words.into_iter().map(str::to_owned).collect()
}

/// Whether mount namespaces can be made, and file systems in them be read-only.
pub(super) fn are_available() -> bool {
    let words = read_only(Path::new("/"), vec!["true".to_owned()]);
    std::process::Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
