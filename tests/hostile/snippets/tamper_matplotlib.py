# expect: ran
import matplotlib.pyplot as plt
plt.rcParams['figure.figsize'] = (1, 1)
plt.style.use('ggplot')
plt.figure()
plt.figure()
