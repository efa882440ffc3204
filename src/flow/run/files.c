/* files.c — see files.h. Receipts and spool files are a magic word, a payload, and a sum of both. */
#include "flow/run/files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/durable.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_LETTERS = 120, MAGIC_SIZE = 8, SUM_SIZE = 4 };

static const char RECEIPT_MAGIC[] = "RADRCPT1", SPOOL_MAGIC[] = "RADSPOO1";

/* ---- Names ---------------------------------------------------------------------------------------------- */

static char letter_of(char c)
{
    return c == '/' ? '_' : c == '#' ? '-' : c == '\'' ? '+' : c;
}

/* A key that is too long for a file keeps its beginning and gets a digest. */
void rad__flow_effect_id(char id[RAD_FLOW_ID_MAX], const char *key, uint32_t attempt, uint32_t run)
{
    size_t length = strlen(key), kept = length <= KEY_LETTERS ? length : KEY_LETTERS - 33;
    for (size_t i = 0; i < kept; i++) id[i] = letter_of(key[i]);
    int at = (int)kept, room = RAD_FLOW_ID_MAX - at;
    if (kept < length) {
        char text[RAD_DIGEST_TEXT];
        rad__digest_text(rad__digest_of(key, length), text);
        at += snprintf(id + at, (size_t)room, "~%s", text);
    }
    at += snprintf(id + at, (size_t)(RAD_FLOW_ID_MAX - at), "@%lu", (unsigned long)attempt);
    if (run > 1) snprintf(id + at, (size_t)(RAD_FLOW_ID_MAX - at), "r%lu", (unsigned long)run);
}

void rad__flow_effect_file(char name[RAD_FLOW_FILE_MAX], const char *id, const char *end)
{
    snprintf(name, RAD_FLOW_FILE_MAX, "effects/%s.%s", id, end);
}

void rad__flow_temporary(const rad_flow_host *host, char name[RAD_FLOW_FILE_MAX])
{
    size_t length = strlen(name);
    snprintf(name + length, RAD_FLOW_FILE_MAX - length, ".%016llx.tmp",
             (unsigned long long)host->random(host->context));
}

/* ---- Whole files ---------------------------------------------------------------------------------------- */

static int write_temporary(const rad_flow_host *host, const char *name, const void *data, size_t size, rad_error *error)
{
    int file;
    int code = host->create(host->context, &file, name, error);
    if (code != 0) return code;
    code = host->put(host->context, file, data, size, error);
    if (code == 0) code = host->sync(host->context, file, error);
    host->close(host->context, file);
    return code;
}

int rad__flow_write_whole(const rad_flow_host *host, const char *folder, const char *name, const void *data,
                          size_t size, rad_error *error)
{
    char temporary[RAD_FLOW_FILE_MAX];
    snprintf(temporary, sizeof temporary, "%s", name);
    rad__flow_temporary(host, temporary);
    int code = write_temporary(host, temporary, data, size, error);
    if (code == 0) code = host->rename(host->context, temporary, name, error);
    if (code != 0) {
        host->remove(host->context, temporary, NULL);
        return code;
    }
    return host->sync_folder(host->context, folder, error);
}

int rad__flow_claim(const rad_flow_host *host, const char *id, int *file, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX], temporary[RAD_FLOW_FILE_MAX], text[24];
    rad__flow_effect_file(name, id, "lock");
    rad__flow_effect_file(temporary, id, "lock");
    rad__flow_temporary(host, temporary);
    int length = snprintf(text, sizeof text, "%d\n", host->self(host->context));
    int code = host->create(host->context, file, temporary, error);
    if (code != 0) return code;
    code = host->put(host->context, *file, text, (size_t)length, error);
    if (code == 0) code = host->sync(host->context, *file, error);
    if (code == 0) code = host->lock(host->context, *file, error);
    if (code == 1) code = host->link(host->context, temporary, name, error);
    host->remove(host->context, temporary, NULL);
    int synced = code >= 0 ? host->sync_folder(host->context, "effects", error) : 0;
    if (synced != 0) code = synced;
    if (code != 1) host->close(host->context, *file);
    return code;
}

/* The log gets its name after the lock: where there is one, the lock is looked for again. */
int rad__flow_effect_holder(const rad_flow_host *host, const char *id, rad_error *error)
{
    char lock[RAD_FLOW_FILE_MAX], log[RAD_FLOW_FILE_MAX];
    rad__flow_effect_file(lock, id, "lock");
    rad__flow_effect_file(log, id, "log");
    int holder = host->holder(host->context, lock, error);
    if (holder != RAD_OS_NO_FILE) return holder;
    int there = host->exists(host->context, log, error);
    if (there <= 0) return there;
    holder = host->holder(host->context, lock, error);
    return holder != RAD_OS_NO_FILE ? holder : RAD_OS_NOT_HELD;
}

int rad__flow_ask_to_end(const rad_flow_host *host, const char *id, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX];
    int file;
    rad__flow_effect_file(name, id, "stop");
    int there = host->exists(host->context, name, error);
    if (there != 0) return there < 0 ? there : 0;
    int code = host->create(host->context, &file, name, error);
    if (code == 0) host->close(host->context, file);
    return code;
}

bool rad__flow_is_asked_to_end(const rad_flow_host *host, const char *id)
{
    char name[RAD_FLOW_FILE_MAX];
    rad_error error = {0};
    rad__flow_effect_file(name, id, "stop");
    return host->exists(host->context, name, &error) == 1;
}

int rad__flow_lock_owner(const rad_flow_host *host, const char *name)
{
    char *data;
    size_t size;
    rad_error error = {0};
    if (host->read(host->context, name, &data, &size, &error) != 1) return 0;
    long pid = strtol(data, NULL, 10);
    rad__free(data);
    return pid > 1 && pid < INT32_MAX ? (int)pid : 0;
}

/* ---- Small files with a sum ----------------------------------------------------------------------------- */

static void begin(rad_bytes *out, const char *magic)
{
    rad__bytes_put(out, magic, MAGIC_SIZE);
}

static void end(rad_bytes *out)
{
    rad_crc32 crc;
    rad__crc32_open(&crc);
    if (out->failed) return;
    uint32_t sum = rad__crc32(&crc, out->data, out->size);
    rad__bytes_put(out, &sum, sizeof sum);
}

static int open_sealed(rad_reader *r, const char *magic, const char *name, const void *data, size_t size,
                       rad_error *error)
{
    rad_crc32 crc;
    uint32_t sum;
    rad__crc32_open(&crc);
    const uint8_t *bytes = data;
    if (size >= MAGIC_SIZE + SUM_SIZE) memcpy(&sum, bytes + size - SUM_SIZE, sizeof sum);
    if (size < MAGIC_SIZE + SUM_SIZE || memcmp(bytes, magic, MAGIC_SIZE) != 0 ||
        rad__crc32(&crc, bytes, size - SUM_SIZE) != sum)
        return rad__error(error, RAD_EINPUT, "%s: damaged: it is not as it was written", name);
    *r = rad__reader(bytes + MAGIC_SIZE, size - MAGIC_SIZE - SUM_SIZE);
    return 0;
}

static int close_sealed(const rad_reader *r, const char *name, rad_error *error)
{
    if (!r->failed && r->at == r->end) return 0;
    return rad__error(error, RAD_EINPUT, "%s: damaged: its content makes no sense", name);
}

/* ---- Receipts ------------------------------------------------------------------------------------------- */

void rad__flow_receipt_put(rad_bytes *out, const rad_flow_receipt *r)
{
    begin(out, RECEIPT_MAGIC);
    rad__flow_put_text(out, r->key, strlen(r->key));
    rad__bytes_put_varint(out, r->attempt);
    rad__bytes_put_varint(out, r->run);
    rad__bytes_put_varint(out, r->began_ns);
    rad__bytes_put_varint(out, r->ended_ns);
    rad__bytes_put_varint(out, (uint64_t)r->status);
    rad__bytes_put_varint(out, (uint64_t)r->signal);
    rad__bytes_put_varint(out, r->flags);
    rad__flow_put_text(out, r->output, r->output_size);
    end(out);
}

int rad__flow_receipt_read(rad_flow_receipt *r, const char *name, const void *data, size_t size, rad_error *error)
{
    rad_reader reader;
    *r = (rad_flow_receipt){0};
    int code = open_sealed(&reader, RECEIPT_MAGIC, name, data, size, error);
    if (code != 0) return code;
    r->key = rad__flow_read_text(&reader, NULL);
    r->attempt = (uint32_t)rad__read_varint(&reader);
    r->run = (uint32_t)rad__read_varint(&reader);
    r->began_ns = rad__read_varint(&reader);
    r->ended_ns = rad__read_varint(&reader);
    r->status = (int)rad__read_varint(&reader);
    r->signal = (int)rad__read_varint(&reader);
    r->flags = (uint32_t)rad__read_varint(&reader);
    r->output = rad__flow_read_text(&reader, &r->output_size);
    return close_sealed(&reader, name, error);
}

/* ---- The spool ------------------------------------------------------------------------------------------ */

static void spool_bytes(rad_bytes *out, const rad_flow_input *input)
{
    const char *name = input->name != NULL ? input->name : "";
    begin(out, SPOOL_MAGIC);
    rad__bytes_put_varint(out, input->kind);
    rad__bytes_put_varint(out, input->scope);
    rad__flow_put_text(out, name, strlen(name));
    rad__bytes_put_varint(out, input->text != NULL);
    rad__flow_put_text(out, input->text, input->text != NULL ? input->length : 0);
    end(out);
}

int rad__flow_spool_put(const rad_flow_host *host, const rad_flow_input *input, rad_error *error)
{
    char name[RAD_FLOW_FILE_MAX];
    rad_bytes bytes = {0};
    spool_bytes(&bytes, input);
    snprintf(name, sizeof name, "signals/%020llu-%016llx", (unsigned long long)host->now(host->context),
             (unsigned long long)host->random(host->context));
    int code = bytes.failed ? rad__error_memory(error)
                            : rad__flow_write_whole(host, "signals", name, bytes.data, bytes.size, error);
    rad__bytes_free(&bytes);
    return code;
}

/* "00001794824331864748-0123456789abcdef" */
bool rad__flow_is_spool_name(const char *name)
{
    return strspn(name, "0123456789") == 20 && name[20] == '-' && strspn(name + 21, "0123456789abcdef") == 16 &&
           name[37] == 0;
}

int rad__flow_spool_read(rad_flow_input *input, const char *name, const void *data, size_t size, rad_error *error)
{
    rad_reader reader;
    *input = (rad_flow_input){0};
    int code = open_sealed(&reader, SPOOL_MAGIC, name, data, size, error);
    if (code != 0) return code;
    uint64_t kind = rad__read_varint(&reader), scope = rad__read_varint(&reader);
    input->kind = (enum rad_flow_input_kind)kind;
    input->scope = (enum rad_flow_part)scope;
    input->name = rad__flow_read_text(&reader, NULL);
    uint64_t has_text = rad__read_varint(&reader);
    input->text = rad__flow_read_text(&reader, &input->length);
    if ((kind != RAD_INPUT_SIGNAL && kind != RAD_INPUT_CANCEL) || scope > RAD_FLOW_PART_CASE) reader.failed = true;
    if (has_text == 0) input->text = NULL;
    return close_sealed(&reader, name, error);
}
