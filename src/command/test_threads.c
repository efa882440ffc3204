/* test_threads.c — see test.h. What the program prints becomes the outcome: a line "FAIL …", and one that says why
 * (rt/test_main.c). */
#include "test.h"

#include "os/process.h"
#include "os/start.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 80, OUTPUT_MAX = 16384, LOOK_EVERY_MS = 20 };

/* Waits until it has ended; kills it when the command is to stop. */
static int wait_for(const cli *c, int pid, rad_os_exit *how, rad_error *error)
{
    int got;
    while ((got = rad__os_wait(pid, false, how, error)) == 0) {
        bool none = false;
        if (*c->stop) rad__os_kill(pid, NULL);
        rad__os_poll(NULL, 0, LOOK_EVERY_MS, &none, NULL);
    }
    return got < 0 ? error->code : 0;
}

static void read_outcome(const rad_os_exit *how, const char *output, test_outcome *o)
{
    static const char begin[] = "\n      ";
    const char *why = strstr(output, begin);
    o->kind = "threads";
    if (how->signal == 0 && how->status == 0) {
        const char *runs = strstr(output, ": ");
        int size = runs ? (int)strcspn(runs + 2, "\n") : 0;
        rad__readable_text(o->message, sizeof o->message, "%.*s", size, runs ? runs + 2 : "");
        return;
    }
    o->result = how->signal == 0 && how->status == EXIT_FOUND ? TEST_FAILED : TEST_UNFIT;
    why = why ? why + sizeof begin - 1 : output;
    int length = (int)strcspn(why, "\n");
    rad__readable_text(o->message, sizeof o->message, "%.*s", length, why);
    rad__bytes_put_readable(&o->details, output, strlen(output), RAD_READABLE_LINES);
}

int test_on_threads(cli *c, const thread_request *r, test_outcome *o)
{
    static char output[OUTPUT_MAX], flag[] = "--threads";
    char numbers[3][40], *words[WORDS_MAX];
    char *const own[] = {flag, numbers[0], numbers[1], numbers[2]};
    rad_error error = {.code = 0};
    rad_os_exit how = {.status = 0};
    int pid = 0, file = -1;
    uint32_t count = 0, used = 1;
    snprintf(numbers[0], sizeof numbers[0], "--seed=%llu", (unsigned long long)r->seed);
    if (r->runs) snprintf(numbers[used++], sizeof numbers[0], "--runs=%llu", (unsigned long long)r->runs);
    if (r->seconds > 0) snprintf(numbers[used++], sizeof numbers[0], "--time=%.0f", r->seconds < 1 ? 1 : r->seconds);
    words[count++] = (char *)(uintptr_t)r->program; /* never written to. tidy: address ok */
    for (uint32_t i = 0; i <= used; i++) words[count++] = own[i];
    words[count++] = (char *)(uintptr_t)r->test; /* tidy: address ok */
    for (uint32_t i = 0; i < r->param_count; i++) words[count++] = r->params[i];
    words[count] = NULL;
    rad_os_start start = {.path = r->program,
                          .argv = words,
                          .preload = NULL,
                          .variable = "RADDLE_OPTIONS",
                          .mode = NULL,
                          .given = {-1, -1, -1}};
    int code = rad__os_start(&pid, &file, &start, &error);
    if (code == 0) code = wait_for(c, pid, &how, &error);
    if (code == 0) rad__os_output(file, output, sizeof output);
    rad__os_close(file);
    if (code != 0) return complain_error(c, &error);
    if (*c->stop) return EXIT_INTERRUPTED;
    read_outcome(&how, output, o);
    return 0;
}
