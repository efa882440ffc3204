#!/bin/sh
# raddle flow validate: verdicts, runs that replay, exit statuses; and flow files as targets of the lab.
. "$(dirname "$0")/tap"

cat >circle.flow <<'X'
flow circle {
  par {
    lock a { lock b { } }
  } and {
    lock b { lock a { } }
  }
}
X
cat >sound.flow <<'X'
flow sound {
  task build { run "make" }
  task test { run "make test" }
  do build
  par { do test } and { do build }
}
X
cat >race.flow <<'X'
flow race {
  data { winner : int }
  par { set winner = 1 } and { set winner = 2 } join first
}
X
cat >left.flow <<'X'
flow left {
  task slow { run "sleep 9" outcomes ok }
  par { do slow } and { do slow } join any
}
X
cat >round.flow <<'X'
flow round {
  xor { when true { } when true { while true { } } }
}
X
cat >long.flow <<'X'
flow long {
  par { loop 1000 { reach m } } and { loop 1000 { expire m } }
}
X

try flow validate sound.flow
status 0 "a sound flow"
silent "a sound flow"
has out "sound.flow: " "it names the file"
has out "every order and every outcome" "it says that all was tried"
for property in "no deadlock" "no dead task" "no dead code" "proper completion" "no livelock"; do
    check "$property holds" grep -qE "^  $property +holds\$" out
done
line out "  option to complete  holds (an end: done, failed or cancelled; met: done, failed)" \
    "the option to complete holds, and says what counts as an end"
check "confluence holds, for what was tried" grep -qE "^  confluence +holds for outcomes drawn from 3 seeds\$" out
has out "may succeed or fail, each time: build, test" "it says what it assumes"
check "no files" [ "$(ls ./*.raddle.json 2>/dev/null | wc -l)" = 0 ]

try flow validate circle.flow
status 1 "a deadlock"
has out "waits for the lock b, which 0/1.1 has" "it says who has what"
has out "0/1.0 takes lock a (line 3)" "it tells the steps"
has out "(the run above)" "one run is enough for two properties"
check "one file" [ "$(ls ./*.raddle.json | wc -l)" = 1 ]
try replay circle.deadlock.raddle.json
status 0 "the run replays"
has out "as recorded" "as it was recorded"
try shrink circle.deadlock.raddle.json
status 0 "the run shrinks"

"$RADDLE" flow validate circle.flow --json >out
has out "a deadlock, which is no end (an end: done, failed or cancelled; met: done)" "what fails says what counts as an end, too"
"$RADDLE" flow validate round.flow --json >out
has out "no end can be reached (an end: done, failed or cancelled; met: done)" "the same of a circle"
echo 'flow bad { fail "always" }' >bad.flow
try flow validate bad.flow
status 0 "a flow that can only fail has the option to complete"
line out "  option to complete  holds (an end: done, failed or cancelled; met: failed)" "and it is seen that it only fails"
echo 'flow off { cancel case }' >off.flow
try flow validate off.flow
has out "met: cancelled)" "or is only cancelled"
"$RADDLE" flow validate long.flow --states 100 --json >out
has out "(an end: done, failed or cancelled; met: none)" "what is unknown says it, too"
"$RADDLE" flow validate bad.flow --json >out
has out '(an end: done, failed or cancelled; met: failed)' "JSON has it, too"
rm -f ./*.raddle.json

mkdir runs
try flow validate race.flow --output runs
status 1 "a race is not confluent"
has out "ends as: done, winner = 2; under policy first: done, winner = 1" "it tells both ends"
try replay runs/race.confluence.raddle.json
status 0 "one run replays"
try replay runs/race.confluence-first.raddle.json
status 0 "the other run replays"
try flow validate race.flow --output runs --allow confluence
status 0 "a race may be meant"
has out "fails, as allowed" "it says so"
try flow validate race.flow --allow confluense
status 2 "a property there is not"
has err "did you mean 'confluence'?" "it suggests one"

try flow validate left.flow --output runs
status 1 "improper completion"
try replay runs/left.improper.raddle.json
status 0 "its run replays"
try flow validate round.flow --output runs
status 1 "a livelock"
try replay runs/round.livelock.raddle.json
status 0 "its run replays"
has out "livelock" "as a livelock"

try flow validate long.flow --states 500
status 0 "unknown is not failing"
has out "unknown: not all states were visited: 500 of them" "it says so"
has out "--strict does" "it says how to have it otherwise"
try flow validate long.flow --states 500 --strict
status 1 "with --strict it is"

try flow validate circle.flow --json --output runs
status 1 "as JSON"
check "it is JSON" sh -c 'command -v python3 >/dev/null || exit 0; python3 -c "
import json
r = json.load(open(\"out\"))
p = {x[\"name\"]: x for x in r[\"properties\"]}
assert not r[\"good\"] and r[\"exhausted\"] and len(p) == 7
assert p[\"no deadlock\"][\"answer\"] == \"fails\" and p[\"no deadlock\"][\"artifact\"] == \"runs/circle.deadlock.raddle.json\"
assert p[\"no livelock\"][\"answer\"] == \"holds\"
"'

echo 'flow f { do nothing }' >bad.flow
try flow validate bad.flow
status 2 "a bad file"
has err "bad.flow:1:13: " "with its place"
try flow validate nowhere.flow
status 2 "no file"
try flow validate sound.flow --output nowhere
status 2 "no folder"
printf 'flow one { finish }\nflow two { lock a { lock a { } } }\n' >two.flow
try flow validate two.flow --output runs
status 1 "the last flow of the file"
try flow validate two.flow --flow one
status 0 "the one that is named"

try explore circle.flow
status 1 "the lab finds the deadlock"
has out "deadlock:join all+lock" "by its name"
try replay circle.min.raddle.json
status 0 "shrunk, it replays"
try run sound.flow
status 0 "the lab runs a flow once"
try explore sound.flow --strategy dfs --runs 100000
status 0 "and every schedule of it"
has out "every schedule was tried" "it says so"


# ---- The examples: sound, or they say at their head what is not, and why -------------------------------------------------------
# "# validate: PROPERTY fails|unknown: WHY", in the comment before the flow.
src=${RADDLE_SRC:-$(dirname "$0")/../..}
for example in "$src"/examples/flow/*.flow; do
    name=$(basename "$example")
    mkdir -p examples_out
    try flow validate "$example" --output examples_out
    sed -n '/^[^#]/q; s/^# validate: \([a-z ]*\) \(fails\|unknown\): ..*/\1: \2/p' "$example" | sort >said
    sed -n 's/^  \([a-z ]*[a-z]\)  *\(fails\|unknown\)\([:, ].*\)*$/\1: \2/p' out | sort >found
    same said found "$name: its head says what fails"
    check "$name: each with a reason" [ "$(grep -c '^# validate:' "$example")" = "$(wc -l <said)" ]
done
finish
