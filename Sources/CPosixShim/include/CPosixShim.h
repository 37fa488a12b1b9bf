// Calls of the C library that Swift cannot import by itself: macros, variadics, and headers outside Glibc's module.
#ifndef ALCOVE_POSIX_SHIM_H
#define ALCOVE_POSIX_SHIM_H
#include <stddef.h>
#include <stdint.h>

/// Bytes of memory this process holds resident, or 0 when the system does not say.
uint64_t alcove_resident_bytes(void);

/// Names the calling thread for the system's tools; 15 bytes are kept.
void alcove_name_thread(const char *name);

#endif
