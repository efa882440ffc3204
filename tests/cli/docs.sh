#!/bin/sh
# The documents say what the command does: its help, the first program and its diagram.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

check "docs/cli.md and docs/raddle.1 say what the help says" "$src/tools/write_docs.sh" --check "$RADDLE"
if command -v groff >/dev/null; then
    check "the man page is well-formed" sh -c '[ -z "$(groff -man -Tascii -ww -z "$1" 2>&1)" ]' - "$src/docs/raddle.1"
fi

# The program of the README, its commands, and the report, which is what `explore` prints today.
LC_ALL=C.UTF-8
export LC_ALL RADDLE_CC=${CC:-cc}
front_door() {
    sed -n '/^```c$/,/^```$/p; /^## /q' "$src/README.md" | grep -v '^```\|^## ' >wait.c
    head -n 20 "$src/README.md" >top
    check "the README begins with it, after 20 lines" grep -qx '```c' top
    check "at most 20 lines" [ "$(wc -l <wait.c)" -le 20 ]
    # shellcheck disable=SC2086 # CC may have words
    check "the program of the README compiles" ${CC:-cc} -g -pthread wait.c -o wait
    sed -n '/^```sh$/,/^```$/p; /^## /q' "$src/README.md" | sed -n 's/^raddle \([^#]*[^ #]\) *#.*/\1/p' >commands
    check "three commands" [ "$(wc -l <commands)" = 3 ]
    try explore ./wait
    status 1 "explore ./wait"
    sed -n '/^FAILED/,/^  replay/p' out >printed
    sed -n '/^<!-- The report/,/^<!-- End/p' "$src/README.md" | sed -n '/^```$/,/^```$/p' | grep -v '^```' >report
    check "the README has a report" [ -s report ]
    same report printed "the report is real"
    # shellcheck disable=SC2046 # words
    try $(sed -n 2p commands)
    status 0 "raddle $(sed -n 2p commands)"
    sed 's/done = 1;.*/pthread_mutex_lock(\&lock); done = 1; pthread_mutex_unlock(\&lock);/' wait.c >fixed.c
    # shellcheck disable=SC2086
    check "with the lock" ${CC:-cc} -g -pthread fixed.c -o wait
    try explore ./wait
    status 0 "nothing is found"
    has out "every schedule was tried, code between two operations was not interrupted halfway" "and what was tried is said"
    if [ -f "$build/src/lab/programs/watched/libtsan.a" ]; then
        check "raddle cc" "$RADDLE" cc -g -pthread wait.c -o wait
        try explore ./wait
        race=$(sed -n 's/^raddle explore .*also: data race on \(.*\), \(.*\) and \(.*\)$/\1 \2 \3/p' "$src/README.md")
        for word in "data race at step" $race; do has out "$word" "raddle cc: $word"; done
    fi
}
# The test that it shows is the one of the example, and fails as it says; with the lock held it does not.
shows_a_test() {
    sed -n '/^## A test/,/^## Try/p' "$src/README.md" >section
    sed -n '/^```c$/,/^```$/p' section | sed -n '/^RAD_TEST(/,/^RAD_TEST_MAIN/p' >shown
    sed -n '/^RAD_TEST(/,$p' "$src/examples/tickets.c" >real
    same shown real "the test of the README is in examples/tickets.c"
    mkdir -p examples && cp "$src/examples/tickets.c" examples
    check "raddle cc finds raddle.h and -lraddle" "$RADDLE" $(sed -n 's/^raddle \(cc .*\)$/\1/p' section)
    try test ./tickets
    status 1 "the test of the README"
    has out "$(sed -n 's/^raddle test .* # \(FAIL .*\) … .*/\1/p' section)" "fails where it says"
    check "with -DFIXED" "$RADDLE" cc -g -DFIXED examples/tickets.c -lraddle -o tickets
    try test ./tickets --runs 500
    status 0 "it passes"
    try test ./tickets --threads --runs 5
    status 0 "on threads, too"
}
if [ -f "$build/src/lab/programs/fibers/libraddle.so.0" ] && ! is_sanitized "$library"; then
    front_door
    if [ -f "$build/src/lab/programs/watched/libtsan.a" ]; then shows_a_test; fi
else
    skip "the program of the README" "this build has no library for programs under test"
fi

# Every link of every page leads to a file, and to a heading of it; every page can be reached from the README.
(cd "$src" && ls ./*.md docs/*.md docs/*/*.md examples/*.md examples/*/*.md tests/programs/*.md bench/*/*.md 2>/dev/null) | sed 's,^\./,,' >pages
(cd "$src" && xargs awk '
    function path_of(page, link,    part, count, i, kept, all) { # from the top of the tree, without . and ..
        sub(/#.*/, "", link)
        sub(/[^\/]*$/, "", page)
        count = split(page link, part, "/")
        for (i = 1; i <= count; i++) {
            if (part[i] == ".." && kept > 0 && all[kept] != "..") kept--
            else if (part[i] != "" && part[i] != ".") all[++kept] = part[i]
        }
        link = all[1]
        for (i = 2; i <= kept; i++) link = link "/" all[i]
        return link
    }
    FNR == 1 { code = 0 }
    /^```/ { code = !code; next }
    code { next }
    /^#+ / {
        text = tolower($0); sub(/^#+ +/, "", text)
        while (match(text, /\]\([^)]*\)/)) text = substr(text, 1, RSTART) substr(text, RSTART + RLENGTH)
        gsub(/[^a-z0-9 _-]/, "", text); gsub(/ /, "-", text)
        print "anchor", FILENAME "#" text
    }
    {
        line = $0
        while (match(line, /<a id="[^"]*"/)) { print "anchor", FILENAME "#" substr(line, RSTART + 7, RLENGTH - 8); line = substr(line, RSTART + RLENGTH) }
        line = $0
        gsub(/`[^`]*`/, "", line)
        while (match(line, /\]\([^) ]*\)/)) {
            link = substr(line, RSTART + 2, RLENGTH - 3)
            line = substr(line, RSTART + RLENGTH)
            if (link !~ /^http/) print "link", FILENAME, link, link ~ /^#/ ? FILENAME : path_of(FILENAME, link)
        }
    }') <pages >found
check "there are links" [ "$(grep -c ^link found)" -gt 200 ]
awk 'NR == FNR { there[$2]; next }
    $1 == "link" { anchor = $3 }
    $1 == "link" && sub(/^[^#]*#/, "", anchor) && $4 ~ /\.md$/ && !(($4 "#" anchor) in there) { print $2 ": " $3 }' found found >broken
echo README.md >reached
while read -r _ page link to; do
    case $link in '#'*) continue ;; esac
    [ -e "$src/$to" ] || echo "$page: $link" >>broken
    [ "$page" = "${page#CHANGELOG}" ] && echo "$to"
done <<EOF >>reached
$(grep ^link found)
EOF
[ ! -s broken ]
report $? "links lead to files and headings" broken
grep -E '^docs/' pages | sort >docs
sort -u reached >linked
comm -23 docs linked >alone
[ ! -s alone ]
report $? "every page in docs/ is linked from another one" alone

# Habits of speech that hide who does what stay out of what a user reads (names with - or _ around a word are names).
habits="(^|[^-_])\\b(goes on|go on|going on|[Ww]hoever|so many|(is|are) told|stands?|preset)\\b([^-_;]|$)"
(cd "$src" && grep -nE "$habits" README.md CONTRIBUTING.md include/raddle/*.h $(ls docs/*.md | grep -v scoreboard)) >said
for verb in tour list run explore replay shrink show corpus test cc c++ exec session load flow; do "$RADDLE" "$verb" --help; done |
    grep -nE "$habits" >>said
[ ! -s said ]
report $? "pages, headers and help without habits of speech" said

# Pages of rules: each test that a row names exists, each planted bug is in a list, and one of the row's tests is in a
# program that the list expects to find it (the hunt of the executor is none of them).
cat >rules.awk <<'END'
function looks_like(pattern, name) { gsub(/…/, ".*", pattern); return name ~ "^" pattern "$" }
function bad(text) { print FILENAME ": " text }
function test(word,    name, found) { # also adds the programs that have it to `programs`
    if (word ~ /^cli\//) {
        if (!((word ".sh") in script)) bad("no script " word)
        sub(/\//, "_", word)
        programs = programs word " "
        return
    }
    if (word ~ /^tests\/|\.c$/) { sub(/\.c$/, "", word); sub(/^tests\/unit\//, "", word); sub(/\/?test_/, "_", word); programs = programs word " "; return }
    for (name in home) if (looks_like(word, name)) { programs = programs home[name]; found = 1 }
    if (!found) bad("no test " word)
}
function bug(word,    name, found, by, n, i, finder, known) {
    if (word ~ /^tests\//) return
    for (name in finders) if (looks_like(word, name) || looks_like("session-" word, name)) {
        found = 1
        by = finders[name]
        n = split(finders[name], finder, " ")
        for (i = 1; i <= n; i++) {
            sub(/^[at]san:/, "", finder[i])
            sub(/^hunt:.*/, "hunt", finder[i])
            sub(/^cli:/, "cli_", finder[i])
            sub(/:.*/, "", finder[i])
            if (finder[i] == "hunt" || index(programs, " " finder[i] " ")) known = 1
        }
    }
    if (!found) bad("no bug " word)
    else if (!known) bad(word ": found by " by ", which is none of the tests of its row")
}
FILENAME == "functions" { split($0, at, /:static void |\(/); home[at[2]] = home[at[2]] at[1] " "; next }
FILENAME == "scripts" { script["cli/" $1] = 1; next }
FILENAME == "bugs" { finders[$1] = $0; sub(/.* by /, "", finders[$1]); next }
/^\|/ && !/^\|---/ && !/^\| (rule|decision) / {
    line = $0
    gsub(/ \|$/, "", line)
    split(line, column, / \| ?/)
    programs = " "
    n = split(column[2], part, "`")
    for (i = 2; i <= n; i += 2) test(part[i])
    for (i = 1; i <= n; i += 2) {
        m = split(part[i], word, /[^a-zA-Z0-9_]+/)
        for (j = 1; j <= m; j++) programs = programs (word[j] == "L2" ? "lab_l2" : word[j]) " "
    }
    rows++
    n = split(column[3], part, "`")
    for (i = 2; i <= n; i += 2) bug(part[i])
}
END { if (rows < 280) print "only " rows " rules" }
END
(cd "$src" && grep -roE '^static void [a-z0-9_]+\(void \*\*' tests/unit tests/judge) |
    sed 's,^tests/unit/\([^/]*\)/test_\([^:]*\)\.c:,\1_\2:,; s,^tests/judge/test_\([^:]*\)\.c:,\1:,' >functions
ls "$src/tests/cli" >scripts
cat "$src"/tests/planted/*.txt | grep -E '^[a-z0-9-]+ in ' >bugs
(cd "$src" && ls docs/dev/*-rules.md) >rules
# shellcheck disable=SC2046 # a list of files
awk -f rules.awk functions scripts bugs $(sed "s,^,$src/," rules) >wrong 2>&1
check "eight pages of rules" [ "$(wc -l <rules)" = 8 ]
[ ! -s wrong ]
report $? "tests and planted bugs of the rules exist, and go together" wrong

# The walks of docs/architecture.md: each function that they name is defined in the file before it.
awk '/^## Five walks/ { on = 1; next } /^## / { on = 0 } on' "$src/docs/architecture.md" |
    awk '{
        n = split($0, part, "`")
        for (i = 2; i <= n; i += 2) {
            if (part[i] ~ /^src\//) file = part[i]
            else if (part[i] ~ /^[a-z0-9_]+$/ && part[i] !~ /^(guide|step|run)$/ && file != "") print file, part[i]
        }
    }' >hops
while read -r file name; do
    case $name in
    rad_worker_spawn) pattern="[^a-zA-Z0-9_]$name\(" ;; # is called there; its definition is in the public header
    *) pattern="^[A-Za-z_].*[^a-zA-Z0-9_]$name\(" ;;
    esac
    grep -qE "$pattern" "$src/$file" || echo "$file: $name"
done <hops >strangers
check "the walks have functions" [ "$(wc -l <hops)" -gt 100 ]
[ ! -s strangers ]
report $? "each function of the walks is in its file" strangers
finish
