#!/bin/bash
# bench/run_peers.sh with made-up programs: medians, ratios, and what it says when programs do not do the same work.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(cd "$(dirname "$0")/../.." && pwd)}
mkdir build

program() { # NAME: a peer that takes its figures from NAME.lines, one line per call
    cat >"$1" <<END
#!/bin/sh
[ "\$1" = --version ] && { echo "$1 1.0"; exit 0; }
echo "\$*" >>"$PWD/calls"
line=\$(sed -n 1p "$PWD/$1.lines")
sed -i 1d "$PWD/$1.lines"
[ -n "\$line" ] || { echo "$1 has no more lines" >&2; exit 1; }
echo "noise before the result"
echo "\$line"
END
    chmod +x "$1"
}

compare() { # ARGS: run_peers.sh on the programs here; how busy the machine is must not matter
    bash "$src/bench/run_peers.sh" "$PWD/build" --count-all --only fib --workers 2 "$@" >out 2>err </dev/null
    status=$?
}

program raddle
program fast
both="--program raddle=$PWD/raddle --program fast=$PWD/fast"

# shellcheck disable=SC2086 # the options are a list of words
{
    printf 'RESULT %s ns 8\n' 30 10 20 40 50 >raddle.lines
    printf 'RESULT %s ns 8\n' 100 90 110 200 60 >fast.lines
    compare $both --tiny
    status 0 "five repetitions"
    has out '| `fib` ns, w2 | 30.0 (10.0..50.0) | 100 (60.0..200) | 0.30 |' "medians, spread, ratio"
    has out 'ours / fast' "a column of ratios"
    has build/bench.json '"program": "fast", "unit": "ns", "median": 100, "min": 60, "max": 200' "the JSON"
    has build/bench.json '"checksums_agree": true' "the JSON says that checksums agree"
    check "the call is WORKLOAD WORKERS --tiny" [ "$(sort -u calls)" = "fib 2 --tiny" ]

    printf 'RESULT 100 ns 8\nRESULT 300 ns 8\n' >fast.lines
    compare --program "fast=$PWD/fast" --repetitions 2
    status 0 "ours is missing"
    has out '| `fib` ns, w2 | 200 (100..300) |' "an even number of runs: the middle of the two"
    hasnt out 'ours /' "no ratios without ours"

    # Other work, however fast, is no figure.
    echo 'RESULT 1 ns 7' >raddle.lines
    echo 'RESULT 100 ns 8' >fast.lines
    compare $both --repetitions 1
    status 1 "checksums differ"
    has out 'checksums of fib differ: 7 (raddle, w2), 8 (fast, w2)' "who says what"
    has build/bench.json '"checksums_agree": false' "the JSON says that checksums differ"

    # 2^53 + 1 and 2^53 are the same number to an awk.
    echo 'RESULT 1 ns 9007199254740993' >raddle.lines
    echo 'RESULT 100 ns 9007199254740992' >fast.lines
    compare $both --repetitions 1
    status 1 "checksums differ in the last bit of many"

    echo 'RESULT 1 ns 8' >raddle.lines
    : >fast.lines
    compare $both --repetitions 1
    status 1 "a program fails"
    has err 'fast fib with 2 workers: failed with status 1: fast has no more lines' "which, and why"
    has out '| `fib` ns, w2 | 1.00 (1.00..1.00) | – | – |' "the others are shown"

    # What did less is not compared, and who cannot do it at all is left out.
    printf 'RESULT 2 ns 8\n' >raddle.lines
    printf 'RESULT 4 ns -\n' >fast.lines
    compare $both --repetitions 1 --cpu
    status 0 "less work"
    has out '| `fib` ns, w2 | 2.00 (2.00..2.00) | 4.00 (4.00..4.00) | 0.50 |' "the figures of less work"
    has out '| `fib` CPU ms of the run, w2 |' "a row for the CPU time"
    printf '#!/bin/sh\nexit 2\n' >unable
    chmod +x unable
    echo 'RESULT 2 ns 8' >raddle.lines
    compare --program "raddle=$PWD/raddle" --program "unable=$PWD/unable" --repetitions 1
    status 0 "a program that cannot do it"
    has out '| `fib` ns, w2 | 2.00 (2.00..2.00) | – | – |' "is left out"
    compare --program "unable=$PWD/unable" --repetitions 1
    status 1 "nobody can do it"
    has err "no program did 'fib'" "is told"

    echo 'RESULT fast ns 8' >raddle.lines
    compare --program "raddle=$PWD/raddle" --repetitions 1
    status 1 "no number"
    has err 'not RESULT value unit checksum: RESULT fast ns 8' "the line is shown"
}

# Runs that others disturbed do not count where three are left; else they do, with a star.
printf 'fast\tfast 1.0\n' >versions
printf 'fib\t1\tfast\t%s\tns\t8\t5\t%s\n' 10 0 90 1 12 0 11 0 >runs
awk -v json=json -v repetitions=4 -f "$src/bench/peers/table.awk" versions runs >out
has out '| `fib` ns, w1 | 11.0 (10.0..12.0) |' "a disturbed run does not count"
printf 'fib\t1\tfast\t%s\tns\t8\t5\t%s\n' 10 0 90 1 12 0 >runs
awk -v json=json -v repetitions=3 -f "$src/bench/peers/table.awk" versions runs >out
has out '| `fib` ns, w1 | 12.0* (10.0..90.0) |' "a disturbed run counts where there are few others"
has json '"disturbed": true' "the JSON says so"

# Of the usual programs, those that were asked for.
mkdir -p build/peers
program go
mv go build/peers/
echo 'RESULT 3 ns 8' >go.lines
compare --beside go --repetitions 1
status 0 "one of the usual programs"
has out '| `fib` ns, w2 | 3.00 (3.00..3.00) |' "its figures"
hasnt out 'tokio' "no word of the others"
rm build/peers/go
compare --repetitions none
status 2 "a usage error"
has err "'none' is no number of repetitions" "what is wrong"
compare --suite none
status 2 "no such suite"
has err "'none' is no suite" "what is wrong with it"
compare
status 2 "nothing is built"
has err "no program to run" "nothing to run"
finish
