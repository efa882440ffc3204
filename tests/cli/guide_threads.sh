#!/bin/bash
# docs/guide-threads.md, followed word by word: each command is run, in order, and what the guide shows of its output is
# there.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
unset RADDLE_OPTIONS
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "the guide" "this build has no library for it"
    finish
fi
PATH=$(dirname "$RADDLE"):$PATH
here=$PWD
mkdir -p guide && cd guide || exit 1
awk -v here="$here" '
    /^```/ && kind == "" { kind = substr($0, 4); kind = kind == "" ? "text" : kind; block = here "/block." ++number; next }
    /^```$/ {
        if (kind == "c") print "file", block
        if (kind == "text") print "shows", block
        kind = ""; next
    }
    kind == "sh" { print "runs", $0; next }
    kind != "" { print > block }' "$src/docs/guide-threads.md" >"$here/script"
while read -r what words <&3; do
    case $what in
    file) cp "$words" queue.c ;;
    runs)
        expected=0
        [ "$words" = "${words%# fails}" ] || expected=1
        bash -c "${words%  #*}" >"$here/shown" 2>"$here/err" </dev/null
        status=$?
        check "${words%  #*} (expected $expected, was $status)" [ $status = $expected ]
        ;;
    shows)
        tr -s '\n ' ' ' <"$words" | sed 's/^ //;s/ $//' >"$here/wanted"
        tr -s '\n ' ' ' <"$here/shown" >"$here/flat"
        has "$here/flat" "$(cat "$here/wanted")" "shown: $(head -c 60 "$here/wanted")"
        ;;
    esac
done 3<"$here/script"
check "ten commands" [ "$(grep -c '^runs' "$here/script")" = 10 ]

# What the guide says of gdb, of the program before it was fixed.
sed -i '/nobody adds/s/broadcast/signal/' queue.c && cc -g -pthread queue.c -o queue
in_gdb() { "$RADDLE" replay --gdb queue.min.raddle.json -- ./queue >"$here/out" 2>"$here/err" </dev/null; }
if ! command -v gdb >/dev/null; then
    skip "in gdb" "gdb is not installed"
elif in_gdb && grep -qi "ptrace: operation not permitted" "$here/err"; then
    skip "in gdb" "attaching is not permitted here"
else
    has "$here/out" "Where they wait" "--gdb: the report comes first"
    check "and gdb stops where a worker ends" grep -qE '^#[0-9]+ .*rad__thread_ends \(' "$here/out"
fi
cd "$here" || exit 1
finish
