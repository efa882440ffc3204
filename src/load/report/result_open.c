/* result_open.c — a result with nothing in it yet. */
#include "base/alloc.h"
#include "base/error.h"
#include "load/report/result.h"

#include <string.h>

int rad__load_result_open(rad_load_result **out, const char *name, const char *text, rad_error *error)
{
    rad_load_result *r = rad__alloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) return rad__error_memory(error);
    r->text = rad__copy_text(text);
    int result = r->text == NULL ? rad__error_memory(error)
                                 : rad__load_scenario_parse(&r->scenario, name, text, strlen(text), NULL, error);
    if (result == 0)
        *out = r;
    else
        rad_load_result_free(r);
    return result;
}
