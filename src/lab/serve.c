/* serve.c — see serve.h. */
#include "lab/serve.h"

#include "base/alloc.h"
#include "os/process.h"

int rad__message_read(int fd, rad_bytes *into, rad_error *error)
{
    uint64_t size = 0;
    int64_t got = rad__os_read(fd, &size, sizeof size, error);
    if (got <= 0) return got < 0 ? error->code : 0;
    into->size = 0;
    if (got != sizeof size || size > UINT32_MAX / 2 || !RAD_GROW(&into->data, &into->capacity, (uint32_t)size))
        return rad__error_memory(error);
    while (into->size < size) {
        got = rad__os_read(fd, into->data + into->size, size - into->size, error);
        if (got <= 0) return got < 0 ? error->code : 0;
        into->size += (uint32_t)got;
    }
    return 1;
}

int rad__message_write(int fd, const rad_bytes *b, rad_error *error)
{
    if (b->failed) return rad__error_memory(error);
    uint64_t size = b->size;
    int code = rad__os_write_all(fd, &size, sizeof size, error);
    return code ? code : rad__os_write_all(fd, b->data, b->size, error);
}

typedef struct served {
    rad_batch_worker worker;
    rad_batch batch;
    rad_batch_result result;
    rad_bytes buffer;
    rad_estimates estimates;
} served;

/* Ends the worker for a reason of ours; without the mark it would look like a death of the machine's. */
static int serve_trouble(rad_rig *rig)
{
    rig->shared->trouble = 1;
    return 3;
}

int rad__serve_batches(rad_rig *rig, int in, int out)
{
    static const rad_worker_note again = {.what = RAD_WORKER_AGAIN};
    rad_error error = {0};
    served *s = rad__alloc(1, sizeof *s);
    if (s == NULL) return serve_trouble(rig);
    rad__batch_worker_open(&s->worker, rig);
    int got;
    while ((got = rad__message_read(in, &s->buffer, &error)) == 1) {
        rad_reader reader = rad__reader(s->buffer.data, s->buffer.size);
        if (!rad__batch_read(&s->batch, &s->estimates, &reader)) return serve_trouble(rig);
        if (rig->between) rig->between(rig, RAD_BATCH_BEGINS);
        rad__batch_run(&s->worker, &s->batch, &s->result);
        s->buffer.size = 0;
        if (rig->between == NULL || rig->between(rig, RAD_BATCH_ENDS))
            rad__batch_result_write(&s->result, &s->buffer);
        else
            rad__bytes_put(&s->buffer, &again, sizeof again);
        rad__batch_result_free(&s->result);
        rad__batch_free(&s->batch);
        if (rad__message_write(out, &s->buffer, &error) != 0) return serve_trouble(rig);
        if (rig->between) rig->between(rig, RAD_BATCH_ANSWERED);
    }
    if (got < 0) return serve_trouble(rig);
    rad__batch_worker_close(&s->worker);
    rad__estimates_free(&s->estimates);
    rad__bytes_free(&s->buffer);
    rad__free(s);
    return 0;
}
