/* fuzz_replay.c — runs a fuzz target over its seed corpus, without libFuzzer.
 *
 * Linked with a target in ordinary builds, so that every test run, with every compiler and sanitizer,
 * feeds the reader the inputs that were interesting once. Prints TAP, one test per file, and two for
 * the inputs every reader meets: nothing at all, and a few bytes of nonsense. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int tests;
static int failures;

static void report(int ok, const char *name)
{
    printf("%s %d - %s\n", ok ? "ok" : "not ok", ++tests, name);
    fflush(stdout);
    failures += !ok;
}

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) return 0;
    uint8_t *data = NULL;
    size_t size = 0;
    size_t room = 0;
    for (;;) {
        if (size == room) {
            room = room ? room * 2 : 4096;
            uint8_t *larger = realloc(data, room);
            if (!larger) break;
            data = larger;
        }
        size_t got = fread(data + size, 1, room - size, file);
        size += got;
        if (got == 0) break;
    }
    int ok = !ferror(file);
    fclose(file);

    /* A block of exactly this size lets the address sanitizer see the first byte read beyond it. */
    uint8_t *exact = malloc(size ? size : 1);
    ok = ok && exact && data;
    if (ok) {
        memcpy(exact, data, size);
        ok = LLVMFuzzerTestOneInput(exact, size) == 0;
    }
    free(exact);
    free(data);
    return ok;
}

static int replay_directory(const char *directory)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, NULL, alphasort);
    if (count < 0) return errno == ENOENT ? 0 : -1;
    for (int i = 0; i < count; i++) {
        if (entries[i]->d_name[0] != '.') {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
            report(replay_file(path), entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return 0;
}

int main(int argc, char **argv)
{
    static const uint8_t nonsense[] = {0xff, 0x00, 0x7b, 0x22, 0x0a, 0xc3};
    report(LLVMFuzzerTestOneInput(nonsense, 0) == 0, "no bytes");
    report(LLVMFuzzerTestOneInput(nonsense, sizeof nonsense) == 0, "nonsense");
    for (int i = 1; i < argc; i++)
        if (replay_directory(argv[i]) != 0) report(0, argv[i]);
    printf("1..%d\n", tests);
    return failures > 0;
}
