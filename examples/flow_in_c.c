/* flow_in_c.c — a workflow whose tasks are C functions: three suppliers are asked side by side, one of them needs a
 * second attempt, the lowest price wins. Then the same case again from its journal, without calling anything. What is
 * printed is the same on every machine.
 *
 *     cc flow_in_c.c $(pkg-config --cflags --libs raddle-lab) -o flow_in_c && ./flow_in_c FOLDER */
#include <raddle/flow.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FLOW[] = "flow buy {\n"
                           "    data { price : int merge min  order : text }\n"
                           "    task ask  { call \"ask\" reads supplier writes price retry 2 }\n"
                           "    task book { call \"book\" reads price writes order }\n"
                           "    many 3 as supplier { do ask }\n"
                           "    do book\n"
                           "}\n";

/* The second supplier is busy when it is first asked. */
static int ask(void *context, rad_flow_call *call, rad_error *error)
{
    static const char *const PRICES[] = {"31", "27", "40"};
    int supplier = rad_flow_call_value(call, "supplier")[0] - '0';
    uint32_t *calls = context;
    ++*calls;
    if (supplier == 1 && rad_flow_call_attempt(call) == 1) {
        printf("supplier 1 is busy\n");
        return -1;
    }
    printf("supplier %d says %s\n", supplier, PRICES[supplier]);
    return rad_flow_call_set(call, "price", PRICES[supplier], error);
}

static int book(void *context, rad_flow_call *call, rad_error *error)
{
    char order[80];
    uint32_t *calls = context;
    ++*calls;
    snprintf(order, sizeof order, "booked at %s", rad_flow_call_value(call, "price"));
    return rad_flow_call_set(call, "order", order, error);
}

static int run(const char *folder, uint32_t *calls, rad_error *error)
{
    rad_flow *f;
    rad_flow_result r;
    rad_flow_options o = rad_flow_defaults();
    int code = rad_flow_parse(&f, "from C", FLOW, strlen(FLOW), NULL, error);
    if (code != 0) return code;
    code = rad_flow_register(f, "ask", ask, calls, error);
    if (code == 0) code = rad_flow_register(f, "book", book, calls, error);
    if (code == 0) code = rad_flow_run(f, folder, &o, &r, error);
    if (code == 0 && r.end == RAD_FLOW_END_DONE) printf("done after %" PRIu64 " steps and %u calls\n", r.steps, *calls);
    rad_flow_free(f);
    return code;
}

static int look(const char *folder, rad_error *error)
{
    rad_flow_status s;
    int code = rad_flow_look(&s, folder, error);
    for (uint32_t i = 0; code == 0 && i < s.data_count; i++) printf("%s: %s\n", s.data[i].name, s.data[i].text);
    rad_flow_status_free(&s);
    return code;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : "flow_in_c.case";
    rad_error error = {.code = 0};
    rad_flow_replayed again;
    uint32_t calls = 0;
    int code = run(folder, &calls, &error);
    uint32_t called = calls;
    if (code == 0) code = look(folder, &error);
    if (code == 0) code = rad_flow_replay(folder, &again, NULL, &error);
    if (code == 0)
        printf("again from the journal: %s, %s, %u calls\n", again.state,
               again.as_recorded ? "as recorded" : again.reason, calls - called);
    if (code != 0) fprintf(stderr, "flow_in_c: %s\n", error.text);
    return code == 0 ? 0 : 1;
}
