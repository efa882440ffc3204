/* debug_info.c — see debug_info.h.
 *
 * libdw's own declarations are not needed to build: it is loaded by name, and what is used of its interface, which has
 * not changed since its version 0.122 of 2006, is declared here. */
#define _GNU_SOURCE
#include "os/debug_info.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Dwfl Dwfl;
typedef struct Dwfl_Module Dwfl_Module;
typedef struct Dwarf_Line Dwarf_Line;
typedef struct Dwfl_Line Dwfl_Line;
typedef struct Dwarf_Files Dwarf_Files;

typedef struct Dwarf_Die {
    void *addr;
    void *cu;
    void *abbrev;
    long padding;
} Dwarf_Die;

typedef struct Dwarf_Attribute {
    unsigned code, form;
    unsigned char *value;
    void *cu;
} Dwarf_Attribute;

typedef struct Dwarf_Op {
    uint8_t atom;
    uint64_t number, number2, offset;
} Dwarf_Op;

#define FIND_PARAMETERS                                                                                                \
    (Dwfl_Module * m, void **user, const char *name, uint64_t base, const char *path, const char *link,                \
     uint32_t checksum, char **found)

typedef struct Dwfl_Callbacks {
    void *find_elf;
    int(*find_debuginfo) FIND_PARAMETERS;
    void *section_address;
    char **debuginfo_path;
} Dwfl_Callbacks;

/* Of DWARF. */
enum {
    TAG_ARRAY = 0x01,
    TAG_MEMBER = 0x0d,
    TAG_POINTER = 0x0f,
    TAG_STRUCT = 0x13,
    TAG_TYPEDEF = 0x16,
    TAG_INLINED = 0x1d,
    TAG_SUBRANGE = 0x21,
    TAG_CONST = 0x26,
    TAG_SUBPROGRAM = 0x2e,
    TAG_VARIABLE = 0x34,
    TAG_VOLATILE = 0x35,
    TAG_ATOMIC = 0x47,
    AT_LOCATION = 0x02,
    AT_COUNT = 0x37,
    AT_UPPER_BOUND = 0x2f,
    AT_MEMBER_LOCATION = 0x38,
    AT_TYPE = 0x49,
    AT_CALL_FILE = 0x58,
    AT_CALL_LINE = 0x59,
    OP_ADDR = 0x03,
    OP_ADDRX = 0xa1
};

#define LIBDW_CALLS(CALL)                                                                                              \
    CALL(Dwfl *, dwfl_begin, (const Dwfl_Callbacks *callbacks))                                                        \
    CALL(void, dwfl_end, (Dwfl * dwfl))                                                                                \
    CALL(void, dwfl_report_begin, (Dwfl * dwfl))                                                                       \
    CALL(Dwfl_Module *, dwfl_report_elf,                                                                               \
         (Dwfl * dwfl, const char *name, const char *path, int fd, uint64_t base, bool add))                           \
    CALL(int, dwfl_report_end, (Dwfl * dwfl, void *removed, void *arg))                                                \
    CALL(int, dwfl_build_id_find_debuginfo, FIND_PARAMETERS)                                                           \
    CALL(int, dwfl_standard_find_debuginfo, FIND_PARAMETERS)                                                           \
    CALL(Dwarf_Die *, dwfl_module_addrdie, (Dwfl_Module * m, uint64_t address, uint64_t * bias))                       \
    CALL(Dwarf_Die *, dwfl_module_nextcu, (Dwfl_Module * m, Dwarf_Die * last, uint64_t * bias))                        \
    CALL(Dwfl_Line *, dwfl_module_getsrc, (Dwfl_Module * m, uint64_t address))                                         \
    CALL(const char *, dwfl_module_addrname, (Dwfl_Module * m, uint64_t address))                                      \
    CALL(const char *, dwfl_lineinfo,                                                                                  \
         (Dwfl_Line * line, uint64_t * address, int *number, int *column, void *m, void *n))                           \
    CALL(const char *, dwfl_line_comp_dir, (Dwfl_Line * line))                                                         \
    CALL(int, dwarf_haspc, (Dwarf_Die * die, uint64_t pc))                                                             \
    CALL(Dwarf_Line *, dwarf_getsrc_die, (Dwarf_Die * cu, uint64_t pc))                                                \
    CALL(const char *, dwarf_linesrc, (Dwarf_Line * line, uint64_t * time, uint64_t * size))                           \
    CALL(int, dwarf_lineno, (Dwarf_Line * line, int *number))                                                          \
    CALL(int, dwarf_getscopes, (Dwarf_Die * cu, uint64_t pc, Dwarf_Die * *scopes))                                     \
    CALL(int, dwarf_getscopes_die, (Dwarf_Die * die, Dwarf_Die * *scopes))                                             \
    CALL(Dwarf_Die *, dwarf_diecu, (Dwarf_Die * die, Dwarf_Die * cu, void *a, void *b))                                \
    CALL(int, dwarf_getsrcfiles, (Dwarf_Die * cu, Dwarf_Files * *files, size_t * count))                               \
    CALL(const char *, dwarf_filesrc, (Dwarf_Files * files, size_t index, uint64_t * time, uint64_t * size))           \
    CALL(int, dwarf_tag, (Dwarf_Die * die))                                                                            \
    CALL(const char *, dwarf_diename, (Dwarf_Die * die))                                                               \
    CALL(int, dwarf_child, (Dwarf_Die * die, Dwarf_Die * child))                                                       \
    CALL(int, dwarf_siblingof, (Dwarf_Die * die, Dwarf_Die * next))                                                    \
    CALL(Dwarf_Attribute *, dwarf_attr_integrate, (Dwarf_Die * die, unsigned name, Dwarf_Attribute *attribute))        \
    CALL(Dwarf_Die *, dwarf_formref_die, (Dwarf_Attribute * attribute, Dwarf_Die * die))                               \
    CALL(int, dwarf_formudata, (Dwarf_Attribute * attribute, uint64_t * value))                                        \
    CALL(int, dwarf_aggregate_size, (Dwarf_Die * die, uint64_t * size))                                                \
    CALL(int, dwarf_getlocation, (Dwarf_Attribute * attribute, Dwarf_Op * *ops, size_t * count))                       \
    CALL(int, dwarf_getlocation_attr, (Dwarf_Attribute * attribute, const Dwarf_Op *op, Dwarf_Attribute *result))      \
    CALL(int, dwarf_formaddr, (Dwarf_Attribute * attribute, uint64_t * address))

static struct {
    bool tried, there;
    void (*free)(void *memory); /* the C library's */
#define CALL_FIELD(answer, name, parameters) answer(*name) parameters;
    LIBDW_CALLS(CALL_FIELD)
#undef CALL_FIELD
} dw;

/* One that is open: a story asks for the same file again and again. */
static struct {
    char path[RAD_DEBUG_PATH_MAX];
    Dwfl *dwfl;
    Dwfl_Module *module;
} opened;

static Dwfl_Callbacks callbacks;

static void *symbol(void *library, const char *name, bool *there)
{
    void *found = dlsym(library, name);
    if (found == NULL) *there = false;
    return found;
}

/* Where a program without debug information has it: under its build id, or in the file that it names. The standard way
 * asks servers at last, for which libdw loads thirty libraries, also when no server is named: 10 of the 34 ms of an
 * exploration with one run. So it is tried only where a file is named. */
static int find_debug_file FIND_PARAMETERS
{
    int fd = dw.dwfl_build_id_find_debuginfo(m, user, name, base, path, link, checksum, found);
    if (fd >= 0 || link == NULL) return fd;
    return dw.dwfl_standard_find_debuginfo(m, user, name, base, path, link, checksum, found);
}

static bool load(void)
{
    if (dw.tried) return dw.there;
    dw.tried = true;
    void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
    bool there = library != NULL;
    if (!there) return false;
    void *found;
#define CALL_FIND(answer, name, parameters)                                                                            \
    found = symbol(library, #name, &there);                                                                            \
    memcpy(&dw.name, &found, sizeof found);
    LIBDW_CALLS(CALL_FIND)
#undef CALL_FIND
    found = symbol(RTLD_DEFAULT, "free", &there);
    memcpy(&dw.free, &found, sizeof found);
    callbacks.find_elf = symbol(library, "dwfl_build_id_find_elf", &there);
    callbacks.find_debuginfo = find_debug_file;
    callbacks.section_address = symbol(library, "dwfl_offline_section_address", &there);
    return dw.there = there;
}

bool rad__debug_is_there(void)
{
    return load();
}

void rad__debug_close(void)
{
    if (opened.dwfl) dw.dwfl_end(opened.dwfl);
    opened.dwfl = NULL;
    opened.path[0] = 0;
}

/* libdw asks servers for what it does not find if this variable names some. */
static Dwfl_Module *module_of(const char *path)
{
    static const char servers[] = "DEBUGINFOD_URLS";
    if (!load()) return NULL;
    if (opened.dwfl && strcmp(opened.path, path) == 0) return opened.module;
    rad__debug_close();
    const char *named = getenv(servers);
    char *kept = named ? rad__copy_text(named) : NULL;
    unsetenv(servers);
    opened.dwfl = dw.dwfl_begin(&callbacks);
    opened.module = NULL;
    if (opened.dwfl) {
        uint64_t bias;
        dw.dwfl_report_begin(opened.dwfl);
        opened.module = dw.dwfl_report_elf(opened.dwfl, path, path, -1, 0, true);
        dw.dwfl_report_end(opened.dwfl, NULL, NULL);
        snprintf(opened.path, sizeof opened.path, "%s", path);
        if (opened.module) dw.dwfl_module_nextcu(opened.module, NULL, &bias);
    }
    if (kept) setenv(servers, kept, 1);
    rad__free(kept);
    return opened.module;
}

static void copy_text(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from ? from : "");
}

/* ---- Code ---------------------------------------------------------------------------------------------- */

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *value)
{
    Dwarf_Attribute attribute;
    return dw.dwarf_attr_integrate(die, name, &attribute) != NULL && dw.dwarf_formudata(&attribute, value) == 0;
}

/* Where the function was called that was inlined there. */
static void call_place(Dwarf_Die *inlined, const rad_debug_frame *inner, rad_debug_frame *f)
{
    Dwarf_Die cu;
    Dwarf_Files *files;
    uint64_t file = 0, line = 0;
    *f = (rad_debug_frame){.line = 0};
    memcpy(f->folder, inner->folder, sizeof f->folder);
    if (dw.dwarf_diecu(inlined, &cu, NULL, NULL) == NULL || dw.dwarf_getsrcfiles(&cu, &files, NULL) != 0 ||
        !number_of(inlined, AT_CALL_FILE, &file))
        return;
    copy_text(f->file, sizeof f->file, dw.dwarf_filesrc(files, (size_t)file, NULL, NULL));
    if (number_of(inlined, AT_CALL_LINE, &line)) f->line = (uint32_t)line;
}

/* The scopes of the innermost one, as the code is nested, which is not as it is written where it was inlined. */
static uint32_t add_functions(Dwarf_Die *scopes, int count, rad_debug_frame *frames)
{
    uint32_t at = 0;
    for (int i = 0; i < count && at < RAD_DEBUG_FRAMES_MAX; i++) {
        int tag = dw.dwarf_tag(&scopes[i]);
        if (tag != TAG_INLINED && tag != TAG_SUBPROGRAM) continue;
        const char *name = dw.dwarf_diename(&scopes[i]);
        if (name) copy_text(frames[at].function, sizeof frames[at].function, name);
        at++;
        if (tag == TAG_SUBPROGRAM || at == RAD_DEBUG_FRAMES_MAX) break;
        call_place(&scopes[i], &frames[at - 1], &frames[at]);
    }
    return at;
}

/* The unit that has this code. clang writes no table of them (.debug_aranges): then libdw finds none, or one that lies
 * before it, and all are asked. */
static Dwarf_Die *unit_at(Dwfl_Module *m, uint64_t offset, uint64_t *bias)
{
    Dwarf_Die *cu = dw.dwfl_module_addrdie(m, offset, bias);
    if (cu != NULL && dw.dwarf_haspc(cu, offset - *bias) > 0) return cu;
    cu = NULL;
    while ((cu = dw.dwfl_module_nextcu(m, cu, bias)) != NULL)
        if (dw.dwarf_haspc(cu, offset - *bias) > 0) return cu;
    return NULL;
}

/* The file, or NULL; *folder may be NULL, too. */
static const char *source_at(Dwfl_Module *m, uint64_t offset, const char **folder, int *number)
{
    Dwfl_Line *line = dw.dwfl_module_getsrc(m, offset);
    const char *file = line ? dw.dwfl_lineinfo(line, NULL, number, NULL, NULL, NULL) : NULL;
    *folder = file ? dw.dwfl_line_comp_dir(line) : NULL;
    if (line != NULL) return file;
    uint64_t bias = 0;
    Dwarf_Die *cu = unit_at(m, offset, &bias);
    Dwarf_Line *of_unit = cu ? dw.dwarf_getsrc_die(cu, offset - bias) : NULL;
    file = of_unit ? dw.dwarf_linesrc(of_unit, NULL, NULL) : NULL;
    if (file) dw.dwarf_lineno(of_unit, number);
    return file;
}

static void line_at(Dwfl_Module *m, uint64_t offset, rad_debug_frame *f)
{
    const char *folder;
    int number = 0;
    copy_text(f->file, sizeof f->file, source_at(m, offset, &folder, &number));
    copy_text(f->folder, sizeof f->folder, folder);
    f->line = number > 0 ? (uint32_t)number : 0;
}

void rad__debug_source(const char *path, uint64_t offset, char *file, size_t size)
{
    Dwfl_Module *m = module_of(path);
    const char *folder = NULL;
    int number = 0;
    const char *name = m ? source_at(m, offset, &folder, &number) : NULL;
    bool whole = name == NULL || *name == '/' || folder == NULL;
    int used = snprintf(file, size, "%s%s%s", whole ? "" : folder, whole ? "" : "/", name ? name : "");
    if (used < 0 || (size_t)used >= size) file[0] = 0;
}

static uint32_t nested(Dwfl_Module *m, uint64_t offset, rad_debug_frame *frames)
{
    uint64_t bias = 0;
    Dwarf_Die *scopes = NULL, innermost, *cu = unit_at(m, offset, &bias);
    uint32_t count = 0;
    int n = cu ? dw.dwarf_getscopes(cu, offset - bias, &scopes) : 0;
    if (n > 0) {
        innermost = scopes[0];
        dw.free(scopes); /* libdw has it from malloc */
        scopes = NULL;
        n = dw.dwarf_getscopes_die(&innermost, &scopes);
    }
    if (n > 0) count = add_functions(scopes, n, frames);
    dw.free(scopes);
    return count;
}

uint32_t rad__debug_code(const char *path, uint64_t offset, rad_debug_frame frames[RAD_DEBUG_FRAMES_MAX])
{
    Dwfl_Module *m = module_of(path);
    if (m == NULL) return 0;
    frames[0] = (rad_debug_frame){.line = 0};
    line_at(m, offset, &frames[0]);
    uint32_t count = nested(m, offset, frames);
    if (count > 0) return count;
    copy_text(frames[0].function, sizeof frames[0].function, dw.dwfl_module_addrname(m, offset));
    return frames[0].function[0] || frames[0].file[0] ? 1 : 0;
}

/* ---- Data ---------------------------------------------------------------------------------------------- */

enum { DEPTH_MAX = 8, ELEMENTS_MAX = 64 };

typedef struct naming {
    const char *const *types;
    rad_debug_name *names;
    uint32_t count, max;
} naming;

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dw.dwarf_attr_integrate(die, AT_TYPE, &attribute) != NULL && dw.dwarf_formref_die(&attribute, type) != NULL;
}

static bool is_wanted(const naming *n, Dwarf_Die *type)
{
    const char *name = dw.dwarf_diename(type);
    for (uint32_t i = 0; name && n->types[i]; i++)
        if (strcmp(name, n->types[i]) == 0) return true;
    return false;
}

/* Without const, volatile and names; false: a type of `types` was met on the way. */
static bool bare_type(const naming *n, Dwarf_Die *type)
{
    for (uint32_t i = 0; i < 2 * DEPTH_MAX; i++) {
        int tag = dw.dwarf_tag(type);
        if (is_wanted(n, type)) return false;
        if (tag == TAG_POINTER) {
            Dwarf_Die to;
            return !(type_of(type, &to) && is_wanted(n, &to));
        }
        if (tag != TAG_TYPEDEF && tag != TAG_CONST && tag != TAG_VOLATILE && tag != TAG_ATOMIC) return true;
        if (!type_of(type, type)) return true;
    }
    return true;
}

static void name_parts(naming *n, Dwarf_Die *type, uint64_t offset, const char *name, uint32_t depth);

static void name_members(naming *n, Dwarf_Die *type, uint64_t offset, const char *name, uint32_t depth)
{
    Dwarf_Die member, of;
    for (int more = dw.dwarf_child(type, &member); more == 0; more = dw.dwarf_siblingof(&member, &member)) {
        char part[RAD_DEBUG_NAME_MAX];
        uint64_t at = 0;
        const char *own = dw.dwarf_diename(&member);
        if (dw.dwarf_tag(&member) != TAG_MEMBER || !type_of(&member, &of)) continue;
        number_of(&member, AT_MEMBER_LOCATION, &at);
        int size = snprintf(part, sizeof part, "%s%s%s", name, own ? "." : "", own ? own : "");
        if (size < (int)sizeof part) name_parts(n, &of, offset + at, part, depth);
    }
}

static void name_elements(naming *n, Dwarf_Die *type, uint64_t offset, const char *name, uint32_t depth)
{
    Dwarf_Die of, range;
    uint64_t size = 0, last = 0, count = 0;
    if (!type_of(type, &of) || dw.dwarf_aggregate_size(&of, &size) != 0 || size == 0 ||
        dw.dwarf_child(type, &range) != 0 || dw.dwarf_tag(&range) != TAG_SUBRANGE)
        return;
    if (number_of(&range, AT_UPPER_BOUND, &last))
        count = last + 1;
    else
        number_of(&range, AT_COUNT, &count);
    for (uint64_t i = 0; i < count && i < ELEMENTS_MAX; i++) {
        char part[RAD_DEBUG_NAME_MAX];
        int used = snprintf(part, sizeof part, "%s[%llu]", name, (unsigned long long)i);
        Dwarf_Die element = of;
        if (used < (int)sizeof part) name_parts(n, &element, offset + i * size, part, depth);
    }
}

static void name_parts(naming *n, Dwarf_Die *type, uint64_t offset, const char *name, uint32_t depth)
{
    if (n->count == n->max || depth == DEPTH_MAX) return;
    if (!bare_type(n, type)) {
        rad_debug_name *to = &n->names[n->count++];
        to->offset = offset;
        copy_text(to->name, sizeof to->name, name);
    } else if (dw.dwarf_tag(type) == TAG_STRUCT) {
        name_members(n, type, offset, name, depth + 1);
    } else if (dw.dwarf_tag(type) == TAG_ARRAY) {
        name_elements(n, type, offset, name, depth + 1);
    }
}

/* A variable that lies in the data. clang writes the number of an address that stands in a table (DWARF 5). */
static bool lies_at(Dwarf_Die *variable, uint64_t *at)
{
    Dwarf_Attribute place, address;
    Dwarf_Op *ops;
    size_t count;
    if (!dw.dwarf_attr_integrate(variable, AT_LOCATION, &place) || dw.dwarf_getlocation(&place, &ops, &count) != 0 ||
        count != 1)
        return false;
    if (ops[0].atom == OP_ADDRX)
        return dw.dwarf_getlocation_attr(&place, ops, &address) == 0 && dw.dwarf_formaddr(&address, at) == 0;
    *at = ops[0].number;
    return ops[0].atom == OP_ADDR;
}

/* Also in functions: static variables. */
static void name_variables(naming *n, Dwarf_Die *scope, uint32_t depth)
{
    Dwarf_Die at, type;
    for (int more = dw.dwarf_child(scope, &at); more == 0; more = dw.dwarf_siblingof(&at, &at)) {
        uint64_t offset;
        int tag = dw.dwarf_tag(&at);
        if (tag == TAG_SUBPROGRAM && depth == 0) name_variables(n, &at, depth + 1);
        if (tag != TAG_VARIABLE || !lies_at(&at, &offset) || !type_of(&at, &type)) continue;
        const char *name = dw.dwarf_diename(&at);
        if (name && strlen(name) < RAD_DEBUG_NAME_MAX) name_parts(n, &type, offset, name, 0);
    }
}

uint32_t rad__debug_names(const char *path, const char *const *types, rad_debug_name *names, uint32_t max)
{
    Dwfl_Module *m = module_of(path);
    naming n = {.types = types, .names = names, .max = max};
    uint64_t bias;
    for (Dwarf_Die *cu = NULL; m != NULL && (cu = dw.dwfl_module_nextcu(m, cu, &bias)) != NULL;)
        name_variables(&n, cu, 0);
    return n.count;
}
