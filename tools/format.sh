#!/bin/bash
# format.sh [--check] — lays out the C files of the tree with clang-format, or only tells which are not.
set -euo pipefail
cd "$(dirname "$0")/.."
folders=(src include tests bench tools examples)

list() { # tracked and new files; the fixtures of tidy are wrong on purpose
    if git rev-parse --git-dir >/dev/null 2>&1; then
        git ls-files -z --cached --others --exclude-standard -- "${folders[@]}"
    else
        find "${folders[@]}" -type f -print0 2>/dev/null || true
    fi | grep -zE '\.[ch]$' | grep -zv '^tests/tidy/' |
        while IFS= read -r -d '' path; do
            if [ -f "$path" ]; then printf '%s\0' "$path"; fi
        done || true
}

if [ "${1:-}" = --check ]; then
    if ! list | xargs -0 -r clang-format --dry-run -Werror 2>&1; then
        echo "format.sh: run 'make format'"
        exit 1
    fi
else
    list | xargs -0 -r clang-format -i
fi
