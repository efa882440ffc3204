/* session_ask.c — two fibers that keep to session_ask.session, by functions that `raddle session project --c` has
 * written. The one that answers does so before it was asked if somebody hurried it: the monitor refuses that. */
#define OWN_MAIN
#include "planted.h"

#include "Ask_Asker.h"
#include "Ask_Knower.h"

static Ask session;
static bool fixed, hurried;
static rad_mutex m;
static char mistake[200];

static int asks(void *arg)
{
    Ask_Asker me;
    int64_t answer = 0;
    (void)arg;
    int code = Ask_Asker_begin(&me, &session);
    if (code == 0) code = Ask_Asker_send_question_to_Knower(&me, 6, RAD_FOREVER);
    if (code == 0) code = Ask_Asker_receive_answer_from_Knower(&me, &answer, RAD_FOREVER);
    Ask_Asker_end(&me);
    assert(code != 0 || answer == 42);
    return code;
}

static int knows(void *arg)
{
    Ask_Knower me;
    int64_t question = 6;
    (void)arg;
    int code = Ask_Knower_begin(&me, &session);
    rad_mutex_lock(&m);
    bool waits = fixed || !hurried;
    rad_mutex_unlock(&m);
    if (code == 0 && waits) code = Ask_Knower_receive_question_from_Asker(&me, &question, RAD_FOREVER);
    if (code == 0) code = Ask_Knower_send_answer_to_Asker(&me, 7 * question, RAD_FOREVER);
    if (code == RAD_EPROTOCOL) snprintf(mistake, sizeof mistake, "%s", Ask_Knower_error(&me));
    if (code < 0) Ask_close(&session, code);
    Ask_Knower_end(&me);
    return code;
}

static int hurries(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    hurried = true;
    rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    rad_nursery n;
    (void)arg;
    if (Ask_open(&session, 1) != 0) return 1;
    rad_nursery_open(&n, RAD_FOREVER);
    rad_nursery_go(&n, asks, NULL);
    rad_nursery_go(&n, knows, NULL);
    rad_nursery_go(&n, hurries, NULL);
    int code = rad_nursery_wait(&n);
    Ask_destroy(&session);
    if (mistake[0]) printf("%s\n", mistake);
    return code == 0 ? 0 : 5;
}

int main(int argc, char **argv)
{
    fixed = argc > 1 && strcmp(argv[1], "fixed") == 0;
    return rad_main(NULL, start, NULL, NULL);
}
