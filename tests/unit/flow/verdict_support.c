/* verdict_support.c — see verdict_support.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "verdict_support.h"

#include <stdio.h>
#include <string.h>

rad_flow_validation *flow_validated(const char *text, const rad_flow_validate_options *o)
{
    rad_flow_program *p;
    rad_flow_validation *v;
    rad_error error = {0};
    if (rad__flow_program_read(&p, "test", text, strlen(text), NULL, &error) != 0) fail_msg("%s\n%s", error.text, text);
    if (rad__flow_validate(p, o, &v, &error) != 0) fail_msg("%s\n%s", error.text, text);
    rad__flow_program_free(p);
    return v;
}

void flow_verdict_fails(const char *text, enum rad_flow_property property, const char *why, const char *run)
{
    rad_flow_validation *v = flow_validated(text, NULL);
    const rad_flow_verdict *f = &v->verdicts[property];
    char list[400] = "";
    if (f->answer != RAD_FLOW_FAILS) fail_msg("it does not fail: %s", text);
    assert_string_equal(f->text, why);
    for (uint64_t i = 0; i < f->choice_count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%u", i > 0 ? " " : "", f->choices[i]);
    assert_int_equal(f->choices == NULL, run == NULL);
    if (run != NULL && strcmp(run, FLOW_ANY_RUN) != 0) assert_string_equal(list, run);
    rad_flow_validation_free(v);
}
