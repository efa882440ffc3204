#!/bin/sh
# seam.sh LD OBJCOPY NM SEAM POINTS OUT OBJECT… — production's objects for the library that is loaded under test.
#
# Joins the objects of rt (but for ops.c, test_calls.c and monitor.c, which the library has of its own) with those of base, os and exec
# into OUT. Code and data stay as they are, bit for bit; only symbols are renamed: what rt asks of the others under a
# name of the file SEAM becomes rad__seam_NAME, which the library answers, and every other global symbol of base, os and
# exec becomes rad__real_NAME, because the lab brings a copy of its own. The public calls in the file POINTS, which are no
# rows of RAD_OPS, become rad__op_NAME like those. order.c and nursery.c put operations together: those in them are
# points, too. os asks by nanosleep whether a page can be read: that becomes rad__past_nanosleep, because the program's
# does not ask the system. The locks of os are no points, and become rad__past_mutex_lock and rad__past_mutex_unlock.
set -eu
ld=$1 objcopy=$2 nm=$3 seam=$4 points=$5 out=$6
shift 6
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
runtime= rest=
for object; do
    case ${object##*/} in
    src_rt_ops.c.o | src_rt_test_calls.c.o | src_rt_monitor.c.o) ;;
    src_rt_order.c.o)
        "$objcopy" --redefine-sym rad__op_send=rad__part_send --redefine-sym rad__op_recv=rad__part_recv \
            --redefine-sym rad__op_join=rad__part_join "$object" "$scratch/order.o"
        runtime="$runtime $scratch/order.o"
        ;;
    src_rt_nursery.c.o)
        "$objcopy" --redefine-sym rad__wait=rad__part_wait "$object" "$scratch/nursery.o"
        runtime="$runtime $scratch/nursery.o"
        ;;
    src_rt_*) runtime="$runtime $object" ;;
    *) rest="$rest $object" ;;
    esac
done
# shellcheck disable=SC2086 # lists of files
{
    "$ld" -r -o "$scratch/rt.o" $runtime
    "$ld" -r -o "$scratch/rest.o" $rest
}
"$nm" -g --defined-only "$scratch/rest.o" | awk '{ print $NF }' | LC_ALL=C sort -u >"$scratch/names"
LC_ALL=C sort -u "$seam" >"$scratch/seam"
missing=$(LC_ALL=C comm -13 "$scratch/names" "$scratch/seam")
[ -z "$missing" ] || {
    echo "seam.sh: nothing of base, os and exec is called" $missing >&2
    exit 1
}
{
    sed -n 's/^rad_\(.*\)/& rad__real_\1/p' "$scratch/names"
    echo "nanosleep rad__past_nanosleep"
    echo "pthread_mutex_lock rad__past_mutex_lock"
    echo "pthread_mutex_unlock rad__past_mutex_unlock"
} >"$scratch/rest.map"
{
    LC_ALL=C comm -23 "$scratch/names" "$scratch/seam" | sed -n 's/^rad_\(.*\)/& rad__real_\1/p'
    sed -n 's/^rad_\(.*\)/& rad__seam_\1/p' "$scratch/seam"
    sed -n 's/^rad_\(.*\)/& rad__op_\1/p' "$points"
} >"$scratch/rt.map"
"$objcopy" --redefine-syms="$scratch/rest.map" "$scratch/rest.o"
"$objcopy" --redefine-syms="$scratch/rt.map" "$scratch/rt.o"
"$ld" -r -o "$out" "$scratch/rt.o" "$scratch/rest.o"
