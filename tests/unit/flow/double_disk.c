/* double_disk.c — files of a machine that may lose what was not synced; see double.h. */
#include "double_parts.h"

#include "base/alloc.h"
#include "base/error.h"
#include "os/durable.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

/* ---- Files ---------------------------------------------------------------------------------------------- */

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (uint8_t)*name) * 16777619u;
    return hash;
}

static entry *find(entry *entries, uint32_t n, const char *name)
{
    uint32_t hash = hash_of(name);
    for (uint32_t i = 0; i < n; i++)
        if (entries[i].hash == hash && strcmp(entries[i].name, name) == 0) return &entries[i];
    return NULL;
}

int double_inode_of(const double_world *w, const char *name)
{
    const entry *e = find((entry *)(uintptr_t)w->now, w->now_count, name);
    return e != NULL ? e->inode : -1;
}

void double_set_name(entry *entries, uint32_t *n, const char *name, int at)
{
    entry *e = find(entries, *n, name);
    if (e == NULL && at < 0) return;
    if (e == NULL) {
        double_require(*n < NAMES);
        e = &entries[(*n)++];
        snprintf(e->name, sizeof e->name, "%s", name);
        e->hash = hash_of(e->name);
    }
    e->inode = at;
    if (at < 0) *e = entries[--*n];
}

static int new_inode(double_world *w)
{
    double_require(w->inode_count < INODES);
    w->inodes[w->inode_count] = (inode){.holder = -1};
    return (int)w->inode_count++;
}

static void put_bytes(bytes *b, const void *data, size_t size)
{
    if (b->size + size > b->capacity) {
        b->capacity = b->size + (uint32_t)size + 256;
        b->data = realloc(b->data, b->capacity);
        double_require(b->data != NULL);
    }
    if (size > 0) memcpy(b->data + b->size, data, size);
    b->size += (uint32_t)size;
}

static void copy_bytes(bytes *to, const bytes *from, uint32_t size)
{
    to->size = 0;
    put_bytes(to, from->data, size);
}

void double_replace(double_world *w, const char *name)
{
    int old = double_inode_of(w, name);
    if (old < 0) return;
    int new = new_inode(w);
    copy_bytes(&w->inodes[new].now, &w->inodes[old].now, w->inodes[old].now.size);
    copy_bytes(&w->inodes[new].kept, &w->inodes[old].kept, w->inodes[old].kept.size);
    double_set_name(w->now, &w->now_count, name, new);
}

static bool is_in(const char *folder, const char *name)
{
    const char *slash = strchr(name, '/');
    size_t length = strlen(folder);
    return length == 0 ? slash == NULL : strncmp(name, folder, length) == 0 && slash == name + length;
}

static void close_handle(double_world *w, int file)
{
    handle *h = &w->handles[file];
    if (w->inodes[h->inode].holder == file) w->inodes[h->inode].holder = -1;
    h->process = -1;
}

static void lose_content(double_world *w, uint32_t at)
{
    inode *n = &w->inodes[at];
    bool is_journal = double_inode_of(w, "journal") == (int)at;
    uint32_t common = n->kept.size < n->now.size ? n->kept.size : n->now.size;
    uint32_t more = n->now.size - common;
    if (w->crash == DOUBLE_KEEP) return;
    if (w->crash == DOUBLE_MIX) {
        uint32_t keep = rad__prng_below(&w->prng, 3) == 0   ? 0
                        : rad__prng_below(&w->prng, 2) == 0 ? more
                                                            : (uint32_t)rad__prng_below(&w->prng, more + 1);
        n->now.size = common + keep;
        return;
    }
    if (w->crash == DOUBLE_TEAR && is_journal) {
        w->unsynced = more;
        n->now.size = common + (w->tear < more ? w->tear : more);
        return;
    }
    copy_bytes(&n->now, &n->kept, n->kept.size);
}

static void lose_names(double_world *w)
{
    if (w->crash == DOUBLE_KEEP) return;
    if (w->crash != DOUBLE_MIX) {
        memcpy(w->now, w->kept, sizeof w->now);
        w->now_count = w->kept_count;
        return;
    }
    for (uint32_t i = 0; i < w->now_count;) { /* new names go, at times */
        entry e = w->now[i];
        const entry *old = find(w->kept, w->kept_count, e.name);
        bool same = old != NULL && old->inode == e.inode;
        if (!same && rad__prng_below(&w->prng, 2) == 0)
            double_set_name(w->now, &w->now_count, e.name, old != NULL ? old->inode : -1);
        if (i < w->now_count && strcmp(w->now[i].name, e.name) == 0) i++;
    }
    for (uint32_t i = 0; i < w->kept_count; i++) /* removed ones come back, at times */
        if (double_inode_of(w, w->kept[i].name) < 0 && rad__prng_below(&w->prng, 2) == 0)
            double_set_name(w->now, &w->now_count, w->kept[i].name, w->kept[i].inode);
}

void double_lose(double_world *w)
{
    for (uint32_t i = 0; i < w->inode_count; i++) lose_content(w, i);
    lose_names(w);
    for (uint32_t i = 0; i < w->inode_count; i++)
        copy_bytes(&w->inodes[i].kept, &w->inodes[i].now, w->inodes[i].now.size);
    memcpy(w->kept, w->now, sizeof w->now);
    w->kept_count = w->now_count;
}

void double_close_handles(double_world *w, const process *p)
{
    for (uint32_t i = 0; i < w->handle_count; i++)
        if (w->handles[i].process == p->pid) close_handle(w, (int)i);
}

/* With `tear`, somebody makes room after so many tries. */
static int no_room(double_world *w, rad_error *error)
{
    if (w->tear > 0 && --w->tear == 0) w->full = false;
    return rad__error(error, RAD_EIO, "cannot write: No space left on device");
}

/* ---- The table: files ------------------------------------------------------------------------------------ */

static int do_make_folder(void *context, const char *name, rad_error *error)
{
    (void)name;
    return double_enter(context, error) != NULL ? 0 : RAD_EIO;
}

static int do_check_folder(void *context, const char *name, rad_error *error)
{
    return do_make_folder(context, name, error);
}

static int open_inode(double_world *w, process *p, int at)
{
    double_require(w->handle_count < HANDLES);
    w->handles[w->handle_count] = (handle){at, p->pid};
    return (int)w->handle_count++;
}

static int do_create(void *context, int *file, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    *file = -1;
    if (w == NULL) return RAD_EIO;
    if (w->full) return no_room(w, error);
    int at = new_inode(w);
    double_set_name(w->now, &w->now_count, name, at);
    *file = open_inode(w, context, at);
    return 0;
}

static int do_open_end(void *context, int *file, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    *file = -1;
    if (w == NULL) return RAD_EIO;
    int at = double_inode_of(w, name);
    if (at < 0) return rad__error(error, RAD_EINPUT, "%s: no such file", name);
    *file = open_inode(w, context, at);
    return 0;
}

static inode *inode_at(double_world *w, process *p, int file)
{
    double_require(file >= 0 && w->handles[file].process == p->pid);
    return &w->inodes[w->handles[file].inode];
}

static int do_put(void *context, int file, const void *data, size_t size, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    inode *n = inode_at(w, context, file);
    if (w->full) {
        put_bytes(&n->now, data, size / 2); /* as much as there was room for */
        return no_room(w, error);
    }
    put_bytes(&n->now, data, size);
    return 0;
}

static int do_cut(void *context, int file, uint64_t size, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    inode *n = inode_at(w, context, file);
    double_require(size <= n->now.size);
    n->now.size = (uint32_t)size;
    return 0;
}

static int do_sync(void *context, int file, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    inode *n = inode_at(w, context, file);
    copy_bytes(&n->kept, &n->now, n->now.size);
    w->syncs += double_inode_of(w, "journal") == w->handles[file].inode;
    return 0;
}

static void do_close(void *context, int file)
{
    process *p = context;
    if (p->alive && p->w->handles[file].process == p->pid) close_handle(p->w, file);
}

static int do_sync_folder(void *context, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    for (uint32_t i = 0; i < w->kept_count;)
        if (is_in(name, w->kept[i].name) && double_inode_of(w, w->kept[i].name) < 0)
            double_set_name(w->kept, &w->kept_count, w->kept[i].name, -1);
        else
            i++;
    for (uint32_t i = 0; i < w->now_count; i++)
        if (is_in(name, w->now[i].name)) double_set_name(w->kept, &w->kept_count, w->now[i].name, w->now[i].inode);
    return 0;
}

static int do_rename(void *context, const char *from, const char *to, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    int at = double_inode_of(w, from);
    double_require(at >= 0);
    double_set_name(w->now, &w->now_count, from, -1);
    double_set_name(w->now, &w->now_count, to, at);
    w->noticed = true;
    return 0;
}

static int do_link(void *context, const char *from, const char *to, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    int at = double_inode_of(w, from);
    double_require(at >= 0);
    if (double_inode_of(w, to) >= 0) return 0;
    /* Others look at any time, also between two calls of this process: they must not see it free. */
    if (strncmp(to, "effects/", 8) == 0 || strcmp(to, "journal") == 0) double_require(w->inodes[at].holder >= 0);
    double_set_name(w->now, &w->now_count, to, at);
    return 1;
}

static int do_remove(void *context, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    double_set_name(w->now, &w->now_count, name, -1);
    return 0;
}

static int read_inode(const double_world *w, int at, char **data, size_t *size, rad_error *error)
{
    const bytes *b = &w->inodes[at].now;
    *data = rad__alloc(b->size + 1, 1);
    if (*data == NULL) return rad__error_memory(error);
    if (b->size > 0) memcpy(*data, b->data, b->size);
    *size = b->size;
    return 1;
}

static int do_read(void *context, const char *name, char **data, size_t *size, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    int at = double_inode_of(w, name);
    return at < 0 ? 0 : read_inode(w, at, data, size, error);
}

static int do_read_open(void *context, int file, char **data, size_t *size, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    inode_at(w, context, file);
    return read_inode(w, w->handles[file].inode, data, size, error);
}

static int do_exists(void *context, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    return w == NULL ? RAD_EIO : double_inode_of(w, name) >= 0;
}

static int do_is_file(void *context, int file, const char *name, uint64_t *size, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    *size = inode_at(w, context, file)->now.size;
    return double_inode_of(w, name) == w->handles[file].inode;
}

static int do_list(void *context, const char *folder, rad_os_names *names, rad_error *error)
{
    double_world *w = double_enter(context, error);
    *names = (rad_os_names){0};
    if (w == NULL) return RAD_EIO;
    for (uint32_t i = 0; i < w->now_count; i++) {
        if (!is_in(folder, w->now[i].name)) continue;
        char *copy = rad__copy_text(strchr(w->now[i].name, '/') + 1);
        if (copy == NULL || !RAD_GROW(&names->items, &names->capacity, names->count + 1)) {
            rad__free(copy);
            rad__os_names_free(names);
            return rad__error_memory(error);
        }
        uint32_t at = names->count++;
        for (; at > 0 && strcmp(names->items[at - 1], copy) > 0; at--) names->items[at] = names->items[at - 1];
        names->items[at] = copy;
    }
    return 0;
}

static int do_lock(void *context, int file, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    inode *n = inode_at(w, context, file);
    if (n->holder >= 0 && n->holder != file) return 0;
    n->holder = file;
    return 1;
}

static int do_holder(void *context, const char *name, rad_error *error)
{
    double_world *w = double_enter(context, error);
    if (w == NULL) return RAD_EIO;
    int at = double_inode_of(w, name);
    return at < 0 ? RAD_OS_NO_FILE : w->inodes[at].holder >= 0 ? RAD_OS_HELD : RAD_OS_NOT_HELD;
}

void double_file_table(rad_flow_host *host)
{
    host->make_folder = do_make_folder;
    host->check_folder = do_check_folder;
    host->create = do_create;
    host->open_end = do_open_end;
    host->put = do_put;
    host->cut = do_cut;
    host->sync = do_sync;
    host->close = do_close;
    host->sync_folder = do_sync_folder;
    host->rename = do_rename;
    host->link = do_link;
    host->remove = do_remove;
    host->read = do_read;
    host->read_open = do_read_open;
    host->exists = do_exists;
    host->is_file = do_is_file;
    host->list = do_list;
    host->lock = do_lock;
    host->holder = do_holder;
}
