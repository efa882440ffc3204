#!/bin/bash
# Policies that users write: in shared objects, which are compiled against the installed headers and linked with
# nothing, and in programs. run, explore, exec run and flow use them; replay never loads one.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}

option() { # NAME: its value in this build
    python3 -c 'import json, sys
for o in json.load(open(sys.argv[1])):
    if o["name"] == sys.argv[2]: print(o["value"])' "$build/meson-info/intro-buildoptions.json" "$1"
}
check "the library installs" meson install -C "$build" --no-rebuild --destdir "$PWD/dest"
prefix=$PWD/dest$(option prefix)
libraries=$prefix/$(option libdir)
package() {
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$(pkg-config --variable pc_path pkg-config) \
        pkg-config "--define-variable=prefix=$prefix" "$@"
}
flags="$(package --cflags raddle-lab) -Wall -Wextra -Wconversion -Werror -O2"
object() { # SOURCE OBJECT
    # shellcheck disable=SC2086 # flags are words
    $cc -shared -fPIC $flags "$1" -o "$2"
}

# ---- The example ----------------------------------------------------------------------------------
cp "$src/examples/policy_lru.c" .
sed -n 's/^ \* *cc -shared/cc -shared/p' policy_lru.c >line
has "$src/docs/policy.md" "$(cat line)" "docs/policy.md has the build line of the example"
grep -vcE '^( \*|/\*|$)' policy_lru.c >lines
check "the example has 40 lines of code at most ($(cat lines))" [ "$(cat lines)" -le 40 ]
check "it compiles, with nothing to link" object policy_lru.c lru.so
nm -D --undefined-only lru.so | grep ' rad_' >needed
check "it needs no library of raddle's" [ ! -s needed ]
try run buffer --policy ./lru.so --log lru.raddle.log --artifact lru.raddle.json
status 0 "run --policy ./lru.so"
silent "run --policy ./lru.so"
has out "run buffer: policy lru, seed 1" "the policy has its name, not the path"
mkdir empty && cp lru.raddle.log lru.raddle.json empty/
cd empty || exit 1
try replay lru.raddle.log
status 0 "a log replays where there is no shared object"
try replay lru.raddle.json
status 0 "and so does an artifact"
cd ..
try explore counter --strategy ./lru.so --json
status 1 "explore --strategy ./lru.so finds the lost increment of two actors that take turns"
has out '"strategy": "lru"' "under the policy's name"
has out '"runs": 1,' "the policy says that its runs are all the same: one is made"
rm lru.so
try replay counter.raddle.json
status 0 "what it found replays without it"
try shrink counter.raddle.json
status 0 "and shrinks"
check "the example compiles again" object policy_lru.c lru.so
try exec run --seed 7 --policy ./lru.so
status 0 "exec run --policy ./lru.so"

# ---- Three policies in one object -----------------------------------------------------------------
check "three policies compile" object "$src/tests/support/policies.c" three.so
try run bank --policy ./three.so
status 2 "several policies, and no name"
has err "raddle run: './three.so': several policies; write FILE:NAME, NAME is weighted, hot, sleep" "they are named"
try run bank --policy ./three.so:cold
status 2 "a name that is not there"
has err "'./three.so': unknown policy 'cold'; it has weighted, hot, sleep" "the names are listed"
for policy in weighted weighted:9 hot sleep; do
    try explore bank --strategy ./three.so:$policy --runs 2000 --json
    status 1 "explore --strategy ./three.so:$policy"
    cp out one
    try explore bank --strategy ./three.so:$policy --runs 2000 --json -j 3
    sed 's/"elapsed": [^,]*/"elapsed": 0/' one >one.same
    sed 's/"elapsed": [^,]*/"elapsed": 0/' out >three.same
    same one.same three.same "$policy: -j changes nothing"
done
try explore bank --strategy ./three.so:sleep --runs 4000 --repaired --json
cp out slept
try explore bank --strategy random --runs 4000 --repaired --json
check "the reducing policy makes fewer steps for as many classes" python3 -c '
import json
slept, random = json.load(open("slept")), json.load(open("out"))
assert slept["classes"] == random["classes"] and slept["steps"] < random["steps"], (slept, random)'
try run bank --policy ./three.so:weighted:none
status 2 "an argument that the policy refuses"
has err "policy 'weighted', argument none: expected a weight from 1 to 1000" "with the policy's own words"

# ---- Objects that are refused, before anything in them runs ---------------------------------------
cat >evil.c <<'END'
#include <stdio.h>
__attribute__((constructor)) static void run(void) { fclose(fopen("ran", "w")); }
END
object evil.c evil.so
try run bank --policy ./evil.so
status 2 "a shared object without policies"
has err "'./evil.so': a shared object without policies: it does not export rad_policies (docs/policy.md)" "is told so"
check "and nothing of it has run" [ ! -e ran ]
try run bank --policy ./policy_lru.c
status 2 "a text"
has err "policy_lru.c: not a program or shared object (ELF)" "is no shared object"
try run bank --policy /bin/sh
status 2 "a program"
has err "'/bin/sh': a program, not a shared object (compile with -shared -fPIC)" "is no shared object"
try run bank --policy ./empty
has err "'./empty': a directory, not a shared object" "nor is a folder"
try run bank --policy ./nothing.so
status 2 "a file that is not there"
has err "./nothing.so: cannot open: No such file or directory" "is named"
try run bank --policy lru.so
status 2 "without a slash it is a name"
has err "unknown policy 'lru.so'" "which nobody has"
refused() { # CHANGE MESSAGE NAME: the example, changed
    sed "$1" policy_lru.c >changed.c
    object changed.c changed.so
    try run bank --policy ./changed.so
    status 2 "$3"
    has err "'./changed.so': $2" "$3 is told"
}
refused 's/\.abi = RAD_POLICY_ABI/.abi = 7/' \
    "a policy for version 7 of <raddle/policy.h>; this raddle has version 1" "a later version"
refused 's/"lru"/"random"/' "policy 'random': there is a policy or strategy of that name already" "a name that is taken"
refused 's/\.choose = choose/.choose = NULL/; s/^static uint32_t choose/__attribute__((unused)) &/' \
    "policy 'lru': choose is NULL" "a policy that cannot choose"
refused 's/{&LRU, NULL}/{NULL}/; s/^static const rad_policy_table LRU/const rad_policy_table LRU/' \
    "rad_policies is empty" "an empty list"

# ---- Mistakes of a policy -------------------------------------------------------------------------
mistake() { # CHANGE MESSAGE NAME
    sed "$1" policy_lru.c >changed.c
    object changed.c changed.so
    try run bank --policy ./changed.so
    status 2 "$3"
    has err "$2" "$3 has the policy's name"
    try explore bank --strategy ./changed.so
    status 2 "$3, in explore"
    has err "$2" "$3 is no finding"
}
mistake 's/return best;/return c->count + 3;/' \
    "policy 'lru' answered index 5 in a choice among 2 (decision 0, step 0): a mistake of the policy" "an index out of range"
mistake 's/return best;/return rad_policy_index_of(r, 4000);/' \
    "policy 'lru' answered no member in a choice among 2" "an action that is not enabled"
mistake 's/return best;/__builtin_trap();/' "policy 'lru' failed in choose, at step 0: SIG" "a crash"

# ---- A program with policies of its own -----------------------------------------------------------
if [ -f "$build/libraddle-lab.so" ] && ! is_sanitized "$build/libraddle-lab.so"; then
    sed 's/^const rad_policy_table \*const rad_policies.*//; s/^int main.*//' policy_lru.c >own.c
    sed '/^int main/,$d' "$src/examples/machine_program.c" >>own.c
    cat >>own.c <<'END'
int main(int argc, char **argv)
{
    static const rad_machine *const machines[] = {&SEATS, &LOCKS, NULL};
    rad_error error = {0};
    if (rad_policy_add(&LRU, &error) != 0) return 9;
    return rad_lab_main(argc, argv, machines);
}
END
    # shellcheck disable=SC2046 # lists of words
    check "a program with a policy compiles" $cc -std=gnu11 -Wall -Wextra -Werror own.c \
        $(package --cflags --libs raddle-lab) -Wl,-rpath,"$libraries" -o own
    try run ./own seats --policy lru
    status 1 "a policy that the program added"
    has out "policy lru" "by its name"
    try list ./own
    has out "lru          the actor that has not run for longest" "list shows it"
    try explore ./own seats --strategy ./three.so:hot
    status 1 "a shared object for the machines of a program"
    try run ./own seats --policy ./lru.so
    status 2 "a shared object with a policy that the program has already"
    has err "policy 'lru': there is a policy or strategy of that name already" "is refused"
else
    skip "programs with policies" "no shared library without sanitizers"
fi
if command -v c++ >/dev/null; then
    sed 's/(struct lru \*)state/static_cast<struct lru *>(state)/; s/^const rad_policy_table \*const/extern "C" const rad_policy_table *const rad_policies[]; &/' \
        policy_lru.c >lru.cc
    # shellcheck disable=SC2046
    check "the example is C++, too" c++ -std=c++20 -shared -fPIC -Wall -Wextra -Wno-missing-field-initializers -Werror $(package --cflags raddle-lab) \
        lru.cc -o lru_cc.so
    try run buffer --policy ./lru_cc.so
    status 0 "and works"
    printf '#include <raddle/policy.h>\nint main() { return RAD_POLICY_ABI - 1; }\n' >header.cc
    # shellcheck disable=SC2046
    check "the header is clean in C++11" c++ -std=c++11 -pedantic -Wall -Wextra -Werror $(package --cflags raddle-lab) \
        header.cc -o header
else
    skip "C++" "no compiler"
fi

# ---- A program with fibers under test -------------------------------------------------------------
if [ -f "$build/src/lab/programs/fibers/libraddle.so.0" ] && ! is_sanitized "$library"; then
    # shellcheck disable=SC2086 # CC may have words
    compiles "a program with fibers compiles" "$library" $cc -std=gnu11 -g "$src/tests/programs/abba.c" -o abba
    try run --policy ./lru.so ./abba
    status 1 "run --policy ./lru.so on a program under test"
    has out "FAILED: deadlock" "two fibers that take turns lock each other out"
    try explore --strategy ./three.so:weighted --runs 40 --json ./abba
    status 1 "explore --strategy ./three.so:weighted on it"
    has out '"strategy": "weighted"' "under the policy's name"
    cp out one
    rm three.so
    try replay abba.min.raddle.json -- ./abba
    status 0 "what it found replays without the policy"
    has out "as recorded" "as it was recorded"
    check "the policies compile again" object "$src/tests/support/policies.c" three.so
    try explore --strategy ./three.so:weighted --runs 40 --json -j 3 ./abba
    sed '/"elapsed"/d' one >one.plain
    sed '/"elapsed"/d' out >three.plain
    check "with three processes the same" cmp one.plain three.plain
    try explore --strategy ./lru.so --no-shrink ./abba
    has out "lru        1 run, 1 failed" "a policy whose runs are all the same has one"
    cat >stray.c <<'END'
#include <raddle/policy.h>
static uint32_t choose(void *state, rad_policy_run *r, const rad_policy_choice *c)
{
    (void)state, (void)r;
    return c->count;
}
static const rad_policy_table STRAY = {.abi = RAD_POLICY_ABI, .name = "stray", .choose = choose};
const rad_policy_table *const rad_policies[] = {&STRAY, NULL};
END
    object stray.c stray.so
    try explore --strategy ./stray.so ./abba
    status 2 "a policy that answers what was not offered"
    has err "policy 'stray' answered index" "is named"
    cat >ends.c <<'END'
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int here, computes;
static void *first(void *unused)
{
    pthread_mutex_lock(&lock);
    here = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}
static void *second(void *unused)
{
    pthread_mutex_lock(&lock);
    if (!here) raise(SIGSEGV);
    pthread_mutex_unlock(&lock);
    return unused;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, first, 0);
    pthread_create(&b, 0, second, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return computes;
}
END
    # shellcheck disable=SC2086 # CC may have words
    compiles "a program with threads compiles" "$library" $cc -std=gnu11 -g ends.c -o ends -pthread
    try explore --strategy ./three.so:weighted --runs 20 --no-shrink ./ends
    status 1 "one that dies"
    has out "crash at step" "is a finding"
    has out "of 20 runs failed" "and no end of the search"
    try replay ends.raddle.json -- ./ends
    has out "as recorded" "which replays"
else
    skip "programs under test" "this build has no library for them"
fi

# ---- Workflows ------------------------------------------------------------------------------------
cat >two.flow <<'END'
flow two "two tasks at the same time" {
    task a { run "true" }
    task b { run "true" }
    par { do a } and { do b }
}
END
try run two.flow --policy ./lru.so --log two.raddle.log
status 0 "one simulated run of a workflow"
try replay two.raddle.log
status 0 "whose log replays"
try flow run two.flow --dir case --policy ./lru.so
status 0 "flow run --policy ./lru.so"
has err "policy lru, seed 1" "under the policy's name"
has out "--policy ./lru.so" "the next command to type has the shared object"
for verb in resume replay status draw; do
    try flow $verb case
    status 2 "flow $verb without the shared object"
    has err "unknown policy 'lru'" "the journal has only the name"
    try flow $verb case --policy ./lru.so
    status 0 "flow $verb --policy ./lru.so"
done
try flow status case --policy lru
status 2 "a name instead of the shared object"
has err "--policy 'lru': use the path of a shared object, such as ./FILE.so" "is not enough"
finish
