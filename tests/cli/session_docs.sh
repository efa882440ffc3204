#!/bin/sh
# Every protocol in docs/session.md is accepted, and what the page says about the first one is true.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
page=$src/docs/session.md

awk '/^```session$/ { n++; inside = 1; next } /^```$/ { inside = 0 } inside { print > ("block" n ".session") }' "$page"
count=$(grep -c '^```session$' "$page")
check "there are protocols" [ "$count" -gt 5 ]
n=1
while [ $n -le "$count" ]; do
    try session check block$n.session
    status 0 "protocol $n is accepted"
    try session run block$n.session --n inf --capacity 2
    status 0 "protocol $n runs to its end"
    n=$((n + 1))
done

cp block1.session order.session
try session check order.session
awk '/^```$/ && inside { exit } inside { print } /^```$/ && ++n == 2 { inside = 1 }' "$page" >expected
same out expected "what check says of the first"
try session project order.session --role Shop
awk '/^Shop of Order:/ { inside = 1 } /^```$/ { inside = 0 } inside { print }' "$page" >expected
same out expected "the part of Shop"
grep -v 'Bank: cancel' block1.session >order.session
try session check order.session
status 2 "without a word to Bank it is refused"
has err "$(sed -n 's/^order.session:7:5: //p' "$page")" "for the reason given"

# Tables: every reason, fault, instruction and policy.
sed -n 's/^    X([A-Z]*, "\(.*\)").*/\1/p' "$src/src/session/vm.h" | grep -vx -e nothing -e none >said
while read -r text; do
    has "$page" "| $text |" "the page has: $text"
done <said
sed -n '/define RAD_SESSION_OPS/,/HALT/p' "$src/src/session/program.h" | grep -oE '"[a-z]+"' | tr -d '"' |
    grep -vx -e spawn -e join >said
while read -r op; do
    check "the page has the instruction $op" grep -qE "^\|.*\`([a-z]+ )*$op( |\`)" "$page"
done <said
for link in $(grep -oE '\]\([A-Za-z/._-]+\)' "$page" | sed 's/](\(.*\))/\1/'); do
    check "$link exists" [ -e "$src/docs/$link" ]
done
finish
