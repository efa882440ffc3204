/* Banned calls in a layer that may do none of them. In a comment they are harmless: malloc(1). */
static int calls(struct thing *t)
{
    clock_gettime(0, t); /* expect: call */
    t->at = time(NULL); /* expect: call */
    gettimeofday(t, 0); /* expect: call */
    t->n = rand() + /* expect: call */
        random(); /* expect: call */
    srand(1); /* expect: call */
    getrandom(t, 1, 0); /* expect: call */
    arc4random(); /* expect: call */
    getenv ("HOME"); /* expect: call */
    qsort(t, 1, 1, compare); /* expect: call */
    printf("x"); /* expect: call, expect: gate */
    puts("x"); /* expect: call, expect: gate */
    fprintf(stdout, "x"); /* expect: call, expect: gate */
    fwrite(t, 1, 1, stdout); /* expect: call, expect: gate */
    fprintf(stderr, "x"); /* expect: gate */
    snprintf(t->text, sizeof t->text, "malloc(%d) free(x) \" exit(1)", 1);
    t->p = malloc(1); /* expect: call */
    t->p = calloc(1, 1); /* expect: call */
    t->p = realloc(t->p, 2); /* expect: call */
    free(t->p); /* expect: call */
    strdup("x"); /* expect: call */
    abort(); /* expect: call */
    exit(1); /* expect: call */
    strcpy(t->text, "x"); strcat(t->text, "y"); /* expect: call */
    sprintf(t->text, "x"); /* expect: call */
    gets(t->text); /* expect: call */
    strtok(t->text, ","); /* expect: call */
    return atoi(t->text); /* expect: call */
}

static int harmless(struct thing *t, int time)
{
    char quote = '"'; rad__free(t->p); char other = '\''; // free(x)
    t->free(t->p);
    t->table.exit(0);
    t -> random(1);
    int clock = time + t->malloc + quote + other;
    return rad__random(clock) + my_exit(clock);
}
