/* words.h — a line of a story in words: "read b = 0", "take fork 3", "wait not-full (case 1 of 2)". */
#ifndef RAD_VIEW_WORDS_H
#define RAD_VIEW_WORDS_H

#include "base/check.h"

#include <raddle/lab.h>

enum { RAD_WORDS_MAX = 320 };

/* `actor` is the name of the one who acts: "worker: read" of "worker 1" is told as "read". */
RAD_INTERNAL void rad__line_words(const rad_line *line, const char *actor, char words[RAD_WORDS_MAX]);

enum { RAD_PLACE_MAX = 64 };

/* "pool.c:12", without the folders. */
RAD_INTERNAL void rad__place_text(const rad_source_place *at, char text[RAD_PLACE_MAX]);

#endif
