/* generate.h — random flows, as text: what a seed gives goes through the parser like any file. */
#ifndef RAD_TEST_FLOW_GENERATE_H
#define RAD_TEST_FLOW_GENERATE_H

#include <stdint.h>

/* Every construct of the language, small to middling. Most of them end; those that do not are the reader's business.
 * rad__free it. */
char *flow_generate(uint64_t seed);

#endif
