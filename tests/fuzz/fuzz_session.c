/* fuzz_session.c — any bytes as a protocol file: an error that says where, or protocols that run. The last one is run
 * for a bounded number of rounds with N = 1 and with all; when both complete without a fault they are the same. */
#include "base/alloc.h"
#include "session/machine/vm.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROUNDS = 3000, SESSIONS_MOST = 50, CENSUS_MOST = 100, EVENTS_MOST = 100000, CAPACITY_STATES = 300 };

static void require(bool condition)
{
    if (!condition) abort();
}

/* Code by hand may open sessions without end: then it is left alone. */
static enum rad_session_end run(rad_session_vm *vm)
{
    enum rad_session_end end = RAD_SESSION_EXHAUSTED;
    for (uint32_t i = 0; i < ROUNDS && end == RAD_SESSION_EXHAUSTED; i++) {
        if (vm->session_count > SESSIONS_MOST || vm->instructions > EVENTS_MOST) break;
        end = rad_session_run(vm, 1);
        require(vm->co_count > CENSUS_MOST || i % 16 != 0 || rad__rounds_valid(vm));
    }
    return end;
}

static enum rad_session_end run_with(const rad_protocols *p, uint32_t n, enum rad_session_policy policy,
                                     rad_session_info *info)
{
    rad_session_options o = rad_session_defaults();
    rad_session_vm *vm;
    o.n = n;
    o.policy = policy;
    o.log = true;
    require(rad_session_create(&vm, p, &o, NULL) == 0);
    require(rad_session_open(vm, NULL, 2, NULL) == 0);
    enum rad_session_end end = run(vm);
    rad_session_look(vm, info);
    char *report = rad_session_report(vm), *trace = rad_session_trace_text(vm, RAD_NONE, true);
    require(report != NULL && trace != NULL);
    rad__free(report);
    rad__free(trace);
    rad_session_destroy(vm);
    return end;
}

/* Types can be told, stubs and a drawing made; what was projected needs buffers of one message, as far as can be tried
 * quickly. */
static void tell(const rad_protocols *p, uint32_t protocol)
{
    for (uint32_t role = 0; role < rad_protocol_role_count(p, protocol); role++) {
        char *text = rad_protocol_type_text(p, protocol, role);
        require(text != NULL);
        rad__free(text);
        rad_error error = {0};
        text = rad_protocol_c_text(p, protocol, role, &error);
        require(text != NULL || error.code == RAD_EINPUT || error.code == RAD_ELIMIT);
        rad__free(text);
    }
    char *svg = rad_protocol_svg(p, protocol);
    require(svg != NULL);
    rad__free(svg);
    rad_capacity c;
    require(rad_protocol_capacity(p, protocol, 2, CAPACITY_STATES, &c, NULL) == 0);
    require(rad_protocol_is_locals(p, protocol) ||
            (c.capacity == 1 && c.answer != RAD_CAPACITY_STUCK && c.answer != RAD_CAPACITY_WRONG));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    rad_protocols *p;
    if (rad_protocols_parse(&p, "input", (const char *)data, size, &error) != 0) {
        require(p == NULL && error.code == RAD_EINPUT && strncmp(error.text, "input:", 6) == 0);
        return 0;
    }
    tell(p, p->count - 1);
    rad_session_info one, all;
    bool by_hand = false;
    for (uint32_t i = 0; i < p->count; i++) by_hand |= p->all[i].by_hand;
    enum rad_session_end first = run_with(p, 1, RAD_SESSION_COOPERATIVE, &one);
    enum rad_session_end second = run_with(p, RAD_SESSION_ALL, RAD_SESSION_PROGRESS, &all);
    require(by_hand || p->all[p->count - 1].types.global.is_locals ||
            (first != RAD_SESSION_STUCK && second != RAD_SESSION_STUCK &&
             one.sessions_faulted + all.sessions_faulted == 0));
    if (first == RAD_SESSION_COMPLETE && second == RAD_SESSION_COMPLETE &&
        one.sessions_faulted + all.sessions_faulted == 0)
        require(strcmp(one.digest, all.digest) == 0);
    rad_protocols_free(p);
    return 0;
}
