/* libc_memory.h — the calls of the C library whose memory is looked at when watched code makes them: what each of them
 * reads and writes, in one table. libc_memory.c reads it, and docs/threads-under-test.md lists its names
 * (tests/cli/cc_libc.sh).
 *
 * Arguments are numbered from 1, the result is 0. Ranges in which each byte is certain to be used: of a string that
 * is searched up to what was found, of two that are compared up to the first difference. */
#ifndef RAD_LAB_PROGRAMS_WATCHED_LIBC_MEMORY_H
#define RAD_LAB_PROGRAMS_WATCHED_LIBC_MEMORY_H

#include "lab/programs/watched/watched.h"

/* How many bytes. */
enum rad_libc_size {
    RAD_LIBC_BYTES,   /* argument a, times argument b if that is not 0 */
    RAD_LIBC_STRING,  /* the string in argument a with its end; at most argument b, if that is not 0 */
    RAD_LIBC_SOUGHT,  /* up to the character in argument 2; at most argument b */
    RAD_LIBC_EQUAL,   /* as long as the strings 1 and 2 are equal, and one more; at most argument b */
    RAD_LIBC_PARTS,   /* a struct iovec or several: argument a; of what is written as much as the result */
    RAD_LIBC_MESSAGE, /* the same in a struct msghdr */
    RAD_LIBC_RESULT,  /* the result, times argument a if that is not 0; at most argument b */
    RAD_LIBC_PRINTED, /* the result and the end of a string; at most argument b */
    RAD_LIBC_FIXED    /* a bytes */
};

enum rad_libc_use {
    RAD_LIBC_NOTHING,
    RAD_LIBC_READS,
    RAD_LIBC_WRITES,
    RAD_LIBC_APPENDS, /* writes, from the end of the string there on */
    RAD_LIBC_WROTE    /* known when the call has returned */
};

typedef struct rad_libc_range {
    uint8_t use, at, size, a, b;
} rad_libc_range;

/* clang-format off */
#define READS(at, size, a, b)   {RAD_LIBC_READS, at, RAD_LIBC_##size, a, b}
#define WRITES(at, size, a, b)  {RAD_LIBC_WRITES, at, RAD_LIBC_##size, a, b}
#define APPENDS(at, size, a, b) {RAD_LIBC_APPENDS, at, RAD_LIBC_##size, a, b}
#define WROTE(at, size, a, b)   {RAD_LIBC_WROTE, at, RAD_LIBC_##size, a, b}

/* Answered in libc_memory.c: the C library's own, and a look at the memory. */
#define RAD_LIBC_SEEN(CALL) \
    CALL(memcpy,        READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(memmove,       READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(mempcpy,       READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(__memcpy_chk,  READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(__memmove_chk, READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(__mempcpy_chk, READS(2, BYTES, 3, 0), WRITES(1, BYTES, 3, 0)) \
    CALL(memset,        WRITES(1, BYTES, 3, 0)) \
    CALL(__memset_chk,  WRITES(1, BYTES, 3, 0)) \
    CALL(explicit_bzero, WRITES(1, BYTES, 2, 0)) \
    CALL(__explicit_bzero_chk, WRITES(1, BYTES, 2, 0)) \
    CALL(bzero,         WRITES(1, BYTES, 2, 0)) \
    CALL(memcmp,        READS(1, BYTES, 3, 0), READS(2, BYTES, 3, 0)) \
    CALL(bcmp,          READS(1, BYTES, 3, 0), READS(2, BYTES, 3, 0)) \
    CALL(memchr,        READS(1, SOUGHT, 0, 3)) \
    CALL(strlen,        READS(1, STRING, 1, 0)) \
    CALL(strnlen,       READS(1, STRING, 1, 2)) \
    CALL(strchr,        READS(1, SOUGHT, 0, 0)) \
    CALL(strrchr,       READS(1, STRING, 1, 0)) \
    CALL(strcmp,        READS(1, EQUAL, 0, 0), READS(2, EQUAL, 0, 0)) \
    CALL(strncmp,       READS(1, EQUAL, 0, 3), READS(2, EQUAL, 0, 3)) \
    CALL(strcpy,        READS(2, STRING, 2, 0), WRITES(1, STRING, 2, 0)) \
    CALL(stpcpy,        READS(2, STRING, 2, 0), WRITES(1, STRING, 2, 0)) \
    CALL(__strcpy_chk,  READS(2, STRING, 2, 0), WRITES(1, STRING, 2, 0)) \
    CALL(__stpcpy_chk,  READS(2, STRING, 2, 0), WRITES(1, STRING, 2, 0)) \
    CALL(strncpy,       READS(2, STRING, 2, 3), WRITES(1, BYTES, 3, 0)) \
    CALL(__strncpy_chk, READS(2, STRING, 2, 3), WRITES(1, BYTES, 3, 0)) \
    CALL(strcat,        READS(2, STRING, 2, 0), READS(1, STRING, 1, 0), APPENDS(1, STRING, 2, 0)) \
    CALL(__strcat_chk,  READS(2, STRING, 2, 0), READS(1, STRING, 1, 0), APPENDS(1, STRING, 2, 0)) \
    CALL(strncat,       READS(2, STRING, 2, 3), READS(1, STRING, 1, 0), APPENDS(1, STRING, 2, 3)) \
    CALL(__strncat_chk, READS(2, STRING, 2, 3), READS(1, STRING, 1, 0), APPENDS(1, STRING, 2, 3)) \
    CALL(strdup,        READS(1, STRING, 1, 0), WROTE(0, STRING, 0, 0)) \
    CALL(strndup,       READS(1, STRING, 1, 2), WROTE(0, STRING, 0, 0)) \
    CALL(vsnprintf,     READS(3, STRING, 3, 0), WROTE(1, PRINTED, 0, 2)) \
    CALL(__vsnprintf_chk, READS(5, STRING, 5, 0), WROTE(1, PRINTED, 0, 2)) \
    CALL(vsprintf,      READS(2, STRING, 2, 0), WROTE(1, PRINTED, 0, 0)) \
    CALL(__vsprintf_chk, READS(4, STRING, 4, 0), WROTE(1, PRINTED, 0, 0)) \
    CALL(fread,         WROTE(1, RESULT, 2, 0)) \
    CALL(__fread_chk,   WROTE(1, RESULT, 3, 0)) \
    CALL(fwrite,        READS(1, BYTES, 2, 3)) \
    CALL(fgets,         WROTE(0, STRING, 0, 0)) \
    CALL(__fgets_chk,   WROTE(0, STRING, 0, 0)) \
    CALL(fputs,         READS(1, STRING, 1, 0)) \
    CALL(puts,          READS(1, STRING, 1, 0)) \
    CALL(qsort,         READS(1, BYTES, 2, 3), WRITES(1, BYTES, 2, 3)) \
    CALL(pread,         WROTE(2, RESULT, 0, 3)) \
    CALL(pread64,       WROTE(2, RESULT, 0, 3)) \
    CALL(pwrite,        READS(2, BYTES, 3, 0)) \
    CALL(pwrite64,      READS(2, BYTES, 3, 0))

/* The same, with arguments that a function of six words cannot pass on. */
#define RAD_LIBC_PRINTING(CALL) \
    CALL(snprintf,       READS(3, STRING, 3, 0), WROTE(1, PRINTED, 0, 2)) \
    CALL(__snprintf_chk, READS(5, STRING, 5, 0), WROTE(1, PRINTED, 0, 2)) \
    CALL(sprintf,        READS(2, STRING, 2, 0), WROTE(1, PRINTED, 0, 0)) \
    CALL(__sprintf_chk,  READS(4, STRING, 4, 0), WROTE(1, PRINTED, 0, 0))

/* Answered in threads/descriptors.c, for they may wait. */
#define RAD_LIBC_WAITING(CALL) \
    CALL(read,       WROTE(2, RESULT, 0, 3)) \
    CALL(__read_chk, WROTE(2, RESULT, 0, 3)) \
    CALL(recv,       WROTE(2, RESULT, 0, 3)) \
    CALL(__recv_chk, WROTE(2, RESULT, 0, 3)) \
    CALL(recvfrom,   WROTE(2, RESULT, 0, 3)) \
    CALL(readv,      WROTE(2, PARTS, 3, 0)) \
    CALL(recvmsg,    WROTE(2, MESSAGE, 0, 0)) \
    CALL(eventfd_read, WROTE(2, FIXED, 8, 0)) \
    CALL(write,      READS(2, BYTES, 3, 0)) \
    CALL(send,       READS(2, BYTES, 3, 0)) \
    CALL(sendto,     READS(2, BYTES, 3, 0)) \
    CALL(writev,     READS(2, PARTS, 3, 0)) \
    CALL(sendmsg,    READS(2, MESSAGE, 0, 0))
/* clang-format on */

enum rad_libc_call {
#define RAD_LIBC_ROW(name, ...) RAD_LIBC_##name,
    RAD_LIBC_SEEN(RAD_LIBC_ROW) RAD_LIBC_PRINTING(RAD_LIBC_ROW) RAD_LIBC_WAITING(RAD_LIBC_ROW)
#undef RAD_LIBC_ROW
        RAD_LIBC_COUNT
};

/* The C library's own functions are found, before any run. */
RAD_INTERNAL void rad__libc_open(void);

/* Around such a call with these arguments: a point if its place is one, and its memory. Without effect unless watched
 * code has made it. */
RAD_INTERNAL void rad__libc_begins(enum rad_libc_call call, const long *arguments, const void *pc);
RAD_INTERNAL void rad__libc_ends(enum rad_libc_call call, const long *arguments, long result, const void *pc);

#endif
