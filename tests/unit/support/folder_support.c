#include "folder_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "os/fault.h"
#include "os/file.h"

#include <unistd.h>

void folder_fresh(const char *folder, const char *path)
{
    rad_error error = {0};
    rad__os_fail_at(0);
    rad__alloc_fail_at(0);
    unlink(path);
    assert_int_equal(rad__os_make_directory(folder, &error), 0);
}

uint32_t folder_count(const char *folder)
{
    rad_os_names names;
    rad_error error = {0};
    assert_int_equal(rad__os_list(&names, folder, &error), 0);
    uint32_t count = names.count;
    rad__os_names_free(&names);
    return count;
}
