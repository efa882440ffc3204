/* parts.h — a runner from inside; run.h has what others may know. */
#ifndef RAD_FLOW_RUN_PARTS_H
#define RAD_FLOW_RUN_PARTS_H

#include "base/map64.h"
#include "flow/journal/journal.h"
#include "flow/run/run.h"
#include "flow/run/shim.h"
#include "flow/run/timers.h"

enum rad_flow_effect_state {
    RAD_EFFECT_ASKED = 0, /* in the queue */
    RAD_EFFECT_RUNNING,   /* begun, by this runner or another */
    RAD_EFFECT_PROBED,    /* in doubt; its probe runs */
    RAD_EFFECT_STOPPING,  /* begun; nobody wants it any more */
    RAD_EFFECT_DOUBTED,   /* nobody can tell, and nobody has said */
    RAD_EFFECT_OVER
};

/* One per key; a retry is the next attempt of the same. */
typedef struct rad_flow_effect {
    char *key;
    uint32_t task, attempt;
    enum rad_flow_effect_state state;
    uint32_t begun_attempt, begun_run; /* of the last STARTED record; 0: none */
    uint32_t probe;                    /* number of the last one */
    bool unsure;                       /* begun by an earlier runner: its shim may never have come to life */
    bool told;                         /* it was asked to end */
    int pid;                           /* of the shim, if it was launched from here */
    uint64_t since_ns;
    char **values; /* "NAME=text", ends with NULL: the data as they were asked for */
    uint32_t value_count;
    char instance[RAD_FLOW_INSTANCE_MAX]; /* of many, for people */
} rad_flow_effect;

typedef struct rad_flow_runner {
    const rad_flow_host *host;
    const rad_flow_program *program;
    const rad_flow_run_options *options;
    rad_flow_case *c;
    rad_crc32 crc;
    int lock, journal; /* files; negative: not open */
    rad_bytes room;    /* a record */
    uint64_t sequence;
    uint64_t size; /* of the journal, as this runner has left it; UINT64_MAX: not known */
    bool dirty;    /* something was appended since the last sync */
    uint64_t dirty_since_ns;
    uint64_t clock_ns; /* of the last record: timers begin there, also when computed again */
    char case_id[64];
    char *where; /* the folder of its commands, whichever runner continues it; NULL: that of the runner */
    bool replaying;

    rad_flow_effect *effects;
    uint32_t effect_count, effect_capacity;
    rad_map64 by_key;
    uint32_t *queue; /* numbers of effects, in order; some are no longer asked for */
    uint32_t queue_first, queue_count, queue_capacity;
    uint32_t *active; /* numbers of those that are begun and not over, in order */
    uint32_t active_count, active_capacity;

    rad_flow_timers timers;

    rad_map64 known;                  /* ids of the effects that have a STARTED record */
    rad_map64 seen;                   /* what was taken from the spool */
    char (*taken)[RAD_FLOW_FILE_MAX]; /* files of it that can go after the next sync */
    uint32_t taken_count, taken_capacity;
    uint64_t spool_looked_ns;

    bool ended; /* the journal has its END */
    rad_flow_record end;
    char end_text[512];
    uint64_t done_count, failed_count;
} rad_flow_runner;

/* ---- Journal (journal.c) ----------------------------------------------------------------------- */

/* Sequence and time are filled in. */
RAD_INTERNAL int rad__flow_runner_put(rad_flow_runner *r, rad_flow_record *record, rad_error *error);
/* RAD_EIO: the journal is no longer the file this runner holds, or not as it has left it: it begins nothing more. */
RAD_INTERNAL int rad__flow_runner_check(rad_flow_runner *r, rad_error *error);
/* Everything so far is durable, and checked as above; then what it came from may go. */
RAD_INTERNAL int rad__flow_runner_sync(rad_flow_runner *r, rad_error *error);

/* Journalled, then fed. */
RAD_INTERNAL int rad__flow_runner_feed(rad_flow_runner *r, const rad_flow_input *input, const char *id,
                                       rad_error *error);

/* ---- Effects (effects.c) ----------------------------------------------------------------------- */

/* The one of that key, new or not; NULL: no memory. */
RAD_INTERNAL rad_flow_effect *rad__flow_effect_of(rad_flow_runner *r, const char *key);
RAD_INTERNAL void rad__flow_effects_free(rad_flow_runner *r);

/* What the case asked for since the last time. */
RAD_INTERNAL int rad__flow_take_asks(rad_flow_runner *r, rad_error *error);

/* After a replay: what was begun is not begun again. */
RAD_INTERNAL int rad__flow_adopt(rad_flow_runner *r, rad_error *error);

/* As many of the queue as may run: one sync for all, then they are launched. *any: something happened. */
RAD_INTERNAL int rad__flow_start_some(rad_flow_runner *r, bool *any, rad_error *error);

/* Looks at everything that was begun. */
RAD_INTERNAL int rad__flow_look_at_effects(rad_flow_runner *r, bool *any, rad_error *error);
RAD_INTERNAL uint32_t rad__flow_count(const rad_flow_runner *r, enum rad_flow_effect_state state);

/* Its shim runs `command`; takes care of values, time and output. */
RAD_INTERNAL int rad__flow_launch(rad_flow_runner *r, rad_flow_effect *e, const char *id, const char *command,
                                  rad_error *error);

/* ---- Doubt (doubt.c) --------------------------------------------------------------------------- */

/* Begun, no receipt, and the process that began it is dead. */
RAD_INTERNAL int rad__flow_doubt(rad_flow_runner *r, rad_flow_effect *e, rad_error *error);
/* Everything the user wants to settle is in doubt. After the adoption. */
RAD_INTERNAL int rad__flow_check_answers(rad_flow_runner *r, rad_error *error);
RAD_INTERNAL int rad__flow_look_at_probe(rad_flow_runner *r, rad_flow_effect *e, bool *any, rad_error *error);

/* ---- Results (result.c) ------------------------------------------------------------------------ */

/* What a receipt means to the case, journalled and fed. */
RAD_INTERNAL int rad__flow_give_receipt(rad_flow_runner *r, rad_flow_effect *e, const rad_flow_receipt *receipt,
                                        rad_error *error);
/* The task is a registered function: calls it. */
RAD_INTERNAL int rad__flow_give_call(rad_flow_runner *r, rad_flow_effect *e, rad_error *error);
/* Whether the text is a value of that type. */
RAD_INTERNAL bool rad__flow_fits(enum rad_flow_type type, const char *text, size_t length);

/* ---- Time, signals (events.c) ------------------------------------------------------------------ */

RAD_INTERNAL int rad__flow_timer_add(rad_flow_runner *r, const char *key, const rad_flow_ask *ask, rad_error *error);
RAD_INTERNAL int rad__flow_look_at_timers(rad_flow_runner *r, bool *any, rad_error *error);
RAD_INTERNAL int rad__flow_look_at_spool(rad_flow_runner *r, bool *any, rad_error *error);
RAD_INTERNAL bool rad__flow_note_seen(rad_flow_runner *r, const char *id); /* false: no memory */
RAD_INTERNAL bool rad__flow_was_seen(const rad_flow_runner *r, const char *id);

/* ---- Replay (replay.c) ------------------------------------------------------------------------- */

/* Feeds the case what is in the journal, up to its last whole record. */
RAD_INTERNAL int rad__flow_replay(rad_flow_runner *r, rad_flow_journal *j, rad_error *error);
/* Whether a process has begun what the journal does not know: then it has lost records. */
RAD_INTERNAL int rad__flow_check_effects(rad_flow_runner *r, rad_error *error);

/* ---- Life (run.c) ---------------------------------------------------------------------------------- */

/* The case as the header has it. */
RAD_INTERNAL int rad__flow_runner_open(rad_flow_runner *r, const rad_flow_host *host, const rad_flow_program *p,
                                       const rad_flow_run_options *o, const rad_flow_journal_header *h,
                                       rad_error *error);
RAD_INTERNAL void rad__flow_runner_close(rad_flow_runner *r);

RAD_INTERNAL void rad__flow_tell(rad_flow_runner *r, enum rad_flow_news news, const rad_flow_effect *e,
                                 const char *text, uint64_t took_ns);

static inline const rad_flow_task *rad__flow_task_of(const rad_flow_runner *r, const rad_flow_effect *e)
{
    return &r->program->tree->tasks[e->task];
}

#endif
