/* c_tokens.h — C text as tokens, and where functions are defined in it. Two texts with the same tokens are the same
 * program, however their lines are wrapped
 * and commented. */
#ifndef RAD_C_TOKENS_H
#define RAD_C_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

struct c_token {
    const char *at;
    unsigned length;
    bool directive; /* part of a preprocessor directive */
};

struct c_tokens {
    struct c_token *all;
    size_t count;
};

/* Appends the tokens of text[0..size). They point into the text. `=>` is one token, although C has no such operator:
 * lists of planted bugs use it. */
void c_tokens_read(struct c_tokens *tokens, const char *text, size_t size);

bool c_token_is(const struct c_token *token, const char *text);

/* Where b first occurs in a[from..to); `to` if it does not. */
size_t c_tokens_find(const struct c_tokens *a, size_t from, size_t to, const struct c_tokens *b);

/* A definition: tokens [from, to), from its first word to its closing brace. */
struct c_function {
    const struct c_token *name;
    size_t from, to;
};

/* The next definition at or after token *at, which moves behind it. */
bool c_next_function(const struct c_tokens *tokens, size_t *at, struct c_function *function);

#endif
