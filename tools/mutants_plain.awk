# mutants_plain.awk — bugs in code that one thread runs: see mutants.awk.
#
# skip      each statement that calls or changes something is left out
# never     each `if`, `while` and `for` finds that its condition is false
# always    each `if` finds that its condition is true
# part      each operand of && is true, each of || is false
# edge      each < is <=, each > is >=, and the other way round
# one       each 1 that is added or taken away is not
# answer    each `return` of a function that answers yes or no says the one, and the other
# Assertions stay as they are. So do statements of an `if` that has no other: that is what `never` leaves out.

function mutate(n,    s) {
    s = joined(first[n], last[n])
    masked = mask(s)
    if (masked ~ /RAD_D?(ASSERT|CHECK)|_Static_assert|va_(start|end|arg)|\(void\)[a-z]+;/) return
    from = first[n]
    to = last[n]
    mutate_skip(s)
    mutate_condition(s)
    mutate_part(s)
    mutate_edge(s)
    mutate_answer(s)
}

# The statement with positions at to `until` replaced.
function replaced(kind, s, at, until, text) {
    mutant(kind, from, to, substr(s, 1, at - 1) text substr(s, until + 1))
}

function mutate_skip(s,    at) {
    take_apart(masked)
    if (before ~ /if \(/ || core ~ /[{}]/ || behind !~ /^;[^;]*$/) return
    if (core ~ /^(return|goto|break|continue|typedef|static)/) return
    if (core ~ /^[a-z_0-9 ]+[ *]+[a-z_0-9]+( = |$|,|\[)/) return # a declaration
    if (core !~ / [-+*\/%&|^]?= |\(|\+\+|--/) return
    at = length(before) + 1
    replaced("skip", s, at, at + length(core) - 1, "")
}

function mutate_condition(s,    at, end, rest, word) {
    for (at = 1; match(substr(masked, at), /(^|[ \n(}])(if|while|for) \(/); at = end) {
        word = substr(masked, at + RSTART - 1, RLENGTH)
        at += RSTART + RLENGTH - 2
        end = closing(masked, at)
        if (word ~ /for/) {
            rest = substr(masked, at + 1, end - at - 1)
            if (!match(rest, /; [^;]+;/)) continue
            replaced("never", s, at + RSTART + 2, at + RSTART + RLENGTH - 2, "false")
        } else {
            replaced("never", s, at + 1, end - 1, "false")
            if (word ~ /if/) replaced("always", s, at + 1, end - 1, "true")
        }
    }
}

# Where the operand before (step -1) or behind (step 1) the position begins or ends.
function operand_end(at, step,    depth, c, two) {
    for (; at > 1 && at < length(masked); at += step) {
        c = substr(masked, at, 1)
        two = substr(masked, step > 0 ? at : at - 1, 2)
        if (c == (step > 0 ? "(" : ")")) depth++
        if (c == (step > 0 ? ")" : "(") && --depth < 0) break
        if (depth > 0) continue
        if (c ~ /[;,?{}]/ || two == "&&" || two == "||" || two == (step > 0 ? ": " : " :")) break
        if (step < 0 && (substr(masked, at - 1, 3) == " = " || substr(masked, at - 6, 7) == "return ")) break
    }
    for (at -= step; substr(masked, at, 1) ~ /[ \n]/; at -= step) continue
    return at
}

function mutate_part(s,    at, op, neutral, a) {
    for (at = 1; match(substr(masked, at), / (&&|\|\|)[ \n]/); at++) {
        at += RSTART
        op = substr(masked, at, 2)
        neutral = op == "&&" ? "true" : "false"
        a = operand_end(at - 1, -1)
        if (substr(masked, 1, a - 1) !~ /(&&|\|\|)[ \n]*$/) replaced("part", s, a, at - 2, neutral)
        for (a = at + 2; substr(masked, a, 1) ~ /[ \n]/; a++) continue
        replaced("part", s, a, operand_end(a, 1), neutral)
    }
}

function mutate_edge(s,    at, op, other) {
    for (at = 1; match(substr(masked, at), / (<|>|<=|>=) /); ) {
        at += RSTART
        op = substr(masked, at, RLENGTH - 2)
        other = length(op) == 1 ? op "=" : substr(op, 1, 1)
        replaced("edge", s, at, at + length(op) - 1, other)
    }
    for (at = 1; match(substr(masked, at), /[a-z0-9_)\]] [-+] 1($|[^0-9.<a-zA-Z])/); ) {
        at += RSTART
        replaced("one", s, at, at + 3, "")
    }
}

function mutate_answer(s,    at) {
    if (head !~ /^(static |RAD_INLINE |RAD_INTERNAL |inline )*bool /) return
    take_apart(masked)
    if (core !~ /^return /) return
    at = length(before) + 1
    if (core != "return false") replaced("answer", s, at, at + length(core) - 1, "return false")
    if (core != "return true") replaced("answer", s, at, at + length(core) - 1, "return true")
}
