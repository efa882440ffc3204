/* machine_hello.c — a machine of one's own: two people press one light switch, each after a look.
 *
 *     cc machine_hello.c $(pkg-config --cflags --libs raddle-lab) -o machine_hello && ./machine_hello */
#include <raddle/lab.h>
#include <stdio.h>

static struct lamp { /* the whole state: one instance is enough here */
    uint32_t light, go[2], done;
    bool lit, looked[2], saw[2];
} lamp;

static int create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    (void)m, (void)c, (void)error;
    *self = &lamp;
    return 0;
}

static void destroy(void *self)
{
    (void)self;
}

static void reset(void *self, rad_kernel *k)
{
    struct lamp *l = self;
    *l = (struct lamp){.light = rad_object(k, RAD_NONE, "light")};
    for (int i = 0; i < 2; i++) {
        l->go[i] = rad_action(k, 0, rad_actor(k, RAD_NONE, "person"), RAD_NONE, 0);
        rad_announce(k, l->go[i], 0, l->light, RAD_READ); /* next: site 0, "look at" */
        rad_enable(k, l->go[i]);
    }
}

static void step(void *self, rad_kernel *k, uint32_t action)
{
    struct lamp *l = self;
    int i = action == l->go[1];
    if (!l->looked[i]) {
        l->looked[i] = true;
        l->saw[i] = l->lit;
        rad_announce(k, action, 1, l->light, RAD_WRITE); /* next: site 1, "set" */
    } else {
        l->lit = !l->saw[i];
        rad_disable(k, action);
        rad_ended(k, rad_current_actor(k));
        l->done++;
    }
    rad_value(k, l->lit);
    RAD_CHECK(k, RAD_ORACLE_ASSERT, l->done < 2 || !l->lit, l->light, "pressed twice, still lit");
}

static enum rad_end idle(void *self, rad_kernel *k)
{
    (void)self, (void)k;
    return RAD_END_FINISHED;
}

static const char *site_name(const void *self, uint32_t site)
{
    static const char *const names[] = {"look at", "set"};
    (void)self;
    return site < 2 ? names[site] : NULL;
}

static const rad_machine LAMP = {.name = "lamp",
                                 .about = "two people, one light switch",
                                 .create = create,
                                 .destroy = destroy,
                                 .reset = reset,
                                 .step = step,
                                 .idle = idle,
                                 .bug = "both look before one of them presses",
                                 .bug_site = 1,
                                 .site_name = site_name};

int main(void)
{
    rad_error error = {0};
    rad_target target;
    rad_exploration found = {0};
    rad_shrink_options defaults = {0};
    rad_shrink_report report = {0};
    rad_artifact *small = NULL;
    rad_story *story = NULL;
    rad_explore_options options = {.seed = 1, .stop_on_first = true};
    if (rad_machine_add(&LAMP, &error) != 0 || rad_target_init(&target, "lamp", &error) != 0 ||
        rad_lab_explore(&target, &options, &found, &error) != 0 || found.finding_count == 0 ||
        rad_lab_shrink(found.findings[0].artifact, &defaults, &small, &report, &error) != 0 ||
        rad_lab_story(small, &story, &error) != 0) {
        fprintf(stderr, "machine_hello: %s\n", error.text[0] ? error.text : "nothing found");
        return 1;
    }
    char *text = rad_story_text(story, 80, false, false);
    printf("found in run %llu of %llu\n%s", (unsigned long long)found.findings[0].run, (unsigned long long)found.runs,
           text ? text : "");
    rad_free(text);
    rad_story_free(story);
    rad_artifact_free(small);
    rad_artifact_free(report.second);
    rad_exploration_free(&found);
    return 0;
}
