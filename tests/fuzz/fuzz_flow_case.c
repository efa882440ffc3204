/* fuzz_flow_case.c — any flow, and anything that a world may tell it. The bytes up to the first zero are the flow's
 * text (none: a flow that has everything); the rest is what is done with a case of it: steps, answers to what was
 * asked, bytes as keys, names and values. A run is put aside in between and continued from its journal, with the same
 * digest. The machine stays sound, whatever comes. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/machine/vm.h"

#include "../support/put_aside.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MOST = 3000, TOKENS_MOST = 3000 };

static const char EVERYTHING[] =
    "flow f { data { x: int = 0 merge sum s: text b: bool merge or }\n"
    "task t { run \"true\" capture x retry 1 delay 2s undo u } task u { run \"true\" exit x }\n"
    "region r { par { loop 3 { do t } } and { many m 2 up to 4 as i { do t more m defer { on "
    "signal go into s "
    "{ } on timer 9s { } } } join any } and { lock l { wait fresh signal go } } join sync do t } "
    "on cancel { "
    "reach k } on failure into s { compensate r } await k else { } }";

static void require(bool condition)
{
    if (!condition) abort();
}

typedef struct feeder {
    const uint8_t *at, *end;
} feeder;

static uint8_t next(feeder *f)
{
    return f->at < f->end ? *f->at++ : 0;
}

/* A text of the bytes that follow. */
static const char *word(feeder *f, char text[64], size_t *length)
{
    *length = next(f) % 63;
    for (size_t i = 0; i < *length; i++) text[i] = (char)next(f);
    text[*length] = 0;
    return text;
}

static void answer(aside *journal, rad_flow_case *c, feeder *f)
{
    char key[RAD_FLOW_KEY_MAX], text[64];
    size_t length;
    uint8_t how = next(f);
    rad__flow_asks_prune(c);
    if (c->ask_count == 0) return;
    const rad_flow_ask *a = &c->asks[next(f) % c->ask_count];
    rad_flow_write write = {next(f) % (c->program->tree->variable_count + 1u), word(f, text, &length), 0};
    write.length = length;
    rad__flow_case_key(c, a->token, a->effect, key);
    rad_flow_input in = {.kind = a->kind == RAD_ASK_START ? RAD_INPUT_RESULT : RAD_INPUT_TIMER,
                         .key = key,
                         .attempt = a->attempt,
                         .alternative = a->alternative,
                         .ok = how & 1,
                         .writes = &write,
                         .write_count = how >> 1 & 1};
    bool used;
    rad_error error = {0};
    aside_feed(journal, c, &in, &used, &error);
}

/* Nothing that anybody asked for. */
static void nonsense(aside *journal, rad_flow_case *c, feeder *f)
{
    char key[64], name[64], text[64];
    size_t length;
    word(f, key, &length);
    word(f, name, &length);
    rad_flow_input in = {.kind = (enum rad_flow_input_kind)(next(f) % (RAD_INPUT_KINDS + 1)),
                         .key = key,
                         .name = name,
                         .attempt = next(f),
                         .alternative = next(f),
                         .scope = (enum rad_flow_part)(next(f) % 3),
                         .text = word(f, text, &length)};
    bool used;
    rad_error error = {0};
    in.length = length;
    if (next(f) & 1) in.name = next(f) & 1 ? "go" : "r";
    aside_feed(journal, c, &in, &used, &error);
}

static rad_flow_case *put_aside(const aside *journal, rad_flow_case *c)
{
    rad_error error = {0};
    rad_flow_rerun again;
    require(aside_again(journal, c, &again, &error) == 0);
    require(again.as_recorded && rad__digest_equal(rad__flow_case_digest(c), rad__flow_case_digest(again.c)));
    rad__flow_case_close(c);
    return again.c;
}

static void live(const rad_flow_program *p, feeder *f)
{
    rad_error error = {0};
    rad_flow_case *c;
    const char *what;
    uint8_t seed = next(f);
    rad_flow_case_options o = {.policy = seed & 1 ? "random" : "first", .seed = seed};
    aside journal;
    if (rad__flow_case_open(&c, p, &o, &error) != 0) return;
    aside_begin(&journal, p, &o);
    while (f->at < f->end && rad__flow_case_steps(c) < STEPS_MOST && c->vm->token_count < TOKENS_MOST) {
        uint8_t way = next(f);
        if (rad__flow_case_run(c, way >> 2) > RAD_CASE_WAITING) break;
        if (way % 4 == 0) answer(&journal, c, f);
        if (way % 4 == 1) nonsense(&journal, c, f);
        if (way % 4 == 2 && next(f) % 8 == 0) c = put_aside(&journal, c);
        require(rad__flow_vm_valid(c->vm, &what));
    }
    rad__bytes_free(&journal.bytes);
    rad__flow_case_close(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *zero = size > 0 ? memchr(data, 0, size) : NULL;
    if (zero == NULL) return 0;
    rad_error error = {0};
    rad_flow_program *p;
    const char *text = zero > data ? (const char *)data : EVERYTHING;
    size_t length = zero > data ? (size_t)(zero - data) : sizeof EVERYTHING - 1;
    feeder f = {zero + 1, data + size};
    if (rad__flow_program_read(&p, "fuzz", text, length, NULL, &error) != 0) {
        require(error.code == RAD_EINPUT || error.code == RAD_ENOMEM);
        return 0;
    }
    live(p, &f);
    rad__flow_program_free(p);
    return 0;
}
