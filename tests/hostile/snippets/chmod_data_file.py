# expect: ran
import os
os.chmod('data.csv', 0o666)
open('data.csv', 'w').write('a,b\n0,0\n')
