#!/bin/bash
# A recorded run in a program that was edited since: replay --realign, corpus --realign, show.
. "$(dirname "$0")/tap"
. "$(dirname "$0")/user"

# ---- Machines of raddle: the repaired twin is an edited program --------------------------------------
try explore event
try replay event.min.raddle.json --realign
status 1 "realigned on itself"
has out "still fails, as recorded" "nothing has changed"
try replay event.min.raddle.json --realign --repaired
status 0 "realigned on the twin"
check "gone" grep -qx "gone" out
try replay event.min.raddle.json --realign --repaired --json
status 0 "the same for scripts"
is_json out "replay --realign --json"
has out '"answer": "gone"' "the answer"
has out '"because": "the recording has waiter at ' "and why it is not the recorded run"
try replay event.min.raddle.json --output x.raddle.json
status 2 "--output without --realign"
try run event --log e.raddle.log
try replay e.raddle.log --realign
status 2 "a log has no path to follow"

# ---- A document that was edited ------------------------------------------------------------------------
cat >locks.flow <<'END'
flow locks "two locks, in two orders" {
    par {
        run "echo one"
        lock a { run "echo two" lock b { run "echo three" } }
    } and {
        run "echo four"
        lock b { run "echo five" lock a { run "echo six" } }
    }
}
END
edit() { # NAME SED-SCRIPT: an edition of the document
    sed "$2" locks.flow >"$1.flow"
    if cmp -s locks.flow "$1.flow"; then check "the edit $1 changes something" false; fi
    try replay locks.min.raddle.json --realign "$1.flow"
}
try explore locks.flow --runs 1000
status 1 "a workflow with a deadlock"
edit lines '1i # a comment'
status 1 "lines before it"
check "it still fails" grep -qx "still fails" out
has out "7 of 7 recorded found" "though shrinking has left out lines that are still there"
edit statement 's/^    par {/    run "echo zero"\n    par {/'
check "a statement before it, which numbers the branches anew" grep -qx "still fails" out
has out "7 of 7 recorded found" "and all is found"
edit branch 's/^    par {/    par { run "echo nine" } and {/'
check "a branch before the others" grep -qx "still fails" out
edit command 's/"echo two"/"echo deux" run "echo more"/'
check "a command changed, and one more" grep -qx "still fails" out
has out "2 sites renamed" "the changed one is known"
edit order 's/lock b { run "echo five" lock a/lock a { run "echo five" lock b/'
status 0 "the order of the locks mended"
check "gone" grep -qx "gone" out
edit params 's/one/eins/'
try replay locks.min.raddle.json --realign params.flow outcomes=x
status 2 "parameters are checked"
has err "outcomes" "by name"
try replay locks.min.raddle.json --realign order.flow --output no/such/now.raddle.json
status 3 "a file that cannot be written"
try replay locks.min.raddle.json --realign order.flow --output now.raddle.json
try replay now.raddle.json
status 0 "what is written has the document as it is now"
try replay locks.min.raddle.json --realign
has out "document   the recorded one" "without one it is that of the file, and the report says so"
try replay locks.min.raddle.json lines.flow
status 2 "a document without --realign"
has err "a DOCUMENT needs --realign" "says what it takes"
cat >talk.session <<'END'
locals Talk {
  roles A, B
  local A { B -> A: z  A -> B: x }
  local B { A -> B: x  B -> A: z }
}
END
try explore talk.session --runs 20
status 1 "a protocol that gets stuck"
sed '1i # both are silent' talk.session >more.session
try replay talk.min.raddle.json --realign more.session
status 1 "edited elsewhere"
has out "still fails" "it is still stuck"
sed 's/B -> A: z  A -> B: x/A -> B: x  B -> A: z/' talk.session >mended.session
try replay talk.min.raddle.json --realign mended.session
status 0 "the order mended"
check "gone, too" grep -qx "gone" out
try replay talk.min.raddle.json --realign lines.flow
status 2 "a document of another machine"
has err "for machine 'flow', but the run was recorded on 'session'" "and says so"

# ---- Files of before ----------------------------------------------------------------------------------
old=$src/tests/fixtures/artifact-1.raddle.json
hasnt "$old" '"path"' "a file of version 1 has no path"
try replay "$old" --realign --output new.raddle.json
status 0 "where it behaves as recorded it can be realigned"
has out "passes, as recorded" "and is what it was"
has new.raddle.json '"path": {' "what is written then has one"
try replay new.raddle.json
status 0 "and replays"
cat >back.raddle.json <<'END'
{"schema_version": 1, "build": {"version": "0.1.0", "git_sha": "1c92a6b4fa85", "compiler": "gcc 12.2.0"}, "machine": "crash", "case": {"repaired": false, "params": {"n": 2}, "max_steps": 0}, "policy": "random", "seed": 1, "expect": "pass", "failure": null, "steps": 5, "decisions": 6, "choices": [1, 0, 1, 0, 1, 1], "set_hashes": [], "expected_trace_hash": "86d999da2ce26c741ccdf3dee58d1d8d", "checksum": "3e75aec0a2f357d135bdf2214772cb97"}
END
try replay back.raddle.json --realign
status 2 "where it does not, it cannot"
has err "the artifact has no path" "and the message says what is missing"
mkdir before && mv back.raddle.json before
try corpus before --realign
status 1 "in a corpus such a file is stale"
has out "STALE" "and listed"

# ---- A program of the user's, in four editions --------------------------------------------------------
library=$build/libraddle-lab.so
if [ ! -f "$library" ] || is_sanitized "$library"; then
    skip "a program that is edited" "no shared library without sanitizers"
    finish
fi
cat >till.c <<'END'
#include <raddle/lab.h>
#include <stdlib.h>

/* Two clerks sell the last seat, each after a look. */
#if EDIT == 0
enum { LOOK, SELL, SITES };
static const char *const names[] = {"look", "sell"};
static const int plans[2][4] = {{LOOK, SELL, -1}, {LOOK, SELL, -1}};
#elif EDIT == 1 /* a step added, and a guard before the clerks */
enum { GREET, LOOK, SELL, WATCH, SITES };
static const char *const names[] = {"greet", "look", "sell", "watch"};
static const int plans[2][4] = {{GREET, LOOK, SELL, -1}, {GREET, LOOK, SELL, -1}};
#elif EDIT == 2 /* the bug fixed: look and sell at once */
enum { BOTH, SELL = -2, LOOK = -3, SITES = 1 };
static const char *const names[] = {"look and sell"};
static const int plans[2][4] = {{BOTH, -1}, {BOTH, -1}};
#else /* the second clerk is at lunch: whether the bug is gone nobody knows */
enum { LOOK, SELL, LUNCH, SITES };
static const char *const names[] = {"look", "sell", "lunch"};
static const int plans[2][4] = {{LOOK, SELL, -1}, {LUNCH, -1}};
#endif

struct till {
    uint32_t office, go[3];
    int at[2], left, saw[2];
};

static int create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m, (void)c, (void)error;
    *self = calloc(1, sizeof(struct till));
    return *self ? 0 : RAD_ENOMEM;
}

static void reset(void *self, rad_kernel *k)
{
    struct till *t = self;
    *t = (struct till){.left = 1};
    t->office = rad_object(k, RAD_NONE, "office");
#if EDIT == 1
    t->go[2] = rad_action(k, 0, rad_actor(k, RAD_NONE, "person"), RAD_NONE, 0);
    rad_announce(k, t->go[2], WATCH, t->office, RAD_READ);
    rad_enable(k, t->go[2]);
#endif
    for (int i = 0; i < 2; i++) {
        t->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "person"), RAD_NONE, 0);
        rad_announce(k, t->go[i], (uint32_t)plans[i][0], t->office, RAD_WRITE);
        rad_enable(k, t->go[i]);
    }
}

static void step(void *self, rad_kernel *k, uint32_t action)
{
    struct till *t = self;
    int i = t->go[0] == action ? 0 : 1;
#if EDIT == 1
    if (action == t->go[2]) {
        rad_disable(k, action);
        return;
    }
#endif
    int what = plans[i][t->at[i]++], next = plans[i][t->at[i]];
#if EDIT == 2
    if (what == BOTH && t->left > 0) t->left--;
#endif
    if (what == LOOK) t->saw[i] = t->left > 0;
    if (what == SELL && t->saw[i]) t->left--;
    RAD_CHECK(k, RAD_ORACLE_ASSERT, t->left >= 0, t->office, "sold twice");
    if (next < 0) {
        rad_disable(k, action);
        rad_ended(k, rad_current_actor(k));
    } else {
        rad_announce(k, action, (uint32_t)next, t->office, RAD_WRITE);
    }
}

static enum rad_end idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const char *site_name(const void *self, uint32_t site)
{
    (void)self;
    return site < SITES ? names[site] : NULL;
}

static const rad_machine TILL = {.name = "till", .about = "a seat", .bug_site = RAD_NONE, .create = create,
                                 .destroy = free, .reset = reset, .step = step, .idle = idle, .site_name = site_name};

int main(int argc, char **argv)
{
    static const rad_machine *const machines[] = {&TILL, NULL};
    return rad_lab_main(argc, argv, machines);
}
END
for edit in 0 1 2 3; do
    compiles "edition $edit" "$library" ${CC:-cc} -std=gnu11 -O1 -DEDIT=$edit till.c -o till$edit
done
try explore ./till0 till
status 1 "the first edition has a bug"
try replay till.min.raddle.json -- ./till1
status 1 "the choices alone do not survive the edit"
has out "differs: expected assertion:office@t->left >= 0 at step 3, found pass" "they lead elsewhere"
try replay till.min.raddle.json --realign --output now.raddle.json -- ./till1
status 1 "a step and an actor added"
has out "still fails" "the bug is still there"
check "where the runs part" grep -q "^  differs    at step 0: the recording has .* at 'look' (step 0), but it is at 'greet'" out
check "where they come together" grep -q "^  again      in step from step 1 on: .* at 'look' (step 0 of the recording)" out
check "what was found" grep -q "^  steps      4 of 4 recorded found (0 late), 2 new, 0 sites renamed$" out
try replay now.raddle.json -- ./till1
status 0 "--output has the run as it is now"
silent "replay of --output"
try show till.min.raddle.json -- ./till1
status 1 "show of a run that is another one now"
check "says so" grep -q "^not the recorded run: " out
try replay till.min.raddle.json --realign -- ./till2
status 0 "the bug fixed"
check "is gone" grep -qx "gone" out
try replay till.min.raddle.json --realign -- ./till3
status 1 "a way that is not taken any more"
check "diverged, and why" \
    grep -q "^diverged at step [0-9]* because the recording has .* at 'look' (step .), but it is at 'lunch'" out
has out "whether the failure is gone is not known" "and what that means"

# ---- The corpus ------------------------------------------------------------------------------------------
mkdir corpus && cp till.min.raddle.json corpus
try corpus corpus -- ./till1
status 1 "corpus without --realign"
has out "DIFFERS" "only sees that it differs"
try corpus corpus --realign -- ./till1
status 0 "corpus --realign"
has out "realigned  corpus/till.min.raddle.json: still fails; 4 of 4 recorded steps found, 2 new" "what still holds"
has out "1 realigned, 0 stale" "the sum"
try corpus corpus --realign -- ./till2
status 1 "the bug fixed"
has out "DIFFERS    corpus/till.min.raddle.json: gone" "differs: it is gone"
try corpus corpus --realign -- ./till3
status 1 "a way that is not taken any more"
has out "STALE      corpus/till.min.raddle.json: diverged at step" "is stale"
try corpus corpus --realign --json -- ./till3
is_json out "corpus --realign --json"
has out '"stale": 1' "for scripts"
cp -r corpus moved
try corpus moved --realign --accept -- ./till1
status 0 "corpus --realign --accept"
try corpus moved -- ./till1
status 0 "what still holds is written as it is now"
has out "fails as recorded" "and fails as recorded"
try corpus corpus --realign --accept -- ./till2
status 0 "corpus --realign --accept of what is gone"
try corpus corpus -- ./till2
status 0 "is expected to pass from then on"
has out "passes as recorded" "and does"
finish
