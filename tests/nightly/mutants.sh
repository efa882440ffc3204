#!/bin/sh
# mutants.sh — every wake, re-check, publication and lock of the executor and the runtime is broken by a machine, one at
# a time; what nobody notices must be explained in tests/planted/survivors.txt.
exec "$(dirname "$0")/../../tools/mutants.sh"
