/* exports.c — from the text of a protocol to what came of it, in one call. See exports.h. */
#include "session/wasm/exports.h"

#include "base/alloc.h"

struct rad_wasm_result {
    int end;
    rad_error error;
    rad_session_info info;
    char *trace, *report;
};

void *rad_wasm_take(uint32_t size)
{
    return rad__alloc(1, size);
}

void rad_wasm_give_back(void *memory)
{
    rad__free(memory);
}

static void run_sessions(rad_wasm_result *r, const rad_protocols *p, const rad_session_options *o,
                         uint32_t sessions, uint64_t fuel)
{
    rad_session_vm *vm;
    r->end = rad_session_create(&vm, p, o, &r->error);
    if (r->end == 0) r->end = rad_session_open(vm, NULL, sessions, &r->error);
    if (r->end == 0) {
        r->end = (int)rad_session_run(vm, fuel);
        rad_session_look(vm, &r->info);
        r->report = rad_session_report(vm);
        if (o->log) r->trace = rad_session_trace_text(vm, RAD_NONE, true);
        if (r->report == NULL || (o->log && r->trace == NULL)) r->end = RAD_SESSION_NO_MEMORY;
    }
    if (vm != NULL) rad_session_destroy(vm);
}

rad_wasm_result *rad_wasm_run(const char *text, uint32_t size, uint32_t n, uint32_t policy,
                              uint32_t sessions, uint32_t capacity, uint64_t seed, uint64_t start,
                              uint64_t fuel, uint32_t keep)
{
    rad_wasm_result *r = rad__alloc(1, sizeof *r);
    if (r == NULL) return NULL;
    rad_session_options o = rad_session_preset();
    o.n = n ? n : RAD_SESSION_ALL;
    o.policy = (enum rad_session_policy)policy;
    o.capacity = capacity;
    o.seed = seed;
    o.start = start;
    o.log = keep != 0;
    rad_protocols *p;
    r->end = rad_protocols_parse(&p, "protocol", text, size, &r->error);
    if (r->end != 0) return r;
    run_sessions(r, p, &o, sessions, fuel);
    rad_protocols_free(p);
    return r;
}

void rad_wasm_forget(rad_wasm_result *r)
{
    if (r == NULL) return;
    rad__free(r->trace);
    rad__free(r->report);
    rad__free(r);
}

char *rad_wasm_generate(uint64_t seed)
{
    rad_error error;
    return rad_protocols_generate(seed, NULL, &error);
}

int rad_wasm_end(const rad_wasm_result *r)
{
    return r->end;
}

const char *rad_wasm_error(const rad_wasm_result *r)
{
    return r->error.text;
}

const char *rad_wasm_digest(const rad_wasm_result *r)
{
    return r->info.digest;
}

const char *rad_wasm_trace(const rad_wasm_result *r)
{
    return r->trace ? r->trace : "";
}

const char *rad_wasm_report(const rad_wasm_result *r)
{
    return r->report ? r->report : "";
}

uint64_t rad_wasm_number(const rad_wasm_result *r, uint32_t which)
{
    switch (which) {
    case RAD_WASM_ROUNDS: return r->info.rounds;
    case RAD_WASM_INSTRUCTIONS: return r->info.instructions;
    case RAD_WASM_MESSAGES: return r->info.messages;
    case RAD_WASM_EFFECTS: return r->info.effects;
    case RAD_WASM_FAULTED: return r->info.sessions_faulted;
    default: return 0;
    }
}
