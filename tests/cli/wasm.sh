#!/bin/sh
# session.wasm, the session machine for wasm32, does in Node and in Chromium what the native one does, byte for byte.
# Skipped where its tools are missing; RADDLE_WASM=required (as in ci) makes that a failure.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
build=${RADDLE_BUILD:-$(dirname "$RADDLE")}
web=$build/web

skip() { # WHAT WHY
    if [ "${RADDLE_WASM:-}" = required ]; then
        echo "$2" >why
        report 1 "$1" why
    else
        tap_count=$((tap_count + 1))
        echo "ok $tap_count - $1 # SKIP $2 (tools/setup.sh wasm installs it)"
    fi
}

"$src/tools/wasm.sh" "$build" >out 2>err
status=$?
if [ $status = 3 ]; then
    skip "session.wasm" "there is no compiler for wasm32"
    finish
fi
status 0 "session.wasm is built, of the same sources and without a warning"
silent "building it"
if ! command -v node >/dev/null; then
    skip "session.wasm runs" "there is no node"
    finish
fi

random=5 # protocols; the night tries more
[ -z "${TEST_LONG:-}" ] || random=100
set -- $random "$src"/examples/session/*.session "$src"/tests/wasm/*.session
"$build/tests/wasm_native" "$@" >all 2>err
status=$?
status 0 "the native machine runs them all, and $random random ones"
check "there are complete, exhausted, stuck, refused and faulted ones" sh -c '
    for end in complete exhausted stuck refused; do grep -q ": $end " all || exit 1; done
    grep -q "^session .* faulted: " all'
check "in those with handlers some wait, some fail, some say nonsense, most come to their end" sh -c '
    grep -q "^  .* blocked, waits for its handler, .* \[" all && grep -q ": faulted: the handler failed" all &&
    grep -q "faulted: the handler.s answer does not fit" all &&
    [ $(grep -c "handled=1: complete .* 0 [0-9]* 0 0 [0-9]*\( same\)*$" all) -gt 100 ]'

node "$src/tests/wasm/node.js" "$web" "$@" >node 2>err
status=$?
status 0 "Node: the same for all N, policies, capacities and starts"
same all node "Node: results, digests and traces are the native ones, byte for byte"
sed '$s/.$/~/' all >other
check "a single other byte would be seen" sh -c '! cmp -s other node'
node "$src/tests/wasm/facts.js" "$web" >facts 2>err
status=$?
status 0 "Node: the other facts are looked at"
while read -r holds fact; do
    report "$holds" "Node: $fact"
done <facts

# What the command says, and what somebody sees who runs a file in Node.
for file in "$src/examples/session/two_buyer.session" "$src/tests/wasm/everything.session"; do
    name=$(basename "$file")
    try session trace "$file" --normalize --n inf --policy progress --sessions 12 --seed 5
    mv out native
    node "$web/run.js" "$file" --trace --n 2 --policy round-robin --sessions 12 --seed 5 --capacity 2 --start 3 \
        >out 2>err
    status=$?
    status 0 "Node: $name runs"
    silent "Node: $name"
    same native out "Node: $name: the trace is the one of raddle session trace"
done
for how in '1 cooperative' '2 round-robin' '3 progress'; do
    set -- "$src/tests/wasm/everything.session" --n "${how% *}" --policy "${how#* }" --sessions 3 --seed 8 --capacity 2
    try session trace "$@"
    mv out native
    node "$web/run.js" "$@" --ticks >out 2>err
    same native out "Node: n ${how% *}, ${how#* }: event by event, round by round, it is the native one"
done
set -- $random "$src"/examples/session/*.session "$src"/tests/wasm/*.session
node "$web/run.js" "$src/examples/session/two_buyer.session" >out 2>err
check "Node: the seed that was drawn is told" grep -qxE 'seed [0-9]+' err
node "$web/run.js" "$src/examples/session/two_buyer.session" --seed "$(sed 's/seed //' err)" >again
same out again "Node: with it, the run is the same again"

# With handlers of one's own, as many rounds as one likes.
cat >till.js <<'END'
module.exports = {
  quote: (e) => (e.kind === "produce" ? (e.state.price ??= 30n + BigInt(e.session)) : undefined),
  accept: () => "quit",
};
END
node "$web/run.js" "$src/examples/session/two_buyer.session" --handlers till.js --seed 1 --sessions 2 >out 2>err
status=$?
status 0 "Node: handlers of a file"
silent "Node: handlers of a file"
check "Node: it is complete" grep -q '^complete ' out
node "$web/run.js" "$src/examples/session/two_buyer.session" --handlers till.js --seed 1 --fuel 9 >out 2>err
check "Node: after nine rounds, what waits for what" sh -c 'grep -q "^exhausted .*: 9 rounds" out && grep -q "waits for" out'
echo 'module.exports = { quote() { throw new Error("sold out") } };' >till.js
node "$web/run.js" "$src/examples/session/two_buyer.session" --handlers till.js --seed 1 >out 2>err
check "Node: what a handler throws is told" grep -qx "session 0, Seller: handler of quote: threw 'sold out'" err
node "$web/run.js" "$src/tests/wasm/refused.session" >out 2>err
status=$?
status 2 "Node: a protocol that is refused"
check "Node: with its place" grep -qE '^protocol:[0-9]+:[0-9]+: ' err

if [ "${RADDLE_WASM:-}" != required ] && [ -z "${TEST_LONG:-}" ] && [ -z "${CHROMIUM:-}" ]; then
    tap_count=$((tap_count + 1)) # the engine is Node's; to start it takes three seconds of CPU
    echo "ok $tap_count - session.wasm runs in a browser # SKIP that is for ci, or CHROMIUM=chromium"
    finish
fi
if ! command -v "${CHROMIUM:-chromium}" >/dev/null; then
    skip "session.wasm runs in a browser" "there is no chromium"
    finish
fi
if [ -z "${TEST_LONG:-}" ]; then # by day some of what Node was given: its engine is the same
    set -- 5 "$src/examples/session/two_buyer.session" "$src/tests/wasm/everything.session" "$src/tests/wasm/refused.session"
    "$build/tests/wasm_native" "$@" >all 2>err
    status=$?
    status 0 "the native machine runs those for Chromium"
fi
node "$src/tests/wasm/chromium.js" "$web" "$@" >chromium 2>err
status=$?
status 0 "Chromium: the same for all N, policies, capacities and starts; the page shows it"
same all chromium "Chromium: results, digests and traces are the native ones, byte for byte"
finish
