import sys
print("a")
sys.exit("said at the end")
