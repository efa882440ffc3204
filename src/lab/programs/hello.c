/* hello.c — see hello.h. */
#include "lab/programs/hello.h"

#include "lab/batch.h"
#include "lab/programs/inserted.h"
#include "lab/programs/stream.h"

#include <raddle/lab.h>

#include <stdio.h>
#include <string.h>

void rad__hello_make(rad_hello *h)
{
    memset(h, 0, sizeof *h);
    memcpy(h->magic, "raddle01", sizeof h->magic);
    h->sizes = sizeof(rad_batch) << 48 ^ sizeof(rad_setup) << 40 ^ sizeof(rad_batch_result) << 32 ^
               sizeof(rad_estimates) << 24 ^ sizeof(rad_rig_shared) << 16 ^ sizeof(rad_choice) << 8 ^
               sizeof(rad_record) ^ sizeof(rad_inserted) << 4;
    snprintf(h->build, sizeof h->build, "%s %s", rad_version(), rad_build_git_sha());
}
