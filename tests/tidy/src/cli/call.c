static void calls(void *p)
{
    printf("x");
    fputs("x", stdout);
    exit(1);
    time(p); /* expect: call */
    malloc(1); /* expect: call */
}
