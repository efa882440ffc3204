/* text.c — texts as artifacts hold them: see json.h. */
#include "base/escape.h"
#include "base/utf8.h"
#include "lab/json.h"

#include <string.h>

void rad__text_clean(char *text)
{
    for (size_t left = strlen(text); left > 0;) {
        size_t length = rad__utf8_size(text, left);
        if (length == 0) {
            *text = '?';
            length = 1;
        }
        text += length;
        left -= length;
    }
}

void rad__text_plain(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f) *text = ' ';
}
