/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* MADV_WIPEONFORK */
#include "base/process.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* Nothing is opened for it, so that too few descriptors are no reason to fail. */
static void find_namespace(dev_t *dev, ino_t *ino)
{
    struct stat found;
    bool there = stat("/proc/self/ns/pid", &found) == 0;
    *dev = there ? found.st_dev : 0;
    *ino = there ? found.st_ino : 0;
}

bool tenoni_process_begin(tenoni_process *process)
{
    memset(process, 0, sizeof *process);
    process->pid = getpid();
    void *page = mmap(NULL, page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    if (madvise(page, page_size(), MADV_WIPEONFORK) == 0) {
        process->mark = page;
        *process->mark = 1;
        return true;
    }
    munmap(page, page_size());
    find_namespace(&process->namespace_dev, &process->namespace_ino);
    return true;
}

static bool is_of_this_namespace(const tenoni_process *process)
{
    dev_t dev;
    ino_t ino;
    find_namespace(&dev, &ino);
    return dev == process->namespace_dev && ino == process->namespace_ino;
}

/* The number is compared, too, because a child of vfork has its parent's memory. */
bool tenoni_process_is_this(const tenoni_process *process)
{
    if (process->pid != getpid())
        return false;
    return process->mark != NULL ? *process->mark != 0 : is_of_this_namespace(process);
}

void tenoni_process_end(tenoni_process *process)
{
    if (process->mark != NULL)
        munmap((void *)(uintptr_t)process->mark, page_size());
    process->mark = NULL;
}
