# mutants_wakes.awk — bugs in code that threads share: see mutants.awk.
#
# wake      each call that wakes somebody is left out. A call that does something else as well and answers whom to wake
#           does that, and its answer is lost. A call that decides whether to wake says no.
# recheck   each look at a queue, a wake word or the end, before sleeping or going on, sees nothing
# publish   each statement that makes something visible (a release or stronger, a push, an announcement, a wake word)
#           changes places with what comes before it in its block, and with what comes behind it, unless one needs
#           the other's result. A `return` behind it is evaluated first.
# lock      each taking of a lock is left out; giving it back, which is a plain store, stays. So is each visit that
#           keeps a runtime from ending.
# What these are called is listed below: the executor's words, and those of the runtime, which knows both.

function mutate(n) { mutate_wake(n); mutate_recheck(n); mutate_publish(n); mutate_lock(n) }

# ---- The vocabulary

# One that is only about waking; one that also does something; one that decides.
BEGIN {
    wakers = "rad__idle_notify|rad__idle_notify_worker|rad__idle_notify_self|rad__idle_call|wake_word_give|plain_notify" \
        "|wake_one|bits_claim_one|rad__os_word_wake|rad__exec_wake_thread|rad__shell_ring|rad__shell_offer" \
        "|rad__worker_share|group_send_finish|rad_worker_spawn_on|step_spread|woke"
    answerers = "rad__sched_wake|rad__sched_send|inject|push_local|rad__worker_spawn|rad__worker_spawn_global" \
        "|rad__worker_spawn_on|rad__worker_wake|rad__worker_end_search|rad__worker_unnest"
    deciders = "rad__choose_wake|rad__idle_end_search|rad__choose_hoard|rad__idle_could_wake|stop_searching"
    looks = split("rad__injector_is_empty rad__deque_is_empty rad__inbox_is_empty ring_is_empty sees_work " \
        "rad__sched_is_done step_if_done rad__idle_has_wake_word group_is_complete bits_any", look, " ")
    for (i = 1; i <= looks; i++) sees[i] = look[i] ~ /is_empty$/ ? "true" : "false"
    publishers = "rad__injector_push|rad__inbox_push|rad__deque_push|rad__deque_publish|rad__idle_announce" \
        "|rad__sched_finish|rad__gate_add|rad__idle_call|wake_word_give|rad_worker_spawn_on|rad__shell_spawn|stop_searching"
    bells = "(\\.wake_word|->bell), 1"
    if (path ~ /^src\/rt\//) runtime_words()
}

function sees_nothing(names, value,    list, n, i) {
    n = split(names, list, " ")
    for (i = 1; i <= n; i++) { look[++looks] = list[i]; sees[looks] = value }
}

# A look that is no call, as a pattern, and what it sees.
function glance(what, value) { pattern[++patterns] = what; shows[patterns] = value }

function runtime_words() {
    wakers = wakers "|rad__wakes_go|rad__wakes_add|rad__clause_notify|rad__queue_claim_all|rad__strand_unpark|queue" \
        "|queue_idle|rad__strand_start|rad_worker_spawn|rad_worker_wake|rad_exec_wake|rad__exec_reinforce" \
        "|rad__monitor_ring|rad__runtime_stir|rad__overdue_put|hurry|rad__timers_expire|rad__slot_cancel|claim|ask" \
        "|rad__ready_ring|rad__os_poll_ring|rad__ready_answer|rad__file_waits|send_another|give" \
        "|let_readers_in|pass_on"
    answerers = answerers "|rad__worker_left|rad__worker_wake_resting"
    bells = "(->bell|->calls|->waiting), 1"
    publishers = publishers "|rad__unlock|unlock_all|rad__queue_put|rad__queue_put_first|rad__worker_put_later" \
        "|rad__state_(begin|own|yield|end|retire)"
    sees_nothing("rad__fiber_is_canceled rad__overdue_any rad__wait_give_up rad__blocking_any alarm_is_on is_due " \
        "is_canceled is_queued is_parked nothing_can_happen rad__state_signalled rad__worker_waits job_withdraw " \
        "rad__exec_is_away rad__os_thread_sleeps", "false")
    sees_nothing("rad__ready_waits rad__ready_look rad__idle_parked rad__blocking_threads rad__ready_threads " \
        "wanted_of waiting", "0")
    sees_nothing("handle_is_good key_is_good waiter_claim rad__queue_claim_first rad__worker_is_alone", "true")
    sees_nothing("rad__queue_claim rad__overdue_take", "NULL")
    sees_nothing("rad__wheel_next", "UINT64_MAX")
    sees_nothing("rad__waiter_look", "RAD_WAIT_OPEN")
    sees_nothing("due", "-1")
    glance("atomic_load_explicit\\(&[a-z_.>-]+(closing|ends|dozing|canceled|visits|overtaken|armed), [a-z_]+\\)", "0")
    glance("[a-z_]+(->|\\.)(closed|ended|canceled|ends|dirty|asking|asked|listed|queued|done|pins|shields)", "0")
    glance("[a-z_]+->(waiters|readers|writers|takers|senders|receivers)\\.first", "NULL")
    glance("word & (WAITING|WRITER|CONTENDED|WOKEN|\\(WAITING \\| WRITER\\))", "0")
    # Another incarnation, question or round passes for the same.
    glance("rad__(fiber|state)_generation\\([^()]*\\) == [a-z.>-]+", "true")
    glance("canceled == rad__fiber_generation\\([^()]*\\)", "true")
    glance("rad__(fiber|state)_generation\\([^()]*\\) != [a-z.>-]+", "false")
    glance("file->question == (question|\\([a-z0-9_]+\\)\\([^()]*\\))", "true")
    glance("\\(uint64_t\\)b->round \\+ 1 != c->want", "false")
}

# ---- The four kinds

function mutate_wake(n,    s, a, b, at, to, left, value, name) {
    a = first[n]; b = last[n]
    s = joined(a, b)
    take_apart(s)
    value = core !~ ("^(" deciders ")\\([^()]*\\)$") # somebody looks at what it decides
    for (at = value ? find_call(s, deciders, 1) : 0; at > 0; at = find_call(s, deciders, at + 1)) {
        to = closing(s, at + RLENGTH - 1)
        name = substr(s, at, to - at + 1)
        name = name ~ /^(stop_searching|rad__idle_end)/ ? "(" name " && false)" : "false"
        mutant("wake", a, b, substr(s, 1, at - 1) name substr(s, to + 1))
    }
    take_apart(s)
    if (core ~ /^return (rather|worker|woken|step\.woken)$/) mutant("wake", a, b, before "return RAD_NONE" behind)
    if (core ~ /^step->woken = [^(]*$/) mutant("wake", a, b, before "(void)(" substr(core, 15) ")" behind)
    if (core ~ ("^atomic_(store|exchange|fetch_add)_explicit\\(.*" bells)) mutant("wake", a, b, before behind)
    if (!find_call(core, wakers "|" answerers, 1)) return
    if (core ~ /^rad__wakes_add\(&/) return # the same as when all of them are left out, below
    if (core ~ /^return /) {
        value = substr(core, 8)
        mutant("wake", a, b, before "{ (void)(" value "); return RAD_NONE; }" substr(behind, 2))
        if (!find_call(value, answerers, 1)) mutant("wake", a, b, before "return RAD_NONE" behind)
    } else if (match(core, / = /)) {
        left = substr(core, 1, RSTART - 1)
        value = substr(core, RSTART + 3)
        if (left ~ /^[a-z_0-9]+ [a-z_]+$/) {
            mutant("wake", a, b, before left " = ((void)(" value "), RAD_NONE)" behind)
            if (!find_call(value, answerers, 1)) mutant("wake", a, b, before left " = RAD_NONE" behind)
        } else {
            mutant("wake", a, b, before "(void)(" value ")" behind)
            if (!find_call(value, answerers, 1)) mutant("wake", a, b, before behind)
        }
    } else if (find_call(core, answerers, 1) && match(core, /,[ \n]+/))
        mutant("wake", a, b, before "(void)(" substr(core, RSTART + RLENGTH) behind) # with its bracket
    else mutant("wake", a, b, before behind)
}

function mutate_recheck(n,    s, i, name, at, from, to) {
    s = joined(first[n], last[n])
    take_apart(s)
    if (core ~ /^rad__os_word_wait\(/ && match(before, /(while|if) \(/)) { # a wait without the look before it
        mutant("recheck", first[n], last[n], substr(before, 1, RSTART - 1) core behind)
        return
    }
    if (current ~ /is_empty$/ && core ~ /^return /) {
        mutant("recheck", first[n], last[n], before "return true" behind)
        if (match(core, / && /)) {
            mutant("recheck", first[n], last[n], before substr(core, 1, RSTART - 1) behind)
            mutant("recheck", first[n], last[n], before "return " substr(core, RSTART + 4) behind)
        }
        return
    }
    if (s ~ /RAD_D?(ASSERT|CHECK)|rad__misuse/) return
    # `if (look) wake;` without the wake is the same.
    if (core ~ ("^(" wakers ")\\([^=]*$") && before !~ /!|&&|\|\||(while|for) \(/ && before ~ /if \(/) return
    for (i = 1; i <= looks; i++) {
        name = look[i]
        for (at = find_call(s, name, 1); at > 0; at = find_call(s, name, at + 1)) {
            to = closing(s, at + RLENGTH - 1)
            mutant("recheck", first[n], last[n], substr(s, 1, at - 1) sees[i] substr(s, to + 1))
        }
    }
    for (i = 1; i <= patterns; i++)
        for (at = 1; match(substr(s, at), pattern[i]); at = to) {
            from = at + RSTART - 1
            to = from + RLENGTH
            if (substr(s, to) ~ /^([a-z_0-9(]|\+\+|--| [+-]?= )/ || substr(s, 1, from - 1) ~ /[a-z_>.&+-]$/) continue
            mutant("recheck", first[n], last[n], substr(s, 1, from - 1) shows[i] substr(s, to))
        }
}

function mutate_lock(n,    s, at, to) {
    s = joined(first[n], last[n])
    take_apart(s)
    if (core ~ /^rad__lock\(/) mutant("lock", first[n], last[n], before behind)
    at = find_call(s, "rad__visit_begin", 1)
    if (at == 0) return
    to = closing(s, at + RLENGTH - 1)
    mutant("lock", first[n], last[n], substr(s, 1, at - 1) "NULL" substr(s, to + 1))
}

function publishes(n,    s) {
    s = trim(joined(first[n], last[n]))
    if (s ~ "^(for \\(.*\\) )?(" publishers ")\\(") return 1
    if (s ~ /^(if|for|while|return|do|\})/) return 0
    if (s !~ /memory_order_(release|seq_cst|acq_rel)/) return 0
    return s ~ /atomic_(store|exchange|fetch_[a-z]+|flag_clear|compare_exchange_[a-z]+)_explicit/
}

# Nothing happens there that anybody could see.
function is_idle(text) { return text ~ /^[ \n]*[a-z_ ]+\*?[a-z_]+ = &[a-z_>.-]+;\n$/ }

function mutate_publish(n,    own, unlocks, indent, begin, end, other, at) {
    if (!publishes(n)) return
    own = joined(top[n], last[n])
    unlocks = own ~ /(^|[^a-z_])(rad__unlock|unlock_all)\(/
    indent = indent_of(first[n])
    begin = top[n] > body ? beginning_of(top[n] - 1, indent) : 0
    other = joined(begin, top[n] - 1)
    if (unlocks && (begin <= body || line[begin - 1] ~ /lock(_all)?\(.*;/)) begin = 0 # the same as without the lock
    if (begin > 0 && !uses(own, declared(begin)) && !is_idle(other) && trim(other) !~ /^(case|default|return)/)
        mutant("publish", begin, last[n], own other)
    end = last[n] < tail ? end_of(last[n] + 1, indent) : 0
    other = joined(last[n] + 1, end)
    if (end == 0 || uses(other, declared(first[n])) || is_idle(other)) return
    # A lock that is held for longer costs time, and no more, unless somebody waits or is woken meanwhile.
    if (unlocks && other !~ /rad__wakes_go|rad__clause_notify|rad__wait_single/) return
    at = code_begins(last[n] + 1)
    if (trim(line[at]) ~ /^return .*\(/)
        mutant("publish", top[n], end, substr(other, 1, index(other, "return ") - 1) "__auto_type answer = " \
            substr(other, index(other, "return ") + 7) own "    return answer;\n")
    else if (trim(line[at]) !~ /^(return|break|continue|goto)/)
        mutant("publish", top[n], end, other own)
}
