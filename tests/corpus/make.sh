#!/bin/sh
# make.sh RADDLE — writes the artifacts beside this script anew, each from a case in cases/, a policy and its seed. To be
# called when the executor takes other steps than before, on purpose; the diff then shows in which runs.
set -eu
raddle=${1:?make.sh RADDLE}
here=$(dirname "$0")
while read -r name policy seed; do
    "$raddle" exec run "$here/cases/$name.json" --policy "$policy" --policy-seed "$seed" \
        --artifact "$here/$name.raddle.json" >/dev/null
done <<'LIST'
spawn-local first 1
spawn-global random 1
spawn-external random 1
spawn-to-inbox random 2
permits random 1
sleepers random 1
io-wakes random 1
io-fails first 1
late-start-refused first 1
panic-drains random 1
panic-stops fair 1
steals-oldest random 1
steals-later random 1
deadlock-expected first 1
close-calls random 1
round-robin random 1
eager-time random 1
fair-oldest first 1
recheck-sees random 3
LIST
