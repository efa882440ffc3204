/* exports.h — what session.wasm offers: machines that are opened, run for so many rounds, looked at, run on and closed,
 * any number of them at a time; and what it asks of its host: to answer for effects.
 *
 *     vm = rad_wasm_open(text …)          a machine for the protocols of a text
 *     rad_wasm_handle(vm, "quote", 7)     the host's handler number 7 answers for quote
 *     rad_wasm_sessions(vm, NULL, 100)
 *     rad_wasm_run(vm, fuel)              again and again; between runs, whatever is below "What happened"
 *     rad_wasm_close(vm)
 *
 * Numbers and addresses cross the border, nothing else: text is written into memory from rad_wasm_take and read at
 * the address that a call returns, up to the zero. Plain C: the native program of tests/wasm uses the same calls. */
#ifndef RAD_SESSION_WASM_EXPORTS_H
#define RAD_SESSION_WASM_EXPORTS_H

#include <raddle/session.h>

#ifdef __wasm__
#define RAD_WASM_IMPORT(name) __attribute__((import_module("raddle"), import_name(name)))
#else
#define RAD_WASM_IMPORT(name)
#endif

typedef struct rad_wasm_vm rad_wasm_vm;

/* Memory for a text, zeroed; NULL: there is none. */
void *rad_wasm_take(uint32_t size);
void rad_wasm_give_back(void *memory);

/* The text of a random protocol, to be given back; NULL: no memory. */
char *rad_wasm_generate(uint64_t seed);

/* ---- Machines -------------------------------------------------------------------------------------------- */

/* `n` 0 stands for all; with `log` there are traces. NULL: no memory. What is wrong with the text or with an option is
 * in rad_wasm_code and rad_wasm_error; such a machine is closed, and not used otherwise. */
rad_wasm_vm *rad_wasm_open(const char *text, uint32_t size, uint32_t n, uint32_t policy, uint32_t capacity,
                           uint32_t full, uint64_t seed, uint64_t start, uint32_t log);

/* Not from a handler of this machine. */
void rad_wasm_close(rad_wasm_vm *vm);

/* A negative RAD_E… code of the last call that had one, and the text; 0 and "": all is well. */
int rad_wasm_code(const rad_wasm_vm *vm);
const char *rad_wasm_error(const rad_wasm_vm *vm);

/* As rad_session_handle and rad_session_open; NULL likewise. 0 or a code. */
int rad_wasm_handle(rad_wasm_vm *vm, const char *name, uint32_t handler);
int rad_wasm_sessions(rad_wasm_vm *vm, const char *protocol, uint32_t count);

/* So many rounds; 0: to the end. Then, and only then, a run also ends when nothing but handlers that answer *blocked*
 * is left: the host has to do something else before they can answer. An enum rad_session_end, or RAD_WASM_WAITING. */
enum { RAD_WASM_WAITING = RAD_SESSION_NO_MEMORY + 1 };
int rad_wasm_run(rad_wasm_vm *vm, uint64_t fuel);

/* ---- Handlers -------------------------------------------------------------------------------------------- */

/* The host's: an enum rad_effect_result. It must not run or close `vm`, and not leave by an exception. */
RAD_WASM_IMPORT("invoke")
int rad_wasm_invoke(rad_wasm_vm *vm, uint32_t handler, rad_effect *e);

enum rad_wasm_effect_text {
    RAD_WASM_EFFECT_SESSION = 0,
    RAD_WASM_EFFECT_ROLE,
    RAD_WASM_EFFECT_THREAD,
    RAD_WASM_EFFECT_PARTNER, /* or NULL, as the next one */
    RAD_WASM_EFFECT_NAME
};
const char *rad_wasm_effect_text(const rad_effect *e, uint32_t which);

enum rad_wasm_effect_number {
    RAD_WASM_EFFECT_KIND = 0,
    RAD_WASM_EFFECT_OCCURRENCE,
    RAD_WASM_EFFECT_DRAW,
    RAD_WASM_EFFECT_FIELDS,
    RAD_WASM_EFFECT_OPTIONS
};
uint64_t rad_wasm_effect_number(const rad_effect *e, uint32_t which);
rad_session_value *rad_wasm_effect_field(rad_effect *e, uint32_t field);

/* A number for the coroutine that asks, 0 at first: a name for the state that the host keeps for it. */
uint64_t rad_wasm_state(const rad_effect *e);
void rad_wasm_set_state(rad_effect *e, uint64_t state);

const char *rad_wasm_option_name(const rad_effect *e, uint32_t option);
const char *rad_wasm_option_partner(const rad_effect *e, uint32_t option);
uint32_t rad_wasm_option_fields(const rad_effect *e, uint32_t option);
uint32_t rad_wasm_option_type(const rad_effect *e, uint32_t option, uint32_t field);

/* The answer: which message, and then its fields. A text is from rad_wasm_take, and the machine's from here on. */
void rad_wasm_choose(rad_effect *e, uint32_t option);
void rad_wasm_answer_number(rad_effect *e, uint32_t field, uint32_t type, int64_t number);
void rad_wasm_answer_text(rad_wasm_vm *vm, rad_effect *e, uint32_t field, char *text, uint32_t length);

/* The answer is none: the session is faulted, as if a field had another type. */
void rad_wasm_answer_nonsense(rad_effect *e);

/* ---- What happened --------------------------------------------------------------------------------------- */

enum rad_wasm_number {
    RAD_WASM_ROUNDS = 0,
    RAD_WASM_INSTRUCTIONS,
    RAD_WASM_MESSAGES,
    RAD_WASM_EFFECTS,
    RAD_WASM_SESSIONS,
    RAD_WASM_CLOSED,
    RAD_WASM_FAULTED,
    RAD_WASM_COROUTINES, /* of which are ready, blocked, ended; the others have not begun */
    RAD_WASM_READY,
    RAD_WASM_BLOCKED,
    RAD_WASM_ENDED
};

/* Numbers and digest are those of the last rad_wasm_look. */
void rad_wasm_look(rad_wasm_vm *vm);
uint64_t rad_wasm_number(const rad_wasm_vm *vm, uint32_t which);
const char *rad_wasm_digest(const rad_wasm_vm *vm);

/* Until the next call of one of them; NULL: no memory. Session RAD_NONE: all. */
const char *rad_wasm_trace(rad_wasm_vm *vm, uint32_t session, uint32_t normalize);
const char *rad_wasm_report(rad_wasm_vm *vm);

/* Looks at one coroutine, for the calls that follow; 0: there is no such one. */
uint32_t rad_wasm_coroutine(rad_wasm_vm *vm, uint32_t number);

enum rad_wasm_coroutine_text {
    RAD_WASM_COROUTINE_SESSION = 0,
    RAD_WASM_COROUTINE_ROLE,
    RAD_WASM_COROUTINE_THREAD,
    RAD_WASM_COROUTINE_WAITS, /* or NULL, as all that follow */
    RAD_WASM_COROUTINE_FROM,
    RAD_WASM_COROUTINE_TO,
    RAD_WASM_COROUTINE_FAULT
};
const char *rad_wasm_coroutine_text(const rad_wasm_vm *vm, uint32_t which);

enum rad_wasm_coroutine_number {
    RAD_WASM_COROUTINE_PHASE = 0,
    RAD_WASM_COROUTINE_LINE,
    RAD_WASM_COROUTINE_EVENTS,
    RAD_WASM_COROUTINE_EFFECTS,
    RAD_WASM_COROUTINE_REGISTERS
};
uint64_t rad_wasm_coroutine_number(const rad_wasm_vm *vm, uint32_t which);
const rad_session_value *rad_wasm_register(const rad_wasm_vm *vm, uint32_t number);

/* Of a field or a register. */
uint32_t rad_wasm_value_type(const rad_session_value *v);
int64_t rad_wasm_value_number(const rad_session_value *v);
const char *rad_wasm_value_text(const rad_session_value *v);
uint32_t rad_wasm_value_length(const rad_session_value *v);

#endif
