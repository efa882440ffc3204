#!/bin/sh
# mutants.sh — every wake, re-check, publication and lock of the executor and the runtime is broken by a machine, one at
# a time, and one in sixteen of all statements and conditions of the sessions; no more may survive than are known.
exec "$(dirname "$0")/../../tools/mutants.sh"
