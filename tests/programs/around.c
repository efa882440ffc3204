/* around.c — what surrounds a run: of two fibers one makes a file, which must not be there yet; and with an argument a
 * line is read before the first decision, and another one after all (`beside`: it looks at what else is there). */
#define OWN_MAIN
#include "planted.h"

#include <dirent.h>
#include <unistd.h>

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

/* Beside its directory are none of runs that have ended, at most that of a process that looks how the program begins;
 * what is there is not its own. */
static int looks_beside(void)
{
    char own[4096], beside[4104];
    int count = 0;
    DIR *all = opendir("..");
    for (struct dirent *d; all != NULL && (d = readdir(all)) != NULL;) count += d->d_name[0] != '.';
    if (all) closedir(all);
    if (count > 2 || getcwd(own, sizeof own) == NULL) return 6;
    snprintf(beside, sizeof beside, "%s-beside", own);
    FILE *one = fopen("../above.txt", "w"), *two = fopen(beside, "w");
    if (one) fclose(one);
    if (two) fclose(two);
    unlink("../above.txt");
    unlink(beside);
    return 0;
}

static bool reads(const char *text)
{
    char line[16] = "";
    return fgets(line, sizeof line, stdin) != NULL && strcmp(line, text) == 0;
}

int main(int argc, char **argv)
{
    setvbuf(stdin, NULL, _IONBF, 0);
    bool read = argc > 1 ? reads("one\n") : fgetc(stdin) == EOF;
    int code = rad_main(NULL, start, NULL, NULL);
    if (argc > 1 && strcmp(argv[1], "beside") == 0) return looks_beside();
    if (!read) return 7;
    if (argc > 1 && !reads("two\n")) return 8;
    return made == 1 ? code : 9;
}
