# expect: failed
# detail: ValueError
import resource
resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print("ESCAPED")
