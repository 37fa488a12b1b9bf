import sys
print(sys.stdin.readline(), end=""); print(repr(sys.stdin.read())); print("to stderr", file=sys.stderr); sys.stdout.buffer.write(b"\xff raw\n") if False else sys.stdout.write("text\n")
print(sys.stdout.encoding, sys.stdin.encoding, sys.stdout.isatty(), sys.getdefaultencoding(), sys.flags.utf8_mode in (0, 1))
for line in sys.stdin: print("never", line)
print("é 😀 \udc80".encode("utf-8", "surrogateescape"))
