#!/bin/sh
# mutants.sh — every wake, re-check and publication of the executor is broken by a machine, one at a time; what nobody
# notices must be explained in tests/planted/survivors.txt.
exec "$(dirname "$0")/../../tools/mutants.sh"
