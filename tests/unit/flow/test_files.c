/* test_files.c — the small files of a case: their names, and that nothing is read from them that was not written.
 * Cases outlive programs: names and bytes stay as they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/crc32.h"
#include "double.h"
#include "flow/run/files.h"
#include "flow/run/parts.h"

#include <stdio.h>
#include <string.h>

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static void expect_id(const char *key, uint32_t attempt, uint32_t run, const char *expected)
{
    char id[RAD_FLOW_ID_MAX];
    rad__flow_effect_id(id, key, attempt, run);
    assert_string_equal(id, expected);
}

static void an_effect_has_the_same_name_for_ever(void **state)
{
    (void)state;
    char name[RAD_FLOW_FILE_MAX];
    expect_id("0#1", 1, 1, "0-1@1");
    expect_id("0#1", 1, 2, "0-1@1r2");
    expect_id("0/1.2#3'4", 5, 67, "0_1.2-3+4@5r67");
    rad__flow_effect_file(name, "0-1@1", "lock");
    assert_string_equal(name, "effects/0-1@1.lock");
}

/* Keys that are too long for a file keep apart by a digest: 120 letters are not too many, 121 are. */
static void long_keys_keep_apart(void **state)
{
    (void)state;
    char key[400], first[RAD_FLOW_ID_MAX], second[RAD_FLOW_ID_MAX], expected[200];
    memset(key, '1', sizeof key);
    key[120] = 0;
    snprintf(expected, sizeof expected, "%.120s@7", key);
    expect_id(key, 7, 1, expected);
    for (size_t length = 121; length < sizeof key; length += 93) {
        memset(key, '1', sizeof key);
        key[length] = 0;
        rad__flow_effect_id(first, key, UINT32_MAX, UINT32_MAX);
        assert_int_equal(strspn(first, "1"), 87);
        assert_int_equal(first[87], '~');
        assert_int_equal(strspn(first + 88, "0123456789abcdef"), 32);
        assert_string_equal(first + 120, "@4294967295r4294967295");
        key[length - 1] = '2';
        rad__flow_effect_id(second, key, UINT32_MAX, UINT32_MAX);
        assert_string_not_equal(first, second);
    }
}

static void notes_of_people_are_no_signals(void **state)
{
    (void)state;
    static const char *const others[] = {
        "",
        "README",
        "0000179482433186474-0123456789abcdef",
        "000017948243318647481-0123456789abcdef",
        "00001794824331864748_0123456789abcdef",
        "00001794824331864748-0123456789abcde",
        "00001794824331864748-0123456789abcdef0",
        "00001794824331864748-0123456789abcdef~",
        "00001794824331864748-0123456789abcdef.12.tmp",
        "00001794824331864748-0123456789abcdeg",
        "0000179482433186474x-0123456789abcdef",
    };
    assert_true(rad__flow_is_spool_name("00001794824331864748-0123456789abcdef"));
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        if (rad__flow_is_spool_name(others[i])) fail_msg("%s", others[i]);
}

/* ---- Contents ---------------------------------------------------------------------------------------------------- */

static bool reads_receipt(const void *data, size_t size, rad_flow_receipt *receipt)
{
    rad_error error = {0};
    int code = rad__flow_receipt_read(receipt, "x", data, size, &error);
    if (code == 0) return true;
    assert_int_equal(code, RAD_EINPUT);
    assert_int_equal(strncmp(error.text, "x: damaged: ", 12), 0);
    return false;
}

static bool reads_spool(const void *data, size_t size, rad_flow_input *input)
{
    rad_error error = {0};
    int code = rad__flow_spool_read(input, "x", data, size, &error);
    if (code == 0) return true;
    assert_int_equal(code, RAD_EINPUT);
    assert_int_equal(strncmp(error.text, "x: damaged: ", 12), 0);
    return false;
}

/* A flipped bit, less than all of it, and something behind it. */
static void expect_fragile(const rad_bytes *bytes, bool is_receipt)
{
    rad_flow_receipt receipt;
    rad_flow_input input;
    rad_bytes copy = {0};
    for (size_t i = 0; i < 8 * bytes->size; i++) {
        bytes->data[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_false(is_receipt ? reads_receipt(bytes->data, bytes->size, &receipt)
                                : reads_spool(bytes->data, bytes->size, &input));
        bytes->data[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t size = 0; size < bytes->size; size++) {
        uint8_t *exact = rad__alloc(size, 1); /* nothing is read behind it */
        memcpy(exact, bytes->data, size);
        assert_false(is_receipt ? reads_receipt(exact, size, &receipt) : reads_spool(exact, size, &input));
        rad__free(exact);
    }
    rad__bytes_put(&copy, bytes->data, bytes->size);
    rad__bytes_put(&copy, "", 1);
    assert_false(is_receipt ? reads_receipt(copy.data, copy.size, &receipt)
                            : reads_spool(copy.data, copy.size, &input));
    rad__bytes_free(&copy);
}

static void seal(rad_bytes *bytes)
{
    rad_crc32 crc;
    rad__crc32_open(&crc);
    uint32_t sum = rad__crc32(&crc, bytes->data, bytes->size);
    rad__bytes_put(bytes, &sum, sizeof sum);
}

static void a_receipt_is_read_as_it_was_written(void **state)
{
    (void)state;
    rad_flow_receipt in = {.key = "0/1.2#3",
                           .attempt = 4,
                           .run = 5,
                           .began_ns = UINT64_C(1700000000000000000),
                           .ended_ns = UINT64_C(1700000000000000001),
                           .status = 6,
                           .signal = 7,
                           .flags = 8,
                           .output = "a\0b",
                           .output_size = 3},
                     out;
    rad_bytes bytes = {0};
    rad__flow_receipt_put(&bytes, &in);
    assert_true(reads_receipt(bytes.data, bytes.size, &out));
    assert_string_equal(out.key, in.key);
    assert_int_equal(out.attempt, 4);
    assert_int_equal(out.run, 5);
    assert_int_equal(out.began_ns, in.began_ns);
    assert_int_equal(out.ended_ns, in.ended_ns);
    assert_int_equal(out.status, 6);
    assert_int_equal(out.signal, 7);
    assert_int_equal(out.flags, 8);
    assert_int_equal(out.output_size, 3);
    assert_memory_equal(out.output, "a\0b", 3);
    expect_fragile(&bytes, true);
    bytes.size -= 4; /* more than a receipt has, with a sum that is right */
    rad__bytes_put(&bytes, "", 1);
    seal(&bytes);
    assert_false(reads_receipt(bytes.data, bytes.size, &out));
    rad__bytes_free(&bytes);
}

static rad_bytes spooled(uint8_t kind, uint8_t scope)
{
    rad_bytes bytes = {0};
    rad__bytes_put(&bytes, "RADSPOO1", 8);
    rad__bytes_put(&bytes, &kind, 1);
    rad__bytes_put(&bytes, &scope, 1);
    rad__flow_put_text(&bytes, "go", 2);
    rad__bytes_put(&bytes, "\1", 1);
    rad__flow_put_text(&bytes, "x", 1);
    seal(&bytes);
    return bytes;
}

/* Only what people can send: no result and no timer comes that way. */
static void only_signals_and_cancels_are_spooled(void **state)
{
    (void)state;
    for (uint8_t kind = 0; kind < 8; kind++)
        for (uint8_t scope = 0; scope < 6; scope++) {
            rad_flow_input input;
            rad_bytes bytes = spooled(kind, scope);
            bool fits = (kind == RAD_INPUT_SIGNAL || kind == RAD_INPUT_CANCEL) && scope <= RAD_FLOW_PART_CASE;
            assert_int_equal(reads_spool(bytes.data, bytes.size, &input), fits);
            if (fits) {
                assert_int_equal(input.kind, kind);
                assert_int_equal(input.scope, scope);
            }
            rad__bytes_free(&bytes);
        }
    rad_bytes bytes = spooled(RAD_INPUT_SIGNAL, 0);
    expect_fragile(&bytes, false);
    rad__bytes_free(&bytes);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void expect_fits(enum rad_flow_type type, const char *text, bool expected)
{
    size_t length = strlen(text);
    char *exact = rad__alloc(length, 1); /* no zero behind it */
    memcpy(exact, text, length);
    if (rad__flow_fits(type, exact, length) != expected) fail_msg("\"%s\"", text);
    rad__free(exact);
}

static void outputs_are_values_of_their_type(void **state)
{
    (void)state;
    static const char *const numbers[] = {"0", "-0", "7", "-12", "9223372036854775807", "-9223372036854775808"};
    static const char *const none[] = {"",
                                       "-",
                                       "+1",
                                       "1 ",
                                       " 1",
                                       "1x",
                                       "x1",
                                       "--1",
                                       "1-",
                                       "0x1",
                                       "/",
                                       ":",
                                       "9223372036854775808",
                                       "-9223372036854775809",
                                       "92233720368547758070",
                                       "100000000000000000000"};
    static const char *const odd[] = {"", "tru", "trux", "xrue", "truee", "falsx", "xalse", "fals", "True", "1"};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++) expect_fits(RAD_FLOW_INT, numbers[i], true);
    for (uint32_t i = 0; i < sizeof none / sizeof *none; i++) expect_fits(RAD_FLOW_INT, none[i], false);
    for (uint32_t i = 0; i < sizeof odd / sizeof *odd; i++) expect_fits(RAD_FLOW_BOOL, odd[i], false);
    expect_fits(RAD_FLOW_BOOL, "true", true);
    expect_fits(RAD_FLOW_BOOL, "false", true);
    expect_fits(RAD_FLOW_TEXT, "", true);
    expect_fits(RAD_FLOW_TEXT, "any\nthing", true);
    assert_false(rad__flow_fits(RAD_FLOW_TEXT, "a\0b", 3)); /* the next command could not be given it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_effect_has_the_same_name_for_ever), cmocka_unit_test(long_keys_keep_apart),
        cmocka_unit_test(notes_of_people_are_no_signals),       cmocka_unit_test(a_receipt_is_read_as_it_was_written),
        cmocka_unit_test(only_signals_and_cancels_are_spooled), cmocka_unit_test(outputs_are_values_of_their_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
