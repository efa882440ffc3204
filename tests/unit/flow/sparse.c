/* sparse.c — see sparse.h. */
#include "sparse.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/prng.h"

#include <string.h>

enum kind {
    XOR,
    OR,
    LOOP,
    WHILE,
    REPEAT,
    CATCH,
    CANCEL_REGION,
    CANCEL_TASK,
    CANCEL_CASE,
    LOCK,
    MILESTONE,
    INTERLEAVE,
    WAIT,
    FINISH,
    FAIL,
    MANY,
    COMPENSATE,
    DETACH,
    FIRST,
    MULTI,
    KINDS
};

typedef struct sparse {
    rad_bytes text;
    rad_prng prng;
    uint32_t kinds, tasks;    /* those it may have, as bits */
    uint32_t used;            /* tasks it has */
    uint32_t budget;          /* statements left */
    uint32_t regions, manies; /* so far */
} sparse;

static uint32_t draw(sparse *s, uint32_t count)
{
    return (uint32_t)rad__prng_below(&s->prng, count);
}

static bool has(const sparse *s, enum kind kind)
{
    return s->kinds >> kind & 1;
}

static void put(sparse *s, const char *text)
{
    rad__bytes_put(&s->text, text, strlen(text));
}

static void block(sparse *s, uint32_t depth);

static const char *const TASKS[6] = {[1] = "task gives { call \"f\" writes a outcomes ok }\n",
                                     [2] = "task may { call \"f\" }\n",
                                     [3] = "task never { call \"f\" outcomes fail }\n",
                                     [4] = "task again { call \"f\" retry 1 delay 1s }\n",
                                     [5] = "task made { call \"f\" outcomes ok undo sure }\n"};

static void do_task(sparse *s)
{
    static const char *const tasks[] = {"sure", "gives", "may", "never", "again", "made"};
    uint32_t task = draw(s, 6);
    while (!(s->tasks >> task & 1)) task = draw(s, 6);
    s->used |= 1u << task;
    rad__bytes_format(&s->text, "do %s\n", tasks[task]);
}

static void set(sparse *s)
{
    static const char *const sets[] = {"set a = 1\n", "set a = a + 1\n", "set b = not b\n", "set c = a\n",
                                       "set c = 1\n", "set c = 1 / a\n", "set b = a > 0\n", "set s = text(a)\n"};
    put(s, sets[draw(s, has(s, FAIL) ? 8 : 5)]);
}

static void join(sparse *s, uint32_t branches)
{
    if (has(s, FIRST) && draw(s, 2) == 0)
        rad__bytes_format(&s->text, " join first %u", 1 + draw(s, branches));
    else if (has(s, DETACH) && draw(s, 2) == 0)
        put(s, draw(s, 2) == 0 ? " join none" : " join any");
    else if (has(s, MULTI) && draw(s, 2) == 0)
        put(s, " join multi");
    else if (draw(s, 3) == 0)
        put(s, " join sync");
    put(s, "\n");
}

static void branches(sparse *s, const char *word, uint32_t depth, bool joins)
{
    uint32_t count = 2 + (draw(s, 4) == 0);
    put(s, word);
    for (uint32_t i = 0; i < count; i++) {
        put(s, i > 0 ? " and " : " ");
        block(s, depth + 1);
    }
    if (joins)
        join(s, count);
    else
        put(s, "\n");
}

static void conditions(sparse *s, const char *word, uint32_t depth)
{
    rad__bytes_format(&s->text, "%s { when b ", word);
    block(s, depth + 1);
    put(s, draw(s, 2) == 0 ? " when a == 0 " : " when c >= a ");
    block(s, depth + 1);
    if (draw(s, 3) > 0) {
        put(s, " else ");
        block(s, depth + 1);
    }
    put(s, " }\n");
}

static void around(sparse *s, const char *before, const char *after, uint32_t depth)
{
    put(s, before);
    block(s, depth + 1);
    put(s, after);
}

static void region(sparse *s, uint32_t depth)
{
    rad__bytes_format(&s->text, "region r%u ", s->regions++);
    block(s, depth + 1);
    if (has(s, CANCEL_REGION) && draw(s, 2) == 0) around(s, " on cancel ", "", depth);
    if (has(s, CATCH) && draw(s, 3) > 0) around(s, " on failure ", "", depth);
    put(s, "\n");
}

static void milestone(sparse *s, uint32_t depth)
{
    switch (draw(s, 5)) {
    case 0: put(s, "await m\n"); return;
    case 1: put(s, "expire m\n"); return;
    case 2: around(s, "await m else ", "\n", depth); return;
    default: put(s, "reach m\n"); return;
    }
}

static void compound(sparse *s, enum kind kind, uint32_t depth)
{
    switch (kind) {
    case XOR: conditions(s, "xor", depth); return;
    case OR: conditions(s, "or", depth); return;
    case LOOP: around(s, "loop 2 ", "\n", depth); return;
    case WHILE: around(s, "while a < 1 ", "\n", depth); return;
    case REPEAT: around(s, "repeat ", " until a > 0\n", depth); return;
    case LOCK: around(s, draw(s, 2) == 0 ? "lock x " : "lock y ", "\n", depth); return;
    case INTERLEAVE: branches(s, "interleave", depth, false); return;
    case MANY:
        if (draw(s, 3) > 0) {
            rad__bytes_format(&s->text, "many 2 as i%u ", s->manies++);
            around(s, "", "\n", depth);
        } else {
            uint32_t name = s->manies++;
            rad__bytes_format(&s->text, "many g%u 1 up to 2 { ", name);
            block(s, depth + 1);
            rad__bytes_format(&s->text, draw(s, 2) == 0 ? " more g%u }\n" : " xor { when b { more g%u } else { } } }\n",
                              name);
        }
        return;
    default: region(s, depth); return;
    }
}

static bool simple(sparse *s, enum kind kind, uint32_t depth)
{
    static const char *const words[KINDS] = {[CANCEL_TASK] = "cancel task sure\n",
                                             [CANCEL_CASE] = "cancel case\n",
                                             [FINISH] = "finish\n",
                                             [FAIL] = "fail \"why\"\n",
                                             [COMPENSATE] = "compensate r0\n"};
    if (kind == MILESTONE) milestone(s, depth);
    if (kind == WAIT)
        put(s, draw(s, 2) == 0 ? "wait signal g into c\n" : "defer { on signal h { set b = true } on timer 1s { } }\n");
    if (kind == CANCEL_REGION && draw(s, 2) == 0)
        put(s, "cancel region r0\n");
    else if (kind == CANCEL_REGION)
        region(s, depth);
    if (words[kind] != NULL) put(s, words[kind]);
    return kind == MILESTONE || kind == WAIT || kind == CANCEL_REGION || words[kind] != NULL;
}

static void statement(sparse *s, uint32_t depth)
{
    enum kind kind = (enum kind)draw(s, KINDS);
    for (uint32_t i = 0; i < 8 && !has(s, kind); i++) kind = (enum kind)draw(s, KINDS);
    if (s->budget > 0) s->budget--;
    uint32_t plain = draw(s, 5);
    if (plain == 0)
        set(s);
    else if (plain == 1 || depth > 3 || s->budget == 0)
        do_task(s);
    else if (plain == 2 || !has(s, kind) || kind == DETACH || kind == FIRST || kind == MULTI)
        branches(s, "par", depth, true);
    else if (!simple(s, kind, depth))
        compound(s, kind, depth);
}

static void block(sparse *s, uint32_t depth)
{
    put(s, "{ ");
    for (uint32_t i = draw(s, 3); i > 0 && s->budget > 0; i--) statement(s, depth);
    put(s, "}");
}

char *flow_sparse(uint64_t seed)
{
    sparse s = {.budget = 9};
    s.prng = rad__prng(seed, RAD_STREAM_CASE, 0);
    for (uint32_t i = 0; i < KINDS; i++) {
        bool blocks = i == LOCK || i == MILESTONE || i == CANCEL_TASK;
        s.kinds |= (uint32_t)(draw(&s, blocks ? 3 : 5) == 0) << i;
    }
    s.tasks = 3;
    for (uint32_t i = 2; i < 6; i++) s.tasks |= (uint32_t)(draw(&s, 3) == 0) << i;
    put(&s, "flow f {\ndata { a : int merge max in { 0, 1 }  b : bool merge or  c : int in { 0, 1 }  "
            "s : text merge append }\ntask sure { call \"f\" outcomes ok }\n");
    statement(&s, 0);
    while (s.budget > 4) statement(&s, 0);
    put(&s, s.regions == 0 ? "xor { when b { region r0 { } } else { } }\n" : "");
    for (uint32_t i = 1; i < 6; i++)
        if (s.used >> i & 1) put(&s, TASKS[i]);
    put(&s, "}\n");
    rad__bytes_put(&s.text, "", 1);
    return (char *)s.text.data;
}
