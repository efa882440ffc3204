# l2_reach.awk — which static variables a model can touch, as a table in C (src/lab/l2/sites.h).
#
#     awk -f l2_reach.awk NAMES MAP
#
# NAMES is what `nm -A` says of the archive, MAP the linker's map of the object made of it. Code reaches the variables of
# its own file, and those of files it names something of, and so on. Addresses that it gets otherwise are those of the
# heap and of stacks, or came from a file that it reaches. Models are numbered as the linker has put them into l2models.

function hex(text,   value, i) {
    text = tolower(substr(text, 3))
    for (i = 1; i <= length(text); i++) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value
}

function member(path) { # "lib.a(x.o)", "folder/x.o", "lib.a:folder/x.o": x.o
    sub(/\)$/, "", path)
    sub(/.*[\/(:]/, "", path)
    return path
}

FNR == NR {
    at = $0
    sub(/:[^:]*$/, "", at)
    at = member(at)
    symbol = $NF
    kind = $(NF - 1)
    sub(/.*:/, "", kind)
    if (kind == "U" || kind == "w") needs[at, ++need_count[at]] = symbol
    else if (kind ~ /^[A-Z]$/) home[symbol] = at
    next
}

/^l2data/ || /^l2models/ { part = $1; base = $2; wrapped = ""; next }
/^[^ ]/ { part = ""; next }
part == "" { next }
NF == 1 && /^ [.a-z]/ { wrapped = 1; next } # a long name: the rest is in the next line
wrapped { $0 = " . " $0; wrapped = "" }
NF == 4 && $2 ~ /^0x/ && hex($3) > 0 {
    from = hex($2) - hex(base)
    if (part == "l2data") {
        extents++
        extent_from[extents] = from
        extent_to[extents] = from + hex($3)
        extent_of[extents] = member($4)
    } else {
        for (i = hex($3); i > 0; i -= 8) model[model_count++] = member($4)
    }
}

# Everything that can be reached from a file: reached[file] is the number of the model.
function reach(from, stamp,   todo, count, i, file, next_file) {
    todo[1] = from
    count = 1
    reached[from] = stamp
    while (count > 0) {
        file = todo[count--]
        for (i = 1; i <= need_count[file]; i++) {
            next_file = home[needs[file, i]]
            if (next_file == "" || reached[next_file] == stamp) continue
            reached[next_file] = stamp
            todo[++count] = next_file
        }
    }
}

END {
    print "\n/* Made by tools/l2_reach.awk: by model, from and to, in l2data. */"
    print "const l2_extent rad__l2_extents[] = {"
    for (m = 0; m < model_count; m++) {
        first[m] = written
        reach(model[m], m + 1)
        open = 0
        for (i = 1; i <= extents; i++) { # in order of address; what lies close together is one
            if (reached[extent_of[i]] != m + 1) continue
            if (open && extent_from[i] - to < 64) {
                to = extent_to[i]
                continue
            }
            if (open) { printf "    {%d, %d},\n", from, to; written++ }
            open = 1
            from = extent_from[i]
            to = extent_to[i]
        }
        if (open) { printf "    {%d, %d},\n", from, to; written++ }
    }
    print "    {0, 0},\n};"
    printf "const uint16_t rad__l2_extent_of[] = {"
    for (m = 0; m < model_count; m++) printf "%d, ", first[m]
    printf "%d};\n", written
    if (model_count == 0 || extents == 0) {
        print "l2_reach.awk: the map shows no models, or no variables" >"/dev/stderr"
        exit 1
    }
}
