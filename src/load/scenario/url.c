/* url.c — see url.h. What a URL may have and a target cannot use is refused with its own words: user names, queries,
 * fragments. */
#include "load/scenario/url.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

enum { HOST_MOST = 253 };

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* ---- Host ----------------------------------------------------------------------------------------------- */

static const char *check_name(const char *host, size_t size)
{
    if (size == 0) return "expected a host after //";
    if (size > HOST_MOST) return "expected a host of at most 253 characters";
    for (size_t i = 0; i < size; i++)
        if (!is_letter(host[i]) && !rad__is_digit(host[i]) && strchr(".-_", host[i]) == NULL)
            return "expected letters, digits, dots and hyphens in the host; an IPv6 address is written "
                   "in brackets";
    if (host[0] == '.' || host[0] == '-') return "expected a host that begins with a letter or a digit";
    return NULL;
}

/* Groups of hexadecimal digits with colons; whether they are an address is for whoever connects. */
static const char *check_ipv6(const char *host, size_t size)
{
    uint32_t colons = 0;
    if (size > 45) return "expected an IPv6 address between [ and ]";
    for (size_t i = 0; i < size; i++) {
        bool hex = rad__is_digit(host[i]) || (is_letter(host[i]) && (host[i] | 32) <= 'f');
        if (!hex && host[i] != ':' && host[i] != '.') return "expected an IPv6 address between [ and ]";
        colons += host[i] == ':';
    }
    return colons >= 2 && colons <= 8 ? NULL : "expected an IPv6 address between [ and ]";
}

static const char *check_port(const char *port, size_t size)
{
    uint32_t number = 0;
    for (size_t i = 0; i < size && i < 6; i++) {
        if (!rad__is_digit(port[i])) return "expected a port from 1 to 65535 after the colon";
        number = number * 10 + (uint32_t)(port[i] - '0');
    }
    return size > 0 && size < 6 && number > 0 && number < 65536 && port[0] != '0'
               ? NULL
               : "expected a port from 1 to 65535 after the colon";
}

/* Between // and the path. */
static const char *take_authority(rad__load_url *url, const char *text, size_t size, rad_arena *arena)
{
    const char *host = text, *port = NULL, *end = text + size, *host_end = end, *wrong;
    if (memchr(text, '@', size) != NULL) return "expected no user name and password; send an Authorization header";
    if (size > 0 && *text == '[') {
        const char *close = memchr(text, ']', size);
        if (close == NULL) return "expected a ] after the IPv6 address";
        host = text + 1;
        host_end = close;
        if (close + 1 < end && close[1] != ':') return "expected a colon or the path after ]";
        if (close + 1 < end) port = close + 2;
        wrong = check_ipv6(host, (size_t)(host_end - host));
    } else {
        const char *colon = memchr(text, ':', size);
        if (colon != NULL) {
            host_end = colon;
            port = colon + 1;
        }
        wrong = check_name(host, (size_t)(host_end - host));
    }
    if (wrong == NULL && port != NULL) wrong = check_port(port, (size_t)(end - port));
    if (wrong != NULL) return wrong;
    url->host = rad__arena_text(arena, host, (size_t)(host_end - host));
    url->port = port != NULL ? rad__arena_text(arena, port, (size_t)(end - port)) : (url->tls ? "443" : "80");
    return NULL;
}

/* ---- Path ----------------------------------------------------------------------------------------------- */

static const char *take_path(rad__load_url *url, const char *path, rad_arena *arena)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)path[i];
        if (c == '#') return "expected no fragment (#…): it is never sent";
        if (c == '?') return "expected no query (?…): it belongs into the path of a request";
        if (c <= ' ' || c >= 0x7f || strchr("\"<>\\^`{|}", c) != NULL)
            return "expected a path whose other characters are percent-encoded";
    }
    while (size > 0 && path[size - 1] == '/') size--;
    url->base_path = rad__arena_text(arena, path, size);
    return NULL;
}

const char *rad__load_url_parse(rad__load_url *url, const char *text, rad_arena *arena)
{
    *url = (rad__load_url){0};
    if (strncasecmp(text, "http://", 7) == 0)
        text += 7;
    else if (strncasecmp(text, "https://", 8) == 0) {
        text += 8;
        url->tls = true;
    } else {
        return "expected a URL that begins with http:// or https://";
    }
    size_t size = strcspn(text, "/?#");
    const char *wrong = take_authority(url, text, size, arena);
    return wrong != NULL ? wrong : take_path(url, text + size, arena);
}
