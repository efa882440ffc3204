#include "exec_target.h"

#include <stdio.h>
#include <unistd.h>

bool exec_target(const exec_case *c, const char *machine, rad_target *t)
{
    char text[CASE_TEXT], path[60];
    snprintf(path, sizeof path, "judge-exec-%d.json", (int)getpid());
    rad_error error;
    exec_case_json(c, machine, text);
    FILE *f = fopen(path, "w");
    if (f == NULL) return false;
    fputs(text, f);
    fclose(f);
    int code = rad_target_read(t, path, &error);
    unlink(path);
    return code == 0;
}
