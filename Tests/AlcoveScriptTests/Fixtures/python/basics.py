import collections, dataclasses, datetime, decimal, enum, fractions, functools, itertools, json, math, re, statistics, string, sys, textwrap, typing
print(sys.argv, __name__, __file__.rsplit("/", 1)[-1], len(sys.path) > 1)
print(json.dumps({"a": [1, 2.5, None, True], "é": "ü"}, indent=1, ensure_ascii=False))
print(re.sub(r"(\w+)@(\w+)", r"\2 at \1", "me@home, you@work"), f"{3.14159:.2f} {1e10:,} {'x':>5}|")
print(collections.Counter("abracadabra").most_common(3), list(itertools.permutations("abc", 2))[:3])
print(datetime.date(2026, 3, 1) - datetime.date(2026, 2, 1), datetime.datetime(2026, 1, 2, 3, 4).isoformat())
print(decimal.Decimal("0.1") + decimal.Decimal("0.2"), fractions.Fraction(1, 3) + 1, math.comb(10, 3), statistics.mean([1, 2, 3, 4]))
class Color(enum.Enum):
    RED = 1
@dataclasses.dataclass
class Point:
    x: int
    y: int = 2
print(Color.RED, Point(1), functools.reduce(lambda a, b: a * b, range(1, 20)), textwrap.shorten("hello there world", 12))
print(sorted({"b": 1, "a": 2}.items()), {1, 2} | {3}, [*range(3)], {**{"a": 1}}, (lambda *a, **k: (a, k))(1, b=2))
match {"kind": "x", "value": [1, 2]}:
    case {"kind": k, "value": [first, *rest]}:
        print(k, first, rest)
print(string.Template("$a b").substitute(a=1), "ünïcödé 😀".encode(), b"\xff".decode(errors="replace"))
