#!/bin/sh
# raddle load diff as a gate: several runs a side are tested, one a side is not, and neither the least time nor a count ever
# fails. (How often it errs: tests/unit/load/test_diff.c.)
. "$(dirname "$0")/tap"

cat >usual.toml <<'X'
[runtime]
duration_seconds = 3
vus = 5
tick = "10us"
[[requests]]
name = "index"
path = "/"
[[requests]]
name = "search"
path = "/s"
weight = 0.5
[simulated]
latency_ms = { min = 5, p50 = 10, p90 = 20, p99 = 60, max = 100 }
X
sed 's/= 5, p50 = 10, p90 = 20, p99 = 60, max = 100/= 5.5, p50 = 11, p90 = 22, p99 = 66, max = 110/' usual.toml >slower.toml
mkdir before after slow
for seed in 1 2 3 4 5 6 7 8 9 10; do
    "$RADDLE" load run usual.toml --seed $seed --quiet --output before/$seed.log >/dev/null
    "$RADDLE" load run usual.toml --seed $((seed + 20)) --quiet --output after/$seed.log >/dev/null
    "$RADDLE" load run slower.toml --seed $((seed + 40)) --quiet --output slow/$seed.log >/dev/null
done

# ---- Several runs a side ----------------------------------------------------------------------------------------------
try load diff before/*.log -- after/*.log
status 0 "the same target, ten runs a side"
silent "the same target"
has out "Wilcoxon-Mann-Whitney" "the test is named"
has out "level 1 % for all 12 rows" "its level, and how many rows there are: none failed anywhere"
has out "Holm" "and how it is corrected"
has out "0 worse, 0 better, of 15 rows" "nothing is worse"
for name in index search all; do
    for figure in "p10 ms" "p50 ms" "p99 ms" "rate /s" failed; do
        check "$name: $figure" [ "$(grep -c "^$name $figure " out)" = 1 ]
    done
done
try load diff before/*.log -- slow/*.log
status 1 "10 % slower"
check "is worse" grep -qE '^all p10 ms .* worse$' out
hasnt out "  better" "and nowhere better"
try load diff slow/*.log -- before/*.log
status 0 "10 % faster"
check "is better" grep -qE '^all p10 ms .* better$' out
hasnt out "  worse" "and nowhere worse"
try load diff before/*.log -- slow/*.log --threshold 50
status 0 "less than the threshold"
try load diff --threshold 50 before/*.log -- slow/*.log --json
status 0 "options on both sides"
check "JSON" grep -q '"test": {"possible": true, "name": "Wilcoxon-Mann-Whitney", "sides": 1, "exact": true, "level": 0.01, "correction": "Holm", "rows": 12, ' out
has out '"threshold_pct": 50' "JSON: the threshold"
try load diff before/*.log -- slow/*.log --format json
status 1 "JSON: slower"
check "JSON: a verdict for each row" [ "$(grep -c '"verdict": "' out)" = 15 ]
check "JSON: with its p" grep -qE '"figure": "p10_ns", "before": [0-9]+, "after": [0-9]+, "change_pct": [0-9.]+, "runs_before": 10, "runs_after": 10, "p": [0-9.e-]+, "p_better": 1, "verdict": "worse"' out
try load diff before/*.log -- slow/1.log slow/2.log
status 0 "too few for a test"
has out "No test is possible with 10 and 2 runs: for 12 rows at a level of 1 % it takes 7 a side." "is said, and how many it takes"

mkdir folders
try load run usual.toml --seed 31 --quiet --output folders
try load run usual.toml --seed 32 --quiet --output folders
try load diff before/1.log before/2.log -- folders/run_*
status 0 "folders of results"

# ---- One run a side ---------------------------------------------------------------------------------------------------
cat >even.toml <<'X'
[runtime]
duration_seconds = 4
vus = 10
[[requests]]
path = "/"
[simulated]
latency_ms = { points = [[0, 1], [0.01, 20], [1, 20]] }
X
sed 's/20\]/30]/g' even.toml >late.toml
try load run even.toml --seed 1 --quiet --output even.log
try load run late.toml --seed 1 --quiet --output late.log
for words in "even.log late.log" "even.log -- late.log"; do
    # shellcheck disable=SC2086
    try load diff $words
    status 0 "$words: no threshold, no failure"
    has out "No test is possible with 1 and 1 runs" "$words: no test"
    has out "Nothing fails: no --threshold was given." "$words: and that nothing fails"
    check "$words: what differs is told" grep -qE '^GET / p50 ms +20.000 +30.000 +\+50.0 %$' out
    hasnt out "worse" "$words: nothing is called worse"
    # shellcheck disable=SC2086
    try load diff $words --threshold 3
    status 1 "$words: a threshold"
    check "$words: is what fails" grep -qE '^GET / p50 ms .* worse$' out
    # shellcheck disable=SC2086
    try load diff $words --threshold 51
    status 0 "$words: or does not"
done
try load diff late.log even.log --threshold 3
status 0 "faster is no failure"
check "but better" grep -qE '^GET / p50 ms .* better$' out
try load diff before/1.log before/1.log --threshold 0
status 0 "a run does not differ from itself"

# The least time and every count are far off; the rest is the same.
sed 's/\[0, 1\]/[0, 15]/; s/_seconds = 4/_seconds = 16/' even.toml >uneven.toml
try load run uneven.toml --seed 1 --quiet --output uneven.log
for order in "even.log uneven.log" "uneven.log even.log"; do
    # shellcheck disable=SC2086
    try load diff $order --threshold 3
    status 0 "$order: least times and counts never fail"
    has out "latency min ms" "$order: but are told"
    has out "requests total" "$order: both"
done

# Of a failed share, too, the threshold decides while there is no test; from none to some is beyond any.
sed 's/^latency_ms.*/&\nstatus = { "200" = 0.9, "503" = 0.1 }/' even.toml >ill.toml
sed 's/0\.9,/0.87,/; s/0\.1 }/0.13 }/' ill.toml >worse.toml
try load run ill.toml --seed 1 --quiet --output ill.log
try load run worse.toml --seed 1 --quiet --output worse.log
try load diff ill.log worse.log --threshold 60
status 0 "a failed share that grows by less than the threshold"
check "is told" grep -qE '^GET / failed +[0-9.]+ % +[0-9.]+ % +\+[0-9.]+ %$' out
try load diff ill.log worse.log --threshold 10
status 1 "by more than that"
check "is what fails" grep -qE '^GET / failed .* worse$' out
try load diff even.log ill.log --threshold 500
status 1 "from none to some"
check "also" grep -qE '^GET / failed .* worse$' out

# ---- What is no gate --------------------------------------------------------------------------------------------------
size=$(wc -c <slow/1.log)
head -c $((size / 2)) slow/1.log >cut.log
try load diff before/1.log cut.log
status 1 "a log that was cut off"
has err "cut.log: the log is cut off" "is told"
try load diff before/1.log cut.log --partial
status 0 "unless that is accepted"
sed 's/^latency_ms.*/latency_ms = 10\nrefuse_rate = 1/' usual.toml >dead.toml
try load run dead.toml --seed 1 --quiet --output dead.log
for order in "before/1.log dead.log" "dead.log before/1.log" "dead.log dead.log"; do
    # shellcheck disable=SC2086
    try load diff $order
    status 1 "$order: a side without any response"
    check "$order: why" grep -qE 'dead.log: no response: ([0-9,]+) requests sent: \1 ConnectionRefused' err
    hasnt out "better" "$order: nothing is better"
    # shellcheck disable=SC2086
    try load diff $order --threshold 5
    check "$order: no time is better or worse" [ "$(grep ' ms ' out | grep -cE 'better|worse')" = 0 ]
done
try load diff before/1.log before/1.log -- slow/1.log slow/2.log
status 2 "the same run twice on a side"
has err "before: runs 1 and 2 are the same one (seed 1)" "is told"
for words in "before/1.log" "before/1.log before/2.log before/3.log" "before/1.log --" "-- before/1.log" "" "--" \
    "before/1.log slow/1.log --threshold x" "before/1.log slow/1.log --level 0" "before/1.log slow/1.log --level 51" \
    "before/1.log slow/1.log --format xml" "before/1.log missing.log" "usual.toml before/1.log"; do
    # shellcheck disable=SC2086
    try load diff $words
    status 2 "diff $words"
    check "diff $words: nothing on stdout" [ ! -s out ]
done

finish
