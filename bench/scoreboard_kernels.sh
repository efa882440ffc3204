#!/bin/bash
# scoreboard_kernels.sh BUILD_DIR [--tiny] [--runs N] [--seeds N] [--json FILE] [--programs DIR] [NAME…] — every program of
# tests/kernels: `raddle explore` finds its bug, shrinks and replays it; repaired, the program stays clean.
#
# Per program, linked with the shared library of BUILD_DIR (--programs: compiled already): explored with the seeds 1 to N
# (20) until the first failure, at most 100,000 runs each; what the first seed found is shrunk, certified and replayed in
# a new process. Then 100,000 runs (--runs) of the repaired program, in which nothing may be reported. --tiny: one seed, at
# most 2,000 runs, nothing is shrunk, 5 runs of the repaired program. FILE gets one JSON object per line; the table that
# is printed is the one of docs/scoreboard.md. Exits 1 when a bug was missed or a repaired program reported.
set -uo pipefail
usage="usage: scoreboard_kernels.sh BUILD_DIR [--tiny] [--runs N] [--seeds N] [--json FILE] [--programs DIR] [NAME…]"
build=$(cd "${1:?$usage}" && pwd) || exit 2
shift
source=$(cd "$(dirname "$0")/.." && pwd)
most=100000
runs=100000
seeds=20
shrink=''
json=''
programs=''
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --tiny) most=2000 runs=5 seeds=1 shrink=--no-shrink ;;
    --runs) runs=$2 && shift ;;
    --seeds) seeds=$2 && shift ;;
    --json) json=$2 && shift ;;
    --programs) programs=$(cd "$2" && pwd) && shift ;;
    -*) echo "$usage" >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
if [ ${#names[@]} = 0 ]; then
    for path in "$source"/tests/kernels/*.c; do names+=("$(basename "$path" .c)"); done
fi
room=$(mktemp -d) || exit 3
trap 'rm -rf "$room"' EXIT
[ -z "$json" ] || : >"$json"

explore() { # RESULT OPTIONS… PROGRAM [fixed]: status 1 is a failure that was found
    local result=$1
    shift
    "$build/raddle" explore --json --output "$room" "$@" >"$result" || [ $? = 1 ]
}

# Lines of the table, from what explore said: of the bug with each seed, and of the repaired program. One process for all.
judge=$(
    cat <<'END'
import glob, json, sys


def judge(name, replayed, out, room):
    fixed = json.load(open(f"{room}/fixed.json"))
    seeds = sorted(glob.glob(f"{room}/seed.*.json"), key=lambda path: int(path.split(".")[-2]))
    seeds = [json.load(open(s)) for s in seeds]
    found = [s["findings"][0] for s in seeds if s["findings"]]
    first = seeds[0]["findings"][0] if seeds[0]["findings"] else None
    needed = [f["run"] + 1 for f in found]
    shrunk = first.get("minimised") if first else None
    after = shrunk["after"] if shrunk else {"choices": None, "preemptions": None, "steps": None}
    entry = {"suite": "kernels", "name": name, "found": len(found) == len(seeds), "runs": needed[0] if first else seeds[0]["runs"],
             "seeds": len(seeds), "found_seeds": len(found), "mean": sum(needed) / max(len(needed), 1), "worst": max(needed, default=0),
             "identity": first["failure"]["identity"] if first else None, "shrunk": after["choices"], "steps": after["steps"],
             "preemptions": after["preemptions"], "certified": bool(shrunk and shrunk["certified"]), "replayed": replayed == "yes",
             "twin_reports": fixed["failures"], "twin_runs": fixed["runs"], "twin_complete": fixed["complete"],
             "twin_evaluations": max(o["evaluations"] for o in fixed["oracles"])}
    if out:
        with open(out, "a") as lines:
            print(json.dumps(entry), file=lines)
    identity = f"`{entry['identity']}`".replace("|", "\\|") if first else "**missed**"
    cells = [f"`{name}`", identity, f"{len(found)} of {len(seeds)}"]
    cells += [f"{entry['mean']:,.0f}", f"{entry['worst']:,}"]
    cells += [after["choices"], after["preemptions"], after["steps"], "minimal" if entry["certified"] else "no"] if shrunk else ["-"] * 4
    cells += [replayed, f"{fixed['failures']:,}", f"{fixed['runs']:,}" + (", all" if fixed["complete"] else "")]
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)
    return entry["found"] and entry["replayed"] and not fixed["failures"]


bad = count = 0
for line in sys.stdin:
    name, replayed, room = line.rstrip("\n").split("\t")
    count += 1
    if replayed == "failed" or not judge(name, replayed, sys.argv[1], room):
        bad += 1
        print(f"{name}: not as expected", file=sys.stderr)
print(f"\n{count} programs, {bad} not as expected")
sys.exit(bad != 0)
END
)

trial() { # NAME
    local name=$1 replayed=no seed file room=$room/$1 program
    program=${programs:-$room}/$1
    mkdir -p "$room"
    if [ -z "$programs" ]; then
        ${CC:-cc} -std=gnu11 -g -I "$source/include" "$source/tests/kernels/$name.c" "$build/libraddle.so" -Wl,-rpath,"$build" \
            -o "$program" || return 1
    fi
    for ((seed = seeds; seed > 1; seed--)); do
        explore "$room/seed.$seed.json" --stop-on-first --no-shrink --runs "$most" --seed "$seed" "$program" || return 1
    done
    rm -f "$room"/*.raddle.json
    # shellcheck disable=SC2086
    explore "$room/seed.1.json" --stop-on-first $shrink --runs "$most" --seed 1 "$program" || return 1
    for file in "$room/$name.min.raddle.json" "$room/$name.raddle.json"; do
        [ -f "$file" ] || continue
        "$build/raddle" replay "$file" -- "$program" >"$room/replay" && replayed=yes
        break
    done
    explore "$room/fixed.json" --no-shrink --runs "$runs" "$program" fixed || return 1
    printf '%s\t%s\t%s\n' "$name" "$replayed" "$room"
}

echo '| program | found as | seeds | mean runs | most runs | choices left | preemptions | steps | certified | replayed | reports, repaired | in runs |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
for name in "${names[@]}"; do
    trial "$name" || printf '%s\tfailed\t\n' "$name"
done | python3 -IS -c "$judge" "$json"
