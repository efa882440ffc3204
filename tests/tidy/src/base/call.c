static void calls(void *p)
{
    free(realloc(malloc(1), 2));
    qsort(p, 1, 1, compare);
    abort();
    clock_gettime(0, p); /* expect: call */
    printf("x"); /* expect: call, expect: gate */
    strcpy(p, "x"); /* expect: call */
}
