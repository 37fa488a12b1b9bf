#if os(Linux)
import AlcoveCore
import TestFolder
import Testing

@testable import AlcoveSandbox

extension OneAtATime {
    /// Attempts to get out. Each prints ESCAPED when it worked; each stands beside the harmless use of the same means, which
    /// must work, or a sandbox in which nothing works would pass.
    struct EscapeTests {
        struct Attempt: Sendable, CustomTestStringConvertible {
            let name: String
            let script: String
            /// Prints "works".
            let control: String

            init(_ name: String, _ script: String, control: String = "echo works") {
                self.name = name
                self.script = script
                self.control = control
            }

            /// One that succeeds by its exit status.
            static func shell(_ name: String, _ command: String, control: String = "true") -> Attempt {
                Attempt(name, "(\(command)) 2>&1 && echo ESCAPED", control: "(\(control)) >/dev/null && echo works")
            }

            /// One that succeeds by not raising.
            static func python(_ name: String, _ code: String, control: String = "pass") -> Attempt {
                func wrap(_ code: String, _ word: String) -> String {
                    "python3 -I - <<'END'\n\(pythonHead)\n\(code)\nprint('\(word)')\nEND"
                }
                return Attempt(name, wrap(code, "ESCAPED"), control: wrap(control, "works"))
            }

            /// A system call that the filter must answer with an error of its own, whatever the arguments.
            static func call(_ name: String, _ x86: Int, _ arm: Int, _ arguments: String = "0,0,0,0,0") -> Attempt {
                #if arch(x86_64)
                let number = x86
                #else
                let number = arm
                #endif
                return .python("system call \(name)", "refused(\(number),\(arguments))", control: "kernel(getpid)")
            }

            var testDescription: String { name }
        }

        static let pythonHead = """
            import ctypes, errno, os, socket, sys
            libc = ctypes.CDLL(None, use_errno=True)
            getpid = {'x86_64': 39, 'aarch64': 172}[os.uname().machine]
            def kernel(number, *arguments):
                ctypes.set_errno(0)
                answer = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
                if answer < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
                return answer
            def refused(number, *arguments):
                try: kernel(number, *arguments)
                except OSError as error:
                    if error.errno in (errno.EPERM, errno.ENOSYS): sys.exit('held')
                    print('the filter did not answer:', error)
            """

        static let files: [Attempt] = [
            .shell("read the passwords", "cat /etc/shadow", control: "cat /etc/passwd"),
            .shell("read the person's home", "ls $PERSON_HOME/.", control: "ls $HOME/."),
            .shell("list homes", "ls /home/* /root/*", control: "ls /workspace/*"),
            .shell("read a file of the Alcove root", "cat $SECRET", control: "cat /workspace/a.txt"),
            .shell("read another chat by ..", "cat ../outside/secret", control: "cat ../workspace/a.txt"),
            .shell("read by many ..", "cat ../../../../../../$SECRET", control: "cat ../../../../workspace/a.txt"),
            .shell("read by a link", "ln -s $SECRET l && cat l", control: "ln -s a.txt k && cat k"),
            .shell("write by a link", "ln -s $SECRET m; echo changed > m", control: "ln -s a.txt n && echo inside > n"),
            .shell("hard link to the system", "ln /usr/bin/env hard", control: "ln a.txt hard2"),
            .shell("hard link to the passwords", "ln /etc/passwd hard3", control: "ln a.txt hard4"),
            .shell("write /usr", "touch /usr/x", control: "touch x"),
            .shell("write /etc", "touch /etc/x", control: "touch x"),
            .shell("write /etc/passwd", "echo x >> /etc/passwd", control: "echo x >> x"),
            .shell("write /", "mkdir /x", control: "mkdir y"),
            .shell("write /run", "touch /run/x", control: "touch /tmp/x"),
            .shell("write /dev", "touch /dev/x", control: "touch /dev/shm/x"),
            .shell("change the running script", "echo x >> /run/command", control: "cat /run/command"),
            .shell("change a program", ": >> /usr/bin/env", control: ": >> env"),
            // To the same name: no harm is done should it work.
            .python(
                "rename a program", "os.rename('/usr/bin/env', '/usr/bin/env')", control: "os.rename('a.txt', 'a.txt')"),
            .python("rights of a program", "os.chmod('/usr/bin/env', 0o755)", control: "os.chmod('a.txt', 0o644)"),
            .shell(
                "write through /proc/self/fd", "exec 3</usr/bin/env; echo x > /proc/self/fd/3",
                control: "exec 3<a.txt; cat /proc/self/fd/3"),
            .shell(
                "root of the first process", "cat /proc/1/root$SECRET", control: "cat /proc/self/root/workspace/a.txt"),
            .shell("folder of the first process", "cat /proc/1/cwd/etc/shadow", control: "ls /proc/1"),
            .shell(
                "files of the first process", "cat /proc/1/fd/* </dev/null | grep -q .", control: "ls /proc/self/fd"),
            .shell(
                "secrets of the first process", "grep -az SECRET /proc/1/environ",
                control: "grep -az PATH /proc/self/environ"),
            .shell(
                "memory of the first process", "dd if=/dev/zero of=/proc/1/mem bs=1 count=1 seek=$((0x400000))",
                control: "dd if=/dev/zero of=zero bs=1 count=1"),
            Attempt("inherited files", "[ \"$(ls /proc/self/fd | wc -l)\" -gt 4 ] && echo ESCAPED"),
            .shell("other processes", "ls -d /proc/[0-9]* | wc -l | grep -qE '..'", control: "ls -d /proc/1"),
            .shell("memory of the machine", "head -c1 /dev/mem /dev/kmem /proc/kcore", control: "head -c1 /dev/zero"),
            .shell("disks", "ls /dev/[shv]d? /dev/vd* /dev/nvme* /dev/loop* /dev/dm-*", control: "ls /dev/null"),
            .shell("virtual machines and FUSE", "ls /dev/kvm /dev/fuse /dev/net/tun", control: "ls /dev/full"),
            .shell("make a disk", "mknod disk b 8 0 && head -c1 disk", control: "mknod pipe p"),
            // Opened only: a test that fails must not change the machine.
            .shell(
                "kernel settings", ": >> /proc/sys/kernel/core_pattern", control: "cat /proc/sys/kernel/core_pattern"),
            .shell("host name setting", ": >> /proc/sys/kernel/hostname", control: "hostname || uname -n"),
            .shell("magic keys", ": >> /proc/sysrq-trigger", control: ": >> h"),
            .shell(
                "all kernel settings", "find /proc/sys /proc/irq /proc/bus -type f -writable | grep -q .",
                control: "find /workspace -type f -writable | grep -q ."),
            .shell("the first process's life", ": >> /proc/1/oom_score_adj", control: "cat /proc/1/oom_score_adj"),
            .shell("devices in /sys", "ls /sys/*", control: "ls /usr/*"),
            .shell("control groups", "ls /sys/fs/cgroup/*", control: "cat /proc/self/cgroup"),
            .shell("sockets of services", "ls /run/* /var/run/* | grep -v ^/run/command$", control: "ls /run/command"),
            .shell("windows", "ls /tmp/.X11-unix/*", control: "ls -d /tmp"),
            .shell(
                "names of the machine's users", "getent passwd $(stat -c %U /usr/nothing 2>/dev/null || echo _apt)",
                control: "getent passwd alcove"),
            .python(
                "read by a folder's descriptor",
                "os.open('../outside/secret', os.O_RDONLY, dir_fd=os.open('.', os.O_RDONLY))",
                control: "os.open('a.txt', os.O_RDONLY, dir_fd=os.open('.', os.O_RDONLY))"),
            .python(
                "read a file: address",
                "import urllib.request; urllib.request.urlopen('file://' + os.environ['SECRET'])",
                control: "import urllib.request; urllib.request.urlopen('file:///workspace/a.txt')"),
            .python(
                "map the passwords", "import mmap; mmap.mmap(os.open('/etc/shadow', 0), 0, prot=1)",
                control: "import mmap; mmap.mmap(os.open('/workspace/a.txt', 0), 0, prot=1)"),
            .python(
                "rename out of the workspace", "os.rename('a.txt', '/usr/a.txt')",
                control: "os.rename('a.txt', 'b.txt')"),
            .python(
                "open by C", "assert libc.open(b'/etc/shadow', 0) >= 0",
                control: "assert libc.open(b'/etc/passwd', 0) >= 0"
            ),
        ]

        static let rights: [Attempt] = [
            .shell("mount memory", "mount -t tmpfs none /tmp", control: "test -d /tmp"),
            .shell(
                "mount by C",
                "python3 -I -c 'import ctypes,sys; sys.exit(ctypes.CDLL(None).mount(b\"/\",b\"/tmp\",0,4096,0)!=0)'"),
            .shell("write what is read-only", "mount -o remount,rw /usr"),
            .shell("take a mount away", "umount /workspace || umount /usr || umount /proc"),
            .shell("a user namespace", "unshare -r true", control: "command -v unshare"),
            .shell("a mount namespace", "unshare -rm true"),
            .shell("a network namespace", "unshare -rn true"),
            .shell("another's namespace", "nsenter -t 1 -m true"),
            .shell("another root", "chroot / true"),
            .shell("bubblewrap within", "bwrap --ro-bind / / true", control: "command -v bwrap || true"),
            .shell("become root", "su -c true </dev/null || sudo -n true", control: "id -u"),
            .shell(
                "passwords by su with a library of ours", "LD_PRELOAD=/workspace/x.so su -c true </dev/null",
                control: "LD_PRELOAD= env true"),
            .python("become root by call", "os.setuid(0)", control: "os.setuid(os.getuid())"),
            .python("more groups", "os.setgroups([0])", control: "os.getgroups()"),
            .shell(
                "a program with its owner's rights", "cp /bin/sh s; chmod u+s s", control: "cp /bin/sh t; chmod u+x t"),
            .shell("the same by its group", "touch g; chmod g+s g", control: "touch g2; chmod g+x g2"),
            .python(
                "the same when it is made", "os.close(os.open('made', os.O_CREAT | os.O_WRONLY, 0o4755))",
                control: "os.close(os.open('made2', os.O_CREAT | os.O_WRONLY, 0o755))"),
            Attempt(
                "rights",
                "grep -E '^Cap(Eff|Prm|Inh|Amb|Bnd):' /proc/self/status | grep -v 0000000000000000 && echo ESCAPED"),
            Attempt("new rights by exec", "grep -q 'NoNewPrivs:.1' /proc/self/status || echo ESCAPED"),
            Attempt("the filter holds the first process too", "grep -q 'Seccomp:.2' /proc/1/status || echo ESCAPED"),
            .shell("a process outside", "kill -0 $HOST_PID", control: "sleep 9 & kill -0 $!"),
            .shell("a higher limit", "ulimit -v unlimited", control: "ulimit -v 100000"),
            .shell("core files", "ulimit -c unlimited"),
            .shell(
                "higher priority",
                "nice -n -20 true 2>&1 | grep -q cannot && false || [ \"$(nice -n -20 nice)\" = -20 ]"),
            .shell("the clock", "date -s '2001-01-01'", control: "date"),
            .shell("the host's name", "hostname evil"),
            .shell("kernel messages", "dmesg"),
            .python(
                "be traced", "kernel({'x86_64': 101, 'aarch64': 117}[os.uname().machine], 0, 0, 0, 0)",
                control: "kernel(getpid)"),
            .python(
                "type into a terminal",
                "import fcntl\ntry: fcntl.ioctl(0, 0x5412, b'x')\nexcept OSError as e: sys.exit('held' if e.errno == 1 else 'ESCAPED')"
            ),
            .call("ptrace attach", 101, 117, "16,1,0,0"), .call("process_vm_readv", 310, 270),
            .call("process_vm_writev", 311, 271), .call("pidfd_getfd", 438, 438), .call("mount", 165, 40),
            .call("umount2", 166, 39), .call("pivot_root", 155, 41), .call("chroot", 161, 51),
            .call("unshare", 272, 97, "0x10000000"), .call("setns", 308, 268),
            .call("clone into a user namespace", 56, 220, "0x10000011,0,0,0,0"),
            .call("clone3", 435, 435), .call("open_tree", 428, 428), .call("move_mount", 429, 429),
            .call("fsopen", 430, 430), .call("mount_setattr", 442, 442), .call("open_by_handle_at", 304, 265),
            .call("name_to_handle_at", 303, 264), .call("bpf", 321, 280), .call("perf_event_open", 298, 241),
            .call("userfaultfd", 323, 282), .call("io_uring_setup", 425, 425), .call("io_uring_enter", 426, 426),
            .call("keyctl", 250, 219), .call("add_key", 248, 217), .call("request_key", 249, 218),
            .call("kexec_load", 246, 104), .call("kexec_file_load", 320, 294), .call("init_module", 175, 105),
            .call("finit_module", 313, 273), .call("delete_module", 176, 106), .call("reboot", 169, 142),
            .call("syslog", 103, 116), .call("personality", 135, 92, "0x0400000"), .call("settimeofday", 164, 170),
            .call("sethostname", 170, 161), .call("swapon", 167, 224), .call("acct", 163, 89),
            .call("fanotify_init", 300, 262), .call("openat2", 437, 437),
            .call("fchmodat2 with the owner's rights", 452, 452, "0,0,0o4755,0"),
        ]

        #if arch(x86_64)
        static let processor: [Attempt] = [
            .call("iopl", 172, 0, "3"), .call("modify_ldt", 154, 0),
            .call("x32 getpid", 0x4000_0000 + 39, 0),
            // mov eax, 20 (getpid of 32-bit programs); int 0x80; ret
            .python(
                "system calls of 32-bit programs",
                """
                import mmap
                page = mmap.mmap(-1, 4096, prot=7)
                page.write(bytes.fromhex('b814000000cd80c3'))
                sys.stdout.flush()
                ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
                """,
                control: """
                    import mmap
                    page = mmap.mmap(-1, 4096, prot=7)
                    page.write(bytes.fromhex('b814000000c3'))
                    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
                    """),
        ]
        #else
        static let processor: [Attempt] = []
        #endif

        static let network: [Attempt] = [
            .shell("TCP by bash", "echo x > /dev/tcp/127.0.0.1/$TCP_PORT", control: "echo x > /dev/null"),
            .python(
                "TCP", "socket.create_connection(('127.0.0.1', int(os.environ['TCP_PORT'])), 2)",
                control: "socket.socketpair()"),
            .python("TCP by IPv6", "socket.create_connection(('::1', int(os.environ['TCP_PORT'])), 2)"),
            .python("TCP to any address", "socket.create_connection(('0.0.0.0', int(os.environ['TCP_PORT'])), 2)"),
            .python(
                "UDP",
                "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', int(os.environ['UDP_PORT'])))"
            ),
            .python("UDP by IPv6", "socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)"),
            .python("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"),
            .python("packets", "socket.socket(17, socket.SOCK_RAW, 768)"),
            .python("netlink", "socket.socket(16, socket.SOCK_RAW, 0)"),
            .python("virtual sockets", "socket.socket(40, socket.SOCK_STREAM)"),
            .python("kernel cryptography", "socket.socket(38, 5)"),
            .python("Bluetooth", "socket.socket(31, socket.SOCK_RAW, 1)"),
            .python(
                "an abstract socket outside",
                "s = socket.socket(socket.AF_UNIX); s.connect(b'\\0' + os.environb[b'ABSTRACT'])",
                control:
                    "a = socket.socket(socket.AF_UNIX); a.bind(b'\\0mine'); a.listen(); s = socket.socket(socket.AF_UNIX); s.connect(b'\\0mine')"
            ),
            .python(
                "a named socket outside",
                "s = socket.socket(socket.AF_UNIX); s.connect(os.environ['SECRET'] + '.sock')",
                control:
                    "a = socket.socket(socket.AF_UNIX); a.bind('s'); a.listen(); s = socket.socket(socket.AF_UNIX); s.connect('s')"
            ),
            .python("names", "socket.getaddrinfo('localhost.localdomain.example', 80)"),
            .python(
                "web",
                "import http.client; http.client.HTTPConnection('127.0.0.1', int(os.environ['TCP_PORT']), timeout=2).request('GET', '/')"
            ),
            .python("listen", "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()"),
            .shell("curl", "curl -m 2 -s http://127.0.0.1:$TCP_PORT/ || wget -q -T 2 -t 1 http://127.0.0.1:$TCP_PORT/"),
            .shell(
                "other interfaces", "tail -n +3 /proc/net/dev | grep -v '^ *lo:' | grep -q .",
                control: "grep lo: /proc/net/dev"),
        ]

        static let attempts = files + rights + processor + network

        @Test func triesEnough() {
            #expect(EscapeTests.attempts.count >= 60)
            #expect(Set(EscapeTests.attempts.map(\.name)).count == EscapeTests.attempts.count)
        }

        @Test(arguments: attempts) func isHeld(_ attempt: Attempt) async throws {
            let sandbox = try SandboxedScript()
            let outside = try #require(Listeners(abstract: "alcove-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"))
            let environment = [
                "SECRET": sandbox.base.path + "/outside/secret",
                "PERSON_HOME": getenv("HOME").map { String(cString: $0) } ?? "/root",
                "HOST_PID": "\(getpid())", "TCP_PORT": "\(outside.tcpPort)", "UDP_PORT": "\(outside.udpPort)",
                "ABSTRACT": outside.abstract,
            ]
            var limits = CommandLimits()
            limits.seconds = 20

            let answer = try await sandbox.run(attempt.script, limits: limits, environment: environment)
            #expect(
                !answer.output.contains("ESCAPED") && !answer.output.contains("OUTSIDE"),
                "\(answer.output)\(answer.error)")
            #expect(!answer.output.contains("did not answer"), "\(answer.output)")
            #expect(sandbox.base.text("outside/secret") == "OUTSIDE\n")
            #expect(!outside.wereReached)

            let control = try await sandbox.run(attempt.control, limits: limits, environment: environment)
            #expect(control.output.hasSuffix("works\n"), "\(control.output)\(control.error)")
        }

        /// The listeners of the attempts can be reached, and notice it.
        @Test func listenersHearWhoIsOutside() throws {
            let outside = try #require(Listeners(abstract: "alcove-control-\(getpid())"))
            #expect(!outside.wereReached)
            outside.connect()
            #expect(outside.wereReached)
        }

        /// Root owns the devices, and so a script of root's may change their rights: then they are put right again.
        @Test func devicesKeepTheirRights() async throws {
            func rights() -> [mode_t] {
                BubblewrapRunner.devices.map { path in
                    var info = stat()
                    return stat(path, &info) == 0 ? info.st_mode : 0
                }
            }
            let before = rights()
            let answer = try await SandboxedScript().run("chmod 600 /dev/full; echo works")
            #expect(answer.output == "works\n")
            #expect(rights() == before)
        }

        /// With the network on, the same means reach the same listener.
        @Test func networkSwitchedOnReaches() async throws {
            let sandbox = try SandboxedScript()
            let outside = try #require(Listeners(abstract: "alcove-open-\(getpid())"))
            let answer = try await sandbox.run(
                "echo x > /dev/tcp/127.0.0.1/$TCP_PORT && echo works",
                environment: ["TCP_PORT": "\(outside.tcpPort)"], allowsNetwork: true)
            #expect(answer.output == "works\n")
            #expect(outside.wereReached)
        }
    }
}
#endif
