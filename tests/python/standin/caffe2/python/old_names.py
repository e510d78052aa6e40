"""Names that numpy and Python have removed."""
import inspect

import numpy as np


class Other:
    bool = "not numpy's"


strings = np.array(["a", b"b"], dtype=np.object)
number = np.asscalar(np.float32([2.5]))
kinds = [np.bool, np.int, np.float]
untouched = Other.bool


def signature(function):
    names, _, keywords, _ = inspect.getargspec(function)
    return names, keywords
