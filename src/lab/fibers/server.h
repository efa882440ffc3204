/* server.h — the process of a program under test: does units, each run in a child, or tells one run by a stream.
 *
 * Late      What precedes the first decision runs once, in this process; each run is a child that begins there. The
 *           kernel's memory is shared (heap.c), so after the child's end this process has all that the run left.
 * Early     Each child runs main from its beginning: when something that a fork does not copy was opened by then (a
 *           descriptor), or when the beginning dies. A first child tries, and tells which it is.
 * Death     of a child is this process's: the supervisor sees it, and what the run had chosen until then. */
#ifndef RAD_LAB_FIBERS_SERVER_H
#define RAD_LAB_FIBERS_SERVER_H

#include "lab/stream.h"

RAD_INTERNAL extern rad_call_stream rad__server_stream;

/* Ends the process, which the program's own call of _exit does not. */
RAD_INTERNAL _Noreturn void rad__process_exit(int status);

/* From now on a signal that kills the program tells first where: crash.c. */
RAD_INTERNAL void rad__crash_watch(void);

/* Both return the exit status. */
RAD_INTERNAL int rad__server_works(int in, int out, int memory, uint64_t max_steps);
RAD_INTERNAL int rad__server_tells(int in, int out);

#endif
