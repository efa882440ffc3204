#!/bin/bash
# `raddle cc`: what orders two accesses, and what does not. tests/programs/memory_edges.c has a case for each.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
export RADDLE_CC=${CC:-cc}

if [ ! -f "$build/src/lab/programs/watched/libtsan.a" ] || is_sanitized "$library"; then
    skip "raddle cc" "this build has no library for programs under test"
    finish
fi
wide=
[ "$(uname -m)" != x86_64 ] || wide=-mcx16
# shellcheck disable=SC2086 # no word or one
check "memory_edges.c compiles" "$RADDLE" cc -std=gnu11 -g -O2 -Wall -Wextra $wide -pthread "$src/tests/programs/memory_edges.c" \
    -o memory_edges
try explore --runs 60 --spurious no --clock quiet ./memory_edges ordered
status 0 "accesses that are ordered, in each way"
has out "nothing found in 60 runs" "do not race"
try explore --runs 600 --spurious no --clock quiet ./memory_edges between
status 0 "who waited for a condition hears of all that had the mutex since"
try explore --runs 9 --clock quiet ./memory_edges values
status 0 "what atomics of 16 bytes answer"

# shellcheck disable=SC2086
check "memory_unseen.c compiles, a part of it by the compiler alone" $RADDLE_CC -g -O2 -DUNSEEN -c "$src/tests/programs/memory_unseen.c" -o unseen.o
check "and the rest with it" "$RADDLE" cc -g -O2 -pthread "$src/tests/programs/memory_unseen.c" unseen.o -o memory_unseen
try explore --runs 60 --clock quiet ./memory_unseen
status 0 "a flag that unseen code has set: nothing races with what was before it"
has out "data race " "and it was looked at"

races() { # NAME...: there is a race in each of these, and no other one
    try explore --runs 60 --no-shrink --spurious no --clock quiet ./memory_edges raced "$@"
    tr -s ' \n' '  ' <out >flat
    for name in "$@"; do
        grep -qE "data race at step [0-9]+: $name(\\+10)?: (${name}_one (writes|reads)|main writes) at ${name}_" flat
        report $? "$name: a race, of its variable, and who came first is told first" out
    done
    check "$*: nothing else races" [ "$(grep -c "^FAILED: data race" out)" = $# ]
    printf '%s\n' "$@" >>tried
}
races unlocked readers permits tried
# What comes after a release is seen to race by who comes after it, and readers in turn race: in other schedules they race anyway.
try explore --runs 1 --no-shrink --spurious no --clock quiet ./memory_edges raced unlocked readers created woken
tr -s ' \n' '  ' <out >flat
for name in unlocked readers created woken; do
    check "$name: a race in the schedule in which each goes on as long as it can" grep -q "$name: [a-z_]* writes at" flat
done
races spun stored failing refused
races fenced changing across created
races woken ended many
try explore --runs 60 --no-shrink --spurious no --clock quiet ./memory_edges raced freeing
has out "memory: freeing_one reads at freeing_one: read" "a block that one thread frees while another one may read it: a race"
has out "use after free at step 5: freeing_one reads byte 0 of a block of 24" "or a use after it"
echo freeing >>tried
./memory_edges list | LC_ALL=C sort >listed
LC_ALL=C sort tried >all
same listed all "these are all"
finish
