#include "edit_support.h"

#include "lab/machines/toys/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 64, NAME = 48, WORDS = 6, JUMPS = 64 };

typedef struct names {
    char at[NAMES + 1][NAME];
    uint32_t number[NAMES];
    uint32_t count;
} names;

typedef struct builder {
    rad_vm *vm;
    names objects, labels;
    names *sites;
    char words[WORDS][NAME];
    uint32_t word_count;
    char site_name[NAME];
    struct {
        uint32_t place;
        char label[NAME];
    } jumps[JUMPS];
    uint32_t jump_count;
} builder;

/* Per machine and edition; filled when an instance is built, always in the same way. */
static names site_tables[EDITED_MACHINES][EDIT_EDITIONS];
static const char *site_lists[EDITED_MACHINES][EDIT_EDITIONS][NAMES + 1];

static uint32_t name_find(const names *n, const char *name)
{
    for (uint32_t i = 0; i < n->count; i++)
        if (strcmp(n->at[i], name) == 0) return i;
    return RAD_NONE;
}

static uint32_t name_add(names *n, const char *name, uint32_t number)
{
    if (n->count == NAMES) abort();
    snprintf(n->at[n->count], NAME, "%s", name);
    n->number[n->count] = number;
    return n->count++;
}

static uint32_t site(builder *b, const char *more)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.30s%s", b->site_name, more);
    uint32_t known = name_find(b->sites, name);
    return known != RAD_NONE ? known : name_add(b->sites, name, 0);
}

/* Machines keep the texts they are given: each is stored once, for as long as the program runs. */
static const char *lasting(const char *text)
{
    static names all;
    uint32_t known = name_find(&all, text);
    return all.at[known != RAD_NONE ? known : name_add(&all, text, 0)];
}

static uint32_t object(builder *b, uint32_t word, char kind)
{
    const char *role = b->words[word];
    uint32_t known = name_find(&b->objects, role);
    if (known != RAD_NONE) return b->objects.number[known];
    uint32_t at = name_add(&b->objects, role, 0);
    b->objects.number[at] = kind == 'm'   ? vm_mutex(b->vm, lasting(role))
                            : kind == 'c' ? rad__vm_cond(b->vm, lasting(role))
                                          : vm_cell(b->vm, lasting(role), 0);
    return b->objects.number[at];
}

static int32_t value(const builder *b, uint32_t word)
{
    const char *w = b->words[word];
    return w[0] == 'r' ? R0 + (w[1] - '0') : (int32_t)strtol(w, NULL, 10);
}

static void jump(builder *b, uint32_t place, uint32_t label)
{
    if (b->jump_count == JUMPS) abort();
    b->jumps[b->jump_count].place = place;
    snprintf(b->jumps[b->jump_count++].label, NAME, "%s", b->words[label]);
}

static bool emit_local(builder *b, const char *op)
{
    rad_vm *vm = b->vm;
    if (op[0] == ':')
        name_add(&b->labels, op + 1, vm_here(vm));
    else if (strcmp(op, "set") == 0)
        vm_set(vm, (enum vm_register)value(b, 1), value(b, 2));
    else if (strcmp(op, "add") == 0)
        vm_add(vm, (enum vm_register)value(b, 1), value(b, 1), value(b, 2));
    else if (strcmp(op, "claim") == 0)
        vm_claim(vm, value(b, 1), VM_EQ, value(b, 2), object(b, 3, 'x'), lasting(b->words[3]));
    else if (strcmp(op, "jz") == 0)
        jump(b, vm_jump_if(vm, value(b, 1), VM_EQ, 0), 2);
    else if (strcmp(op, "jnz") == 0)
        jump(b, vm_jump_if(vm, value(b, 1), VM_NE, 0), 2);
    else if (strcmp(op, "jmp") == 0)
        jump(b, vm_jump(vm), 1);
    else
        return false;
    return true;
}

static void emit_shared(builder *b, const char *op)
{
    rad_vm *vm = b->vm;
    uint32_t at = site(b, "");
    if (strcmp(op, "load") == 0)
        vm_load(vm, at, (enum vm_register)value(b, 2), object(b, 1, 'x'));
    else if (strcmp(op, "store") == 0)
        vm_store(vm, at, object(b, 1, 'x'), value(b, 2));
    else if (strcmp(op, "fadd") == 0)
        vm_fetch_add(vm, at, (enum vm_register)value(b, 3), object(b, 1, 'x'), value(b, 2));
    else if (strcmp(op, "cas") == 0)
        vm_cas(vm, at, (enum vm_register)value(b, 4), object(b, 1, 'x'), value(b, 2), value(b, 3));
    else if (strcmp(op, "follow") == 0)
        vm_follow(vm, at, object(b, 1, 'x'), value(b, 2));
    else if (strcmp(op, "pick") == 0)
        vm_pick(vm, at, (enum vm_register)value(b, 2), value(b, 1));
    else if (strcmp(op, "lock") == 0)
        vm_lock(vm, at, object(b, 1, 'm'));
    else if (strcmp(op, "unlock") == 0)
        vm_unlock(vm, at, object(b, 1, 'm'));
    else if (strcmp(op, "wait") == 0)
        vm_wait(vm, at, site(b, " (woken)"), object(b, 1, 'c'), object(b, 2, 'm'));
    else if (strcmp(op, "signal") == 0)
        vm_signal(vm, at, object(b, 1, 'c'));
    else if (strcmp(op, "broadcast") == 0)
        vm_broadcast(vm, at, object(b, 1, 'c'));
    else if (strcmp(op, "spawn") == 0)
        vm_spawn(vm, at, (uint32_t)value(b, 1));
    else if (strcmp(op, "join") == 0)
        vm_join(vm, at, (uint32_t)value(b, 1), (uint32_t)value(b, 2));
    else if (strcmp(op, "yield") == 0)
        vm_yield(vm, at);
    else {
        fprintf(stderr, "no operation is called '%s'\n", op);
        abort();
    }
}

/* One operation: its words, and the name of its site. */
static void emit(builder *b, const char *text, size_t size)
{
    char line[96];
    if (size >= sizeof line) abort();
    memcpy(line, text, size);
    line[size] = 0;
    char *name = strchr(line, '@');
    if (name) *name++ = 0;
    b->word_count = 0;
    b->site_name[0] = 0;
    for (const char *at = line + strspn(line, " "); *at && b->word_count < WORDS;) {
        size_t used = strlen(b->site_name), length = strcspn(at, " ");
        snprintf(b->site_name + used, NAME - used, "%s%.*s", used ? " " : "", (int)length, at);
        snprintf(b->words[b->word_count++], NAME, "%.*s", (int)length, at);
        at += length;
        at += strspn(at, " ");
    }
    if (name) snprintf(b->site_name, NAME, "%.40s", name);
    if (b->word_count > 0 && !emit_local(b, b->words[0])) emit_shared(b, b->words[0]);
}

static uint32_t emit_program(builder *b, const char *text)
{
    uint32_t program = vm_here(b->vm);
    b->labels.count = b->jump_count = 0;
    while (*text) {
        size_t size = strcspn(text, ";");
        emit(b, text, size);
        text += size + (text[size] == ';');
    }
    name_add(&b->labels, "end", vm_here(b->vm));
    vm_end(b->vm);
    for (uint32_t i = 0; i < b->jump_count && !b->vm->failed; i++) {
        uint32_t label = name_find(&b->labels, b->jumps[i].label);
        if (label == RAD_NONE) abort();
        b->vm->code[b->jumps[i].place].to = b->labels.number[label];
    }
    return program;
}

typedef struct edited_toy {
    vm_toy toy; /* first */
    uint32_t machine, edit;
} edited_toy;

static void build(rad_vm *vm, const rad_case *c)
{
    const edited_toy *toy = (const edited_toy *)vm->toy;
    uint32_t machine = toy->machine, edit = toy->edit;
    (void)c;
    const edition *e = &edited_machines[machine].editions[edit];
    builder *b = calloc(1, sizeof *b);
    names *sites = &site_tables[machine][edit];
    sites->count = 0;
    b->vm = vm;
    b->sites = sites;
    uint32_t programs[EDIT_THREADS] = {0}, count = 0;
    for (; count < EDIT_THREADS && e->threads[count].role; count++)
        programs[count] = emit_program(b, e->threads[count].text);
    for (uint32_t i = 0; i < count; i++) rad__vm_thread(vm, e->threads[i].role, programs[i], !e->threads[i].spawned);
    for (uint32_t i = 0; i < sites->count; i++) site_lists[machine][edit][i] = sites->at[i];
    site_lists[machine][edit][sites->count] = NULL;
    free(b);
}

static edited_toy toys[EDITED_MACHINES][EDIT_EDITIONS];

static int create(void **self, const rad_machine *m, const rad_case *c, rad_error *error)
{
    edited_toy *toy = (edited_toy *)m->own + c->params[0];
    rad_machine edited = {.own = toy};
    uint32_t machine = (uint32_t)((edited_toy(*)[EDIT_EDITIONS])m->own - toys), edit = (uint32_t)c->params[0];
    *toy = (edited_toy){{build, NULL, site_lists[machine][edit]}, machine, edit};
    return rad__vm_create(self, &edited, c, error);
}

const rad_machine *edited_rad_machine(uint32_t index)
{
    static const rad_param params[] = {
        {"edit", 0, 0, EDIT_EDITIONS - 1, "which edition", true},
        {.name = NULL},
    };
    static rad_machine machines[EDITED_MACHINES];
    machines[index] = (rad_machine){
        .name = edited_machines[index].name,
        .about = "a machine that is edited",
        .params = params,
        .bug_site = RAD_NONE,
        .own = toys[index],
        .create = create,
        VM_BUILT,
    };
    return &machines[index];
}
