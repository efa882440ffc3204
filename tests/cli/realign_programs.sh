#!/bin/bash
# Replay that survives edits, of programs under test: tests/programs/edits has four, with threads and with fibers, each of
# which is edited by -DEDIT=N. Their comments say what an edit is. Where the bug is left the recorded run still fails, and
# where it is mended that is never said.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"
if [ ! -f "$build/src/lab/programs/fibers/libraddle.so.0" ] || is_sanitized "$library"; then
    skip "edited programs" "this build has no library for programs under test"
    finish
fi
library=$build/libraddle.so

edition() { # PROGRAM EDIT
    mkdir -p "$2"
    # shellcheck disable=SC2086 # CC may have words
    ${CC:-cc} -std=gnu11 -g "-DEDIT=$2" -I "$src/include" "$src/tests/programs/edits/$1.c" -o "$2/$1" -pthread "$library" \
        "-Wl,-rpath,$build"
}

answers() { # PROGRAM EDIT FILE ANSWER...: one of these
    local program=$1 edit=$2 file=$3 said
    shift 3
    try replay "$file" --realign -- "./$edit/$program"
    said=$(sed -nE 's/^(still fails|gone|diverged).*/\1/p' out)
    check "$program, edit $edit, $file: $said" grep -qxF "$said" <(printf '%s\n' "$@")
}

for program in seats wake till turns; do
    check "$program compiles" edition $program 0
    try explore --runs 200 ./0/$program
    status 1 "$program has a bug"
    case $program in till) edits=8 ;; turns) edits=4 ;; *) edits=9 ;; esac
    for edit in $(seq $edits); do
        check "$program compiles with edit $edit" edition $program "$edit"
        for file in $program.raddle.json $program.min.raddle.json; do
            case $program$edit in
            seats4 | seats6 | wake5 | till5 | turns4) answers $program "$edit" $file gone diverged ;;
            *) answers $program "$edit" $file "still fails" ;;
            esac
        done
    done
done

finish
