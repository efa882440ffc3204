/* stream.h — the calls that a machine makes, as records between two processes: the machine's, and the kernel's.
 *
 *     kernel's process                        machine's process
 *     RESET, STEP action, IDLE   ---------->  does it, and meanwhile …
 *                                <----------  ACTOR, ENABLE, ANNOUNCE, …: to be called on the kernel, in order
 *                                <----------  PICK: waits for …
 *     PICKED value               ---------->
 *                                <----------  DONE: it has been done (of IDLE: the answer)
 *
 * Both processes are of one build: hello.h checks that. A process that has died is the end of its stream. */
#ifndef RAD_LAB_PROGRAMS_STREAM_H
#define RAD_LAB_PROGRAMS_STREAM_H

#include "base/bytes.h"

/* Calls told of one operation. */
enum { RAD_STREAM_AT_MOST = 4 };

/* It waits, it has failed, it has failed because its stack is full. */
enum rad_stream_stack { RAD_STACK_WAITS = 0, RAD_STACK_FAILED, RAD_STACK_FULL };

enum rad_stream_what {
    /* To the machine. */
    RAD_STREAM_RESET = 1,
    /* a: the action, b: 1: a debugger is to stop in it, c: 0, or it hangs: ms of CPU time until it says where */
    RAD_STREAM_STEP,
    RAD_STREAM_IDLE,
    RAD_STREAM_PICKED, /* a: the value */
    RAD_STREAM_ROUND,  /* a: 1: of the whole state. Answers STATE; DONE with a: it is known */
    /* To the kernel. */
    RAD_STREAM_ACTOR,     /* a: spawner; text: role */
    RAD_STREAM_OBJECT,    /* a: creator; text: role */
    RAD_STREAM_ACTION,    /* a: kind, b: actor */
    RAD_STREAM_ENABLE,    /* a: action */
    RAD_STREAM_DISABLE,   /* a: action */
    RAD_STREAM_ANNOUNCE,  /* a: action, b: site, c: object, value: access */
    RAD_STREAM_PICK,      /* a: kind, b: site, c: count */
    RAD_STREAM_TOUCH,     /* a: object, b: access */
    RAD_STREAM_NOTE,      /* a: kind, b: object, value */
    RAD_STREAM_YIELDS,    /* a: 1: rad__yields_fairly */
    RAD_STREAM_WAIT,      /* a: actor, b: object, c: holder */
    RAD_STREAM_ENDED,     /* a: actor */
    RAD_STREAM_EVALUATED, /* a: oracle */
    RAD_STREAM_SAW,       /* value: what a step saw that changed nothing */
    RAD_STREAM_RACE,      /* lab/race.c */
    RAD_STREAM_FAIL,      /* a: oracle, b: object, c: bytes of the site; text: the site, the message */
    RAD_STREAM_CALLED,    /* a: object; text: a name of its own */
    /* Where in the code: c: module, value: offset in it; RAD_NONE: not known. */
    RAD_STREAM_MODULE,   /* a: its number, the next one; text: its path, "" for the program */
    RAD_STREAM_MADE,     /* a: object: the call that made it */
    RAD_STREAM_STARTED,  /* a: actor: the call that started it */
    RAD_STREAM_AT,       /* a: actor: the call that it is about to make, or waits in; b: 0, or how far out */
    RAD_STREAM_SELECTED, /* a: what rad_select returns, in the step that is made */
    RAD_STREAM_STACK,    /* a: actor, b: enum rad_stream_stack. Its calls follow, the innermost first */
    RAD_STREAM_FRAME,    /* text: the function's name, if it is known */
    RAD_STREAM_STATE,    /* value: a hash of the state */
    RAD_STREAM_STUCK,    /* a: oracle; text: the actors, and why they wait in vain: "3 4 Nothing …" */
    RAD_STREAM_ERROR,    /* value: code; text */
    RAD_STREAM_DONE      /* a: of IDLE an enum rad_end */
};

enum { RAD_STREAM_TEXT_MAX = 2048 };

typedef struct rad_record {
    uint32_t what, a, b, c;
    int64_t value;
    uint64_t text_size;
} rad_record;

typedef struct rad_call_stream {
    int in, out;
    rad_bytes written;                  /* and not sent yet */
    char text[RAD_STREAM_TEXT_MAX + 1]; /* of the record that was read last, with a 0 behind */
} rad_call_stream;

/* Texts that are too long are cut. */
RAD_INTERNAL void rad__stream_put(rad_call_stream *s, const rad_record *r, const char *text);

/* Sends what was put. False: nobody reads it, or there is no memory. */
RAD_INTERNAL bool rad__stream_send(rad_call_stream *s);

/* The next record; its text is in s->text. False: the stream has ended, or is none. */
RAD_INTERNAL bool rad__stream_get(rad_call_stream *s, rad_record *r);

RAD_INTERNAL void rad__stream_close(rad_call_stream *s);

#endif
