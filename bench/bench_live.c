/* bench_live.c — what a request costs the live engine, in CPU time of the generator alone.
 *
 *     bench_live [--tiny] [--json FILE]                                 against our own server, in another process
 *     bench_live HOST PORT CONNECTIONS SECONDS [uring] [tls] [h2] [streams=N] [log=FILE]   against any, one line
 *
 * The loop above the engine does nothing but ask again. With a log it is a whole run: scheduler, statistics, log. */
#include "bench.h"
#include "load/live/http1_parse.h"
#include "load/live/live.h"
#include "load/scheduler/run.h"
#include "load/serve/serve.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double cpu_seconds(double *user)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    *user = (double)r.ru_utime.tv_sec + (double)r.ru_utime.tv_usec * 1e-6;
    return *user + (double)r.ru_stime.tv_sec + (double)r.ru_stime.tv_usec * 1e-6;
}

typedef struct figures {
    uint64_t requests, failed, body_bytes, turns;
    double seconds, cpu, user;
} figures;

static struct rad__load_target target;
static struct rad__load_request request = {.name = "r", .method = "GET", .path = "/", .target = RAD_NONE};

static rad__load_scenario scenario(const char *host, const char *port, uint32_t connections)
{
    target.name = "t";
    target.host = host;
    target.port = port;
    target.max_connections = connections;
    target.connect_timeout_ns = 5000000000;
    if (target.streams == 0) target.streams = 1;
    return (rad__load_scenario){.requests = &request,
                                .request_count = 1,
                                .targets = &target,
                                .target_count = 1,
                                .users = connections * target.streams,
                                .limits = {.max_response_bytes = 10 << 20, .max_header_bytes = 64 << 10}};
}

/* Each user asks again as soon as it has its answer, until there were enough or the time is up. */
static figures drive(const rad__load_scenario *s, bool uring, uint64_t most, double seconds)
{
    figures f = {0};
    rad_error error = {0};
    rad__load_engine *e;
    char note[200];
    rad__load_live_options o = {.scenario = s, .seed = 1, .uring = uring};
    if (rad__load_live_open(&e, &o, note, &error) != 0) {
        fprintf(stderr, "bench_live: %s\n", error.text);
        exit(3);
    }
    if (note[0]) fprintf(stderr, "bench_live: %s\n", note);
    uint32_t users = s->users, count = 0, streams = s->targets->streams;
    rad__load_effect *effects = calloc(users + 1, sizeof *effects);
    uint64_t *numbers = calloc(users, sizeof *numbers);
    bool *shut = calloc(users, sizeof *shut);
    uint32_t *ready = calloc(users, sizeof *ready), ready_count = users;
    for (uint32_t i = 0; i < users; i++) {
        ready[i] = i;
        shut[i / streams] = true;
    }
    double begin = bench_now(), user_before, cpu_before = cpu_seconds(&user_before);
    rad__load_turn turn = {0};
    while (f.requests < most && (seconds <= 0 || bench_now() - begin < seconds)) {
        count = 0;
        for (uint32_t i = 0; i < ready_count; i++) {
            uint32_t vu = ready[i], conn = vu / streams;
            effects[count++] = (rad__load_effect){
                .kind = RAD__LOAD_DO_SEND, .vu = vu, .conn = conn, .request = ++numbers[vu], .open = shut[conn]};
            shut[conn] = false;
        }
        if (e->kind->act(e, effects, count, &error) != 0 ||
            e->kind->turn(e, turn.now_ns + 1000000000, true, &turn, &error) != 0) {
            fprintf(stderr, "bench_live: %s\n", error.text);
            exit(3);
        }
        ready_count = 0;
        f.turns++;
        for (uint32_t i = 0; i < turn.input_count; i++) {
            const rad__load_input *in = &turn.inputs[i];
            bool answered = in->kind == RAD__LOAD_IN_RESPONSE;
            if (answered || in->kind == RAD__LOAD_IN_FAILED) ready[ready_count++] = in->vu;
            f.requests += answered;
            f.body_bytes += in->body_bytes;
            f.failed += in->kind == RAD__LOAD_IN_FAILED;
            if (in->kind == RAD__LOAD_IN_CONN_CLOSED || in->kind == RAD__LOAD_IN_CONN_FAILED) shut[in->conn] = true;
        }
        if (f.failed > 100000) break;
    }
    double user_after;
    f.cpu = cpu_seconds(&user_after) - cpu_before;
    f.user = user_after - user_before;
    f.seconds = bench_now() - begin;
    e->kind->close(e);
    free(effects);
    free(numbers);
    free(ready);
    free(shut);
    return f;
}

static volatile int stop_serving;

static void on_term(int number)
{
    (void)number;
    stop_serving = 1;
}

static pid_t serve(char port[8])
{
    rad_error error = {0};
    rad__load_serve *s;
    rad__load_serve_options o = {.body_bytes = 13};
    if (rad__load_serve_open(&s, &o, &error) != 0) {
        fprintf(stderr, "bench_live: %s\n", error.text);
        exit(3);
    }
    snprintf(port, 8, "%u", rad__load_serve_port(s));
    signal(SIGTERM, on_term);
    pid_t child = fork();
    if (child == 0) _exit(rad__load_serve_run(s, &stop_serving, &error) != 0);
    signal(SIGTERM, SIG_DFL);
    rad__load_serve_close(s);
    return child;
}

static void measure(bench *b, const char *port, uint32_t connections, bool uring)
{
    double cpu[BENCH_SAMPLES];
    char what[80];
    uint64_t most = b->tiny ? 2000 : 200000;
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad__load_scenario s = scenario("127.0.0.1", port, connections);
        figures f = drive(&s, uring, most, 0);
        cpu[i] = f.cpu * 1e6 / (double)f.requests;
        bench_result(b, f.failed + (f.body_bytes == f.requests * 13));
    }
    snprintf(what, sizeof what, "%s, %u connections, per request", uring ? "io_uring" : "epoll", connections);
    bench_row(b, what, "us CPU", cpu, bench_samples(b));
}

/* A response as nginx sends it, in one piece and in two: the one is read without llhttp, the other with it. */
static void measure_parser(bench *b, size_t cut, const char *what)
{
    static const char response[] = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Mon, 16 Nov 2026 04:00:00 GMT\r\n"
                                   "Content-Type: text/html\r\nContent-Length: 13\r\n"
                                   "Last-Modified: Mon, 16 Nov 2026 03:00:00 GMT\r\nConnection: keep-alive\r\n"
                                   "ETag: \"65559a20-d\"\r\nAccept-Ranges: bytes\r\n\r\nhello, world\n";
    enum { SIZE = sizeof response - 1 };
    double ns[BENCH_SAMPLES];
    uint32_t rounds = b->tiny ? 1000 : 1000000;
    rad__load_answers shared = {.max_header_bytes = 8192, .max_body_bytes = 8192};
    for (uint32_t i = 0; i < bench_samples(b); i++) {
        rad__load_http1 h = {0};
        uint64_t sum = 0;
        double begin = bench_now();
        for (uint32_t k = 0; k < rounds; k++) {
            size_t used;
            rad__load_http1_begin(&h, &shared, 0, false);
            if (cut > 0) rad__load_http1_feed(&h, response, cut, &used);
            sum += rad__load_http1_feed(&h, response + cut, SIZE - cut, &used);
            sum += h.answer.body_hash;
            rad__load_answer_drop(&shared, &h.answer);
        }
        ns[i] = (bench_now() - begin) * 1e9 / rounds;
        bench_result(b, sum);
    }
    rad__load_answers_free(&shared);
    bench_row(b, what, "ns", ns, bench_samples(b));
}

static int write_log(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    return fwrite(data, 1, size, context) == size ? 0 : RAD_EIO;
}

/* The same by the scheduler, with everything that belongs to a run. */
static figures drive_run(rad__load_scenario *s, bool uring, const char *path, double seconds)
{
    figures f = {0};
    rad_error error = {0};
    rad__load_engine *e;
    rad__load_log log;
    static rad__load_scheduler scheduler;
    struct rad__load_stage stage = {(uint64_t)(seconds * 1e9), s->users, s->users};
    struct rad__load_step step = {0, 1};
    s->schedule = (struct rad__load_schedule){.stage_count = 1, .stages = &stage};
    s->steps = &step;
    s->step_count = 1;
    s->duration_ns = stage.length_ns;
    s->tick_ns = 1000;
    s->limits = rad__load_limits_defaults();
    rad__load_live_options o = {.scenario = s, .seed = 1, .uring = uring};
    struct rad__load_log_header header = {.seed = 1,
                                          .tick_ns = 1000,
                                          .shards = 1,
                                          .level = RAD__LOAD_LEVEL_RECORDED,
                                          .engine = RAD__LOAD_ENGINE_EPOLL,
                                          .tool = "bench"};
    FILE *file = fopen(path, "wb");
    if (file == NULL || rad__load_live_open(&e, &o, NULL, &error) != 0) {
        fprintf(stderr, "bench_live: %s %s\n", path, error.text);
        exit(3);
    }
    rad__load_log_open(&log, write_log, file);
    double begin = bench_now(), user_before, user_after, cpu_before = cpu_seconds(&user_before);
    if (rad__load_log_begin(&log, header, "", "") != 0 ||
        rad__load_scheduler_open(&scheduler, s, 1, 0, 1, false, &log, &error) != 0 ||
        rad__load_run(&scheduler, e, NULL, &error) != 0) {
        fprintf(stderr, "bench_live: %s\n", error.text);
        exit(3);
    }
    f.cpu = cpu_seconds(&user_after) - cpu_before;
    f.user = user_after - user_before;
    f.seconds = bench_now() - begin;
    f.requests = scheduler.metrics.all.responses;
    f.failed = scheduler.metrics.all.errors;
    f.turns = scheduler.metrics.turns;
    e->kind->close(e);
    rad__load_scheduler_close(&scheduler);
    rad__load_log_close(&log);
    fclose(file);
    return f;
}

static int measure_other(int argc, char **argv)
{
    bool uring = false;
    const char *log = NULL;
    for (int i = 5; i < argc; i++) {
        uring |= strcmp(argv[i], "uring") == 0;
        target.tls |= strcmp(argv[i], "tls") == 0;
        target.http2 |= strcmp(argv[i], "h2") == 0;
        if (strncmp(argv[i], "streams=", 8) == 0) target.streams = (uint32_t)strtoul(argv[i] + 8, NULL, 10);
        if (strncmp(argv[i], "log=", 4) == 0) log = argv[i] + 4;
    }
    rad__load_scenario s = scenario(argv[1], argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
    double seconds = strtod(argv[4], NULL);
    figures f = log ? drive_run(&s, uring, log, seconds) : drive(&s, uring, UINT64_MAX, seconds);
    double per = f.requests ? 1e5 / (double)f.requests : 0;
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    printf("%.0f req/s  CPU-s per 100k: user %.3f sys %.3f total %.3f  failed %llu  req/turn %.1f  "
           "RSS %ld KB\n",
           (double)f.requests / f.seconds, f.user * per, (f.cpu - f.user) * per, f.cpu * per,
           (unsigned long long)f.failed, (double)f.requests / (double)f.turns, r.ru_maxrss);
    return f.requests == 0;
}

int main(int argc, char **argv)
{
    if (argc > 4) return measure_other(argc, argv);
    bench b;
    char port[8];
    if (!bench_open(&b, "live", argc, argv)) return 2;
    measure_parser(&b, 0, "reading a response of 255 bytes, whole");
    measure_parser(&b, 20, "in two pieces, by llhttp");
    pid_t server = serve(port);
    measure(&b, port, 64, false);
    measure(&b, port, 64, true);
    if (!b.tiny) measure(&b, port, 1000, false);
    if (!b.tiny) measure(&b, port, 1000, true);
    kill(server, SIGTERM);
    waitpid(server, NULL, 0);
    return bench_close(&b);
}
