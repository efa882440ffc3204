/* journal.c — see journal.h.
 *
 *     header   "RADFLOW\n"  version u32  size u32  payload  crc u32 (of all before it)
 *     record   size u32  sequence u64  type u8  crc u32 (of the 13 bytes before)  HEAD_MARK
 *              payload  crc u32 (of the whole record before it)  END_MARK */
#include "flow/journal/journal.h"

#include "base/error.h"

#include <string.h>

enum {
    FILE_HEAD = 16,
    SUM = 4,
    RECORD_HEAD = 18,
    RECORD_TAIL = 5,
    SUMMED = 13, /* of the head */
    HEAD_MARK = 0xa5,
    END_MARK = 0x5a
};

static const uint8_t MAGIC[8] = {'R', 'A', 'D', 'F', 'L', 'O', 'W', '\n'};

/* ---- Numbers and texts ---------------------------------------------------------------------------------- */

static void put_u32(rad_bytes *out, uint32_t value)
{
    rad__bytes_put(out, &value, sizeof value);
}

static uint32_t u32_at(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t u64_at(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

void rad__flow_put_text(rad_bytes *out, const char *text, size_t length)
{
    rad__bytes_put_varint(out, length);
    rad__bytes_put(out, text, length);
    rad__bytes_put(out, "", 1);
}

static void put_text(rad_bytes *out, const char *text)
{
    if (text == NULL) text = "";
    rad__flow_put_text(out, text, strlen(text));
}

const char *rad__flow_read_text(rad_reader *r, size_t *length)
{
    uint64_t size = rad__read_varint(r);
    if (r->failed || size >= (uint64_t)(r->end - r->at)) {
        r->failed = true;
        return NULL;
    }
    const char *text = rad__read_bytes(r, (size_t)size + 1);
    if (text[size] != 0) r->failed = true;
    if (length != NULL) *length = (size_t)size;
    return r->failed ? NULL : text;
}

/* A name: there is no zero in it. */
static const char *read_name(rad_reader *r)
{
    size_t length;
    const char *text = rad__flow_read_text(r, &length);
    if (text != NULL && strlen(text) == length) return text;
    r->failed = true;
    return "";
}

static uint32_t read_u32(rad_reader *r)
{
    uint64_t value = rad__read_varint(r);
    if (value > UINT32_MAX) r->failed = true;
    return (uint32_t)value;
}

static uint64_t read_fixed64(rad_reader *r)
{
    const uint8_t *at = rad__read_bytes(r, 8);
    return at != NULL ? u64_at(at) : 0;
}

/* ---- Writing -------------------------------------------------------------------------------------------- */

void rad__flow_journal_begin(rad_bytes *out, const rad_crc32 *crc, const rad_flow_journal_header *h)
{
    uint32_t begin = out->size;
    rad__bytes_put(out, MAGIC, sizeof MAGIC);
    put_u32(out, RAD_JOURNAL_VERSION);
    put_u32(out, 0);
    put_text(out, h->raddle);
    put_text(out, h->hash);
    put_text(out, h->flow);
    put_text(out, h->case_id);
    put_text(out, h->policy);
    rad__bytes_put_varint(out, h->seed);
    rad__bytes_put_varint(out, h->wall_ns);
    rad__bytes_put_varint(out, h->initial_count);
    for (uint32_t i = 0; i < h->initial_count; i++) {
        put_text(out, h->initial[i].name);
        put_text(out, h->initial[i].text);
    }
    if (out->failed) return;
    uint32_t size = out->size - begin - FILE_HEAD;
    memcpy(out->data + begin + 12, &size, sizeof size);
    put_u32(out, rad__crc32(crc, out->data + begin, out->size - begin));
}

static void put_input(rad_bytes *out, const rad_flow_record *r)
{
    const rad_flow_input *input = &r->input;
    rad__bytes_put_varint(out, r->step);
    rad__bytes_put(out, &r->digest.low, sizeof r->digest.low);
    put_text(out, r->id);
    rad__bytes_put_varint(out, input->kind);
    put_text(out, input->key);
    rad__bytes_put_varint(out, input->attempt);
    rad__bytes_put_varint(out, input->alternative);
    rad__bytes_put_varint(out, input->ok);
    put_text(out, input->why);
    rad__bytes_put_varint(out, input->scope);
    put_text(out, input->name);
    rad__bytes_put_varint(out, input->text != NULL);
    rad__flow_put_text(out, input->text, input->text != NULL ? input->length : 0);
    rad__bytes_put_varint(out, input->write_count);
    for (uint32_t i = 0; i < input->write_count; i++) {
        rad__bytes_put_varint(out, input->writes[i].variable);
        rad__flow_put_text(out, input->writes[i].text, input->writes[i].length);
    }
}

static void put_end(rad_bytes *out, const rad_flow_record *r)
{
    rad__bytes_put_varint(out, r->step);
    rad__bytes_put_varint(out, r->state);
    rad__bytes_put(out, &r->digest.low, sizeof r->digest.low);
    rad__bytes_put(out, &r->digest.high, sizeof r->digest.high);
    put_text(out, r->text);
}

static void put_payload(rad_bytes *out, const rad_flow_record *r)
{
    rad__bytes_put_varint(out, r->wall_ns);
    if (r->type == RAD_RECORD_INPUT) put_input(out, r);
    if (r->type == RAD_RECORD_END) put_end(out, r);
    if (r->type != RAD_RECORD_STARTED && r->type != RAD_RECORD_STOPPED && r->type != RAD_RECORD_DOUBT) return;
    put_text(out, r->key);
    rad__bytes_put_varint(out, r->attempt);
    rad__bytes_put_varint(out, r->run);
    if (r->type == RAD_RECORD_STARTED) rad__bytes_put_varint(out, r->task);
    if (r->type == RAD_RECORD_DOUBT) rad__bytes_put_varint(out, r->settled);
}

void rad__flow_journal_put(rad_bytes *out, const rad_crc32 *crc, const rad_flow_record *r)
{
    uint32_t begin = out->size;
    uint8_t head[RECORD_HEAD] = {0}, end = END_MARK;
    rad__bytes_put(out, head, sizeof head);
    put_payload(out, r);
    if (out->failed) return;
    uint32_t size = out->size - begin - RECORD_HEAD;
    uint8_t *at = out->data + begin;
    memcpy(at, &size, sizeof size);
    memcpy(at + 4, &r->sequence, sizeof r->sequence);
    at[12] = (uint8_t)r->type;
    uint32_t sum = rad__crc32(crc, at, SUMMED);
    memcpy(at + SUMMED, &sum, sizeof sum);
    at[17] = HEAD_MARK;
    put_u32(out, rad__crc32(crc, at, RECORD_HEAD + (size_t)size));
    rad__bytes_put(out, &end, 1);
}

/* ---- Reading: the header -------------------------------------------------------------------------------- */

static bool read_header(rad_flow_journal *j, rad_reader *r)
{
    rad_flow_journal_header *h = &j->header;
    h->raddle = read_name(r);
    h->hash = read_name(r);
    h->flow = read_name(r);
    h->case_id = read_name(r);
    h->policy = read_name(r);
    h->seed = rad__read_varint(r);
    h->wall_ns = rad__read_varint(r);
    h->initial_count = read_u32(r);
    if (h->initial_count > RAD_JOURNAL_INITIAL_MAX) r->failed = true;
    for (uint32_t i = 0; !r->failed && i < h->initial_count; i++) {
        j->initial[i].name = read_name(r);
        j->initial[i].text = read_name(r);
    }
    h->initial = j->initial;
    return !r->failed && r->at == r->end;
}

int rad__flow_journal_open(rad_flow_journal *j, const char *name, const void *data, size_t size, rad_error *error)
{
    *j = (rad_flow_journal){.name = name, .data = data, .size = size};
    rad__crc32_open(&j->crc);
    if (size < sizeof MAGIC || memcmp(data, MAGIC, sizeof MAGIC) != 0)
        return rad__error(error, RAD_EINPUT, "%s: not the journal of a flow", name);
    if (size < FILE_HEAD) return rad__error(error, RAD_EINPUT, "%s: its header is cut off", name);
    uint32_t version = u32_at(j->data + 8), header_size = u32_at(j->data + 12);
    if (version != RAD_JOURNAL_VERSION)
        return rad__error(error, RAD_EINPUT,
                          "%s: a journal of version %lu, but this program reads and writes version "
                          "%d: resume with the version that began it",
                          name, (unsigned long)version, RAD_JOURNAL_VERSION);
    if (size - FILE_HEAD < SUM || header_size > size - FILE_HEAD - SUM)
        return rad__error(error, RAD_EINPUT, "%s: its header is cut off", name);
    size_t end = FILE_HEAD + (size_t)header_size;
    rad_reader r = rad__reader(j->data + FILE_HEAD, header_size);
    if (rad__crc32(&j->crc, data, end) != u32_at(j->data + end) || !read_header(j, &r))
        return rad__error(error, RAD_EINPUT, "%s: its header is damaged (bytes 0 to %llu)", name,
                          (unsigned long long)end + SUM - 1);
    j->at = end + SUM;
    return 0;
}

/* ---- Reading: records ----------------------------------------------------------------------------------- */

static void read_writes(rad_reader *r, rad_flow_record *record)
{
    uint32_t count = read_u32(r);
    if (count > RAD_FLOW_VARIABLES_MAX) r->failed = true;
    for (uint32_t i = 0; !r->failed && i < count; i++) {
        record->writes[i].variable = read_u32(r);
        record->writes[i].text = rad__flow_read_text(r, &record->writes[i].length);
    }
    record->input.write_count = count;
    record->input.writes = record->writes;
}

static void read_input(rad_reader *r, rad_flow_record *record)
{
    rad_flow_input *input = &record->input;
    record->step = rad__read_varint(r);
    record->digest.low = read_fixed64(r);
    record->id = read_name(r);
    uint64_t kind = rad__read_varint(r);
    if (kind == 0 || kind >= RAD_INPUT_KINDS) r->failed = true;
    input->kind = (enum rad_flow_input_kind)kind;
    input->key = read_name(r);
    input->attempt = read_u32(r);
    input->alternative = read_u32(r);
    uint64_t ok = rad__read_varint(r);
    input->ok = ok == 1;
    input->why = read_name(r);
    if (input->why[0] == 0) input->why = NULL;
    uint64_t scope = rad__read_varint(r);
    input->scope = (enum rad_flow_part)scope;
    input->name = read_name(r);
    uint64_t has_text = rad__read_varint(r);
    input->text = rad__flow_read_text(r, &input->length);
    if (ok > 1 || has_text > 1 || scope > RAD_FLOW_PART_CASE) r->failed = true;
    if (has_text == 0 && input->length > 0) r->failed = true;
    if (has_text == 0) input->text = NULL;
    read_writes(r, record);
}

static void read_end(rad_reader *r, rad_flow_record *record)
{
    record->step = rad__read_varint(r);
    uint64_t state = rad__read_varint(r);
    if (state > RAD_CASE_BROKEN) r->failed = true;
    record->state = (enum rad_flow_state)state;
    record->digest.low = read_fixed64(r);
    record->digest.high = read_fixed64(r);
    record->text = read_name(r);
}

static void read_effect(rad_reader *r, rad_flow_record *record)
{
    record->key = read_name(r);
    record->attempt = read_u32(r);
    record->run = read_u32(r);
    if (record->type == RAD_RECORD_STARTED) record->task = read_u32(r);
    if (record->type != RAD_RECORD_DOUBT) return;
    uint64_t settled = rad__read_varint(r);
    if (settled >= RAD_SETTLEDS) r->failed = true;
    record->settled = (enum rad_flow_settled)settled;
}

static bool read_payload(rad_reader r, rad_flow_record *record)
{
    record->wall_ns = rad__read_varint(&r);
    switch (record->type) {
    case RAD_RECORD_INPUT: read_input(&r, record); break;
    case RAD_RECORD_END: read_end(&r, record); break;
    case RAD_RECORD_STARTED:
    case RAD_RECORD_STOPPED:
    case RAD_RECORD_DOUBT: read_effect(&r, record); break;
    case RAD_RECORD_RESUMED: break;
    case RAD_RECORD_TYPES: return false;
    }
    return !r.failed && r.at == r.end;
}

/* Looks only at the head; *size is that of the payload. */
static bool head_is_right(const rad_flow_journal *j, size_t at, uint32_t *size)
{
    if (j->size - at < RECORD_HEAD) return false;
    const uint8_t *head = j->data + at;
    *size = u32_at(head);
    return head[17] == HEAD_MARK && *size <= RAD_JOURNAL_RECORD_MAX && head[12] != 0 && head[12] < RAD_RECORD_TYPES &&
           u32_at(head + SUMMED) == rad__crc32(&j->crc, head, SUMMED);
}

static bool payload_is_right(const rad_flow_journal *j, size_t at, uint32_t size)
{
    const uint8_t *head = j->data + at, *tail = head + RECORD_HEAD + size;
    return tail[4] == END_MARK && u32_at(tail) == rad__crc32(&j->crc, head, RECORD_HEAD + (size_t)size);
}

static bool is_whole(const rad_flow_journal *j, size_t at, uint32_t size)
{
    return j->size - at - RECORD_HEAD >= (size_t)size + RECORD_TAIL;
}

/* Something was written behind what was not. */
static bool has_record_behind(const rad_flow_journal *j, size_t at)
{
    uint32_t size;
    for (at++; at < j->size; at++)
        if (head_is_right(j, at, &size) && is_whole(j, at, size) && payload_is_right(j, at, size)) return true;
    return false;
}

static int damage(const rad_flow_journal *j, const char *what, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: damaged at byte %llu, record %llu: %s. What is before it is whole",
                      j->name, (unsigned long long)j->at, (unsigned long long)j->sequence + 1, what);
}

/* A record that is not right: the end of a file whose writer died, or damage? */
static int judge(rad_flow_journal *j, bool whole_head, bool whole, const char *what, rad_error *error)
{
    bool unwritten = j->data[j->size - 1] == 0;
    if ((!whole_head || !whole || unwritten) && !has_record_behind(j, j->at)) {
        j->torn = true;
        return 0;
    }
    return damage(j, what, error);
}

int rad__flow_journal_next(rad_flow_journal *j, rad_flow_record *record, rad_error *error)
{
    uint32_t size = 0;
    if (j->at == j->size || j->torn) return 0;
    if (!head_is_right(j, j->at, &size))
        return judge(j, j->size - j->at >= RECORD_HEAD, true, "its head is not as it was written", error);
    const uint8_t *head = j->data + j->at;
    if (!is_whole(j, j->at, size)) return judge(j, true, false, "it is not whole", error);
    if (!payload_is_right(j, j->at, size)) return judge(j, true, true, "its content is not as it was written", error);
    *record = (rad_flow_record){.type = (enum rad_flow_record_type)head[12],
                                .sequence = u64_at(head + 4),
                                .offset = j->at,
                                .id = "",
                                .key = "",
                                .text = ""};
    if (record->sequence != j->sequence + 1) return damage(j, "its number is another: records are missing", error);
    if (!read_payload(rad__reader(head + RECORD_HEAD, size), record))
        return damage(j, "its content makes no sense", error);
    j->sequence++;
    j->at += RECORD_HEAD + (size_t)size + RECORD_TAIL;
    return 1;
}

const char *rad__flow_record_name(enum rad_flow_record_type type)
{
    static const char *const names[RAD_RECORD_TYPES] = {
        [RAD_RECORD_INPUT] = "input",     [RAD_RECORD_STARTED] = "started", [RAD_RECORD_STOPPED] = "stopped",
        [RAD_RECORD_RESUMED] = "resumed", [RAD_RECORD_DOUBT] = "doubt",     [RAD_RECORD_END] = "end"};
    return type > 0 && type < RAD_RECORD_TYPES ? names[type] : "?";
}
