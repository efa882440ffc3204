/* readable.h — the gate for text on its way to people: a terminal, a message, a page, a report.
 *
 * Names, paths and values come from files that somebody else may have written. What would act on a terminal, or would
 * make a line look like another one, becomes visible instead:
 *
 *     control characters (C0, DEL, C1)                                  \x1b  \u009b  \n  \t
 *     bytes that are not UTF-8                                          \xff
 *     what turns the direction of writing, ends lines, or is invisible  \u202e  \u2028  \u{e0041}
 *
 * All else stays as it is, backslashes too: text that has passed passes again unchanged. ZWJ and ZWNJ stay: scripts and
 * emoji need them.
 *
 * Where text passes: whatever composes a line with printf's language does it by rad__readable_format: the format is
 * ours, so it is trusted; what `%s` and `%c` print is not, and is one name, so that a newline in it cannot begin a line
 * of its own. A text of several lines that was composed before passes once more when it is printed.
 *
 * Nothing here allocates. rad__readable_put is safe in signal handlers. */
#ifndef RAD_BASE_READABLE_H
#define RAD_BASE_READABLE_H

#include "base/check.h"

#include <stdio.h>

enum rad_readable {
    RAD_READABLE_NAME,  /* newlines and tabs become visible, too */
    RAD_READABLE_LINES, /* they stay */
    RAD_READABLE_CELLS  /* in drawings, where a character has a place: one for each, a blank or U+FFFD */
};

/* Where text goes to, piece by piece; the first member of what knows the place. */
typedef struct rad_sink {
    void (*put)(struct rad_sink *sink, const char *text, size_t size);
    bool (*is_ours)(const char *text); /* %s prints it as it is: a colour. May be NULL: nothing is */
} rad_sink;

/* A buffer; what does not fit is left out, from the first character that does not. Always ends in a zero byte. */
typedef struct rad_sink_buffer {
    rad_sink sink;
    char *text;
    size_t room, used;
    bool full;
} rad_sink_buffer;

RAD_INTERNAL rad_sink_buffer rad__sink_buffer(char *text, size_t room);

/* Whether people would not see the character, or would see others elsewhere because of it. */
RAD_INTERNAL bool rad__is_unseen(uint32_t code);

enum { RAD_CHARACTER_MAX = 12 };

/* The first character of `text`, of which `left` > 0 bytes are there. Returns how many bytes it has there; `shown` is
 * what people get to see of it, and *size the size of that. */
RAD_INTERNAL size_t rad__readable_character(const char *text, size_t left, enum rad_readable how,
                                            char shown[RAD_CHARACTER_MAX], size_t *size);

RAD_INTERNAL void rad__readable_put(rad_sink *to, const char *text, size_t size, enum rad_readable how);

/* As vfprintf, but: what %s and %c print is made readable (RAD_READABLE_NAME); a precision of %s never cuts a
 * character; the width of %s counts characters. No %n, no positions (%1$s), no wide characters. */
RAD_INTERNAL void rad__readable_format(rad_sink *to, const char *format, va_list args) RAD_PRINTF(2, 0);

/* The same into a buffer, which is always ended; returns how many bytes are in it. Only whole characters are. */
RAD_INTERNAL size_t rad__readable_text(char *text, size_t room, const char *format, ...) RAD_PRINTF(3, 4);

/* The same into a stream. */
RAD_INTERNAL void rad__readable_print(FILE *to, const char *format, ...) RAD_PRINTF(2, 3);

/* "1,234,567" */
RAD_INTERNAL const char *rad__readable_count(uint64_t number, char text[32]);

#endif
