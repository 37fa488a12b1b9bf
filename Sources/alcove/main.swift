print("alcove")
