/* snapshot.c — see snapshot.h. */
#include "flow/journal/snapshot.h"

#include "base/alloc.h"
#include "base/error.h"
#include "flow/journal/replay.h"

struct rad_flow_memory {
    rad_crc32 crc;
    rad_bytes bytes;
    uint64_t sequence;
};

rad_flow_memory *rad__flow_memory_open(const rad_flow_program *p, const rad_flow_case_options *o)
{
    rad_flow_memory *m = rad__alloc(1, sizeof *m);
    if (m == NULL) return NULL;
    rad_flow_journal_header header = {.raddle = "",
                                      .hash = p->hash,
                                      .flow = rad__flow_name(&p->file, p->tree->name),
                                      .case_id = "",
                                      .policy = o->policy != NULL ? o->policy : "first",
                                      .seed = o->seed,
                                      .initial = o->initial,
                                      .initial_count = o->initial_count};
    rad__crc32_open(&m->crc);
    rad__flow_journal_begin(&m->bytes, &m->crc, &header);
    return m;
}

void rad__flow_memory_free(rad_flow_memory *m)
{
    if (m == NULL) return;
    rad__bytes_free(&m->bytes);
    rad__free(m);
}

static rad_flow_record record_at(uint64_t step, rad_digest digest, enum rad_flow_record_type type, uint64_t sequence)
{
    return (rad_flow_record){
        .type = type, .sequence = sequence, .step = step, .digest = digest, .id = "", .key = "", .text = ""};
}

void rad__flow_memory_add(rad_flow_memory *m, uint64_t step, rad_digest digest, const rad_flow_input *input)
{
    rad_flow_record record = record_at(step, digest, RAD_RECORD_INPUT, ++m->sequence);
    record.input = *input;
    rad__flow_journal_put(&m->bytes, &m->crc, &record);
}

int rad__flow_case_save(const rad_flow_case *c, rad_bytes *out, rad_error *error)
{
    const rad_flow_memory *m = c->memory;
    if (m == NULL) return rad__error(error, RAD_EINPUT, "the execution does not remember its inputs");
    rad_flow_record here =
        record_at(rad__flow_case_steps(c), rad__flow_case_digest(c), RAD_RECORD_END, m->sequence + 1);
    here.state = c->state;
    rad__bytes_put(out, m->bytes.data, m->bytes.size);
    rad__flow_journal_put(out, &m->crc, &here);
    return out->failed || m->bytes.failed ? rad__error_memory(error) : 0;
}

int rad__flow_case_restore(rad_flow_case **out, const rad_flow_program *p, const void *data, size_t size,
                           rad_error *error)
{
    rad_flow_journal j;
    rad_flow_rerun r = {.c = NULL};
    *out = NULL;
    int status = rad__flow_journal_open(&j, "snapshot", data, size, error);
    if (status == 0) status = rad__flow_replay_remembering(&r, p, &j, error);
    if (status == 0 && !r.as_recorded) status = rad__error(error, RAD_EINPUT, "snapshot: %s", r.reason);
    if (status == 0 && (!r.ended || j.torn)) status = rad__error(error, RAD_EINPUT, "snapshot: it is not whole");
    if (status != 0) {
        rad__flow_case_close(r.c);
        return status;
    }
    *out = r.c;
    return 0;
}
