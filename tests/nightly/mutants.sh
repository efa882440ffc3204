#!/bin/sh
# mutants.sh — every wake, re-check, publication and lock of the executor and the runtime is broken by a machine, one at
# a time, and one in sixteen of all statements and conditions of the sessions; what nobody notices must be explained in
# tests/planted/survivors.txt.
exec "$(dirname "$0")/../../tools/mutants.sh"
