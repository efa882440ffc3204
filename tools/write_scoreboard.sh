#!/bin/bash
# write_scoreboard.sh [--check] TABLES… — docs/scoreboard.md has the tables that the scoreboards print.
#
# A file of TABLES is what a scoreboard has printed (make scoreboard leaves one of each in build/scoreboard-parts); its
# lines that begin with "|" are a table. The table of docs/scoreboard.md with the same first line is replaced by it.
# With --check nothing is written: the one in docs/scoreboard.md must have the same columns, and the same rows by their
# first cells. Their other cells may differ: the tests run the scoreboards on small sizes. Status 1 if it has not.
set -euo pipefail
check=
if [ "${1:-}" = --check ]; then check=1 && shift; fi
[ $# -gt 0 ] || { echo "usage: write_scoreboard.sh [--check] TABLES…" >&2; exit 2; }
page=$(dirname "$0")/../docs/scoreboard.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

table_of() { # HEAD FILE: the table that begins with this line
    HEAD=$1 awk '$0 == ENVIRON["HEAD"] { on = 1 } on && !/^\|/ { exit } on' "$2"
}

shape() { # first cells, and how many cells each row has
    sed 's/\\|/,/g' | awk -F ' *\\| *' '{ print $2 "\t" NF }'
}

for file in "$@"; do
    grep '^|' "$file" >"$work/new" || { echo "$file: no table" >&2; exit 1; }
    head=$(head -n 1 "$work/new")
    table_of "$head" "$page" >"$work/old"
    [ -s "$work/old" ] || { echo "$file: docs/scoreboard.md has no table that begins with: $head" >&2; exit 1; }
    if [ -n "$check" ]; then
        diff <(shape <"$work/old") <(shape <"$work/new") || { echo "$file: not the rows of docs/scoreboard.md" >&2; exit 1; }
        continue
    fi
    HEAD=$head NEW=$work/new awk '
        $0 == ENVIRON["HEAD"] { while ((getline row <ENVIRON["NEW"]) > 0) print row; on = 1 }
        on && !/^\|/ { on = 0 }
        !on' "$page" >"$work/page"
    cat "$work/page" >"$page"
done
