#!/bin/bash
# scoreboard.sh BUILD_DIR — runs every bench/scoreboard_*.sh and joins what they wrote in
# BUILD_DIR/scoreboard.json.
#
# A scoreboard is called as `scoreboard_x.sh RADDLE FILE` with the path of the binary: it prints its
# table on stdout, writes one JSON object to FILE, and exits 1 when a goal it states was missed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
build=$(cd "$1" && pwd) || exit 2
parts=$build/scoreboard-parts
rm -rf "$parts"
mkdir -p "$parts"
status=0
for path in bench/scoreboard_*.sh; do
    [ -f "$path" ] || continue
    name=$(basename "$path" .sh)
    printf '== %s\n' "$name"
    bash "$path" "$build/raddle" "$parts/$name.json" || { echo "$name: status $?"; status=1; }
    echo
done
files=("$parts"/*.json)
[ -f "${files[0]}" ] || files=()
tools/join_json.sh "$build/scoreboard.json" "${files[@]}"
echo "results: ${build##*/}/scoreboard.json"
exit $status
