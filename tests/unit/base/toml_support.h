/* toml_support.h — what the tests of the TOML reader share. */
#ifndef RAD_TESTS_TOML_SUPPORT_H
#define RAD_TESTS_TOML_SUPPORT_H

#include "base/toml/toml.h"

/* Parses; the document is fine. */
rad_toml toml_open(const char *text, size_t size);

/* The document is fine and means this: JSON, with `type value` instead of {"type": "type", "value": "value"}. */
void toml_means(const char *text, const char *meaning);
void toml_means_n(const char *text, size_t size, const char *meaning);

/* The document is refused with "t.toml:" and this text, and nothing is left to be freed. */
void toml_refused(const char *text, const char *why);
void toml_refused_n(const char *text, size_t size, const char *why);

/* Whether it is fine; when it is not, the error has a place inside the document. */
bool toml_accepts(const char *text, size_t size);

#endif
