/* none.c — a build without llhttp talks to no server: it says so. */
#include "base/error.h"
#include "load/live/live.h"

#include <raddle/load.h>

static int none(rad_error *error)
{
    return rad__error(error, RAD_EINPUT,
                      "this raddle was built without llhttp (Debian: node-llhttp) and runs against "
                      "simulated targets only");
}

int rad__load_live_open(rad__load_engine **engine, const rad__load_live_options *o, char note[200], rad_error *error)
{
    (void)o;
    *engine = NULL;
    if (note != NULL) note[0] = 0;
    return none(error);
}

int rad__load_live_check(const rad__load_scenario *scenario, const char *(*env)(const char *name), rad_error *error)
{
    (void)scenario;
    (void)env;
    (void)error;
    return 0;
}

int rad_load_serve(const rad_load_serve_options *o, uint64_t *served, rad_error *error)
{
    (void)o;
    if (served != NULL) *served = 0;
    return none(error);
}
