#!/bin/sh
# Every protocol in docs/session-reference.md is accepted; it has every reason, fault, instruction and policy. The guide,
# docs/session.md, is followed by guides.sh.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
page=$src/docs/session-reference.md

awk '/^```session$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > ("block" n ".session") }' "$page"
count=$(grep -c '^```session$' "$page")
check "there are protocols" [ "$count" -gt 4 ]
n=1
while [ $n -le "$count" ]; do
    try session check block$n.session
    status 0 "protocol $n is accepted"
    try session run block$n.session --n inf --capacity 2
    status 0 "protocol $n runs to its end"
    n=$((n + 1))
done

# Tables: every reason, fault, instruction and policy.
sed -n 's/^    X([A-Z]*, "\(.*\)").*/\1/p' "$src/src/session/machine/vm.h" | grep -vx -e nothing -e none >said
while read -r text; do
    has "$page" "| $text |" "the page has: $text"
done <said
sed -n '/define RAD_SESSION_OPS/,/HALT/p' "$src/src/session/lang/program.h" | grep -oE '"[a-z]+"' | tr -d '"' |
    grep -vx -e spawn -e join >said
while read -r op; do
    check "the page has the instruction $op" grep -qE "^\|.*\`([a-z]+ )*$op( |\`)" "$page"
done <said
finish
