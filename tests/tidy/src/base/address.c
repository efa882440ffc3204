static int aligned(const void *a)
{
    return ((uintptr_t)a & 63) == 0;
}
