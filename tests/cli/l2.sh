#!/bin/sh
# Models of production code are machines like any other: other processes, other addresses, the same runs.
. "$(dirname "$0")/tap"

try list --all
if ! grep -q '^l2-' out; then
    check "this build has no L2" true
    finish
    exit
fi
for name in deque injector gate inbox idle executor; do
    check "l2-$name is listed" grep -q "^l2-$name  " out
done

try explore l2-deque --strategy preempt:3
status 0 "the deque"
has out "preempt:3" "the bound is named"
has out "everything within the bound was tried" "it is complete"
has out "data race" "races were looked for"

# The same run in two processes, whose memory lies elsewhere each time.
for policy in first random fair pct:3 surw; do
    try run l2-executor workers=2 tasks=2 --policy $policy --seed 3 --json
    mv out once
    try run l2-executor workers=2 tasks=2 --policy $policy --seed 3 --json
    check "$policy: equal traces" cmp -s once out
done

try explore l2-message --output .
status 1 "a relaxed publication"
has out "data race" "is a data race"
has out "nothing orders the two" "with both accesses"
if "$RADDLE" --version | grep -q "gcc 12.2"; then # other compilers number the accesses otherwise
    sed -n '/^FAILED: data race/,/nothing orders the two/p' out | tr -s '\n ' ' ' >printed
    sed -n '/^FAILED: data race/,/nothing orders the two/p' "${RADDLE_SRC:-.}/docs/memory-level.md" | tr -s '\n ' ' ' >shown
    check "docs/memory-level.md shows it" [ -s shown ]
    same shown printed "as it is printed"
fi
try replay l2-message.min.raddle.json
status 0 "it replays"
try show l2-message.min.raddle.json
status 0 "it is shown"
has out "hear_by_load: load" "with its sites"
try explore l2-message --fixed
status 0 "the fixed version"
has out "; every schedule was tried, under sequential consistency." "is tried out, and what that means"

# A race that does no harm, and the deadlock behind it.
try explore l2-mistakes kind=17 --output .
status 1 "a race and a lost wakeup"
has out "data race:small@tell: write / tell: write: first in run" "the race is found, with both places"
has out "deadlock:other: first in run" "and so is the deadlock behind it"
for file in l2-mistakes.min.raddle.json l2-mistakes-2.min.raddle.json; do
    try replay $file
    status 0 "$file replays"
done
try explore l2-mistakes kind=17 --races fatal --output . --no-shrink
hasnt out "FAILED: deadlock" "with --races fatal the race is all there is"
printf '# known\nrace:tell\n' >known
try explore l2-mistakes kind=17 --suppress known --output . --no-shrink
status 1 "with the race suppressed"
has out "FAILED: deadlock" "the deadlock is left"
hasnt out "FAILED: data race" "the race is not"
check "suppressed races are counted" grep -q '^  suppressed *[0-9]' out
printf '# known\r\n\r\n \trace:tell \t\r\n' >known
try explore l2-mistakes kind=17 --suppress known --output . --no-shrink
status 1 "suppressions with the line ends of another system"
has out "FAILED: deadlock" "the deadlock is left"
hasnt out "FAILED: data race" "the race is not"
printf 'race:*\n' >known
try explore l2-mistakes kind=18 --suppress known
status 0 "all races suppressed"
printf '\nraces:tell\n' >known
try explore l2-mistakes kind=18 --suppress known
status 2 "a line that is no suppression"
has err "known: line 2: expected race:FUNCTION or race:FILE" "is named"
try explore l2-mistakes kind=18 --races maybe
status 2 "another word for --races"

try explore l2-mistakes kind=6 --output .
status 1 "a lost wakeup"
has out "deadlock" "is a deadlock"
try replay l2-mistakes.min.raddle.json
status 0 "it replays"
# ---- The same run in another process: addresses differ there, and are not in the trace --------------------
hashes() {
    for model in $("$RADDLE" list --all | grep -oE '^ *l2-[a-z0-9-]+'); do
        echo "$model $("$RADDLE" run "$model" --json 2>/dev/null | grep trace_hash)"
    done
}
hashes >first
hashes >second
check "each model has a hash" [ "$(grep -c '"trace_hash": "[0-9a-f]' first)" -ge 20 ]
check "which is the same in another process" cmp -s first second

finish
