#include "lab/machines/executor/code.h"

#include <stdio.h>
#include <string.h>

const char *rad__opcode_name(uint32_t op)
{
    static const char *const names[] = {
#define OP_NAME(name, text) text,
        RAD_OP_LIST(OP_NAME)
#undef OP_NAME
    };
    return op < RAD_OP_COUNT ? names[op] : "?";
}

const char *rad__place_name(uint32_t place)
{
    static const char *const names[] = {"local", "global", "external", "to"};
    return place <= RAD_PLACE_TO ? names[place] : "?";
}

/* ---- Reading: words with single spaces between ------------------------------------------------------ */

typedef struct code_words {
    const char *at;
    const char *expected; /* what the first failure missed */
} code_words;

static size_t word_take(code_words *w, const char **word)
{
    w->at += strspn(w->at, " ");
    size_t length = strcspn(w->at, " ");
    *word = w->at;
    w->at += length;
    return length;
}

static bool word_is(const char *word, size_t length, const char *text)
{
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static bool expect_word(code_words *w, const char *text, const char *expected)
{
    const char *word;
    size_t length = word_take(w, &word);
    if (word_is(word, length, text)) return true;
    w->expected = expected;
    return false;
}

static bool expect_number(code_words *w, uint32_t max, const char *expected, uint32_t *out)
{
    const char *word;
    size_t length = word_take(w, &word);
    uint64_t value = 0;
    bool good = length > 0 && length < 10;
    for (size_t i = 0; good && i < length; i++) {
        good = word[i] >= '0' && word[i] <= '9';
        value = value * 10 + (uint64_t)(word[i] - '0');
    }
    if (good && value <= max) {
        *out = (uint32_t)value;
        return true;
    }
    w->expected = expected;
    return false;
}

static bool at_end(const code_words *w)
{
    return w->at[strspn(w->at, " ")] == 0;
}

static bool parse_place(code_words *w, bool may_send, rad_exec_instruction *out)
{
    const char *word;
    size_t length = word_take(w, &word);
    for (uint32_t p = 0; p < (may_send ? RAD_PLACE_TO + 1 : RAD_PLACE_TO); p++) {
        if (!word_is(word, length, rad__place_name(p))) continue;
        out->place = (uint8_t)p;
        return p != RAD_PLACE_TO || expect_number(w, 15, "a worker, 0 ... 15", &out->amount);
    }
    w->expected = may_send ? "local, global, external or to WORKER" : "local, global or external";
    return false;
}

static bool parse_target(code_words *w, uint32_t length, uint16_t *out)
{
    uint32_t place = 0;
    if (!expect_number(w, length, "the number of an instruction", &place)) return false;
    *out = (uint16_t)place;
    return true;
}

static bool parse_spawn(code_words *w, const rad_code_names *names, rad_exec_instruction *out)
{
    const char *word;
    size_t length = word_take(w, &word);
    uint32_t program = length ? names->find(names->context, word, length) : RAD_NONE;
    w->expected = "the name of a program";
    if (program == RAD_NONE) return false;
    out->what = (uint16_t)program;
    return parse_place(w, true, out);
}

static bool parse_index(code_words *w, const char *expected, rad_exec_instruction *out)
{
    uint32_t index = 0;
    if (!expect_number(w, 63, expected, &index)) return false;
    out->what = (uint16_t)index;
    return true;
}

static bool parse_wait(code_words *w, uint32_t length, rad_exec_instruction *out)
{
    if (!parse_index(w, "a token, 0 ... 63", out)) return false;
    out->fail = UINT16_MAX;
    if (at_end(w)) return true;
    return expect_word(w, "else", "else PLACE, or nothing more") && parse_target(w, length, &out->fail);
}

static bool parse_operands(code_words *w, const rad_code_names *names, uint32_t length, rad_exec_instruction *out)
{
    switch (out->op) {
    case RAD_OP_YIELD: return parse_place(w, false, out);
    case RAD_OP_SPAWN: return parse_spawn(w, names, out);
    case RAD_OP_SLEEP: return expect_number(w, RAD_TICKS_MAX, "ticks, 0 ... 1000000", &out->amount);
    case RAD_OP_WAIT_IO: return parse_wait(w, length, out);
    case RAD_OP_ACQUIRE:
        return parse_index(w, "a resource", out) &&
               expect_number(w, RAD_BATCHES_MAX, "units, 0 ... 1000000", &out->amount) &&
               expect_word(w, "ok", "ok PLACE fail PLACE") && parse_target(w, length, &out->ok) &&
               expect_word(w, "fail", "fail PLACE") && parse_target(w, length, &out->fail);
    case RAD_OP_RELEASE:
        return parse_index(w, "a resource", out) &&
               expect_number(w, RAD_BATCHES_MAX, "units, 0 ... 1000000", &out->amount);
    case RAD_OP_JUMP: return parse_target(w, length, &out->ok);
    default: return true;
    }
}

bool rad__code_parse(const char *text, const rad_code_names *names, uint32_t self_length, rad_exec_instruction *out,
                     const char **expected)
{
    code_words w = {.at = text};
    const char *word;
    size_t length = word_take(&w, &word);
    *out = (rad_exec_instruction){.op = RAD_OP_COUNT};
    for (uint32_t op = 0; op < RAD_OP_COUNT; op++)
        if (word_is(word, length, rad__opcode_name(op))) out->op = (uint8_t)op;
    *expected = "yield, spawn, sleep, wait-io, try-acquire, release, jump, complete or panic";
    if (out->op == RAD_OP_COUNT) return false;
    bool good = parse_operands(&w, names, self_length, out);
    if (good && !at_end(&w)) {
        w.expected = "nothing more";
        good = false;
    }
    *expected = w.expected;
    return good;
}

/* ---- Writing ---------------------------------------------------------------------------------------- */

void rad__code_print(const rad_exec_instruction *in, const rad_code_names *names, char *text, size_t size)
{
    const char *op = rad__opcode_name(in->op), *place = rad__place_name(in->place);
    switch (in->op) {
    case RAD_OP_YIELD: snprintf(text, size, "%s %s", op, place); break;
    case RAD_OP_SPAWN:
        if (in->place == RAD_PLACE_TO)
            snprintf(text, size, "%s %s %s %u", op, names->name(names->context, in->what), place, (unsigned)in->amount);
        else
            snprintf(text, size, "%s %s %s", op, names->name(names->context, in->what), place);
        break;
    case RAD_OP_SLEEP: snprintf(text, size, "%s %u", op, (unsigned)in->amount); break;
    case RAD_OP_WAIT_IO:
        if (in->fail != UINT16_MAX)
            snprintf(text, size, "%s %u else %u", op, (unsigned)in->what, (unsigned)in->fail);
        else
            snprintf(text, size, "%s %u", op, (unsigned)in->what);
        break;
    case RAD_OP_ACQUIRE:
        snprintf(text, size, "%s %u %u ok %u fail %u", op, (unsigned)in->what, (unsigned)in->amount, (unsigned)in->ok,
                 (unsigned)in->fail);
        break;
    case RAD_OP_RELEASE: snprintf(text, size, "%s %u %u", op, (unsigned)in->what, (unsigned)in->amount); break;
    case RAD_OP_JUMP: snprintf(text, size, "%s %u", op, (unsigned)in->ok); break;
    default: snprintf(text, size, "%s", op); break;
    }
}
