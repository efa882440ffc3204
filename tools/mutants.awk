# mutants.awk — machine-made bugs for production code, as a list that tools/planted.sh reads. Here is how sources are
# taken apart and mutants written down; what is done to a statement is another file's: mutants_wakes.awk for code that
# threads share, mutants_plain.awk for code that one runs. Functions that a file defines twice, behind #if, are left out.
#
#   awk -v path=src/exec/idle.c -v hunt=exec -v tests="l2 exec_queues" \
#       -f tools/mutants.awk -f tools/mutants_wakes.awk src/exec/idle.c
#
# The layout is what clang-format makes of it: brackets of functions in the first column, blocks by indentation.
# Names are FILE:FUNCTION:KIND-N; FILE is without src/.

function trim(s) { sub(/^[ \t]+/, "", s); return s }
function code_of(s) { sub(/[ \t]*\/\*.*\*\/[ \t]*$/, "", s); return s }
function is_comment(s) { return trim(s) ~ /^(\/\*|\* |\*\/)/ }
function joined(from, to,    i, s) { s = ""; for (i = from; i <= to; i++) s = s line[i] "\n"; return s }

# Without layout and comments: if two texts differ here, their tokens differ.
function squeezed(s) {
    gsub(/[ \t\n]\/\*([^*]|\*+[^*\/])*\*+\//, "", s)
    gsub(/[ \t\n]+/, "", s)
    return s
}

function occurrences(text,    rest, n, at) {
    rest = whole
    while ((at = index(rest, text)) > 0) { n++; rest = substr(rest, at + 1) }
    return n + 0
}

function one_line(s) { gsub(/\n[ \t]*/, " ", s); return s }

# Lines from..to become `text`. As much of the function is taken around them as makes the old text unique. A list has
# one line for a bug, which cannot hold a directive.
function mutant(kind, from, to, text,    a, b, others) {
    if (text == joined(from, to) || (from, kind, text) in made) return
    made[from, kind, text] = 1
    a = from; b = to
    while (occurrences(squeezed(joined(a, b))) > 1 && (a > header || b <= tail)) {
        if (a > header) a--
        if (b <= tail && occurrences(squeezed(joined(a, b))) > 1) b++
    }
    if (("\n" joined(a, b)) ~ /\n[ \t]*#/) return
    # What moves between two instructions is seen at L2; a look at all of L1 takes longer.
    others = tests
    if (hunt) others = "hunt:" hunt " " others
    if (kind == "publish" && sub(/(^| )l2( |$)/, " ", others)) others = "l2 " others
    printf "%s:%s:%s-%d in %s:%s: %s => %s by %s\n", base, current, kind, ++number[current, kind], path, current,
        one_line(joined(a, b)), one_line(joined(a, from - 1) text joined(to + 1, b)), others
}

# Where the bracket that opens at position `at` of s closes.
function closing(s, at,    depth, c) {
    for (; at <= length(s); at++) {
        c = substr(s, at, 1)
        if (c == "(") depth++
        if (c == ")" && --depth == 0) return at
    }
    return 0
}

# The position of a call of one of `names` in s, at or behind `from`; RLENGTH is that of name and bracket.
function find_call(s, names, from,    rest, at) {
    rest = substr(s, from)
    while (match(rest, "(^|[^a-z_0-9])(" names ")\\(")) {
        at = RSTART + (substr(rest, RSTART, 1) ~ /[a-z_0-9]/ ? 0 : 1)
        RLENGTH -= at - RSTART
        return from + at - 1
    }
    return 0
}

# ---- Statements: first[n] to last[n], and top[n], where the comments before it begin

# The same, but no sign inside a text or a comment is one of the language; as long as s.
function mask(s,    i, c, quote, out) {
    for (i = 1; i <= length(s); i++) {
        c = substr(s, i, 1)
        if (quote == "" && substr(s, i, 2) == "/*") quote = "/"
        else if (quote == "" && c ~ /["']/) quote = c
        else if (quote == "/") {
            if (c == "/" && substr(s, i - 1, 1) == "*") quote = ""
            c = " "
        } else if (quote != "") {
            if (c == quote) quote = ""
            else {
                if (c == "\\") { i++; out = out "x" }
                c = "x"
            }
        }
        out = out (quote == "/" ? " " : c)
    }
    return out
}

function depth_of(s,    d) { s = mask(s); d = gsub(/\(/, "", s); return d - gsub(/\)/, "", s) }

function split_statements(from, to,    i, depth) {
    statements = 0
    for (i = from; i <= to; i++) {
        top[++statements] = i
        while (i <= to && is_comment(line[i])) i++
        first[statements] = i
        depth = depth_of(line[i])
        while (i < to && (depth > 0 || code_of(line[i]) !~ /[;{}:]$/)) depth += depth_of(line[++i])
        last[statements] = i
    }
}

# ---- What comes before and behind a statement in its block

function indent_of(i) { match(line[i], /^ */); return RLENGTH }
function goes_on(i, indent) { return indent_of(i) > indent || trim(line[i]) ~ /^(\}|else|\{)/ }

# Its last line is `end`; answers its first, comments included, or 0.
function beginning_of(end, indent,    i) {
    for (i = end; i > body && goes_on(i, indent); i--) continue
    if (i < body || indent_of(i) != indent || is_comment(line[i])) return 0
    while (i > body && is_comment(line[i - 1]) && indent_of(i - 1) >= indent) i--
    return i
}

# The other way round.
function end_of(begin, indent,    i) {
    for (i = begin; i < tail && is_comment(line[i]); i++) continue
    if (indent_of(i) != indent || trim(line[i]) ~ /^(\}|else|case|default|[a-z_]+:)/) return 0
    while (i < tail && goes_on(i + 1, indent)) {
        if (line[i] !~ /[{]$/ && trim(line[i + 1]) ~ /^\}/ && indent_of(i + 1) < indent) break
        i++
    }
    return i
}

function code_begins(i) { while (is_comment(line[i])) i++; return i }

# What lines declare for the block they are in, or "".
function declared(from,    s) {
    s = trim(line[code_begins(from)])
    if (s !~ /^(const )?(struct |enum )?[a-z_0-9]+ \**[a-z_]+( =|;|,|$)/ || s ~ /^(return|goto|else|do) /) return ""
    sub(/ =.*|;.*|,.*/, "", s)
    sub(/.*[ *]/, "", s)
    return s
}

function uses(text, name) { return name != "" && text ~ "(^|[^a-z_.>])" name "($|[^a-z_0-9])" }

# A statement as before + core + behind: `if (…) `, `case X: ` | what it does | `;` and the rest.
function take_apart(s,    at, t) {
    before = ""
    for (;;) {
        match(s, /^[ \t\n]*/)
        before = before substr(s, 1, RLENGTH)
        s = substr(s, RLENGTH + 1)
        if (s ~ /^(if|while|for) \(/) at = closing(s, index(s, "("))
        else if (match(s, /^(else|do|case [A-Za-z_0-9]+:|default:)[ \n]/)) at = RLENGTH - 1
        else break
        before = before substr(s, 1, at)
        s = substr(s, at + 1)
    }
    at = index(s, ";")
    core = substr(s, 1, at - 1)
    behind = substr(s, at)
}

function name_of(s) {
    gsub(/__attribute__\(\([a-z]+\)\) /, "", s)
    sub(/\(.*/, "", s)
    sub(/.*[ *]/, "", s)
    return s
}

function is_header(s) { return s ~ /^(RAD_INLINE |__attribute__|[a-z]).*\(/ && s !~ /;$/ }

{ line[++count] = $0 }
is_header($0) { defined[name_of($0)]++ }

END {
    base = path
    sub(/^src\//, "", base)
    for (i = 1; i <= count; i++) {
        if (is_header(line[i])) {
            head = line[i]
            header = i
            current = name_of(head)
        }
        if (line[i] != "{" || current == "" || defined[current] > 1) continue
        body = i + 1
        for (tail = i; line[tail + 1] != "}"; tail++) continue
        whole = squeezed(joined(header, tail + 1))
        split_statements(body, tail)
        for (n = 1; n <= statements; n++) mutate(n)
        current = ""
    }
}
