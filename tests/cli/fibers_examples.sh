#!/bin/bash
# Our examples under `raddle explore`. Those with fibers, sources unchanged: nothing is reported, and a run that is made
# again is the same. With a planted bug (tests/programs/examples) each fails. The others are refused by name.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}

if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "examples under test" "this build has no library for programs under test"
    finish
fi

# ---- With fibers ---------------------------------------------------------------------------------------
names=()
for path in "$src"/tests/programs/examples/*.sed; do
    name=$(basename "$path" .sed)
    case $name in
    compress) [ -x "$build/examples/compress" ] || continue ;; # without zstd
    esac
    names+=("$name")
done
check "there are nine of them" [ ${#names[@]} -ge 8 ]
CC=$cc "$src/bench/scoreboard_examples.sh" "$build" --tiny --json examples.json "${names[@]}" >table 2>err
status=$?
status 0 "all are as docs/examples-under-test.md says"
for name in "${names[@]}"; do
    grep -qE "\"name\": \"$name\", .*\"quiet_reports\": 0, \"cut\": 0, .*\"found\": true, .*\"replayed\": true" examples.json
    report $? "$name: clean, the same when run twice; its planted bug is found and replayed" err
    grep -q "^| \`$name\` " "$src/docs/examples-under-test.md"
    report $? "$name: docs/examples-under-test.md has it" table
done

# ---- Without: refused by name ----------------------------------------------------------------------------
refused() { # NAME TEXT LIBRARY…
    # shellcheck disable=SC2086
    check "$1 compiles" $cc -std=gnu11 -I"$src/include" "$src/examples/$1.c" "${@:3}" -Wl,-rpath,"$build" -lpthread -o "$1"
    try explore "./$1"
    status 2 "explore ./$1"
    has err "$2" "$1: $2"
    hasnt out "0 steps" "$1: not as if it had been explored"
}
refused pipeline "the program calls rad_exec_create: " "$library"
refused fork_join "the program calls rad_exec_create: " "$library"
lab=$build/libraddle-lab.so
for name in machine_hello flow_in_c policy_log; do
    refused $name "'./$name': linked with the lab itself, but has no machines; " "$lab"
done
refused machine_program "missing MACHINE" "$lab"
finish
