#!/bin/bash
# Guides, followed word by word: each file a page shows is saved, each block of commands is typed, in order, and what the page
# shows of the output is there. A block whose last line ends in "# fails" ends with status 1. In what is shown, "..." is
# anything, durations and numbers of executions are any.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
unset RADDLE_OPTIONS
here=$PWD
mkdir bin && ln -s "$RADDLE" bin/raddle
PATH=$here/bin:$PATH

port=$((20000 + $$ % 10000)) # for 8080

# What differs from run to run, and how lines are laid out.
flat() { sed -E 's/\x1b\[[0-9;]*m//g; s/[0-9.]+ m?s\b/T/g; s/\b[0-9a-f]{16,32}\b/ID/g' "$1" | tr -s '\n ' ' ' | sed 's/^ //; s/ $//'; }

blocks() { # PAGE: "KIND FILE" for each block of it, in order
    awk -v out="$here/block." '
        /^```/ && kind == "" { kind = substr($0, 4); if (kind == "") kind = "text"; file = out ++number; next }
        /^```$/ { close(file); print kind, file; kind = ""; next }
        kind != "" { print > file }' "$src/docs/$1.md"
}

shown() { # BLOCK OUTPUT: each part of it is there, in order
    flat "$2" >rest
    sed 's/^\.\.\.$/\n&\n/' "$1" | awk -v out="$here/part." '/^\.\.\.$/ { n++; next } { print > (out n + 0) }'
    for part in "$here"/part.*; do
        flat "$part" >wanted
        [ -s wanted ] || continue
        check "shown: $(head -c 70 wanted)" grep -qF -e "$(cat wanted)" rest
    done
    rm -f "$here"/part.*
}

follow() { # PAGE
    mkdir "$here/$1" && cd "$here/$1" || exit 1
    cp -r "$src/examples" examples
    while read -r kind block <&3; do
        case $kind in
        flow) cp "$block" "$(sed -n 's/^flow \([a-z_]*\).*/\1/p' "$block" | tail -n 1).flow" ;;
        session) cp "$block" "$(sed -n 's/^\(protocol\|locals\) \([A-Za-z]*\).*/\2/p' "$block" | tail -n 1 | tr A-Z a-z).session" ;;
        toml) cp "$block" "$(sed -n '1s/^# \([a-z-]*\.toml\).*/\1/p' "$block")" ;;
        sh)
            expected=0
            ! tail -n 1 "$block" | grep -q '# fails$' || expected=1
            sed -i "s/8080/$port/" "$block"
            timeout 60 bash "$block" >"$here/output" 2>&1 </dev/null
            status=$?
            check "$1: $(head -n 1 "$block") (expected $expected, was $status)" [ $status = $expected ]
            ;;
        text) shown "$block" "$here/output" ;;
        esac
    done 3< <(blocks "$1")
    cd "$here" || exit 1
}

for page in flow session load; do follow $page; done
finish
