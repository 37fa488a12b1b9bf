// Ends the process, as kill -9 does, before the write to the store that $CRASH_WRITE numbers, counted from when the file
// $CRASH_ARMED is there. Loaded in front of the C library by test_crashes.py.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int written;

static void count(int file) {
    const char *at = getenv("CRASH_WRITE"), *armed = getenv("CRASH_ARMED");
    if (!at || !armed || access(armed, F_OK) != 0) return;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return;
    path[length] = 0;
    if (!strstr(path, ".sqlite") && !strstr(path, ".db")) return;
    if (atomic_fetch_add(&written, 1) + 1 == atoi(at)) kill(getpid(), SIGKILL);
}

ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = (ssize_t(*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    count(file);
    return real(file, bytes, size, offset);
}

ssize_t pwrite(int file, const void *bytes, size_t size, off_t offset) { return pwrite64(file, bytes, size, offset); }
