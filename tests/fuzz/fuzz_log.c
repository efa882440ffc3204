/* fuzz_log.c — any bytes as a log. The first byte says how deep they go in, because checksums would keep
 * nearly all of them out:
 *     'f'  the rest is a file
 *     'h'  the rest is the text of a head; the frame around it is made here
 *     'p'  the rest is a packed block of 100 bytes; likewise
 *     else blocks of records, each after its size in two bytes; also replayed on a small machine */
#include "base/alloc.h"
#include "base/digest_inline.h"
#include "lab/log_file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

/* ---- A machine: two workers, two steps each, a choice in the second ----------------------------------- */

typedef struct pair {
    uint32_t actions[2], left[2];
} pair;

static int pair_create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)c;
    *self = rad__alloc(1, sizeof(pair));
    return *self ? 0 : rad__error_memory(error);
}

static void pair_reset(void *self, rad_kernel *k)
{
    pair *p = self;
    for (uint32_t i = 0; i < 2; i++) {
        p->actions[i] = rad_action(k, 1, rad_actor(k, RAD_NONE, "worker"), RAD_NONE, 0);
        p->left[i] = 2;
        rad_announce(k, p->actions[i], 0, RAD_NONE, RAD_LOCAL);
        rad_enable(k, p->actions[i]);
    }
}

static void pair_step(void *self, rad_kernel *k, uint32_t action)
{
    pair *p = self;
    uint32_t i = action == p->actions[1];
    if (--p->left[i] > 0) return;
    rad_value(k, rad_pick(k, RAD_PICK_VALUE, 1, 3));
    rad_disable(k, action);
}

static enum rad_end pair_idle(void *self, rad_kernel *k)
{
    (void)self;
    (void)k;
    return RAD_END_FINISHED;
}

static const rad_param pair_params[] = {{"n", 2, 2, 2, "", true}, {0}};
static const rad_machine machine = {
    .name = "fuzz",
    .about = "for fuzzing",
    .params = pair_params,
    .bug_site = RAD_NONE,
    .create = pair_create,
    .destroy = rad__free,
    .reset = pair_reset,
    .step = pair_step,
    .idle = pair_idle,
};

/* ---- Records ---------------------------------------------------------------------------------------- */

typedef struct input {
    const uint8_t *data;
    size_t size, at;
} input;

static int input_refill(void *context, const uint8_t **block, uint32_t *size, rad_error *error)
{
    input *in = context;
    (void)error;
    if (in->size - in->at < 2) return 0;
    size_t wanted = in->data[in->at] | (size_t)in->data[in->at + 1] << 8;
    in->at += 2;
    size_t have = in->size - in->at;
    *block = in->data + in->at;
    *size = (uint32_t)(wanted < have ? wanted : have);
    in->at += *size;
    return 1;
}

static void read_all(rad_log_reader *r)
{
    rad_log_record one;
    rad_error error = {0};
    int got;
    while ((got = rad__log_next(r, &one, &error)) == 1) {
        require(one.what != RAD_LOG_DECISION || one.count >= 2);
        require(one.what != RAD_LOG_PICK || one.chosen < one.count);
    }
    require(got == 0 || (got == RAD_EINPUT && error.text[0] != 0));
}

static void replay(rad_log_reader *r)
{
    static rad_kernel *kernel;
    static void *self;
    static rad_choice choices[64];
    static volatile uint64_t choice_count;
    static rad_estimates blank;
    rad_policy *policy;
    rad_error error = {0};
    if (kernel == NULL) {
        rad_choice_buffer buffer = {choices, 64, &choice_count};
        require(rad__kernel_open(&kernel, buffer, &error) == 0);
        require(pair_create(&self, NULL, NULL, &error) == 0);
        rad__kernel_use(kernel, &machine, self);
    }
    require(rad__policy_replay(&policy, r, &error) == 0);
    rad_run_options options = {.policy = policy, .info = {.estimates = &blank}};
    enum rad_outcome outcome = rad__kernel_run(kernel, &options);
    require(outcome != RAD_OUTCOME_FAILED && outcome != RAD_OUTCOME_PRUNED);
    require(outcome == RAD_OUTCOME_FINISHED || kernel->error.code == RAD_EINPUT);
    rad__policy_destroy(policy);
}

static void read_blocks(const uint8_t *data, size_t size)
{
    for (int pass = 0; pass < 2; pass++) {
        input in = {data, size, 0};
        rad_log_reader *r;
        rad_error error = {0};
        require(rad__log_reader_open(&r, "input", &in, input_refill, &error) == 0);
        if (pass == 0)
            read_all(r);
        else
            replay(r);
        rad__log_reader_close(r);
    }
}

/* ---- Files ------------------------------------------------------------------------------------------ */

static void read_file(const uint8_t *data, size_t size)
{
    rad_log_in *in;
    rad_error error = {0};
    int code = rad__log_open_bytes(&in, data, size, "input", &error);
    require((code == 0) == (in != NULL));
    require(code == 0 || (code == RAD_EINPUT && error.text[0] != 0));
    if (in != NULL) read_all(rad__log_reader(in));
    rad__log_close(in);
}

static void put_frame(rad_bytes *to, uint64_t first, uint64_t second, const void *data, size_t size)
{
    uint64_t sum = XXH3_64bits_withSeed(data, size, first ^ second << 32);
    rad__bytes_put_varint(to, first);
    if (second) rad__bytes_put_varint(to, second);
    rad__bytes_put(to, &sum, sizeof sum);
    rad__bytes_put(to, data, size);
}

static const char head[] = "{\"build\": {\"version\": \"1\", \"git_sha\": \"a\", \"compiler\": "
                           "\"gcc\"}, \"machine\": \"fuzz\", "
                           "\"case\": {\"repaired\": false, \"params\": {\"n\": 2}, \"max_steps\": "
                           "0}, \"policy\": \"random\", "
                           "\"seed\": 1}";

static void read_framed(char what, const uint8_t *data, size_t size)
{
    rad_bytes file = {0};
    rad__bytes_put(&file, "RADDLELOG\n\1", 11);
    if (what == 'h') {
        put_frame(&file, size, 0, data, size);
    } else {
        put_frame(&file, sizeof head - 1, 0, head, sizeof head - 1);
        put_frame(&file, (uint64_t)size << 1 | 1, 100, data, size);
    }
    read_file(file.data, file.size);
    rad__bytes_free(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_error error = {0};
    if (rad_machine_find("fuzz") == NULL) require(rad_machine_add(&machine, &error) == 0);
    if (size == 0) return 0;
    if (data[0] == 'f')
        read_file(data + 1, size - 1);
    else if (data[0] == 'h' || data[0] == 'p')
        read_framed((char)data[0], data + 1, size - 1);
    else
        read_blocks(data + 1, size - 1);
    return 0;
}
