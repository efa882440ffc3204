/* generate.c — random protocols that are well-formed by the way they are made, for tests.
 *
 * Whoever takes part in the branches of a choice is told the branch, by the chooser or by somebody who knows; nobody
 * else takes part in them, but for messages that are the same in all branches. A loop has a choice that leaves it. The
 * rest is free: order, casts, types, nesting. The text is written as it is drawn: nothing is kept of it but who may
 * act next. */

#include "base/bytes.h"
#include "base/error.h"
#include "base/prng.h"

#include <raddle/session.h>

#include <stdio.h>
#include <string.h>

enum { CAST_MAX = 16, NAME_SIZE = 24, SUBS_MAX = 8, BRANCHES_MOST = 4, BLOCK_MOST = 4, PLAIN_LABELS = 6 };

/* Who may act: numbers of names. */
typedef struct cast {
    uint32_t count;
    uint8_t who[CAST_MAX];
} cast;

typedef struct sub {
    uint32_t roles;  /* plain ones */
    uint32_t family; /* and a family of so many */
} sub;

/* The loop that a branch may go back to; nobody of its cast may miss that. */
typedef struct around {
    uint32_t name;
    uint32_t cast_count;
} around;

typedef struct generator {
    rad_prng prng;
    rad_generate_bounds bounds;
    rad_bytes out;
    char names[CAST_MAX + 1][NAME_SIZE]; /* the last one: W[i] */
    uint32_t family_first, family_count; /* among the names */
    sub subs[SUBS_MAX];
    uint32_t sub_count;
    uint32_t left; /* statements */
    uint32_t label, loop, variable, indent;
    char kind; /* of protocol: letter of its names */
} generator;

static uint32_t below(generator *g, uint32_t bound)
{
    return (uint32_t)rad__prng_below(&g->prng, bound);
}

static bool chance(generator *g, uint32_t percent)
{
    return below(g, 100) < percent;
}

static void line_begins(generator *g)
{
    rad__bytes_format(&g->out, "%*s", (int)(2 * g->indent), "");
}

static void opens(generator *g, const char *text)
{
    rad__bytes_format(&g->out, "%s{\n", text);
    g->indent++;
}

static void closes(generator *g, const char *text)
{
    g->indent--;
    line_begins(g);
    rad__bytes_put(&g->out, "}", 1);
    rad__bytes_put(&g->out, text, strlen(text));
}

/* ---- Casts ------------------------------------------------------------------------------------------- */

static void shuffle(generator *g, cast *c)
{
    for (uint32_t i = c->count; i > 1; i--) {
        uint32_t at = below(g, i);
        uint8_t who = c->who[at];
        c->who[at] = c->who[i - 1];
        c->who[i - 1] = who;
    }
}

/* Some of them in any order, `least` or more. */
static cast some_of(generator *g, const cast *all, uint32_t least)
{
    cast c = *all;
    shuffle(g, &c);
    c.count = least + below(g, c.count - least + 1);
    return c;
}

static bool has(const cast *c, uint32_t who)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (c->who[i] == who) return true;
    return false;
}

static bool has_family(const generator *g, const cast *c)
{
    for (uint32_t i = 0; i < g->family_count; i++)
        if (!has(c, g->family_first + i)) return false;
    return g->family_count > 0;
}

static cast without_family(const generator *g, const cast *c)
{
    cast rest = {.count = 0};
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t number = c->who[i] - g->family_first;
        if (number >= g->family_count) rest.who[rest.count++] = c->who[i];
    }
    return rest;
}

/* ---- Messages ---------------------------------------------------------------------------------------- */

static void write_fields(generator *g)
{
    static const char *const types[] = {"int", "bool", "text"};
    uint32_t count = below(g, 4);
    for (uint32_t i = 0; i < count; i++) {
        rad__bytes_format(&g->out, "%s", i ? ", " : "(");
        if (chance(g, 30)) rad__bytes_format(&g->out, "f%u: ", i);
        rad__bytes_format(&g->out, "%s", types[below(g, 3)]);
    }
    if (count > 0) rad__bytes_format(&g->out, ")");
}

static void write_pair(generator *g, uint32_t from, uint32_t to)
{
    line_begins(g);
    rad__bytes_format(&g->out, "%s -> %s: ", g->names[from], g->names[to]);
}

/* Of a name that others may have, too, or of one of its own. */
static void message(generator *g, const cast *c)
{
    cast two = *c;
    shuffle(g, &two);
    write_pair(g, two.who[0], two.who[1]);
    if (chance(g, 50))
        rad__bytes_format(&g->out, "m%u", below(g, PLAIN_LABELS));
    else
        rad__bytes_format(&g->out, "x%u", g->label++);
    write_fields(g);
    rad__bytes_format(&g->out, "\n");
}

static void does(generator *g, const cast *c)
{
    line_begins(g);
    uint32_t what = below(g, 3); /* not among the arguments: compilers differ in which comes first */
    rad__bytes_format(&g->out, "%s does d%u\n", g->names[c->who[below(g, c->count)]], what);
}

/* ---- Choices ------------------------------------------------------------------------------------------- */

/* How all of `told` come to know the branch: the first one chooses, the others hear of it from `by`. */
typedef struct telling {
    cast told;
    uint8_t by[CAST_MAX];       /* a number in `told` */
    bool is_alike[CAST_MAX];    /* the first two branches are one to it */
    uint32_t label, extra;      /* the first of their labels; of the message that all branches have */
    uint32_t outside, inside;   /* who are told nothing, but take part in that message */
    bool has_extra, to_outside; /* … in which direction */
} telling;

static telling telling_of(generator *g, cast told, const cast *all, bool plain)
{
    telling t = {.told = told, .label = g->label};
    g->label += 100;
    bool informs[CAST_MAX] = {false};
    for (uint32_t i = 1; i < told.count; i++) {
        t.by[i] = (uint8_t)(i > 1 && chance(g, 30) ? below(g, i) : 0);
        informs[t.by[i]] = true;
    }
    for (uint32_t i = 2; plain && i < told.count; i++) t.is_alike[i] = !informs[i] && chance(g, 25);
    for (uint32_t i = 0; plain && i < all->count && !t.has_extra; i++) {
        if (has(&told, all->who[i]) || !chance(g, 40)) continue;
        t.has_extra = true;
        t.outside = all->who[i];
        t.inside = told.who[below(g, 2)];
        t.to_outside = chance(g, 50);
        t.extra = g->label++;
    }
    return t;
}

static void tell_one(generator *g, const telling *t, uint32_t i, uint32_t branch)
{
    bool alike = t->is_alike[i] && branch < 2;
    write_pair(g, t->told.who[t->by[i]], t->told.who[i]);
    rad__bytes_format(&g->out, "t%u", t->label + i * BRANCHES_MOST + (alike ? 0 : branch));
    if (t->is_alike[i])
        rad__bytes_format(&g->out, "(text)");
    else
        write_fields(g);
    rad__bytes_format(&g->out, "\n");
}

/* Those who hear it from the chooser first, in any order; nobody tells what it does not know. */
static void tell(generator *g, const telling *t, uint32_t branch)
{
    cast order = {.count = 0};
    for (uint32_t i = 1; i < t->told.count; i++)
        if (t->by[i] == 0 && !t->is_alike[i]) order.who[order.count++] = (uint8_t)i;
    shuffle(g, &order);
    for (uint32_t i = 0; i < order.count; i++) tell_one(g, t, order.who[i], branch);
    for (uint32_t i = 1; i < t->told.count; i++)
        if (t->by[i] != 0 || t->is_alike[i]) tell_one(g, t, i, branch);
}

static void write_extra(generator *g, const telling *t)
{
    if (!t->has_extra) return;
    write_pair(g, t->to_outside ? t->inside : t->outside, t->to_outside ? t->outside : t->inside);
    rad__bytes_format(&g->out, "e%u(int)\n", t->extra);
}

static void block(generator *g, const cast *c, uint32_t depth, around a);

/* Who knows more than the branch's label. */
static cast cast_of(const telling *t, uint32_t branch)
{
    cast c = {.count = 0};
    for (uint32_t i = 0; i < t->told.count; i++)
        if (!t->is_alike[i] || branch >= 2) c.who[c.count++] = t->told.who[i];
    return c;
}

static void choice_begins(generator *g, const telling *t)
{
    line_begins(g);
    rad__bytes_format(&g->out, "choice at %s ", g->names[t->told.who[0]]);
    opens(g, "");
}

static void next_branch(generator *g)
{
    closes(g, " or ");
    opens(g, "");
}

static void choice(generator *g, const cast *all, uint32_t depth, around a)
{
    bool comes_back = a.cast_count == all->count && chance(g, 40);
    cast told = some_of(g, all, comes_back ? all->count : 2);
    telling t = telling_of(g, told, all, !comes_back);
    uint32_t count = 2 + below(g, g->bounds.branches - 1);
    choice_begins(g, &t);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) next_branch(g);
        tell(g, &t, i);
        bool early = chance(g, 50), back = comes_back && i == 0;
        cast c = cast_of(&t, i);
        if (early) write_extra(g, &t);
        if (chance(g, 70)) block(g, &c, depth - 1, back ? (around){0, 0} : a);
        if (!early) write_extra(g, &t);
        if (!back) continue;
        line_begins(g);
        rad__bytes_format(&g->out, "continue L%u\n", a.name);
    }
    closes(g, "\n");
}

/* ---- Loops, parallel parts, calls ------------------------------------------------------------------------ */

/* The work is in the branch that goes on, or before the choice. */
static void loop(generator *g, const cast *all, uint32_t depth)
{
    cast c = some_of(g, all, 2);
    around a = {g->loop++, c.count};
    bool before = chance(g, 40);
    line_begins(g);
    rad__bytes_format(&g->out, "loop L%u ", a.name);
    opens(g, "");
    if (before) block(g, &c, depth - 1, (around){0, 0});
    telling t = telling_of(g, c, all, false);
    choice_begins(g, &t);
    tell(g, &t, 0);
    if (!before) block(g, &c, depth - 1, a);
    line_begins(g);
    rad__bytes_format(&g->out, "continue L%u\n", a.name);
    next_branch(g);
    tell(g, &t, 1);
    if (chance(g, 30)) block(g, &c, depth - 1, (around){0, 0});
    closes(g, "\n");
    closes(g, "\n");
}

static void parallel(generator *g, const cast *all, uint32_t depth)
{
    uint32_t count = 2 + below(g, 2);
    line_begins(g);
    opens(g, "par ");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            closes(g, " and ");
            opens(g, "");
        }
        cast c = some_of(g, all, 2);
        block(g, &c, depth - 1, (around){0, 0});
    }
    closes(g, "\n");
}

static void call(generator *g, const cast *all)
{
    uint32_t which = below(g, g->sub_count);
    const sub *s = &g->subs[which];
    cast c = *all;
    if (s->family > 0) {
        c = without_family(g, all);
        if (!has_family(g, all) || s->family > g->family_count) c.count = 0;
    }
    if (c.count < s->roles) {
        message(g, all);
        return;
    }
    shuffle(g, &c);
    line_begins(g);
    rad__bytes_format(&g->out, "call Sub%u(", which);
    for (uint32_t i = 0; i < s->roles; i++) rad__bytes_format(&g->out, "%s%s", i ? ", " : "", g->names[c.who[i]]);
    if (s->family > 0) rad__bytes_format(&g->out, ", %c[1..%u]", g->kind, s->family);
    rad__bytes_format(&g->out, ")\n");
}

/* Around the family, or everybody of it with somebody else. */
static void family(generator *g, const cast *all, uint32_t depth)
{
    cast c = without_family(g, all);
    uint32_t v = g->variable++;
    bool ring = g->family_count > 1 && (c.count == 0 || chance(g, 30));
    if (c.count == 0 && !ring) {
        does(g, all);
        return;
    }
    snprintf(g->names[CAST_MAX], NAME_SIZE, "%c[i%u]", g->kind, v % 1000);
    line_begins(g);
    rad__bytes_format(&g->out, "for i%u in 1..%u ", v % 1000, g->family_count - ring);
    opens(g, "");
    if (ring) {
        line_begins(g);
        rad__bytes_format(&g->out, "%s -> %c[i%u+1]: m%u", g->names[CAST_MAX], g->kind, v % 1000,
                          below(g, PLAIN_LABELS));
        write_fields(g);
        rad__bytes_format(&g->out, "\n");
    } else {
        uint32_t first = g->family_first, count = g->family_count;
        g->family_count = 0; /* its members have no names in here */
        c = some_of(g, &c, 1);
        if (c.count < CAST_MAX) c.who[c.count++] = CAST_MAX;
        block(g, &c, depth - 1, (around){0, 0});
        g->family_first = first;
        g->family_count = count;
    }
    closes(g, "\n");
}

/* ---- The whole ----------------------------------------------------------------------------------------- */

static void statement(generator *g, const cast *c, uint32_t depth, around a)
{
    if (g->left > 0) g->left--;
    uint32_t what = c->count < 2 ? 99 : g->left == 0 || depth == 0 ? below(g, 40) : below(g, 100);
    if (what < 36)
        message(g, c);
    else if (what < 40 || c->count < 2)
        does(g, c);
    else if (what < 60)
        choice(g, c, depth, a);
    else if (what < 72)
        loop(g, c, depth);
    else if (what < 82)
        parallel(g, c, depth);
    else if (what < 90 && has_family(g, c))
        family(g, c, depth);
    else if (g->sub_count > 0)
        call(g, c);
    else
        message(g, c);
}

static void block(generator *g, const cast *c, uint32_t depth, around a)
{
    for (uint32_t i = 1 + below(g, BLOCK_MOST); i > 0; i--) statement(g, c, depth, a);
}

/* `roles` of one letter each from `first` on, and a family called `kind`. */
static cast cast_new(generator *g, char first, uint32_t roles, char kind, uint32_t family_count)
{
    cast c = {.count = 0};
    for (uint32_t i = 0; i < roles; i++) {
        snprintf(g->names[c.count], NAME_SIZE, "%c", first + (char)i);
        c.who[c.count] = (uint8_t)c.count;
        c.count++;
    }
    g->kind = kind;
    g->family_first = c.count;
    g->family_count = family_count;
    for (uint32_t i = 0; i < family_count; i++) {
        snprintf(g->names[c.count], NAME_SIZE, "%c[%u]", kind, i + 1);
        c.who[c.count] = (uint8_t)c.count;
        c.count++;
    }
    return c;
}

static void protocol(generator *g, const char *name, cast c, uint32_t statements, uint32_t depth)
{
    rad__bytes_format(&g->out, "protocol %s {\n  roles ", name);
    for (uint32_t i = 0; i < g->family_first; i++) rad__bytes_format(&g->out, "%s%s", i ? ", " : "", g->names[i]);
    if (g->family_count > 0) rad__bytes_format(&g->out, ", %c[1..%u]", g->kind, g->family_count);
    rad__bytes_format(&g->out, "\n");
    g->indent = 1;
    g->left = statements;
    do block(g, &c, depth, (around){0, 0});
    while (g->left > 0);
    rad__bytes_format(&g->out, "}\n");
}

static void protocols(generator *g)
{
    const rad_generate_bounds *b = &g->bounds;
    uint32_t family_count = b->family ? below(g, b->family + 1) : 0;
    uint32_t subs = b->subs ? below(g, b->subs + 1) : 0;
    for (uint32_t i = 0; i < subs; i++) {
        char name[NAME_SIZE];
        snprintf(name, sizeof name, "Sub%u", i);
        sub s = {2 + below(g, 2), 0};
        if (s.roles > b->roles) s.roles = b->roles;
        if (family_count > 0 && chance(g, 40)) s = (sub){1, family_count};
        cast c = cast_new(g, 'P', s.roles, 'V', s.family);
        protocol(g, name, c, 1 + b->statements / 4, 1);
        g->subs[g->sub_count++] = s;
    }
    cast c = cast_new(g, 'A', 2 + below(g, b->roles - 1), 'W', family_count);
    protocol(g, "Main", c, 1 + below(g, b->statements), b->depth);
}

rad_generate_bounds rad_generate_defaults(void)
{
    return (rad_generate_bounds){.roles = 4, .family = 3, .depth = 3, .statements = 16, .branches = 3, .subs = 2};
}

static int bounds_check(const rad_generate_bounds *b, rad_error *error)
{
    if (b->roles < 2 || b->roles > 8) return rad__error(error, RAD_EINPUT, "roles: 2 to 8, not %u", b->roles);
    if (b->family > 6) return rad__error(error, RAD_EINPUT, "family: 6 at most, not %u", b->family);
    if (b->depth > 8) return rad__error(error, RAD_EINPUT, "depth: 8 at most, not %u", b->depth);
    if (b->branches < 2 || b->branches > BRANCHES_MOST)
        return rad__error(error, RAD_EINPUT, "branches: 2 to 4, not %u", b->branches);
    if (b->statements < 1 || b->statements > 1000)
        return rad__error(error, RAD_EINPUT, "statements: 1 to 1,000, not %u", b->statements);
    if (b->subs > SUBS_MAX) return rad__error(error, RAD_EINPUT, "subs: 8 at most, not %u", b->subs);
    return 0;
}

char *rad_protocols_generate(uint64_t seed, const rad_generate_bounds *b, rad_error *error)
{
    rad__error_clear(error);
    generator g = {.bounds = b ? *b : rad_generate_defaults()};
    if (bounds_check(&g.bounds, error) != 0) return NULL;
    g.prng = rad__prng(seed, RAD_STREAM_PROTOCOL, 0);
    protocols(&g);
    rad__bytes_put(&g.out, "", 1);
    if (!g.out.failed) return (char *)g.out.data;
    rad__bytes_free(&g.out);
    rad__error_memory(error);
    return NULL;
}
