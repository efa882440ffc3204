static void calls(void *p)
{
    printf("x"); /* expect: gate */
    fputs("x", stdout); /* expect: gate */
    exit(1);
    time(p); /* expect: call */
    malloc(1); /* expect: call */
}
