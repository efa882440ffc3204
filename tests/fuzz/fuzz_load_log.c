/* fuzz_load_log.c — any bytes as an event log. The first byte says how deep they go in, because hashes would keep
 * nearly all of them out:
 *     'f'  the rest is a file
 *     else its bits are: arrivals instead of users (1), and how many shards there are (2, 4: one to four); the rest is
 *          blocks, each after a byte with its shard and two with its size; the frames around them are made here
 * A log is refused with the place of what is wrong, or it is analysed; then a filter that lets everything through
 * changes nothing, and neither does the way to a file of Z6 and back. It is replayed, too: whatever its inputs are, the
 * replay ends, and says that it is the same, that it differs, or that it cannot be. */
#include "base/alloc.h"
#include "load/log/hash.h"
#include "load/replay/replay.h"
#include "load/report/analyze.h"
#include "load/report/render.h"
#include "load/report/z6.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

/* ---- A scenario ------------------------------------------------------------------------------------------ */

static const struct rad__load_request REQUESTS[] = {
    {.name = "a", .method = "GET", .path = "/", .weight = 1, .target = RAD_NONE},
    {.name = "b", .method = "POST", .path = "/b", .weight = 1, .target = RAD_NONE, .check_count = 2}};
static const struct rad__load_target TARGETS[] = {
    {.name = "x", .url = "http://x", .weight = 1, .max_connections = 8, .streams = 1},
    {.name = "y", .url = "http://y", .weight = 1, .max_connections = 8, .streams = 1}};
static const struct rad__load_step STEPS[] = {{RAD_NONE, 1}};
static const struct rad__load_stage STAGES[] = {{1000000000, 8, 8}};
static const struct rad__load_assertion ASSERTIONS[] = {
    {.name = "p99", .measure = RAD__LOAD_SERVICE_NS, .percentile_ppm = 990000, .bound = 1000000}};

static void make_scenario(rad__load_scenario *s, bool open)
{
    *s = (rad__load_scenario){
        .name = "fuzz",
        .users = 8,
        .tick_ns = 1000000,
        .schedule = {.model = open ? RAD__LOAD_OPEN : RAD__LOAD_CLOSED, .stages = STAGES, .stage_count = 1},
        .requests = REQUESTS,
        .request_count = 2,
        .targets = TARGETS,
        .target_count = 2,
        .steps = STEPS,
        .step_count = 1,
        .assertions = ASSERTIONS,
        .assertion_count = 1,
        .limits = rad__load_limits_defaults()};
}

/* ---- A file ---------------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t size, rad_error *error)
{
    (void)error;
    rad__bytes_put(context, data, size);
    return 0;
}

/* How many records a reader will find in a block: as many as can be taken apart. */
static uint32_t count_records(const uint8_t *data, size_t size)
{
    rad_reader r = rad__reader(data, size);
    struct rad__load_raw raw;
    uint32_t count = 0;
    while (r.at < r.end && rad__load_get_raw(&r, &raw)) count++;
    return count;
}

static void put_block(rad_bytes *file, uint64_t *chain, uint64_t *first, uint32_t shard, const uint8_t *data,
                      uint32_t size)
{
    struct rad__load_block_header h = {
        .size = size, .records = count_records(data, size), .shard = shard, .first = *first};
    memcpy(&h.magic, size > 0 ? "RBLK" : "REND", 4);
    h.head = rad__load_hash(&h, offsetof(struct rad__load_block_header, head), 0);
    h.hash = rad__load_hash(data, size, 0);
    h.chain = *chain = rad__load_hash(&h.head, 16, *chain);
    *first += h.records;
    rad__bytes_put(file, &h, sizeof h);
    rad__bytes_put(file, data, size);
}

static void make_file(rad_bytes *file, uint32_t shards, const uint8_t *data, size_t size)
{
    rad__load_log log;
    struct rad__load_log_header header = {.seed = 1, .tick_ns = 1000000, .shards = shards, .level = 1, .engine = 1};
    rad__load_log_open(&log, keep, file);
    require(rad__load_log_begin(&log, header, "", "") == 0);
    uint64_t chain = log.chain, first = 1;
    while (size > 3) {
        uint32_t wanted = (uint32_t)(data[1] | data[2] << 8);
        uint32_t part = wanted < size - 3 ? wanted : (uint32_t)size - 3;
        if (part > 0) put_block(file, &chain, &first, data[0] % shards, data + 3, part);
        data += 3 + part;
        size -= 3 + part;
    }
    if (size == 3) put_block(file, &chain, &first, 0, data, 0); /* else it was cut off */
    rad__load_log_close(&log);
    require(!file->failed);
}

/* ---- What is made of it ---------------------------------------------------------------------------------- */

/* NULL: it was refused. */
static rad_load_result *analyze(const rad__load_log_reader *reader, const rad__load_scenario *s, const char *expression)
{
    rad_error error = {0};
    rad__load_filter filter = {0};
    rad_load_result *r = rad__alloc(1, sizeof *r);
    require(r != NULL);
    r->scenario = *s;
    if (expression != NULL) require(rad__load_filter_parse(&filter, &r->scenario, expression, &error) == 0);
    int result = rad__load_analyze(r, reader, expression != NULL ? &filter : NULL, &error);
    rad__load_filter_free(&filter);
    if (result == 0) return r;
    require(result == RAD_EINPUT && r->metrics.scenario == NULL);
    require(strstr(error.text, "record ") != NULL || strstr(error.text, "only inputs") != NULL);
    rad_load_result_free(r);
    return NULL;
}

static void there_and_back(const rad__load_log_reader *reader, const rad_load_result *r)
{
    rad_bytes file = {0};
    rad_error error = {0};
    uint64_t records;
    require(rad__load_z6_export(reader, &r->scenario, keep, &file, &records, &error) == 0);
    rad_load_result *back = rad__alloc(1, sizeof *back);
    require(back != NULL && !file.failed);
    require(rad__load_z6_import(back, "z6", file.data, file.size, 1000000, &error) == 0);
    require(memcmp(&back->metrics.all, &r->metrics.all, sizeof r->metrics.all) == 0);
    rad_load_result_free(back);
    rad__bytes_free(&file);
}

static void use(const rad__load_log_reader *reader, const rad__load_scenario *s)
{
    rad_load_result *all = analyze(reader, s, NULL);
    rad_load_result *same = analyze(reader, s, "vu >= 0 && !(vu < 0)");
    require((all == NULL) == (same == NULL));
    if (all == NULL) return;
    const struct rad__load_tally *t = &all->metrics.all;
    require(t->issued == t->responses + t->errors + t->timeouts + t->cancelled + all->under_way);
    require(memcmp(&all->metrics.now_ns, &same->metrics.now_ns,
                   offsetof(rad__load_metrics, service) - offsetof(rad__load_metrics, now_ns)) == 0);
    char *text = rad_load_text(all, RAD_LOAD_SUMMARY, NULL);
    require(text != NULL);
    rad__free(text);
    there_and_back(reader, all);
    rad_load_result_free(all);
    rad_load_result_free(same);
}

static void replay(const rad__load_log_reader *reader, const rad__load_scenario *s)
{
    struct rad__load_verdict verdict;
    rad_error error = {0};
    int result = rad__load_verify(reader, s, &verdict, NULL, &error);
    require(result == 0 || result == RAD_EINPUT);
    require((result == 0) == (error.text[0] == 0));
    if (result == 0 && !verdict.same) require(verdict.text[0] != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_bytes file = {0};
    rad_error error = {0};
    rad__load_scenario s;
    rad__load_log_reader reader;
    if (size == 0) return 0;
    make_scenario(&s, data[0] != 'f' && (data[0] & 1));
    if (data[0] == 'f')
        rad__bytes_put(&file, data + 1, size - 1);
    else
        make_file(&file, 1 + (data[0] >> 1 & 3), data + 1, size - 1);
    /* In memory of its own size, so that reading past its end is noticed. */
    uint8_t *exact = rad__alloc(file.size > 0 ? file.size : 1, 1);
    require(exact != NULL);
    if (file.size > 0) memcpy(exact, file.data, file.size);
    if (rad__load_log_read(&reader, "log", exact, file.size, &error) == 0) {
        use(&reader, &s);
        replay(&reader, &s);
    } else
        require(error.code == RAD_EINPUT && strncmp(error.text, "log: ", 5) == 0);
    rad__free(exact);
    rad__bytes_free(&file);
    return 0;
}
