#!/bin/bash
# What `meson install` puts on a machine: pkg-config files that work, the licences of what is compiled in, and the
# hardening flags of a Debian package in every library and in the command.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

option() { # NAME: its value in this build
    python3 -c 'import json, sys
for o in json.load(open(sys.argv[1])):
    if o["name"] == sys.argv[2]: print(o["value"])' "$build/meson-info/intro-buildoptions.json" "$1"
}

check "it installs" meson install -C "$build" --no-rebuild --destdir "$PWD/dest"
prefix=$PWD/dest$(option prefix)
libraries=$prefix/$(option libdir)
if [ ! -f "$libraries/libraddle.a" ]; then
    report 1 "libraddle.a is in $libraries" check.out
    finish
fi

# ---- Licences ------------------------------------------------------------------------------------
same "$src/LICENSE" "$prefix/share/doc/raddle/LICENSE" "the licence is installed"
same "$src/NOTICE" "$prefix/share/doc/raddle/NOTICE" "so is the notice of what is compiled in"
notice=$prefix/share/doc/raddle/NOTICE
has "$notice" "Yann Collet" "it names the authors of xxHash"
has "$notice" "Fedor Indutny" "it names the author of llhttp"
ar t "$libraries/libraddle.a" >members
nm "$libraries/libraddle.a" 2>/dev/null | grep -iE 'xxh|llhttp' >others
check "libraddle has neither of them, as it says" [ ! -s others ]

# ---- pkg-config ----------------------------------------------------------------------------------
package() { # ARGS: pkg-config, with the folder that things were installed to
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig:$(pkg-config --variable pc_path pkg-config) \
        pkg-config "--define-variable=prefix=$prefix" "$@"
}
package --print-provides raddle >out 2>err || : >out
has out "raddle = " "raddle.pc is found"
grep '^Description:' "$libraries/pkgconfig/raddle.pc" >description
has description "Fibers" "it says what the library is"
cat >hello.c <<'END'
#include <raddle.h>
#include <stdio.h>
static int start(void *unused)
{
    (void)unused;
    rad_yield();
    return puts("hello") < 0;
}
int main(void)
{
    return rad_main(NULL, start, NULL, NULL);
}
END
if [ "$(option b_sanitize)" != none ]; then
    skip "a program uses what is installed" "a library with a sanitizer in it"
    finish
fi
# shellcheck disable=SC2046 # lists of words
check "a program compiles against what is installed" \
    ${CC:-cc} -O2 -Wall -Wextra -Werror hello.c $(package --cflags --libs raddle) -Wl,-rpath,"$libraries" -o hello
check "it runs with the shared library" ./hello
# shellcheck disable=SC2046
check "and links with the static one" ${CC:-cc} -O2 hello.c $(package --cflags raddle) "$libraries/libraddle.a" \
    $(package --static --libs-only-other raddle) -o hello_static
check "with which it runs, too" ./hello_static

# ---- A program under test ------------------------------------------------------------------------
installed() { # FOLDER ARGS…: the installed command in that folder, with no more than a path in its environment
    (cd "$1" && env -i PATH="$PATH" "$prefix/bin/raddle" "${@:2}" >out 2>err </dev/null)
}
if [ -f "$libraries/raddle/lab/libraddle.so.0" ]; then
    mkdir -p found elsewhere
    # shellcheck disable=SC2046
    check "a program with a bug compiles" ${CC:-cc} -g "$src/tests/programs/lost_wakeup.c" \
        $(package --cflags --libs raddle) -Wl,-rpath,"$libraries" -o lost_wakeup
    installed found explore --stop-on-first --runs 2000 ../lost_wakeup
    check "the installed raddle finds it" [ $? = 1 -a -f found/lost_wakeup.min.raddle.json ]
    mv found/lost_wakeup.min.raddle.json elsewhere/it.json
    installed elsewhere replay it.json -- ../lost_wakeup
    check "and replays it in a folder with nothing but the file" [ $? = 0 ]
    has elsewhere/out "as recorded" "as recorded"
else
    skip "a program under test" "this build has no library for them"
fi

# ---- Shadow stacks -------------------------------------------------------------------------------
# The context switch does not switch them. An object that is marked SHSTK says that it would.
objects() { # LIBRARY FOLDER
    mkdir -p "$2" && (cd "$2" && ar x "$1")
}
objects "$libraries/libraddle.a" raddle.objects
objects "$libraries/libraddle-lab.a" lab.objects
readelf -nW raddle.objects/*.o lab.objects/*.o "$libraries"/*.so "$prefix/bin/raddle" >notes 2>/dev/null
check "no object, library or command asks for shadow stacks" bash -c '! grep SHSTK notes'
if [ "$(uname -m)" = x86_64 ]; then
    check "every object of libraddle is marked for indirect branch tracking" \
        [ "$(readelf -nW raddle.objects/*.o | grep -c 'x86 feature:.*IBT')" = "$(ls raddle.objects | wc -l)" ]
    # A switch jumps to where another left: behind the jump, and to where a context begins. Both have to be landing pads.
    objdump -d --no-show-raw-insn raddle.objects/*.o >code
    awk '/jmp +\*0x8\(%rsi\)/ { jumps++; if ((getline) <= 0 || !/endbr64/) bad++ }
        /<rad__context_begin>:$/ { if ((getline) <= 0 || !/endbr64/) bad++; begins++ }
        END { printf "%d switches, %d beginnings, %d without a landing pad\n", jumps, begins, bad; exit !jumps || !begins || bad }' \
        code >out
    report $? "and every place that a switch jumps to is a landing pad" out
else
    skip "landing pads" "only x86-64 has them here"
fi

# ---- Hardening -----------------------------------------------------------------------------------
case $(option hardening)$(option optimization) in
True[123gs]) ;;
*)
    skip "hardening" "hardening=$(option hardening), optimization=$(option optimization)"
    finish
    ;;
esac
for file in "$libraries"/libraddle.so "$libraries"/libraddle-lab.so "$libraries"/libraddle-load.so "$prefix/bin/raddle"; do
    name=$(basename "$file")
    readelf -dlW "$file" >dynamic
    has dynamic BIND_NOW "$name binds at the start"
    has dynamic GNU_RELRO "$name: what was bound is read-only"
    nm -D "$file" >names
    has names __stack_chk_fail "$name has stack canaries"
    has names _chk@ "$name calls checked functions of the C library"
done
readelf -hW "$prefix/bin/raddle" >header
has header "DYN (" "the command is position-independent"

grep -m 1 '"command": .*libraddle\.so.*-c [^ ]*src/exec/worker\.c"' "$build/compile_commands.json" >command
has command -fstack-clash-protection "the library is compiled with probes of large frames"
has command -fstack-protector-strong "and with stack canaries"
has command "-D_FORTIFY_SOURCE=2" "and with checked functions"

# What the explorer runs step by step has none of that: its calls are the protocol's own.
if [ -f "$build/src/lab/l2/l2.o" ]; then
    nm -u "$build/src/lab/l2/l2.o" >names
    hasnt names _chk "objects of L2 call no checked functions and have no canaries"
fi
finish
