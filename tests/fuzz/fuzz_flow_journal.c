/* fuzz_flow_journal.c — any bytes as a journal. The first byte says how deep they go in, because sums would keep nearly
 * all of them out: 'f': the rest is a file; else it is payloads, each after a byte with its type and two with its
 * size, and the rest of each record is made here.
 * 'r' and 's': what is in a receipt, or a message in the spool; its seal is made here.
 * A journal is refused with the place of what is wrong, or read; what was read and is written again reads the same. */
#include "base/alloc.h"
#include "flow/run/files.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static void put_raw(rad_bytes *file, const rad_crc32 *crc, uint64_t sequence, uint8_t type, const uint8_t *payload,
                    uint32_t size)
{
    uint32_t begin = file->size, sum;
    rad__bytes_put(file, &size, 4);
    rad__bytes_put(file, &sequence, 8);
    rad__bytes_put(file, &type, 1);
    sum = rad__crc32(crc, file->data + begin, 13);
    rad__bytes_put(file, &sum, 4);
    rad__bytes_put(file, "\xa5", 1);
    rad__bytes_put(file, payload, size);
    sum = rad__crc32(crc, file->data + begin, file->size - begin);
    rad__bytes_put(file, &sum, 4);
    rad__bytes_put(file, "\x5a", 1);
}

static void make_file(rad_bytes *file, const rad_crc32 *crc, const uint8_t *data, size_t size)
{
    rad_flow_journal_header header = {.raddle = "", .hash = "", .flow = "", .case_id = "", .policy = ""};
    rad__flow_journal_begin(file, crc, &header);
    for (uint64_t sequence = 1; size >= 3; sequence++) {
        uint32_t wanted = (uint32_t)(data[1] | data[2] << 8);
        uint32_t part = wanted < size - 3 ? wanted : (uint32_t)size - 3;
        put_raw(file, crc, sequence, (uint8_t)(1 + data[0] % (RAD_RECORD_TYPES - 1)), data + 3, part);
        data += 3 + part;
        size -= 3 + part;
    }
}

/* Numbers may have been written longer than need be: what was read counts, so it is written twice. */
static void write_again(const rad_crc32 *crc, const rad_flow_journal *j, const rad_flow_record *r)
{
    static rad_flow_journal again;
    static rad_flow_record back;
    rad_bytes one = {0}, two = {0};
    rad_error error = {0};
    rad_flow_record first = *r;
    if (r->input.writes != NULL) first.input.writes = first.writes;
    first.sequence = 1;
    rad__flow_journal_begin(&one, crc, &j->header);
    rad__flow_journal_put(&one, crc, &first);
    require(rad__flow_journal_open(&again, "again", one.data, one.size, &error) == 0);
    require(rad__flow_journal_next(&again, &back, &error) == 1);
    rad__flow_journal_begin(&two, crc, &again.header);
    rad__flow_journal_put(&two, crc, &back);
    require(one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    rad__bytes_free(&one);
    rad__bytes_free(&two);
}

static void use(const rad_crc32 *crc, const uint8_t *data, size_t size)
{
    static rad_flow_journal j;
    static rad_flow_record r;
    rad_error error = {0};
    if (rad__flow_journal_open(&j, "log", data, size, &error) != 0) {
        require(error.code == RAD_EINPUT && strncmp(error.text, "log: ", 5) == 0);
        return;
    }
    int got;
    while ((got = rad__flow_journal_next(&j, &r, &error)) == 1) write_again(crc, &j, &r);
    require(got == 0 ? j.torn || j.at == size : got == RAD_EINPUT && strstr(error.text, "damaged at byte ") != NULL);
}

/* What was read and written again reads the same: twice, as numbers may have been longer than need be. */
static void use_sealed(const rad_crc32 *crc, bool is_receipt, const uint8_t *data, size_t size)
{
    rad_bytes file = {0}, again = {0}, more = {0};
    rad_flow_receipt receipt;
    rad_flow_input input;
    rad_error error = {0};
    rad__bytes_put(&file, is_receipt ? "RADRCPT1" : "RADSPOO1", 8);
    rad__bytes_put(&file, data, size);
    uint32_t sum = rad__crc32(crc, file.data, file.size);
    rad__bytes_put(&file, &sum, sizeof sum);
    uint8_t *exact = rad__alloc(file.size, 1);
    require(exact != NULL);
    memcpy(exact, file.data, file.size);
    int code = is_receipt ? rad__flow_receipt_read(&receipt, "file", exact, file.size, &error)
                          : rad__flow_spool_read(&input, "file", exact, file.size, &error);
    require(code == 0 || (code == RAD_EINPUT && strncmp(error.text, "file: damaged", 13) == 0));
    if (code == 0 && is_receipt) {
        rad__flow_receipt_put(&again, &receipt);
        require(rad__flow_receipt_read(&receipt, "again", again.data, again.size, &error) == 0);
        rad__flow_receipt_put(&more, &receipt);
        require(again.size == more.size && memcmp(again.data, more.data, more.size) == 0);
    }
    rad__free(exact);
    rad__bytes_free(&file);
    rad__bytes_free(&again);
    rad__bytes_free(&more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_bytes file = {0};
    rad_crc32 crc;
    if (size == 0) return 0;
    rad__crc32_open(&crc);
    if (data[0] == 'r' || data[0] == 's') {
        use_sealed(&crc, data[0] == 'r', data + 1, size - 1);
        return 0;
    }
    if (data[0] == 'f')
        rad__bytes_put(&file, data + 1, size - 1);
    else
        make_file(&file, &crc, data + 1, size - 1);
    uint8_t *exact = rad__alloc(file.size, 1);
    require(exact != NULL);
    if (file.size > 0) memcpy(exact, file.data, file.size);
    use(&crc, exact, file.size);
    rad__free(exact);
    rad__bytes_free(&file);
    return 0;
}
