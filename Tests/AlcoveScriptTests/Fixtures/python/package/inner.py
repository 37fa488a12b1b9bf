import sys
X = 5
if __name__ == "__main__":
    print("inner", sys.argv[1:], __package__)
