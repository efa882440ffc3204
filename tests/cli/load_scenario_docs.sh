#!/bin/sh
# Every key of scenarios stands in docs/load-scenario.md, in the section it belongs to, and nothing else does.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}
page=$src/docs/load-scenario.md

# "section key", as the reader has it: the table of scenario/read_keys.c.
awk '/^const struct rad__load_keys rad__load_sections/ { inside = 1 } /^};/ { inside = 0 } inside' \
    "$src/src/load/scenario/read_keys.c" | tr '\n' ' ' | sed 's/{"/\n{"/g' |
    sed -n 's/^{"\([^"]*\)", *KEYS(\([^)]*\)).*/\1|\2/p' |
    awk -F '|' '{ gsub(/[", ]+/, " ", $2); n = split($2, keys, " ")
                  for (i = 1; i <= n; i++) print ($1 == "" ? "top" : $1) "|" keys[i] }' | sort >known
# The same of the page: rows of tables, under their headings.
awk '/^#+ / { section = $0; sub(/^#+ /, "", section); if (section == "At the top of the file") section = "top" }
     /^\| `[a-z0-9_]+` \|/ { split($0, cell, "`"); print section "|" cell[2] }' "$page" | sort >told

check "there are keys" [ "$(wc -l <known)" -gt 120 ]
check "no section has a key twice" [ -z "$(uniq -d known)$(uniq -d told)" ]
comm -23 known told >missing
comm -13 known told >invented
check "the page has every key of the reader: $(tr '\n' ' ' <missing)" [ ! -s missing ]
check "the reader has every key of the page: $(tr '\n' ' ' <invented)" [ ! -s invented ]

# Defaults that are written down in both.
limit() { # KEY NUMBER: how the page writes it
    check "the page knows the default of $1" grep -q "^| \`$1\` |.*| $2 |" "$page"
}
limits=$src/src/load/scenario/limits.c
check "max_vus" grep -q 'max_vus = 100000,' "$limits"
limit max_vus 100,000
check "max_events" grep -q 'max_events = 1000000,' "$limits"
limit max_events 1,000,000
check "flush_ticks" grep -q 'flush_ticks = 10000,' "$limits"
limit flush_ticks 10,000
check "retry_ms" grep -q 'retry_ns = 10000000,' "$limits"
limit retry_ms 10
check "max_header_bytes" grep -q 'max_header_bytes = 64 << 10,' "$limits"
limit max_header_bytes 65,536

for link in $(grep -oE '\]\([A-Za-z./_-]+\)' "$page" | sed 's/](\(.*\))/\1/'); do
    check "$link exists" [ -e "$src/docs/$link" ]
done
for anchor in $(grep -oE '\]\(#[a-z_-]+\)' "$page" | sed 's/](#\(.*\))/\1/'); do
    check "there is a section $anchor" grep -qiE "^#+ $anchor$" "$page"
done
finish
