#include "base/error.h"

#include "base/readable.h"

#include <string.h>

static const char *error_word(int code)
{
    switch (code) {
#define ERROR_CASE(name, value, text)                                                                                  \
    case name: return text;
        RAD_ERROR_LIST(ERROR_CASE)
#undef ERROR_CASE
    default: return "unknown error";
    }
}

RAD_PRINTF(4, 0)
static int set(rad_error *error, const char *lines, int code, const char *format, va_list args)
{
    if (error == NULL) return code;
    if (error->code != 0) return error->code;
    error->code = code;
    rad_sink_buffer text = rad__sink_buffer(error->text, sizeof error->text);
    rad__readable_format(&text.sink, format, args);
    rad__readable_put(&text.sink, lines, strlen(lines), RAD_READABLE_LINES);
    return code;
}

int rad__error(rad_error *error, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    code = set(error, "", code, format, args);
    va_end(args);
    return code;
}

int rad__error_lines(rad_error *error, const char *lines, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    code = set(error, lines, code, format, args);
    va_end(args);
    return code;
}

int rad__error_memory(rad_error *error)
{
    return rad__error(error, RAD_ENOMEM, "%s", error_word(RAD_ENOMEM));
}

void rad__error_clear(rad_error *error)
{
    if (error == NULL) return;
    error->code = 0;
    error->text[0] = 0;
}
