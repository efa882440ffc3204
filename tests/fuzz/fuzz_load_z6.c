/* fuzz_load_z6.c — any bytes as an event file of Z6.
 *     'f'  the rest is a file
 *     'r'  the rest is records of 272 bytes without their checksums, which are made here
 *     else records in short: eight bytes each: by how much the tick grows, user, type, request, status, latency,
 *          length and letter of a text; a footer follows when none is left over
 * It is refused with the number of the record, or it has statistics, which add up and can be written in all forms. */
#include "base/alloc.h"
#include "base/sha256.h"
#include "load/report/render.h"
#include "load/report/z6.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static void put_header(rad_bytes *file)
{
    uint8_t header[RAD__LOAD_Z6_HEADER] = {0};
    rad__load_z6_put(header, RAD__LOAD_Z6_MAGIC, 8);
    header[8] = 1;
    rad__bytes_put(file, header, sizeof header);
}

static void put_record(rad_bytes *file, const rad_crc32 *crc, uint8_t *record)
{
    rad__load_z6_put(record + RAD__LOAD_Z6_CHECKSUM, rad__load_z6_checksum(crc, record), 8);
    rad__bytes_put(file, record, RAD__LOAD_Z6_RECORD);
}

static void put_footer(rad_bytes *file)
{
    uint8_t footer[RAD__LOAD_Z6_FOOTER] = {0};
    rad__load_z6_put(footer, (file->size - RAD__LOAD_Z6_HEADER) / RAD__LOAD_Z6_RECORD, 8);
    rad__sha256(file->data, file->size, footer + 8);
    rad__bytes_put(file, footer, sizeof footer);
}

static void from_records(rad_bytes *file, const rad_crc32 *crc, const uint8_t *data, size_t size)
{
    for (; size >= RAD__LOAD_Z6_CHECKSUM; data += RAD__LOAD_Z6_CHECKSUM, size -= RAD__LOAD_Z6_CHECKSUM) {
        uint8_t record[RAD__LOAD_Z6_RECORD];
        memcpy(record, data, RAD__LOAD_Z6_CHECKSUM);
        put_record(file, crc, record);
    }
    if (size == 0) put_footer(file);
}

static void from_short(rad_bytes *file, const rad_crc32 *crc, const uint8_t *data, size_t size)
{
    uint64_t tick = 0;
    for (; size >= 8; data += 8, size -= 8) {
        uint8_t record[RAD__LOAD_Z6_RECORD] = {0}, *payload = record + RAD__LOAD_Z6_PAYLOAD;
        tick += data[0];
        rad__load_z6_put(record, tick, 8);
        record[8] = data[1];
        record[12] = data[2];
        payload[0] = data[3];
        if (data[2] == RAD__LOAD_RESPONSE) {
            rad__load_z6_put(payload + 8, data[4] * 10u, 2);
            rad__load_z6_put(payload + 24, (uint64_t)data[5] << data[6] % 40, 8);
        } else {
            memset(payload + 8, data[7], data[6] % 208);
        }
        put_record(file, crc, record);
    }
    if (size == 0) put_footer(file);
}

static void check(const rad_load_result *r)
{
    const struct rad__load_tally *t = &r->metrics.all;
    require(t->issued == t->responses + t->errors + t->timeouts + t->cancelled + r->under_way);
    for (int form = RAD_LOAD_SUMMARY; form <= RAD_LOAD_HTML; form++) {
        char *text = rad_load_text(r, (enum rad_load_form)form, NULL);
        require(text != NULL);
        rad__free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rad_crc32 crc;
    rad_bytes file = {0};
    rad_error error = {0};
    if (size == 0) return 0;
    rad__crc32_open(&crc);
    if (data[0] == 'f') {
        rad__bytes_put(&file, data + 1, size - 1);
    } else {
        put_header(&file);
        if (data[0] == 'r')
            from_records(&file, &crc, data + 1, size - 1);
        else
            from_short(&file, &crc, data + 1, size - 1);
    }
    uint8_t *exact = rad__alloc(file.size > 0 ? file.size : 1, 1);
    rad_load_result *r = rad__alloc(1, sizeof *r);
    require(exact != NULL && r != NULL && !file.failed);
    if (file.size > 0) memcpy(exact, file.data, file.size);
    if (rad__load_z6_import(r, "z6", exact, file.size, 1000000, &error) == 0)
        check(r);
    else
        require(error.code == RAD_EINPUT && strncmp(error.text, "z6: ", 4) == 0);
    rad_load_result_free(r);
    rad__free(exact);
    rad__bytes_free(&file);
    return 0;
}
