# mutants.awk — machine-made bugs for the executor, as a list that tools/planted.sh reads.
#
#   awk -v path=src/exec/idle.c -f tools/mutants.awk src/exec/idle.c
#
# wake      each statement that wakes somebody is deleted, or answers nobody
# recheck   each look at a queue before going to sleep is deleted, or sees nothing
# publish   each store or exchange that releases something changes places with the statement before it, and with the
#           one behind it
# Names are FILE:FUNCTION:KIND-N, so that they last as long as the function does.

function trim(s) { sub(/^[ \t]+/, "", s); return s }

function is_statement(s) { s = trim(s); return s ~ /;$/ && s !~ /^(for|while|if|else|return|case|default|do|break|goto|\}|#|\/\*|\*|typedef|static const|continue)/ }

# A statement that declares what others use cannot change places.
function declares(s) { return trim(s) ~ /^(const )?(struct |enum |u?int[0-9]*_t|bool|rad_[a-z_]+|_Atomic)[ *]/ }

function occurrences(text,    rest, n, at) {
    rest = whole
    n = 0
    while ((at = index(rest, "\n" text)) > 0) { n++; rest = substr(rest, at + 1) }
    return n
}

function joined(from, to,    i, s) { s = ""; for (i = from; i <= to; i++) s = s line[i] "\n"; return s }

# Lines from..to become `text` ("" = nothing). As much is taken around them as makes the old text unique.
function mutant(kind, from, to, text,    a, b, old, fresh, i, parts, n) {
    a = from; b = to
    while (occurrences(joined(a, b)) > 1 && (a > 1 || b < count)) { if (a > 1) a--; if (b < count && occurrences(joined(a, b)) > 1) b++ }
    fresh = joined(a, from - 1) text joined(to + 1, b)
    old = joined(a, b)
    number[current, kind]++
    printf "bug %s:%s:%s-%d\ndepth L2\nhunt exec\ntests %s\nfile %s\n", base, current, kind, number[current, kind], tests, path
    n = split(substr(old, 1, length(old) - 1), parts, "\n")
    for (i = 1; i <= n; i++) print "- " parts[i]
    if (fresh != "") {
        n = split(substr(fresh, 1, length(fresh) - 1), parts, "\n")
        for (i = 1; i <= n; i++) print "+ " parts[i]
    }
    print ""
}

function mutate_wake(i,    s) {
    s = line[i]
    if (s !~ /(rad__idle_notify|rad__idle_notify_worker|rad__idle_notify_self|rad__idle_end_search|rad__idle_call|token_give|rad__os_wake|rad__sched_wake|rad__sched_send|shell_wake|ticket_use)\(/) return
    if (trim(s) ~ /^return .*;$/) { sub(/return .*;/, "return RAD_NONE;", s); mutant("wake", i, i, s "\n") }
    else if (is_statement(s) && !declares(s)) mutant("wake", i, i, "")
}

function mutate_recheck(i,    s) {
    s = line[i]
    if (s ~ /^[ \t]+if \(.*is_empty\(.*\) return true;$/) mutant("recheck", i, i, "")
    else if (s ~ / = !rad__[a-z]+_is_empty\(.*;$/) { sub(/= !rad__.*;/, "= false;", s); mutant("recheck", i, i, s "\n") }
    else if (s ~ /sees_work\(w\) \? RAD_PHASE_NOTIFY : /) { sub(/w->only_mine \|\| sees_work\(w\)/, "w->only_mine", s); mutant("recheck", i, i, s "\n") }
}

# The statement that line i begins goes on to the line that ends in ";".
function end_of(i) { while (i < count && line[i] !~ /;([ \t]*\/\*.*)?$/) i++; return i }

function mutate_publish(i,    last, first, a, b, after) {
    if (trim(line[i]) !~ /^atomic_(store|exchange|fetch_[a-z]+|flag_clear)_explicit/) return
    last = end_of(i)
    if (joined(i, last) !~ /memory_order_(release|seq_cst|acq_rel)/) return
    first = i
    while (first > 1 && trim(line[first - 1]) ~ /^(\/\*|\*)/) first--
    a = first - 1
    if (is_statement(line[a]) && !declares(line[a]) && line[a - 1] ~ /[;{}\/]$/)
        mutant("publish", a, last, joined(first, last) joined(a, a))
    b = last + 1
    while (b < count && trim(line[b]) ~ /^(\/\*|\*)/) b++
    after = end_of(b)
    if (trim(line[b]) ~ /^[a-z_>*.\[\]\-]+(\(| [-+|&]?= )/ && trim(line[b]) !~ /^(return|if|while|for)/)
        mutant("publish", first, after, joined(last + 1, after) joined(first, last))
}

{ line[++count] = $0; whole = whole "\n" $0 }

END {
    whole = whole "\n"
    base = path
    sub(/.*\//, "", base)
    for (i = 1; i <= count; i++) {
        if (line[i] ~ /^[a-z].*\(/ && line[i] !~ /;$/) { current = line[i]; sub(/\(.*/, "", current); sub(/.*[ *]/, "", current) }
        if (current == "") continue
        mutate_wake(i)
        mutate_recheck(i)
        mutate_publish(i)
    }
}
