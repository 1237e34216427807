# Answers requests about this machine until its input ends. POSIX shell and coreutils are all that it needs.
#
# A request is a line with the nonce, the name of a function and the number of its arguments, and a line for each
# argument, escaped so that `printf %b` makes the argument of it. An answer is base64, and a line `.STATUS`. The content of a file, which
# follows the request to write it, is no text. If it was not read to its end, the shell ends: what is left of it must
# not be taken for requests, which the nonce prevents as well.

receive() {
    IFS= read -r line || exit 0
    word=$(printf %bx "$line")
    word=${word%x}
}

answer() {
    printf %s "$2" | base64
    printf '.%s\n' "$1"
}

is_missing() {
    case $said in
    *": No such file or directory" | *": Not a directory") ;;
    *) return 1 ;;
    esac
}

explain() {
    if is_missing; then answer missing "$said"; else answer failed "$said"; fi
}

conclude() {
    if [ "$1" = 0 ]; then answer ok ""; else explain; fi
}

parent_of() {
    parent=${1%/*}
    parent=${parent:-/}
}

# Not every shell says why it cannot change to a folder.
enter() {
    cd -- "$1" 2>/dev/null && return
    stat -L -- "$1/." >/dev/null && echo "cd: Permission denied" >&2
    return 1
}

# Changes what is open as 5, so that nobody can put something else in its place. The third argument is the file that it
# replaces, if there is one.
attributes() {
    { [ "$2" = : ] || chown -- "$2" /proc/self/fd/5; } && extended_attributes "$3" && chmod -- "$1" /proc/self/fd/5
}

# Keeps the access control list and other extended attributes of a file, if `cp` is that of coreutils.
extended_attributes() {
    if [ -z "$1" ] || ! [ -r "$1" ] || ! cp --help 2>/dev/null | grep -q -e --attributes-only; then return; fi
    cp -P --attributes-only --preserve=mode -- "$1" /proc/self/fd/5 || return
    # Not every system can copy them.
    cp -P --attributes-only --preserve=xattr -- "$1" /proc/self/fd/5 2>/dev/null || :
}

facts() {
    { uname -m && { cat /etc/os-release || :; }; } 2>/dev/null | base64
    printf '.ok\n'
}

entry() {
    said=$(stat -c '%f %u %g %s' -- "$1" 2>&1)
    if [ $? != 0 ]; then
        if is_missing; then answer nothing ""; else answer failed "$said"; fi
        return
    fi
    case $said in
    a*) { printf '%s\n' "$said" && readlink -n -- "$1"; } | base64 ;;
    *) printf '%s\n' "$said" | base64 ;;
    esac
    printf '.ok\n'
}

read_file() {
    if [ ! -f "$1" ]; then
        if said=$(stat -L -c %f -- "$1" 2>&1); then
            answer rejected "this is not a plain file"
        else
            explain
        fi
        return
    fi
    # The exit code of `head`, not of what follows it. An error of reading is not the end of the file.
    code=$({ { (exec head -c "$2" <"$1") 2>/dev/null; printf %s $? >&4; } | base64 >&3; } 4>&1)
    if [ "$code" = 0 ]; then
        printf '.ok\n'
    elif [ -r "$1" ]; then
        printf '.failed\n'
    else
        printf '.denied\n'
    fi
}

names() {
    if [ ! -d "$1" ]; then
        said=$(stat -L -c %f -- "$1" 2>&1) && said=": Not a directory"
        explain
    elif [ ! -r "$1" ] || [ ! -x "$1" ]; then
        answer denied ""
    else
        (
            cd -- "$1" || exit
            for name in * .[!.]* ..?*; do
                if [ -e "$name" ] || [ -L "$name" ]; then printf '%s\0' "$name"; fi
            done
        ) | base64
        printf '.ok\n'
    fi
}

change_attributes() {
    found=$(stat -c '%f %d %i' -- "$1") || return
    case $found in
    8* | 4*) ;;
    a*) echo "chmod: links are not followed" >&2 && return 1 ;;
    *) echo "chmod: this is neither a file nor a folder" >&2 && return 1 ;;
    esac
    (
        exec 5<"$1" || exit
        if [ "$(stat -L -c '%f %d %i' /proc/self/fd/5)" != "$found" ]; then
            echo "chmod: it was replaced meanwhile" >&2
            exit 1
        fi
        attributes "$2" "$3"
    )
}

set_attributes() {
    said=$(change_attributes "$@" 2>&1)
    conclude $?
}

make_folder() {
    parent_of "$1"
    said=$({ mkdir -m 0700 -- "$1" && change_attributes "$@" && sync -- "$parent"; } 2>&1)
    conclude $?
}

make_link() {
    parent_of "$1"
    said=$({
        enter "$parent" && ln -s -- "$3" "./$2" && {
            mv -fT -- "./$2" "./${1##*/}" || { rm -f -- "./$2" && exit 1; }
        } && sync .
    } 2>&1)
    conclude $?
}

move() {
    parent_of "$1" && from=$parent
    parent_of "$2"
    said=$({
        here=$(stat -L -c %d -- "$from") && there=$(stat -L -c %d -- "$parent") || exit
        # It would copy.
        if [ "$here" != "$there" ]; then echo "mv: Invalid cross-device link" >&2 && exit 1; fi
        mv -fT -- "$1" "$2" && sync -- "$parent" "$from"
    } 2>&1)
    conclude $?
}

remove() {
    parent_of "$1"
    said=$({ rm -rf -- "$1" && { [ ! -d "$parent" ] || sync -- "$parent"; }; } 2>&1)
    conclude $?
}

# Copies so many bytes, and reads no further.
copy() {
    if [ "$1" -ge 65536 ]; then
        dd bs=65536 count=$(($1 / 65536)) iflag=fullblock status=none || return
    fi
    if [ $(($1 % 65536)) != 0 ]; then
        dd bs=$(($1 % 65536)) count=1 iflag=fullblock status=none || return
    fi
}

write_file() {
    parent_of "$1"
    name=${1##*/}
    before=
    if said=$(stat -c %f -- "$1" 2>&1); then
        case $said in
        8*) before=./$name ;;
        4*) answer rejected "there is a folder" && exit ;;
        a*) answer rejected "links are not written through" && exit ;;
        *) answer rejected "this is not a plain file" && exit ;;
        esac
    elif ! is_missing; then
        explain
        exit
    fi
    said=$({
        enter "$parent" || exit
        for leftover in "./.pkgres-$name."*.tmp; do
            # Those of `web.conf` are not those of `web`; the part behind the name has no dot.
            case ${leftover#"./.pkgres-$name."} in
            *.*.tmp) ;;
            *) if [ -f "$leftover" ]; then rm -f -- "$leftover"; fi ;;
            esac
        done
        # Only a new file is opened, and no link is followed.
        set -C && umask 077
        exec 5>"./$2" || exit
        if copy "$3" >&5 && [ "$(stat -L -c %s /proc/self/fd/5)" = "$3" ] &&
            attributes "$4" "$5" "$before" && sync /proc/self/fd/5 && mv -fT -- "./$2" "./$name" && sync .; then
            exit 0
        fi
        rm -f -- "./$2"
        exit 1
    } 2>&1)
    code=$?
    conclude $code
    [ $code = 0 ] || exit
}

# Keeps a folder locked until the shell ends, as `pkgres` on this machine does.
lock() {
    if ! command -v flock >/dev/null; then
        answer nothing ""
    elif ! said=$(stat -L -- "$1/." 2>&1 >/dev/null); then
        explain
    elif exec 9<"$1" && flock -n 9; then
        answer ok ""
    else
        answer busy "$(holder 2>/dev/null)"
    fi
}

# Gives a lock back.
unlock() {
    exec 9<&-
    answer ok ""
}

# The process that has locked the folder that is open as 9.
holder() {
    device=$(device_of_9) && inode=$(stat -L -c %i /proc/self/fd/9) || return
    locked_by "$(printf '%02x:%02x' "${device%:*}" "${device#*:}"):$inode" /proc/locks
}

# The device of the file system of what is open as 9, `MAJOR:MINOR`. `stat` has another one for files of Btrfs.
device_of_9() {
    while read -r key value; do
        if [ "$key" = mnt_id: ]; then mount=$value; fi
    done </proc/self/fdinfo/9
    while read -r number _ device _; do
        if [ "$number" = "$mount" ]; then
            printf %s "$device"
            return
        fi
    done </proc/self/mountinfo
    return 1
}

# The process that has a lock, according to a file such as `/proc/locks`: `locked_by MAJOR:MINOR:INODE FILE`. Files of
# different devices have the same inodes.
locked_by() {
    while read -r _ class _ _ process place _; do
        if [ "$class" = FLOCK ] && [ "$place" = "$1" ] && [ "$process" -gt 0 ]; then
            printf %s "$process"
            return
        fi
    done <"$2"
}

signal() {
    said=$({ kill "-$1" "-$2" || kill "-$1" "$2"; } 2>&1)
    conclude $?
}

exec 3>&1
printf '\n%s\n' "$nonce"
facts
while receive; do
    case $word in
    "$nonce "*) ;;
    *) exit 1 ;;
    esac
    request=${word#* }
    count=${request#* }
    set --
    while [ "$count" -gt 0 ]; do
        receive
        set -- "$@" "$word"
        count=$((count - 1))
    done
    "${request%% *}" "$@"
done
