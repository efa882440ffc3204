#!/bin/sh
# examples/test_fibers.c does what docs/fibers.md, "Testing", says: a check that fails in a fiber fails its test, with a name, a
# file and a line, and the tests after it run.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
export CMOCKA_MESSAGE_OUTPUT=STDOUT

has "$src/docs/fibers.md" 'cc test_fibers.c $(pkg-config --cflags --libs raddle cmocka) -o test_fibers' "the build line is in the docs"
has "$src/examples/test_fibers.c" 'cc test_fibers.c $(pkg-config --cflags --libs raddle cmocka) -o test_fibers' "and in the example"
# Every line of code in the section is in the example.
sed -n '/^## Testing$/,/^## /p' "$src/docs/fibers.md" | sed -n 's/^    //p' | grep -v '^cc ' | grep . >shown
check "the section shows code" [ "$(wc -l <shown)" -gt 10 ]
while read -r text; do
    grep -qF -e "$text" "$src/examples/test_fibers.c" || printf '%s\n' "$text"
done <shown >missing
check "which is the example's" [ ! -s missing ]
if is_sanitized "$build/libraddle.a"; then
    skip "the example" "the library has sanitizers in it"
    finish
fi
cp "$src/examples/test_fibers.c" .
# shellcheck disable=SC2046 # words
check "it compiles" ${CC:-cc} -std=gnu11 -O2 -Wall -Wextra -Werror -I"$src/include" test_fibers.c "$build/libraddle.a" \
    $(pkg-config --cflags --libs cmocka) -pthread -o test_fibers
./test_fibers >out 2>err
status=$?
status 0 "its tests pass"
./test_fibers --broken >out 2>&1
status=$?
status 1 "one more does not: one test failed, and the program says so"
line=$(grep -n 'CHECK(sum_of(n->chan) == 55)' test_fibers.c | cut -d: -f1)
has out "[  FAILED  ] eleven_numbers_are_not_ten" "it has a name"
has out "test_fibers.c:$line: sum_of(n->chan) == 55" "a file and a line"
has out "[       OK ] ten_numbers_are_summed" "the test after it runs"

# What the section says of cmocka itself.
sed 's/CHECK(sum_of(n->chan) == 55);/assert_int_equal(sum_of(n->chan), 55);/' test_fibers.c >asserts.c
# shellcheck disable=SC2046
${CC:-cc} -std=gnu11 -I"$src/include" asserts.c "$build/libraddle.a" $(pkg-config --cflags --libs cmocka) -pthread -o asserts
(ulimit -c 0; CMOCKA_TEST_ABORT=1 ./asserts --broken) >out 2>&1
has out "0x42 != 0x37" "with CMOCKA_TEST_ABORT=1 an assertion in a fiber says what differs"
has out "asserts.c:$line" "and where"
finish
