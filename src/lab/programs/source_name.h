/* source_name.h — the source file of an instruction of a program under test, for the patterns of --suppress. Its
 * process asks while it runs (serve.h), when a race is met there for the first time: so nothing is read of what does
 * not race, and libraries that are loaded late are known, too. */
#ifndef RAD_LAB_PROGRAMS_SOURCE_NAME_H
#define RAD_LAB_PROGRAMS_SOURCE_NAME_H

#include "base/check.h"

enum { RAD_SOURCE_MAX = 512, RAD_SOURCE_LACKS = 200 };

/* The file of the line at this offset of a library ("": of the program), from the root where that is known, without "."
 * and "..". Inlined code has the file that it was written in. "": not known. */
RAD_INTERNAL void rad__source_name(const char *module, uint64_t offset, char *text, size_t size);

/* The same by a spot, "[module+1a2b]". */
RAD_INTERNAL void rad__source_of_spot(const char *spot, char *text, size_t size);

/* Why one was not known since the last call; false: all were. */
RAD_INTERNAL bool rad__source_lacks(char text[RAD_SOURCE_LACKS]);

#endif
