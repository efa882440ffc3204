static int order(const void *a, const void *b)
{
    uintptr_t kept = 0;
    int aligned = ((uintptr_t)a & 63) == 0; /* tidy: address ok, only alignment */
    printf_like("%p", a); /* expect: address */
    int modulo = 7 %p; /* no string */
    return (uintptr_t)a < (uintptr_t) b; /* expect: address */
}
