#!/bin/bash
# exec_tier.sh BUILD_DIR — the long tier of the executor's trial: 2,000 generated cases with up to 16 workers and programs
# of up to 256 instructions, 100,000 steps each, under four drivers; another seed every day. Says what it cost.
# Takes 2 minutes.
set -eu
build=${1:?usage: exec_tier.sh BUILD_DIR}
base=${SCHEDULER_SIM_STRESS_SEED_BASE:-$(date +%Y%m%d)000000}
seeds=${SCHEDULER_SIM_STRESS_SEEDS:-2000}
folder=$(mktemp -d)
echo "exec_tier: $seeds seeds from $base; artifacts in $folder"
begin=$(awk '{ print $14 + $15 + $16 + $17 }' /proc/$$/stat)
"$build/raddle" exec stress --seeds "$seeds" --seed-base "$base" --max-steps 100000 --workers 16 --length 256 -j 2 \
    --output "$folder"
awk -v from="$begin" -v hertz="$(getconf CLK_TCK)" \
    '{ printf "exec_tier: %.1f CPU minutes\n", ($14 + $15 + $16 + $17 - from) / hertz / 60 }' /proc/$$/stat
