/* test_program.c — machines of a program: what files say about the program, and what is read of a program's file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "lab/machines.h"
#include "lab/program.h"
#include "os/file.h"
#include "os/object.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- Files of runs ----------------------------------------------------------------------------------- */

/* A copy of a machine that ships with raddle, under a name of its own or the same. */
static rad_machine own_machine(const char *like, const char *name)
{
    rad_machine m = *rad_machine_find(like);
    m.name = name;
    return m;
}

static rad_artifact *run_of(const char *machine, const char *log)
{
    rad_target t;
    rad_verdict v;
    rad_error error = {0};
    rad_artifact *a = NULL;
    rad_run_request r = {.policy = "random", .seed = 1, .artifact = &a, .log = log};
    assert_int_equal(rad_target_init(&t, machine, &error), 0);
    if (rad_lab_run(&t, &r, &v, &error) != 0) fail_msg("%s", error.text);
    return a;
}

static void expect_unreadable(const char *path, const char *text)
{
    rad_artifact *a;
    rad_error error = {0};
    assert_int_equal(rad_artifact_read(&a, path, false, &error), RAD_EINPUT);
    assert_string_equal(error.text, text);
}

/* With `name`, in a program and outside it. */
static void recorded_and_read(const char *name)
{
    rad_machine m = own_machine("counter", name);
    rad_lab_program said;
    rad_artifact *a, *b;
    rad_target t;
    rad_verdict v;
    rad_error error = {0};
    char text[200];
    assert_int_equal(rad_machine_add(&m, NULL), 0);
    rad__program_set("./there/own program", &m);
    a = run_of(name, "x.raddle.log");
    assert_non_null(rad_artifact_program(a));
    assert_string_equal(rad_artifact_program(a)->path, "./there/own program");
    assert_string_equal(rad_artifact_program(a)->build_id, rad_lab_program_own()->build_id);
    assert_int_equal(rad_artifact_write(a, "x.raddle.json", &error), 0);
    assert_int_equal(rad_artifact_read(&b, "x.raddle.json", false, &error), 0);
    assert_string_equal(rad_artifact_program(b)->path, "./there/own program");
    rad_artifact_free(a);
    rad_artifact_free(b);
    assert_int_equal(rad_lab_replay_log("x.raddle.log", &t, &v, &error), 0);
    rad_target_free(&t);

    rad__program_set("", NULL);
    rad__machines_cut(0);
    snprintf(text, sizeof text, "x.raddle.json: machine: \"%s\" is in the program ./there/own program", name);
    expect_unreadable("x.raddle.json", text);
    assert_int_equal(rad_lab_replay_log("x.raddle.log", &t, &v, &error), RAD_EINPUT);
    assert_non_null(strstr(error.text, "is in the program ./there/own program"));
    assert_true(rad_lab_program_of("x.raddle.json", &said));
    assert_string_equal(said.path, "./there/own program");
    assert_true(rad_lab_program_of("x.raddle.log", &said));
    assert_string_equal(said.path, "./there/own program");
    unlink("x.raddle.json");
    unlink("x.raddle.log");
}

static void files_say_which_program_has_the_machine(void **state)
{
    (void)state;
    recorded_and_read("mine");
}

static void also_when_raddle_has_one_of_the_same_name(void **state)
{
    (void)state;
    recorded_and_read("counter");
}

static void machines_of_raddle_have_no_program(void **state)
{
    rad_machine m = own_machine("counter", "mine");
    rad_lab_program said;
    rad_error error = {0};
    (void)state;
    assert_null(rad_lab_program_own());
    assert_int_equal(rad_machine_add(&m, NULL), 0);
    rad_artifact *a = run_of("mine", NULL); /* added, but by no program that raddle could start */
    assert_null(rad_artifact_program(a));
    rad_artifact_free(a);
    rad__program_set("./own", &m);
    a = run_of("buffer", NULL);
    assert_null(rad_artifact_program(a));
    assert_int_equal(rad_artifact_write(a, "x.raddle.json", &error), 0);
    assert_false(rad_lab_program_of("x.raddle.json", &said));
    assert_false(rad_lab_program_of("nothing", &said));
    rad_artifact_free(a);
    unlink("x.raddle.json");
    rad__program_set("", NULL);
    rad__machines_cut(0);
}

/* ---- Files of programs ------------------------------------------------------------------------------- */

static int exported_by_this_test; /* in .symtab only: static */

static void a_program_is_read(void **state)
{
    rad_elf e;
    rad_error error = {0};
    char id[200];
    (void)state;
    exported_by_this_test = 1;
    assert_int_equal(rad__os_object_open("/proc/self/exe", &e, &error), 0);
    assert_true(e.is_program);
    assert_int_equal(rad__elf_symbol(&e, "main"), RAD_ELF_DEFINED);
    assert_int_equal(rad__elf_symbol(&e, "mai"), RAD_ELF_ABSENT); /* the beginning of a name */
    assert_int_equal(rad__elf_symbol(&e, "fail_no_such_name"), RAD_ELF_ABSENT);
    assert_int_equal(rad__elf_symbol(&e, "ain"), RAD_ELF_ABSENT); /* the end of a name, but no name */
    assert_int_equal(rad__elf_symbol(&e, "exported_by_this_test"), RAD_ELF_ABSENT);
    assert_int_equal(rad__elf_exported(&e, "_assert_true"), RAD_ELF_NEEDED); /* of libcmocka */
    rad__program_build_id(&e, id, sizeof id);
    assert_true(strlen(id) >= 16);
    e.build_id[0] = 0;
    rad__program_build_id(&e, id, sizeof id);
    assert_memory_equal(id, "file:", 5);
    assert_int_equal(rad__os_object_close(&e, "", &error), 0);
}

static void a_shared_object_is_read(void **state)
{
    rad_elf e;
    rad_error error = {0};
    char path[300];
    void (*function)(const LargestIntegralType, const char *const, const char *const, const int) = _assert_true;
    void *address;
    (void)state;
    memcpy(&address, &function, sizeof address);
    rad__os_object_of(address, path, sizeof path);
    assert_non_null(strstr(path, "libcmocka"));
    assert_int_equal(rad__os_object_open(path, &e, &error), 0);
    assert_false(e.is_program);
    assert_int_equal(rad__elf_exported(&e, "_assert_true"), RAD_ELF_DEFINED);
    assert_int_equal(rad__elf_exported(&e, "abort"), RAD_ELF_NEEDED);
    assert_int_equal(rad__os_object_close(&e, "", &error), 0);
}

static void the_file_of_an_address_is_found(void **state)
{
    char path[300];
    int here = 0;
    (void)state;
    rad__os_object_of(&exported_by_this_test, path, sizeof path);
    assert_string_equal(path, "/proc/self/exe");
    rad__os_object_of(&here, path, sizeof path); /* in no file */
    assert_string_equal(path, "/proc/self/exe");
    rad__os_object_of(stdout, path, sizeof path);
    assert_non_null(strstr(path, "libc"));
}

/* This program, cut off behind each of its first bytes, with no memory behind the last one. */
static void files_that_are_cut_off_are_not_read_beyond_their_end(void **state)
{
    enum { ROOM = 64 << 10 };
    rad_elf whole, e;
    uint8_t *pages = mmap(NULL, 2 * ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true(pages != MAP_FAILED && mprotect(pages + ROOM, ROOM, PROT_NONE) == 0);
    assert_int_equal(rad__os_object_open("/proc/self/exe", &whole, NULL), 0);
    for (size_t length = 0; length < 4096; length++) {
        uint8_t *at = pages + ROOM - length;
        memcpy(at, whole.bytes, length);
        assert_int_equal(rad__elf_open(&e, at, length, "x", NULL), RAD_EINPUT);
    }
    rad__os_object_close(&whole, "", NULL);
    munmap(pages, 2 * ROOM);
}

static void a_file_that_becomes_shorter_is_said_to(void **state)
{
    rad_elf e;
    rad_error error = {0};
    (void)state;
    assert_int_equal(rad__os_object_open("/proc/self/exe", &e, &error), 0);
    assert_int_equal(rad__os_write_file("cut", e.bytes, e.size, &error), 0);
    assert_int_equal(rad__os_object_close(&e, "", &error), 0);
    assert_int_equal(rad__os_object_open("cut", &e, &error), 0);
    assert_int_equal(truncate("cut", 4096), 0);
    assert_int_equal(rad__elf_symbol(&e, "main"), RAD_ELF_ABSENT); /* no SIGBUS */
    assert_int_equal(rad__os_object_close(&e, "cut", &error), RAD_EIO);
    assert_non_null(strstr(error.text, "shorter"));
    rad__error_clear(&error);
    assert_int_equal(rad__os_object_open("cut", &e, &error), RAD_EINPUT);
    remove("cut");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_say_which_program_has_the_machine),
        cmocka_unit_test(also_when_raddle_has_one_of_the_same_name),
        cmocka_unit_test(machines_of_raddle_have_no_program),
        cmocka_unit_test(a_program_is_read),
        cmocka_unit_test(a_shared_object_is_read),
        cmocka_unit_test(the_file_of_an_address_is_found),
        cmocka_unit_test(files_that_are_cut_off_are_not_read_beyond_their_end),
        cmocka_unit_test(a_file_that_becomes_shorter_is_said_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
