# expect: blocked
# detail: No space left
for i in range(10**6):
    with open(f"f{i}", "wb") as handle:
        handle.write(b"x")
