#!/bin/bash
# scoreboard_examples.sh BUILD_DIR [--tiny] [--runs N] [--seeds N] [--json FILE] [NAME…] — the examples with fibers under
# `raddle explore`: as they are, and with the bug that tests/programs/examples/NAME.sed plants in a copy.
#
# As they are: 100 runs (--runs), each made twice, with a quiet clock, in which nothing may be reported, and as many with
# a free one, which may report. With the bug: explored with the seeds 1 to N (20) until the first failure, at most 20,000
# runs each; what the first seed found is shrunk, certified and replayed in a new process. --tiny: one run, no free clock,
# one seed, nothing is shrunk. FILE gets one JSON object per line; the table that is printed is the one of
# docs/examples-under-test.md. Exits 1 when something is not as it should be.
set -uo pipefail
usage="usage: scoreboard_examples.sh BUILD_DIR [--tiny] [--runs N] [--seeds N] [--json FILE] [NAME…]"
build=$(cd "${1:?$usage}" && pwd) || exit 2
shift
source=$(cd "$(dirname "$0")/.." && pwd)
runs=100
seeds=20
tiny=''
json=''
names=()
while [ $# -gt 0 ]; do
    case $1 in
    --tiny) runs=1 seeds=1 tiny=--no-shrink ;;
    --runs) runs=$2 && shift ;;
    --seeds) seeds=$2 && shift ;;
    --json) json=$2 && shift ;;
    -*) echo "$usage" >&2 && exit 2 ;;
    *) names+=("$1") ;;
    esac
    shift
done
if [ ${#names[@]} = 0 ]; then
    for path in "$source"/tests/programs/examples/*.sed; do names+=("$(basename "$path" .sed)"); done
fi
room=$(mktemp -d) || exit 3
trap 'rm -rf "$room"' EXIT
[ -z "$json" ] || : >"$json"

explore() { # RESULT OPTIONS… PROGRAM: status 1 is a failure that was found
    local result=$1
    shift
    (cd "$room" && "$build/raddle" explore --json --max-steps 500000 "$@" >"$result") || [ $? = 1 ]
}

judge() { # NAME REPLAYED
    python3 -IS - "$1" "$2" "$json" "$source/tests/programs/examples/$1.sed" "$room/quiet.json" "$room/free.json" "$room"/seed.*.json <<'END_OF_JUDGE'
import json, os, sys
name, replayed, out, planted, quiet, free, *seeds = sys.argv[1:]
quiet = json.load(open(quiet))
free = json.load(open(free)) if os.path.exists(free) else None
seeds = [json.load(open(s)) for s in sorted(seeds, key=lambda path: int(path.split(".")[-2]))]
bug = open(planted).readline().strip("# \n").rstrip(".")
found = [s["findings"][0] for s in seeds if s["findings"]]
first = seeds[0]["findings"][0] if seeds[0]["findings"] else None
shrunk = first.get("minimised") if first else None
after = shrunk["after"] if shrunk else {"choices": None, "preemptions": None, "steps": None}
needed = [f["run"] + 1 for f in found]
entry = {"suite": "examples", "name": name, "quiet_runs": quiet["runs"], "quiet_reports": quiet["failures"], "cut": quiet["cut"],
         "steps_a_run": quiet["steps"] // max(quiet["runs"], 1), "free_reports": sorted({f["failure"]["identity"] for f in free["findings"]}) if free else None,
         "found": len(found) == len(seeds), "seeds": len(seeds), "found_seeds": len(found), "mean": sum(needed) / max(len(needed), 1),
         "worst": max(needed, default=0), "identity": first["failure"]["identity"] if first else None, "shrunk": after["choices"],
         "preemptions": after["preemptions"], "steps": after["steps"], "certified": bool(shrunk and shrunk["certified"]),
         "replayed": replayed == "yes"}
if out:
    with open(out, "a") as lines:
        print(json.dumps(entry), file=lines)
reports = "" if free is None else ", ".join(f"`{i}` in {sum(f['failures'] for f in free['findings'] if f['failure']['identity'] == i)} of {free['runs']}" for i in entry["free_reports"]) or "nothing"
cells = [f"`{name}`", f"{entry['steps_a_run']:,}", f"{quiet['failures']} in {quiet['runs']}", reports, bug,
         f"`{entry['identity']}`" if first else "**missed**", f"{len(found)} of {len(seeds)}", f"{entry['mean']:,.1f}", f"{entry['worst']:,}"]
cells += [after["preemptions"], after["steps"], "minimal" if entry["certified"] else "no"] if shrunk else ["-"] * 3
cells += [replayed]
print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)
sys.exit(0 if entry["found"] and entry["replayed"] and not quiet["failures"] and not quiet["cut"] else 1)
END_OF_JUDGE
}

compile() { # SOURCE OUTPUT
    local zstd=''
    case $2 in */compress) zstd=-lzstd ;; esac
    ${CC:-cc} -std=gnu11 -g -I "$source/include" -I "$build/examples" "$1" "$build/libraddle.so" -Wl,-rpath,"$build" $zstd -o "$2"
}

trial() { # NAME
    local name=$1 replayed=no seed file
    rm -f "$room"/*.json
    mkdir -p "$room/clean" "$room/bug"
    sed -f "$source/tests/programs/examples/$name.sed" "$source/examples/$name.c" >"$room/bug/$name.c"
    if cmp -s "$source/examples/$name.c" "$room/bug/$name.c"; then
        echo "$name: $name.sed changes nothing" >&2
        return 1
    fi
    compile "$source/examples/$name.c" "$room/clean/$name" && compile "$room/bug/$name.c" "$room/bug/$name" || return 1
    explore "$room/quiet.json" --no-shrink --runs "$runs" --twice "./clean/$name" || return 1
    if [ -z "$tiny" ]; then
        explore "$room/free.json" --no-shrink --runs "$runs" --clock free "./clean/$name" || return 1
    fi
    for ((seed = seeds; seed > 1; seed--)); do
        explore "$room/seed.$seed.json" --stop-on-first --no-shrink --runs 20000 --seed "$seed" "./bug/$name" || return 1
    done
    rm -f "$room"/*.raddle.json
    # shellcheck disable=SC2086
    explore "$room/seed.1.json" --stop-on-first $tiny --runs 20000 --seed 1 "./bug/$name" || return 1
    for file in "$name.min.raddle.json" "$name.raddle.json"; do
        [ -f "$room/$file" ] || continue
        (cd "$room" && "$build/raddle" replay "$file" -- "./bug/$name" >replay) && replayed=yes
        break
    done
    judge "$name" "$replayed"
}

bad=0
echo '| example | steps | reports, quiet | reports, free | planted | found as | seeds | mean runs | most runs | preemptions | steps | certified | replayed |'
echo '|---|---|---|---|---|---|---|---|---|---|---|---|---|'
for name in "${names[@]}"; do
    trial "$name" || { bad=$((bad + 1)) && echo "$name: not as expected" >&2; }
done
echo
echo "${#names[@]} examples, $bad not as expected"
[ $bad = 0 ]
