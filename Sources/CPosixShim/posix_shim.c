#define _GNU_SOURCE
#include "CPosixShim.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <malloc.h>
#include <stdio.h>

void alcove_return_freed_memory(void) {
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

uint64_t alcove_resident_bytes(void) {
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) { return 0; }
    unsigned long total = 0, resident = 0;
    int read = fscanf(file, "%lu %lu", &total, &resident);
    fclose(file);
    return read == 2 ? (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}
#elif defined(__APPLE__)
#include <mach/mach.h>

void alcove_return_freed_memory(void) {}

uint64_t alcove_wired_bytes(void) {
    vm_statistics64_data_t statistics;
    mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
    if (host_statistics64(mach_host_self(), HOST_VM_INFO64, (host_info64_t)&statistics, &count) != KERN_SUCCESS) {
        return 0;
    }
    return (uint64_t)statistics.wire_count * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t alcove_resident_bytes(void) {
    task_vm_info_data_t info;
    mach_msg_type_number_t count = TASK_VM_INFO_COUNT;
    // phys_footprint is the figure the system's memory limit is compared with.
    if (task_info(mach_task_self(), TASK_VM_INFO, (task_info_t)&info, &count) != KERN_SUCCESS) { return 0; }
    return info.phys_footprint;
}
#else
#error "alcove_resident_bytes: say how this system counts resident memory"
#endif

void alcove_name_thread(const char *name) {
#if defined(__APPLE__)
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);
#endif
}

uint64_t alcove_address_space_bytes(void) {
#if defined(__linux__)
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) { return 0; }
    unsigned long total = 0;
    int read = fscanf(file, "%lu", &total);
    fclose(file);
    return read == 1 ? (uint64_t)total * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
#else
    return 0;
#endif
}

int alcove_limit_address_space(uint64_t bytes) {
#if defined(__linux__)
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    return setrlimit(RLIMIT_AS, &limit) == 0 ? 0 : errno;
#else
    // Darwin counts the shared libraries of the whole system as address space; its limit would end the process at once.
    (void)bytes;
    return 0;
#endif
}

int alcove_limit_core_dump(void) {
    struct rlimit limit = {.rlim_cur = 0, .rlim_max = 0};
    return setrlimit(RLIMIT_CORE, &limit) == 0 ? 0 : errno;
}

void alcove_set_processor_timer(double seconds) {
    struct itimerval timer = {{0, 0}, {(time_t)seconds, (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6)}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

ptrdiff_t alcove_write_quietly(int descriptor, const void *bytes, size_t count) {
    sigset_t pipe_signal, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    ssize_t written = write(descriptor, bytes, count);
    int code = errno;
    if (written < 0 && code == EPIPE && !sigismember(&before, SIGPIPE)) {
        struct timespec none = {0, 0};
#if defined(__APPLE__)
        (void)none;
        int taken = 0;
        sigset_t pending;
        if (sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE)) { sigwait(&pipe_signal, &taken); }
#else
        sigtimedwait(&pipe_signal, NULL, &none);
#endif
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}
