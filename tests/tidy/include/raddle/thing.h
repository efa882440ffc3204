/* A public header includes C's own headers and public ones. */
#ifndef RADDLE_OTHER_H /* expect: guard */
#define RADDLE_OTHER_H

#include <stddef.h>
#include <stdint.h>
#include <raddle/other.h>
#include "raddle/other.h"
#include <jansson.h> /* expect: include */
#include "core/kernel.h" /* expect: include */
#include "other.h" /* expect: include */

int rad_thing_count(void); /* FIXME expect: todo */
#endif
