def outer():
    inner(1)

def inner(x):
    return x / 0

try:
    outer()
except ZeroDivisionError as error:
    raise RuntimeError("wrapped") from error
