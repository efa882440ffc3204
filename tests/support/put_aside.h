/* put_aside.h — a case of a flow put aside as a journal, and taken up again: what a resumed runner continues from. */
#ifndef RAD_TESTS_PUT_ASIDE_H
#define RAD_TESTS_PUT_ASIDE_H

#include "base/error.h"
#include "flow/journal/replay.h"

/* What a case was fed so far. */
typedef struct aside {
    rad_crc32 crc;
    rad_bytes bytes;
    uint64_t sequence;
} aside;

static inline void aside_begin(aside *a, const rad_flow_program *p, const rad_flow_case_options *o)
{
    rad_flow_journal_header header = {.raddle = "",
                                      .hash = p->hash,
                                      .flow = rad__flow_name(&p->file, p->tree->name),
                                      .case_id = "",
                                      .policy = o->policy,
                                      .seed = o->seed};
    *a = (aside){.sequence = 0};
    rad__crc32_open(&a->crc);
    rad__flow_journal_begin(&a->bytes, &a->crc, &header);
}

static inline rad_flow_record aside_record(const rad_flow_case *c, enum rad_flow_record_type type, uint64_t sequence)
{
    return (rad_flow_record){.type = type,
                             .sequence = sequence,
                             .step = rad__flow_case_steps(c),
                             .digest = rad__flow_case_digest(c),
                             .id = "",
                             .key = "",
                             .text = ""};
}

static inline int aside_feed(aside *a, rad_flow_case *c, const rad_flow_input *in, bool *used, rad_error *error)
{
    rad_flow_record record = aside_record(c, RAD_RECORD_INPUT, a->sequence + 1);
    int code = rad__flow_case_feed(c, in, used, error);
    record.input = *in;
    if (code != 0) return code;
    a->sequence++;
    rad__flow_journal_put(&a->bytes, &a->crc, &record);
    return 0;
}

/* The case that comes of what was fed, where `c` is now. */
static inline int aside_again(const aside *a, const rad_flow_case *c, rad_flow_rerun *out, rad_error *error)
{
    rad_flow_journal j;
    rad_bytes bytes = {0};
    rad_flow_record here = aside_record(c, RAD_RECORD_END, a->sequence + 1);
    here.state = c->state;
    rad__bytes_put(&bytes, a->bytes.data, a->bytes.size);
    rad__flow_journal_put(&bytes, &a->crc, &here);
    int code =
        bytes.failed ? rad__error_memory(error) : rad__flow_journal_open(&j, "journal", bytes.data, bytes.size, error);
    if (code == 0) code = rad__flow_replay_journal(out, c->program, &j, NULL, 0, error);
    rad__bytes_free(&bytes);
    return code;
}

#endif
