#!/bin/bash
# Machines in programs and shared objects of the user's: rad_lab_main, `raddle explore ./program`, `raddle replay FILE --
# ./program`. With the installed library, through pkg-config.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
cc=${CC:-cc}

if [ ! -f "$build/libraddle-lab.so" ] || is_sanitized "$build/libraddle-lab.so"; then
    skip "programs with machines" "no shared library without sanitizers"
    finish
fi
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
lab="$(package --cflags --libs raddle-lab) -Wl,-rpath,$libraries"
strict="-Wall -Wextra -Werror"

# ---- A program with two machines ------------------------------------------------------------------
cp "$src/examples/machine_program.c" .
sed -n 's/^ \* *cc machine_program.c/cc machine_program.c/p' machine_program.c >line
has "$src/docs/write-a-machine.md" "$(cat line)" "docs/write-a-machine.md has the build line of the example"
# shellcheck disable=SC2086 # flags are words
check "the example compiles" $cc -std=gnu11 -O2 $strict machine_program.c $lab -o machine_program

try list ./machine_program
status 0 "list ./machine_program"
has out "raddle explore ./machine_program seats --fixed" "it lists the machines of the program"
hasnt out "philosophers" "and no others"
has out "more ship with raddle: raddle list ./machine_program --all" "but says where they are"
try explore ./machine_program
status 2 "explore without a machine"
has err "missing MACHINE; usage: raddle explore ./machine_program MACHINE" "two machines: which one?"
try explore ./machine_program seats clerks=4 seats=2 -j 2
status 1 "explore ./machine_program seats"
silent "explore ./machine_program"
has out "FAILED: assertion at step" "the bug is found"
has out "raddle replay seats.min.raddle.json -- ./machine_program" "the command to type names the program"
mkdir one && try explore --output one ./machine_program seats clerks=4 seats=2
same seats.min.raddle.json one/seats.min.raddle.json "-j does not change what is found"
try explore ./machine_program locks
status 1 "a machine of the name of one of raddle's"
has out "deadlock:lock" "is the program's"
for machine in seats locks; do
    try explore ./machine_program $machine --repaired --json
    status 0 "explore ./machine_program $machine --repaired"
done
try explore machine_program
status 2 "a program without a slash"
has err "to run the program, type ./machine_program" "the message says how to write it"
try explore ./machine_program seats clerks=99
status 2 "a bad parameter"
has err "raddle explore: clerks=99: out of range" "is named"

# ---- A program without machines, by the installed command ----------------------------------------------
if [ -f "$libraries/raddle/lab/libraddle.so.0" ]; then
    # shellcheck disable=SC2046,SC2086 # flags are words
    check "a program with fibers compiles" $cc -std=gnu11 "$src/tests/programs/abba.c" \
        $(package --cflags --libs raddle) -Wl,-rpath,"$libraries" -o fibers
    mkdir -p elsewhere
    cp fibers elsewhere/
    (cd elsewhere && "$prefix/$(option bindir)/raddle" explore --stop-on-first ./fibers >../out 2>../err)
    status=$?
    status 1 "the installed command explores it"
    has out "deadlock:mutex+nursery: first in run" "with the installed library for it"
    check "which no loader finds by itself" [ "$(basename "$(dirname "$(readlink -f "$libraries/raddle/lab/libraddle.so.0")")")" = lab ]
else
    skip "a program with fibers, installed" "this build has no library for it"
fi

# ---- Files: the program is typed, never taken from the file ---------------------------------------
has seats.min.raddle.json '"path": "./machine_program"' "an artifact has the path as it was typed"
id=$(readelf -n machine_program | sed -n 's/.*Build ID: //p')
has seats.min.raddle.json "\"build_id\": \"$id\"" "and the build id"
try run ./machine_program seats --log seats.raddle.log
has out "raddle replay seats.raddle.log -- ./machine_program" "a log names the program, too"
for words in "replay seats.min.raddle.json" "replay seats.raddle.log" "shrink seats.raddle.json" \
    "show seats.min.raddle.json" "explore seats.raddle.json" "run seats.raddle.json" "corpus one"; do
    # shellcheck disable=SC2086
    try $words
    status 2 "$words without the program"
    has err "Type: raddle $words -- ./machine_program" "$words: the command to type"
    # shellcheck disable=SC2086
    try $words -- ./machine_program
    check "$words with the program (status $status)" [ $status -le 1 ]
    silent "$words"
done
try replay seats.min.raddle.json --json -- ./machine_program
has out '"answer": "as recorded"' "options of the verb come before the program"
try replay seats.min.raddle.json --repaired -- ./machine_program
has out gone "the repaired twin of a machine in a program"
try show locks.min.raddle.json
status 2 "a machine of a program is not raddle's own of the same name"
try replay seats.min.raddle.json -- machine_program
status 2 "a program without a slash"
has err "such as ./machine_program" "has to be written with one"
try replay seats.min.raddle.json -- ./machine_program more
status 2 "arguments after the program"

printf '#!/bin/sh\ntouch ran\n' >evil && chmod +x evil
sed 's|"\./machine_program"|"./evil"|' seats.min.raddle.json >evil.raddle.json
for words in "replay --edited evil.raddle.json" "replay evil.raddle.json" "show evil.raddle.json" "corpus ." \
    "explore evil.raddle.json"; do
    # shellcheck disable=SC2086
    try $words
done
check "a program named in a file is not run" [ ! -e ran ]
try replay evil.raddle.json
has err "Type: raddle replay evil.raddle.json -- ./evil" "it is only named"
sed 's|"\./evil"|"./a\\u001b[2J\\nraddle: \$(touch ran)"|' evil.raddle.json >odd.raddle.json
try replay odd.raddle.json
has err "-- './a [2J raddle: \$(touch ran)'" "what a file says is one word, without control characters"
rm -f evil.raddle.json odd.raddle.json

# ---- Another build --------------------------------------------------------------------------------
# shellcheck disable=SC2086
$cc -std=gnu11 -O0 machine_program.c $lab -o other
try replay seats.min.raddle.json -- ./other
status 0 "another build that does the same"
has err "was recorded with another build of the program (./machine_program, build id $id" "the build id is checked"
try replay seats.min.raddle.json --json -- ./other
has out '"other_build": true' "also for scripts"
try replay seats.min.raddle.json --json -- ./machine_program
has out '"other_build": false' "which see when it is the same"
sed 's/s->left--/s->left -= 2/' machine_program.c >changed.c
# shellcheck disable=SC2086
$cc -std=gnu11 changed.c $lab -o other
try show seats.min.raddle.json -- ./other
status 1 "show draws no other run than the recorded one"
check "without saying so first" grep -q "^not the recorded run: expected assertion.* found " <(sed -n 3p out)
try show seats.min.raddle.json -- ./machine_program
status 0 "show of the recorded run"
hasnt out "not the recorded run" "says nothing of the kind"
try corpus one -- ./other
has out "(recorded with another build of the program)" "corpus says so where a run differs"
sed 's/s->left >= 0/true/' machine_program.c >changed.c
# shellcheck disable=SC2086
$cc -std=gnu11 changed.c $lab -o mended
cp -r one kept
try corpus kept --accept -- ./mended
status 0 "corpus --accept with a program without the bug"
try corpus kept -- ./mended
status 0 "from then on it passes as recorded"
try replay kept/seats.min.raddle.json -- ./mended
silent "and the build is the one that passed"
# shellcheck disable=SC2086
$cc -std=gnu11 machine_program.c $lab -Wl,--build-id=none -o noted
try explore ./noted locks
has locks.raddle.json '"build_id": "file:' "without a build id, a digest of the file"
try replay locks.raddle.json -- ./noted
silent "the same file"
try replay locks.raddle.json -- ./machine_program
has err "another build" "another file"

# ---- The program on its own -----------------------------------------------------------------------
mkdir own && cd own || exit 1
own() {
    ../machine_program "$@" >out 2>err </dev/null
    status=$?
}
own explore seats
status 1 "./machine_program explore"
has out "../machine_program replay seats.min.raddle.json" "names itself in the command to type"
own replay seats.min.raddle.json
status 0 "./machine_program replay"
own shrink seats.raddle.json --json
status 0 "./machine_program shrink"
own show seats.min.raddle.json
status 0 "./machine_program show"
own corpus .
status 0 "./machine_program corpus"
own explore nosuch
status 2 "an unknown machine"
has err "'../machine_program list' shows machines" "the next step is the program's own"
own explode
has err "../machine_program: unknown command 'explode'; did you mean 'explore'?" "an unknown verb"
own --version
has out "machine_program with raddle " "--version"
own help explore
status 0 "help explore"
has out "../machine_program explore buffer" "examples of --help are its own"
hasnt out "raddle explore" "all of them"
own explore buffer --no-shrink --runs 50
check "and they work (status $status)" [ $status -le 1 ]
cd .. || exit 1

# ---- A shared object, and one machine --------------------------------------------------------------
sed '/^int main(/,$d' "$src/examples/machine_hello.c" >lamp.c
echo 'const rad_machine *const rad_lab_machines[] = {&LAMP, NULL};' >>lamp.c
# shellcheck disable=SC2086
check "a shared object compiles" $cc -std=gnu11 -O2 $strict -fvisibility=hidden -fPIC -shared lamp.c $lab -o lamp.so
try explore ./lamp.so --runs 200
status 1 "explore ./lamp.so: the only machine needs no name"
has out "raddle replay lamp.min.raddle.json -- ./lamp.so" "and its file names it"
try replay lamp.min.raddle.json -- ./lamp.so
status 0 "replay -- ./lamp.so"
silent "replay -- ./lamp.so"
# shellcheck disable=SC2086
$cc -std=gnu11 -fPIC -shared lamp.c $(package --cflags raddle-lab) -o loose.so
try explore ./loose.so
status 2 "a shared object that is not linked with the library"
echo 'int x;' | $cc -xc -fPIC -shared - -o none.so
try explore ./none.so
status 2 "a shared object without machines"
has err "does not export rad_lab_machines" "says what it lacks"

# ---- C++ --------------------------------------------------------------------------------------------
cat >toggle.cc <<'END'
#include <raddle/lab.h>
#include <vector>
struct Toggle { /* its constructor runs before main */
    std::vector<uint32_t> go;
    uint32_t cell = 0, value = 0, ended = 0, n = 2;
    std::vector<int64_t> seen;
};
static rad_param params[2];
static rad_machine machine()
{
    rad_machine m{};
    params[0] = {"n", 2, 2, 4, "threads", false};
    m.name = "toggle";
    m.about = "threads add one, in two steps";
    m.params = params;
    m.bug = "an addition is lost";
    m.create = [](void **self, const rad_machine *, const rad_case *c, rad_error *) {
        auto *t = new Toggle;
        t->n = (uint32_t)c->params[0];
        *self = t;
        return 0;
    };
    m.destroy = [](void *self) { delete static_cast<Toggle *>(self); };
    m.reset = [](void *self, rad_kernel *k) {
        auto *t = static_cast<Toggle *>(self);
        t->go.clear();
        t->seen.assign(t->n, -1);
        t->value = t->ended = 0;
        t->cell = rad_object(k, RAD_NONE, "cell");
        for (uint32_t i = 0; i < t->n; i++) {
            t->go.push_back(rad_action(k, 0, rad_actor(k, RAD_NONE, "thread"), RAD_NONE, 0));
            rad_announce(k, t->go[i], 0, t->cell, RAD_READ);
            rad_enable(k, t->go[i]);
        }
    };
    m.step = [](void *self, rad_kernel *k, uint32_t action) {
        auto *t = static_cast<Toggle *>(self);
        uint32_t i = 0;
        while (t->go[i] != action) i++;
        if (t->seen[i] < 0) {
            t->seen[i] = t->value;
            rad_announce(k, action, 1, t->cell, RAD_WRITE);
            return;
        }
        t->value = (uint32_t)t->seen[i] + 1;
        rad_disable(k, action);
        rad_ended(k, rad_current_actor(k));
        t->ended++;
        RAD_CHECK(k, RAD_ORACLE_ASSERT, t->ended < t->n || t->value == t->n, t->cell, "an addition is lost");
    };
    m.idle = [](void *, rad_kernel *) { return RAD_END_FINISHED; };
    return m;
}
static const rad_machine TOGGLE = machine();
int main(int argc, char **argv)
{
    const rad_machine *const machines[] = {&TOGGLE, nullptr};
    return rad_lab_main(argc, argv, machines);
}
END
if command -v "${CXX:-c++}" >/dev/null; then
    # shellcheck disable=SC2086
    check "a C++ program compiles" "${CXX:-c++}" -std=c++17 -O1 $strict toggle.cc $lab -o toggle
    try explore ./toggle n=3 --runs 500
    status 1 "explore ./toggle n=3: parameters of the only machine"
    has out "an addition is lost" "its bug is found"
    try replay toggle.min.raddle.json -- ./toggle
    status 0 "replay -- ./toggle"
else
    skip "a C++ program" "there is no C++ compiler"
fi

# ---- Machines that lack something --------------------------------------------------------------------
sed 's/\.name = "lamp",//; s/\.about = "two people, one light switch",//' lamp.c >bare.c
echo 'int main(int argc, char **argv) { (void)argc; const rad_machine *const m[] = {&LAMP, &LAMP, NULL}; return rad_lab_main(2, argv, m); }' >>bare.c
# shellcheck disable=SC2086
$cc -std=gnu11 bare.c $lab -o bare
./bare list >out 2>err
status=$?
status 2 "a machine without a name"
has err './bare: machine "": a name is a-z' "is refused, with the reason"
sed 's/\.about = "two people, one light switch",//; s/rad_lab_machines\[\]/unused[]/' lamp.c >silent.c
echo 'int main(int argc, char **argv) { (void)unused; const rad_machine *const m[] = {&LAMP, &LAMP, NULL}; return rad_lab_main(argc, argv, m); }' >>silent.c
# shellcheck disable=SC2086
$cc -std=gnu11 silent.c $lab -o silent_program
try list ./silent_program
status 0 "a machine without a description, given twice"
hasnt out "(null)" "is listed all the same"
try explore ./silent_program --runs 50
status 1 "and explored"

# ---- Linked in other ways ---------------------------------------------------------------------------
cp machine_program stripped && strip stripped
try explore ./stripped seats --runs 100
status 1 "a stripped program"
# shellcheck disable=SC2046 # words
$cc -std=gnu11 machine_program.c $(package --cflags raddle-lab) "$libraries/libraddle-lab.a" \
    $(package --static --libs-only-l jansson libzstd) -lm -pthread -o archive >out 2>err
status=$?
status 0 "with the static library"
try explore ./archive seats --runs 100
status 1 "which is found by its symbols"
strip archive
try explore ./archive seats --runs 100
status 2 "but not when it is stripped"

# ---- What is refused, before anything of it runs ----------------------------------------------------
cat >runs.c <<'END'
#include <stdio.h>
__attribute__((constructor)) static void mark(void) { fclose(fopen("ran", "w")); }
int main(void) { return 0; }
END
$cc runs.c -o runs && $cc -fPIC -shared runs.c -o runs.so
refused() { # PATH TEXT: explore, replay
    try explore "$1"
    status 2 "explore $1"
    has err "$2" "explore $1: the message"
    check "explore $1: nothing on stdout" [ ! -s out ]
    try replay lamp.min.raddle.json -- "$1"
    status 2 "replay -- $1"
    check "nothing of $1 ran" [ ! -e ran ]
}
head -c 40 machine_program >./cut
head -c 3000 machine_program >./half
{ printf '\177ELF\1\1\1'; head -c 100 /dev/zero; } >./bits32
{ printf '\177ELF\2\2\1'; head -c 100 /dev/zero; } >./big
{ head -c 60 machine_program; printf '\377\377\377\377'; tail -c +65 machine_program; } >./sections
: >./empty
mkfifo fifo
$cc -c runs.c -o object.o
mkdir -p folder
for file in cut half bits32 big sections empty; do chmod +x $file; done
refused ./runs "uses no threads, no fibers of Raddle"
refused ./runs.so "a shared object without machines"
refused ./evil "a script, not a program"
refused ./cut "the ELF header is cut off"
refused ./half "damaged"
refused ./bits32 "not for 64 bits"
refused ./big "not little-endian"
refused ./sections "damaged"
refused ./empty "not a program or shared object"
refused ./fifo "not a regular file"
refused ./object.o "an object file: link it first"
refused ./folder "a directory, not a program"
refused ./nothing "No such file or directory"
refused ./machine_program.c "not a program or shared object"
cp machine_program locked && chmod 644 locked
refused ./locked "a program that cannot be executed; type: chmod +x ./locked"
if [ "$(id -u)" != 0 ]; then
    chmod 0 locked
    refused ./locked "Permission denied"
fi
finish
