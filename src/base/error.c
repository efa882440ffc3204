#include "base/error.h"

#include <stdio.h>

static const char *error_word(int code)
{
    switch (code) {
#define ERROR_CASE(name, value, text)                                                              \
    case name: return text;
        RAD_ERROR_LIST(ERROR_CASE)
#undef ERROR_CASE
    default: return "unknown error";
    }
}

int rad__error(rad_error *error, int code, const char *format, ...)
{
    if (error == NULL) return code;
    if (error->code != 0) return error->code;
    error->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
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
