/* test_live_arrivals.c — arrivals on real servers: connections are there before the run begins, and what an arrival
 * asks for depends on its number alone, byte for byte, however fast the server is. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "live_front.h"
#include "live_support.h"
#include "os/clock.h"

#include <raddle/load.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum { COUNT = 200, AT_ONCE = 64 };

typedef struct setting {
    world w;
    live_front back, front;
    char port[8];
} setting;

static void setting_open(setting *s, bool http2, bool tls)
{
    memset(s, 0, sizeof *s);
    world_open(&s->w, &(rad__load_serve_options){.body_bytes = 10}, "/5");
    uint32_t port = (uint32_t)strtoul(s->w.port, NULL, 10);
    if (http2) live_front_http2(&s->back);
    if (http2) port = s->back.port;
    if (tls) live_front_open(&s->front, port, "IP:127.0.0.1", http2 ? "h2" : "http/1.1");
    snprintf(s->port, sizeof s->port, "%u", tls ? s->front.port : port);
    s->w.target.port = s->port;
    s->w.target.connect_timeout_ns = UINT64_C(3600000000000); /* however slow the machine is */
    s->w.target.http2 = http2;
    s->w.target.tls = s->w.target.verify = tls;
    s->w.target.ca_bundle = s->front.certificate;
}

static void setting_close(setting *s)
{
    world_close(&s->w);
    if (s->back.process) live_front_close(&s->back);
    if (s->front.process) live_front_close(&s->front);
}

static rad__load_turn open_all(world *w)
{
    rad__load_effect effects[COUNT];
    rad__load_turn turn = {0};
    rad_error error = {0};
    for (uint32_t i = 0; i < COUNT; i++) effects[i] = (rad__load_effect){.kind = RAD__LOAD_DO_OPEN, .vu = i, .conn = i};
    if (w->engine->kind->act(w->engine, effects, COUNT, &error) != 0 ||
        w->engine->kind->turn(w->engine, 0, false, &turn, &error) != 0)
        fail_msg("%s", error.text);
    return turn;
}

static uint32_t count_of(const rad__load_turn *turn, uint32_t kind, uint32_t fault)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < turn->input_count; i++)
        count += turn->inputs[i].kind == kind && turn->inputs[i].fault == fault;
    return count;
}

/* With the turn after the one that asks for them all are there, and no time has passed. */
static void connections_are_there(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        setting s;
        setting_open(&s, kind & 1, kind & 2);
        uint64_t begin = rad__os_now_ns(), longest = 0;
        world_engine(&s.w);
        rad__load_turn turn = open_all(&s.w);
        uint64_t passed = rad__os_now_ns() - begin;
        assert_int_equal(turn.input_count, COUNT);
        assert_int_equal(count_of(&turn, RAD__LOAD_IN_CONNECTED, 0), COUNT);
        bool seen[COUNT] = {false};
        for (uint32_t i = 0; i < COUNT; i++) {
            const rad__load_input *in = &turn.inputs[i];
            assert_int_equal(in->vu, in->conn);
            assert_false(seen[in->conn]);
            seen[in->conn] = true;
            assert_true(in->took_ns > 0 && in->at_ns <= turn.now_ns);
            longest = in->took_ns > longest ? in->took_ns : longest;
        }
        assert_true(turn.now_ns + longest <= passed); /* the clock of the run stood still */
        world_send(&s.w, 0, COUNT, 0, true, false);   /* another one is opened while time passes */
        assert_int_equal(s.w.engine->kind->turn(s.w.engine, 0, false, &turn, NULL), 0);
        passed = rad__os_now_ns() - begin;
        assert_int_equal(turn.input_count, 0);
        assert_true(turn.now_ns + longest <= passed);
        s.w.now_ns = turn.now_ns;
        world_wait(&s.w, 2);
        world_got(&s.w, RAD__LOAD_IN_RESPONSE);
        for (uint32_t i = 0; i < COUNT; i += 50) {
            world_send(&s.w, i, i, 0, false, false);
            world_wait(&s.w, 1);
            assert_int_equal(s.w.got_count, 1);
            const rad__load_input *in = world_got(&s.w, RAD__LOAD_IN_RESPONSE);
            assert_true(in->sent_ns >= turn.now_ns);
        }
        setting_close(&s);
    }
}

static void connections_that_fail_are_told(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, false, false);
    world_stop_server(&s.w); /* nobody is there any more */
    world_engine(&s.w);
    rad__load_turn turn = open_all(&s.w);
    assert_int_equal(turn.input_count, COUNT);
    assert_int_equal(count_of(&turn, RAD__LOAD_IN_CONN_FAILED, RAD__LOAD_REFUSED), COUNT);
    setting_close(&s);
}

/* A server that does not shake hands is waited for once, not once for every few connections. */
static void nobody_is_waited_for_again(void **state)
{
    (void)state;
    setting s;
    setting_open(&s, false, true);
    live_front_close(&s.front);
    live_front_open(&s.front, 0, "IP:127.0.0.1", "silent");
    snprintf(s.port, sizeof s.port, "%u", s.front.port);
    s.w.target.connect_timeout_ns = 100000000;
    world_engine(&s.w);
    rad__load_turn turn = open_all(&s.w);
    assert_int_equal(turn.input_count, COUNT);
    uint32_t shaking = count_of(&turn, RAD__LOAD_IN_CONN_FAILED, RAD__LOAD_TLS_TIMEOUT),
             others = count_of(&turn, RAD__LOAD_IN_CONN_FAILED, RAD__LOAD_CONNECT_TIMEOUT);
    assert_int_equal(shaking + others, COUNT);
    assert_true(shaking <= AT_ONCE && others >= COUNT - AT_ONCE);
    for (uint32_t i = 0; i < COUNT; i++) assert_true(turn.inputs[i].at_ns <= turn.now_ns);
    world_send(&s.w, 0, 0, 0, true, false); /* and they can be opened again */
    world_wait(&s.w, 2);
    world_got(&s.w, RAD__LOAD_IN_FAILED);
    setting_close(&s);
}

static volatile int *interrupted;

static void on_alarm(int number)
{
    (void)number;
    *interrupted = 2;
}

static void waiting_can_be_interrupted(void **state)
{
    (void)state;
    setting s;
    struct itimerval soon = {.it_value = {.tv_usec = 100000}};
    setting_open(&s, false, true);
    live_front_close(&s.front);
    live_front_open(&s.front, 0, "IP:127.0.0.1", "silent");
    snprintf(s.port, sizeof s.port, "%u", s.front.port);
    world_engine(&s.w);
    interrupted = &s.w.interrupted;
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
    rad__load_turn turn = open_all(&s.w);
    assert_true(turn.interrupted);
    signal(SIGALRM, SIG_DFL);
    setting_close(&s);
}

/* ---- The plan ------------------------------------------------------------------------------------------------ */

enum { ARRIVALS = 40, STEPS = 2, USERS = 20, REQUEST = 2000 };

static _Atomic uint32_t *answered; /* shared with the server */

/* Writes down each request as it comes, and answers after a while; a process for each connection. */
static void record_one(int fd, int file, unsigned ms)
{
    char request[REQUEST];
    size_t size = 0;
    for (;;) {
        ssize_t got = recv(fd, request + size, sizeof request - 1 - size, 0);
        if (got <= 0) return;
        size += (size_t)got;
        request[size] = 0;
        const char *end = strstr(request, "}\n");
        if (end == NULL) continue;
        static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        if (write(file, request, (size_t)(end + 2 - request)) < 0) return;
        usleep(ms * 1000);
        size = 0;
        if (send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL) < 0) return;
        atomic_fetch_add(answered, 1);
    }
}

static void recorder(live_front *f, const char *path, unsigned ms)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof a;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(listener >= 0 && file >= 0);
    assert_true(bind(listener, (struct sockaddr *)&a, sizeof a) == 0 && listen(listener, 500) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&a, &size), 0);
    *f = (live_front){.port = ntohs(a.sin_port), .process = fork()};
    assert_true(f->process >= 0);
    if (f->process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGCHLD, SIG_IGN);
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            if (fd >= 0 && fork() == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                record_one(fd, file, ms);
                _exit(0);
            }
            close(fd);
        }
    }
    close(listener);
    close(file);
}

static volatile int stop;

static void look(int number)
{
    (void)number;
    if (atomic_load(answered) >= ARRIVALS * STEPS) stop = 1;
}

/* What each arrival has sent, by number and position. */
static char plans[2][ARRIVALS][STEPS][REQUEST];

static void read_plan(const char *path, char plan[ARRIVALS][STEPS][REQUEST])
{
    static char text[ARRIVALS * STEPS * REQUEST];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    text[size] = 0;
    fclose(file);
    uint32_t count = 0;
    for (char *at = text, *end; (end = strstr(at, "}\n")) != NULL; at = end + 2, count++) {
        unsigned arrival, position;
        const char *header = strstr(at, "X-Arrival: ");
        assert_true(header != NULL && header < end);
        assert_int_equal(sscanf(header, "X-Arrival: %u-%u", &arrival, &position), 2);
        assert_true(arrival < ARRIVALS && position < STEPS);
        assert_int_equal(plan[arrival][position][0], 0); /* each once */
        snprintf(plan[arrival][position], REQUEST, "%.*s", (int)(end - at), at);
    }
    assert_int_equal(count, ARRIVALS * STEPS);
}

/* Waits until all have been answered, however slow the machine is. */
static void run_plan(uint32_t number, unsigned ms, const char *more, uint32_t shards)
{
    char text[3000];
    live_front server;
    rad_load_scenario *scenario;
    rad_load_result *r;
    rad_load_verdict v;
    rad_error error = {0};
    rad_load_options o = rad_load_defaults();
    struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
    answered = mmap(NULL, sizeof *answered, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(answered, MAP_FAILED);
    recorder(&server, "plan.txt", ms);
    FILE *data = fopen("people.csv", "w");
    assert_non_null(data);
    fprintf(data, "name\nann a\nbob/b\ncy&c\n\"d\"\"d\"\n");
    assert_int_equal(fclose(data), 0);
    snprintf(text, sizeof text,
             "[metadata]\nname = 'plan'\nversion = '1'\n[runtime]\nvus = %d\nseed = 9\n"
             "[schedule]\ntype = 'arrival_rate'\nstart_rate = %d\n%s"
             "[[schedule.stages]]\nrate = %d\nduration_seconds = 0.99\n"
             "[[schedule.stages]]\nrate = 0\nduration_seconds = '1ns'\n"
             "[[schedule.stages]]\nrate = 0\nduration_seconds = 3000\n"
             "[target]\nbase_url = 'http://127.0.0.1:%u'\n"
             "[[data]]\nname = 'in'\nfile = 'people.csv'\norder = 'in_turn'\n"
             "[[data]]\nname = 'dr'\nfile = 'people.csv'\norder = 'drawn'\n"
             "[[data]]\nname = 'by'\nfile = 'people.csv'\norder = 'by_user'\n"
             "[[requests]]\nname = 'a'\nmethod = 'POST'\npath = "
             "'/a/${data:in.name}?u=${vu}&i=${iteration}'\n"
             "headers = {Host = 'plan', X-Arrival = '${iteration}-${position}', X-By = "
             "'${data:by.name}',"
             " Content-Type = 'application/json'}\n"
             "body = \"{\\\"r\\\": ${random:1-1000000}, \\\"u\\\": \\\"${uuid}\\\", \\\"d\\\": "
             "\\\"${data:dr.name}\\\", \\\"v\\\": ${vu}}\\n\"\n"
             "[[requests]]\nname = 'b'\nmethod = 'POST'\npath = '/b/${random:1-99}'\nweight = 2\n"
             "headers = {Host = 'plan', X-Arrival = '${iteration}-${position}'}\n"
             "body = \"{${uuid} ${vu}}\\n\"\n"
             "[sequence]\n[[sequence.steps]]\nrequest = 'a'\n[[sequence.steps]]\nrequest = 'b'\n",
             USERS, ARRIVALS, more, ARRIVALS, server.port);
    if (rad_load_parse(&scenario, "plan.toml", text, strlen(text), &error) != 0) fail_msg("%s", error.text);
    stop = 0;
    o.engine = world_uses_uring() ? RAD_LOAD_URING : RAD_LOAD_EPOLL;
    o.log = "plan.log";
    o.stop = &stop;
    o.shards = shards;
    signal(SIGALRM, look);
    setitimer(ITIMER_REAL, &often, NULL);
    if (rad_load_run(&r, scenario, &o, &error) != 0) fail_msg("%s", error.text);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    munmap(answered, sizeof *answered);
    rad_load_result_free(r);
    rad_load_free(scenario);
    live_front_close(&server);
    memset(plans[number], 0, sizeof plans[number]);
    read_plan("plan.txt", plans[number]);
    if (rad_load_replay(&v, NULL, "plan.log", NULL, false, &error) != 0) fail_msg("%s", error.text);
    if (!v.same) fail_msg("%s", v.text);
    unlink("plan.txt");
    unlink("plan.log");
    unlink("people.csv");
}

static void equal_plans(void)
{
    for (uint32_t i = 0; i < ARRIVALS; i++)
        for (uint32_t k = 0; k < STEPS; k++) assert_string_equal(plans[0][i][k], plans[1][i][k]);
}

/* A server that answers at once needs one user, a slow one many; in turn, or in two shards, they are others again. */
static void what_is_asked_depends_on_the_arrival(void **state)
{
    (void)state;
    run_plan(0, 0, "", 1);
    assert_non_null(strstr(plans[0][21][0], "POST /a/bob%2Fb?u=1&i=21 HTTP/1.1\r\nUser-Agent"));
    assert_non_null(strstr(plans[0][21][0], "X-By: bob/b\r\n"));
    run_plan(1, 150, "", 1);
    equal_plans();
    run_plan(1, 10, "deal = 'in_turn'\nconnect = 'when_needed'\n", 1);
    equal_plans();
    run_plan(1, 30, "", 2);
    equal_plans();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_are_there),
        cmocka_unit_test(connections_that_fail_are_told),
        cmocka_unit_test(nobody_is_waited_for_again),
        cmocka_unit_test(waiting_can_be_interrupted),
        cmocka_unit_test(what_is_asked_depends_on_the_arrival),
    };
    return world_run_twice(tests);
}
