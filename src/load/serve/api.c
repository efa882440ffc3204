/* api.c — the small server for programs: rad_load_serve. */
#include "base/error.h"
#include "load/serve/serve.h"

#include <raddle/load.h>

#include <stdio.h>

int rad_load_serve(const rad_load_serve_options *o, uint64_t *served, rad_error *error)
{
    char port[8];
    struct rad__load_point points[] = {{0, o->latency_low_ns}, {RAD__LOAD_PPM, o->latency_high_ns}};
    rad__load_serve *serve;
    rad__error_clear(error);
    if (served != NULL) *served = 0;
    if (o->port > 65535) return rad__error(error, RAD_EINPUT, "port: %u; at most 65535", o->port);
    if (o->latency_low_ns > o->latency_high_ns || (o->stall_ns != 0 && o->stall_ns >= o->stall_every_ns))
        return rad__error(error, RAD_EINPUT, "latency or stall: the lower bound is above the upper one");
    snprintf(port, sizeof port, "%u", o->port);
    rad__load_serve_options with = {.host = o->host,
                                    .port = o->port != 0 ? port : NULL,
                                    .latency = {o->latency_high_ns > 0 ? 2 : 0, points},
                                    .error_ppm = o->error_ppm,
                                    .stall_every_ns = o->stall_every_ns,
                                    .stall_ns = o->stall_ns,
                                    .body_bytes = o->body_bytes,
                                    .requests_per_connection = o->requests_per_connection,
                                    .misbehave = o->misbehave,
                                    .seed = o->seed};
    int result = rad__load_serve_open(&serve, &with, error);
    if (result != 0) return result;
    if (o->listening != NULL) o->listening(o->context, rad__load_serve_port(serve));
    result = rad__load_serve_run(serve, o->stop, error);
    if (served != NULL) *served = rad__load_serve_count(serve);
    rad__load_serve_close(serve);
    return result;
}
