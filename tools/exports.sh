#!/bin/sh
# exports.sh NM INTERPOSED LIBRARY OUT — the version script of the library that is loaded under test: what libraddle exports,
# and the calls of libc that it answers itself. Without a version: a program binds to these names whatever version of libc's
# it was linked with.
set -eu
{
    echo '{ global:'
    "$1" -D --defined-only "$3" | awk '{ print "  " $NF ";" }'
    sed 's/.*/  &;/' "$2"
    echo '  rad_watched;' # for programs that raddle cc has built
    echo 'local: *; };'
} >"$4"
