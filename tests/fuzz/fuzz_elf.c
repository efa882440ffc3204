/* fuzz_elf.c — any bytes as a program or shared object. The first byte says whether the rest is read as it is, or with
 * a header that is right up to the machine, behind which the tables are. What is read is in bounds (the sanitizer
 * looks), ends, and is the same twice. */
#include "base/elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) abort();
}

static void mend_header(uint8_t *bytes, size_t size)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    Elf64_Ehdr h;
    if (size < sizeof h) return;
    memcpy(&h, bytes, sizeof h);
    memcpy(h.e_ident, ident, sizeof ident);
    h.e_type = h.e_type % 2 ? ET_DYN : ET_EXEC;
#if defined(__x86_64__)
    h.e_machine = EM_X86_64;
#elif defined(__aarch64__)
    h.e_machine = EM_AARCH64;
#endif
    h.e_phentsize = sizeof(Elf64_Phdr);
    h.e_shentsize = sizeof(Elf64_Shdr);
    memcpy(bytes, &h, sizeof h);
}

static void check_file(const rad_elf *e, size_t size)
{
    size_t digits = strlen(e->build_id);
    require(digits % 2 == 0 && digits <= 2 * RAD_ELF_BUILD_ID_MAX);
    require(strspn(e->build_id, "0123456789abcdef") == digits);
    const rad_elf_table *tables[] = {&e->dynamic, &e->all};
    for (int i = 0; i < 2; i++) {
        const rad_elf_table *t = tables[i];
        require(t->symbol_count <= size / sizeof(Elf64_Sym));
        require(t->names_size <= size && t->names <= size);
    }
    enum rad_elf_symbol exported = rad__elf_exported(e, "rad_lab_machines");
    enum rad_elf_symbol any = rad__elf_symbol(e, "rad_lab_machines");
    require(exported == RAD_ELF_ABSENT || exported == any);
    rad__elf_symbol(e, "rad_lab_main");
    rad__elf_symbol(e, "");
    const char *needed = rad__elf_needed(e, "lib");
    require(needed == NULL || strncmp(needed, "lib", 3) == 0);
    require(needed == NULL || rad__elf_needed(e, "") != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rad_elf e, again;
    rad_error error = {0};
    if (size == 0) return 0;
    uint8_t *bytes = malloc(size); /* of exactly that size, so that a read beyond it is seen */
    require(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] % 2) mend_header(bytes, size - 1);
    int code = rad__elf_open(&e, bytes, size - 1, "input", &error);
    require(code == 0 || (code == RAD_EINPUT && strncmp(error.text, "input: ", 7) == 0));
    if (code == 0) {
        check_file(&e, size - 1);
        require(rad__elf_open(&again, bytes, size - 1, "input", NULL) == 0);
        require(strcmp(e.build_id, again.build_id) == 0 && e.is_program == again.is_program);
    }
    free(bytes);
    return 0;
}
