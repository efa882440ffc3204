/* test_syntax.c — every construct of the language becomes the tree it should; files at the limits; no memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "storm_support.h"
#include "tree_support.h"

#include <stdio.h>
#include <string.h>

/* ---- Statements ---------------------------------------------------------------------------------------- */

/* In a flow with data n, m : int, b : bool, t : text, tasks a, u. */
#define FLOW(body)                                                                                                     \
    "flow f { data { n : int m : int b : bool t : text }\n"                                                            \
    "task a { run \"a\" } task u { run \"u\" }\n" body "\n}"

/* With data only. */
#define TASKS(body) "flow f { data { n : int b : bool t : text }\n" body "\n}"

typedef struct told {
    const char *text, *tree;
} told;

typedef void (*telling)(rad_bytes *, const rad_flow_file *, const rad_flow_tree *);

static void check_told(const char *text, size_t size, const char *tree, telling tell)
{
    rad_flow_file file;
    rad_bytes out = {0};
    flow_tree_read(&file, text, size);
    rad_flow_tree *last;
    assert_int_equal(rad__flow_find(&file, NULL, &last, NULL), 0);
    tell(&out, &file, last);
    assert_string_equal((char *)out.data, tree);
    rad__bytes_free(&out);
    rad__flow_file_free(&file);
}

static void check_all(const told *some, size_t count, telling tell)
{
    for (size_t i = 0; i < count; i++) check_told(some[i].text, strlen(some[i].text), some[i].tree, tell);
}

#define CHECK_ALL(some, tell) check_all(some, sizeof(some) / sizeof *(some), tell)

static const told statements[] = {
    {FLOW("do a"), "1 do a"},
    {FLOW("do a;do u"), "1 do a, 2 do u"},
    {"\xef\xbb\xbf" FLOW("do a"), "1 do a"}, /* a byte order mark */
    {FLOW("do a\r\n\tdo u\r"), "1 do a, 2 do u"},
    {FLOW("set n = 1"), "1 set n = 1"},
    {FLOW("{ }"), "1 block {}"},
    {FLOW("{ do a { do u } } do a"), "1 block {2 do a, 3 block {4 do u}}, 5 do a"},
    {FLOW("par { do a } and { }"), "1 par {2 do a} {} join all"},
    {FLOW("par { } and { } and { do u } join all do a"), "1 par {} {} {2 do u} join all, 3 do a"},
    {FLOW("par { } and { } join first"), "1 par {} {} join first 1"},
    {FLOW("par { } and { } join first 2"), "1 par {} {} join first 2"},
    {FLOW("par { } and { } join any"), "1 par {} {} join any 1"},
    {FLOW("par { } and { } join any 2"), "1 par {} {} join any 2"},
    {FLOW("par { } and { } join sync"), "1 par {} {} join sync"},
    {FLOW("par { } and { } join multi"), "1 par {} {} join multi"},
    {FLOW("par { } and { } join none"), "1 par {} {} join none"},
    {FLOW("xor { when b { do a } }"), "1 xor when b {2 do a}"},
    {FLOW("xor { when b { do a } when n > 0 { } else { do u } }"),
     "1 xor when b {2 do a} when (> n 0)b {} else {3 do u}"},
    {FLOW("or { when b { } when not b { do u } }"), "1 or when b {} when (not b)b {2 do u} join sync"},
    {FLOW("or { when b { } else { do u } } join first"), "1 or when b {} else {2 do u} join first 1"},
    {FLOW("or { when b { } when b { } else { } } join any 2"), "1 or when b {} when b {} else {} join any 2"},
    {FLOW("or { when b { } } join sync or { when b { } } join multi or { when b { } } join "
          "none"),
     "1 or when b {} join sync, 2 or when b {} join multi, 3 or when b {} join none"},
    {FLOW("loop n + 1 { do a }"), "1 loop (+ n 1)i {2 do a}"},
    {FLOW("while n < 3 { do a }"), "1 while (< n 3)b {2 do a}"},
    {FLOW("repeat { do a } until b"), "1 repeat {2 do a} until b"},
    {FLOW("region r { do a }"), "1 region r {2 do a}"},
    {FLOW("region r { } on cancel { do u }"), "1 region r {} on cancel {2 do u}"},
    {FLOW("region r { } on failure { do u }"), "1 region r {} on failure {2 do u}"},
    {FLOW("region r { } on failure into t { do u } on cancel { do a } do a"),
     "1 region r {} on cancel {2 do a} on failure into t {3 do u}, 4 do a"},
    {FLOW("cancel task a cancel region r cancel case region r { }"),
     "1 cancel task a, 2 cancel region r, 3 cancel case, 4 region r {}"},
    {FLOW("region r { } compensate r"), "1 region r {}, 2 compensate r"},
    {FLOW("many 3 { do a }"), "1 many 3 {2 do a} join all"},
    {FLOW("many n { }"), "1 many n {} join all"},
    {FLOW("many n up to 4 as i { set m = i } join none"), "1 many n up to 4 as i {2 set m = i} join none"},
    {FLOW("many pool n up to 4 { more pool } join any 3"), "1 many pool n up to 4 {2 more pool of 1} join any 3"},
    {FLOW("many pool (n) { } many (n) { } many pool 3 { } join all"),
     "1 many pool n {} join all, 2 many n {} join all, 3 many pool 3 {} join all"},
    {FLOW("many length(t) as i { } many length (t) { }"),
     "1 many (length t)i as i {} join all, 2 many (length t)i {} join all"},
    {FLOW("many n + 1 as i { } many n * (m) { } many -n { } many -1 { }"),
     "1 many (+ n 1)i as i {} join all, 2 many (* n m)i {} join all, 3 many (neg n)i {} join "
     "all, 4 many -1 {} join all"},
    {FLOW("many over t as l { set t = l } join first"), "1 many over t as l {2 set t = l} join first 1"},
    {FLOW("many pool over t up to 9 as l { more pool }"),
     "1 many pool over t up to 9 as l {2 more pool of 1} join all"},
    {FLOW("many p 1 up to 2 { many p 2 up to 3 { more p } more p }"),
     "1 many p 1 up to 2 {2 many p 2 up to 3 {3 more p of 2} join all, 4 more p of 1} join all"},
    {FLOW("many p 1 up to 2 { many q 2 { more p } }"),
     "1 many p 1 up to 2 {2 many q 2 {3 more p of 1} join all} join all"},
    {FLOW("many 1 as i { } many 2 as i { set n = i }"),
     "1 many 1 as i {} join all, 2 many 2 as i {3 set n = i} join all"},
    {FLOW("reach s expire s await s await q else { do a } reach q"),
     "1 reach s, 2 expire s, 3 await s, 4 await q else {5 do a}, 6 reach q"},
    {FLOW("interleave { do a } and { do u } and { }"), "1 interleave {2 do a} {3 do u} {}"},
    {FLOW("lock k { do a } lock l { } lock k { }"), "1 lock k {2 do a}, 3 lock l {}, 4 lock k {}"},
    {FLOW("defer { on signal go { do a } }"), "1 defer signal go {2 do a}"},
    {FLOW("defer { on signal go into n { } on timer 3s { do u } on signal stop { } }"),
     "1 defer signal go into n {} timer 3000000000 {2 do u} signal stop {}"},
    {FLOW("wait signal go wait signal go into t wait fresh signal go"),
     "1 defer signal go, 2 defer signal go into t, 3 defer fresh signal go"},
    {FLOW("wait fresh signal s into b wait 5 wait 0 wait 20ms wait 2m wait 1h wait 3d wait 1s"),
     "1 defer fresh signal s into b, 2 defer timer 5000000000, 3 defer timer 0, 4 defer timer "
     "20000000, 5 defer timer 120000000000, 6 defer timer 3600000000000, 7 defer timer "
     "259200000000000, 8 defer timer 1000000000"},
    {FLOW("finish fail fail \"it\""), "1 finish, 2 fail, 3 fail \"it\""},
    {FLOW("run \"x\""), "1 do run_3"},
    {FLOW("run \"x\" { } run \"y\" { timeout 3 } do run_3"), "1 do run_3, 2 do run_3_2, 3 do run_3"},
};

static void every_statement_is_read(void **state)
{
    (void)state;
    CHECK_ALL(statements, flow_tree_tell);
}

static void every_expression_is_read(void **state)
{
    (void)state;
    static const told some[] = {
        {FLOW("set n = 1 + 2 * 3 - 4 / 5 % 6"), "1 set n = (- (+ 1 (* 2 3)i)i (% (/ 4 5)i 6)i)i"},
        {FLOW("set n = (1 + 2) * (3 - -m)"), "1 set n = (* (+ 1 2)i (- 3 (neg m)i)i)i"},
        {FLOW("set n = - - m set n = -(1) set n = - 5"), "1 set n = (neg (neg m)i)i, 2 set n = (neg 1)i, 3 set n = -5"},
        {FLOW("set n = 9223372036854775807 set n = -9223372036854775808"),
         "1 set n = 9223372036854775807, 2 set n = -9223372036854775808"},
        {FLOW("set n = n - 1 set n = n -1 set n = n-1-1"),
         "1 set n = (- n 1)i, 2 set n = (- n 1)i, 3 set n = (- (- n 1)i 1)i"},
        {FLOW("set b = true set b = false set b = not b set b = not not b"),
         "1 set b = true, 2 set b = false, 3 set b = (not b)b, 4 set b = (not (not b)b)b"},
        {FLOW("set b = b or b and b or b"), "1 set b = (or (or b (and b b)b)b b)b"},
        {FLOW("set b = b and not n == m and b"), "1 set b = (and (and b (not (== n m)b)b)b b)b"},
        {FLOW("set b = not b == b"), "1 set b = (not (== b b)b)b"},
        {FLOW("set b = n == 1 set b = n != 1 set b = n < 1 set b = n <= 1 set b = n > 1 set b = n "
              ">= 1"),
         "1 set b = (== n 1)b, 2 set b = (!= n 1)b, 3 set b = (< n 1)b, 4 set b = (<= n 1)b, 5 set "
         "b = (> n 1)b, 6 set b = (>= n 1)b"},
        {FLOW("set b = t == \"\" set b = b != true set b = t < \"a\" set b = t >= t"),
         "1 set b = (== t \"\")b, 2 set b = (!= b true)b, 3 set b = (< t \"a\")b, 4 set b = (>= t "
         "t)b"},
        {FLOW("set b = (n < 1) == (m < 2) set b = n + 1 < m * 2"),
         "1 set b = (== (< n 1)b (< m 2)b)b, 2 set b = (< (+ n 1)i (* m 2)i)b"},
        {FLOW("set t = t + \"x\" + text(n) set t = text(b)"),
         "1 set t = (join (join t \"x\")t (text n)t)t, 2 set t = (text b)t"},
        {FLOW("set n = lines(t) set t = line(t, n + 1) set n = number(t) set n = length(t)"),
         "1 set n = (lines t)i, 2 set t = (line t (+ n 1)i)t, 3 set n = (number t)i, 4 set n = "
         "(length t)i"},
        {FLOW("set t = \"a \\\"b\\\" \\\\ \\n\\t #;\" # comment"), "1 set t = \"a \"b\" \\ \n\t #;\""},
        {FLOW("set t = \"\xc3\xa9\xe2\x82\xac\" set t = \"\""), "1 set t = \"é€\", 2 set t = \"\""},
        {FLOW("set b = b or { when b { } }"), "1 set b = b, 2 or when b {} join sync"},
        {FLOW("repeat { } until b or b or { when b { } }"), "1 repeat {} until (or b b)b, 2 or when b {} join sync"},
    };
    CHECK_ALL(some, flow_tree_tell);
}

/* Words of the language are names where nothing else can stand; functions are variables without parentheses. */
static void words_are_names_where_they_can_be(void **state)
{
    (void)state;
    static const told some[] = {
        {"flow flow { data { lines : int set : int = 2 } task do { run \"x\" } do do set set = "
         "lines\n"
         "region region { } cancel region region lock lock { } reach until await until else { } }",
         "1 do do, 2 set set = lines, 3 region region {}, 4 cancel region region, 5 lock lock {}, "
         "6 reach until, 7 await until else {}"},
        {"flow f { data { length : int par : bool merge : int in : int in { 1 } } task join { run "
         "\"x\" }\n"
         "set length = length xor { when par { do join } } many many 1 up to 2 { more many } }",
         "1 set length = length, 2 xor when par {3 do join}, 4 many many 1 up to 2 {5 more many of "
         "4} "
         "join all"},
        {"flow f { data { into : text } wait signal signal into into region on { } on failure into "
         "into { } }",
         "1 defer signal signal into into, 2 region on {} on failure into into {}"},
    };
    CHECK_ALL(some, flow_tree_tell);
}

/* ---- Data and tasks ------------------------------------------------------------------------------------ */

static void every_declaration_is_read(void **state)
{
    (void)state;
    static const told some[] = {
        {"flow f { finish data { } }", ""},
        {"flow f { data { a : int b : bool c : text } finish data { d : int } }",
         "a : int = 0, b : bool = false, c : text = \"\", d : int = 0"},
        {"flow f { data { a : int = -5; b : bool = true; c : text = \"x\"; d : bool = false } "
         "finish }",
         "a : int = -5, b : bool = true, c : text = \"x\", d : bool = false"},
        {"flow f { data { a : int merge sum b : int merge max c : int merge min d : int merge "
         "first\n"
         "e : bool merge and f : bool merge or g : bool merge last h : text merge append i : text "
         "merge first } finish }",
         "a : int = 0 merge sum, b : int = 0 merge max, c : int = 0 merge min, d : int = 0 merge "
         "first, e : bool = false merge and, f : bool = false merge or, g : bool = false merge "
         "last, h : text = \"\" merge append, i : text = \"\" merge first"},
        {"flow f { data { a : int = 1 merge sum in { 1, 2 -3 } b : bool in { true, false }\n"
         "c : text in { \"x\" \"\" } = \"y\" merge last } finish }",
         "a : int = 1 merge sum in 1 2 -3, b : bool = false in true false, c : text = \"y\" merge "
         "last in \"x\" \"\""},
        {"flow f { data { a : int merge : bool in : text merge append in { \"q\" } } finish }",
         "a : int = 0, merge : bool = false, in : text = \"\" merge append in \"q\""},
        {"flow f { many 2 as i { } many over \"\" as l { } many 3 as i { } data { z : int } }",
         "z : int = 0, i : int = 0 local, l : text = \"\" local"},
    };
    CHECK_ALL(some, flow_tree_tell_data);
}

static void every_task_is_read(void **state)
{
    (void)state;
    static const told some[] = {
        {"flow f { finish }", ""},
        {"flow f { task a { run \"make\" } do a }", "a run \"make\" retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {"flow f { task a { call \"make\" } do a }", "a call \"make\" retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" timeout 5 }"),
         "z run \"x\" timeout 5000000000 retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { timeout 100ms run \"x\" retry 0 }"),
         "z run \"x\" timeout 100000000 retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" retry 3 }"), "z run \"x\" retry 3 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" retry 3 delay 2s }"),
         "z run \"x\" retry 3 delay 2000000000 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" retry 3 delay 2s backoff 4 dir \"d/e\" }"),
         "z run \"x\" retry 3 delay 2000000000 backoff 4 dir \"d/e\" outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" reads n, t }"),
         "z run \"x\" retry 0 delay 0 backoff 1 reads n t outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" capture t }"),
         "z run \"x\" retry 0 delay 0 backoff 1 writes t capture t outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" exit n capture b }"),
         "z run \"x\" retry 0 delay 0 backoff 1 writes b n capture b exit n outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" exit n capture b writes n }"),
         "z run \"x\" retry 0 delay 0 backoff 1 writes b n capture b exit n outcomes ok fail stop"},
        {TASKS("do z task z { call \"x\" reads b writes t, n }"),
         "z call \"x\" retry 0 delay 0 backoff 1 reads b writes t n outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" outcomes ok }"), "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok stop"},
        {TASKS("do z task z { run \"x\" outcomes fail }"), "z run \"x\" retry 0 delay 0 backoff 1 outcomes fail stop"},
        {TASKS("do z task z { run \"x\" outcomes fail, ok }"),
         "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" on_doubt stop }"),
         "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("do z task z { run \"x\" on_doubt retry retry 2 }"),
         "z run \"x\" retry 2 delay 0 backoff 1 outcomes ok fail retry"},
        {TASKS("do z task z { run \"x\" on_doubt probe \"ls\" }"),
         "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail probe \"ls\""},
        {TASKS("do z task z { run \"x\" undo z }"),
         "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail stop undo z"},
        {TASKS("do z task z { run \"x\" undo y } task y { run \"y\" undo z }"),
         "z run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail stop undo y, y run \"y\" retry 0 "
         "delay 0 backoff 1 outcomes ok fail stop undo z"},
        {TASKS("task run_2 { run \"y\" } run \"x\""),
         "run_2 run \"y\" retry 0 delay 0 backoff 1 outcomes ok fail stop, run_2_2 run \"x\" retry "
         "0 "
         "delay 0 backoff 1 outcomes ok fail stop"},
        {TASKS("run \"x\" run \"y\" { undo run_3 } run \"z\"\nrun \"w\""),
         "run_2 run \"x\" retry 0 delay 0 backoff 1 outcomes ok fail stop, run_2_2 run \"y\" retry "
         "0 delay 0 backoff 1 outcomes ok fail stop undo run_3, run_2_3 run \"z\" retry 0 delay 0 "
         "backoff 1 outcomes ok fail stop, run_3 run \"w\" retry 0 delay 0 backoff 1 outcomes ok "
         "fail stop"},
        {TASKS("many 1 as i { do z } task z { run \"x\" reads i }"),
         "z run \"x\" retry 0 delay 0 backoff 1 reads i outcomes ok fail stop"},
    };
    CHECK_ALL(some, flow_tree_tell_tasks);
}

/* ---- Files --------------------------------------------------------------------------------------------- */

static void the_last_flow_is_the_one(void **state)
{
    (void)state;
    static const char text[] = "flow one \"about one\" { data { x : int } set x = 1 region r { } }\n"
                               "flow two { data { x : bool } set x = true region r { } }";
    rad_flow_file file;
    rad_flow_tree *tree;
    rad_error error = {0};
    flow_tree_read(&file, text, strlen(text));
    assert_int_equal(file.flow_count, 2);
    assert_int_equal(rad__flow_find(&file, NULL, &tree, &error), 0);
    assert_string_equal(rad__flow_name(&file, tree->name), "two");
    assert_int_equal(tree->about, RAD_NONE);
    assert_int_equal(tree->statement_count, 2);
    assert_int_equal(rad__flow_find(&file, "one", &tree, &error), 0);
    assert_string_equal(rad__flow_name(&file, tree->about), "about one");
    assert_int_equal(tree->place.line, 1);
    assert_int_equal(tree->place.column, 6);
    assert_int_equal(rad__flow_find(&file, "ones", &tree, &error), RAD_EINPUT);
    assert_null(tree);
    assert_string_equal(error.text, "test: there is no flow 'ones'; did you mean 'one'?");
    rad__flow_file_free(&file);
}

/* Windows, no line end at the end, tabs, comments, anything in comments. */
static void blanks_do_not_matter(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "flow f{task a{run\"x\"}do a}",
        "flow f {\r\n\ttask a {\r\n run \"x\" }\r\n\tdo a\r\n}\r\n",
        "# \xff\xfe\x01 }\nflow # f\nf{task a{run\"x\"# }\n}do\na}#",
        ";;flow;f;{;task;a;{;run;\"x\";};do;a;};",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_told(texts[i], strlen(texts[i]), "1 do a", flow_tree_tell);
    static const char with_zero[] = "flow f { finish } # \0 \0";
    check_told(with_zero, sizeof with_zero - 1, "1 finish", flow_tree_tell);
}

/* The places of what is found wrong later, at run time or by the validator, and of what is drawn. */
static void statements_know_where_they_are(void **state)
{
    (void)state;
    static const char text[] = "flow f {\n  par {\n    finish\n  } and { }\n  join first 2\n\tfail }";
    rad_flow_file file;
    flow_tree_read(&file, text, strlen(text));
    const rad_flow_statement *par = file.flows->body.first;
    assert_int_equal(par->place.line, 2);
    assert_int_equal(par->place.column, 3);
    assert_int_equal(par->branches[0].block.place.column, 7);
    assert_int_equal(par->branches[0].block.end.line, 4);
    assert_int_equal(par->branches[0].block.first->place.column, 5);
    assert_int_equal(par->join_place.line, 5);
    assert_int_equal(par->join_place.column, 3);
    assert_int_equal(par->next->place.line, 6);
    assert_int_equal(par->next->place.column, 2);
    assert_int_equal(file.flows->body.place.column, 8);
    assert_int_equal(file.flows->body.end.column, 7);
    rad__flow_file_free(&file);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(rad__flow_kind_name(RAD_FLOW_KINDS), "?");
    assert_string_equal(rad__flow_type_name(RAD_FLOW_TYPES), "?");
    for (unsigned i = 0; i < RAD_FLOW_KINDS; i++) assert_true(strlen(rad__flow_kind_name((enum rad_flow_kind)i)) > 1);
}

/* ---- Limits -------------------------------------------------------------------------------------------- */

static void put(rad_bytes *out, const char *text)
{
    rad__bytes_put(out, text, strlen(text));
}

static void put_times(rad_bytes *out, const char *text, uint32_t times)
{
    while (times-- > 0) put(out, text);
}

/* Reads it (because: NULL), or sees it refused; empties it. */
static void check_built(rad_bytes *text, const char *because)
{
    rad_flow_file file;
    if (because != NULL) {
        flow_tree_refused((char *)text->data, text->size, because);
    } else {
        flow_tree_read(&file, (char *)text->data, text->size);
        rad__flow_file_free(&file);
    }
    text->size = 0;
}

static void build_nested(rad_bytes *text, const char *begin, const char *end, uint32_t deep)
{
    put(text, "flow f {\n");
    put_times(text, begin, deep);
    put_times(text, end, deep);
    put(text, "}");
}

static void blocks_are_nested_200_deep(void **state)
{
    (void)state;
    rad_bytes text = {0};
    build_nested(&text, "{", "}", 199);
    check_built(&text, NULL);
    build_nested(&text, "{", "}", 200);
    check_built(&text, "test:2:201: the blocks are nested more than 200 deep");
    build_nested(&text, "par{}and{", "}", 199);
    check_built(&text, NULL);
    build_nested(&text, "region r{}on cancel{", "}", 200);
    check_built(&text, "test:2:3990: the blocks are nested more than 200 deep");
    build_nested(&text, "par{", "", 200000);
    check_built(&text, "test:2:801: the blocks are nested more than 200 deep");
    rad__bytes_free(&text);
}

static void build_expression(rad_bytes *text, const char *begin, const char *end, uint32_t deep)
{
    put(text, "flow f { data { n : int b : bool }\nset n = ");
    put_times(text, begin, deep);
    put(text, "1");
    put_times(text, end, deep);
    put(text, "}");
}

static void expressions_are_200_deep(void **state)
{
    (void)state;
    rad_bytes text = {0};
    build_expression(&text, "(", ")", 200);
    check_built(&text, NULL);
    build_expression(&text, "(", ")", 201);
    check_built(&text, "test:2:210: the expression is more than 200 levels deep");
    build_expression(&text, "", "+1", 200);
    check_built(&text, NULL);
    build_expression(&text, "", "+1", 201);
    check_built(&text, "test:2:410: the expression is more than 200 levels deep");
    build_expression(&text, "-(", ")", 100);
    check_built(&text, NULL);
    build_expression(&text, "- ", "", 202);
    check_built(&text, "test:2:411: the expression is more than 200 levels deep");
    build_expression(&text, "length(", ")", 100000);
    check_built(&text, "test:2:1416: the expression is more than 200 levels deep");
    build_expression(&text, "not ", "", 201);
    check_built(&text, "test:2:813: the expression is more than 200 levels deep");
    rad__bytes_free(&text);
}

static void put_numbered(rad_bytes *text, const char *format, uint32_t from, uint32_t to)
{
    char one[80];
    for (uint32_t i = from; i < to; i++) {
        int length = snprintf(one, sizeof one, format[0] == 'v' ? "v%u : int\n" : "task t%u { run \"x\" }\n", i);
        rad__bytes_put(text, one, (size_t)length);
    }
}

static void there_are_256_variables(void **state)
{
    (void)state;
    rad_bytes text = {0};
    for (uint32_t locals = 0; locals < 2; locals++)
        for (uint32_t over = 0; over < 2; over++) {
            put(&text, "flow f { data {\n");
            put_numbered(&text, "v", 0, 256 - locals + over);
            put(&text, "}\n");
            put(&text, locals ? "many 1 as i { } many 1 as i { } }" : "finish }");
            check_built(&text, !over    ? NULL
                               : locals ? "test:259:11: a flow has 256 variables at most"
                                        : "test:258:1: a flow has 256 variables at most");
        }
    rad__bytes_free(&text);
}

static void there_are_4096_tasks(void **state)
{
    (void)state;
    rad_bytes text = {0};
    put(&text, "flow f {\n");
    put_numbered(&text, "t", 0, 4096);
    put(&text, "finish }");
    check_built(&text, NULL);
    put(&text, "flow f {\n");
    put_numbered(&text, "t", 0, 4096);
    put(&text, "run \"y\" }");
    check_built(&text, "test:4098:1: a flow has 4096 tasks at most");
    put(&text, "flow f {\n");
    put_times(&text, "run \"y\";", 4096);
    put(&text, "}");
    check_built(&text, NULL);
    rad__bytes_free(&text);
}

static void there_are_60000_names(void **state)
{
    (void)state;
    rad_bytes text = {0};
    char one[40];
    for (uint32_t over = 0; over < 2; over++) {
        put(&text, "flow f {\n"); /* a name, and the empty text */
        for (uint32_t i = 0; i < 59998 + over; i++) {
            int length = snprintf(one, sizeof one, "reach r%u\n", i);
            rad__bytes_put(&text, one, (size_t)length);
        }
        put(&text, "}");
        check_built(&text, over ? "test:60000:7: there are more than 60000 names and texts" : NULL);
    }
    rad__bytes_free(&text);
}

static void interleave_has_64_blocks(void **state)
{
    (void)state;
    rad_bytes text = {0};
    put(&text, "flow f {\ninterleave { }");
    put_times(&text, "and{}", 63);
    put(&text, "}");
    check_built(&text, NULL);
    put(&text, "flow f {\ninterleave { }");
    put_times(&text, "and{}", 64);
    put(&text, "}");
    check_built(&text, "test:2:333: an interleave has 64 blocks at most");
    put(&text, "flow f {\npar { }");
    put_times(&text, "and{}", 200000);
    put(&text, "join first 200001 }");
    check_built(&text, NULL);
    rad__bytes_free(&text);
}

static void lists_have_limits(void **state)
{
    (void)state;
    rad_bytes text = {0};
    char one[40];
    for (uint32_t over = 0; over < 2; over++) {
        put(&text, "flow f { finish data { x : int in {\n");
        for (uint32_t i = 0; i < 64 + over; i++) {
            int length = snprintf(one, sizeof one, "%u\n", i);
            rad__bytes_put(&text, one, (size_t)length);
        }
        put(&text, "} } }");
        check_built(&text, over ? "test:66:1: there are more than 64 values" : NULL);
    }
    put(&text, "flow f { finish data { n : int } task a { run \"x\" reads\nn");
    put_times(&text, ",\nn", 256);
    put(&text, "} }");
    check_built(&text, "test:258:1: the list is too long");
    rad__bytes_free(&text);
}

static void a_file_has_1_mib(void **state)
{
    (void)state;
    rad_bytes text = {0};
    put(&text, "flow f {");
    put_times(&text, "{}", (RAD_FLOW_TEXT_MAX - 10) / 2);
    put(&text, " }");
    assert_int_equal(text.size, RAD_FLOW_TEXT_MAX);
    check_built(&text, NULL);
    put(&text, "flow f { finish }");
    put_times(&text, "\n", RAD_FLOW_TEXT_MAX - 16);
    check_built(&text, "test: a flow file has 1 MiB at most");
    put_times(&text, "flow f{fail}\n", 80000);
    check_built(&text, "test:2:6: there is a flow 'f' already, in line 1");
    rad__bytes_free(&text);
}

/* Each flow of a file is resolved for itself; nothing is wiped in between that costs by the number of names. */
static void many_flows_cost_what_they_have(void **state)
{
    (void)state;
    rad_bytes text = {0};
    char one[80];
    for (uint32_t i = 0; i < 29000; i++) {
        int length = snprintf(one, sizeof one, "flow f%u{reach r%u}\n", i, i);
        rad__bytes_put(&text, one, (size_t)length);
    }
    check_built(&text, NULL);
    rad__bytes_free(&text);
}

/* ---- No memory ----------------------------------------------------------------------------------------- */

static const char WHOLE[] =
    "flow f \"all of it\" { data { n : int merge sum in { 1, 2 } b : bool t : text = \"x\" }\n"
    "task a { run \"a\" reads n, b capture t exit n } task u { call \"u\" writes t, n undo a }\n"
    "do a run \"z\" { capture n } set t = t + text(n) par { } and { do u } join first\n"
    "xor { when b { } else { } } or { when b and n > 1 { } } loop 3 { } repeat { } until b\n"
    "region r { cancel region r } on cancel { } on failure into t { } compensate r\n"
    "many p 2 up to 5 as i { more p set n = i } many over t as l { }\n"
    "reach m await m else { } interleave { } and { } lock k { }\n"
    "defer { on signal s into t { } on timer 1s { } } wait signal q fail \"x\" }\n"
    "flow g { data { x : int } region q { reach m lock z { wait signal w } } }";

static void every_allocation_may_fail(void **state)
{
    (void)state;
    uint64_t failed = 0;
    int status = RAD_ENOMEM;
    for (uint64_t n = 1; status != 0; n++) {
        rad_flow_file file;
        rad_error error = {0};
        rad__alloc_fail_at(n);
        status = rad__flow_read(&file, "test", WHOLE, sizeof WHOLE - 1, &error);
        if (status == 0) status = rad__flow_resolve(&file, &error);
        rad__alloc_fail_at(0);
        rad__flow_file_free(&file);
        failed += status != 0;
        if (status != 0) assert_int_equal(status, RAD_ENOMEM);
        if (status != 0) assert_int_equal(error.code, RAD_ENOMEM);
        assert_in_range(n, 1, 10000);
    }
    assert_in_range(failed, 15, 10000);
}

/* Wherever a file is cut off: an answer with a place in it, or, at the end, none. */
static void every_beginning_of_a_file_is_read_to_its_end(void **state)
{
    (void)state;
    size_t first = (size_t)(strstr(WHOLE, "\nflow g") - WHOLE);
    for (size_t size = 0; size < sizeof WHOLE - 1; size++) {
        rad_flow_file file;
        rad_error error = {0};
        char *copy = rad__alloc(size + 1, 1); /* of its own size: reading beyond it is seen */
        memcpy(copy, WHOLE, size);
        int status = rad__flow_read(&file, "test", copy, size, &error);
        if (status == 0) status = rad__flow_resolve(&file, &error);
        bool is_whole = size == first || size == first + 1;
        assert_int_equal(status, is_whole ? 0 : RAD_EINPUT);
        if (status != 0) assert_memory_equal(error.text, "test:", 5);
        rad__flow_file_free(&file);
        rad__free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statement_is_read),
        cmocka_unit_test(every_expression_is_read),
        cmocka_unit_test(words_are_names_where_they_can_be),
        cmocka_unit_test(every_declaration_is_read),
        cmocka_unit_test(every_task_is_read),
        cmocka_unit_test(the_last_flow_is_the_one),
        cmocka_unit_test(blanks_do_not_matter),
        cmocka_unit_test(statements_know_where_they_are),
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(blocks_are_nested_200_deep),
        cmocka_unit_test(expressions_are_200_deep),
        cmocka_unit_test(there_are_256_variables),
        cmocka_unit_test(there_are_4096_tasks),
        cmocka_unit_test(there_are_60000_names),
        cmocka_unit_test(interleave_has_64_blocks),
        cmocka_unit_test(lists_have_limits),
        cmocka_unit_test(a_file_has_1_mib),
        cmocka_unit_test(many_flows_cost_what_they_have),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(every_beginning_of_a_file_is_read_to_its_end),
    };
    storm_choose();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
