# expect: ran
# Nothing of other runs may be found in the memory this process was forked with.
import gc, sys
needle = "a sibling's " + "private text"
own = {id(needle)}
def look(value):
    return isinstance(value, (str, bytes)) and ("a sibling's " + "private text" in str(value))
found = 0
for item in gc.get_objects():
    values = list(item.values()) if isinstance(item, dict) else list(item) if isinstance(item, (list, tuple)) else []
    found += sum(look(value) and id(value) not in own for value in values)
frame = sys._getframe()
while frame is not None:
    found += sum(look(v) and id(v) not in own for v in frame.f_locals.values() if not isinstance(v, dict) and "# expect" not in str(v))
    frame = frame.f_back
if found > 0 and any(look(v) and "# expect" not in str(v) for o in gc.get_objects() if isinstance(o, dict) for v in list(o.values()) if id(v) not in own):
    print("ESCAPED", found)
