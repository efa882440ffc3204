#!/bin/bash
# l2_deep.sh BUILD_DIR — models that take too long for test_l2: everything up to a bound, on two processes, but not more
# than L2_DEEP_RUNS schedules (300,000) of each. Says how many there were, and whether that was everything; fails when
# something was found, or a model marked with + was not exhausted.
# Takes 4 minutes.
set -u
build=${1:?usage: l2_deep.sh BUILD_DIR}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
raddle=$(cd "$build" && pwd)/raddle
status=0
cd "$folder" || exit 1

while read -r whole bound words; do
    all=no
    # shellcheck disable=SC2086 # a machine and its parameters
    "$raddle" explore $words --strategy "preempt:$bound" --runs "${L2_DEEP_RUNS:-300000}" -j 2 --stop-on-first >said 2>&1
    found=$?
    ! grep -q "^  preempt:$bound .*complete: everything" said || all=yes
    if [ $found != 0 ] || [ $whole$all = +no ]; then
        cat said
        status=1
    fi
    schedules=$(sed -n "s/^  preempt:$bound *\([0-9,]*\) run.*/\1/p" said)
    echo "l2_deep: $words, bound $bound: ${schedules:-0} schedules, everything: $all"
done <<'END'
+ 3 l2-strand workers=2 coarse=1
- 3 l2-join workers=2 coarse=1
- 3 l2-join kind=2 workers=2 coarse=1
- 3 l2-cancel kind=4 workers=2 coarse=1
- 3 l2-mix workers=2 coarse=1
- 3 l2-nursery coarse=1
- 3 l2-once callers=2 fiber=1
- 3 l2-blocking whole=1
- 3 l2-blocking coarse=1 fibers=2
- 2 l2-blocking calls=2 spares=2
- 2 l2-ready kind=2 coarse=1
- 2 l2-ready kind=6 coarse=1
- 2 l2-ready kind=8 coarse=1
- 2 l2-ready kind=9 coarse=1
- 2 l2-ready kind=10 coarse=1
- 2 l2-choice kind=7
+ 3 l2-choice kind=10
- 2 l2-choice kind=11
+ 2 l2-stock kind=7
- 3 l2-user-timer kind=3
END
exit $status
