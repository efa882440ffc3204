/* os.c — the host of production: the operating system. */
#include "base/alloc.h"
#include "base/error.h"
#include "flow/run/run.h"
#include "flow/run/shim.h"
#include "os/append.h"
#include "os/clock.h"
#include "os/command.h"
#include "os/detach.h"
#include "os/durable.h"
#include "os/folder_watch.h"
#include "os/host_info.h"
#include "os/process.h"

#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 4096, LOOK_OFTEN_NS = 20000000 };
#define FILE_BYTES_MAX (UINT64_C(1) << 40)

typedef struct os_host {
    rad_os_folder folder; /* opened when it is first needed: it may have to be made */
    bool unsynced;        /* the user said so: whatever wants to be durable is taken at its word */
    int notice;           /* negative: not open yet */
    bool looks_often;     /* there is none to be had */
    int *children;
    uint32_t child_count, child_capacity;
    rad_os_command shell; /* of a shim */
} os_host;

/* The folder, open; NULL: it is not there, or an error, and *code is which. */
static const rad_os_folder *folder_of(void *host, int *code, rad_error *error)
{
    os_host *h = host;
    *code = rad__os_folder_open(&h->folder, error);
    if (*code == 1) *code = 0;
    return h->folder.fd >= 0 ? &h->folder : NULL;
}

/* For those who cannot do without. */
static const rad_os_folder *need_folder(void *host, int *code, rad_error *error)
{
    const rad_os_folder *f = folder_of(host, code, error);
    if (f == NULL && *code == 0)
        *code = rad__error(error, RAD_EINPUT, "%s: no such directory", ((os_host *)host)->folder.path);
    return f;
}

/* ---- Files ---------------------------------------------------------------------------------------------- */

/* The folder's own name is durable as well. */
static int os_make_folder(void *host, const char *name, rad_error *error)
{
    os_host *h = host;
    int made = rad__os_folder_make(&h->folder, name, error);
    if (made <= 0) return made;
    return rad__os_sync_folder(&h->folder, name[0] != 0 ? "" : "..", error);
}

static int os_check_folder(void *host, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_folder_check(f, name, error);
}

static int os_create(void *host, int *file, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_create(file, f, name, error);
}

static int os_open_end(void *host, int *file, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_open_end(file, f, name, error);
}

static int os_put(void *host, int file, const void *data, size_t size, rad_error *error)
{
    return rad__os_put(file, ((os_host *)host)->folder.path, data, size, error);
}

static int os_cut(void *host, int file, uint64_t size, rad_error *error)
{
    return rad__os_cut(file, ((os_host *)host)->folder.path, size, error);
}

static int os_sync(void *host, int file, rad_error *error)
{
    const os_host *h = host;
    return h->unsynced ? 0 : rad__os_sync(file, h->folder.path, error);
}

static void os_close(void *host, int file)
{
    (void)host;
    rad__os_close(file);
}

static int os_sync_folder(void *host, const char *name, rad_error *error)
{
    int code;
    if (((const os_host *)host)->unsynced) return 0;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_sync_folder(f, name, error);
}

static int os_rename(void *host, const char *from, const char *to, rad_error *error)
{
    int code;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_rename_in(f, from, to, error);
}

static int os_link(void *host, const char *from, const char *to, rad_error *error)
{
    int code;
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_link_in(f, from, to, error);
}

static int os_remove(void *host, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = folder_of(host, &code, error);
    return f == NULL ? code : rad__os_remove_in(f, name, error);
}

static int os_read(void *host, const char *name, char **data, size_t *size, rad_error *error)
{
    int code;
    const rad_os_folder *f = folder_of(host, &code, error);
    return f == NULL ? code : rad__os_read_in(f, name, FILE_BYTES_MAX, data, size, error);
}

static int os_read_open(void *host, int file, char **data, size_t *size, rad_error *error)
{
    const char *path = ((os_host *)host)->folder.path;
    return rad__os_read_open(file, path, FILE_BYTES_MAX, data, size, error);
}

static int os_list(void *host, const char *name, rad_os_names *names, rad_error *error)
{
    int code;
    *names = (rad_os_names){0};
    const rad_os_folder *f = need_folder(host, &code, error);
    return f == NULL ? code : rad__os_folder_list(f, name, names, error);
}

static int os_exists(void *host, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = folder_of(host, &code, error);
    return f == NULL ? code : rad__os_is_in(f, name, error);
}

static int os_is_file(void *host, int file, const char *name, uint64_t *size, rad_error *error)
{
    int code;
    const rad_os_folder *f = folder_of(host, &code, error);
    return f == NULL ? code : rad__os_is_file(file, f, name, size, error);
}

static int os_lock(void *host, int file, rad_error *error)
{
    return rad__os_lock_file(file, ((os_host *)host)->folder.path, error);
}

static int os_holder(void *host, const char *name, rad_error *error)
{
    int code;
    const rad_os_folder *f = folder_of(host, &code, error);
    return f == NULL ? (code < 0 ? code : RAD_OS_NO_FILE) : rad__os_holder(f, name, error);
}

/* ---- Shims, from the runner's side ----------------------------------------------------------------------- */

struct child {
    os_host *h;
    rad_flow_shim *shim;
};

static void os_table(rad_flow_host *host, os_host *h);

/* The child's own process: what it has of the runner is a copy. */
static int be_a_shim(void *context)
{
    struct child *c = context;
    rad_flow_host host;
    os_table(&host, c->h);
    c->h->shell = (rad_os_command){.pid = -1, .output = -1, .signals = -1};
    c->h->notice = -1;
    while (rad__flow_shim_step(c->shim, &host)) continue;
    return 0;
}

static int os_launch(void *host, rad_flow_shim *shim, int *pid, rad_error *error)
{
    os_host *h = host;
    struct child c = {h, shim};
    int code = RAD_GROW(&h->children, &h->child_capacity, h->child_count + 1)
                   ? rad__os_detach(pid, h->folder.fd, &c, be_a_shim, error)
                   : rad__error_memory(error);
    if (code == 0) h->children[h->child_count++] = *pid;
    rad__flow_shim_free(shim);
    return code;
}

static bool os_is_running(void *host, int pid)
{
    os_host *h = host;
    rad_os_exit end;
    for (uint32_t i = 0; i < h->child_count; i++) {
        if (h->children[i] != pid) continue;
        if (rad__os_wait(pid, false, &end, NULL) == 0) return true;
        h->children[i] = h->children[--h->child_count];
        return false;
    }
    return false;
}

/* A process that nobody waits for stays in the system's table. */
static void reap(os_host *h)
{
    for (uint32_t i = h->child_count; i-- > 0;) os_is_running(h, h->children[i]);
}

static int notice(const os_host *h, const char *name)
{
    char path[PATH_ROOM];
    rad_error error = {0};
    int length = snprintf(path, sizeof path, "%s/%s", h->folder.absolute, name);
    return length < PATH_ROOM ? rad__os_folder_watch_add(h->notice, path, &error) : RAD_EINPUT;
}

static int open_notice(os_host *h)
{
    rad_error error = {0};
    int code = rad__os_folder_watch_open(&h->notice, &error);
    if (code == 0) code = notice(h, "effects");
    return code != 0 ? code : notice(h, "signals");
}

/* The first wait only begins to watch: what happened before is looked for once more. Whoever has no more watches (they
 * are few for each user) looks often instead. */
static int os_wait(void *host, uint64_t timeout_ns, rad_error *error)
{
    os_host *h = host;
    reap(h);
    if (h->notice < 0 && !h->looks_often) {
        h->looks_often = open_notice(h) != 0;
        return 0;
    }
    if (h->looks_often) {
        rad__os_poll(NULL, 0, timeout_ns < LOOK_OFTEN_NS ? (int)(timeout_ns / 1000000) + 1 : LOOK_OFTEN_NS / 1000000,
                     NULL, NULL);
        return 0;
    }
    int got = rad__os_folder_watch_wait(h->notice, timeout_ns, error);
    return got < 0 ? got : 0;
}

/* ---- Commands, from the shim's side ---------------------------------------------------------------------- */

static int os_spawn(void *host, const rad_flow_shim *shim, rad_error *error)
{
    os_host *h = host;
    return rad__os_command_start(&h->shell, shim->command, shim->dir, shim->environment, shim->log, error);
}

static int64_t os_watch(void *host, void *to, size_t size, uint64_t timeout_ns, rad_flow_watched *watched,
                        rad_error *error)
{
    os_host *h = host;
    int64_t got = rad__os_command_watch(&h->shell, to, size, timeout_ns, error);
    *watched = (rad_flow_watched){.ended = h->shell.ended,
                                  .asked_to_end = h->shell.asked_to_end,
                                  .status = h->shell.status,
                                  .signal = h->shell.signal,
                                  .left = rad__os_command_is_left(&h->shell)};
    return got;
}

static int os_kill(void *host, bool at_once, rad_error *error)
{
    return rad__os_command_kill(&((os_host *)host)->shell, at_once, error);
}

/* ---- The rest --------------------------------------------------------------------------------------------- */

static int os_current_folder(void *host, char **path, rad_error *error)
{
    (void)host;
    return rad__os_current_folder(path, error);
}

static bool os_is_folder(void *host, const char *path)
{
    (void)host;
    return rad__os_is_folder(path);
}

static int os_self(void *host)
{
    (void)host;
    return rad__os_process_id();
}

static uint64_t os_now(void *host)
{
    (void)host;
    return rad__os_time_of_day_ns();
}

static uint64_t os_elapsed(void *host)
{
    (void)host;
    return rad__os_now_ns();
}

static uint64_t os_random(void *host)
{
    (void)host;
    return rad__os_random();
}

static void os_sleep(void *host, uint64_t ns)
{
    (void)host;
    rad__os_poll(NULL, 0, (int)(ns / 1000000), NULL, NULL);
}

static void os_table(rad_flow_host *host, os_host *h)
{
    *host = (rad_flow_host){
        .context = h,
        .make_folder = os_make_folder,
        .check_folder = os_check_folder,
        .create = os_create,
        .open_end = os_open_end,
        .put = os_put,
        .cut = os_cut,
        .sync = os_sync,
        .close = os_close,
        .sync_folder = os_sync_folder,
        .rename = os_rename,
        .link = os_link,
        .remove = os_remove,
        .read = os_read,
        .read_open = os_read_open,
        .list = os_list,
        .exists = os_exists,
        .is_file = os_is_file,
        .lock = os_lock,
        .holder = os_holder,
        .launch = os_launch,
        .is_running = os_is_running,
        .wait = os_wait,
        .spawn = os_spawn,
        .watch = os_watch,
        .kill = os_kill,
        .current_folder = os_current_folder,
        .is_folder = os_is_folder,
        .self = os_self,
        .now = os_now,
        .elapsed = os_elapsed,
        .random = os_random,
        .sleep = os_sleep,
    };
}

int rad__flow_host_open(rad_flow_host *host, const char *folder, bool unsynced, rad_error *error)
{
    os_host *h = rad__alloc(1, sizeof *h);
    if (h == NULL) return rad__error_memory(error);
    int code = rad__os_folder_name(&h->folder, folder, error);
    if (code != 0) {
        rad__free(h);
        return code;
    }
    h->unsynced = unsynced;
    h->notice = -1;
    os_table(host, h);
    return 0;
}

void rad__flow_host_close(rad_flow_host *host)
{
    os_host *h = host->context;
    reap(h);
    rad__os_close(h->notice);
    rad__os_folder_close(&h->folder);
    rad__free(h->children);
    rad__free(h);
}
