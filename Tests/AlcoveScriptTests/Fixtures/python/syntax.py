print("before")
if True
    pass
