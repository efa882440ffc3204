#!/bin/bash
# bench.sh BUILD_DIR [--tiny] — runs every bench/bench_*.c, one after the other, and joins what they
# measured in BUILD_DIR/bench.json.
#
# A bench is called as `bench_x [--tiny] --json FILE`: it prints its table on stdout and writes one JSON
# object to FILE. With --tiny it takes well under a second (the test suite runs it so).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$1
shift
parts=$build/bench-parts
rm -rf "$parts"
mkdir -p "$parts"
status=0
for path in bench/bench_*.c; do
    [ -f "$path" ] || continue
    name=$(basename "$path" .c)
    printf '== %s\n' "$name"
    "$build/tests/$name" "$@" --json "$parts/$name.json" || { echo "$name failed: status $?"; status=1; }
    echo
done
tools/join_bench.sh "$build"
exit $status
