/* l2_sites.c — lists the calls that the compiler inserted into an instrumented object (docs/memory-level.md).
 *
 *     l2_sites OBJECT LINES OUT.c
 *
 * OBJECT is relocatable: each call has a relocation in section l2text, whose symbol tells the operation and whose
 * place tells the function. LINES are what `addr2line -a -i` says about the addresses that `l2_sites OBJECT` without
 * further arguments prints, in the same order. OUT.c is the table of src/lab/l2/sites.h. */
#define _GNU_SOURCE
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct site {
    unsigned long offset;   /* of the return address */
    unsigned long instance; /* where the function begins: an inline one may be there several times */
    const char *function;
    char operation[48];
    char file[64], home[64];
    unsigned line, ordinal;
    int point;
};

static const char *object_path;
static unsigned char *image;
static struct site *sites;
static size_t site_count;

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "l2_sites: %s: %s\n", object_path, what);
    exit(1);
}

static void slurp(const char *path)
{
    FILE *f = fopen(path, "rb");
    object_path = path;
    if (f == NULL || fseek(f, 0, SEEK_END) != 0) fail("cannot be read");
    long size = ftell(f);
    image = malloc(size > 0 ? (size_t)size : 1);
    rewind(f);
    if (image == NULL || size < (long)sizeof(Elf64_Ehdr) || fread(image, 1, (size_t)size, f) != (size_t)size)
        fail("cannot be read");
    fclose(f);
    if (memcmp(image, ELFMAG, SELFMAG) != 0 || image[EI_CLASS] != ELFCLASS64) fail("no 64-bit ELF");
}

static const Elf64_Shdr *section(unsigned index)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;
    return (const Elf64_Shdr *)(image + e->e_shoff) + index;
}

static const char *text_at(const Elf64_Shdr *strings, unsigned long offset)
{
    return (const char *)image + strings->sh_offset + offset;
}

static unsigned section_named(const char *name)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;
    for (unsigned i = 1; i < e->e_shnum; i++)
        if (strcmp(text_at(section(e->e_shstrndx), section(i)->sh_name), name) == 0) return i;
    return 0;
}

/* The function that contains an offset of the section, and where it begins. */
static const char *function_at(const Elf64_Shdr *symbols, unsigned text, unsigned long offset, unsigned long *begin)
{
    const Elf64_Sym *s = (const Elf64_Sym *)(image + symbols->sh_offset);
    for (size_t i = 0; i < symbols->sh_size / sizeof *s; i++) {
        if (ELF64_ST_TYPE(s[i].st_info) != STT_FUNC || s[i].st_shndx != text) continue;
        if (offset < s[i].st_value || offset >= s[i].st_value + s[i].st_size) continue;
        *begin = s[i].st_value;
        return text_at(section(symbols->sh_link), s[i].st_name);
    }
    return "?";
}

/* "rad__l2_tsan_atomic64_fetch_add" is "fetch_add", "rad__l2_tsan_read8" is "read". True when it is a call of
 * interest. */
static int operation_of(const char *symbol, char operation[48], int *point)
{
    static const char *const silent[] = {"init", "func_entry", "func_exit", "atomic_thread_fence",
                                         "atomic_signal_fence"};
    static const char *const ours[] = {
        "rad__l2_word_wait", "rad__l2_word_wait_for", "rad__l2_word_wake", "rad__l2_free",   "rad__l2_realloc",
        "rad__l2_memcpy",    "rad__l2_memset",        "rad__l2_memmove",   "rad__l2_memcmp", "rad__l2_strlen"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (strcmp(symbol, ours[i]) != 0) continue;
        *point = strncmp(symbol, "rad__l2_word_", 13) == 0;
        snprintf(operation, 48, "%s", symbol + (*point ? 13 : 8));
        return 1;
    }
    if (strncmp(symbol, "rad__l2_tsan_", 13) != 0) return 0;
    symbol += 13;
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (strcmp(symbol, silent[i]) == 0) return 0;
    *point = strncmp(symbol, "atomic", 6) == 0;
    if (*point) symbol = strchr(symbol, '_') + 1;
    if (strncmp(symbol, "compare_exchange", 16) == 0) symbol = "compare-exchange";
    snprintf(operation, 48, "%s", symbol);
    if (!*point) operation[strcspn(operation, "0123456789")] = 0;
    return 1;
}

static void add_site(const Elf64_Shdr *symbols, unsigned text, const Elf64_Rela *r)
{
    const Elf64_Sym *s = (const Elf64_Sym *)(image + symbols->sh_offset) + ELF64_R_SYM(r->r_info);
    struct site fresh = {.offset = r->r_offset + 4}; /* behind the call, on x86-64 and aarch64 */
    if (!operation_of(text_at(section(symbols->sh_link), s->st_name), fresh.operation, &fresh.point)) return;
    fresh.function = function_at(symbols, text, r->r_offset, &fresh.instance);
    sites = realloc(sites, (site_count + 1) * sizeof *sites);
    if (sites == NULL) fail("out of memory");
    sites[site_count++] = fresh;
}

static int by_address(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* What is one site in the source: copies of a function have the same ones. */
static int by_name(const void *a, const void *b)
{
    const struct site *x = a, *y = b;
    if (x->point != y->point) return y->point - x->point;
    int order = strcmp(x->function, y->function);
    if (order == 0) order = strcmp(x->home, y->home);
    if (order == 0) order = strcmp(x->operation, y->operation);
    return order ? order : (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

static int by_name_then_address(const void *a, const void *b)
{
    int order = by_name(a, b);
    return order ? order : by_address(a, b);
}

/* Ordinals count within a copy of a function. Leaves the sites in the order of their numbers. */
static void number_sites(void)
{
    qsort(sites, site_count, sizeof *sites, by_name_then_address); /* ordinals are 0 */
    for (size_t i = 0; i < site_count; i++) {
        struct site *s = &sites[i], *last = i ? s - 1 : NULL;
        int same = last && last->instance == s->instance && last->point == s->point &&
                   strcmp(s->function, last->function) == 0 && strcmp(s->operation, last->operation) == 0;
        s->ordinal = same ? last->ordinal + 1 : 1;
    }
    qsort(sites, site_count, sizeof *sites, by_name_then_address);
}

/* Returns the size of the section. */
static unsigned long collect(void)
{
    const Elf64_Ehdr *e = (const Elf64_Ehdr *)image;
    unsigned text = section_named("l2text");
    if (text == 0) fail("there is no section l2text");
    for (unsigned i = 1; i < e->e_shnum; i++) {
        const Elf64_Shdr *h = section(i);
        if (h->sh_type != SHT_RELA || h->sh_info != text) continue;
        const Elf64_Rela *r = (const Elf64_Rela *)(image + h->sh_offset);
        for (size_t n = 0; n < h->sh_size / sizeof *r; n++) add_site(section(h->sh_link), text, &r[n]);
    }
    if (site_count == 0) fail("no call was inserted: was it compiled with -fsanitize=thread?");
    if (site_count >= 65535) fail("more sites than numbers");
    qsort(sites, site_count, sizeof *sites, by_address);
    return section(text)->sh_size;
}

/* The file without its folders, or with the last one. */
static const char *tail_of(const char *path, int folders)
{
    const char *at = path + strlen(path);
    while (at > path && !(at[-1] == '/' && folders-- == 0)) at--;
    return at;
}

/* An address, then a line of the innermost function, then of whoever it was inlined into. */
static void read_lines(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[4096];
    struct site *s = NULL;
    if (f == NULL) fail("no list of lines");
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "0x", 2) == 0) {
            s = s ? s + 1 : sites;
            if (s == sites + site_count) fail("more lines than calls");
            continue;
        }
        char *colon = strrchr(line, ':');
        if (colon == NULL || s == NULL) fail("a line that is not of addr2line");
        *colon = 0;
        if (s->home[0] == 0) {
            s->line = (unsigned)strtoul(colon + 1, NULL, 10);
            snprintf(s->file, sizeof s->file, "%.60s", tail_of(line, 0));
        }
        snprintf(s->home, sizeof s->home, "%.60s", tail_of(line, 1));
    }
    fclose(f);
}

static void write_table(const char *path, unsigned long text_size)
{
    FILE *f = fopen(path, "w");
    size_t points = 0, count = 0;
    if (f == NULL) fail("the table cannot be written");
    fprintf(f, "/* Made by tools/l2_sites.c. */\n#include \"lab/l2/sites.h\"\n\n"
               "const l2_site rad__l2_sites[] = {\n");
    for (size_t i = 0; i < site_count; i++) {
        struct site *s = &sites[i];
        if (i > 0 && by_name(s, s - 1) == 0) continue;
        count++;
        points += s->point != 0;
        fprintf(f, "    {%u, %d, %u, \"%s\", \"%s\", \"%s\", \"%s\"},\n", s->line > 65535 ? 0 : s->line, s->point,
                s->ordinal > 255 ? 255 : s->ordinal, s->function, s->operation, s->file, s->home);
    }
    fprintf(f, "};\nconst uint32_t rad__l2_site_count = %zu, rad__l2_point_count = %zu;\n", count, points);
    fprintf(f, "const uint32_t rad__l2_text_size = %lu;\n", text_size);
    fprintf(f, "const uint16_t rad__l2_site_at[%lu] = {\n", text_size + 1);
    size_t number = 0;
    for (size_t i = 0; i < site_count; i++) {
        number += i == 0 || by_name(&sites[i], &sites[i - 1]) != 0;
        fprintf(f, "    [%lu] = %zu,\n", sites[i].offset, number);
    }
    fprintf(f, "};\n");
    if (fclose(f) != 0) fail("the table cannot be written");
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 4) {
        fprintf(stderr, "usage: l2_sites OBJECT [LINES OUT.c]\n");
        return 2;
    }
    slurp(argv[1]);
    unsigned long text_size = collect();
    if (argc == 2) {
        for (size_t i = 0; i < site_count; i++) printf("0x%lx\n", sites[i].offset - 1);
        return 0;
    }
    read_lines(argv[2]);
    number_sites();
    write_table(argv[3], text_size);
    return 0;
}
