/* test_toml_read.c — reading a scenario out of a TOML tree: defaults, bounds, words, unknown keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "toml_support.h"

#include <string.h>

static const char TEXT[] = "name = \"demo\"\n"
                           "[runtime]\n"
                           "vus = 50\n"
                           "ratio = 1.5\n"
                           "whole = 3\n"
                           "live = true\n"
                           "mode = \"ramp\"\n"
                           "zero = \"a\\u0000b\"\n"
                           "endless = inf\n"
                           "tags = [\"a\", \"b\", 3]\n"
                           "steps = [ {n = 1}, {n = 2} ]\n"
                           "[target]\n"
                           "tmeout = 5\n"
                           "[target.deep]\n"
                           "a = 1\n"
                           "b = 2\n"
                           "[[requests]]\n"
                           "path = \"/\"\n"
                           "[[requests]]\n"
                           "method = \"GET\"\n";

static rad_toml doc;
static rad_error error;

static rad_toml_node *open_and_get(const char *table)
{
    doc = toml_open(TEXT, strlen(TEXT));
    error = (rad_error){0};
    return rad__toml_get(doc.root, table);
}

static void told(const char *text)
{
    assert_string_equal(error.text, text);
    assert_int_equal(error.code, RAD_EINPUT);
    error = (rad_error){0};
}

static void what_is_there_is_read(void **state)
{
    (void)state;
    rad_toml_node *runtime = open_and_get("runtime");
    bool live = false;
    uint32_t mode = 9;
    static const char *const modes[] = {"constant", "ramp", NULL};
    assert_int_equal(rad__toml_read_boolean(&doc, runtime, "live", &live, &error), 0);
    assert_int_equal(rad__toml_read_word(&doc, runtime, "mode", modes, &mode, &error), 0);
    assert_true(live);
    assert_int_equal(mode, 1);
    rad__toml_free(&doc);
}

static void what_is_not_there_keeps_its_default(void **state)
{
    (void)state;
    rad_toml_node *runtime = open_and_get("runtime"), *none = rad__toml_get(doc.root, "none");
    bool live = true;
    uint32_t mode = 7;
    static const char *const modes[] = {"constant", "ramp", NULL};
    assert_null(none);
    assert_int_equal(rad__toml_read_boolean(&doc, none, "live", &live, &error), 0);
    assert_int_equal(rad__toml_read_word(&doc, runtime, "mod", modes, &mode, &error), 0);
    assert_true(live);
    assert_int_equal(mode, 7);
    assert_null(rad__toml_get(rad__toml_get(runtime, "vus"), "x"));
    assert_null(rad__toml_first(rad__toml_get(runtime, "vus")));
    assert_null(rad__toml_first(NULL));
    rad__toml_free(&doc);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    rad_toml_node *runtime = open_and_get("runtime");
    bool boolean = false;
    uint32_t word = 0;
    static const char *const modes[] = {"constant", "spike", "steps", NULL};
    assert_int_equal(rad__toml_read_boolean(&doc, runtime, "mode", &boolean, &error), RAD_EINPUT);
    told("t.toml:7:8: mode: expected true or false, found the string 'ramp'");
    rad__toml_read_boolean(&doc, runtime, "vus", &boolean, &error);
    told("t.toml:3:7: vus: expected true or false, found 50");
    rad__toml_read_boolean(&doc, runtime, "ratio", &boolean, &error);
    told("t.toml:4:9: ratio: expected true or false, found a float");
    rad__toml_read_boolean(&doc, runtime, "zero", &boolean, &error);
    told("t.toml:8:8: zero: expected true or false, found the string '\"a\\u0000b\"'");
    rad__toml_read_word(&doc, runtime, "mode", modes, &word, &error);
    told("t.toml:7:8: mode: expected \"constant\", \"spike\" or \"steps\", found the string 'ramp'");
    rad__toml_read_word(&doc, runtime, "live", modes, &word, &error);
    told("t.toml:6:8: live: expected \"constant\", \"spike\" or \"steps\", found true");
    rad__toml_expected(&doc, rad__toml_first(rad__toml_get(runtime, "tags")), "a table", &error);
    told("t.toml:10:9: expected a table, found the string 'a'");
    assert_true(!boolean && word == 0);
    rad__toml_free(&doc);
}

static void what_nobody_asked_for_is_found_anywhere(void **state)
{
    (void)state;
    static const char *const names[] = {"name", "runtime", "target", "requests"};
    open_and_get("none");
    assert_string_equal(rad__toml_unused(doc.root)->key->text, "name");
    for (size_t i = 0; i < 4; i++) rad__toml_get(doc.root, names[i]);
    assert_string_equal(rad__toml_unused(doc.root)->key->text, "vus");
    rad__toml_use_all(rad__toml_get(doc.root, "runtime"));
    rad_toml_node *target = rad__toml_get(doc.root, "target");
    assert_string_equal(rad__toml_unused(doc.root)->key->text, "tmeout");
    rad__toml_first(target);
    for (rad_toml_node *n = rad__toml_first(rad__toml_get(target, "deep")); n; n = rad__toml_next(n))
        assert_true(n->used);
    /* Elements of arrays have no names: they are not asked for, their members are. */
    assert_string_equal(rad__toml_unused(doc.root)->key->text, "path");
    rad__toml_get(rad__toml_first(rad__toml_get(doc.root, "requests")), "path");
    assert_string_equal(rad__toml_unused(doc.root)->key->text, "method");
    assert_int_equal(rad__toml_unused(doc.root)->key->line, 20);
    rad__toml_use_all(doc.root);
    assert_null(rad__toml_unused(doc.root));
    rad__toml_free(&doc);
}

static void every_node_knows_its_place(void **state)
{
    (void)state;
    static const char text[] = "a = 1\n  b.c = [ 2,\n 'x' ]\n[ d.e ]\n [[f]]\ng = {h = 1}\n";
    doc = toml_open(text, strlen(text));
    rad_toml_node *c = rad__toml_get(rad__toml_get(doc.root, "b"), "c"), *x = rad__toml_first(c)->next;
    rad_toml_node *d = rad__toml_get(doc.root, "d"), *e = rad__toml_get(d, "e");
    rad_toml_node *f = rad__toml_first(rad__toml_get(doc.root, "f"));
    rad_toml_node *h = rad__toml_get(rad__toml_get(f, "g"), "h");
    assert_true(c->line == 2 && c->column == 9 && c->key->line == 2 && c->key->column == 5);
    assert_true(x->line == 3 && x->column == 2 && x->key == NULL);
    assert_true(d->line == 4 && d->column == 3);
    assert_true(e->line == 4 && e->column == 1 && e->key->column == 5);
    assert_true(f->line == 5 && f->column == 2);
    assert_true(h->line == 6 && h->column == 10 && h->key->column == 6);
    rad__toml_error(&doc, h, &error, "no %s here", "number");
    rad__toml_free(&doc);
    told("t.toml:6:10: no number here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_there_is_read),
        cmocka_unit_test(what_is_not_there_keeps_its_default),
        cmocka_unit_test(what_is_wrong_is_told_with_its_place),
        cmocka_unit_test(what_nobody_asked_for_is_found_anywhere),
        cmocka_unit_test(every_node_knows_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
