# expect: failed
# Rewrite the code that is running this snippet: the run is its own, what it prints stays what it printed.
import sys
for name, module in list(sys.modules.items()):
    if name.startswith("inside"):
        for attribute in list(vars(module)):
            if not attribute.startswith("__"):
                setattr(module, attribute, None)
