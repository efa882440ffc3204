#!/bin/bash
# wasm.sh BUILD [--able] — makes BUILD/session.wasm of the session machine: the sources that are compiled natively, unchanged,
# for wasm32; and BUILD/web/, a page that runs it and needs no server. Does nothing when both are up to date.
#
# Needs what `tools/setup.sh wasm` installs: clang, lld, wasi-libc, compiler-rt for wasm32. Exits 3 when one is missing;
# with --able it says nothing then, and exits 0.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?usage: wasm.sh BUILD [--able]}
out=$build/session.wasm
web=$build/web
page=examples/session/web

# What src/session/meson.build lists, without the files that need an OS; all of base that it may include.
sources=(src/session/wasm/exports.c)
for name in $(grep -oE "'[a-z0-9_/]+\.c'" src/session/meson.build | tr -d "'" | grep -v '^run/'); do
    sources+=("src/session/$name")
done
for name in alloc arena bitset bytes check digest error escape fenwick heap lex map64 parse readable set128 sort symbols; do
    sources+=("src/base/$name.c") # what is not used, the linker leaves out
done

if [ -f "$web/index.html" ] && [ -z "$(find src/session src/base include examples/session tools/wasm.sh -newer "$out" \
    2>&1)" ] && [ "$out" -ot "$web/index.html" ]; then
    exit 0
fi

# clang knows wasm32 when it finds its linker, its libc and its own runtime (128-bit arithmetic).
if ! command -v clang >/dev/null || ! command -v wasm-ld >/dev/null ||
    [ ! -f /usr/lib/wasm32-wasi/crt1-reactor.o ] ||
    [ ! -f "$(clang --target=wasm32-wasi -print-libgcc-file-name 2>/dev/null)" ]; then
    [ "${2:-}" != --able ] || exit 0
    echo "wasm.sh: there is no compiler for wasm32; tools/setup.sh wasm installs one" >&2
    exit 3
fi

# xxhash.h is a header without a library, but lies among those of the native libc: it comes alone.
mkdir -p "$build/wasm"
cp "$(pkg-config --variable=includedir libxxhash)/xxhash.h" "$build/wasm/"

exports=()
for name in $(sed '/RAD_WASM_IMPORT("/,/;/d' src/session/wasm/exports.h | grep -oE '\brad_wasm_[a-z_]+\(' | tr -d '(' |
    sort -u); do
    exports+=("-Wl,--export=$name")
done
# The stack lies first, so that an overflow is a trap and not a wrong result.
clang --target=wasm32-wasi --sysroot=/usr -mexec-model=reactor -std=gnu11 -O2 -ffp-contract=off \
    -Wall -Wextra -Werror -fvisibility=hidden -Iinclude -Isrc -I"$build/wasm" \
    "${sources[@]}" -o "$out.new" \
    -Wl,--stack-first -Wl,-z,stack-size=1048576 -Wl,--gc-sections -Wl,--strip-all "${exports[@]}"
mv "$out.new" "$out"

# A page that was opened from a file may not read files: it gets the module as a script, too.
mkdir -p "$web"
cp "$out" src/session/wasm/session.js "$web/"
{
    printf 'globalThis.raddleSessionModule = "'
    base64 -w 0 "$out"
    printf '";\n'
} >"$web/session.wasm.js"
{ # the examples, as strings
    echo 'globalThis.raddleSessionExamples = {'
    for path in examples/session/*.session; do
        printf '  "%s": "' "$(basename "$path" .session)"
        sed 's/\\/\\\\/g; s/"/\\"/g; s/$/\\n/' "$path" | tr -d '\n'
        printf '",\n'
    done
    echo '};'
} >"$web/examples.js"
cp "$page"/* "$web/"
touch "$web/index.html"
