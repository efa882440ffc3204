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
    rad_toml_node *runtime = open_and_get("runtime"), *array = NULL, *table = NULL;
    int64_t vus = 1;
    bool live = false;
    double ratio = 0, whole = 0;
    const char *name = NULL;
    uint32_t mode = 9;
    static const char *const modes[] = {"constant", "ramp", NULL};
    assert_int_equal(rad__toml_read_integer(&doc, runtime, "vus", 50, 50, &vus, &error), 0);
    assert_int_equal(rad__toml_read_boolean(&doc, runtime, "live", &live, &error), 0);
    assert_int_equal(rad__toml_read_number(&doc, runtime, "ratio", &ratio, &error), 0);
    assert_int_equal(rad__toml_read_number(&doc, runtime, "whole", &whole, &error), 0);
    assert_int_equal(rad__toml_read_text(&doc, doc.root, "name", &name, &error), 0);
    assert_int_equal(rad__toml_read_word(&doc, runtime, "mode", modes, &mode, &error), 0);
    assert_int_equal(rad__toml_read_array(&doc, runtime, "steps", RAD_TOML_TABLE, &array, &error), 0);
    assert_int_equal(rad__toml_read_table(&doc, doc.root, "target", &table, &error), 0);
    assert_int_equal(vus, 50);
    assert_true(live && ratio == 1.5 && whole == 3);
    assert_string_equal(name, "demo");
    assert_int_equal(mode, 1);
    assert_int_equal(array->count, 2);
    assert_int_equal(table->line, 12);
    rad__toml_free(&doc);
}

static void what_is_not_there_keeps_its_default(void **state)
{
    (void)state;
    rad_toml_node *runtime = open_and_get("runtime"), *none = rad__toml_get(doc.root, "none");
    int64_t vus = 7;
    const char *name = "default";
    assert_null(none);
    assert_int_equal(rad__toml_read_integer(&doc, runtime, "v", 1, 2, &vus, &error), 0);
    assert_int_equal(rad__toml_read_integer(&doc, none, "vus", 1, 2, &vus, &error), 0);
    assert_int_equal(rad__toml_read_text(&doc, runtime, "nam", &name, &error), 0);
    assert_int_equal(rad__toml_read_array(&doc, none, "a", RAD_TOML_TABLE, &none, &error), 0);
    assert_int_equal(vus, 7);
    assert_string_equal(name, "default");
    assert_null(none);
    assert_null(rad__toml_get(rad__toml_get(runtime, "vus"), "x"));
    assert_null(rad__toml_first(rad__toml_get(runtime, "vus")));
    assert_null(rad__toml_first(NULL));
    rad__toml_free(&doc);
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    (void)state;
    rad_toml_node *runtime = open_and_get("runtime"), *node = NULL;
    int64_t integer = 0;
    bool boolean = false;
    double number = 0;
    const char *text = NULL;
    uint32_t word = 0;
    static const char *const modes[] = {"constant", "spike", "steps", NULL};
    assert_int_equal(rad__toml_read_integer(&doc, runtime, "vus", 51, 100, &integer, &error), RAD_EINPUT);
    told("t.toml:3:7: vus: expected an integer from 51 to 100, found 50");
    rad__toml_read_integer(&doc, runtime, "vus", 1, 49, &integer, &error);
    told("t.toml:3:7: vus: expected an integer from 1 to 49, found 50");
    rad__toml_read_integer(&doc, runtime, "ratio", 1, 49, &integer, &error);
    told("t.toml:4:9: ratio: expected an integer from 1 to 49, found a float");
    rad__toml_read_boolean(&doc, runtime, "mode", &boolean, &error);
    told("t.toml:7:8: mode: expected true or false, found the string 'ramp'");
    rad__toml_read_number(&doc, runtime, "live", &number, &error);
    told("t.toml:6:8: live: expected a number, found true");
    rad__toml_read_number(&doc, runtime, "endless", &number, &error);
    told("t.toml:9:11: endless: expected a number, found a float");
    rad__toml_read_text(&doc, runtime, "tags", &text, &error);
    told("t.toml:10:8: tags: expected a string, found an array");
    rad__toml_read_text(&doc, runtime, "zero", &text, &error);
    told("t.toml:8:8: zero: expected a string without the character U+0000, found the string "
         "'\"a\\u0000b\"'");
    rad__toml_read_word(&doc, runtime, "mode", modes, &word, &error);
    told("t.toml:7:8: mode: expected \"constant\", \"spike\" or \"steps\", found the string 'ramp'");
    rad__toml_read_array(&doc, runtime, "tags", RAD_TOML_STRING, &node, &error);
    told("t.toml:10:19: expected a string, found 3");
    rad__toml_read_array(&doc, runtime, "vus", RAD_TOML_STRING, &node, &error);
    told("t.toml:3:7: vus: expected an array, found 50");
    rad__toml_read_table(&doc, doc.root, "requests", &node, &error);
    told("t.toml:17:1: requests: expected a table, found an array");
    assert_true(integer == 0 && !boolean && number == 0 && text == NULL && node == NULL);
    rad__toml_free(&doc);
}

static void what_has_to_be_there_is_missed(void **state)
{
    (void)state;
    rad_toml_node *target = open_and_get("target");
    assert_non_null(rad__toml_require(&doc, target, "deep", &error));
    assert_null(rad__toml_require(&doc, target, "base_url", &error));
    told("t.toml:12:1: expected a key 'base_url', found none in target");
    assert_null(rad__toml_require(&doc, doc.root, "schedule", &error));
    told("t.toml:1:1: expected a key 'schedule', found none in the file");
    rad_toml_node *second = rad__toml_next(rad__toml_first(rad__toml_get(doc.root, "requests")));
    assert_null(rad__toml_require(&doc, second, "path", &error));
    told("t.toml:19:1: expected a key 'path', found none in the table");
    rad__toml_free(&doc);
}

static void unknown_keys_are_told_with_the_nearest_name(void **state)
{
    (void)state;
    static const char *const known[] = {"base_url", "timeout", "tls", NULL};
    rad_toml_node *target = open_and_get("target");
    int64_t timeout = 0;
    rad__toml_read_integer(&doc, target, "timeout", 1, 10, &timeout, &error);
    assert_int_equal(rad__toml_check_keys(&doc, target, known, &error), RAD_EINPUT);
    told("t.toml:13:1: unknown key 'tmeout'; did you mean 'timeout'?");
    rad__toml_check_keys(&doc, target, NULL, &error);
    told("t.toml:13:1: unknown key 'tmeout'");
    rad__toml_get(target, "tmeout");
    rad__toml_check_keys(&doc, target, known, &error);
    told("t.toml:14:9: unknown key 'deep'");
    rad__toml_get(target, "deep");
    assert_int_equal(rad__toml_check_keys(&doc, target, known, &error), 0);
    assert_int_equal(rad__toml_check_keys(&doc, NULL, known, &error), 0);
    rad__toml_free(&doc);
}

static void the_nearest_name_is_near(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hint;
    } cases[] = {
        {"x = 1", "unknown key 'x'"},
        {"vu = 1", "unknown key 'vu'; did you mean 'vus'?"},
        {"duration = 1", "unknown key 'duration'; did you mean 'durations'?"},
        {"dur = 1", "unknown key 'dur'; did you mean 'vus'?"},
        {"completely = 1", "unknown key 'completely'"},
        {"\"\" = 1", "unknown key '\"\"'"},
    };
    static const char *const known[] = {"durations", "vus", "duration_seconds", NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        doc = toml_open(cases[i].text, strlen(cases[i].text));
        error = (rad_error){0};
        rad__toml_check_keys(&doc, doc.root, known, &error);
        assert_string_equal(error.text + strlen("t.toml:1:1: "), cases[i].hint);
        rad__toml_free(&doc);
    }
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
        cmocka_unit_test(what_has_to_be_there_is_missed),
        cmocka_unit_test(unknown_keys_are_told_with_the_nearest_name),
        cmocka_unit_test(the_nearest_name_is_near),
        cmocka_unit_test(what_nobody_asked_for_is_found_anywhere),
        cmocka_unit_test(every_node_knows_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
