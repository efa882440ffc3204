#!/bin/bash
# Programs of the distribution with threads, as they are: what they write is the same in every schedule. Those that are
# not installed are left out. RUNS=1000 makes more.
. "$(dirname "$0")/under_test"
runs=${RUNS:-12}

has_library "programs of the distribution"

awk 'BEGIN { s = 1; for (i = 0; i < 9000; i++) { s = (s * 16807) % 2147483647; print s % 9973, "word" s % 7 } }' | head -c 65536 >text
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat text; done >long
awk 'BEGIN { s = 1; for (i = 0; i < 140000; i++) { s = (s * 16807) % 2147483647; print s % 99991 } }' >lines

# The outputs are equal if the whole is one of them again and again. What is written before the first decision is there
# once for each process: `once` bytes of it, in the first output only.
repeats() { # FILE ONCE EXPECTED RUNS
    tail -c +$(($2 + 1)) "$3" >rest
    size=$(wc -c <rest)
    count=$(($(wc -c <"$1") / size))
    [ "$count" -ge "$4" ] || return 1
    for ((i = 0; i < count; i++)); do cat rest; done >all
    tail -c "$(wc -c <all)" "$1" | cmp -s - all
}

always() { # INPUT ONCE PROGRAM [ARGUMENTS]
    input=$1 once=$2 path=$(command -v "$3" || true)
    if [ -z "$path" ]; then
        skip "$3" "it is not installed"
        return
    fi
    name=$3
    shift 3
    "$path" "$@" <"$input" >expected
    try explore --runs "$runs" -j 1 --strategy random --clock quiet --show-output printed --stdin "$input" "$path" "$@"
    status 0 "$name: explored"
    has out "nothing found in $(sed -E ':a; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; ta' <<<"$runs") runs" "$name: nothing is found in $runs runs"
    hasnt out "outside" "$name: nothing is uncontrolled"
    check "$name: each run writes what it writes by itself" repeats printed "$once" expected "$runs"
}

always text 0 pigz -p 3 -b 32 -n -c
always long 0 zstd -q -T3 -B512K -c
always text 0 xz -T2 --block-size=16384 -0 -c
always text 0 lbzip2 -n 3 -1 -c
always text 0 pbzip2 -p3 -1 -b1 -c
always lines 0 sort --parallel=3 -S 50M -n
always text 0 pixz -p 2 -0
always text 0 plzip -n 3 -0 -B 16KiB -s 16KiB -c

finish
