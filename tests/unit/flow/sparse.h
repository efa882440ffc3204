/* sparse.h — random flows with few kinds of statements in each, as text: where steps can be put in another order,
 * and one thing at a time forbids it. */
#ifndef RAD_TEST_FLOW_SPARSE_H
#define RAD_TEST_FLOW_SPARSE_H

#include <stdint.h>

/* rad__free it. */
char *flow_sparse(uint64_t seed);

#endif
