#!/bin/bash
# Others come in between a call and what follows it (tests/programs/after_call.c): found, replayed, and the fixed version
# is silent. Files that were recorded when they did not are told apart.
. "$(dirname "$0")/under_test"

has_library "what follows a call"
if ! takes programs after_call; then
    # shellcheck disable=SC2086
    compiles "after_call.c compiles" "$library" $cc -std=gnu11 -g -O1 -Wall -Wextra "$programs/after_call.c" -o after_call
fi

found() { # SCENE IDENTITY RUNS [OPTIONS…]
    try explore --stop-on-first --runs "$3" "${@:4}" ./after_call "$1"
    status 1 "explore ./after_call $1"
    has out "$2: first in run" "$1: $2"
    try replay after_call.min.raddle.json -- ./after_call "$1"
    status 0 "$1: replayed"
    try explore --no-shrink --runs 300 "${@:4}" ./after_call "$1" fixed
    status 0 "explore ./after_call $1 fixed"
    has out "nothing found in" "$1 fixed: silent"
}

found unlock deadlock:condition+nursery 40
found try "assertion@ready in tries" 40
found signal "assertion@ready in waits_for_signal" 40
found broadcast "assertion@ready in waits_for_signal" 40
found done "assertion@ready in done" 40
found release "assertion@ready in acquires" 40
found barrier "assertion@ready in meets" 40
found send "assertion@--count >= 0 in receives" 40
found look "assertion@--count >= 0 in looks" 400
found select "assertion@--count >= 0 in selects" 400
found receive "assertion@results[0] == 1 && results[1] == 2 in received" 40
found close "assertion@closed in reads_to_end" 40
found spawn "assertion@*published == 1 in reads_published" 40
found cancel "assertion@ready in notices" 40
found write "assertion@ready in reads" 40
found timer "assertion@ready in rings" 40 --clock free

line=$(grep -n "rad_cond_signal(&c);" "$programs/after_call.c" | head -1 | cut -d : -f 1)
try explore --stop-on-first --runs 40 ./after_call unlock
has out "sets_flag stops after after_call.c:$((line + 1))" "the report says after which call"
try explore --strategy dfs ./after_call "done" fixed
has out "every schedule was tried" "a search comes to its end"
try explore --strategy dfs ./after_call spawn fixed
has out "every schedule was tried" "and with a spawn, too"

# ---- Only where it makes a difference ------------------------------------------------------------------------
takes programs abba || compiles "abba.c compiles" "$library" "${CC:-cc}" -g -O1 "$programs/abba.c" -o abba
try explore --strategy preempt:0 --no-shrink ./abba fixed
has out "runs       3, 57 steps" "17 steps in a run, and two after the spawns: no unlock has woken anybody"

# ---- Files from before --------------------------------------------------------------------------------------
cp "$src/tests/cli/before_continue.raddle.json" old.raddle.json
try replay old.raddle.json -- ./abba
status 1 "replay of a file that another library has recorded"
has out "differs: expected deadlock:mutex+nursery at step 8" "it is another run now"
has err "was recorded with another build of raddle's library for programs" "which a note says"
try replay --realign old.raddle.json -- ./abba
status 1 "replay --realign"
has out "still fails" "finds the same failure"
finish
