/* digest_inline.h — XXH3 compiled into the file that folds, for the kernel's hot loop. */
#ifndef RAD_BASE_DIGEST_INLINE_H
#define RAD_BASE_DIGEST_INLINE_H

#include "base/digest.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wundef"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wunused-function"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

#endif
