#define _GNU_SOURCE
#include "CPosixShim.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/syscall.h>
#else
#include <sys/event.h>
#endif

int alcove_rename_exclusive(int from_folder, const char *from, int to_folder, const char *to) {
#if defined(__linux__)
    return syscall(SYS_renameat2, from_folder, from, to_folder, to, 1 /* RENAME_NOREPLACE */) == 0 ? 0 : errno;
#else
    return renameatx_np(from_folder, from, to_folder, to, RENAME_EXCL) == 0 ? 0 : errno;
#endif
}

int alcove_pipe(int *ends) {
#if defined(__linux__)
    return pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
#else
    if (pipe(ends) != 0) { return errno; }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

enum { most_descriptors = 32 };

int alcove_spawn(
    const char *path, const char *const *arguments, const char *const *environment, const int *descriptors, int count,
    int32_t *process) {
    if (count > most_descriptors) { return EINVAL; }
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP;
#if defined(__APPLE__)
    flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
    posix_spawnattr_setflags(&attributes, flags);

    // Copies far up, so that none is overwritten by the place of another.
    int copies[most_descriptors];
    int code = 0, copied = 0;
    for (; copied < count && code == 0; copied++) {
        copies[copied] = fcntl(descriptors[copied], F_DUPFD_CLOEXEC, 64);
        if (copies[copied] < 0) {
            code = errno;
            break;
        }
        code = posix_spawn_file_actions_adddup2(&actions, copies[copied], copied);
    }
#if defined(__GLIBC__)
    // Files that other libraries opened without O_CLOEXEC must not be readable in the sandbox.
    if (code == 0) { code = posix_spawn_file_actions_addclosefrom_np(&actions, count); }
#elif !defined(__APPLE__)
#error "alcove_spawn: say how this system closes what is not passed on"
#endif
    pid_t child = 0;
    if (code == 0) {
        code = posix_spawn(&child, path, &actions, &attributes, (char *const *)arguments, (char *const *)environment);
    }
    for (int index = 0; index < copied; index++) { close(copies[index]); }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    *process = child;
    return code;
}

#if defined(__linux__)
int alcove_process_descriptor(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int alcove_end_descriptor(int32_t process) { return alcove_process_descriptor(process); }

int alcove_signal_process(int descriptor, int signal_number) {
    return syscall(SYS_pidfd_send_signal, descriptor, signal_number, NULL, 0) == 0 ? 0 : errno;
}

int alcove_memory_file(const char *name, const void *bytes, size_t count) {
    int descriptor = memfd_create(name, MFD_CLOEXEC);
    if (descriptor < 0) { return -1; }
    for (size_t done = 0; done < count;) {
        ssize_t written = write(descriptor, (const char *)bytes + done, count - done);
        if (written < 0 && errno == EINTR) { continue; }
        if (written <= 0) {
            int code = errno;
            close(descriptor);
            errno = code;
            return -1;
        }
        done += (size_t)written;
    }
    lseek(descriptor, 0, SEEK_SET);
    return descriptor;
}
#else
int alcove_end_descriptor(int32_t process) {
    int queue = kqueue();
    if (queue < 0) { return -1; }
    fcntl(queue, F_SETFD, FD_CLOEXEC);
    struct kevent event;
    EV_SET(&event, process, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
    if (kevent(queue, &event, 1, NULL, 0, NULL) != 0) {
        int code = errno;
        close(queue);
        errno = code;
        return -1;
    }
    return queue;
}

int alcove_process_descriptor(int32_t process) {
    (void)process;
    errno = ENOTSUP;
    return -1;
}

int alcove_signal_process(int descriptor, int signal_number) {
    (void)descriptor;
    (void)signal_number;
    return ENOTSUP;
}

int alcove_memory_file(const char *name, const void *bytes, size_t count) {
    (void)name;
    (void)bytes;
    (void)count;
    errno = ENOTSUP;
    return -1;
}
#endif
