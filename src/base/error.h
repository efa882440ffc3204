/* error.h — filling a rad_error. The first error stays: later ones are its consequences. */
#ifndef RAD_BASE_ERROR_H
#define RAD_BASE_ERROR_H

#include "base/check.h"

/* Sets code and text unless an error is set already; returns the code in force. `error` may be NULL. What %s prints is
 * made readable (readable.h): it may come from anywhere. */
RAD_INTERNAL int rad__error(rad_error *error, int code, const char *format, ...) RAD_PRINTF(3, 4);
/* The same, and below it a text of several lines, as far as it fits. */
RAD_INTERNAL int rad__error_lines(rad_error *error, const char *lines, int code, const char *format, ...)
    RAD_PRINTF(4, 5);
RAD_INTERNAL int rad__error_memory(rad_error *error);

/* Public calls begin with this: an old error is not the answer to a new question. */
RAD_INTERNAL void rad__error_clear(rad_error *error);

#endif
