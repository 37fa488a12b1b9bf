// System headers stay out of here: a type that two modules declare belongs, for Swift, to neither for sure.
// Calls of the C library that Swift cannot import by itself: macros, variadics, and headers outside Glibc's module.
#ifndef ALCOVE_POSIX_SHIM_H
#define ALCOVE_POSIX_SHIM_H
#include <stddef.h>
#include <stdint.h>

/// Bytes of memory this process holds resident, or 0 when the system does not say.
uint64_t alcove_resident_bytes(void);

/// Names the calling thread for the system's tools; 15 bytes are kept.
void alcove_name_thread(const char *name);

/// Bytes of address space this process uses now.
uint64_t alcove_address_space_bytes(void);

/// Limits this process's address space for good; 0 or an errno value.
int alcove_limit_address_space(uint64_t bytes);

/// No core file when this process dies.
int alcove_limit_core_dump(void);

/// Ends this process (SIGPROF) after so much processor time; zero takes that back.
void alcove_set_processor_timer(double seconds);

/// write(2) to a pipe or socket whose reader may be gone: EPIPE, never SIGPIPE.
ptrdiff_t alcove_write_quietly(int descriptor, const void *bytes, size_t count);

#endif
