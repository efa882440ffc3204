#!/bin/bash
# run_peers.sh BUILD_DIR [OPTIONS] — runs our programs and the installed peers side by side: prints tables, leaves
# BUILD_DIR/peers/peers_SUITE.json (which becomes part of BUILD_DIR/bench.json) and every single run in
# BUILD_DIR/peers/runs_SUITE.tsv.
#
#   --suite exec              tasks on the executor, the usual one; or `fibers`; or `scenes`, with 2 and 16 workers; or
#                             `explore`, with one
#   --repetitions N           runs of everything, 5 unless told
#   --workers "1 2"           numbers of workers
#   --only "fib tree"         only these workloads
#   --beside "raddle go"      only these of the usual programs
#   --tiny                    small sizes: does everything still work?
#   --count-all               disturbed runs (below) count like the others
#   --cpu                     CPU time of the runs too, in all tables: what is left to compare on a busy machine
#   --program NAME=COMMAND    instead of the usual programs; may be repeated. `raddle` is ours: ratios are ours / other
#
# COMMAND is called as bench/peers/README.md says: COMMAND WORKLOAD WORKERS [--tiny]. The programs take turns within
# each workload, so that a disturbance of the machine meets all of them, and neighbours in time are compared. Medians
# are over the repetitions; all checksums of a workload have to be the same ("-" is that of a run that did less).
# A program that ends with status 2 does not know the workload, or not with so many workers, and is left out.
#
# For each run the CPU time of all other processes is noted, from /proc/stat. Where at least three undisturbed runs
# are left (others had less than a quarter of a core), the disturbed ones do not count; else the figure gets a star.
#
# Status 0; 1 when a program failed or checksums differ; 2 for usage errors and when there is nothing to run.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

usage() {
    echo "run_peers.sh: $1" >&2
    sed -n '2,/^#$/p; /^#   --/p' "$0" | sed 's/^# \{0,1\}//' >&2
    exit 2
}

[ $# -ge 1 ] && [ -d "$1" ] || usage "'${1:-}' is no build folder"
build=$(cd "$1" && pwd) || exit 2
shift
repetitions=5
worker_counts=
suite=exec
workloads=
beside=
tiny=
count_all=
show_cpu=
names=()
declare -A command_of
while [ $# -gt 0 ]; do
    option=$1
    case $option in
    --tiny) tiny=--tiny && shift && continue ;;
    --count-all) count_all=yes && shift && continue ;;
    --cpu) show_cpu=yes && shift && continue ;;
    --suite | --repetitions | --workers | --only | --beside | --program) [ $# -ge 2 ] || usage "$option needs a value" ;;
    *) usage "no option '$option'" ;;
    esac
    case $option in
    --suite) suite=$2 ;;
    --repetitions) [[ $2 =~ ^[1-9][0-9]*$ ]] && repetitions=$2 || usage "'$2' is no number of repetitions" ;;
    --workers) worker_counts=$2 ;;
    --only) workloads=$2 ;;
    --beside) beside=$2 ;;
    --program)
        [[ $2 == ?*=?* ]] || usage "'$2' is not NAME=COMMAND"
        names+=("${2%%=*}")
        command_of[${2%%=*}]=${2#*=}
        ;;
    esac
    shift 2
done

# ---- The suite ----------------------------------------------------------------------------------

case $suite in
exec)
    ours="$build/tests/bench_exec --one"
    usual="raddle go tokio tbb"
    all="fib spawn1 spawnb burst chain inject tree skynet wake wake5ms"
    ;;
fibers)
    ours="$build/tests/bench_rt --one"
    usual="raddle go tokio boost st pthreads"
    all="yield spawn1 spawnb cold startup pingpong timeout buf11 buf44 select4 mutex timer timer1m skychan unpark unpark5ms"
    all="$all parked nursery sleepers sleep100k sleep1m"
    ;;
scenes)
    ours="$build/tests/bench_scenes --one"
    usual="raddle go pthreads"
    all="kidnap noisy herd interfere"
    : "${worker_counts:=2 16}"
    ;;
explore)
    ours="$build/tests/bench_explore --one"
    usual="raddle relacy"
    all="inc3 inc10 inc100 code10"
    : "${worker_counts:=1}"
    ;;
*) usage "'$suite' is no suite" ;;
esac
: "${workloads:=$all}" "${worker_counts:=1 2}"
if [ ${#names[@]} = 0 ]; then
    for name in ${beside:-$usual}; do
        command_of[$name]=$build/peers/$name
        if [ "$name" = raddle ]; then command_of[$name]=$ours; fi
        if [ -x "${command_of[$name]%% *}" ]; then
            names+=("$name")
        else
            echo "$name is missing: ${command_of[$name]%% *}"
        fi
    done
fi
[ ${#names[@]} -gt 0 ] || { echo "run_peers.sh: no program to run; 'make bench-peers' builds them" >&2; exit 2; }

mkdir -p "$build/peers"
runs=$build/peers/runs_$suite.tsv
versions=$build/peers/versions_$suite.tsv
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
: >"$runs"
: >"$versions"
for name in "${names[@]}"; do
    if [ "$name" = raddle ]; then
        version="raddle $(git describe --always --dirty 2>/dev/null || echo 'of unknown version')"
    else
        version=$(${command_of[$name]} --version 2>/dev/null | head -n 1) || version=$name
    fi
    printf '%s\t%s\n' "$name" "${version:-$name}" | tee -a "$versions"
done

# ---- One run ------------------------------------------------------------------------------------

busy_ms() { # CPU time all processes took since the start of the machine; ticks are 10 ms
    local cpu user nice system idle iowait irq softirq steal rest
    # shellcheck disable=SC2034 # the fields have an order
    read -r cpu user nice system idle iowait irq softirq steal rest </proc/stat
    echo $(((user + nice + system + irq + softirq + steal) * 10))
}

# Appends the figures of one run to $runs: workload, workers, program, value, unit, checksum, CPU ms, disturbed.
run_once() { # NAME WORKLOAD WORKERS
    local status busy wall_us cpu_ms foreign_ms disturbed=0 figures=0 word value unit checksum rest
    busy=$(busy_ms)
    wall_us=${EPOCHREALTIME//[.,]/}
    TIMEFORMAT='%U %S'
    # shellcheck disable=SC2086 # a command is a list of words
    { time timeout 120 ${command_of[$1]} "$2" "$3" $tiny >"$scratch/out" 2>"$scratch/err"; } 2>"$scratch/time"
    status=$?
    wall_us=$((${EPOCHREALTIME//[.,]/} - wall_us))
    busy=$(($(busy_ms) - busy))
    [ $status != 2 ] || return 0
    if [ $status != 0 ]; then
        echo "$1 $2 with $3 workers: failed with status $status: $(tail -n 1 "$scratch/err")" >&2
        return 1
    fi
    cpu_ms=$(awk '{ gsub(",", "."); printf "%d", ($1 + $2) * 1000 }' "$scratch/time")
    foreign_ms=$((busy - cpu_ms))
    # Ticks are coarse: less than 40 ms may be none at all.
    if [ -z "$count_all" ] && [ $foreign_ms -gt $((wall_us / 4000)) ] && [ $foreign_ms -gt 40 ]; then disturbed=1; fi
    while read -r word value unit checksum rest; do
        [ "$word" = RESULT ] || continue
        if ! [[ $value =~ ^[0-9]+(\.[0-9]+)?$ && -n $unit && $checksum =~ ^([0-9]+|-)$ && -z $rest ]]; then
            echo "$1 $2 with $3 workers: not RESULT value unit checksum: $word $value $unit $checksum $rest" >&2
            return 1
        fi
        printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' \
            "$2" "$3" "$1" "$value" "$unit" "$checksum" "$cpu_ms" $disturbed >>"$runs"
        figures=$((figures + 1))
    done <"$scratch/out"
    [ $figures -gt 0 ] || { echo "$1 $2 with $3 workers: no line RESULT" >&2 && return 1; }
}

bad=0
for ((repetition = 1; repetition <= repetitions; repetition++)); do
    [ ! -t 2 ] || printf 'repetition %d of %d\r' "$repetition" "$repetitions" >&2
    for workload in $workloads; do
        for workers in $worker_counts; do
            for name in "${names[@]}"; do
                run_once "$name" "$workload" "$workers" || bad=1
            done
        done
    done
done

# ---- What came of it ----------------------------------------------------------------------------

for workload in $workloads; do
    grep -q "^$workload	" "$runs" || { echo "no program did '$workload'" >&2 && bad=1; }
done
awk -v json="$build/peers/peers_$suite.json" -v suite="$suite" -v show_cpu="$show_cpu" \
    -v repetitions="$repetitions" -v tiny="${tiny:+true}" -f bench/peers/table.awk "$versions" "$runs" || bad=1
tools/join_bench.sh "$build"
exit $bad
