/* tree_support.h — reads flow files in tests, and tells a resolved tree as one line of text. */
#ifndef RAD_TEST_FLOW_TREE_SUPPORT_H
#define RAD_TEST_FLOW_TREE_SUPPORT_H

#include "base/bytes.h"
#include "flow/lang/syntax.h"

/* Reads and resolves; fails the test with what was said when it is refused. The caller frees it. */
void flow_tree_read(rad_flow_file *file, const char *text, size_t size);

/* It must be refused, and this said: "test:LINE:COLUMN: …". */
void flow_tree_refused(const char *text, size_t size, const char *because);

/* Line 2 of a flow with data n : int, b : bool, t : text, and a task build. */
#define IN_FLOW(body) "flow f { data { n : int b : bool t : text } task build { run \"a\" }\n" body "\n}"

typedef struct flow_mistake {
    const char *text, *said;
} flow_mistake;

/* All of them must be refused, each with what is to be said of it. */
void flow_tree_refuses(const flow_mistake *some, size_t count);
#define FLOW_MISTAKES(some) flow_tree_refuses(some, sizeof(some) / sizeof *(some))

/* "1 do a, 2 par {3 set n = (+ n 1)} {} join all": numbers, indices as names again, expressions in prefix form. */
void flow_tree_tell(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree);

/* "n : int = 3 merge sum in 0 1, …" */
void flow_tree_tell_data(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree);

/* "build run "make" timeout 5 …, …", durations in nanoseconds */
void flow_tree_tell_tasks(rad_bytes *out, const rad_flow_file *file, const rad_flow_tree *tree);

#endif
