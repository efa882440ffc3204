/* words.c — what actions and notes of a trial are called. Instructions are notes of a kind each, so that a line of
 * a story reads "task 3: spawn leaf local"; their texts are made when somebody first asks for one. */
#include "base/alloc.h"
#include "lab/machines/executor/executor.h"

#include <string.h>

struct rad_code_texts {
    rad_bytes bytes; /* one after the other, each with its zero */
    uint32_t starts[RAD_CASE_PROGRAMS_MAX][RAD_CODE_MAX + 1];
};

static const char *const note_names[] = {
#define NOTE_NAME(name, text) text,
    RAD_EXEC_NOTE_LIST(NOTE_NAME)
#undef NOTE_NAME
};

static rad_code_texts *texts_make(const rad_exec_case *c)
{
    rad_code_texts *t = rad__alloc(1, sizeof *t);
    rad_code_names names = rad__exec_case_names(c);
    for (uint32_t i = 0; t != NULL && i < c->program_count; i++) {
        const rad_program *p = &c->programs[i];
        for (uint32_t pc = 0; pc <= p->length; pc++) {
            char text[96] = "complete"; /* behind the last one, too */
            if (pc < p->length) rad__code_print(&p->code[pc], &names, text, sizeof text);
            t->starts[i][pc] = t->bytes.size;
            rad__bytes_format(&t->bytes, "task %%: %s", text);
            rad__bytes_put(&t->bytes, "", 1);
        }
    }
    return t;
}

static const char *code_text(const rad_exec_world *w, uint32_t program, uint32_t pc)
{
    if (program >= w->c->program_count || pc > w->c->programs[program].length) return NULL;
    if (*w->texts == NULL) *w->texts = texts_make(w->c);
    const rad_code_texts *t = *w->texts;
    if (t == NULL || t->bytes.failed) return "task %: an instruction";
    return (const char *)t->bytes.data + t->starts[program][pc];
}

void rad__code_texts_free(rad_code_texts *t)
{
    if (t == NULL) return;
    rad__bytes_free(&t->bytes);
    rad__free(t);
}

const char *rad__exec_kind_name(const void *self, uint32_t kind)
{
    if (kind >= RAD_KIND_CODE) {
        kind -= RAD_KIND_CODE;
        return code_text(self, kind / (RAD_CODE_MAX + 1), kind % (RAD_CODE_MAX + 1));
    }
    if (kind >= RAD_KIND_NOTE)
        return kind < RAD_KIND_NOTE + RAD_EXEC_NOTE_COUNT ? note_names[kind - RAD_KIND_NOTE] : NULL;
    if (kind >= RAD_KIND_EVENT && kind < RAD_KIND_TIMER) return rad__event_name(kind - RAD_KIND_EVENT);
    return kind == RAD_KIND_TIMER    ? "timer"
           : kind == RAD_KIND_CLOCK  ? "clock"
           : kind == RAD_KIND_WORKER ? "step"
                                     : NULL;
}
