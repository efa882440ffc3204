/* around.c — what surrounds a run: of two fibers one makes a file, which must not be there yet; and with an argument a
 * line is read before the first decision, and another one after all. */
#define OWN_MAIN
#include "planted.h"

static rad_mutex m;
static int made;

static int makes(void *arg)
{
    (void)arg;
    rad_mutex_lock(&m);
    FILE *file = fopen("made.txt", "wx");
    made += file != NULL;
    if (file) fclose(file);
    rad_mutex_unlock(&m);
    return 0;
}

static int start(void *arg)
{
    (void)arg;
    return both(makes, makes);
}

static bool reads(const char *text)
{
    char line[16] = "";
    return fgets(line, sizeof line, stdin) != NULL && strcmp(line, text) == 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    setvbuf(stdin, NULL, _IONBF, 0);
    bool read = argc > 1 ? reads("one\n") : fgetc(stdin) == EOF;
    int code = rad_main(NULL, start, NULL, NULL);
    if (!read) return 7;
    if (argc > 1 && !reads("two\n")) return 8;
    return made == 1 ? code : 9;
}
