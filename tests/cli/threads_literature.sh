#!/bin/bash
# Programs with threads from the literature (tests/programs/literature.c): found with one seed, the fixed versions silent.
. "$(dirname "$0")/under_test"
has_library "programs of the literature"
"$src/bench/scoreboard_threads.sh" "$build" --tiny --json threads.json >out 2>err
status=$?
was="scoreboard_threads.sh --tiny"
status 0 "all are found, and their fixed versions silent"
check "17 programs" [ "$(grep -c '"found": 1' threads.json)" = 17 ]
sed -n 's/^| `\([A-Za-z0-9_-]*\)` | `.*/\1/p' out >names
sed -n '/^## Programs with threads/,/^## /p' "$src/docs/scoreboard.md" | sed -n 's/^| `\([A-Za-z0-9_-]*\)` | `.*/\1/p' >documented
same names documented "and all are in docs/scoreboard.md"
finish
