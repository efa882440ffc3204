#!/bin/bash
# Texts of an enemy in every command: names of files, arguments, machines, scenarios, logs, flows, journals. Nothing that
# people get to see may have a control character, a bidirectional control or a byte that is not UTF-8, and no text may
# begin a line of its own (FORGED). The verbs come from --help: one without a row fails.
. "$(dirname "$0")/tap"
build=$RADDLE_BUILD
src=$RADDLE_SRC
export LC_ALL=C.UTF-8
evil=$(printf 'e\033[31m\2332J\302\2331m\342\200\256\342\201\246\342\200\250\177\rx\nFORGED')
utf8=$(printf 'e\033[31m\302\2331m\342\200\256\342\201\246\342\200\250\177\rx\nFORGED') # as a file that has to be UTF-8 can have it
flow=${utf8//$'\n'/'\n'} # inside a flow
json='e\u001b[31m\u009b1m\u202e\u2066\u2028\u007f\r\nFORGED' # inside JSON and TOML
tried=$PWD/tried
: >tried

sound() { # NAME FILE…: harmless, and no line is forged
    local name=$1
    shift
    "$build/tests/harmless" --lines FORGED "$@" >judged 2>&1
    report $? "$name" judged
}

row() { # VERB STATUS ARGS…: what it prints is harmless; STATUS is one of a|b
    local verb=$1 wanted=$2
    shift 2
    echo "$verb" >>"$tried"
    # shellcheck disable=SC2086 # a verb may be two words
    "$RADDLE" $verb "$@" >out 2>err </dev/null
    status=$?
    local words=${*//"$evil"/EVIL}
    case "|$wanted|" in
    *"|$status|"*) sound "$verb ${words//"$utf8"/EVIL}" out err ;;
    *) report 1 "$verb $words (status $wanted, was $status)" out err ;;
    esac
}

json_row() { # the same; what it prints is JSON
    row "$@"
    cp out "json.$((++documents))"
}
documents=0

# ---- Machines, artifacts, cases ---------------------------------------------------------------------
mkdir "$evil.d" cases
program=$build/tests/hostile_machine
row list 2 "$evil"
row list 2 "--$evil"
row list 0 "$program"
json_row list 0 --json "$program"
row list 2 "./$evil"
row run 2 "$evil"
row run 2 "$program" hostile "$evil=1"
row run 2 "$program" hostile n="$evil"
row run 2 "$program" hostile --policy "$evil"
row run "2|3" inc --log "$evil/x"
row run 0 inc --log "$evil.raddle.log"
json_row run "0|1" "$program" hostile --json
row explore 2 "$evil"
row explore 2 inc --strategy "$evil"
row explore 2 inc --output "$evil/no"
row explore 2 inc --runs "$evil"
row explore 1 "$program" hostile --runs 50 --output "$evil.d"
json_row explore 1 "$program" hostile --runs 50 --json --output "$evil.d"
found=$evil.d/hostile.raddle.json
sound "explore: an artifact with names of an enemy" "$found"
row replay 0 "$found" -- "$program"
json_row replay 0 "$found" --json -- "$program"
row replay 1 "$found" --realign -- "$program"
json_row replay 1 "$found" --realign --json --output "$evil.d/again.raddle.json" -- "$program"
# A path by an enemy, who is somebody else and somewhere else.
python3 - "$found" "$evil.d/path.raddle.json" "$json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
name = json.loads('"%s"' % sys.argv[3])
document["path"]["actors"] = [name + str(i) for i in range(len(document["path"]["actors"]))]
document["path"]["sites"] = [name + " at " + str(i) for i in range(len(document["path"]["sites"]))]
document["expected_trace_hash"] = "0" * 32
json.dump(document, open(sys.argv[2], "w"))
END
row replay 1 "$evil.d/path.raddle.json" --edited --realign -- "$program"
json_row replay 1 "$evil.d/path.raddle.json" --edited --realign --json -- "$program"
row replay 2 "$found"
row replay 2 "$evil"
row replay 0 "$evil.raddle.log"
row shrink 0 "$found" -- "$program"
json_row shrink 0 "$found" --json -- "$program"
row show 0 "$found" -- "$program"
row show 0 "$found" --width 40 --all -- "$program"
json_row show 0 "$found" --json -- "$program"
json_row show 0 "$found" --case -- "$program"
row show 2 "$found"
sed "s/\"hostile\"/\"$json\"/; s/\"policy\": \"[^\"]*\"/\"policy\": \"$json\"/" "$found" >"cases/$evil.raddle.json"
cp "$found" "cases/a$evil.raddle.json"
row replay 2 "cases/$evil.raddle.json"
row show 2 "cases/$evil.raddle.json"
row shrink 2 "cases/$evil.raddle.json"
row corpus 2 cases
row corpus "1|2" cases -- "$program"
json_row corpus 2 cases --json
row corpus "1|2" cases --realign -- "$program"
row corpus 2 "$evil"
row cc 2 "-fsanitize=address,$evil"
RADDLE_CC=$evil row cc 3 x.c
RADDLE_CXX=$evil row c++ 3 x.cpp
row test 2 "$evil"
row test 2 "./$evil"
row test 2 "$program" "$evil"
row test 2 "$program" "--$evil"
row test "1|2" "$program" "$evil=1"
row test 1 "$program" hostile --runs 50 --output "$evil.d" --junit "$evil.d/$evil.xml"
sound "test: a JUnit file with names of an enemy" "$evil.d/$evil.xml"
check "which is XML" python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$evil.d/$evil.xml"
row test 1 "$program" hostile --runs 50 --output "$evil.d" --tap
json_row test 1 "$program" hostile --runs 50 --output "$evil.d" --json
printf '{"machine": "%s", "threads": "%s"}' "$json" "$json" >"cases/$evil.json"
row explore 2 "cases/$evil.json"
row tour 2 "$evil"
row exec 2 "$evil"
row session 2 "$evil"
row load 2 "$evil"
row flow 2 "$evil"

# ---- The executor -----------------------------------------------------------------------------------
row "exec gen" 0 --seed 3 --tasks 1 --workers 1 --programs 1 --output "$evil.json"
row "exec gen" "2|3" --output "$evil/no.json"
json_row "exec gen" 0 --seed 3 --json --output "$evil.json"
row "exec run" 0 "$evil.json"
json_row "exec run" 0 "$evil.json" --json
row "exec run" 2 "$evil"
row "exec explore" 0 "$evil.json" --runs 3
row "exec explore" 2 "$evil"
row "exec stress" 2 --output "$evil"
row "exec stress" 2 "$evil"
sed "s/\"name\": \"[^\"]*\"/\"name\": \"$json\"/" "$evil.json" >"named$evil.json"
row "exec run" "0|2" "named$evil.json"

# ---- Protocols --------------------------------------------------------------------------------------
cp "$src/examples/session/two_buyer.session" "$evil.session"
printf 'protocol %s { roles A, B }' "$evil" >"bad$evil.session"
for verb in check run invariant project trace draw; do
    row "session $verb" 2 "bad$evil.session"
    row "session $verb" 2 "no$evil"
    row "session $verb" 2 "$evil.session" --protocol "$evil"
done
row "session check" 0 "$evil.session"
json_row "session check" 0 "$evil.session" --json
row "session run" 0 "$evil.session"
row "session run" 2 "$evil.session" --policy "$evil"
json_row "session run" 0 "$evil.session" --json
row "session invariant" 0 "$evil.session" --sessions 2 --seeds 2
json_row "session invariant" 0 "$evil.session" --sessions 2 --seeds 2 --json
row "session trace" 0 "$evil.session"
row "session project" 2 "$evil.session" --role "$evil"
row "session project" 0 "$evil.session" --role Seller --c
row "session project" 0 "$evil.session"
row "session draw" 0 "$evil.session"

# ---- Load tests -------------------------------------------------------------------------------------
cat >"$evil.toml" <<END
[metadata]
name = "$json"
version = "$json"
description = "$json"
[runtime]
duration_seconds = 1
vus = 2
seed = 5
[target]
base_url = "http://simulated"
[simulated]
latency_ms = 20
[[requests]]
name = "$json"
method = "GET"
path = "/"
[[requests]]
name = "second $json"
method = "GET"
path = "/2"
[assertions]
p99_latency_ms = 1
END
sed 's/^method = .*/method = "'"$json"'"/' "$evil.toml" >"bad$evil.toml"
row "load validate" 2 "bad$evil.toml"
row "load run" 2 "bad$evil.toml" --no-log
row "load validate" 0 "$evil.toml"
has out 'e\x1b[31m' "names of a scenario are shown, made visible"
row "load run" "0|1" "$evil.toml" --output "$evil.log"
row "load run" "0|1" "$evil.toml" --output "$evil.d/results"
sound "load run: summary.txt, metrics.json, metadata.json, timeseries.csv" \
    "$evil.d"/results/*/{summary.txt,metrics.json,metadata.json,timeseries.csv}
cp "$evil.d"/results/*/metrics.json "json.$((++documents))"
cp "$evil.d"/results/*/metadata.json "json.$((++documents))"
row "load run" 2 "$evil.toml" --engine "$evil"
for form in "" --csv --prometheus; do
    row "load run" "0|1" "$evil.toml" --no-log $form
    row "load analyze" "0|1" "$evil.log" $form
done
json_row "load run" "0|1" "$evil.toml" --no-log --json
json_row "load analyze" "0|1" "$evil.log" --json
row "load analyze" 2 "$evil.log" --filter "$evil"
row "load analyze" 2 "$evil.log" --percentiles "$evil"
row "load analyze" 2 "no$evil"
row "load report" 0 "$evil.log"
hasnt out 'x-FORGED' "a page"
row "load report" 0 "$evil.log" --output "$evil.html"
sound "load report: the page" "$evil.html"
row "load diff" "0|1" "$evil.log" "$evil.log"
json_row "load diff" "0|1" "$evil.log" "$evil.log" --json
row "load diff" 2 "$evil.log" "no$evil"
row "load replay" 0 "$evil.log"
row "load replay" 0 "$evil.log" --summary
json_row "load replay" 0 "$evil.log" --json
row "load replay" 0 "$evil.log" --output "again$evil.log"
printf 'g 3\ns\n%s\nq\n' "$evil" | "$RADDLE" load replay "$evil.log" --step >out 2>err
sound "load replay --step" out err
row "load strip" 0 "$evil.log" --output "small$evil.log"
row "load strip" 2 "no$evil" --output x
row "load export" 0 "$evil.log" --output "z6$evil.log"
row "load export" 2 "no$evil" --output x
row "load URL" 2 "http://$evil/"
row "load URL" "1|2|3" "http://127.0.0.1:1/$evil" -d 0.2 -c 1 -H "$evil: $evil" --method "$evil"
row "load serve" 2 --port "$evil"
row "load serve" 2 "$evil"

# ---- Workflows --------------------------------------------------------------------------------------
cat >"$evil.flow" <<END
flow hostile "$flow" {
    data { said : text = "$flow"  more : text }
    task speak { run "printf '\\\\033[31mloud\\\\n' >&2; printf '%s' \"\$said\"" reads said capture more }
    task breaks { run "echo '$flow'; exit 3" }
    do speak
    defer { on signal approve into said { } }
    do breaks
}
END
sed 's/do speak/do \o33[31mspeak/' "$evil.flow" >"bad$evil.flow"
for verb in check run draw validate; do
    row "flow $verb" 2 "bad$evil.flow"
    row "flow $verb" 2 "no$evil.flow"
done
row "flow check" 0 "$evil.flow"
json_row "flow check" 0 "$evil.flow" --json
row "flow draw" 0 "$evil.flow"
row "flow draw" 0 "$evil.flow" --output "$evil.svg"
sound "flow draw: the picture" "$evil.svg"
row "flow validate" "0|1" "$evil.flow"
json_row "flow validate" "0|1" "$evil.flow" --json
row "flow run" 2 "$evil.flow" "$evil"
row "flow run" 2 "$evil.flow" "$evil=1"
row "flow run" 2 "$evil.flow" --policy "$evil"
folder=$evil.case
"$RADDLE" flow run "$evil.flow" --dir "$folder" --no-sync >run.out 2>run.err </dev/null &
runner=$!
soon eval 'grep -q "^+ speak" run.err || ! kill -0 $runner' 
row "flow signal" 2 "$folder" "$evil"
row "flow signal" 2 "no$evil" approve
row "flow status" 0 "$folder"
row "flow cancel" 2 "$folder" task "$evil"
row "flow signal" 0 "$folder" approve "$utf8"
wait $runner
sound "flow run: a whole case" run.out run.err
has run.out "next: raddle flow logs \$'e\\x1b[31m\\x9b2J\\xc2\\x9b1m" "a command to type has the bytes of the folder"
row "flow status" 0 "$folder"
json_row "flow status" 0 "$folder" --json
row "flow resume" "0|1|2" "$folder"
row "flow resume" 2 "$folder" --doubt "$evil=done"
row "flow resume" 2 "no$evil"
sed 's/exit 3/exit 4/' "$evil.flow" >"other$evil.flow"
row "flow resume" 2 "$folder" "other$evil.flow"
row "flow replay" 0 "$folder"
row "flow replay" 0 "$folder" --steps
row "flow replay" 2 "no$evil"
row "flow cancel" "0|2" "$folder"
row "flow draw" 0 "$folder"
row "flow logs" 2 "$folder" "$evil"

# What commands printed is data: in a pipe it is as it was, on a terminal it passes the gate, unless --raw.
terminal() { # ARGS…: as on a terminal; $status is not told
    printf '%q ' "$RADDLE" "$@" >command
    script -qec "bash command" /dev/null </dev/null >raw 2>&1 # its own shell, $SHELL or sh, may not know %q
    tr -d '\r' <raw >out
}
"$RADDLE" flow logs "$folder" >out 2>err
check "flow logs: bytes as they were in a pipe" grep -q $'^\033\\[31mloud$' out
if script -qec true /dev/null >/dev/null 2>&1; then
    export TERM=dumb
    terminal flow logs "$folder"
    check "flow logs on a terminal" "$build/tests/harmless" out
    has out '\x1b[31mloud' "flow logs on a terminal: made visible"
    terminal flow logs "$folder" --raw
    check "flow logs --raw" grep -q $'^\033\\[31mloud$' out
    terminal load analyze "$evil.log"
    sound "load analyze on a terminal" out
    export TERM=xterm
    for args in "list $program" "show $(printf %q "$found") -- $program" "load analyze $(printf %q "$evil.log")"; do
        eval "terminal $args"
        check "with colours, none of the enemy's: ${args%% *}" eval "! grep -q \$'\\033\\[31m' out && ! grep -q \$'\\302\\233' out"
    done
else
    skip "terminals" "script cannot make one"
fi
echo "flow logs" >>"$tried"

# ---- Elsewhere --------------------------------------------------------------------------------------
# Where there is only ASCII, nothing else comes out.
for args in "list $program" "show $(printf %q "$found") -- $program" "load analyze $(printf %q "$evil.log")"; do
    eval "LC_ALL=C $(printf %q "$RADDLE") $args" >out 2>err
    check "LC_ALL=C: ${args%% *}" eval "! LC_ALL=C grep -q '[^ -~]' out err"
done

# A command to type names the same file for the shell, whatever its name has: ticks, backslashes, what cannot be shown.
names=0
for name in "tick's" 'back\slash' "tick's, back\\slash, \\x41$evil" "\\$evil\\"; do
    cp "$evil.log" "$name.log"
    "$RADDLE" load strip "$name.log" --output "$name.strip" >out 2>err
    word=$(sed -n "s/.*'raddle load replay \(.*\) --output FILE' makes it whole\$/\1/p" out)
    check "a command to type, name $((++names))" eval "[ $word = \"\$name.strip\" ]"
done

check "all JSON is JSON" python3 -c 'import json, sys
for name in sys.argv[1:]: json.load(open(name, encoding="utf-8"))' json.*

# Every command has a row: those of --help, and of the help of each that has commands of its own.
"$RADDLE" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' >verbs
for verb in $(cat verbs); do
    "$RADDLE" "$verb" --help | sed -n '/^Commands$/,/^$/s/^  \([A-Za-z]*\)  .*/\1/p' | sed "s/^/$verb /" >>verbs
done
check "verbs were found" [ "$(wc -l <verbs)" -ge 42 ]
sort -u tried >tried.sorted
check "every verb has a row here" [ -z "$(sort -u verbs | comm -23 - tried.sorted)" ]
finish
