#!/bin/bash
# build.sh BUILD_DIR [TARGET...] — configures when needed, then builds (everything, or the targets).
#
# Configures anew when the directory is new, when MESON_ARGS differ from last time, and when a file
# that is found by name (tools/discover.sh) came or went. The compiler is CC, gcc when it is not set.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift

silently() { # runs a command; shows what it said only when it failed
    local said
    if ! said=$("$@" 2>&1); then
        printf '%s\n' "$said" >&2
        exit 1
    fi
}

if [ -z "${CC:-}" ]; then
    command -v gcc >/dev/null && CC=gcc || CC=cc
fi
export CC
args="CC=$CC ${MESON_ARGS:-}"
list=$(tools/discover.sh)
if [ ! -f "$dir/build.ninja" ] || [ "$(cat "$dir/configured_with" 2>/dev/null)" != "$args" ]; then
    rm -rf "$dir/meson-private" "$dir/build.ninja"
    # shellcheck disable=SC2086 # MESON_ARGS is a list of words
    silently meson setup "$dir" ${MESON_ARGS:-}
elif [ "$(cat "$dir/discovered" 2>/dev/null)" != "$list" ]; then
    touch "$dir/meson-private/coredata.dat" # ninja will configure anew
fi
silently ninja -C "$dir" build.ninja
printf '%s\n' "$args" >"$dir/configured_with"
printf '%s\n' "$list" >"$dir/discovered"

if [ "${1:-}" = raddle ] && ! grep -q '^build raddle:' "$dir/build.ninja"; then
    echo "build.sh: src/cli/meson.build is missing, so there is no raddle to build" >&2
    exit 1
fi
if [ -t 1 ]; then
    exec ninja -C "$dir" "$@"
fi
silently ninja -C "$dir" --quiet "$@"
