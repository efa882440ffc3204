#!/bin/bash
# examples/testing with CMake, its ci.sh, and Meson, whose reader of TAP takes any other line for an error, from an
# installed raddle. By day tests/cli/guide_testing.sh does it with make.
# Takes 1 minutes
src=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?usage: example_testing.sh BUILD_DIR}" && pwd)
export RADDLE=$build/raddle RADDLE_SRC=$src RADDLE_BUILD=$build
export LC_ALL=C.UTF-8 RADDLE_OPTIONS="--runs 300"
work=$(mktemp -d)
cd "$work" || exit 1
. "$src/tests/cli/tap"
. "$src/tests/cli/user"
here=$PWD
check "it installs" meson install -C "$build" --no-rebuild --destdir "$here/dest"
set -- "$here"/dest/*/*/bin "$here"/dest/*/bin
prefix=$(dirname "$(ls -d "$@" 2>/dev/null | head -1)")
libraries=$(dirname "$(find "$prefix" -name 'libraddle.so.0' -not -path '*/lab/*')")
mkdir -p bin
cat >bin/pkg-config <<END
#!/bin/sh
PKG_CONFIG_LIBDIR=$libraries/pkgconfig exec $(command -v pkg-config) --define-variable=prefix=$prefix "\$@"
END
chmod +x bin/pkg-config
installed() { # COMMAND…: as on a computer that has it
    env -u RADDLE PATH="$here/bin:$prefix/bin:$PATH" LD_LIBRARY_PATH="$libraries" "$@"
}
cp -r "$src/examples/testing" project && cd project || exit 1
for bug in true false; do
    check "meson setup, bug=$bug" installed meson setup "build-$bug" -Dbug=$bug
    check "meson compile" installed meson compile -C "build-$bug"
    installed meson test -C "build-$bug" pool >out 2>err
    status=$?
    hasnt out "unexpected input" "nothing but TAP"
    log=build-$bug/meson-logs/testlog.txt
    if [ $bug = true ]; then
        status 1 "meson test: the bug is a failure"
        has "$log" "not ok 1 - one_at_a_time" "by its name"
        has "$log" "# " "with its picture"
    else
        status 0 "meson test without the bug"
        check "four tests passed" grep -qE '^ok 4 - every_sometimes' "$log"
        check "on threads, too" installed meson test -C "build-$bug" "pool on threads"
        check "options of Meson's command line" installed meson test -C "build-$bug" pool --test-args='--seed 9'
    fi
done
rm -f test_pool && RUNS=100 installed ./ci.sh >out 2>err
status=$?
status 0 "ci.sh"
check "leaves JUnit's file" grep -q 'tests="4" failures="0"' results.xml
installed ./test_pool --threads --runs 20 >out 2>err
status=$?
status 0 "on threads"
if command -v cmake >/dev/null; then
    check "it compiles with CMake" installed sh -c "cmake -B build-cmake -DBUG=ON && cmake --build build-cmake"
    (cd build-cmake && installed ctest -R '^pool$' --output-on-failure) >out 2>err
    check "ctest: the bug is a failure" grep -qE 'pool \.+\*+Failed' out
    has out "FAIL  one_at_a_time: always at step" "by its name"
else
    skip "CMake" "not installed"
fi
cd / && rm -rf "$work"
finish
