#!/bin/sh
# The tour: everything goes as told, in seconds, and leaves nothing behind.
. "$(dirname "$0")/tap"

mkdir temp
TMPDIR=$PWD/temp try tour
status 0 "tour"
silent "tour"
for part in "1. The program on trial" "2. Explore" "3. Shrink" "4. Replay" "5. Explain" \
    "6. The repaired twin" "7. The executor" "8. Fibers" "9. Sessions" "10. Load" "11. Workflows" "What to type next"; do
    has out "$part" "part: $part"
done
has out "FAILED: deadlock at step" "a deadlock was found"
check "with a certificate" grep -qE '^minimal: ' out
has out ">>>" "and explained"
has out "nothing found in" "the twin is clean"
has out "distinct states" "states of the executor were counted"
has out "the sum is 4999950000" "fibers added up"
has out "RAD_TEST(nothing_is_lost) { run_two_writers(); rad_check(count == 2); }" "and tests are shown"
has out "no thread can tell any two of them apart" "sessions were the same"
has out "Alice cannot know which branch was chosen" "and the forgetful one was refused"
has out "200 arrivals/s:    response time" "a stall was seen"
has out "replays byte for byte" "and replayed"
has out "interrupted. Another runner goes on:" "a case was interrupted"
has out "each command ran once" "and gone on with"
has out "deadlock at step" "a flow that gets stuck was found"
has out "As recorded, step by step" "the replay agreed"
check "nothing is left in TMPDIR" [ -z "$(ls -A temp)" ]
check "nothing is left here" [ -z "$(ls -A | grep raddle)" ]

mkdir kept
try tour --output kept
status 0 "tour --output"
check "both artifacts were kept" [ "$(ls kept | tr '\n' ' ')" = "buffer.min.raddle.json buffer.raddle.json " ]
try replay kept/buffer.min.raddle.json
status 0 "and replay"
TMPDIR=$PWD/nowhere try tour
status 3 "no place for temporary files"
has err "use --output DIR" "says what to do"
finish
