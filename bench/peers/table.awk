# table.awk — the tables and the JSON of run_peers.sh, from VERSIONS (name, version) and RUNS (workload, workers,
# program, value, unit, checksum, CPU ms, disturbed), both separated by tabs.
#
# A row is a workload, a figure (its unit) and a number of workers; a column is a program, in the order of VERSIONS.
# Ends with status 1 when checksums of a workload differ, whoever is right.
BEGIN {
    FS = "\t"
    set_of["tree"] = set_of["skynet"] = set_of["skychan"] = 2
    set_of["wake"] = set_of["wake5ms"] = set_of["unpark"] = set_of["unpark5ms"] = 3
    set_of["startup"] = set_of["nursery"] = set_of["sleepers"] = 4
    set_of["parked"] = set_of["sleep100k"] = set_of["sleep1m"] = 4
    set_of["kidnap"] = set_of["noisy"] = set_of["herd"] = set_of["interfere"] = 5
    set_count = 5
    title[1] = suite == "fibers" ? "Fibers, per operation" : suite == "explore" ? "Schedules, per run" : "Spawn and join, per task"
    title[2] = "Trees, in all"
    title[3] = suite == "fibers" ? "Waking a parked fiber from outside" : "Waking an idle pool"
    title[4] = "Many at a time"
    title[5] = "One beside another"
}

NR == FNR { # VERSIONS
    program[++program_count] = $1
    version[$1] = $2
    next
}

{
    row = $1 SUBSEP $5 SUBSEP $2
    if (!(row in row_seen)) {
        row_seen[row] = 1
        rows[++row_count] = row
    }
    n = ++run_count[row, $3]
    value[row, $3, n] = $4 + 0
    disturbed[row, $3, n] = $8
    cpu_ms[row, $3] += $7
    if ($6 != "-" && !(($1, $6) in sum_seen)) {
        sum_seen[$1, $6] = 1
        sums[$1] = sums[$1] (sums[$1] == "" ? "" : ", ") $6 " (" $3 ", w" $2 ")"
        if (++sum_count[$1] == 2) differing[++differing_count] = $1
    }
}

# Leaves median, least, most, star and counted of a cell. Disturbed runs count only where too few others are left.
function summarise(row, name,    i, j, n, all, clean, held, v) {
    n = 0
    clean = 0
    all = run_count[row, name]
    for (i = 1; i <= all; i++) clean += !disturbed[row, name, i]
    for (i = 1; i <= all; i++) {
        if (clean >= 3 && disturbed[row, name, i]) continue
        held = value[row, name, i]
        for (j = ++n; j > 1 && v[j - 1] > held; j--) v[j] = v[j - 1]
        v[j] = held
    }
    star = (clean < 3 && clean < all) ? "*" : ""
    if (star != "") any_star = 1
    least = v[1]
    most = v[n]
    median = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
    counted = n
}

function three_digits(x) {
    return x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x)
}

function print_row(set, row,    part, line, i, name, ours, ratios) {
    split(row, part, SUBSEP)
    line = "| `" part[1] "` " part[2] ", w" part[3] " |"
    ratios = ""
    for (i = 1; i <= program_count; i++) {
        name = program[i]
        if (!((row, name) in run_count)) {
            line = line " – |"
            if (has_ours && name != "raddle") ratios = ratios " – |"
            continue
        }
        summarise(row, name)
        line = line " " three_digits(median) star " (" three_digits(least) ".." three_digits(most) ") |"
        if (name == "raddle") ours = median
        else if (has_ours) ratios = ratios " " (ours == "" || median == 0 ? "–" : sprintf("%.2f", ours / median)) " |"
    }
    print line ratios
    if (set == 3 && part[2] == "us-p99" || show_cpu != "" && part[2] ~ /^(ns|ms|ns-cancel)$/) print_cpu(row, part)
}

function mean_cpu_ms(row, name) {
    return cpu_ms[row, name] / run_count[row, name]
}

function print_cpu(row, part,    line, ratios, i, name, ours, theirs) {
    line = "| `" part[1] "` CPU ms of the run, w" part[3] " |"
    for (i = 1; i <= program_count; i++) {
        name = program[i]
        theirs = (row, name) in run_count ? mean_cpu_ms(row, name) : 0
        line = line " " (theirs ? three_digits(theirs) : "–") " |"
        if (name == "raddle") ours = theirs
        else if (show_cpu == "" || !ours || !theirs) ratios = ratios (has_ours ? " |" : "")
        else ratios = ratios sprintf(" %.2f |", ours / theirs)
    }
    print line ratios
}

function print_table(set,    i, part, begun) {
    for (i = 1; i <= row_count; i++) {
        split(rows[i], part, SUBSEP)
        if ((part[1] in set_of ? set_of[part[1]] : 1) != set) continue
        if (!begun) print_head(set)
        begun = 1
        print_row(set, rows[i])
    }
}

function print_head(set,    i, line, rule) {
    line = "| " title[set] " |"
    rule = "|---|"
    for (i = 1; i <= program_count; i++) {
        line = line " " version[program[i]] " |"
        rule = rule "---|"
    }
    for (i = 1; has_ours && i <= program_count; i++) {
        if (program[i] == "raddle") continue
        line = line " ours / " program[i] " |"
        rule = rule "---|"
    }
    print "\n" line "\n" rule
}

function quoted(text) {
    gsub(/["\\]/, "\\\\&", text)
    return "\"" text "\""
}

function truth(condition) {
    return condition ? "true" : "false"
}

function write_json(    i, j, part, name, separator) {
    printf("{\"repetitions\": %d, \"tiny\": %s, \"checksums_agree\": %s, \"programs\": {", repetitions,
           truth(tiny != ""), truth(!differing_count)) > json
    for (i = 1; i <= program_count; i++) {
        printf("%s%s: %s", separator, quoted(program[i]), quoted(version[program[i]])) > json
        separator = ", "
    }
    printf("}, \"rows\": [") > json
    separator = ""
    for (i = 1; i <= row_count; i++) {
        split(rows[i], part, SUBSEP)
        for (j = 1; j <= program_count; j++) {
            name = program[j]
            if (!((rows[i], name) in run_count)) continue
            summarise(rows[i], name)
            printf("%s\n  {\"workload\": %s, \"workers\": %d, \"program\": %s, \"unit\": %s, \"median\": %.6g",
                   separator, quoted(part[1]), part[3], quoted(name), quoted(part[2]), median) > json
            printf(", \"min\": %.6g, \"max\": %.6g, \"runs\": %d, \"disturbed\": %s, \"cpu_ms\": %.6g}",
                   least, most, counted, truth(star != ""), mean_cpu_ms(rows[i], name)) > json
            separator = ","
        }
    }
    printf("\n]}\n") > json
    close(json)
}

END {
    has_ours = ("raddle" in version) && program_count > 1
    for (i = 1; i <= set_count; i++) print_table(i)
    print ""
    if (any_star) print "*: fewer than three runs were undisturbed by other processes"
    for (i = 1; i <= differing_count; i++)
        print "checksums of " differing[i] " differ: " sums[differing[i]] "; the programs did not do the same work"
    write_json()
    exit differing_count > 0
}
