/* fuzz_load_filter.c — any text as a filter: an error with its column, or something that can be asked about any
 * request; what it answers does not depend on when it is asked. */
#include "base/alloc.h"
#include "load/report/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static const struct rad__load_request REQUESTS[] = {{.name = "a", .method = "GET"}, {.name = "buy", .method = "POST"}};
static const struct rad__load_target TARGETS[] = {{.name = "x"}};
static const rad__load_scenario SCENARIO = {
    .requests = REQUESTS, .request_count = 2, .targets = TARGETS, .target_count = 1};

static const uint32_t ENDS[] = {RAD__LOAD_RESPONSE, RAD__LOAD_ERROR, RAD__LOAD_TIMEOUT, RAD__LOAD_CANCELLED,
                                RAD__LOAD_ISSUED};

static uint32_t ask(const rad__load_filter *f)
{
    uint32_t answers = 0;
    for (uint32_t i = 0; i < 10; i++) {
        struct rad__load_asked a = {.issued = {.vu = i, .request = i + 1, .what = i % 2, .iteration = i * 3, .conn = i},
                                    .outcome = {.kind = ENDS[i % 5],
                                                .status = 200 + 100 * (i % 4),
                                                .fault = i % RAD__LOAD_FAULT_COUNT,
                                                .service_ns = i * 1000000,
                                                .response_ns = i * 2000000,
                                                .body_bytes = i * 1000,
                                                .checks_failed = i},
                                    .issued_ns = i * UINT64_C(500000000),
                                    .shards = 1};
        answers = answers << 1 | rad__load_filter_holds(f, &a);
    }
    return answers;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad__load_filter f, negated;
    rad_error error = {0};
    char *text = rad__alloc(size + 1, 1), *opposite = rad__alloc(size + 4, 1);
    require(text != NULL && opposite != NULL);
    if (size > 0) memcpy(text, data, size);
    int result = rad__load_filter_parse(&f, &SCENARIO, text, &error);
    if (result == 0) {
        uint32_t answers = ask(&f);
        require(answers == ask(&f));
        /* Its negation says the opposite, unless it is too long or too deep. */
        opposite[0] = '!';
        opposite[1] = '(';
        memcpy(opposite + 2, text, strlen(text));
        opposite[strlen(text) + 2] = ')';
        if (rad__load_filter_parse(&negated, &SCENARIO, opposite, &error) == 0)
            require(ask(&negated) == (~answers & 1023));
        else
            require(strstr(error.text, "one in another") != NULL || strstr(error.text, "longer than") != NULL);
        rad__load_filter_free(&negated);
    } else {
        require(result == RAD_EINPUT);
        require(strncmp(error.text, "filter: column ", 15) == 0 || strncmp(error.text, "filter: longer", 14) == 0);
    }
    rad__load_filter_free(&f);
    rad__free(text);
    rad__free(opposite);
    return 0;
}
