/* cfi.c — see cfi.h. The format: DWARF 5, section 6.4, and the Linux Standard Base on .eh_frame. */
#include "os/cfi.h"

#include <string.h>

enum { SAVED_MOST = 4 };

enum rule_kind {
    RULE_SAME = 0,
    RULE_UNDEFINED,
    RULE_OFFSET,     /* saved at CFA + value */
    RULE_IS_OFFSET,  /* is CFA + value */
    RULE_REGISTER,   /* in register `value` */
    RULE_EXPRESSION, /* saved where it says; value: its place, from the header */
    RULE_IS_EXPRESSION
};

typedef struct rule {
    int32_t value;
    uint8_t kind;
    uint8_t base; /* of the CFA, unless it is an expression */
} rule;

typedef struct row {
    rule cfa;
    rule at[RAD_CFI_REGISTERS];
} row;

typedef struct cursor {
    const uint8_t *at, *end;
    bool bad;
} cursor;

typedef struct function {
    const uint8_t *header;
    uintptr_t begin, size; /* of its code */
    uint64_t code_unit;
    int64_t data_unit;
    uint32_t link; /* the register with the return address */
    uint8_t encoding;
    bool augmented;
    cursor common, own; /* instructions */
} function;

/* ---- Memory ----------------------------------------------------------------------------------------------- */

/* Of another stack, where a sanitizer has its own ideas of what may be read. */
__attribute__((no_sanitize("address"))) bool rad__cfi_load(const rad_cfi_frame *f, uintptr_t at, uintptr_t *value)
{
    if (at % sizeof *value != 0 || at < f->low || at >= f->high || f->high - at < sizeof *value) return false;
    *value = *(const uintptr_t *)at;
    return true;
}

/* ---- Reading tables ------------------------------------------------------------------------------------- */

static uint64_t take(cursor *c, uint32_t size)
{
    uint64_t value = 0;
    if (c->bad || (size_t)(c->end - c->at) < size) {
        c->bad = true;
        return 0;
    }
    for (uint32_t i = 0; i < size; i++) value |= (uint64_t)c->at[i] << (8 * i);
    c->at += size;
    return value;
}

static uint64_t take_leb(cursor *c, bool is_signed)
{
    uint64_t value = 0, byte;
    uint32_t shift = 0;
    do {
        byte = take(c, 1);
        if (shift < 64) value |= (byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    if (is_signed && (byte & 64) && shift < 64) value |= ~UINT64_C(0) << shift;
    return value;
}

static uint64_t uleb(cursor *c)
{
    return take_leb(c, false);
}

static int64_t sleb(cursor *c)
{
    return (int64_t)take_leb(c, true);
}

/* Bits 0 … 3 of an encoding say how long a number is, bit 4 that it counts from where it stands. */
static uintptr_t take_encoded(cursor *c, uint8_t encoding)
{
    uintptr_t here = (uintptr_t)c->at, value; /* tidy: address ok: numbers in tables count from it */
    switch (encoding & 15) {
    case 0x0:
    case 0x4:
    case 0xc: value = take(c, 8); break;
    case 0x3: value = take(c, 4); break;
    case 0xb: value = (uintptr_t)(int64_t)(int32_t)take(c, 4); break;
    default: c->bad = true; return 0;
    }
    if ((encoding & 0x60) != 0) c->bad = true; /* from elsewhere: nobody does that for code */
    return (encoding & 0x10) != 0 ? here + value : value;
}

static void skip(cursor *c, uint64_t size)
{
    if (c->bad || (uint64_t)(c->end - c->at) < size)
        c->bad = true;
    else
        c->at += size;
}

/* A block of a table: its length, then so many bytes. */
static cursor block_at(const uint8_t *at)
{
    uint32_t length;
    memcpy(&length, at, sizeof length);
    bool bad = length == 0 || length == UINT32_MAX; /* the end; or one of more than 4 GiB */
    return (cursor){at + 4, at + 4 + (bad ? 0 : length), bad};
}

static bool read_common(function *f, const uint8_t *at)
{
    cursor c = block_at(at);
    bool has_id = take(&c, 4) != 0;
    uint64_t version = take(&c, 1);
    const char *letters = (const char *)c.at;
    while (take(&c, 1) != 0) {
    }
    f->code_unit = uleb(&c);
    f->data_unit = sleb(&c);
    f->link = (uint32_t)(version == 1 ? take(&c, 1) : uleb(&c));
    f->augmented = letters[0] == 'z';
    uint64_t size = f->augmented ? uleb(&c) : 0;
    cursor rest = {c.at, c.end, c.bad};
    for (const char *letter = letters + f->augmented; *letter != 0 && !rest.bad; letter++)
        if (*letter == 'R')
            f->encoding = (uint8_t)take(&rest, 1);
        else if (*letter == 'L')
            take(&rest, 1);
        else if (*letter == 'P')
            take_encoded(&rest, (uint8_t)take(&rest, 1) & 15);
        else if (*letter != 'S' && *letter != 'B')
            return false;
    skip(&c, size);
    f->common = c;
    return !has_id && !c.bad && !rest.bad && (version == 1 || version == 3) && f->link < RAD_CFI_REGISTERS;
}

static bool read_function(function *f, const uint8_t *at)
{
    cursor c = block_at(at);
    const uint8_t *here = c.at;
    uint64_t back = take(&c, 4);
    if (c.bad || back == 0 || !read_common(f, here - back)) return false;
    f->begin = take_encoded(&c, f->encoding);
    f->size = take_encoded(&c, f->encoding & 15);
    if (f->augmented) skip(&c, uleb(&c));
    f->own = c;
    return !c.bad;
}

/* The header: a table of (code, description), both from its own address, sorted. The last one that begins at or before
 * the address may be the one. */
static bool find_function(function *f, const uint8_t *header, uintptr_t address)
{
    static const uint8_t usual[] = {1, 0x1b, 3, 0x3b};
    if (memcmp(header, usual, sizeof usual) != 0) return false;
    int64_t distance = (int64_t)(address - (uintptr_t)header); /* tidy: address ok: as it counts */
    uint32_t count, low = 0;
    memcpy(&count, header + 8, sizeof count);
    int32_t entry[2];
    for (uint32_t high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        memcpy(entry, header + 12 + (size_t)middle * 8, sizeof entry);
        if (entry[0] <= distance)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0) return false;
    memcpy(entry, header + 12 + (size_t)(low - 1) * 8, sizeof entry);
    *f = (function){.header = header};
    return read_function(f, header + entry[1]) && address - f->begin < f->size;
}

/* ---- What an instruction of a table does ---------------------------------------------------------------- */

typedef struct machine {
    const function *f;
    row now, first;
    row saved[SAVED_MOST];
    uint32_t saved_count;
    cursor c;
} machine;

static void set_rule(machine *m, uint64_t number, enum rule_kind kind, int64_t value)
{
    if (number < RAD_CFI_REGISTERS) m->now.at[number] = (rule){(int32_t)value, (uint8_t)kind, 0};
}

static void restore_rule(machine *m, uint64_t number)
{
    if (number < RAD_CFI_REGISTERS) m->now.at[number] = m->first.at[number];
}

/* Its place; goes on behind it. */
static int64_t take_expression(machine *m)
{
    int64_t place = m->c.at - m->f->header;
    skip(&m->c, uleb(&m->c));
    return place;
}

static void set_cfa(machine *m, uint64_t base, int64_t value)
{
    if (base >= RAD_CFI_REGISTERS) m->c.bad = true;
    m->now.cfa = (rule){(int32_t)value, RULE_OFFSET, (uint8_t)base};
}

static bool execute_cfa(machine *m, uint64_t code)
{
    cursor *c = &m->c;
    uint64_t base = m->now.cfa.base;
    switch (code) {
    case 0x0c:
        base = uleb(c);
        set_cfa(m, base, (int64_t)uleb(c));
        return true;
    case 0x0d: set_cfa(m, uleb(c), m->now.cfa.value); return true;
    case 0x0e: set_cfa(m, base, (int64_t)uleb(c)); return true;
    case 0x0f: m->now.cfa = (rule){(int32_t)take_expression(m), RULE_EXPRESSION, 0}; return true;
    case 0x12:
        base = uleb(c);
        set_cfa(m, base, sleb(c) * m->f->data_unit);
        return true;
    case 0x13: set_cfa(m, base, sleb(c) * m->f->data_unit); return true;
    default: return false;
    }
}

static void execute_rule(machine *m, uint64_t code)
{
    cursor *c = &m->c;
    int64_t unit = m->f->data_unit;
    uint64_t number = uleb(c);
    switch (code) {
    case 0x05: set_rule(m, number, RULE_OFFSET, (int64_t)uleb(c) * unit); break;
    case 0x06: restore_rule(m, number); break;
    case 0x07: set_rule(m, number, RULE_UNDEFINED, 0); break;
    case 0x08: set_rule(m, number, RULE_SAME, 0); break;
    case 0x09: set_rule(m, number, RULE_REGISTER, (int64_t)uleb(c)); break;
    case 0x10: set_rule(m, number, RULE_EXPRESSION, take_expression(m)); break;
    case 0x11: set_rule(m, number, RULE_OFFSET, sleb(c) * unit); break;
    case 0x14: set_rule(m, number, RULE_IS_OFFSET, (int64_t)uleb(c) * unit); break;
    case 0x15: set_rule(m, number, RULE_IS_OFFSET, sleb(c) * unit); break;
    case 0x16: set_rule(m, number, RULE_IS_EXPRESSION, take_expression(m)); break;
    case 0x2e: break; /* size of arguments: for exceptions */
    case 0x2f: set_rule(m, number, RULE_OFFSET, -(int64_t)uleb(c) * unit); break;
    default: c->bad = true; break;
    }
}

/* One that is no advance. */
static void execute(machine *m, uint64_t code)
{
    if (code >> 6 == 2)
        set_rule(m, code & 63, RULE_OFFSET, (int64_t)uleb(&m->c) * m->f->data_unit);
    else if (code >> 6 == 3)
        restore_rule(m, code & 63);
    else if (code == 0x0a)
        if (m->saved_count == SAVED_MOST)
            m->c.bad = true;
        else
            m->saved[m->saved_count++] = m->now;
    else if (code == 0x0b)
        if (m->saved_count == 0)
            m->c.bad = true;
        else
            m->now = m->saved[--m->saved_count];
    else if (code != 0 && code != 0x2d && !execute_cfa(m, code)) /* 0x2d: see strip */
        execute_rule(m, code);
}

/* Up to what holds at this distance from the beginning of the function. */
static bool run(machine *m, cursor instructions, uint64_t distance)
{
    uint64_t at = 0;
    m->c = instructions;
    while (!m->c.bad && m->c.at < m->c.end) {
        uint64_t code = take(&m->c, 1);
        uint32_t size = code == 2 ? 1 : code == 3 ? 2 : code == 4 ? 4 : 0;
        if (code == 1) {
            at = take_encoded(&m->c, m->f->encoding) - m->f->begin;
        } else if (size != 0 || code >> 6 == 1) {
            at += (size != 0 ? take(&m->c, size) : code & 63) * m->f->code_unit;
        } else {
            execute(m, code);
            continue;
        }
        if (at > distance) break;
    }
    return !m->c.bad;
}

/* ---- The caller's registers ----------------------------------------------------------------------------- */

static bool known(const rad_cfi_frame *f, uint64_t number, uintptr_t *value)
{
    if (number >= RAD_CFI_REGISTERS || !(f->known >> number & 1)) return false;
    *value = f->at[number];
    return true;
}

/* As far as compilers and linkers use them for frames: a register and a distance, read from there, a distance; and in
 * stubs that call other object files, by where in the stub it is: sp + 8 + ((pc & 15) >= 11) * 8. */
enum { OPERANDS_MOST = 6 };

typedef struct operands {
    uintptr_t at[OPERANDS_MOST];
    uint32_t count;
} operands;

static bool put(operands *o, uintptr_t value)
{
    if (o->count == OPERANDS_MOST) return false;
    o->at[o->count++] = value;
    return true;
}

/* Of the two last ones. */
static bool combine(operands *o, uint64_t code)
{
    if (o->count < 2) return false;
    uintptr_t right = o->at[--o->count], *left = &o->at[o->count - 1];
    switch (code) {
    case 0x1a: *left &= right; return true;
    case 0x22: *left += right; return true;
    case 0x24: *left = right < 64 ? *left << right : 0; return true;
    case 0x2a: *left = (intptr_t)*left >= (intptr_t)right; return true;
    default: return false;
    }
}

static bool evaluate_one(const rad_cfi_frame *f, cursor *c, operands *o)
{
    uint64_t code = take(c, 1);
    uint64_t number = code == 0x92 ? uleb(c) : code - 0x70;
    uintptr_t value;
    if (code == 0x92 || (code >= 0x70 && code < 0x90))
        return known(f, number, &value) && put(o, value + (uintptr_t)sleb(c));
    if (code >= 0x30 && code < 0x50) return put(o, code - 0x30);
    if (o->count == 0) return false;
    uintptr_t *top = &o->at[o->count - 1];
    if (code == 0x06) return rad__cfi_load(f, *top, top);
    if (code != 0x23) return combine(o, code);
    *top += uleb(c);
    return true;
}

static bool evaluate(const rad_cfi_frame *f, const uint8_t *expression, uintptr_t top, uintptr_t *value)
{
    cursor c = {expression, expression + 16, false};
    operands o = {.at = {top}, .count = 1};
    uint64_t size = uleb(&c);
    c.end = c.at + size;
    while (c.at < c.end && !c.bad)
        if (!evaluate_one(f, &c, &o)) return false;
    *value = o.at[o.count - 1];
    return !c.bad;
}

/* False: the register is lost. */
static bool apply(const rad_cfi_frame *f, const uint8_t *header, const rule *r, uint32_t number, uintptr_t cfa,
                  uintptr_t *value)
{
    uintptr_t at = cfa + (uintptr_t)(int64_t)r->value;
    switch ((enum rule_kind)r->kind) {
    case RULE_SAME: return known(f, number, value);
    case RULE_OFFSET: return rad__cfi_load(f, at, value);
    case RULE_IS_OFFSET: *value = at; return true;
    case RULE_REGISTER: return known(f, (uint64_t)r->value, value);
    case RULE_EXPRESSION: return evaluate(f, header + r->value, cfa, &at) && rad__cfi_load(f, at, value);
    case RULE_IS_EXPRESSION: return evaluate(f, header + r->value, cfa, value);
    default: return false;
    }
}

/* A return address may be signed. */
static uintptr_t strip(uintptr_t pc)
{
#ifdef __aarch64__
    register uintptr_t link __asm__("x30") = pc;
    __asm__("hint #7" : "+r"(link)); /* xpaclri; does nothing where there are no signatures */
    return link;
#else
    return pc;
#endif
}

/* A frame may be interrupted in a stub of the procedure linkage table, which the tables of aarch64 leave out. A stub
 * uses no stack: its caller is where the link register points. It is known by its last instruction. */
static bool step_from_stub(rad_cfi_frame *f)
{
#ifdef __aarch64__
    enum { PAGE = 4096, BRANCH_X17 = 0xd61f0220 };
    uintptr_t link;
    bool is_stub = false;
    for (uintptr_t at = f->pc; f->exact && at < f->pc + 16 && at / PAGE == f->pc / PAGE; at += 4)
        is_stub = is_stub || *(const uint32_t *)at == BRANCH_X17;
    if (!is_stub || !known(f, RAD_CFI_LINK, &link)) return false;
    f->pc = strip(link);
    f->exact = false;
    return f->pc != 0;
#else
    (void)f;
    return false;
#endif
}

bool rad__cfi_step(rad_cfi_frame *f, const uint8_t *header)
{
    function code;
    uintptr_t address = f->exact ? f->pc : f->pc - 1;
    if (!find_function(&code, header, address)) return step_from_stub(f);
    machine m = {.f = &code};
    if (!run(&m, code.common, UINT64_MAX)) return false;
    m.first = m.now;
    if (!run(&m, code.own, address - code.begin)) return false;
    uintptr_t cfa, base;
    const rule *r = &m.now.cfa;
    if (r->kind == RULE_EXPRESSION) {
        if (!evaluate(f, header + r->value, 0, &cfa)) return false;
    } else {
        if (r->kind != RULE_OFFSET || !known(f, r->base, &base)) return false;
        cfa = base + (uintptr_t)(int64_t)r->value;
    }
    uintptr_t least = f->at[RAD_CFI_SP] + !f->exact; /* one that has no frame yet may be interrupted */
    if (cfa < least || cfa > f->high || cfa % sizeof cfa != 0) return false;
    rad_cfi_frame above = {.low = f->low, .high = f->high};
    for (uint32_t i = 0; i < RAD_CFI_REGISTERS; i++) {
        uintptr_t value;
        if (apply(f, header, &m.now.at[i], i, cfa, &value)) rad__cfi_set(&above, i, value);
    }
    rad__cfi_set(&above, RAD_CFI_SP, cfa);
    if (!known(&above, code.link, &above.pc)) return false;
    above.pc = strip(above.pc);
    *f = above;
    return f->pc != 0;
}

uintptr_t rad__cfi_function(const uint8_t *header, uintptr_t address)
{
    function code;
    return find_function(&code, header, address) ? code.begin : 0;
}
