import sys; print(__name__, __package__, len(sys.argv)); from . import inner; print(inner.X)
