// The sandbox's second wall: system calls that no script needs and that have broken kernels before.
//
// The first wall is the namespaces. A filter that forbids is chosen over one that allows: programs of all sorts must
// run, and each entry here has a reason. Denied calls fail as if the kernel lacked them or the right, and nobody dies.
#define _GNU_SOURCE
#include "CPosixShim.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Numbers from 424 on are the same everywhere, and older headers lack the newest.
enum {
    call_open_tree = 428, call_move_mount, call_fsopen, call_fsconfig, call_fsmount, call_fspick,
    call_clone3 = 435, call_openat2 = 437, call_pidfd_getfd = 438, call_process_madvise = 440,
    call_mount_setattr = 442, call_quotactl_fd = 443, call_fchmodat2 = 452, call_open_tree_attr = 467,
    call_io_uring_setup = 425, call_io_uring_enter, call_io_uring_register,
};

static const int forbidden[] = {
    // Other processes' memory and descriptors.
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, call_pidfd_getfd, call_process_madvise,
    // Another view of the file system; files by handle, around every path.
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, call_open_tree, call_open_tree_attr, call_move_mount,
    call_fsopen, call_fsconfig, call_fsmount, call_fspick, call_mount_setattr, SYS_name_to_handle_at,
    SYS_open_by_handle_at, SYS_fanotify_init, SYS_quotactl, call_quotactl_fd, SYS_swapon, SYS_swapoff, SYS_acct,
    // New namespaces give all rights within them, and with them most of the kernel to attack.
    SYS_unshare, SYS_setns,
    // Large kernel interfaces with a history.
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key, SYS_request_key, SYS_personality,
    SYS_move_pages, SYS_migrate_pages, SYS_lookup_dcookie,
    // The machine itself.
    SYS_kexec_load, SYS_kexec_file_load, SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_syslog,
    SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_sethostname, SYS_setdomainname,
    SYS_vhangup, SYS_nfsservctl,
#if defined(__x86_64__)
    SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_uselib, SYS_ustat, SYS_sysfs, SYS__sysctl, SYS_create_module,
#endif
};

// As if the kernel were too old: the C library then uses what the filter can look into.
static const int unknown[] = {
    call_clone3, call_openat2, call_io_uring_setup, call_io_uring_enter, call_io_uring_register,
};

// Calls that may make a file run with its owner's rights, and the argument that says so. Only whoever can reach the
// workspace from outside would gain, but then the rights of the person who runs Alcove.
static const struct {
    int call, mode;
    // The argument without whose O_CREAT or O_TMPFILE the mode is not read and may be anything; -1 when it always is.
    int flags;
} modes[] = {
    {SYS_fchmod, 1, -1}, {SYS_fchmodat, 2, -1}, {call_fchmodat2, 2, -1}, {SYS_openat, 3, 2}, {SYS_mknodat, 2, -1},
#if defined(__x86_64__)
    {SYS_chmod, 1, -1}, {SYS_open, 2, 1}, {SYS_creat, 1, -1}, {SYS_mknod, 1, -1},
#endif
};

struct program {
    struct sock_filter *code;
    size_t count, capacity;
};

static void add(struct program *program, uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false) {
    if (program->count < program->capacity) {
        program->code[program->count] = (struct sock_filter){code, if_true, if_false, value};
    }
    program->count++;
}

static void load(struct program *program, size_t offset) {
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

// The low half: every argument looked at here is an int or its upper bits mean nothing. Both systems are little endian.
static void load_argument(struct program *program, int index) {
    load(program, offsetof(struct seccomp_data, args) + 8 * (size_t)index);
}

static void answer(struct program *program, uint32_t action) { add(program, BPF_RET | BPF_K, action, 0, 0); }

static void fail(struct program *program, int code) { answer(program, SECCOMP_RET_ERRNO | (uint32_t)code); }

static void unless_call_skip(struct program *program, int call, uint8_t steps) {
    add(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, steps);
}

size_t alcove_system_call_filter(int allows_network, void *bytes, size_t capacity) {
    struct program program = {bytes, 0, capacity / sizeof(struct sock_filter)};
    struct program *p = &program;

    // A call by another architecture's numbers would mean something else: 32-bit programs do not run.
    load(p, offsetof(struct seccomp_data, arch));
    add(p, BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCHITECTURE, 1, 0);
    answer(p, SECCOMP_RET_KILL_PROCESS);
    load(p, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
    add(p, BPF_JMP | BPF_JGE | BPF_K, 0x40000000 /* the x32 numbers */, 0, 1);
    fail(p, ENOSYS);
#endif

    for (size_t index = 0; index < sizeof forbidden / sizeof forbidden[0]; index++) {
        unless_call_skip(p, forbidden[index], 1);
        fail(p, EPERM);
    }
    for (size_t index = 0; index < sizeof unknown / sizeof unknown[0]; index++) {
        unless_call_skip(p, unknown[index], 1);
        fail(p, ENOSYS);
    }
    for (size_t index = 0; index < sizeof modes / sizeof modes[0]; index++) {
        const int has_flags = modes[index].flags >= 0;
        unless_call_skip(p, modes[index].call, has_flags ? 6 : 4);
        if (has_flags) {
            load_argument(p, modes[index].flags);
            add(p, BPF_JMP | BPF_JSET | BPF_K, O_CREAT | 020000000 /* O_TMPFILE's own bit */, 0, 3);
        }
        load_argument(p, modes[index].mode);
        add(p, BPF_JMP | BPF_JSET | BPF_K, S_ISUID | S_ISGID, 0, 1);
        fail(p, EPERM);
        answer(p, SECCOMP_RET_ALLOW);
    }

    unless_call_skip(p, SYS_clone, 4);
    load_argument(p, 0);
    add(p, BPF_JMP | BPF_JSET | BPF_K,
        CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET, 0, 1);
    fail(p, EPERM);
    answer(p, SECCOMP_RET_ALLOW);

    // Typing into the terminal that started us. The kernel looks at the low half of the request only.
    unless_call_skip(p, SYS_ioctl, 5);
    load_argument(p, 1);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, TIOCSTI, 1, 0);
    add(p, BPF_JMP | BPF_JEQ | BPF_K, 0x541C /* TIOCLINUX */, 0, 1);
    fail(p, EPERM);
    answer(p, SECCOMP_RET_ALLOW);

    const int families[] = {AF_UNIX, AF_INET, AF_INET6};
    const uint8_t allowed = allows_network ? 3 : 1;
    unless_call_skip(p, SYS_socket, (uint8_t)(allowed + 2));
    load_argument(p, 0);
    for (uint8_t index = 0; index < allowed; index++) {
        add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)families[index], (uint8_t)(allowed - index), 0);
    }
    fail(p, EAFNOSUPPORT);
    answer(p, SECCOMP_RET_ALLOW);

    return program.count <= program.capacity ? program.count * sizeof(struct sock_filter) : 0;
}
#else
size_t alcove_system_call_filter(int allows_network, void *bytes, size_t capacity) {
    (void)allows_network;
    (void)bytes;
    (void)capacity;
    return 0;
}
#endif
