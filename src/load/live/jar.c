#include "load/live/jar.h"

#include "base/alloc.h"

#include <string.h>
#include <strings.h>

typedef struct span {
    const char *at;
    size_t size;
} span;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static span trimmed(const char *from, const char *to)
{
    while (from < to && is_blank(*from)) from++;
    while (to > from && is_blank(to[-1])) to--;
    return (span){from, (size_t)(to - from)};
}

static bool span_is(span s, const char *word)
{
    return s.size == strlen(word) && strncasecmp(s.at, word, s.size) == 0;
}

bool rad__load_cookie_pair(const char *text, size_t size, size_t *name_size, const char **value, size_t *value_size)
{
    const char *end = memchr(text, ';', size);
    if (end == NULL) end = text + size;
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (equals == NULL) return false;
    span name = trimmed(text, equals), content = trimmed(equals + 1, end);
    if (name.size == 0 || name.at != text) return false;
    *name_size = name.size;
    *value = content.at;
    *value_size = content.size;
    return true;
}

/* ---- Attributes -------------------------------------------------------------------------------------------- */

struct attributes {
    span domain, path;
    bool secure, gone;
    uint64_t expires_ns;
};

/* Whole seconds; a minus or a nought: at once. */
static void read_max_age(span s, uint64_t now_ns, struct attributes *a)
{
    uint64_t seconds = 0;
    for (size_t i = 0; i < s.size; i++) {
        if (i == 0 && s.at[0] == '-') {
            a->gone = true;
            return;
        }
        if (s.at[i] < '0' || s.at[i] > '9') return; /* not a number: as if it were not there */
        seconds = seconds * 10 + (uint64_t)(s.at[i] - '0');
        if (seconds > 1000000000) seconds = 1000000000; /* thirty years */
    }
    if (s.size == 0) return;
    a->gone = seconds == 0;
    a->expires_ns = now_ns + seconds * UINT64_C(1000000000);
}

/* A date of another century. */
static bool is_long_past(span s)
{
    for (size_t i = 0; i + 4 <= s.size; i++) {
        bool begins = i == 0 || s.at[i - 1] < '0' || s.at[i - 1] > '9';
        if (begins && s.at[i] == '1' && s.at[i + 1] == '9' && s.at[i + 2] >= '0' && s.at[i + 2] <= '9' &&
            s.at[i + 3] >= '0' && s.at[i + 3] <= '9')
            return true;
    }
    return false;
}

static struct attributes read_attributes(const char *text, size_t size, uint64_t now_ns)
{
    struct attributes a = {.expires_ns = UINT64_MAX};
    const char *end = text + size, *at = memchr(text, ';', size);
    bool expired = false, aged = false;
    while (at != NULL && at < end) {
        const char *begin = at + 1;
        at = memchr(begin, ';', (size_t)(end - begin));
        const char *stop = at ? at : end;
        const char *equals = memchr(begin, '=', (size_t)(stop - begin));
        span name = trimmed(begin, equals ? equals : stop);
        span value = equals ? trimmed(equals + 1, stop) : (span){stop, 0};
        if (span_is(name, "domain")) a.domain = value;
        if (span_is(name, "path")) a.path = value;
        if (span_is(name, "secure")) a.secure = true;
        if (span_is(name, "expires")) expired = is_long_past(value);
        if (span_is(name, "max-age")) {
            read_max_age(value, now_ns, &a);
            aged = true;
        }
    }
    if (!aged && expired) a.gone = true; /* Max-Age goes before Expires */
    if (a.domain.size > 0 && a.domain.at[0] == '.') {
        a.domain.at++;
        a.domain.size--;
    }
    return a;
}

/* ---- Who is meant ------------------------------------------------------------------------------------------ */

static bool is_number(const char *host)
{
    return strchr(host, ':') != NULL || strspn(host, "0123456789.") == strlen(host);
}

/* The host is the domain, or below it. */
static bool in_domain(const char *host, const char *domain, size_t size)
{
    size_t length = strlen(host);
    if (length < size || strncasecmp(host + length - size, domain, size) != 0) return false;
    return length == size || (host[length - size - 1] == '.' && !is_number(host));
}

/* The path is the folder, or in it. */
static bool in_path(const char *path, size_t size, const char *folder)
{
    size_t length = strlen(folder);
    if (size < length || memcmp(path, folder, length) != 0) return false;
    return size == length || folder[length - 1] == '/' || path[length] == '/' || path[length] == '?';
}

static span default_path(const rad__load_site *site)
{
    const char *query = memchr(site->path, '?', site->path_size);
    size_t size = query ? (size_t)(query - site->path) : site->path_size;
    while (size > 0 && site->path[size - 1] != '/') size--;
    return size <= 1 ? (span){"/", 1} : (span){site->path, size - 1};
}

/* ---- Keeping ----------------------------------------------------------------------------------------------- */

static void jar_remove(rad__load_jar *jar, uint32_t i)
{
    rad__free(jar->cookies[i].name);
    memmove(jar->cookies + i, jar->cookies + i + 1, (jar->count - i - 1) * sizeof *jar->cookies);
    jar->count--;
}

static bool is_same(const rad__load_cookie *c, span name, span domain, span path)
{
    return strlen(c->name) == name.size && memcmp(c->name, name.at, name.size) == 0 &&
           span_is(domain, c->name + c->domain) && strlen(c->name + c->path) == path.size &&
           memcmp(c->name + c->path, path.at, path.size) == 0;
}

/* All four in one piece. */
static bool cookie_make(rad__load_cookie *c, const span parts[4])
{
    uint32_t begins[4], size = 0;
    for (int i = 0; i < 4; i++) {
        begins[i] = size;
        size += (uint32_t)parts[i].size + 1;
    }
    c->name = rad__alloc(1, size);
    if (c->name == NULL) return false;
    for (int i = 0; i < 4; i++)
        if (parts[i].size) memcpy(c->name + begins[i], parts[i].at, parts[i].size);
    c->value = begins[1];
    c->domain = begins[2];
    c->path = begins[3];
    return true;
}

bool rad__load_jar_take(rad__load_jar *jar, const char *text, size_t size, const rad__load_site *site, uint64_t now_ns)
{
    size_t name_size, value_size;
    const char *value;
    if (size > RAD__LOAD_COOKIE_BYTES_MAX || memchr(text, 0, size) != NULL ||
        !rad__load_cookie_pair(text, size, &name_size, &value, &value_size))
        return true;
    struct attributes a = read_attributes(text, size, now_ns);
    bool host_only = a.domain.size == 0;
    if (!host_only && !in_domain(site->host, a.domain.at, a.domain.size)) return true;
    span name = {text, name_size};
    span domain = host_only ? (span){site->host, strlen(site->host)} : a.domain;
    span path = a.path.size && a.path.at[0] == '/' ? a.path : default_path(site);
    for (uint32_t i = jar->count; i-- > 0;)
        if (is_same(&jar->cookies[i], name, domain, path)) jar_remove(jar, i);
    if (a.gone) return true;
    if (jar->count == RAD__LOAD_COOKIES_MAX) jar_remove(jar, 0);
    if (!RAD_GROW(&jar->cookies, &jar->capacity, jar->count + 1)) return false;
    rad__load_cookie made = {.host_only = host_only, .secure = a.secure, .expires_ns = a.expires_ns};
    if (!cookie_make(&made, (span[]){name, {value, value_size}, domain, path})) return false;
    jar->cookies[jar->count++] = made;
    return true;
}

void rad__load_jar_free(rad__load_jar *jar)
{
    while (jar->count > 0) jar_remove(jar, jar->count - 1);
    rad__free(jar->cookies);
    *jar = (rad__load_jar){0};
}

/* ---- Sending ----------------------------------------------------------------------------------------------- */

static bool is_for(const rad__load_cookie *c, const rad__load_site *site)
{
    const char *domain = c->name + c->domain;
    bool there = c->host_only ? strcasecmp(site->host, domain) == 0 : in_domain(site->host, domain, strlen(domain));
    return there && (site->tls || !c->secure) && in_path(site->path, site->path_size, c->name + c->path);
}

void rad__load_jar_put(rad__load_jar *jar, const rad__load_site *site, uint64_t now_ns, rad_bytes *to)
{
    uint32_t begin = to->size;
    size_t longest = 0;
    for (uint32_t i = jar->count; i-- > 0;)
        if (jar->cookies[i].expires_ns <= now_ns)
            jar_remove(jar, i);
        else if (strlen(jar->cookies[i].name + jar->cookies[i].path) > longest)
            longest = strlen(jar->cookies[i].name + jar->cookies[i].path);
    for (size_t length = longest; length > 0; length--)
        for (uint32_t i = 0; i < jar->count; i++) {
            const rad__load_cookie *c = &jar->cookies[i];
            if (strlen(c->name + c->path) != length || !is_for(c, site)) continue;
            if (to->size > begin) rad__bytes_put(to, "; ", 2);
            rad__bytes_put(to, c->name, strlen(c->name));
            rad__bytes_put(to, "=", 1);
            rad__bytes_put(to, c->name + c->value, strlen(c->name + c->value));
        }
}
