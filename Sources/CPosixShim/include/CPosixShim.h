// System headers stay out of here: a type that two modules declare belongs, for Swift, to neither for sure.
// Calls of the C library that Swift cannot import by itself: macros, variadics, and headers outside Glibc's module.
#ifndef ALCOVE_POSIX_SHIM_H
#define ALCOVE_POSIX_SHIM_H
#include <stddef.h>
#include <stdint.h>

/// Bytes of memory this process holds resident, or 0 when the system does not say.
uint64_t alcove_resident_bytes(void);

/// Gives memory that was freed back to the system, where the C library keeps it for itself.
void alcove_return_freed_memory(void);

#if defined(__APPLE__)
/// Bytes of the machine that nobody else can have, or 0.
uint64_t alcove_wired_bytes(void);
#endif

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

/// Renames within open folders and refuses (EEXIST) when the new name is taken; 0 or an errno value.
int alcove_rename_exclusive(int from_folder, const char *from, int to_folder, const char *to);

/// Starts a program in a process group of its own. The descriptors become 0, 1, 2, ... in order; no other is passed on.
/// Signals are as a fresh process expects them.
///
/// Returns 0 or an errno value.
int alcove_spawn(
    const char *path, const char *const *arguments, const char *const *environment, const int *descriptors, int count,
    int32_t *process);

/// A pipe whose ends no other program inherits: reading end first. 0 or an errno value.
int alcove_pipe(int *ends);

/// A descriptor that becomes readable when a child of this process has ended; -1 with errno set.
int alcove_end_descriptor(int32_t process);

/// A descriptor that means one process and never its successor of the same number; -1 with errno set.
int alcove_process_descriptor(int32_t process);

/// Sends a signal through such a descriptor; 0 or an errno value.
int alcove_signal_process(int descriptor, int signal_number);

/// A nameless file in memory that holds these bytes, to be read from the start; -1 with errno set.
int alcove_memory_file(const char *name, const void *bytes, size_t count);

/// Writes the system call filter of the sandbox, in the kernel's own form, for the processor this was built for.
///
/// Returns its length in bytes; 0 when there is none for this system.
size_t alcove_system_call_filter(int allows_network, void *bytes, size_t capacity);

/// Two sockets that are connected, which keep messages apart where the system can. 0 or an errno value.
int alcove_socket_pair(int *ends);

/// Sends one byte and with it up to eight descriptors; 0 or an errno value. Never SIGPIPE on Linux.
int alcove_send_descriptors(int socket, const int *descriptors, int count);

/// Waits for such a message. How many descriptors came with it; 0 when the other end is closed, -1 for a fault.
int alcove_receive_descriptors(int socket, int *descriptors, int capacity);

/// fork(2), which Swift hides. Only for a process with one thread. -1 with errno set.
int32_t alcove_fork(void);

/// Other processes of the same user may not look into this one or change it; 0 or an errno value.
int alcove_hide_memory(void);

/// Holds this process, for good, to so much processor time, memory of its own (0: any) and file size; it starts no process and
/// signals none but itself, and without `allows_network` has no socket but pairs. 0 or an errno value.
int alcove_confine_run(uint64_t seconds, uint64_t data_bytes, uint64_t file_bytes, int allows_network);

#endif
