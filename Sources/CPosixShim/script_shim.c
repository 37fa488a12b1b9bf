// What alcove-runtime needs of the kernel: descriptors over a socket, a copy of itself for each run, and the run's limits.
#define _GNU_SOURCE
#include "CPosixShim.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { most_passed = 8 };

int alcove_socket_pair(int *ends) {
#if defined(__linux__)
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 ? 0 : errno;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) { return errno; }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int alcove_send_descriptors(int socket, const int *descriptors, int count) {
    if (count < 1 || count > most_passed) { return EINVAL; }
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * most_passed)];
    } control;
    memset(&control, 0, sizeof control);
    char byte = (char)count;
    struct iovec part = {&byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
    memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t)count);
    for (;;) {
#if defined(__linux__)
        ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
#else
        ssize_t sent = sendmsg(socket, &message, 0);
#endif
        if (sent >= 0) { return 0; }
        if (errno != EINTR) { return errno; }
    }
}

int alcove_receive_descriptors(int socket, int *descriptors, int capacity) {
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int) * most_passed)];
    } control;
    char byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {0};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    ssize_t got;
    do {
#if defined(__linux__)
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
#else
        got = recvmsg(socket, &message, 0);
#endif
    } while (got < 0 && errno == EINTR);
    if (got <= 0) { return got == 0 ? 0 : -1; }
    int count = 0;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) { continue; }
        int here = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        for (int index = 0; index < here; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(header) + sizeof(int) * (size_t)index, sizeof descriptor);
            if (count < capacity) {
                descriptors[count++] = descriptor;
            } else {
                close(descriptor);
            }
        }
    }
    return count > 0 ? count : -1;
}

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

int32_t alcove_fork(void) { return (int32_t)fork(); }

int alcove_hide_memory(void) { return prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : errno; }

enum { filter_capacity = 64 };

struct short_program {
    struct sock_filter code[filter_capacity];
    unsigned short count;
};

static void put(struct short_program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    if (program->count < filter_capacity) {
        program->code[program->count++] = (struct sock_filter){code, if_true, if_false, value};
    }
}

static void put_load(struct short_program *p, size_t offset) {
    put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void put_answer(struct short_program *p, uint32_t action) { put(p, BPF_RET | BPF_K, action, 0, 0); }

// One program, for ever: no other process is started or reached. Comes on top of the sandbox's own filter.
static int forbid_processes(int allows_network) {
    struct short_program program = {.count = 0};
    struct short_program *p = &program;
    const uint32_t refused = SECCOMP_RET_ERRNO | EPERM;
    put_load(p, offsetof(struct seccomp_data, nr));
    const int never[] = {
#if defined(__x86_64__)
        SYS_fork, SYS_vfork,
#endif
        SYS_execve, SYS_execveat, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_tkill,
        424 /* pidfd_send_signal */, 434 /* pidfd_open */, SYS_setpgid, SYS_setsid,
    };
    for (size_t index = 0; index < sizeof never / sizeof never[0]; index++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)never[index], 0, 1);
        put_answer(p, refused);
    }
    // Threads, but no processes.
    put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4);
    put_load(p, offsetof(struct seccomp_data, args));
    put(p, BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0);
    put_answer(p, refused);
    put_answer(p, SECCOMP_RET_ALLOW);
    // Signals and limits: for itself only.
    const struct { int call; } own[] = {{SYS_kill}, {SYS_tgkill}, {SYS_prlimit64}};
    for (size_t index = 0; index < sizeof own / sizeof own[0]; index++) {
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)own[index].call, 0, 5);
        put_load(p, offsetof(struct seccomp_data, args));
        put(p, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, 0);
        put(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 1, 0);
        put_answer(p, refused);
        put_answer(p, SECCOMP_RET_ALLOW);
    }
    // Names of sockets are not files: with the network on, those of the whole machine could be reached.
    put(p, BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4);
    put_load(p, offsetof(struct seccomp_data, args));
    put(p, BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 0, 1);
    put_answer(p, SECCOMP_RET_ERRNO | EAFNOSUPPORT);
    put_answer(p, allows_network ? SECCOMP_RET_ALLOW : (SECCOMP_RET_ERRNO | EAFNOSUPPORT));
    put_answer(p, SECCOMP_RET_ALLOW);
    if (program.count >= filter_capacity) { return ENOMEM; }
    struct sock_fprog whole = {program.count, program.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) { return errno; }
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &whole) == 0 ? 0 : errno;
}

static int limit(__rlimit_resource_t what, uint64_t value) {
    struct rlimit now;
    if (getrlimit(what, &now) != 0) { return errno; }
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value) { value = now.rlim_max; }
    struct rlimit wanted = {value, value};
    return setrlimit(what, &wanted) == 0 ? 0 : errno;
}

int alcove_confine_run(uint64_t seconds, uint64_t data_bytes, uint64_t file_bytes, int allows_network) {
    int code = limit(RLIMIT_CORE, 0);
    if (code == 0) { code = limit(RLIMIT_CPU, seconds); }
    if (code == 0 && data_bytes > 0) { code = limit(RLIMIT_DATA, data_bytes); }
    if (code == 0) { code = limit(RLIMIT_FSIZE, file_bytes); }
    if (code == 0) { code = limit(RLIMIT_NOFILE, 1024); }
    return code == 0 ? forbid_processes(allows_network) : code;
}
#else
int32_t alcove_fork(void) {
    errno = ENOTSUP;
    return -1;
}

int alcove_hide_memory(void) { return ENOTSUP; }

int alcove_confine_run(uint64_t seconds, uint64_t data_bytes, uint64_t file_bytes, int allows_network) {
    (void)seconds;
    (void)data_bytes;
    (void)file_bytes;
    (void)allows_network;
    return ENOTSUP;
}
#endif
