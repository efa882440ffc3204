#!/bin/sh
# Every program in examples/ that is built ends by itself, succeeds, and prints what it should.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
build=${RADDLE_BUILD:-$(dirname "$RADDLE")}

runs() { # NAME [FILTER]: runs it; `expected` has what it is to print
    if [ ! -x "$build/examples/$1" ]; then
        tap_count=$((tap_count + 1))
        echo "ok $tap_count - $1 # SKIP not built: what it needs is not installed"
        return
    fi
    "$build/examples/$1" >out 2>err
    status=$?
    status 0 "$1 succeeds"
    silent "$1"
    "${2:-cat}" <out >filtered
    same filtered expected "$1 prints what it should"
}

echo '10000 orders from 2 threads, done by 8 fibers: all of them' >expected
runs between_threads

echo '21 blocks, in order: the same again' >expected
runs compress
if [ -x "$build/examples/compress" ] && command -v zstd >/dev/null; then
    "$build/examples/compress" "$src/README.md" readme.zst && zstd -q -d readme.zst -o readme
    same readme "$src/README.md" "what compress makes zstd understands"
fi

sort >expected <<'END' # on a machine that is busy both may answer at the same time
two answers are enough:
  replica 0 has answered
  replica 1 has answered
  2 answers, 3 stopped
nobody answers in time:
  0 answers, 5 stopped
END
runs fan_out sort

echo '20000 numbers, 1834634 steps; 17647 takes most, 278' >expected
runs fiber_pipeline

cat >expected <<'END'
keeps up: got everything
misses the newest: got a part
misses the oldest: got a part
END
runs pub_sub

echo '60 operations, 10 at once and then one per millisecond: not faster than that' >expected
runs rate_limiter

"$build/examples/worker_pool" >out 2>err
status=$?
status 0 "worker_pool succeeds"
check "worker_pool counts all jobs" \
    grep -qE '^300 jobs: [0-9]+ done, [0-9]+ refused at once, [0-9]+ after waiting a while$' out

cat >expected <<'END'
comes on Monday
too expensive
Seller of TwoBuyer, two_buyer.session:7: cannot send date to Bob; expected: send quote to Bob
END
runs session_shop

echo '100 clients, 50 messages each: all came back' >expected
runs echo

echo '210 connections of 7 kinds: all well' >expected
runs http
for signal in INT TERM; do
    "$build/examples/http" 0 2 2>url &
    server=$!
    while [ ! -s url ] && kill -0 $server; do sleep 0.05; done
    kill -$signal $server
    wait $server
    check "http ends well on SIG$signal" [ $? = 0 ]
    rm url
done

cat >expected <<'END'
run: 7124 requests, 7108 answers, 1 of 1 assertions hold
replay: 7764 turns, the same
turn 3: turn passed_ns=1000000 inputs=20 flags=0...
of those above 5 ms, p50.0: 27.361 ms
of those above 5 ms, p99.0: 113.705 ms
of those above 5 ms, p99.9: 187.695 ms
END
runs load_in_c

cat >expected <<'END'
supplier 0 says 31
supplier 1 is busy
supplier 2 says 40
supplier 1 says 27
done after 15 steps and 5 calls
price: 27
order: booked at 27
again from the journal: done, as recorded, 0 calls
END
runs flow_in_c

cat >expected <<'END'
policy random, seed 5: 5 decisions, 15 steps
  0  actor 0 [actor 1] actor 2
  1  actor 0 actor 1 [actor 2]
  2  actor 0 [actor 2]
  3  actor 0 [actor 2]
  4  [actor 0] actor 1
again: the same
without the bug: decision 2 at step 2: difference {-philosopher 0 step, +philosopher 1 step} (- in the log only, + in this run only); expected {philosopher 0 step, philosopher 2 step}, actual {philosopher 1 step, philosopher 2 step}
END
runs policy_log
sed -n '/^policy random, seed 5/,/^without the bug/p' "$src/docs/policy.md" >printed
same printed expected "docs/policy.md has what policy_log prints"
try replay philosophers.raddle.log
status 0 "the log that it writes is one for raddle replay"

for name in fork_join pipeline; do
    "$build/examples/$name" >out 2>err
    status=$?
    status 0 "$name succeeds"
done

# None is forgotten: what there is, is tried here or in a script of its own, and is short enough to be read.
for path in "$src"/examples/*.c; do
    name=$(basename "$path" .c)
    check "$name is tested" grep -qw "$name" "$src"/tests/cli/examples.sh "$src"/tests/cli/example.sh \
        "$src"/tests/cli/program.sh "$src"/tests/cli/policy.sh "$src"/tests/cli/testing.sh "$src"/tests/cli/tour.sh
    case $name in
    http) most=300 ;; # half of it tries the other half
    machine_program) most=200 ;; # two machines
    *) most=120 ;;
    esac
    check "$name has fewer than $most lines" [ "$(wc -l <"$path")" -lt $most ]
done
finish
