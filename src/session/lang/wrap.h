/* wrap.h — C that is written by a program, in lines of 120 columns at most, however long names are. */
#ifndef RAD_SESSION_LANG_WRAP_H
#define RAD_SESSION_LANG_WRAP_H

#include "base/bytes.h"

/* Lines that are longer go on in the next one, further in; those of a comment that begin with " *" as it does. They are
 * broken at a blank or behind a bracket, but not in a text; one without either, and one of the preprocessor, stays as
 * it is. */
RAD_INTERNAL void rad__wrap_lines(rad_bytes *text);

#endif
