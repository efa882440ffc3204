/* fibers_text.c — reads a line, word by word. */
#include "fibers_text.h"

#include <raddle.h>
#include <string.h>

typedef struct reader {
    const char *at;
    char word[24]; /* a name, a number, or one other character; "": the end */
} reader;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "f1" is a word, so is "2". */
static void next(reader *r)
{
    size_t length = 0;
    while (*r->at == ' ') r->at++;
    while (length < sizeof r->word - 1 && (is_letter(*r->at) || is_digit(*r->at))) r->word[length++] = *r->at++;
    if (length == 0 && *r->at) r->word[length++] = *r->at++;
    r->word[length] = 0;
}

static bool is(const reader *r, const char *word)
{
    return strcmp(r->word, word) == 0;
}

static bool takes(reader *r, const char *word)
{
    bool there = is(r, word);
    if (there) next(r);
    return there;
}

static int find_op(const char *word)
{
    for (int kind = 0; kind < FIBERS_OP_KINDS; kind++)
        if (strcmp(fibers_op_name((uint8_t)kind), word) == 0) return kind;
    return -1;
}

static bool read_kind(reader *r, uint8_t *kind, uint8_t *object, uint8_t *number)
{
    int found = find_op(r->word);
    if (found < 0) return false;
    *kind = (uint8_t)found;
    next(r);
    if (is_letter(r->word[0]) && is_digit(r->word[1]) && r->word[2] == 0) {
        if (r->word[0] != fibers_op_object(*kind)) return false;
        *object = (uint8_t)(r->word[1] - '0');
        next(r);
    }
    if (is_digit(r->word[0])) {
        *number = (uint8_t)(r->word[0] - '0');
        next(r);
    }
    return true;
}

static void read_until(reader *r, uint8_t *until)
{
    static const char *const untils[] = {"now", "passed", "soon", "never"};
    for (uint8_t i = 0; i < 4; i++)
        if (is(r, untils[i])) *until = i;
    if (is(r, untils[*until])) next(r);
}

static bool read_cases(reader *r, fibers_op *op)
{
    if (!takes(r, "{")) return true;
    do {
        if (op->case_count == FIBERS_CASES) return false;
        fibers_case *c = &op->cases[op->case_count++];
        if (!read_kind(r, &c->kind, &c->object, &c->number)) return false;
        read_until(r, &c->until);
    } while (takes(r, ","));
    return takes(r, "}");
}

static bool read_op(reader *r, fibers_fiber *fiber)
{
    if (fiber->op_count == FIBERS_OPS) return false;
    fibers_op *op = &fiber->ops[fiber->op_count++];
    if (!read_kind(r, &op->kind, &op->object, &op->number) || !read_cases(r, op)) return false;
    read_until(r, &op->until);
    return true;
}

const char *fibers_parse(const char *text, fibers_program *p)
{
    reader r = {.at = text};
    *p = (fibers_program){.fiber_count = 1,
                          .capacities = {0, 1, 1},
                          .modes = {RAD_CHAN_BLOCKS, RAD_CHAN_BLOCKS, RAD_CHAN_DROPS_OLD},
                          .task_capacity = 2,
                          .permits = {1, 2},
                          .groups = {1},
                          .parties = 2,
                          .stock_capacity = 1,
                          .blocking_threads = 1};
    for (uint32_t f = 0; f < FIBERS_MOST; f++) p->fibers[f].returns = FIBERS_RETURNS_LAST;
    next(&r);
    bool limits = is(&r, "limit");
    if (limits || is(&r, "threads")) {
        next(&r);
        *(limits ? &p->limit : &p->blocking_threads) = (uint8_t)(r.word[0] - '0');
        next(&r);
        p->limit_waits = takes(&r, "waits");
        if (!takes(&r, ":")) return r.at;
    }
    while (r.word[0]) {
        if (takes(&r, "|")) {
            if (++p->fiber_count > FIBERS_MOST) return r.at;
        } else if (!takes(&r, ";") && !read_op(&r, &p->fibers[p->fiber_count - 1])) {
            return r.at;
        }
    }
    for (uint32_t i = 0; i < FIBERS_MOST * FIBERS_OPS; i++) {
        const fibers_op *op = &p->fibers[i / FIBERS_OPS].ops[i % FIBERS_OPS];
        if (op->kind == FIBERS_SEND_SPAWN) p->fibers[op->object].is_sender = 1;
    }
    return NULL;
}
