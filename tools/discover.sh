#!/bin/sh
# discover.sh — lists, one path per line, what the build finds by name instead of by an edited list:
# unit tests, judges, fuzz targets, kernels, benches, public headers, the models of L2, and the meson.build files of layers.
cd "$(dirname "$0")/.." || exit 1
for path in tests/unit/*/*.c tests/judge/*.c tests/fuzz/fuzz_*.c tests/hunt/hunt_*.c tests/kernels/*.c bench/*.c include/*.h \
    include/raddle/*.h tests/models/*.c src/*/meson.build src/*/*/meson.build src/*/*/*/meson.build; do
    [ -f "$path" ] && printf '%s\n' "$path"
done | LC_ALL=C sort
