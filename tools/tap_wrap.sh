#!/bin/bash
# tap_wrap.sh NAME COMMAND... — one TAP test that passes when the command exits 0. Its output follows
# as comments.
name=$1
shift
echo 1..1
output=$("$@" 2>&1)
status=$?
[ $status = 0 ] && echo "ok 1 - $name" || echo "not ok 1 - $name: exit status $status"
printf '%s\n' "$output" | sed 's/^/# /'
exit $status
