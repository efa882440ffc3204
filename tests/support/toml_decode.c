/* toml_decode.c — reads TOML on stdin and prints it as JSON in which every value says its type; 1 when it is no TOML.
 * The interface that conformance suites of TOML expect of a decoder. Uses the locale of the environment, so that
 * tests can see that nothing depends on it. */
#include "base/alloc.h"
#include "toml_json.h"

#include <locale.h>
#include <stdio.h>

enum { LIMIT = 10 << 20 };

static bool read_all(FILE *file, rad_bytes *text)
{
    char part[1 << 16];
    size_t size;
    while ((size = fread(part, 1, sizeof part, file)) > 0) rad__bytes_put(text, part, size);
    return !ferror(file) && !text->failed;
}

int main(void)
{
    rad_bytes text = {0}, json = {0};
    rad_error error = {0};
    rad_toml doc;
    setlocale(LC_ALL, "");
    if (!read_all(stdin, &text)) {
        fprintf(stderr, "toml_decode: cannot read stdin\n");
        return 3;
    }
    const char *from = text.size ? (const char *)text.data : "";
    int status = rad__toml_parse(&doc, "stdin", from, text.size, LIMIT, &error);
    if (status == 0) {
        toml_put_json(doc.root, &json);
        rad__toml_free(&doc);
        if (json.failed) {
            fprintf(stderr, "toml_decode: out of memory\n");
            return 3;
        }
        printf("%.*s\n", (int)json.size, (const char *)json.data);
    } else {
        fprintf(stderr, "%s\n", error.text);
    }
    rad__bytes_free(&text);
    rad__bytes_free(&json);
    return status == 0 ? 0 : 1;
}
