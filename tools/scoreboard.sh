#!/bin/bash
# scoreboard.sh BUILD_DIR — the public scoreboards: prints their tables, leaves BUILD_DIR/scoreboard.json,
# {"entries": [...]} with one entry per bug: suite, name, found, runs, shrunk, twin_reports,
# twin_evaluations, twin_reached; of planted bugs also depth, and workers of the shrunk case; of the suite `reach` instead
# one entry per program and strategy: found_seeds of seeds, mean, median, and what was published. Exits 1 when a
# bug was missed or a twin reported something; `reach` only measures.
#
# A suite is a program that writes one entry per line: bench/scoreboard_*.c, bench/scoreboard_kernels.sh for the fiber
# programs of tests/kernels, bench/scoreboard_threads.sh for programs with threads, and tools/planted.sh for the bugs planted in raddle itself.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "$1" && pwd) || exit 2
parts=$build/scoreboard-parts
rm -rf "$parts"
mkdir -p "$parts"
status=0
for path in bench/scoreboard_*.c; do
    name=$(basename "$path" .c)
    printf '== %s\n' "$name"
    "$build/tests/$name" --json "$parts/$name.jsonl" | tee "$parts/$name.md" || { echo "$name: status $?"; status=1; }
    echo
done
echo "== fiber programs with bugs of real projects"
bench/scoreboard_kernels.sh "$build" --json "$parts/kernels.jsonl" | tee "$parts/kernels.md" || { echo "kernels: status $?"; status=1; }
echo
echo "== programs with threads of the literature"
bench/scoreboard_threads.sh "$build" --json "$parts/threads.jsonl" | tee "$parts/threads.md" || { echo "threads: status $?"; status=1; }
echo
echo "== planted bugs"
PLANTED_JSON=$parts/planted.jsonl PLANTED_TABLE=$parts/planted.md bash tools/planted.sh || { echo "planted: status $?"; status=1; }
{
    printf '{"entries": [\n'
    cat "$parts"/*.jsonl | sed '$!s/$/,/'
    printf ']}\n'
} >"$build/scoreboard.json"
echo "results: ${build##*/}/scoreboard.json"
echo "tools/write_scoreboard.sh ${build##*/}/scoreboard-parts/*.md puts the tables into docs/scoreboard.md"
exit $status
