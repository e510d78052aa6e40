"""A front end that the user downloaded, in a folder of its own."""
import importlib.machinery
import os
import shutil
import sys
import tempfile
import zipfile


def folder():
    """The folder that holds the unpacked front end: that of the environment, or else the user's."""
    if os.environ.get("CAFFE2RT_FRONTEND"):
        return os.environ["CAFFE2RT_FRONTEND"]
    if sys.prefix != sys.base_prefix:
        return os.path.join(sys.prefix, "share", "caffe2rt", "frontend")
    data = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    return os.path.join(data, "caffe2rt", "frontend")


def find_spec(name):
    return importlib.machinery.PathFinder.find_spec(name, [folder()])


def _is_wanted(name):
    parts = name.split("/")
    return parts[0] == "caffe2" and name.endswith(".py") and ".." not in parts


def _copy_wheel(path, target):
    with zipfile.ZipFile(path) as wheel:
        for name in wheel.namelist():
            if _is_wanted(name):
                wheel.extract(name, target)


def _copy_folder(path, target):
    """`path` is the package itself, or the folder that holds it."""
    root = path if os.path.basename(os.path.abspath(path)) == "caffe2" else os.path.join(path, "caffe2")
    for place, _, files in os.walk(root):
        for name in files:
            relative = os.path.join("caffe2", os.path.relpath(os.path.join(place, name), root))
            if _is_wanted(os.path.normpath(relative).replace(os.sep, "/")):
                copy = os.path.join(target, relative)
                os.makedirs(os.path.dirname(copy), exist_ok=True)
                shutil.copyfile(os.path.join(place, name), copy)


def install(source):
    """Unpacks the Python files of the front end from a wheel of torch, or copies them from a folder.

    Replaces a front end that was installed before. Returns the number of files and the folder. Raises
    ValueError if the source has no front end.
    """
    target = folder()
    os.makedirs(os.path.dirname(target), exist_ok=True)
    fresh = tempfile.mkdtemp(dir=os.path.dirname(target))
    try:
        if os.path.isdir(source):
            _copy_folder(source, fresh)
        else:
            _copy_wheel(source, fresh)
        if not os.path.exists(os.path.join(fresh, "caffe2", "python", "workspace.py")):
            raise ValueError("%s has no file caffe2/python/workspace.py; want a wheel of torch 1.4 to 1.12 or a folder "
                             "with its package caffe2" % source)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(fresh, target)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return sum(len(files) for _, _, files in os.walk(target)), target
