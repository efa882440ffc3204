/* c_tokens.c — a tokenizer for C, and a scanner for function definitions. */
#define _GNU_SOURCE
#include "c_tokens.h"

#include "tidy_source.h"

#include <ctype.h>
#include <string.h>

/* ---- Tokens --------------------------------------------------------------------------------------- */

/* Longer ones first: the first that fits is taken. */
static const char *const punctuators[] = {"<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
                                          "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "^=", "|=", "##", "=>"};

static size_t literal_length(const char *text, size_t size)
{
    size_t i = 1;
    while (i < size && text[i] != text[0] && text[i] != '\n') i += text[i] == '\\' && i + 1 < size ? 2 : 1;
    return i < size && text[i] == text[0] ? i + 1 : i;
}

/* A number as the preprocessor sees it: 1.5e-3, 0x1p+4, 10u. */
static size_t number_length(const char *text, size_t size)
{
    size_t i = 1;
    while (i < size) {
        bool sign = (text[i] == '+' || text[i] == '-') && strchr("eEpP", text[i - 1]);
        bool hex = text[0] == '0' && size > 1 && (text[1] == 'x' || text[1] == 'X');
        if (sign && hex && (text[i - 1] == 'e' || text[i - 1] == 'E')) sign = false; /* 0xe+1 is a sum */
        if (!sign && !tidy_is_word_char(text[i]) && text[i] != '.') break;
        i++;
    }
    return i;
}

static size_t token_length(const char *text, size_t size)
{
    if (*text == '"' || *text == '\'') return literal_length(text, size);
    if (isdigit((unsigned char)*text) || (*text == '.' && size > 1 && isdigit((unsigned char)text[1])))
        return number_length(text, size);
    size_t length = 0;
    while (length < size && tidy_is_word_char(text[length])) length++;
    if (length > 0) return length;
    for (size_t i = 0; i < sizeof punctuators / sizeof *punctuators; i++) {
        size_t n = strlen(punctuators[i]);
        if (n <= size && memcmp(text, punctuators[i], n) == 0) return n;
    }
    return 1;
}

/* What is between tokens, but for white space: a comment, or a line that goes on. 0: neither. */
static size_t gap_length(const char *text, size_t size)
{
    if (size < 2) return 0;
    if (text[0] == '\\' && text[1] == '\n') return 2;
    if (text[0] != '/' || (text[1] != '*' && text[1] != '/')) return 0;
    const char *end = text[1] == '*' ? memmem(text + 2, size - 2, "*/", 2) : memchr(text, '\n', size);
    return end ? (size_t)(end - text) + (text[1] == '*' ? 2 : 0) : size;
}

static void append(struct c_tokens *tokens, struct c_token token)
{
    if ((tokens->count & (tokens->count - 1)) == 0) /* full at each power of two */
        tokens->all = tidy_grow(tokens->all, 2 * tokens->count, sizeof *tokens->all);
    tokens->all[tokens->count++] = token;
}

void c_tokens_read(struct c_tokens *tokens, const char *text, size_t size)
{
    bool directive = false, line_begins = true;
    for (size_t i = 0, gap; i < size;) {
        if ((gap = gap_length(text + i, size - i)) > 0) {
            i += gap;
        } else if (isspace((unsigned char)text[i])) {
            if (text[i] == '\n') directive = false, line_begins = true;
            i++;
        } else {
            if (line_begins && text[i] == '#') directive = true;
            line_begins = false;
            size_t length = token_length(text + i, size - i);
            append(tokens, (struct c_token){text + i, (unsigned)length, directive});
            i += length;
        }
    }
}

bool c_token_is(const struct c_token *token, const char *text)
{
    return strlen(text) == token->length && memcmp(token->at, text, token->length) == 0;
}

static bool same(const struct c_token *a, const struct c_token *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

size_t c_tokens_find(const struct c_tokens *a, size_t from, size_t to, const struct c_tokens *b)
{
    for (size_t i = from; i + b->count <= to; i++) {
        size_t n = 0;
        while (n < b->count && same(&a->all[i + n], &b->all[n])) n++;
        if (n == b->count) return i;
    }
    return to;
}

/* ---- Functions ------------------------------------------------------------------------------------ */

/* The token behind the one that closes the bracket at `at`. Directives inside are passed over. */
static size_t behind_bracket(const struct c_tokens *tokens, size_t at, const char *open, const char *close)
{
    size_t depth = 0;
    for (size_t i = at; i < tokens->count; i++) {
        const struct c_token *t = &tokens->all[i];
        if (t->directive) continue;
        if (c_token_is(t, open)) depth++;
        if (c_token_is(t, close) && --depth == 0) return i + 1;
    }
    return tokens->count;
}

bool c_next_function(const struct c_tokens *tokens, size_t *at, struct c_function *function)
{
    size_t from = *at;
    for (size_t i = *at; i < tokens->count;) {
        const struct c_token *t = &tokens->all[i];
        if (t->directive || c_token_is(t, ";") || c_token_is(t, "}")) {
            from = ++i;
        } else if (c_token_is(t, "(") && i > from) {
            size_t behind = behind_bracket(tokens, i, "(", ")");
            if (behind < tokens->count && c_token_is(&tokens->all[behind], "{")) {
                *at = behind_bracket(tokens, behind, "{", "}");
                *function = (struct c_function){.name = t - 1, .from = from, .to = *at};
                return true;
            }
            i = behind;
        } else if (c_token_is(t, "{") && (i == 0 || t[-1].at[0] != '"')) { /* a type, a table; not extern "C" */
            i = behind_bracket(tokens, i, "{", "}");
        } else {
            i++;
        }
    }
    *at = tokens->count;
    return false;
}
