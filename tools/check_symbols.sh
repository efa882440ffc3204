#!/bin/bash
# check_symbols.sh BUILD_DIR — prints TAP: what the libraries show to the world is what the headers
# say, and every name that crosses a file begins with rad_.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$1
count=0
bad=0

report() { # NAME SYMBOLS: the symbols are those that should not be there
    count=$((count + 1))
    if [ -z "$2" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
        bad=1
    fi
}

# Sanitizers add names of their own, all beginning with an underscore.
defined() {
    nm "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^_/ { print $3 }' | LC_ALL=C sort -u
}

declared=$(cat "$root"/include/*.h "$root"/include/raddle/*.h 2>/dev/null |
    grep -oE '\brad_[a-z0-9_]+' | LC_ALL=C sort -u)
exported=$(defined -D --defined-only "$build/libraddle-lab.so")

echo 1..4
report "the shared library exports only rad_ names" \
    "$(printf '%s\n' "$exported" | grep -vE '^rad_[a-z0-9]' | grep .)"
report "everything it exports is declared in include/" \
    "$(LC_ALL=C comm -23 <(printf '%s\n' "$exported") <(printf '%s\n' "$declared") | grep .)"
report "names that cross files begin with rad_ or rad__" \
    "$(defined -g --defined-only "$build/libraddle-lab.a" | grep -vE '^rad_')"

# exec (and rt, when it comes) must run without the kernel and the lab: no name of theirs may be needed.
objects=$(find "$build" -name 'src_exec_*.o' -o -name 'src_rt_*.o')
foreign=$(find "$build" -name 'src_core_*.o' -o -name 'src_lab_*.o' -o -name 'src_view_*.o')
needed=
# shellcheck disable=SC2086
[ -z "$objects" ] || needed=$(nm -u $objects | awk 'NF == 2 { print $2 }' | LC_ALL=C sort -u)
# shellcheck disable=SC2086
report "exec and rt need nothing of core and lab" \
    "$(LC_ALL=C comm -12 <(printf '%s\n' "$needed") <(defined -g --defined-only $foreign) | grep .)"
exit $bad
