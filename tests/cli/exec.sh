#!/bin/sh
# raddle exec: gen, run, explore, stress; what they refuse, and that they repeat themselves.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

bad() { # MESSAGE ARGS…
    message=$1
    shift
    try "$@"
    status 2 "raddle $*"
    check "raddle $*: nothing on stdout" [ ! -s out ]
    head -n 1 err >first
    is first "$message" "raddle $*: the message"
}
without_time() { # FILE
    sed -e 's/[0-9.]* s of computing.*//' -e '/"elapsed":/d' "$1"
}

# ---- Front door ----
try exec --help
status 0 "exec --help"
for part in gen run explore stress; do
    has out "  raddle exec " "exec --help has examples"
    try exec $part --help
    status 0 "exec $part --help"
    silent "exec $part --help"
    has out "raddle exec $part" "exec $part --help names it"
    line out "Examples" "exec $part --help has examples"
    check "exec $part --help fits 100 columns" sh -c '! LC_ALL=C.UTF-8 grep -q ".\{101,\}" out'
    cp out first
    try exec help $part
    same out first "exec help $part is the same"
done
bad "raddle exec: missing command; use gen, run, explore or stress" exec
bad "raddle exec: unknown command 'gne'; did you mean 'gen'?" exec gne
bad "raddle exec: unknown command 'zzzzzz'; use gen, run, explore or stress" exec zzzzzz
bad "raddle exec gen: unknown option '--sede'; did you mean '--seed'?" exec gen --sede 3
bad "raddle exec gen: unexpected argument 'x'" exec gen x
bad "raddle exec gen: --workers: 17 is out of range, 1 ... 16" exec gen --workers 17
bad "raddle exec gen: --small and --stress: give one" exec gen --small --stress
bad "raddle exec gen: --listed '520': use a whole number from 0 to 519" exec gen --listed 520
bad "raddle exec gen: --listed takes no seed and no bounds" exec gen --listed 1 --seed 2
bad "raddle exec run: missing CASE.json or --seed S" exec run
bad "raddle exec run: CASE.json and --seed: give one" exec run x.json --seed 1
bad "raddle exec run: bounds are for cases from a seed; the file has its own" exec run x.json --tasks 1
bad "raddle exec run: cannot open 'x.json': No such file or directory" exec run x.json
bad "raddle exec run: 'counter': not a case file; usage: CASE.json" exec run counter
bad "raddle exec run: unknown policy 'fiar'; did you mean 'fair'? 'raddle list' shows all" \
    exec run --seed 1 --policy fiar
bad "raddle exec explore: unexpected argument 'b.json': give one case" exec explore a.json b.json
bad "raddle exec explore: --cases and --first choose from the list; the file is one case" \
    exec explore a.json --first 3
bad "raddle exec explore: --output: 'nowhere' is not an existing directory" exec explore --output nowhere
bad "raddle exec stress: unexpected argument 'x'" exec stress x
bad "raddle exec stress: --workers: 17 is out of range, 1 ... 16" exec stress --workers 17
bad "raddle exec stress: --seed-base: the last seed would be above 9223372036854775807" \
    exec stress --seeds 2 --seed-base 9223372036854775807
echo '{"machine": "reorder", "n": 5}' >other.json
bad 'raddle exec run: other.json: machine: expected "exec", found "reorder"; '"'raddle run' takes any" exec run other.json
echo '{"machine": "exec", "programs": [{"name": "a", "code": ["hop"]}]}' >wrong.json
try exec run wrong.json
status 2 "a wrong instruction"
has err "wrong.json: programs[0].code[0]: expected yield, spawn" "a wrong instruction: the place"

# ---- gen ----
try exec gen --seed 7
status 0 "gen"
has err "seed 7, " "gen tells the seed"
mv out seven.json
try exec gen --seed 7 --output again.json
status 0 "gen --output"
has out "again.json: seed 7, " "gen --output tells the seed"
silent "gen --output"
same seven.json again.json "the same seed gives the same case"
check "nothing half-written is left" sh -c '! ls | grep -q part'
try exec gen --seed 8
check "another seed gives another case" sh -c '! cmp -s out seven.json'
try exec gen --output nowhere/x.json
status 3 "gen into a folder that is not there"
try exec gen --stress --seed 3 --json
status 0 "gen --json"
silent "gen --json"
is_json out "gen --json"
has out '"seed": 3,' "gen --json has the seed"
try exec gen --listed 2
has err "turns, 3 workers, 3 tasks" "gen --listed"
try exec gen --workers 1 --tasks 1 --programs 1 --length 2 --resources 0 --events 0
has err "1 worker, 1 task, 1 program (" "bounds count"

# ---- run ----
sed -n '/^```json$/,/^```$/p' "$src/docs/dev/executor-cases.md" | grep -v '^```' >example.json
try exec run example.json
status 0 "the example of the document runs"
check "its outcome is a word" grep -qE '^  outcome    (completed|refused) after [0-9]+ steps' out
has out "State at the end" "the census"
has out "program leaf: 0 try-acquire 0 1 ok 1 fail 3; 1 yield local; 2 release 0 1" "the programs"
cp out first
try exec run example.json
same out first "the same again"
try exec run --seed 7 --policy fair --json
status 0 "run --json"
silent "run --json"
is_json out "run --json"
for key in verb seed policy policy_seed workers outcome as_expected steps trace_hash state last_events case; do
    check "run --json has $key" grep -q "^  \"$key\": " out
done
try exec gen --hang --seed 3 --output hang.json
try exec run hang.json
status 0 "a hang that is expected"
has out "  outcome    deadlock after " "its outcome"
has out "(hangs): waits for token 63, next 0: wait-io 63" "where the task is"
sed 's/"expect": "deadlock"/"expect": "ends"/' hang.json >stuck.json
try exec run stuck.json
status 1 "a hang that is not expected"
has out "not as the case expects" "says so"
check "its last events" grep -qE '^Last [0-9]+ events$' out
echo '{"machine": "exec", "programs": [{"name": "a", "code": ["jump 0"]}], "tasks": ["a"], "runnable": [0]}' >loop.json
try exec run loop.json --max-steps 500
status 1 "a loop"
has out "  outcome    step-limit after 500 steps" "its outcome"
line out "Last 200 events" "200 events and no more"
check "200 lines of them" [ "$(grep -c '^   [0-9]* worker: ' out)" = 200 ]
try exec run example.json --artifact kept.raddle.json
status 0 "run --artifact"
try replay kept.raddle.json
status 0 "it replays"
has out "as recorded" "as recorded"
try show kept.raddle.json
status 0 "and can be shown"
check "an instruction in words" grep -q 'task 0: spawn' out
has out " State at the end" "with the state"
try show kept.raddle.json --json
status 0 "show --json"
is_json out "show --json"
check "show --json has the state" grep -q '^  "state": \[' out
check "show --json has the last events" grep -q '^  "last_events": \[' out
check "in words" grep -qE '^    "[0-9]+ worker [01]: takes task 0 from the injector"' out

# ---- explore ----
try exec explore --cases 16
status 0 "explore"
silent "explore"
check "a line per case" [ "$(grep -cE '  (complete|every schedule with at most [0-9] delays?)$' out)" = 16 ]
check "turns is complete" grep -qE '^turns +3 +3 +0 +[1-9][0-9,]* +[1-9][0-9,]*  complete$' out
has out "16 of 16: 15 complete, 1 up to " "totals"
has out "nothing found in 16 cases; every state of 15 was visited, 1 was searched up to a bound only, with each step of the executor indivisible." "the sentence, with its limits"
line out "  seed       1" "the seed"
without_time out >one
try exec explore --cases 16 -j 3
status 0 "explore -j 3"
without_time out >three
same one three "the same with three processes"
try exec explore --first 10 --cases 5 --json
status 0 "explore --json"
silent "explore --json"
is_json out "explore --json"
check "explore --json: five cases" [ "$(grep -c '"interleavings"' out)" = 6 ]
has out '"name": "fair-oldest",' "explore --json: the first"
without_time out >one
try exec explore --first 10 --cases 5 --json -j 2
without_time out >two
same one two "explore --json: the same with two processes"
try exec explore --first 127 --cases 1
check "a case that is too large prints its bound" grep -qE '^generated-115 .*  every schedule with at most 2 delays$' out
has out "nothing found in 1 case; every state of 0 was visited, 1 was searched up to a bound only" "and so does the sentence"
try exec explore --first 127 --cases 1 --runs 20000
check "with more runs it is complete" grep -qE '^generated-115 .*  complete$' out
has out "nothing found in 1 case; every state of each was visited, with each step" "and so is the sentence"
try exec explore --first 519
status 0 "the last one"
has out "1 of 1:" "is one"
try exec explore example.json
status 0 "one case"
check "its name is the file's" grep -qE '^example +2 +2 +6 ' out

# A case that fails: kept, shrunk, told.
cat >leak.json <<'CASE'
{"machine": "exec", "executor": {"workers": 2, "steal_tries": 1}, "resources": [1],
 "programs": [{"name": "a", "code": ["yield local", "try-acquire 0 1 ok 2 fail 2"]}],
 "tasks": ["a"], "runnable": [0]}
CASE
try exec explore leak.json
status 1 "a failure"
has out "FAILED: permit-leak at step" "is told"
check "artifact" [ -f leak.raddle.json ]
check "minimised artifact" [ -f leak.min.raddle.json ]
has out " State at the end" "the state"
has out "  replay     raddle replay leak.min.raddle.json" "the command"
has out "a failure was found in the last of 1 case." "the sentence"
try replay leak.min.raddle.json
status 0 "it replays"
try show leak.min.raddle.json --all
status 0 "and shows"
mkdir kept
try exec explore leak.json --no-shrink --output kept
status 1 "--no-shrink"
check "one file" [ "$(ls kept)" = leak.raddle.json ]
has out "State at the end" "--no-shrink: the state nevertheless"
try exec explore leak.json --json --output kept
status 1 "a failure, --json"
is_json out "a failure, --json"
has out '"replay": "raddle replay kept/leak.min.raddle.json"' "a failure, --json: the command"

# ---- stress ----
try exec stress --seeds 6
status 0 "stress"
silent "stress"
has out "6 seeds from 1, up to 5,000 steps" "stress: the head"
has out "24, each twice; " "four drivers"
check "outcomes by kind" grep -qE '^  outcomes   [0-9]+ completed, [0-9]+ refused, [0-9]+ needed more than 5,000 steps, 0 failed$' out
has out "nothing found in 24 runs." "stress: the sentence"
without_time out >one
try exec stress --seeds 6 -j 2
status 0 "stress -j 2"
without_time out >two
same one two "the same with two processes"
try exec stress --seeds 2 --max-steps 20 --json
status 0 "runs that need more steps are no failure"
is_json out "stress --json"
check "they are counted" grep -qE '"needed_more": [1-9]' out
check "the longest has 20 steps" grep -q '"longest": 20,' out
SCHEDULER_SIM_STRESS_SEEDS=2 SCHEDULER_SIM_STRESS_MAX_STEPS=777 SCHEDULER_SIM_STRESS_MAX_PROGRAMS=3 \
    SCHEDULER_SIM_STRESS_MAX_TASKS=4 SCHEDULER_SIM_STRESS_SEED_BASE=9 try exec stress
status 0 "defaults from the environment"
has out "2 seeds from 9, up to 777 steps, 8 workers, 4 tasks, 3 programs of 32" "are taken"
SCHEDULER_SIM_STRESS_SEEDS=2 try exec stress --seeds 1
has out "1 seed from 1" "options win"
for name in SEEDS MAX_STEPS MAX_PROGRAMS MAX_TASKS SEED_BASE; do
    for value in x -1 1.5 99999999999999999999; do
        env SCHEDULER_SIM_STRESS_$name=$value "$RADDLE" exec stress >out 2>err
        status=$?
        status 2 "$name=$value"
        check "$name=$value: nothing on stdout" [ ! -s out ]
        has err "SCHEDULER_SIM_STRESS_$name '$value': use a whole number from " "$name=$value: the name"
    done
done
SCHEDULER_SIM_STRESS_SEEDS=x try exec gen
status 0 "nobody else minds"
# A worker that somebody kills when it has done some of its work begins again where it was, not with what is done.
has_done_some() { # PID: one of its workers has waited for processes that took 0.08 s, or all has ended
    local worker
    for worker in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do
        awk '{ exit !($16 + $17 >= 8) }' "/proc/$worker/stat" 2>/dev/null && return 0
    done
    ! kill -0 "$1" 2>/dev/null
}
"$RADDLE" exec stress --seeds 40 -j 2 --json | grep -v elapsed >whole
"$RADDLE" exec stress --seeds 40 -j 2 --json >out 2>err </dev/null &
pid=$!
soon has_done_some $pid
for worker in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do kill -s KILL "$worker" 2>/dev/null; done
wait $pid
status=$?
status 0 "killed workers"
grep -v elapsed out >survived
same whole survived "killed workers: the results are the same"

finish
