/* exports.h — what session.wasm offers: one call that reads a protocol and runs it, and a look at what came of it.
 *
 * Numbers and addresses cross the border, nothing else: text is written into memory from rad_wasm_take and read at
 * the address that a call returns, up to the zero. Plain C: the native program of tests/wasm uses the same calls. */
#ifndef RAD_SESSION_WASM_EXPORTS_H
#define RAD_SESSION_WASM_EXPORTS_H

#include <raddle/session.h>

typedef struct rad_wasm_result rad_wasm_result;

/* Memory for a text, zeroed; NULL: there is none. */
void *rad_wasm_take(uint32_t size);
void rad_wasm_give_back(void *memory);

/* Runs `sessions` of the last protocol in the text for `fuel` rounds (0: to the end). `n` 0 stands for all; with
 * `keep` there is a trace. NULL: no memory. */
rad_wasm_result *rad_wasm_run(const char *text, uint32_t size, uint32_t n, uint32_t policy,
                              uint32_t sessions, uint32_t capacity, uint64_t seed, uint64_t start,
                              uint64_t fuel, uint32_t keep);
void rad_wasm_forget(rad_wasm_result *r);

/* The text of a random protocol, to be given back; NULL: no memory. */
char *rad_wasm_generate(uint64_t seed);

/* An enum rad_session_end, or a negative RAD_E… code: then rad_wasm_error says why. */
int rad_wasm_end(const rad_wasm_result *r);
const char *rad_wasm_error(const rad_wasm_result *r);
const char *rad_wasm_digest(const rad_wasm_result *r);
const char *rad_wasm_trace(const rad_wasm_result *r); /* normalized */
const char *rad_wasm_report(const rad_wasm_result *r);

enum rad_wasm_number {
    RAD_WASM_ROUNDS = 0,
    RAD_WASM_INSTRUCTIONS,
    RAD_WASM_MESSAGES,
    RAD_WASM_EFFECTS,
    RAD_WASM_FAULTED
};
uint64_t rad_wasm_number(const rad_wasm_result *r, uint32_t which);

#endif
