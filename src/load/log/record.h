/* record.h — how turns, inputs and events lie in a log: one byte of kind, a varint of length, varints of fields.
 *
 * One table (record.c) says which fields each kind has, and in which order; writing, reading, comparing and the
 * manual's list all follow it. Times of inputs are kept as distances (from the turn's clock back to the input, from
 * there back to when it was sent): small numbers are short. Hashes are eight bytes as they are, extracted values bytes
 * with their length. */
#ifndef RAD_LOAD_LOG_RECORD_H
#define RAD_LOAD_LOG_RECORD_H

#include "base/bytes.h"
#include "load/log/event.h"

enum {
    RAD__LOAD_RECORD_TURN = 64,
    RAD__LOAD_RECORD_INPUT = 64, /* + enum rad__load_input_kind: 65 … 69 */
    RAD__LOAD_RECORD_KINDS = 70,
    RAD__LOAD_RECORD_MAX = 1 << 20 /* of one record: a longer one is damage */
};

static inline bool rad__load_record_is_output(uint32_t kind)
{
    return kind < RAD__LOAD_RECORD_TURN;
}

struct rad__load_turn_record {
    uint64_t passed_ns; /* since the turn before */
    uint64_t inputs;    /* that many input records follow */
    uint32_t flags;     /* RAD__LOAD_TURN_… */
};
enum { RAD__LOAD_TURN_PAUSED = 1, RAD__LOAD_TURN_INTERRUPTED = 2 };

/* All append to `to`; to->failed when memory ran out. */
RAD_INTERNAL void rad__load_put_turn(rad_bytes *to, const struct rad__load_turn_record *turn);
RAD_INTERNAL void rad__load_put_input(rad_bytes *to, const rad__load_input *input, uint64_t now_ns);
RAD_INTERNAL void rad__load_put_event(rad_bytes *to, const rad__load_event *event);

/* A record as it lies there. */
struct rad__load_raw {
    uint32_t kind;
    uint32_t size;
    const uint8_t *bytes; /* of the fields */
};

/* Takes the next record apart from what follows. False: cut off, or no kind of ours. */
RAD_INTERNAL bool rad__load_get_raw(rad_reader *r, struct rad__load_raw *raw);

/* NULL, or what is wrong with it. Values of inputs point into the raw bytes. */
RAD_INTERNAL const char *rad__load_get_turn(const struct rad__load_raw *raw, struct rad__load_turn_record *turn);
RAD_INTERNAL const char *rad__load_get_input(const struct rad__load_raw *raw, uint64_t now_ns, rad__load_input *input);
RAD_INTERNAL const char *rad__load_get_event(const struct rad__load_raw *raw, rad__load_event *event);

/* For people and for the manual: name of a kind; names of its fields, in order; NULL after the last. */
RAD_INTERNAL const char *rad__load_record_name(uint32_t kind);
RAD_INTERNAL const char *rad__load_record_field(uint32_t kind, uint32_t index);

/* "response_received vu=3 request=7 …", as much as there is room for. */
RAD_INTERNAL void rad__load_record_text(const struct rad__load_raw *raw, char *text, size_t size);

#endif
