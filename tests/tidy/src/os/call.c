static void calls(void *p)
{
    clock_gettime(0, p);
    getenv("HOME");
    getrandom(p, 1, 0);
    exit(1);
    free(p); /* expect: call */
    atoi(p); /* expect: call */
}
