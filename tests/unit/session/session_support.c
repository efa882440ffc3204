#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "session_support.h"

#include <string.h>

rad_protocols *session_parse(const char *text)
{
    rad_protocols *p;
    rad_error error;
    if (rad_protocols_parse(&p, "test", text, strlen(text), &error) != 0) fail_msg("%s in\n%s", error.text, text);
    return p;
}

void session_refused(const char *text, const char *because)
{
    rad_protocols *p;
    rad_error error;
    if (rad_protocols_parse(&p, "test", text, strlen(text), &error) == 0) fail_msg("was accepted: %s", text);
    assert_int_equal(error.code, RAD_EINPUT);
    assert_null(p);
    if (strcmp(error.text, because) != 0) fail_msg("said: %s", error.text);
}

rad_session_vm *session_vm(const rad_protocols *p, const rad_session_options *o, uint32_t sessions)
{
    rad_session_vm *vm;
    rad_error error;
    if (rad_session_create(&vm, p, o, &error) != 0 || rad_session_open(vm, NULL, sessions, &error) != 0)
        fail_msg("%s", error.text);
    return vm;
}

rad_session_options session_options(uint32_t n, enum rad_session_policy policy)
{
    rad_session_options o = rad_session_defaults();
    o.n = n;
    o.policy = policy;
    return o;
}

rad_session_info session_info(const rad_session_vm *vm)
{
    rad_session_info info;
    rad_session_look(vm, &info);
    return info;
}

rad_co *session_thread(const rad_session_vm *vm, uint32_t session, const char *name)
{
    const rad_session *s = vm->sessions[session];
    for (uint32_t i = 0; i < s->protocol->types.thread_count; i++)
        if (strcmp(s->protocol->types.threads[i].name, name) == 0) return &s->threads[i];
    fail_msg("there is no thread %s", name);
    return NULL;
}

rad_session_event *session_events(const rad_session_vm *vm, uint64_t *count)
{
    *count = rad_session_event_count(vm);
    rad_session_event *events = rad__alloc(*count + 1, sizeof *events);
    assert_non_null(events);
    memcpy(events, rad_session_events(vm), *count * sizeof *events);
    rad_session_normalize(events, *count);
    return events;
}

bool session_round(rad_session_vm *vm)
{
    if (!rad__rounds_unblock(vm)) return false;
    do rad__rounds_pick(vm, rad__rounds_prefer(vm));
    while (!rad__rounds_is_full(vm));
    for (uint32_t i = 0; i < vm->picked_count; i++) rad__rounds_run_one(vm, vm->picked[i]);
    rad__rounds_round_ends(vm);
    assert_true(rad__rounds_valid(vm));
    return true;
}
