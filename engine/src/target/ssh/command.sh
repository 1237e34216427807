# Runs one command: reads its environment and its words, each a line that `printf %b` decodes; what follows is its
# input. The nonce says where its output begins, and what became of it: nothing that it writes can pretend that.

receive() {
    IFS= read -r line || exit 1
    word=$(printf %bx "$line")
    word=${word%x}
}

receive
while [ -n "$word" ]; do
    export "$word"
    receive
done
receive
count=$word
while [ "$count" -gt 0 ]; do
    receive
    set -- "$@" "$word"
    count=$((count - 1))
done
# A signal for the group is for the command. This shell stays, and says how it ended.
trap : INT
printf '\n%s\n' "$nonce"
printf '\n%s %s\n' "$nonce" "$$" >&2
"$@"
code=$?
printf '\n%s %s\n' "$nonce" "$code" >&2
# What the command left running, in the group that sshd has made.
kill -KILL "-$$"
