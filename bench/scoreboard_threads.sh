#!/bin/bash
# scoreboard_threads.sh BUILD_DIR [--tiny] [--seeds N] [--runs N] [--json FILE] [NAME…] — the programs of
# tests/programs/literature.c: how many runs `raddle explore` needs to find the bug of each, and that the fixed version is
# clean.
#
# Per program and strategy: seeds 1 to N (20), at most 10,000 runs each, until the first failure; a cell has the mean of
# those that found it, "in 13/20" if not all did, and behind the dot the mean that was published (Zhao et al. 2025, 20
# trials of at most 10,000). Then 100,000 runs (--runs) of the fixed version. --tiny: one seed, `auto`, 500 runs. Exits 1
# when `auto` missed a bug or a fixed version reported.
set -uo pipefail
usage="usage: scoreboard_threads.sh BUILD_DIR [--tiny] [--seeds N] [--runs N] [--json FILE] [NAME…]"
build=$(cd "${1:?$usage}" && pwd) || exit 2
shift
source=$(cd "$(dirname "$0")/.." && pwd)
most=10000
runs=100000
seeds=20
strategies=(auto surw pct:3)
json=''
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --tiny) most=2000 runs=500 seeds=1 strategies=(auto) ;;
    --seeds) seeds=$2 && shift ;;
    --runs) runs=$2 && shift ;;
    --json) json=$2 && shift ;;
    -*) echo "$usage" >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
[ ${#names[@]} -gt 0 ] || names=(account carter01 circular_buffer deadlock01 lazy01 stack token_ring wronglock-3 pbzip2
    stringbuffer bluetooth_driver WorkStealQueue reorder-3 reorder-5 reorder-10 twostage-20 twostage-50)
room=$(mktemp -d) || exit 3
trap 'rm -rf "$room"' EXIT
[ -z "$json" ] || : >"$json"
${CC:-cc} -std=gnu11 -g -O1 -pthread "$source/tests/programs/literature.c" -o "$room/literature" || exit 1

judge=$(
    cat <<'END'
import glob, json, sys

PUBLISHED = {"reorder-3": ("7", "185"), "reorder-5": ("10", "647"), "reorder-10": ("17", "3,225 in 16/20"), "twostage-20": ("6", "159"),
             "twostage-50": ("20", "1,676"), "stringbuffer": ("8", "281"), "WorkStealQueue": ("6", "48"), "bluetooth_driver": ("70", "112")}
room, out, name, *strategies = sys.argv[1:]
cells, good, identity = [], True, ""
for strategy in strategies:
    seeds = [json.load(open(path)) for path in glob.glob(f"{room}/{name}.{strategy}.*.json")]
    found = [s["findings"][0] for s in seeds if s["findings"]]
    needed = [f["run"] + 1 for f in found]
    mean = sum(needed) / max(len(needed), 1)
    cell = f"{mean:,.0f}" if found else "never"
    cell += f" in {len(found)}/{len(seeds)}" if 0 < len(found) < len(seeds) else ""
    if name in PUBLISHED and strategy != "auto":
        cell += " · " + PUBLISHED[name][0 if strategy == "surw" else 1]
    cells.append(cell)
    if strategy == "auto":
        good = len(found) == len(seeds)
        identity = found[0]["failure"]["identity"] if found else "**missed**"
    if out:
        with open(out, "a") as lines:
            print(json.dumps({"suite": "threads", "name": name, "strategy": strategy, "seeds": len(seeds), "found": len(found), "mean": mean}), file=lines)
fixed = json.load(open(f"{room}/{name}.fixed.json"))
good = good and fixed["failures"] == 0
evaluations = max(o["evaluations"] for o in fixed["oracles"])
ran = f"{fixed['runs']:,}" + (", all" if fixed["complete"] else "")
identity = "`" + identity.replace("|", "\\|") + "`"
print("| " + " | ".join([f"`{name}`", identity, *cells, f"{fixed['failures']:,}", ran, f"{evaluations:,}"]) + " |", flush=True)
sys.exit(not good)
END
)

explore() { # RESULT OPTIONS… PROGRAM…: status 1 is a failure that was found
    local result=$1
    shift
    "$build/raddle" explore --json --clock quiet --spurious no --no-shrink --output "$room" "$@" >"$result" || [ $? = 1 ]
}

bad=0
echo "| program | found as | $(printf '%s | ' "${strategies[@]/#/mean runs, }")reports, fixed | in runs | evaluations |"
echo "|---|---|$(printf -- '---|%.0s' "${strategies[@]}")---|---|---|"
for name in "${names[@]}"; do
    words=("$room/literature" "${name%-*}")
    [ "$name" = "${name%-*}" ] || words+=("${name##*-}")
    for strategy in "${strategies[@]}"; do
        for ((seed = 1; seed <= seeds; seed++)); do
            explore "$room/$name.$strategy.$seed.json" --stop-on-first --strategy "$strategy" --seed "$seed" --runs "$most" "${words[@]}" || bad=1
        done
    done
    explore "$room/$name.fixed.json" --runs "$runs" "${words[@]}" fixed || bad=1
    python3 -IS -c "$judge" "$room" "$json" "$name" "${strategies[@]}" || { bad=1 && echo "$name: not as expected" >&2; }
done
exit $bad
