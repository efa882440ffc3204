#!/bin/bash
# join_json.sh OUTPUT FILE.json... — one JSON object with a member per file, named after it.
set -euo pipefail
output=$1
shift
{
    printf '{'
    separator=
    for file in "$@"; do
        printf '%s\n"%s": ' "$separator" "$(basename "$file" .json)"
        cat "$file"
        separator=,
    done
    printf '\n}\n'
} >"$output.part"
mv "$output.part" "$output"
