#!/bin/bash
# write_docs.sh [--check] RADDLE: docs/cli.md and docs/raddle.1 say what --help says. In cli.md the lines between
# "<!-- help of COMMAND -->" and "<!-- end -->" are made from the help of that command, in raddle.1 those between
# ".\" begin of commands" and ".\" end of commands" from all of them; the rest is written by hand. With --check nothing
# is written, and a difference is status 1.
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then check=1 && shift; fi
raddle=$(realpath "${1:?usage: write_docs.sh [--check] RADDLE}")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8

help_of() { # COMMAND: it may have two words
    # shellcheck disable=SC2086
    "$raddle" $1 --help
}

# Rows below a heading of a help text: "NAME<tab>ABOUT".
rows() { # HEADING
    awk -v heading="$1" '
        $0 == heading { on = 1; next }
        on && !/^  / { exit }
        on && /^  [^ ]/ {
            if (name != "") print name "\t" about
            at = match(substr($0, 3), /  +/)
            name = at ? substr($0, 3, at - 1) : substr($0, 3)
            about = at ? substr($0, 2 + at + RLENGTH) : ""
        }
        on && /^    / { sub(/^ +/, ""); about = about (about == "" ? "" : " ") $0 }
        END { if (name != "") print name "\t" about }'
}

commands() { # all of them, in the order of the help
    "$raddle" --help | awk '/^  [a-z]/ { print $1 }' | while read -r name; do
        echo "$name"
        help_of "$name" | rows Commands | cut -f 1 | grep -v '^--' | sed "s/^/$name /" || true
    done
}

usage() { awk '/^$/ { exit } { sub(/^(Usage: |       )/, ""); print }'; }
text() { awk '/^(Options|Commands)$/ { exit } /^$/ { on = 1 } on' | sed 1d; }
status_line() { awk '/^Exit status:/ { on = 1 } on && /^$/ { exit } on'; }

# Lines with columns are left as they are, between BEGIN and END.
columns() { # BEGIN END
    awk -v begin="$1" -v end="$2" -v RS= '{
        table = $0 ~ /[^ .]  +[^ ]/
        printf "%s%s%s%s\n", (NR == 1 ? "" : "\n"), (table ? begin "\n" : ""), $0, (table ? "\n" end : "") }'
}

markdown() { # COMMAND
    help_of "$1" >"$work/help"
    printf '```\n%s\n```\n' "$(usage <"$work/help")"
    text <"$work/help" | sed 's/[*<]/\\&/g' | columns '```' '```'
    if grep -qx Options "$work/help" && [ "$(rows Options <"$work/help" | wc -l)" -gt 1 ]; then
        printf '\n| option | |\n|---|---|\n'
        rows Options <"$work/help" | grep -v '^--help' | sed 's/|/\\|/g; s/\*/\\*/g' | awk -F '\t' '{ print "| `" $1 "` | " $2 " |" }'
    fi
    echo
    status_line <"$work/help"
}

manual() { # COMMAND
    local escape='s/\\/\\e/g; s/-/\\-/g; s/^\([.'"'"']\)/\\\&\1/'
    help_of "$1" >"$work/help"
    echo ".SS raddle ${1//-/\\-}"
    echo .nf
    usage <"$work/help" | sed "$escape"
    echo .fi
    echo .PP
    text <"$work/help" | sed "$escape" | columns .nf .fi | sed 's/^$/.PP/'
    rows Options <"$work/help" | sed "$escape" | awk -F '\t' '{ print ".TP\n.B " $1 "\n" $2 }'
    echo .PP
    status_line <"$work/help" | sed "$escape"
    echo .PP
    echo .nf
    sed '1,/^Examples$/d' "$work/help" | sed "$escape"
    echo .fi
}

commands >"$work/commands"
while read -r name; do
    if ! grep -qxF "<!-- help of $name -->" docs/cli.md; then
        echo "write_docs.sh: docs/cli.md has no line '<!-- help of $name -->'" >&2
        exit 1
    fi
done <"$work/commands"

while IFS= read -r line; do
    case $line in
    "<!-- help of "*" -->")
        name=${line#<!-- help of } && name=${name% -->}
        echo "$line"
        markdown "$name"
        skipping=1
        ;;
    "<!-- end -->") skipping= ;;
    esac
    if [ -z "${skipping:-}" ]; then printf '%s\n' "$line"; fi
done <docs/cli.md >"$work/cli.md"

{
    sed '/^\.\\" begin of commands/q' docs/raddle.1
    while read -r name; do manual "$name"; done <"$work/commands"
    sed -n '/^\.\\" end of commands/,$p' docs/raddle.1
} >"$work/raddle.1"

for file in cli.md raddle.1; do
    if [ -z "$check" ]; then
        cmp -s "$work/$file" "docs/$file" || cp "$work/$file" "docs/$file"
    elif ! diff -u "docs/$file" "$work/$file"; then
        echo "write_docs.sh: docs/$file differs from the help texts; type: tools/write_docs.sh build/raddle" >&2
        exit 1
    fi
done
