/* harmless.c — harmless FILE…: whether a terminal may be shown these files. Names the first byte of each that is a
 * control character (newlines may be), a bidirectional control, a line separator, or not UTF-8. Status 1: there is one.
 * Written without anything of raddle's, which it judges.
 *
 *     --lines WORD   also: no line begins with WORD, which the enemy's texts try to begin one with */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t decode(const unsigned char *at, size_t left, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc0 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf8 ? 4 : 0;
    if (size == 0 || size > left) return 0;
    *code = size == 1 ? at[0] : at[0] & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (at[i] & 0x3f);
    }
    bool bad = *code < least[size] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000);
    return bad ? 0 : size;
}

static bool acts(uint32_t c)
{
    return (c < 0x20 && c != '\n') || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x61c || c == 0x2028 || c == 0x2029 ||
           c == 0xfeff;
}

static int judge(const char *path, const char *word)
{
    static unsigned char text[1 << 24];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, sizeof text, file) : 0, word_size = strlen(word);
    if (file == NULL || fclose(file) != 0) {
        printf("%s: cannot be read\n", path);
        return 1;
    }
    for (size_t at = 0, line = 1, length; at < size; at += length) {
        uint32_t code = 0;
        length = decode(text + at, size - at, &code);
        if (length == 0 || acts(code)) {
            printf("%s:%zu: byte %zu: ", path, line, at);
            printf(length == 0 ? "not UTF-8: 0x%02x\n" : "U+%04X\n", length ? code : text[at]);
            return 1;
        }
        bool begins = at == 0 || text[at - 1] == '\n';
        if (word_size > 0 && begins && size - at >= word_size && memcmp(text + at, word, word_size) == 0) {
            printf("%s:%zu: a line of its own: %s\n", path, line, word);
            return 1;
        }
        line += code == '\n';
    }
    return 0;
}

int main(int argc, char **argv)
{
    int first = argc > 2 && strcmp(argv[1], "--lines") == 0 ? 3 : 1, status = 0;
    for (int i = first; i < argc; i++) status |= judge(argv[i], first == 3 ? argv[2] : "");
    return status;
}
