#define _GNU_SOURCE
#include "CPosixShim.h"
#include <pthread.h>

#if defined(__linux__)
#include <stdio.h>
#include <unistd.h>

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
