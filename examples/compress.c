/* compress.c FROM TO — compresses a file on all cores; the blocks come out in the order they went in. What goes
 * through the channel is not the blocks but the fibers that compress them: who receives one waits for what it makes.
 * The channel is bounded, so only a few blocks are in memory. Without arguments it checks itself.
 *
 *     cc compress.c $(pkg-config --cflags --libs raddle libzstd) -o compress && ./compress FILE FILE.zst */
#include <raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { BLOCK = 128 << 10, PACKED = ZSTD_COMPRESSBOUND(BLOCK), AHEAD = 16, LINES = 60000 };

typedef struct block {
    size_t size;
    char bytes[PACKED];
} block;

typedef struct job {
    FILE *from, *to;
    rad_chan *order; /* of fibers */
} job;

/* A fiber's result is a few bytes, copied to the fiber that joins it: here the address of the packed block. */
static int compress_block(void *arg)
{
    block *plain = arg, *packed = malloc(sizeof *packed);
    if (packed != NULL) packed->size = ZSTD_compress(packed->bytes, PACKED, plain->bytes, plain->size, 3);
    rad_set_result(&packed, sizeof packed);
    free(plain);
    return packed == NULL || ZSTD_isError(packed->size) ? RAD_ENOMEM : 0;
}

/* A call that blocks, such as fread, holds up its worker; the runtime puts another one in its place if that lasts. */
static int read_all(void *arg)
{
    job *j = arg;
    block *plain;
    int code = 0;
    while (code == 0 && (plain = malloc(sizeof *plain)) != NULL) {
        plain->size = fread(plain->bytes, 1, BLOCK, j->from);
        if (plain->size == 0) {
            free(plain);
            break;
        }
        code = rad_chan_send_spawn(j->order, compress_block, plain, RAD_FOREVER); /* which frees it */
    }
    rad_chan_close(j->order, code);
    return code;
}

static int write_all(void *arg)
{
    job *j = arg;
    rad_fiber_result given;
    block *packed;
    int code = 0;
    while (rad_chan_recv_join(j->order, &given, RAD_FOREVER) == 0) { /* to the end, also after a failure */
        memcpy(&packed, given.bytes, sizeof packed);
        if (code == 0) code = given.code;
        if (code == 0 && fwrite(packed->bytes, 1, packed->size, j->to) != packed->size) code = RAD_EIO;
        free(packed);
    }
    return code;
}

static int start(void *arg)
{
    job *j = arg;
    rad_nursery n;
    int code = rad_chan_create(&j->order, sizeof(rad_fiber), AHEAD, RAD_CHAN_BLOCKS);
    if (code != 0) return code;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, read_all, j);
    rad_nursery_go(&n, write_all, j);
    code = rad_nursery_wait(&n);
    rad_chan_destroy(j->order);
    return code;
}

/* The whole of a file that was just written. */
static char *read_back(FILE *f, size_t *size)
{
    char *bytes = malloc(*size = (size_t)ftell(f));
    rewind(f);
    return bytes != NULL && fread(bytes, 1, *size, f) == *size ? bytes : NULL;
}

static int check_itself(void)
{
    job j = {.from = tmpfile(), .to = tmpfile()};
    size_t plain_size, packed_size;
    if (j.from == NULL || j.to == NULL) return 1;
    for (int i = 0; i < LINES; i++) fprintf(j.from, "line %d of a text that is easy to compress\n", i);
    char *plain = read_back(j.from, &plain_size);
    rewind(j.from);
    if (plain == NULL || rad_main(NULL, start, &j, NULL) != 0) return 1;
    char *packed = read_back(j.to, &packed_size), *again = malloc(plain_size);
    bool same = packed && again && ZSTD_decompress(again, plain_size, packed, packed_size) == plain_size &&
                memcmp(plain, again, plain_size) == 0;
    printf("%zu blocks, in order: %s\n", (plain_size + BLOCK - 1) / BLOCK, same ? "the same again" : "WRONG");
    free(plain), free(packed), free(again);
    return !same;
}

int main(int argc, char **argv)
{
    if (argc != 3) return check_itself();
    job j = {.from = fopen(argv[1], "rb"), .to = fopen(argv[2], "wb")};
    if (j.from == NULL || j.to == NULL) return perror(argv[0]), 1;
    return rad_main(NULL, start, &j, NULL) != 0 || fclose(j.to) != 0;
}
