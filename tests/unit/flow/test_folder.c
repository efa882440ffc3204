/* test_folder.c — every way in which the folder of a case can be wrong: another runner, a full or read-only
 * disk, a journal of another version or with a flipped bit, a changed flow, calls to the system that fail. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "os/fault.h"
#include "os/file.h"
#include "run_support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_two_runners(void **state)
{
    (void)state;
    char text[100];
    rad_flow *f = flow_parsed(FLOW_WAITS);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    flow_start_runner(FLOW_WAITS);
    flow_wait_for_lock();
    snprintf(text, sizeof text, "flow_case: another runner, process %d, works on this execution", flow_run_pid);
    flow_expect_refused(rad_flow_resume(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT, text);
    flow_expect_refused(rad_flow_run(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "flow_case: holds an execution already");
    flow_kill_runner();
    flow_expect_refused(rad_flow_run(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "flow_case: holds an execution already");
    flow_expect_refused(rad_flow_resume(f, "nowhere", &o, &r, &error), &error, RAD_EINPUT,
                        "nowhere: holds no execution (no journal)");
    rad_flow_free(f);
}

/* Files of somebody else that have the names of ours stay as they are. */
static void test_files_of_others(void **state)
{
    (void)state;
    static const char *const names[] = {"flow", "lock", "where"};
    rad_flow *f = flow_parsed(FLOW_WAITS);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    for (uint32_t i = 0; i < 3; i++) {
        char folder[32], path[64], text[120];
        rad_error error = {0};
        snprintf(folder, sizeof folder, "flow_others%u", i);
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        mkdir(folder, 0777);
        FILE *file = fopen(path, "w");
        fputs("precious", file);
        fclose(file);
        snprintf(text, sizeof text, "%s: the directory has a file \"%s\" that is not of", folder, names[i]);
        flow_expect_refused(rad_flow_run(f, folder, &o, &r, &error), &error, RAD_EINPUT, text);
        file = fopen(path, "r");
        assert_non_null(fgets(text, sizeof text, file));
        fclose(file);
        assert_string_equal(text, "precious");
        unlink(path);
        rmdir(folder);
    }
    rad_flow_free(f);
}

/* Leaves a case that can be resumed: a killed runner, nothing running. */
static void leave(void)
{
    flow_start_runner(FLOW_WAITS);
    rad_error error = {0};
    flow_wait_for_file("flow_case/journal");
    assert_int_equal(rad_flow_send(flow_folder, "go", "one", &error), 0);
    flow_wait_for_records(3);
    flow_kill_runner();
}

static void expect_resume_refused(const char *flow, const char *text)
{
    rad_flow *f = flow_parsed(flow);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    flow_expect_refused(rad_flow_resume(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT, text);
    rad_flow_free(f);
}

static void test_a_changed_flow(void **state)
{
    (void)state;
    static const char changed[] = "flow f { data { x : text } task t { run \"echo $x >> flow_made/x\" }\n"
                                  "wait signal go into x do t do t wait signal go into x do t\n"
                                  "region r { wait signal never } on cancel { do t } }";
    leave();
    expect_resume_refused(changed, "test.flow is not the flow this execution was begun with");
    expect_resume_refused(changed, "-    2  wait signal go into x do t wait signal go into x do t\n"
                                   "+    2  wait signal go into x do t do t wait signal");
    rad_flow *f = flow_parsed(changed);
    char *text;
    rad_error error = {0};
    assert_int_equal(rad_flow_changes(f, flow_folder, &text, &error), 0);
    assert_int_equal(strncmp(text, "-    2  wait", 12), 0);
    rad_free(text);
    rad_flow_free(f);
    f = flow_parsed(FLOW_WAITS);
    assert_int_equal(rad_flow_changes(f, flow_folder, &text, &error), 0);
    assert_string_equal(text, "");
    rad_free(text);
    rad_flow_free(f);
    /* The folder's own: there is nothing to compare it with. */
    assert_int_equal(system("sed -i s/never/nevermore/ flow_case/flow"), 0);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    flow_expect_refused(rad_flow_resume(NULL, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "flow_case/flow: not the text that the execution was begun with");
}

static void flip(const char *path, long at, uint8_t with)
{
    FILE *file = fopen(path, "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, at, at < 0 ? SEEK_END : SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_CUR), 0);
    fputc(byte ^ with, file);
    fclose(file);
}

static void edit_journal(long at, uint8_t with)
{
    flip("flow_case/journal", at, with);
}

static void test_another_version(void **state)
{
    (void)state;
    leave();
    edit_journal(8, 1 ^ 9);
    expect_resume_refused(FLOW_WAITS, "flow_case/journal: a journal of version 9, but this program reads and "
                                      "writes version 1");
    rad_flow_status s;
    rad_error error = {0};
    flow_expect_refused(rad_flow_look(&s, flow_folder, &error), &error, RAD_EINPUT, "version 9");
    rad_flow_status_free(&s);
}

static void test_a_flipped_bit(void **state)
{
    (void)state;
    leave();
    edit_journal(-30, 4);
    expect_resume_refused(FLOW_WAITS, "flow_case/journal: damaged at byte ");
    edit_journal(-30, 4);
    edit_journal(40, 1);
    expect_resume_refused(FLOW_WAITS, "flow_case/journal: its header is damaged");
    edit_journal(40, 1);
    rad_error error = {0};
    assert_int_equal(rad_flow_cancel(flow_folder, RAD_FLOW_PART_CASE, NULL, &error), 0);
    flow_start_runner(FLOW_WAITS); /* as it was */
    assert_int_equal(flow_wait_for_runner(), RAD_FLOW_END_CANCELLED);
}

static void write_bytes(const char *path, const char *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(bytes, file);
    fclose(file);
}

static void test_damaged_files_beside_it(void **state)
{
    (void)state;
    leave();
    write_bytes("flow_case/signals/00000000000000000001-0000000000000001", "RADSPOO1nonsense");
    expect_resume_refused(FLOW_WAITS, "flow_case/signals/00000000000000000001-0000000000000001: damaged");
    assert_int_equal(unlink("flow_case/signals/00000000000000000001-0000000000000001"), 0);
    write_bytes("flow_case/effects/0-9@1.receipt", "RADRCPT1nonsense");
    expect_resume_refused(FLOW_WAITS, "flow_case/effects/0-9@1.receipt: this was run");
    assert_int_equal(unlink("flow_case/effects/0-9@1.receipt"), 0);
    flow_fresh(state);
    /* One whose result nobody has taken yet. */
    static const char text[] = "flow f { task t { run \"sleep 0.5\" } do t }";
    flow_start_runner(text);
    flow_wait_for_file("flow_case/effects/0-1@1.lock");
    flow_kill_runner();
    flow_wait_for_file("flow_case/effects/0-1@1.receipt");
    flip("flow_case/effects/0-1@1.receipt", 20, 1); /* a time: it would still make sense */
    expect_resume_refused(text, "flow_case/effects/0-1@1.receipt: damaged");
}

static void test_answers_to_what_is_not_asked(void **state)
{
    (void)state;
    static const char *const keys[] = {"0#1", "0#77", "nonsense"}; /* done, never begun, none */
    leave();
    rad_flow *f = flow_parsed(FLOW_WAITS);
    for (uint32_t i = 0; i < 3; i++) {
        rad_flow_options o = flow_options();
        rad_flow_settle settle = {keys[i], RAD_FLOW_ANSWER_AGAIN, NULL};
        rad_flow_result r;
        rad_error error = {0};
        o.settles = &settle;
        o.settle_count = 1;
        flow_expect_refused(rad_flow_resume(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                            " is not in doubt: it cannot be settled");
    }
    rad_flow_free(f);
}

static void test_answers_to_what_has_ended(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"true\" } do t }";
    flow_expect_done(text);
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_settle settle = {"0#1", RAD_FLOW_ANSWER_FAILED, NULL};
    rad_flow_result r;
    rad_error error = {0};
    o.settles = &settle;
    o.settle_count = 1;
    flow_expect_refused(rad_flow_resume(f, flow_folder, &o, &r, &error), &error, RAD_EINPUT,
                        "0#1 is not in doubt: it cannot be settled");
    rad_flow_free(f);
}

/* From another folder: commands run where the case was begun, and in folders below that. */
static void test_a_case_is_resumed_from_elsewhere(void **state)
{
    (void)state;
    char here[4096], away[4200];
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    assert_non_null(getcwd(here, sizeof here));
    flow_start_runner("flow f { task t { run \"echo t >> t\" dir \"flow_made\" } do t\n"
                      "wait signal go do t run \"echo u >> flow_made/t\" }");
    flow_wait_for_records(2);
    flow_kill_runner();
    write_bytes("flow_case/signals/README", "a note of somebody"); /* is passed over */
    assert_int_equal(rad_flow_send(flow_folder, "go", NULL, &error), 0);
    assert_int_equal(chdir("flow_made"), 0);
    int code = rad_flow_resume(NULL, "../flow_case", &o, &r, &error);
    assert_int_equal(chdir(here), 0);
    assert_string_equal(error.text, "");
    assert_int_equal(code, 0);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/t", "t\nt\nu\n");
    flow_fresh(state);
    leave();
    snprintf(away, sizeof away, "%s/flow_gone\n", here);
    write_bytes("flow_case/where", away);
    expect_resume_refused(FLOW_WAITS, "/flow_gone, which is not a directory: make it, or");
    assert_int_equal(unlink("flow_case/where"), 0); /* as of a case that never had one */
    assert_int_equal(rad_flow_cancel(flow_folder, RAD_FLOW_PART_CASE, NULL, &error), 0);
    assert_int_equal(rad_flow_resume(NULL, flow_folder, &o, &r, &error), 0);
    assert_int_equal(r.end, RAD_FLOW_END_CANCELLED);
}

static char news[200];

static void watch_cut(void *context, const rad_flow_progress *p)
{
    (void)context;
    if (p->news == RAD_FLOW_JOURNAL_CUT) snprintf(news, sizeof news, "%s", p->text);
}

static void test_a_torn_record(void **state)
{
    (void)state;
    static volatile int stop = 1;
    struct stat before, after;
    leave();
    assert_int_equal(stat("flow_case/journal", &before), 0);
    FILE *file = fopen("flow_case/journal", "ab");
    fwrite("\x20\0\0\0\x04", 1, 5, file);
    fclose(file);
    rad_flow_status s;
    rad_error error = {0};
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0);
    assert_true(s.torn);
    rad_flow_status_free(&s);
    rad_flow *f = flow_parsed(FLOW_WAITS);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    o.stop = &stop;
    o.watch = watch_cut;
    if (rad_flow_resume(f, flow_folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_string_equal(news, "5 bytes after record 3 were not whole, and are cut off");
    if (rad_flow_resume(f, flow_folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(stat("flow_case/journal", &after), 0);
    assert_true(after.st_size > before.st_size);
    rad_flow_free(f);
}

static void test_a_read_only_folder(void **state)
{
    (void)state;
    if (getuid() == 0) { /* root may write anywhere: a folder below a file will do */
        assert_int_equal(system("mkdir -p flow_made && touch flow_made/file"), 0);
        rad_flow *f = flow_parsed(FLOW_WAITS);
        rad_flow_options o = flow_options();
        rad_flow_result r;
        rad_error error = {0};
        flow_expect_refused(rad_flow_run(f, "flow_made/file/case", &o, &r, &error), &error, RAD_EIO,
                            "flow_made/file/case: cannot create the directory: ");
        assert_string_equal(r.case_id, ""); /* there is nothing to resume */
        rad_flow_free(f);
        return;
    }
    leave();
    assert_int_equal(system("chmod -R a-w flow_case"), 0);
    rad_flow *f = flow_parsed(FLOW_WAITS);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    flow_expect_refused(rad_flow_resume(f, flow_folder, &o, &r, &error), &error, RAD_EIO, "Permission denied");
    rad_flow_status s;
    assert_int_equal(rad_flow_look(&s, flow_folder, &error), 0); /* reading is enough */
    rad_flow_status_free(&s);
    assert_int_equal(system("chmod -R u+w flow_case"), 0);
    rad_flow_free(f);
}

/* No file may grow beyond so many bytes: the journal is full in the middle. */
static void test_a_full_disk(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"echo x >> flow_made/x\" } loop 8 { do t } }";
    rad_flow *f = flow_parsed(text);
    rad_flow_options o = flow_options();
    rad_flow_result r;
    rad_error error = {0};
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    small = before;
    small.rlim_cur = 700;
    setrlimit(RLIMIT_FSIZE, &small);
    int code = rad_flow_run(f, flow_folder, &o, &r, &error);
    setrlimit(RLIMIT_FSIZE, &before);
    flow_expect_refused(code, &error, RAD_EIO, "flow_case: cannot write: ");
    assert_string_not_equal(r.case_id, ""); /* there is something to resume */
    error = (rad_error){0};
    if (rad_flow_resume(f, flow_folder, &o, &r, &error) != 0) fail_msg("%s", error.text);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/x", "x\nx\nx\nx\nx\nx\nx\nx\n");
    rad_flow_free(f);
}

/* Watches of folders are few for each user: without them it is slower, and works. */
static void test_no_watches_left(void **state)
{
    (void)state;
    static int files[4096];
    uint32_t count = 0;
    while (count < 4096 && (files[count] = inotify_init1(IN_CLOEXEC)) >= 0) count++;
    assert_true(count < 4096);
    if (count > 8 && errno == EMFILE) close(files[--count]); /* that was files: one is needed */
    rad_flow_result r = flow_run("flow f { task t { run \"sleep 0.2; echo x >> flow_made/x\" }\n"
                                 "par { do t } and { do t } }");
    while (count > 0) close(files[--count]);
    assert_int_equal(r.end, RAD_FLOW_END_DONE);
    flow_expect_file("flow_made/x", "x\nx\n");
}

/* A folder for each: commands of one that failed may still be at work. */
static void test_every_call_can_fail(void **state)
{
    (void)state;
    static const char text[] = "flow f { task t { run \"echo x >> flow_made/x\" } do t do t }";
    static const rad_flow_settle again[] = {{"0#1", RAD_FLOW_ANSWER_AGAIN, NULL}, {"0#2", RAD_FLOW_ANSWER_AGAIN, NULL}};
    rad_flow *f = flow_parsed(text);
    uint64_t n = 1;
    for (;; n += 1 + n / 30) {
        rad_flow_options o = flow_options();
        rad_flow_result r;
        rad_error error = {0};
        char name[40], journal[60];
        snprintf(name, sizeof name, "flow_made/case-%llu", (unsigned long long)n);
        snprintf(journal, sizeof journal, "%s/journal", name);
        rad__os_fail_at(n);
        int code = rad_flow_run(f, name, &o, &r, &error);
        rad__os_fail_at(0);
        if (code == 0 && r.end == RAD_FLOW_END_DONE) break;
        if (code != 0 && code != RAD_EIO) fail_msg("fault %llu: %s", (unsigned long long)n, error.text);
        for (int lives = 0; lives < 3; lives++) { /* faults meet shims, too */
            error = (rad_error){0};
            code = rad__os_exists(journal) ? rad_flow_resume(f, name, &o, &r, &error)
                                           : rad_flow_run(f, name, &o, &r, &error);
            if (code != 0) fail_msg("after fault %llu: %s", (unsigned long long)n, error.text);
            if (r.end == RAD_FLOW_END_DONE) break;
            assert_int_equal(r.end, RAD_FLOW_END_IN_DOUBT);
            o.settles = strstr(r.text, "0#1") != NULL ? &again[0] : &again[1];
            o.settle_count = 1;
        }
        assert_int_equal(r.end, RAD_FLOW_END_DONE);
    }
    assert_true(n > 30);
    rad_flow_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_two_runners, flow_fresh),
        cmocka_unit_test_setup(test_files_of_others, flow_fresh),
        cmocka_unit_test_setup(test_a_changed_flow, flow_fresh),
        cmocka_unit_test_setup(test_another_version, flow_fresh),
        cmocka_unit_test_setup(test_a_flipped_bit, flow_fresh),
        cmocka_unit_test_setup(test_damaged_files_beside_it, flow_fresh),
        cmocka_unit_test_setup(test_answers_to_what_is_not_asked, flow_fresh),
        cmocka_unit_test_setup(test_answers_to_what_has_ended, flow_fresh),
        cmocka_unit_test_setup(test_a_case_is_resumed_from_elsewhere, flow_fresh),
        cmocka_unit_test_setup(test_a_torn_record, flow_fresh),
        cmocka_unit_test_setup(test_a_read_only_folder, flow_fresh),
        cmocka_unit_test_setup(test_a_full_disk, flow_fresh),
        cmocka_unit_test_setup(test_no_watches_left, flow_fresh),
        cmocka_unit_test_setup(test_every_call_can_fail, flow_fresh),
    };
    return cmocka_run_group_tests_name("flow_folder", tests, NULL, NULL);
}
