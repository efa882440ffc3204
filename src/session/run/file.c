/* file.c — protocols from a file. What is machine-independent stands in program.c. */
#include "os/file.h"
#include "base/alloc.h"
#include "base/error.h"
#include "session/lang/program.h"

enum { FILE_MOST = 1 << 20 };

int rad_protocols_read(rad_protocols **p, const char *path, rad_error *error)
{
    char *text;
    size_t size;
    rad__error_clear(error);
    *p = NULL;
    int status = rad__os_read_file(path, FILE_MOST, &text, &size, error);
    if (status != 0) return status;
    status = rad_protocols_parse(p, path, text, size, error);
    rad__free(text);
    return status;
}
