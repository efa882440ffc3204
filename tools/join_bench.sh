#!/bin/bash
# join_bench.sh BUILD_DIR — BUILD_DIR/bench.json from what was measured last: the benches of `make bench`, and the
# comparison of `make bench-peers` where there is one.
set -euo pipefail
cd "$(dirname "$0")/.."
files=()
for path in "$1"/bench-parts/*.json "$1"/peers/peers_*.json; do
    if [ -f "$path" ]; then files+=("$path"); fi
done
tools/join_json.sh "$1/bench.json" "${files[@]}"
echo "results: ${1##*/}/bench.json"
