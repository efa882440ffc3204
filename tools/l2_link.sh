#!/bin/sh
# l2_link.sh LD OBJCOPY NM ADDR2LINE SITES ARCHIVE OBJECT TABLE — one object of everything that is instrumented.
#
# ARCHIVE holds production sources and models, compiled with the compiler's calls for a thread sanitizer. They
# become one relocatable OBJECT whose code and variables lie in sections of their own (l2text, l2data), whose
# names are its own (nothing clashes with the plain copies in the same library), and which is bound to our
# functions instead of the C library's and the sanitizer's. TABLE is the C source that lists the inserted calls, and
# which of the variables each model can touch.
set -eu
ld=$1 objcopy=$2 nm=$3 addr2line=$4 sites=$5 archive=$6 object=$7 table=$8
work=$object.tmp
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

cat >"$work/sections" <<'END'
SECTIONS {
    l2text : { *(.text .text.*) }
    l2data : ALIGN(64) { *(.data .data.rel .data.rel.local .bss COMMON) }
    l2models : { *(l2models) }
}
END
"$ld" -r -T "$work/sections" -Map "$work/map" --whole-archive "$archive" -o "$work/all.o"

set --
for name in malloc calloc realloc aligned_alloc free memcpy memmove memset memcmp strlen; do
    set -- "$@" --redefine-sym $name=rad__l2_$name
done
for name in $("$nm" -u "$work/all.o" | awk '$2 ~ /^__tsan_/ { print $2 }'); do
    set -- "$@" --redefine-sym "$name=rad__l2_${name#__}"
done
"$objcopy" "$@" --redefine-sym rad__panic=rad__l2_panic \
    --redefine-sym rad__misuse=rad__l2_misuse \
    --redefine-sym rad__misuse_by=rad__l2_misuse_by \
    --redefine-sym rad__os_word_wait=rad__l2_word_wait \
    --redefine-sym rad__os_word_wait_for=rad__l2_word_wait_for \
    --redefine-sym rad__os_word_wake=rad__l2_word_wake \
    --redefine-sym rad__os_barrier=rad__l2_barrier \
    --redefine-sym rad__os_barrier_register=rad__l2_barrier_register \
    --redefine-sym rad__os_now_ns=rad__l2_now_ns \
    --redefine-sym rad__os_give_way=rad__l2_give_way \
    --redefine-sym rad__context_switch=rad__l2_context_switch \
    --redefine-sym rad__context_make=rad__l2_context_make "$work/all.o" "$work/bound.o"
"$objcopy" --keep-global-symbol=rad__l2_models --remove-section=.init_array --remove-section='.init_array.*' \
    --remove-section='.rela.init_array' --remove-section='.rela.init_array.*' \
    --remove-section=.fini_array --remove-section=.rela.fini_array "$work/bound.o" "$object"

# Whatever else it needs would run without the lab noticing what it does to memory.
unknown=$("$nm" -u "$object" | awk '{ print $2 }' |
    grep -v -e '^rad__l2_' -e '^rad__model_' -e '^__st[oa][a-z]*_l2models$' \
        -e '^_GLOBAL_OFFSET_TABLE_$' -e '^__tls_get_addr$' -e '^_TLS_MODULE_BASE_$' || true)
if [ -n "$unknown" ]; then
    echo "l2_link.sh: instrumented code needs what the lab does not provide:" $unknown >&2
    echo "l2_link.sh: add its source to l2_archive in src/lab/l2/meson.build, or a wrapper to src/lab/l2/plain.c" >&2
    rm -f "$object"
    exit 1
fi

"$sites" "$object" >"$work/addresses"
"$addr2line" -a -i -j l2text -e "$object" <"$work/addresses" |
    sed 's/ (discriminator.*//; s/:?$/:0/' >"$work/lines"
"$sites" "$object" "$work/lines" "$table"
"$nm" -A "$archive" >"$work/names"
awk -f "${0%/*}/l2_reach.awk" "$work/names" "$work/map" >>"$table"
