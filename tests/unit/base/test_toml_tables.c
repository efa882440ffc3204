/* test_toml_tables.c — the tables of a TOML file: who may define what, how keys are found, and how long it takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "storm_support.h"
#include "toml_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Keys ---------------------------------------------------------------------------------------------- */

static void keys_are_bare_quoted_or_dotted(void **state)
{
    (void)state;
    toml_means("key = 1\nbare_key-2 = 2\n1234 = 3\n\"a b\" = 4\n'c.\"d' = 5\n\"\" = 6",
               "{\"key\": integer 1, \"bare_key-2\": integer 2, \"1234\": integer 3, "
               "\"a b\": integer 4, \"c.\\\"d\": integer 5, \"\": integer 6}");
    toml_means("a.b = 1\na . \"c.d\" . e = 2\n3.14 = 3", "{\"a\": {\"b\": integer 1, \"c.d\": {\"e\": integer 2}}, "
                                                         "\"3\": {\"14\": integer 3}}");
    toml_means("\"\\u0061\" = 1\n'\\u0061' = 2", "{\"a\": integer 1, \"\\\\u0061\": integer 2}");
    toml_means("a=1#c\n\t b\t=\t2 \n", "{\"a\": integer 1, \"b\": integer 2}");
    toml_refused("= 1", "1:1: expected a key, found '='");
    toml_refused("a. = 1", "1:4: expected a key, found '='");
    toml_refused("a..b = 1", "1:3: expected a key, found '.b'");
    toml_refused(".a = 1", "1:1: expected a key, found '.a'");
    toml_refused("a b = 1", "1:3: expected '=' after the key, found 'b'");
    toml_refused("a\n= 1", "1:2: expected '=' after the key, found the end of the line");
    toml_refused("\xc3\xa4 = 1", "1:1: expected a key, found '\xc3\xa4'");
    toml_refused("\"\"\"a\"\"\" = 1", "1:3: expected '=' after the key, found '\"'");
    toml_refused("a = 1 b = 2", "1:7: expected the end of the line, found 'b'");
    toml_refused("\"a\nb\" = 1", "1:3: expected \", found the end of the line; the string begins at 1:1");
}

static void a_key_is_given_once(void **state)
{
    (void)state;
    toml_refused("a = 1\n'a' = 2", "2:1: expected a new key, found 'a', which is an integer since line 1");
    toml_refused("a = 1\na.b = 2", "2:1: expected a table that dotted keys here can add to, found "
                                   "'a', which is an integer since line 1");
    toml_refused("a.b = 1\na = 2", "2:1: expected a new key, found 'a', which is a table of dotted keys since line 1");
    toml_refused("a.b.c = 1\na.b = 2",
                 "2:3: expected a new key, found 'b', which is a table of dotted keys since line 1");
    toml_refused("x = {a = 1, \"a\" = 2}", "1:13: expected a new key, found 'a', which is an integer since line 1");
    toml_refused("\"a\\nb\" = 1\n\"a\\u000Ab\" = 2",
                 "2:1: expected a new key, found '\"a\\u000Ab\"', which is an integer since line 1");
    char text[700], why[300];
    snprintf(text, sizeof text, "%0200d = 1\n%0200d = 1", 0, 0);
    snprintf(why, sizeof why, "2:1: expected a new key, found '%087d\xe2\x80\xa6', which is an integer since line 1",
             0);
    toml_refused(text, why);
}

/* ---- Headers ------------------------------------------------------------------------------------------- */

static void headers_define_tables(void **state)
{
    (void)state;
    toml_means("[a]\n[b]\nx = 1\n[ c . \"d e\" . 'f' ] # comment\ny = 2",
               "{\"a\": {}, \"b\": {\"x\": integer 1}, "
               "\"c\": {\"d e\": {\"f\": {\"y\": integer 2}}}}");
    toml_means("[a.b.c]\nx = 1\n[a]\ny = 2\n[a.b]\nz = 3",
               "{\"a\": {\"b\": {\"c\": {\"x\": integer 1}, \"z\": integer 3}, \"y\": integer 2}}");
    toml_means("[a]\nb.c = 1\n[a.b.d]\ne = 2", "{\"a\": {\"b\": {\"c\": integer 1, \"d\": {\"e\": integer 2}}}}");
    toml_means("[a.b.c]\n[a]\nb.x = 1\nb.y = 2", "{\"a\": {\"b\": {\"c\": {}, \"x\": integer 1, \"y\": integer 2}}}");
    toml_refused("[]", "1:2: expected a key, found ']'");
    toml_refused("[a", "1:3: expected ']' after the name of the table, found the end of the file");
    toml_refused("[a b]", "1:4: expected ']' after the name of the table, found 'b'");
    toml_refused("[a.]", "1:4: expected a key, found ']'");
    toml_refused("[a]]", "1:4: expected the end of the line, found ']'");
    toml_refused("[a] b = 1", "1:5: expected the end of the line, found 'b'");
    toml_refused("[[a]", "1:5: expected a second ']' after the name of the table, found the end of "
                         "the file");
    toml_refused("[[a] ]", "1:5: expected a second ']' after the name of the table, found ' '");
    toml_refused("[[a.b", "1:6: expected ']]' after the name of the table, found the end of the file");
    toml_refused("[ [a]]", "1:3: expected a key, found '['");
}

static void a_table_is_defined_once(void **state)
{
    (void)state;
    toml_refused("[a]\n[a]", "2:2: expected a new table, found 'a', which is a table since line 1");
    toml_refused("[a.b]\n[a]\n[a.c]\n[ a ]", "4:3: expected a new table, found 'a', which is a table since line 1");
    toml_refused("a = 1\n[a]", "2:2: expected a new table, found 'a', which is an integer since "
                               "line 1");
    toml_refused("[a]\nb = 1\n[a.b]", "3:4: expected a new table, found 'b', which is an integer since line 2");
    toml_refused("a = 1\n[a.b]", "2:2: expected a table that can be added to, found 'a', which is an "
                                 "integer since line 1");
    toml_refused("[a]\nb.c = 1\n[a.b]",
                 "3:4: expected a new table, found 'b', which is a table of dotted keys since line 2");
    toml_refused("a.b.c = 1\n[a.b]",
                 "2:4: expected a new table, found 'b', which is a table of dotted keys since line 1");
    toml_refused("[a.b]\n[a]\nb = 1", "3:1: expected a new key, found 'b', which is a table since line 1");
}

static void dotted_keys_stay_under_their_header(void **state)
{
    (void)state;
    toml_refused("[a.b.c]\nz = 9\n[a]\nb.c.t = 1",
                 "4:3: expected a table that dotted keys here can add to, found 'c', which is a "
                 "table since line 1");
    toml_refused("[a.b]\n[a]\nb.c = 1", "3:1: expected a table that dotted keys here can add to, "
                                        "found 'b', which is a table since line 1");
    /* A table of dotted keys cannot be added to from elsewhere; but how would one get there? By a path. */
    toml_refused("[a.b.c]\n[a]\nb.x = 1\n[a.b]",
                 "4:4: expected a new table, found 'b', which is a table of dotted keys since line 1");
    toml_refused("[[a.b]]\n[a]\nb.y = 2", "3:1: expected a table that dotted keys here can add to, "
                                          "found 'b', which is an array of tables since line 1");
    /* Every element has tables of its own. */
    toml_means("[[a]]\nb.c = 1\n[[a]]\nb.c = 2\nb.d = 3", "{\"a\": [{\"b\": {\"c\": integer 1}}, "
                                                          "{\"b\": {\"c\": integer 2, \"d\": integer 3}}]}");
    toml_refused("[[a]]\n[a.b]\nc.d = 1\n[[a]]\n[a.b.c]\n[a.b]\nc.e = 1",
                 "7:1: expected a table that dotted keys here can add to, found 'c', which is a "
                 "table since line 5");
}

static void arrays_of_tables_grow_by_headers(void **state)
{
    (void)state;
    toml_means("[[a]]\nx = 1\n[[a]]\n[[a]]\nx = 3", "{\"a\": [{\"x\": integer 1}, {}, {\"x\": integer 3}]}");
    toml_means("[[a]]\n[a.b]\nx = 1\n[[a.c]]\n[[a.c]]\ny = 2\n[[a]]\n[[a.c]]\n[a.b]\nx = 2",
               "{\"a\": [{\"b\": {\"x\": integer 1}, \"c\": [{}, {\"y\": integer 2}]}, "
               "{\"c\": [{}], \"b\": {\"x\": integer 2}}]}");
    toml_means("[[a.b]]\n[a]\nx = 1", "{\"a\": {\"b\": [{}], \"x\": integer 1}}");
    toml_refused("[[a]]\n[a]", "2:2: expected a new table, found 'a', which is an array of tables "
                               "since line 1");
    toml_refused("[a]\n[[a]]", "2:3: expected a new key, or an array of tables, found 'a', which is "
                               "a table since line 1");
    toml_refused("[a.b]\n[[a]]", "2:3: expected a new key, or an array of tables, found 'a', which "
                                 "is a table since line 1");
    toml_refused("a = []\n[[a]]", "2:3: expected a new key, or an array of tables, found 'a', which "
                                  "is an array since line 1");
    toml_refused("a = [{}]\n[a.b]", "2:2: expected a table that can be added to, found 'a', which "
                                    "is an array since line 1");
    toml_refused("[[a]]\nb = [1]\n[[a.b]]",
                 "3:5: expected a new key, or an array of tables, found 'b', which is an array since "
                 "line 2");
}

static void inline_tables_are_closed(void **state)
{
    (void)state;
    toml_means("a = {}\nb = { x = 1 , y.z = \"}\" }\nc = {d = {e = {}}, f = [\n1,\n2\n]}",
               "{\"a\": {}, \"b\": {\"x\": integer 1, \"y\": {\"z\": string }}}, "
               "\"c\": {\"d\": {\"e\": {}}, \"f\": [integer 1, integer 2]}}");
    toml_means("a = {b.c = 1, b.d = 2}", "{\"a\": {\"b\": {\"c\": integer 1, \"d\": integer 2}}}");
    toml_refused("a = {x = 1,}", "1:12: expected a key, found '}'");
    toml_refused("a = {,}", "1:6: expected a key, found ','");
    toml_refused("a = {x = 1 y = 2}", "1:12: expected ',' or '}' after a value of an inline table, found 'y'");
    toml_refused("a = {x = 1\n}", "1:11: expected ',' or '}' after a value of an inline table, found "
                                  "the end of the line");
    toml_refused("a = {\nx = 1}", "1:6: expected a key, found the end of the line");
    toml_refused("a = {x = 1 # comment\n}", "1:12: expected ',' or '}' after a value of an inline table, found '#'");
    toml_refused("a = {x = 1", "1:11: expected ',' or '}' after a value of an inline table, found the "
                               "end of the file");
    toml_refused("a = {b.c = 1}\na.b.d = 2", "2:1: expected a table that dotted keys here can add "
                                             "to, found 'a', which is an inline table since line 1");
    toml_refused("a = {}\n[a]", "2:2: expected a new table, found 'a', which is an inline table since "
                                "line 1");
    toml_refused("a = {}\n[a.b]", "2:2: expected a table that can be added to, found 'a', which is an "
                                  "inline table since line 1");
    toml_refused("[x]\na = {}\n[[x.a]]", "3:5: expected a new key, or an array of tables, found 'a', "
                                         "which is an inline table since line 2");
    toml_refused("a = {b = {}, b.c = 1}", "1:14: expected a table that dotted keys here can add to, "
                                          "found 'b', which is an inline table since line 1");
    toml_refused("a = {b.c = {}, b.c.d = 1}",
                 "1:18: expected a table that dotted keys here can add to, found 'c', which is an "
                 "inline table since line 1");
}

static void nesting_ends_at_a_limit(void **state)
{
    (void)state;
    static char text[2000];
    for (int kind = 0; kind < 4; kind++)
        for (uint32_t depth = RAD_TOML_DEPTH_MAX - 1; depth <= RAD_TOML_DEPTH_MAX + 1; depth++) {
            size_t size = (size_t)snprintf(text, sizeof text, "%s", kind == 3 ? "[" : "");
            for (uint32_t i = 0; i < depth; i++)
                size += (size_t)snprintf(text + size, sizeof text - size, "%s",
                                         kind == 0   ? (i ? "[" : "a=[")
                                         : kind == 1 ? (i ? "a={" : "a={")
                                                     : (i ? ".a" : "a"));
            if (kind == 2) size += (size_t)snprintf(text + size, sizeof text - size, ".v=1");
            for (uint32_t i = 0; i < depth && kind < 2; i++) text[size++] = kind == 0 ? ']' : '}';
            if (kind == 3) text[size++] = ']';
            assert_int_equal(toml_accepts(text, size), depth <= RAD_TOML_DEPTH_MAX);
        }
    toml_refused_n(text, strlen(text), "1:1: expected at most 200 tables and arrays in each other");
}

/* ---- Finding ------------------------------------------------------------------------------------------- */

enum { NAMES = 3000, NAME_SIZE = 12 };

/* Names of few letters, so that many begin alike. One letter stands for U+0000. */
static size_t draw_name(rad_prng *r, char *name)
{
    size_t length = (size_t)rad__prng_below(r, NAME_SIZE - 1);
    for (size_t i = 0; i < length; i++) name[i] = "abpq@"[rad__prng_below(r, 5)];
    name[length] = 0;
    return length;
}

static void every_key_is_found_and_no_other(void **state)
{
    (void)state;
    static char names[NAMES][NAME_SIZE];
    rad_bytes text = {0};
    rad_prng r = rad__prng(5, RAD_STREAM_TEST, 0);
    uint32_t count = 0;
    while (count < NAMES) {
        bool known = false;
        draw_name(&r, names[count]);
        for (uint32_t i = 0; i < count; i++) known |= strcmp(names[i], names[count]) == 0;
        if (known) continue;
        rad__bytes_format(&text, "\"%s\" = %u\n", names[count], count);
        count++;
    }
    rad_toml doc = toml_open((char *)text.data, text.size);
    assert_int_equal(doc.root->count, NAMES);
    for (uint32_t i = 0; i < NAMES; i++) {
        rad_toml_node *node = rad__toml_get(doc.root, names[i]);
        assert_non_null(node);
        assert_int_equal(node->integer, i);
    }
    uint32_t i = 0;
    for (rad_toml_node *n = rad__toml_first(doc.root); n; n = rad__toml_next(n), i++) {
        assert_string_equal(n->key->text, names[i]);
        assert_int_equal(n->integer, i);
        assert_int_equal(n->key->line, i + 1);
    }
    assert_int_equal(i, NAMES);
    for (i = 0; i < NAMES; i++) {
        char name[NAME_SIZE];
        bool known = false;
        draw_name(&r, name);
        for (uint32_t k = 0; k < NAMES; k++) known |= strcmp(names[k], name) == 0;
        assert_int_equal(rad__toml_get(doc.root, name) != NULL, known);
    }
    rad__toml_free(&doc);
    /* Each of them a second time is refused. */
    for (i = 0; i < NAMES; i += 97) {
        uint32_t size = text.size;
        rad__bytes_format(&text, "\"%s\" = 0\n", names[i]);
        assert_false(toml_accepts((char *)text.data, text.size));
        text.size = size;
    }
    rad__bytes_free(&text);
}

static void keys_may_have_zeroes_in_them(void **state)
{
    (void)state;
    static const char text[] = "\"\" = 0\n\"\\u0000\" = 1\n\"\\u0000\\u0000\" = 2\n\"a\" = 3\n"
                               "\"a\\u0000\" = 4\n\"a\\u0000b\" = 5\n";
    rad_toml doc = toml_open(text, strlen(text));
    assert_int_equal(doc.root->count, 6);
    assert_int_equal(rad__toml_get(doc.root, "")->integer, 0);
    assert_int_equal(rad__toml_get(doc.root, "a")->integer, 3);
    assert_null(rad__toml_get(doc.root, "b"));
    rad__toml_free(&doc);
    toml_refused("\"a\\u0000\" = 1\n\"a\" = 1\n\"a\\u0000\" = 2",
                 "3:1: expected a new key, found '\"a\\u0000\"', which is an integer since line 1");
}

/* ---- Large files: in no time, or in hours if anything were quadratic ------------------------------------ */

static void very_many_keys(void **state)
{
    (void)state;
    rad_bytes text = {0};
    const uint32_t count = (uint32_t)storm_size(200000, 1000000);
    for (uint32_t i = 0; i < count; i++) rad__bytes_format(&text, "%u=1\n", i);
    rad_toml doc = toml_open((char *)text.data, text.size);
    assert_int_equal(doc.root->count, count);
    assert_int_equal(rad__toml_get(doc.root, "154321")->line, 154322);
    rad__toml_free(&doc);
    rad__bytes_free(&text);
}

/* Each key begins with all of the one before it: as deep as the index can be. */
static void keys_that_begin_alike(void **state)
{
    (void)state;
    rad_bytes text = {0};
    for (uint32_t i = 1; i <= 3000; i++) {
        for (uint32_t k = 0; k < i; k++) rad__bytes_put(&text, "x", 1);
        rad__bytes_format(&text, "=1\n");
    }
    rad_toml doc = toml_open((char *)text.data, text.size);
    assert_int_equal(doc.root->count, 3000);
    rad__toml_free(&doc);
    rad__bytes_free(&text);
}

static void many_tables_and_long_arrays_of_them(void **state)
{
    (void)state;
    rad_bytes text = {0};
    for (uint32_t i = 0; i < 500000; i++) rad__bytes_format(&text, "[[a.b]]\nx.y=%u\n", i);
    for (uint32_t i = 0; i < 50000; i++) rad__bytes_format(&text, "[c.d.e.f.g.t%u]\n", i);
    rad_toml doc = toml_open((char *)text.data, text.size);
    rad_toml_node *b = rad__toml_get(rad__toml_get(doc.root, "a"), "b");
    assert_int_equal(b->count, 500000);
    uint32_t i = 0;
    for (rad_toml_node *n = rad__toml_first(b); n != NULL; n = rad__toml_next(n), i++)
        assert_int_equal(rad__toml_get(rad__toml_get(n, "x"), "y")->integer, i);
    rad__toml_free(&doc);
    rad__bytes_free(&text);
}

static void one_long_line(void **state)
{
    (void)state;
    rad_bytes text = {0};
    rad__bytes_format(&text, "a = [");
    for (uint32_t i = 0; i < 1000000; i++) rad__bytes_format(&text, "1,");
    rad__bytes_format(&text, "'");
    for (uint32_t i = 0; i < 1000000; i++) rad__bytes_format(&text, "\xc3\xa4");
    rad__bytes_format(&text, "']");
    rad_toml doc = toml_open((char *)text.data, text.size);
    rad_toml_node *last = rad__toml_first(rad__toml_get(doc.root, "a"));
    while (last->next != NULL) last = last->next;
    assert_int_equal(last->column, 2000006);
    assert_int_equal(last->count, 2000000);
    rad__toml_free(&doc);
    rad__bytes_format(&text, "x");
    char *data = (char *)text.data;
    toml_refused_n(data, text.size, "1:3000009: expected the end of the line, found 'x'");
    rad__bytes_free(&text);
}

static void a_path_as_long_as_allowed_again_and_again(void **state)
{
    (void)state;
    rad_bytes text = {0};
    for (uint32_t i = 0; i < 10000; i++) {
        for (uint32_t k = 0; k < RAD_TOML_DEPTH_MAX; k++) rad__bytes_format(&text, "a.");
        rad__bytes_format(&text, "k%u=1\n", i);
    }
    rad_toml doc = toml_open((char *)text.data, text.size);
    rad_toml_node *n = doc.root;
    for (uint32_t k = 0; k < RAD_TOML_DEPTH_MAX; k++) n = rad__toml_get(n, "a");
    assert_int_equal(n->count, 10000);
    rad__toml_free(&doc);
    rad__bytes_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_bare_quoted_or_dotted),
        cmocka_unit_test(a_key_is_given_once),
        cmocka_unit_test(headers_define_tables),
        cmocka_unit_test(a_table_is_defined_once),
        cmocka_unit_test(dotted_keys_stay_under_their_header),
        cmocka_unit_test(arrays_of_tables_grow_by_headers),
        cmocka_unit_test(inline_tables_are_closed),
        cmocka_unit_test(nesting_ends_at_a_limit),
        cmocka_unit_test(every_key_is_found_and_no_other),
        cmocka_unit_test(keys_may_have_zeroes_in_them),
        cmocka_unit_test(very_many_keys),
        cmocka_unit_test(keys_that_begin_alike),
        cmocka_unit_test(many_tables_and_long_arrays_of_them),
        cmocka_unit_test(one_long_line),
        cmocka_unit_test(a_path_as_long_as_allowed_again_and_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
