#!/bin/bash
# docs/guide-testing.md, followed word by word with an installed raddle: each command is run, in order, and what the guide
# shows of its output is there. Then examples/testing, with make; with
# Meson, CMake and ci.sh at night (tests/nightly/example_testing.sh).
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
LC_ALL=C.UTF-8
export LC_ALL
unset RADDLE_OPTIONS
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "the guide" "this build has no library for it"
    finish
fi
option() { # NAME: its value in this build
    python3 -c 'import json, sys
for o in json.load(open(sys.argv[1])):
    if o["name"] == sys.argv[2]: print(o["value"])' "$build/meson-info/intro-buildoptions.json" "$1"
}

# ---- An installed raddle, and nothing of the source tree -------------------------------------------
here=$PWD
check "it installs" meson install -C "$build" --no-rebuild --destdir "$here/dest"
prefix=$here/dest$(option prefix)
libraries=$prefix/$(option libdir)
mkdir -p bin
cat >bin/pkg-config <<END
#!/bin/sh
PKG_CONFIG_LIBDIR=$libraries/pkgconfig exec $(command -v pkg-config) --define-variable=prefix=$prefix "\$@"
END
chmod +x bin/pkg-config
installed() { # COMMAND…: as on a computer that has it
    env -u RADDLE PATH="$here/bin:$prefix/bin:$PATH" LD_LIBRARY_PATH="$libraries" "$@"
}
mkdir -p guide && cd guide || exit 1

# ---- Its blocks, in their order ----------------------------------------------------------------------
python3 - "$src/docs/guide-testing.md" <<'END'
import re, sys
text = open(sys.argv[1]).read()
number, names = 0, iter(["pool.h", "pool.c", "test_pool.c", "more"])
script = open("script", "w")
for kind, body in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
    number += 1
    if kind == "c":
        name = next(names)
        open("block.%d" % number, "w").write(body)
        script.write("file %s block.%d\n" % (name, number))
    elif kind == "sh":
        for line in body.splitlines():
            how = {"fails": "fails", "passes or fails": "tries"}.get(line.partition("  # ")[2], "runs")
            script.write("%s %s\n" % (how, line.partition("  # ")[0].strip()))
    else:
        open("block.%d" % number, "w").write(body)
        script.write("shows block.%d\n" % number)
END
commands=0
while read -r what words; do
    case $what in
    file)
        # shellcheck disable=SC2086 # a name and a file
        set -- $words
        if [ "$1" = more ]; then
            sed -i '/^RAD_TEST_MAIN$/d' test_pool.c
            { cat "$2" && echo && echo RAD_TEST_MAIN; } >>test_pool.c
        else
            cp "$2" "$1"
        fi
        ;;
    runs | fails | tries)
        commands=$((commands + 1))
        installed sh -c "$words" >out 2>err </dev/null
        status=$?
        case $what in
        tries) check "\$ $words (status $status)" [ $status -le 1 ] ;; # on threads: luck
        fails) status 1 "\$ $words" ;;
        *) status 0 "\$ $words" ;;
        esac
        ;;
    shows)
        while IFS= read -r text; do
            has out "$(sed 's/^ *//' <<<"$text")" "and shows: $text"
        done <"$words"
        ;;
    esac
done <script
check "the guide has commands" [ "$commands" -ge 18 ]
check "the results were written" [ -s results.xml ]

# ---- Where the loader does not look ---------------------------------------------------------------------
guide=$src/docs/guide-testing.md
if ldconfig -p 2>/dev/null | grep -q 'libraddle\.so\.0'; then
    skip "a library that the loader does not find" "raddle is installed here"
else
    ./test_pool --list >out 2>err
    has err "error while loading shared libraries: libraddle.so.0" "without ldconfig or LD_LIBRARY_PATH"
    has "$guide" "error while loading shared libraries: libraddle.so.0" "the guide quotes what the loader says"
fi
cp "$src/examples/tickets.c" .
check "raddle cc of an installed raddle" installed env -u LD_LIBRARY_PATH raddle cc -g tickets.c -lraddle -o tickets
env -u RADDLE -u LD_LIBRARY_PATH ./tickets --runs 50 >out 2>err
status=$?
status 1 "finds its headers and its library, and the program finds raddle"
check "compiles with -rpath" installed sh -c "cc -g pool.c test_pool.c \$(pkg-config --cflags --libs raddle) -Wl,-rpath,$libraries -o rpath_pool"
check "and needs nothing else" ./rpath_pool --list

# ---- The finished project -----------------------------------------------------------------------------
cd .. && cp -r "$src/examples/testing" project && cd project || exit 1
RADDLE_OPTIONS="--runs 150"
export RADDLE_OPTIONS
installed make test >out 2>err
status=$?
status 0 "examples/testing: make test"
has out "4 passed, 0 failed, seed 1" "three tests, and what all of them reach"
rm -f test_pool && installed make CPPFLAGS=-DPOOL_BUG test >out 2>err
status=$?
status 2 "with the bug"
has out "FAIL  one_at_a_time: always at step" "it is found"
check "and left as a file" [ -s test_pool-one_at_a_time.min.raddle.json ]
finish
