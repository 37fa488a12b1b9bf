import package, package.inner
from package import NAME
import sys
print(NAME, package.inner.X, sys.modules["__main__"].__name__, package.__file__.rsplit("/", 2)[-2:])
import missing_module
