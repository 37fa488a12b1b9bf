import sys, traceback, warnings
def recurse(n): return recurse(n + 1)
try: recurse(0)
except RecursionError as e: print(e)
print("".join(traceback.format_exception_only(ValueError("x"))), end="")
exec("print(__name__)")
print(eval("1+1"), globals()["__name__"], sys.exc_info())
class D:
    def __del__(self): print("deleted")
D()
raise KeyboardInterrupt
