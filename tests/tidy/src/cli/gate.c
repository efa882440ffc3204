/* What people see passes the gate: nobody prints by other means, and newlines are in formats. */
static void says(struct cli *c, const char *name, FILE *file)
{
    printf("x"); /* expect: gate */
    fprintf(stderr, "%s\n", name); /* expect: gate */
    fwrite(name, 1, 1, stdout); /* expect: gate */
    fputs(name, /* expect: gate */
          stderr);
    fprintf(file, "%s\n", name);
    out(c, "%s\n", name);
    out(c, "%s%s", name, "\n"); /* expect: gate */
    note("%s\n", name);
    note("%s", name ? "a" : "b\t"); /* expect: gate */
    rad__error(c, 1, "%s: \n %d", "a, b\\n", f(1, 2));
    rad__error(c, 1, "%s", f(1, "\n")); /* expect: gate */
    rad__bytes_format(c, "\n%s", name);
    rad__bytes_format(c, "%s",
                      name ? "" : "\n"); /* expect: gate */
    snprintf(name, 1, "%s", "\n");
}
