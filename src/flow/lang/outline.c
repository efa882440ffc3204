/* outline.c — see outline.h. */
#include "flow/lang/outline.h"

#include "base/alloc.h"

static void walk(const rad_flow_statement **all, const rad_flow_block *block)
{
    for (const rad_flow_statement *s = block->first; s != NULL; s = s->next) {
        all[s->number] = s;
        for (uint32_t i = 0; i < s->branch_count; i++) walk(all, &s->branches[i].block);
        if (s->on_cancel != NULL) walk(all, &s->on_cancel->block);
        if (s->on_failure != NULL) walk(all, &s->on_failure->block);
    }
}

const rad_flow_statement **rad__flow_outline(const rad_flow_tree *tree)
{
    const rad_flow_statement **all = rad__alloc(tree->statement_count + 1u, sizeof *all);
    if (all != NULL) walk(all, &tree->body);
    return all;
}

uint32_t rad__flow_branch_line(const rad_flow_statement *s, uint32_t branch)
{
    uint32_t line = branch < s->branch_count ? s->branches[branch].block.place.line : 0;
    return line != 0 ? line : s->place.line;
}
