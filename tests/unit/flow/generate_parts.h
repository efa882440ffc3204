/* generate_parts.h — what the files of the generator share. */
#ifndef RAD_TEST_FLOW_GENERATE_PARTS_H
#define RAD_TEST_FLOW_GENERATE_PARTS_H

#include "base/prng.h"
#include "flow/lang/syntax.h"

enum {
    GENERATE_VARIABLES = 8,
    GENERATE_TASKS_MOST = 5,
    GENERATE_REGIONS_MOST = 4,
    GENERATE_NESTED = 16,
    GENERATE_DEPTH = 5
};

/* A many that encloses what is written now. */
typedef struct generate_many {
    uint32_t number;     /* of its name */
    uint32_t as;         /* the number of its `as` name; RAD_NONE: none */
    bool is_text, grows; /* `more` is allowed */
} generate_many;

typedef struct generator {
    rad_prng prng;
    char *text;
    uint32_t length, capacity;
    uint32_t indent;
    uint32_t budget; /* statements that may still be written */
    enum rad_flow_type types[GENERATE_VARIABLES];
    enum rad_flow_merge merges[GENERATE_VARIABLES];
    uint32_t tasks, regions;
    bool region_written[GENERATE_REGIONS_MOST];
    generate_many manies[GENERATE_NESTED];
    uint32_t many_depth, many_count;
    uint32_t locks_around;   /* bits */
    uint32_t inside_failure; /* regions with `on failure` around it */
    uint32_t wild;           /* how often what ends runs early is written: 0 … 3 */
} generator;

uint32_t generate_below(generator *g, uint32_t bound);
bool generate_chance(generator *g, uint32_t percent);
void generate_put(generator *g, const char *format, ...) RAD_PRINTF(2, 3);
void generate_line(generator *g, const char *format, ...) RAD_PRINTF(2, 3); /* indented, with its end */
void generate_margin(generator *g);

/* An expression of that type, written where the text ends. */
void generate_expression(generator *g, enum rad_flow_type type, uint32_t depth);
/* A variable of that type; RAD_NONE: there is none. */
uint32_t generate_variable(generator *g, enum rad_flow_type type);

/* `{`, statements, `}`, without a newline before or after. */
void generate_block(generator *g, uint32_t depth);
void generate_statements(generator *g, uint32_t depth, uint32_t most);

#endif
