/* syntax.c — reads flow files: recursive descent, one token ahead (two where a word is a name or not). See syntax.h;
 * syntax_parts.h says which file has what. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/suggest.h"
#include "flow/lang/syntax_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The shortest statement is `{}`: a file that is not too large cannot have too many. */
_Static_assert(RAD_FLOW_TEXT_MAX / 2 < RAD_FLOW_STATEMENTS_MAX, "statements are not counted");

int rad__flow_error(const rad_flow_file *file, rad_text_place at, rad_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int code = rad__error_at(error, file->file_name, at, format, args);
    va_end(args);
    return code;
}

/* Behind the word: NAME ["about"] { … } */
static void parse_flow(rad_parser *p, rad_flow_tree *tree)
{
    rad__flow_parser(p)->tree = tree;
    rad__flow_parser(p)->run_line = 0;
    tree->about = RAD_NONE;
    tree->place = p->now.place;
    tree->name = rad__parse_expect_name(p, "the name of the flow");
    if (p->now.kind == RAD_LEXEME_TEXT) tree->about = rad__flow_expect_text(p, "a text");
    tree->body.place = p->now.place;
    rad__parse_expect(p, "{", tree->about == RAD_NONE ? "'{' or what the flow is about, a text" : "'{'");
    if (p->status == 0) tree->body.first = rad__flow_parse_statements(p, true);
    tree->body.end = p->now.place;
    if (p->status == 0 && rad__parse_is(p, "}") && tree->body.first == NULL)
        rad__parse_fail(p, p->now.place, "flow '%s' has no statement", rad__flow_symbol_text(p, tree->name));
    rad__parse_expect(p, "}", "a statement, 'data', 'task' or '}'");
}

int rad__flow_read(rad_flow_file *file, const char *file_name, const char *text, size_t size, rad_error *error)
{
    *file = (rad_flow_file){.file_name = file_name};
    rad_parser base = {.file_name = file_name, .symbols = &file->symbols, .arena = &file->arena, .error = error};
    rad_flow_parser all = {.base = base};
    rad_parser *p = &all.base;
    rad__lex_begin(&p->lexer, text, size, "==!=<=>=", true);
    if (size > RAD_FLOW_TEXT_MAX) return rad__error(error, RAD_EINPUT, "%s: a flow file has 1 MiB at most", file_name);
    rad__parse_symbol(p, "", 0); /* what texts begin with */
    if (p->status == 0) rad__parse_advance(p);
    rad_flow_tree **last = &file->flows;
    while (p->status == 0 && (p->now.kind != RAD_LEXEME_END || file->flow_count == 0)) {
        rad__flow_expect_word(p, "flow", "'flow'");
        rad_flow_tree *tree = p->status == 0 ? rad__parse_take(p, 1, sizeof *tree) : NULL;
        if (tree == NULL) break;
        *last = tree;
        last = &tree->next;
        file->flow_count++;
        parse_flow(p, tree);
    }
    return p->status;
}

void rad__flow_file_free(rad_flow_file *file)
{
    for (rad_flow_tree *tree = file->flows; tree != NULL; tree = tree->next) {
        rad__free(tree->variables);
        rad__free(tree->tasks);
    }
    rad__symbols_free(&file->symbols);
    rad__arena_free(&file->arena);
    file->flows = NULL;
    file->flow_count = 0;
}

int rad__flow_find(const rad_flow_file *file, const char *name, rad_flow_tree **out, rad_error *error)
{
    rad_suggest near;
    rad__suggest_begin(&near, name != NULL ? name : "", name != NULL ? strlen(name) : 0);
    for (rad_flow_tree *tree = file->flows; tree != NULL; tree = tree->next) {
        *out = tree;
        if (name == NULL && tree->next == NULL) return 0;
        if (name != NULL && strcmp(rad__flow_name(file, tree->name), name) == 0) return 0;
        rad__suggest_consider(&near, rad__flow_name(file, tree->name));
    }
    *out = NULL;
    return rad__error(error, RAD_EINPUT, "%s: there is no flow '%.100s'%s", file->file_name, name != NULL ? name : "",
                      rad__suggest_or_all(&near));
}
