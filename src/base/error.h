/* error.h — filling a rad_error. The first error stays: later ones are its consequences. */
#ifndef RAD_BASE_ERROR_H
#define RAD_BASE_ERROR_H

#include "base/check.h"

/* Sets code and text unless an error is set already; returns the code in force. `error` may be NULL. */
RAD_INTERNAL int rad__error(rad_error *error, int code, const char *format, ...) RAD_PRINTF(3, 4);
RAD_INTERNAL int rad__error_memory(rad_error *error);

/* Public calls begin with this: an old error is not the answer to a new question. */
RAD_INTERNAL void rad__error_clear(rad_error *error);

#endif
