"""python -m caffe2rt: runs programs that were written for Caffe2's Python front end.

  python -m caffe2rt SCRIPT [ARGUMENT...]         run a script on this engine
  python -m caffe2rt -m MODULE [ARGUMENT...]      run a module
  python -m caffe2rt enable                       install the import hook in every start of this interpreter
  python -m caffe2rt disable                      undo it
  python -m caffe2rt frontend install SOURCE      unpack the front end from a wheel of torch or a folder
"""
import os
import runpy
import sys
import sysconfig

_PTH = "caffe2rt_frontend.pth"


def _pth_path():
    return os.path.join(sysconfig.get_path("purelib"), _PTH)


def _enable():
    with open(_pth_path(), "w") as pth:
        pth.write("import caffe2rt.frontend\n")
    print("wrote %s" % _pth_path())


def _disable():
    try:
        os.remove(_pth_path())
    except FileNotFoundError:
        print("the import hook is not enabled: there is no %s" % _pth_path())
        return
    print("removed %s" % _pth_path())


def _install(source):
    from caffe2rt.frontend import _installation
    try:
        files, target = _installation.install(source)
    except (OSError, ValueError) as error:
        sys.exit("caffe2rt: cannot install the front end: %s" % error)
    print("unpacked %d files to %s" % (files, target))


def _run(arguments):
    import caffe2rt.frontend  # noqa: F401
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
        return
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
    elif arguments == ["enable"]:
        _enable()
    elif arguments == ["disable"]:
        _disable()
    elif arguments[:2] == ["frontend", "install"] and len(arguments) == 3:
        _install(arguments[2])
    elif arguments[0] == "frontend" or arguments == ["-m"]:
        print(__doc__, file=sys.stderr)
        return 2
    else:
        _run(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
