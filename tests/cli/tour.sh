#!/bin/sh
# The tour: everything goes as described, on a screen or two, and leaves nothing behind.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL

mkdir temp
TMPDIR=$PWD/nowhere try tour
status 3 "no place for temporary files"
has err "use --output DIR" "says what to do"
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "the tour" "this build has no library for programs under test"
    finish
fi
TMPDIR=$PWD/temp try tour
status 0 "tour"
silent "tour"
for part in "1. Find it" "2. Shrink it" "3. Read it" "4. Replay it" "5. Check the fix" "Fibers run" "A protocol" "A load test" \
    "A workflow" "Next"; do
    check "part: $part" grep -q "^$part" out
done
check "a deadlock was found" grep -qE "^   FAILED: deadlock at step [0-9]+: main waits for condition ready" out
check "with a certificate" grep -qE '^   minimal: it needs 1 preemption; both schedules with fewer were tried' out
has out ">>>" "and drawn"
line out "   as recorded" "and replayed"
check "the fixed version is clean" grep -qE '^   nothing found in [0-9,]+ runs; every schedule was tried' out
has out "   111,111 fibers" "fibers ran"
line out "   RAD_TEST(sold_once)" "a test is shown"
line out "       rad_check(left() == 0);" "and what it checks"
check "it fails" grep -qE "^   FAIL  sold_once: check at step [0-9]+: tickets.c:[0-9]+: sold_once: check failed: left\(\) == 0$" out
has out "no coroutine can tell any two of these runs apart" "sessions were the same"
has out "run.log replays byte for byte" "a load test was replayed"
line out "   done" "a workflow was killed and resumed"
check "at most 75 lines: make run has 80, with two of its own and three of ninja" [ "$(wc -l <out)" -le 75 ]
check "none over 100 columns" sh -c '! grep -qE "^.{101,}" out'
check "nothing is left in TMPDIR" [ -z "$(ls -A temp)" ]
check "nothing is left here" [ -z "$(ls -A | grep raddle)" ]

# Each command after a $ works when it is pasted, in an empty directory, in the order of the tour.
mkdir pasted bin && ln -s "$RADDLE" bin/raddle
sed -n 's/^   \$ //p' out >commands
check "17 commands" [ "$(wc -l <commands)" = 17 ]
cd pasted || exit 1
PATH=$PWD/../bin:$PATH sh ../commands >../pasted.out 2>&1
status=$?
cd .. || exit 1
status 0 "the last of them, which resumes the workflow"
for text in "FAILED: deadlock" "minimal:" ">>>" "as recorded" "nothing found in" "FAIL  sold_once: " "answer     the same" "replays byte for byte"; do
    has pasted.out "$text" "pasted: $text"
done

echo mine >pasted/examples/wait.c
(cd pasted && "$RADDLE" tour --examples)
check "tour --examples leaves files as they are" grep -qx mine pasted/examples/wait.c
mkdir kept
try tour --output kept
status 0 "tour --output"
check "its files were kept" [ -f kept/wait.min.raddle.json -a -f kept/examples/wait.c ]
finish
