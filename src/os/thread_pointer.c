#define _GNU_SOURCE
#include "os/thread_pointer.h"

#include "base/error.h"
#include "os/fault.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- The pointer ------------------------------------------------------------------------------------ */

#if defined(__x86_64__) && !defined(__ILP32__) && !defined(RAD_THREAD_POINTER_FIXED)

#include <asm/prctl.h>

/* Whether the instruction may be used: the kernel says so (bit 1 of AT_HWCAP2). Otherwise a system call. */
static int pointer_by_instruction(void)
{
    static int known = -1;
    if (RAD_UNLIKELY(known < 0)) known = (int)(getauxval(AT_HWCAP2) >> 1 & 1);
    return known;
}

bool rad__thread_pointer_works(void)
{
    return true;
}

void *rad__thread_pointer_get(void)
{
    void *pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer)); /* the ABI keeps it there */
    return pointer;
}

void rad__thread_pointer_set(void *pointer)
{
    if (RAD_LIKELY(pointer_by_instruction()))
        __asm__ volatile("wrfsbase %0" : : "r"(pointer) : "memory");
    else
        syscall(SYS_arch_prctl, ARCH_SET_FS, pointer);
}

#elif defined(__aarch64__) && !defined(RAD_THREAD_POINTER_FIXED)

bool rad__thread_pointer_works(void)
{
    return true;
}

void *rad__thread_pointer_get(void)
{
    void *pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

void rad__thread_pointer_set(void *pointer)
{
    __asm__ volatile("msr tpidr_el0, %0" : : "r"(pointer) : "memory");
}

#else

bool rad__thread_pointer_works(void)
{
    return false;
}

void *rad__thread_pointer_get(void)
{
    return NULL;
}

void rad__thread_pointer_set(void *pointer)
{
    (void)pointer;
}

#endif

/* ---- Donors ----------------------------------------------------------------------------------------- */

typedef struct donor {
    pthread_t thread;
    void *pointer;
} donor;

static struct {
    donor items[RAD_DONORS_MAX];
    uint32_t count, users, generation;
    bool watching; /* the handler for forks is installed */
    sem_t ready;   /* a new one has told its pointer */
    sem_t stop;    /* one post per donor ends them */
} donors;

static void *donor_main(void *context)
{
    donor *d = context;
    d->pointer = rad__thread_pointer_get();
    sem_post(&donors.ready);
    while (sem_wait(&donors.stop) != 0) {
    }
    return NULL;
}

/* In the child only the calling thread exists; the semaphores are made anew with the first donor. */
static void donors_forget(void)
{
    donors.count = 0;
    donors.generation++;
}

uint32_t rad__donors_generation(void)
{
    return donors.generation;
}

void rad__donors_open(void)
{
    donors.users++;
}

void rad__donors_close(void)
{
    RAD_ASSERT(donors.users > 0);
    if (--donors.users > 0 || donors.count == 0) return;
    for (uint32_t i = 0; i < donors.count; i++) sem_post(&donors.stop);
    for (uint32_t i = 0; i < donors.count; i++) pthread_join(donors.items[i].thread, NULL);
    donors.count = 0;
    donors.generation++;
    sem_destroy(&donors.ready);
    sem_destroy(&donors.stop);
}

static int donor_start(donor *d)
{
    if (!donors.watching && pthread_atfork(NULL, NULL, donors_forget) != 0) return ENOMEM;
    donors.watching = true;
    if (donors.count == 0 && (sem_init(&donors.ready, 0, 0) || sem_init(&donors.stop, 0, 0))) return errno;
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    pthread_attr_setstacksize(&attributes, (size_t)256 * 1024);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: signals are for the others */
    code = rad__os_fails(EAGAIN) ? errno : pthread_create(&d->thread, &attributes, donor_main, d);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (code != 0) return code;
    while (sem_wait(&donors.ready) != 0) {
    }
    return 0;
}

void *rad__donor(uint32_t index, rad_error *error)
{
    RAD_ASSERT(donors.users > 0 && index < RAD_DONORS_MAX);
    while (donors.count <= index) {
        int code = donor_start(&donors.items[donors.count]);
        if (code != 0) {
            rad__error(error, RAD_ENOMEM, "cannot start a thread to borrow from: %s", strerror(code));
            return NULL;
        }
        donors.count++;
    }
    return donors.items[index].pointer;
}

/* ---- Thread-local variables of this object file ------------------------------------------------------- */

typedef struct locals {
    const char *here;  /* an address of this object file */
    const char *image; /* initial values; NULL: nothing is thread-local here */
    size_t image_size, size;
    ptrdiff_t distance; /* from the thread pointer; the same for every thread */
    const char *pointer;
} locals;

static int locals_look(struct dl_phdr_info *info, size_t size, void *context)
{
    locals *l = context;
    const ElfW(Phdr) *tls = NULL;
    bool inside = false;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *from = (const char *)(info->dlpi_addr + p->p_vaddr);
        if (p->p_type == PT_LOAD && l->here >= from && l->here < from + p->p_memsz) inside = true;
        if (p->p_type == PT_TLS) tls = p;
    }
    if (!inside) return 0;
    const char *block = info->dlpi_tls_data;
    /* A static program keeps the C library's variables in the same block: they are not ours to reset. */
    bool shared_with_libc =
        block != NULL && tls != NULL && (const char *)&errno >= block && (const char *)&errno < block + tls->p_memsz;
    if (tls == NULL || block == NULL || shared_with_libc) return 1;
    l->image = (const char *)(info->dlpi_addr + tls->p_vaddr);
    l->image_size = tls->p_filesz;
    l->size = tls->p_memsz;
    l->distance = block - l->pointer;
    return 1;
}

static locals known; /* found when it is first asked for */

void *rad__thread_locals(void *pointer, void *mine, size_t *size)
{
    *size = 0;
    if (!rad__thread_pointer_works()) return NULL;
    if (known.here == NULL) {
        known.pointer = mine;
        known.here = (const char *)&known;
        dl_iterate_phdr(locals_look, &known);
    }
    *size = known.size;
    return known.size > 0 ? (char *)pointer + known.distance : NULL;
}

void rad__thread_locals_reset(void *pointer, void *mine)
{
    size_t size;
    char *block = rad__thread_locals(pointer, mine, &size);
    if (block == NULL) return;
    memcpy(block, known.image, known.image_size);
    memset(block + known.image_size, 0, size - known.image_size);
}
