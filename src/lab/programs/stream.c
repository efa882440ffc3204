/* stream.c — see stream.h. */
#include "lab/programs/stream.h"

#include "os/process.h"

#include <string.h>

void rad__stream_put(rad_call_stream *s, const rad_record *r, const char *text)
{
    rad_record whole = *r;
    size_t size = text ? strlen(text) : 0;
    whole.text_size = size < RAD_STREAM_TEXT_MAX ? size : RAD_STREAM_TEXT_MAX;
    rad__bytes_put(&s->written, &whole, sizeof whole);
    rad__bytes_put(&s->written, text, (size_t)whole.text_size);
}

bool rad__stream_send(rad_call_stream *s)
{
    bool sent = !s->written.failed && rad__os_write_all(s->out, s->written.data, s->written.size, NULL) == 0;
    s->written.size = 0;
    return sent;
}

static bool read_all(int fd, void *to, size_t size)
{
    char *at = to;
    while (size > 0) {
        int64_t got = rad__os_read(fd, at, size, NULL);
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool rad__stream_get(rad_call_stream *s, rad_record *r)
{
    if (!read_all(s->in, r, sizeof *r) || r->text_size > RAD_STREAM_TEXT_MAX) return false;
    if (!read_all(s->in, s->text, (size_t)r->text_size)) return false;
    s->text[r->text_size] = 0;
    return true;
}

void rad__stream_close(rad_call_stream *s)
{
    rad__os_close(s->in);
    rad__os_close(s->out);
    rad__bytes_free(&s->written);
    s->in = s->out = -1;
}
