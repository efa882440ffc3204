/* log_file.c — see log_file.h.
 *
 * File      "RADDLELOG\n", version, head, block*
 * Head      size, checksum, JSON text
 * Block     2 * stored size + (1 when packed), [unpacked size when packed], checksum, stored bytes
 *
 * Sizes are varints; a checksum is XXH3-64 of the stored bytes, seeded with the numbers before it, eight
 * bytes, little-endian. Packed is zstd, and only when that is smaller.
 *
 * Memory: one block, one packed block, the head; never the file. */
#define ZSTD_STATIC_LINKING_ONLY /* custom allocators */
#include "lab/log_file.h"

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/digest_inline.h"
#include "lab/case.h"
#include "lab/program.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

static const char log_magic[] = "RADDLELOG\n";
enum { MAGIC_SIZE = sizeof log_magic - 1, CHECKSUM_SIZE = 8, FRAME_MAX = 32, ZSTD_LEVEL = 1 };

static void *log_zstd_take(void *context, size_t size)
{
    (void)context;
    return rad__alloc(1, size);
}

static void log_zstd_free(void *context, void *p)
{
    (void)context;
    rad__free(p);
}

static const ZSTD_customMem log_memory = {log_zstd_take, log_zstd_free, NULL};

/* ==== Writing ====================================================================================== */

struct rad_log_out {
    rad_log_writer *records;
    rad_os_writer *file;
    rad_log_memory *memory; /* instead of a file, or NULL */
    char *path;
    uint64_t limit, size, unpacked;
    ZSTD_CCtx *packer;
    uint8_t packed[ZSTD_COMPRESSBOUND(RAD_LOG_BLOCK_MAX)];
};

static int out_put(rad_log_out *out, const void *data, size_t size, rad_error *error)
{
    out->size += size;
    if (out->size > out->limit) {
        return rad__error(error, RAD_ELIMIT, "%s: the log would be larger than the limit of %llu bytes", out->path,
                          (unsigned long long)out->limit);
    }
    if (out->memory == NULL) return rad__os_writer_put(out->file, data, size, error);
    memcpy(out->memory->bytes + out->memory->size, data, size);
    out->memory->size += size;
    return 0;
}

/* Numbers, checksum, bytes. `second` is left out when 0. */
static int out_frame(rad_log_out *out, uint64_t first, uint64_t second, const void *bytes, size_t size,
                     rad_error *error)
{
    uint8_t frame[FRAME_MAX];
    uint8_t *end = rad__varint_write(frame, first);
    if (second != 0) end = rad__varint_write(end, second);
    uint64_t sum = XXH3_64bits_withSeed(bytes, size, first ^ second << 32);
    memcpy(end, &sum, CHECKSUM_SIZE);
    int code = out_put(out, frame, (size_t)(end - frame) + CHECKSUM_SIZE, error);
    return code ? code : out_put(out, bytes, size, error);
}

static int out_block(void *context, const uint8_t *block, uint32_t size, rad_error *error)
{
    rad_log_out *out = context;
    out->unpacked += size;
    if (out->unpacked > RAD_LOG_UNPACKED_MAX) {
        return rad__error(error, RAD_ELIMIT, "%s: more than %llu bytes of records", out->path,
                          (unsigned long long)RAD_LOG_UNPACKED_MAX);
    }
    size_t packed = ZSTD_compressCCtx(out->packer, out->packed, sizeof out->packed, block, size, ZSTD_LEVEL);
    if (ZSTD_isError(packed) && ZSTD_getErrorCode(packed) == ZSTD_error_memory_allocation)
        return rad__error_memory(error);
    if (ZSTD_isError(packed) || packed >= size) return out_frame(out, (uint64_t)size << 1, 0, block, size, error);
    return out_frame(out, (uint64_t)packed << 1 | 1, size, out->packed, packed, error);
}

/* `own` has a canonical body. */
static int out_head(rad_log_out *out, const rad_target *own, const char *policy, uint64_t seed, rad_error *error)
{
    rad__json_prepare();
    rad_json_build build = {{0}, {0}, {0}};
    snprintf(build.version, sizeof build.version, "%s", rad_version());
    snprintf(build.git_sha, sizeof build.git_sha, "%s", rad_build_git_sha());
    snprintf(build.compiler, sizeof build.compiler, "%s", rad_build_compiler());
    rad_lab_program program;
    rad__program_of_machine(own->machine, &program);
    json_t *root = json_object();
    rad_bytes text = {0};
    if (root && rad__json_set_build(root, &build) && rad__json_set_program(root, &program) &&
        rad__json_set_target(root, own) && rad__json_set(root, "policy", json_string(policy)) &&
        rad__json_set(root, "seed", json_integer((json_int_t)seed))) {
        rad__json_print(&text, root);
        rad__bytes_put(&text, "\n", 1);
    } else {
        text.failed = true;
    }
    json_decref(root);
    uint8_t start[MAGIC_SIZE + 1];
    memcpy(start, log_magic, MAGIC_SIZE);
    start[MAGIC_SIZE] = RAD_LOG_VERSION;
    int code = text.failed ? rad__error_memory(error) : 0;
    if (code == 0 && text.size > RAD_LOG_HEAD_MAX)
        code = rad__error(error, RAD_ELIMIT, "%s: the head would be larger than %d bytes", out->path, RAD_LOG_HEAD_MAX);
    if (code == 0) code = out_put(out, start, sizeof start, error);
    if (code == 0) code = out_frame(out, text.size, 0, text.data, text.size, error);
    rad__bytes_free(&text);
    return code;
}

/* Into a file of this name, or, with `memory`, there; then the name is for messages. */
static int out_create(rad_log_out **result, const char *path, rad_log_memory *memory, const rad_target *t,
                      const char *policy, uint64_t seed, uint64_t limit, rad_error *error)
{
    *result = NULL;
    int code = rad__json_seed(seed, error);
    if (code != 0) return code;
    rad_log_out *out = rad__alloc(1, sizeof *out);
    if (out == NULL) return rad__error_memory(error);
    out->limit = limit == 0 || limit > RAD_LOG_BYTES_MAX ? RAD_LOG_BYTES_MAX : limit;
    out->memory = memory;
    out->path = rad__copy_text(path);
    out->packer = ZSTD_createCCtx_advanced(log_memory);
    code = out->path && out->packer ? 0 : rad__error_memory(error);
    if (code == 0) code = rad__log_writer_open(&out->records, out, out_block, error);
    if (code == 0 && memory == NULL) code = rad__os_writer_open(&out->file, path, error);
    rad_target own;
    if (code == 0 && (code = rad__target_copy(&own, t, error)) == 0) {
        code = out_head(out, &own, policy, seed, error);
        rad_target_free(&own);
    }
    if (code != 0) {
        rad__log_discard(out);
        return code;
    }
    *result = out;
    return 0;
}

int rad__log_create(rad_log_out **out, const char *path, const rad_target *t, const char *policy, uint64_t seed,
                    uint64_t limit, rad_error *error)
{
    return out_create(out, path, NULL, t, policy, seed, limit, error);
}

int rad__log_create_in(rad_log_out **out, rad_log_memory *memory, const rad_target *t, const char *policy,
                       uint64_t seed, rad_error *error)
{
    memory->size = 0;
    return out_create(out, "the log", memory, t, policy, seed, memory->capacity, error);
}

rad_observer *rad__log_observer(rad_log_out *out)
{
    return rad__log_writer_observer(out->records);
}

int rad__log_keep(rad_log_out *out, const rad_kernel *k, rad_error *error)
{
    int code = rad__log_writer_finish(out->records, k, error);
    if (code == 0 && out->file != NULL) {
        code = rad__os_writer_keep(out->file, error);
        out->file = NULL;
    }
    rad__log_discard(out);
    return code;
}

void rad__log_discard(rad_log_out *out)
{
    if (out != NULL) {
        rad__os_writer_discard(out->file);
        rad__log_writer_close(out->records);
        ZSTD_freeCCtx(out->packer);
        rad__free(out->path);
        rad__free(out);
    }
}

/* ==== Reading ====================================================================================== */

struct rad_log_in {
    rad_log_reader *records;
    rad_log_head head;
    char *name;
    rad_os_reader *file;     /* NULL: from memory */
    const uint8_t *at, *end; /* what has been read and not used */
    uint64_t taken;          /* bytes used so far: the position in the file */
    uint64_t blocks, unpacked;
    ZSTD_DCtx *unpacker;
    uint8_t buffer[RAD_LOG_BLOCK_MAX]; /* of the file */
    uint8_t stored[RAD_LOG_BLOCK_MAX];
    uint8_t block[RAD_LOG_BLOCK_MAX];
};

/* As many bytes as there are, up to `size`. */
static int64_t in_get(rad_log_in *in, void *to, size_t size, rad_error *error)
{
    size_t have = 0;
    while (have < size) {
        if (in->at == in->end) {
            int64_t got = 0;
            if (in->file != NULL) got = rad__os_reader_get(in->file, in->buffer, sizeof in->buffer, error);
            if (got <= 0) {
                in->taken += have;
                return got < 0 ? got : (int64_t)have;
            }
            in->at = in->buffer;
            in->end = in->buffer + got;
        }
        size_t part = (size_t)(in->end - in->at);
        part = part < size - have ? part : size - have;
        memcpy((uint8_t *)to + have, in->at, part);
        in->at += part;
        have += part;
    }
    in->taken += have;
    return (int64_t)have;
}

/* 1, 0 when the file ends before or within it, or a negative code. A number that is too long becomes
 * UINT64_MAX, which no limit allows. */
static int in_varint(rad_log_in *in, uint64_t *value, rad_error *error)
{
    *value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        uint8_t byte;
        int64_t got = in_get(in, &byte, 1, error);
        if (got <= 0) return (int)got;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return 1;
    }
    *value = UINT64_MAX;
    return 1;
}

static int in_bad(rad_log_in *in, uint64_t at, rad_error *error, const char *format, ...) RAD_PRINTF(4, 5);
static int in_bad(rad_log_in *in, uint64_t at, rad_error *error, const char *format, ...)
{
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return rad__error(error, RAD_EINPUT, "%s: block %llu (byte %llu): %s", in->name, (unsigned long long)in->blocks,
                      (unsigned long long)at, what);
}

/* The checksum and `size` bytes after it, into `to`; 1, 0 when the file ends, -1 (as *wrong) when they
 * do not match. */
static int in_checked(rad_log_in *in, uint64_t seed, uint8_t *to, size_t size, bool *wrong, rad_error *error)
{
    uint64_t sum;
    *wrong = false;
    int64_t got = in_get(in, &sum, CHECKSUM_SIZE, error);
    if (got == CHECKSUM_SIZE) {
        got = in_get(in, to, size, error);
        if (got == (int64_t)size) {
            *wrong = XXH3_64bits_withSeed(to, size, seed) != sum;
            return 1;
        }
    }
    return got < 0 ? (int)got : 0;
}

static int in_unpack(rad_log_in *in, uint64_t begin, size_t stored, size_t size, rad_error *error)
{
    size_t got = ZSTD_decompressDCtx(in->unpacker, in->block, sizeof in->block, in->stored, stored);
    if (ZSTD_isError(got) && ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation) return rad__error_memory(error);
    if (ZSTD_isError(got)) return in_bad(in, begin, error, "cannot be unpacked: %s", ZSTD_getErrorName(got));
    if (got != size) return in_bad(in, begin, error, "unpacks to %zu bytes, expected %zu", got, size);
    return 1;
}

/* The refill of the record reader. */
static int in_block(void *context, const uint8_t **block, uint32_t *size, rad_error *error)
{
    rad_log_in *in = context;
    uint64_t begin = in->taken, first, unpacked = 0;
    bool wrong;
    int code = in_varint(in, &first, error);
    if (code < 0 || (code == 0 && in->taken == begin)) return code;
    bool packed = first & 1;
    uint64_t stored = first >> 1;
    if (code == 1 && packed) code = in_varint(in, &unpacked, error);
    if (code <= 0) return code < 0 ? code : in_bad(in, begin, error, "the file ends within the block");
    uint64_t content = packed ? unpacked : stored;
    uint64_t wrong_size = stored - 1 >= RAD_LOG_BLOCK_MAX ? stored : content;
    if (wrong_size - 1 >= RAD_LOG_BLOCK_MAX) {
        return in_bad(in, begin, error, "expected a size from 1 to %d, found %llu", RAD_LOG_BLOCK_MAX,
                      (unsigned long long)wrong_size);
    }
    uint8_t *to = packed ? in->stored : in->block;
    code = in_checked(in, first ^ unpacked << 32, to, stored, &wrong, error);
    if (code <= 0) return code < 0 ? code : in_bad(in, begin, error, "the file ends within the block");
    if (wrong) return in_bad(in, begin, error, "checksum does not match");
    if (packed && (code = in_unpack(in, begin, stored, content, error)) < 0) return code;
    in->unpacked += content;
    if (in->unpacked > RAD_LOG_UNPACKED_MAX)
        return in_bad(in, begin, error, "more than %llu bytes of records", (unsigned long long)RAD_LOG_UNPACKED_MAX);
    in->blocks++;
    *block = in->block;
    *size = (uint32_t)content;
    return 1;
}

/* ---- Head ----------------------------------------------------------------------------------------- */

static int in_head_fields(rad_log_in *in, const uint8_t *text, size_t size, rad_error *error)
{
    static const char *const keys[] = {"build", "program", "machine", "case", "policy", "seed", NULL};
    const rad_json_source s = {in->name, error};
    rad_log_head *h = &in->head;
    int64_t seed = 0;
    json_t *root = rad__json_load(&s, (const char *)text, size);
    if (root == NULL) return error->code;
    int code;
    if ((code = rad__json_only(&s, root, "", keys)) == 0 && (code = rad__json_read_build(&s, root, &h->build)) == 0 &&
        (code = rad__json_read_program(&s, root, &h->program)) == 0 &&
        (code = rad__json_read_target(&s, root, &h->target)) == 0 &&
        (code = rad__json_text(&s, root, "", "policy", h->policy, sizeof h->policy)) == 0)
        code = rad__json_integer(&s, root, "", "seed", 0, INT64_MAX, &seed);
    h->seed = (uint64_t)seed;
    json_decref(root);
    return code;
}

static int in_head_short(const rad_log_in *in, rad_error *error)
{
    return rad__error(error, RAD_EINPUT, "%s: cut off: the file ends within its head", in->name);
}

/* A head may say any size: memory is taken as its bytes come. */
static int in_head_text(rad_log_in *in, uint64_t size, rad_error *error)
{
    uint64_t sum;
    rad_bytes text = {0};
    int64_t got = in_get(in, &sum, CHECKSUM_SIZE, error);
    bool more = got == CHECKSUM_SIZE;
    while (more && text.size < size) {
        uint64_t part = size - text.size;
        part = part < sizeof in->block ? part : sizeof in->block;
        got = in_get(in, in->block, part, error);
        if (got > 0) rad__bytes_put(&text, in->block, (size_t)got);
        more = got == (int64_t)part && !text.failed;
    }
    int code = got < 0 ? (int)got : text.failed ? rad__error_memory(error) : 0;
    if (code == 0 && !more)
        code = in_head_short(in, error);
    else if (code == 0 && XXH3_64bits_withSeed(text.data, size, size) != sum)
        code = rad__error(error, RAD_EINPUT, "%s: head: checksum does not match", in->name);
    if (code == 0) code = in_head_fields(in, text.data, size, error);
    rad__bytes_free(&text);
    return code;
}

static int in_head(rad_log_in *in, rad_error *error)
{
    char magic[MAGIC_SIZE];
    uint64_t version, size;
    int64_t got = in_get(in, magic, sizeof magic, error);
    if (got < 0) return (int)got;
    if (got != MAGIC_SIZE || memcmp(magic, log_magic, MAGIC_SIZE) != 0) {
        return rad__error(error, RAD_EINPUT, "%s: not a log: expected \"RADDLELOG\" and a line end at the beginning",
                          in->name);
    }
    int code = in_varint(in, &version, error);
    if (code < 0) return code;
    if (code == 1 && version != RAD_LOG_VERSION) {
        bool newer = version > RAD_LOG_VERSION;
        return rad__error(error, RAD_EINPUT, "%s: log version %llu is %s this raddle understands (%d)", in->name,
                          (unsigned long long)version, newer ? "newer than" : "not what", RAD_LOG_VERSION);
    }
    code = in_varint(in, &size, error);
    if (code < 0) return code;
    if (code == 1 && (size == 0 || size > RAD_LOG_HEAD_MAX))
        return rad__error(error, RAD_EINPUT, "%s: head: expected a size from 1 to %d", in->name, RAD_LOG_HEAD_MAX);
    return code ? in_head_text(in, size, error) : in_head_short(in, error);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

/* `program` may be NULL; it is set also when the log is of a machine that is not known here. */
static int in_open(rad_log_in **result, rad_os_reader *file, const void *data, uint64_t size, const char *name,
                   rad_lab_program *program, rad_error *error)
{
    rad_error own = {0};
    error = error ? error : &own;
    rad_log_in *in = rad__alloc(1, sizeof *in);
    *result = NULL;
    if (in == NULL) {
        rad__os_reader_close(file);
        return rad__error_memory(error);
    }
    in->file = file;
    in->at = file ? in->buffer : data;
    in->end = file ? in->buffer : (const uint8_t *)data + size;
    in->name = rad__copy_text(name);
    in->unpacker = ZSTD_createDCtx_advanced(log_memory);
    int code = in->name && in->unpacker ? 0 : rad__error_memory(error);
    if (code == 0 && size > RAD_LOG_BYTES_MAX) {
        code = rad__error(error, RAD_EINPUT, "%s: %llu bytes, more than the limit of %d", name,
                          (unsigned long long)size, RAD_LOG_BYTES_MAX);
    }
    if (code == 0) code = in_head(in, error);
    if (program) *program = in->head.program;
    if (code == 0) code = rad__log_reader_open(&in->records, name, in, in_block, error);
    if (code != 0) {
        rad__log_close(in);
        return code;
    }
    *result = in;
    return 0;
}

int rad__log_open(rad_log_in **in, const char *path, rad_error *error)
{
    rad_os_reader *file;
    *in = NULL;
    int code = rad__os_reader_open(&file, path, error);
    return code ? code : in_open(in, file, NULL, rad__os_reader_size(file), path, NULL, error);
}

void rad__log_program(const char *path, rad_lab_program *out)
{
    rad_os_reader *file;
    rad_log_in *in = NULL;
    *out = (rad_lab_program){.path = ""};
    if (rad__os_reader_open(&file, path, NULL) != 0) return;
    in_open(&in, file, NULL, rad__os_reader_size(file), path, out, NULL);
    rad__log_close(in);
}

int rad__log_open_bytes(rad_log_in **in, const void *data, size_t size, const char *name, rad_error *error)
{
    return in_open(in, NULL, data, size, name, NULL, error);
}

const rad_log_head *rad__log_head(const rad_log_in *in)
{
    return &in->head;
}

rad_log_reader *rad__log_reader(rad_log_in *in)
{
    return in->records;
}

void rad__log_close(rad_log_in *in)
{
    if (in != NULL) {
        rad__log_reader_close(in->records);
        rad__os_reader_close(in->file);
        ZSTD_freeDCtx(in->unpacker);
        rad_target_free(&in->head.target);
        rad__free(in->name);
        rad__free(in);
    }
}

bool rad_is_log(const char *path)
{
    char magic[MAGIC_SIZE];
    rad_os_reader *file;
    if (rad__os_reader_open(&file, path, NULL) != 0) return false;
    int64_t got = rad__os_reader_get(file, magic, sizeof magic, NULL);
    rad__os_reader_close(file);
    return got == MAGIC_SIZE && memcmp(magic, log_magic, MAGIC_SIZE) == 0;
}
