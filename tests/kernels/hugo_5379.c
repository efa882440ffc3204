/* hugo#5379, double locking.
 * Rendering a page's content takes the page's lock. A shortcode inside the content asks for the content of the same
 * page, which takes the lock again. The builder gives up after a timeout and continues without the renderer.
 * Goes wrong: the renderer waits for itself, always; the builder's timeout hides it. */
#include "kernel.h"

static rad_mutex content_lock = RAD_MUTEX_INIT;
static bool rendering;
static rad_chan *rendered;

static void render(int depth)
{
    if (fixed && rendering) return; /* the inner content is empty */
    rad_mutex_lock(&content_lock);
    rendering = true;
    if (depth > 0) render(depth - 1); /* the shortcode */
    rendering = false;
    rad_mutex_unlock(&content_lock);
}

static int renders(void *unused)
{
    (void)unused;
    render(1);
    SEND(rendered);
    return 0;
}

static int start(void *unused)
{
    (void)unused;
    rendered = signals(1);
    GO(renders, NULL);
    int code = rad_recv(rendered, NULL, rad_after(1000000));
    return code == RAD_ETIMEOUT ? 0 : code; /* it logs the timeout, and continues */
}
