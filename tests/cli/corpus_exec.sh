#!/bin/sh
# The corpus of the executor replays as recorded, and is what its make.sh writes.
. "$(dirname "$0")/tap"
src=${RADDLE_SRC:-$(dirname "$0")/../..}

try corpus "$src/tests/corpus"
status 0 "every artifact behaves as recorded"
has out " 0 differ, 0 unreadable, 0 accepted" "none differs"
count=$(grep -c '^ok ' out)
check "14 artifacts or more" [ "$count" -ge 14 ]
cp -r "$src/tests/corpus" copy
chmod -R u+w copy
rm copy/*.raddle.json
check "make.sh" sh copy/make.sh "$RADDLE"
check "as many as there are" [ "$(ls copy/*.raddle.json | wc -l)" = "$count" ]
for file in copy/*.raddle.json; do
    name=$(basename "$file")
    # All but who wrote it, and the checksum over that.
    grep -vE '"(version|git_sha|compiler|checksum)":' "$file" >made
    grep -vE '"(version|git_sha|compiler|checksum)":' "$src/tests/corpus/$name" >kept
    same made kept "$name is what make.sh writes"
done
finish
