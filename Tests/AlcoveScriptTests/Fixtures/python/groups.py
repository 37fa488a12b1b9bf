class Broken(Exception):
    def __str__(self): return "own words"
class Group: pass
try:
    [][1]
except IndexError as e:
    print(repr(e), e.__traceback__.tb_lineno)
raise ExceptionGroup("several", [Broken(), ValueError(1)])
