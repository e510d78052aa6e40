"""The stub of the extension module, and the types of the package."""
import ast
import inspect
import os
import re
import subprocess
import sys

import pytest

import caffe2rt
from caffe2rt import _engine

PACKAGE = os.path.dirname(caffe2rt.__file__)

EXAMPLE = """
from typing import Any, List

import numpy as np
from numpy.typing import NDArray

import caffe2rt

model = caffe2rt.load("init_net.pb", "predict_net.pb", threads=2, device="cpu")
names: List[str] = model.inputs
x = np.zeros((2, 3), np.float32)
y: NDArray[Any] = model(x)["y"]
workspace = caffe2rt.Workspace()
workspace["x"] = x
workspace.run(caffe2rt.op("Relu", ["x"], ["y"]))
net = workspace.net(caffe2rt.op("Relu", "x", "y"))
net.run(runs=3)

@caffe2rt.operator("Clamp")
def clamp(inputs: List[NDArray[Any]], outputs: List[caffe2rt.Output], *, limit: float = 1.0) -> None:
    outputs[0][...] = np.minimum(inputs[0], limit)

findings = caffe2rt.check("predict_net.pb")
print(findings[0]["text"], caffe2rt.inspect("predict_net.pb").multiply_adds)
"""


def stub():
    with open(os.path.join(PACKAGE, "_engine.pyi")) as source:
        return ast.parse(source.read())


def names(body):
    found = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    return found | {node.target.id for node in body if isinstance(node, ast.AnnAssign)}


def is_special(name):
    return name.startswith("__") and name not in ("__init__", "__version__", "__call__", "__setitem__", "__getitem__",
                                                  "__delitem__", "__contains__", "__len__", "__iter__")


def test_the_stub_has_the_names_of_the_module():
    real = {name for name in vars(_engine) if not is_special(name)}
    assert names(stub().body) == real


@pytest.mark.parametrize("name", [node.name for node in stub().body if isinstance(node, ast.ClassDef)])
def test_the_stub_has_the_members_of_its_classes(name):
    body = next(node for node in stub().body if getattr(node, "name", None) == name).body
    if name == "Error":
        assert issubclass(caffe2rt.Error, RuntimeError)
        return
    real = {member for member in vars(getattr(_engine, name)) if not is_special(member)}
    if name != "Workspace":
        real.discard("__init__")  # of classes that Python cannot create
    assert names(body) == real


def parameters(text):
    """The names of the parameters in "f(a: int, *, b: str = '.') -> None"."""
    function = ast.parse("def " + re.sub(r"\\.*?(?=[,)])", "None", text) + ": ...").body[0]
    return [argument.arg for argument in function.args.args + function.args.kwonlyargs]


@pytest.mark.parametrize("name", [node.name for node in stub().body if isinstance(node, ast.FunctionDef)])
def test_the_stub_has_the_parameters_of_the_functions(name):
    node = next(node for node in stub().body if getattr(node, "name", None) == name)
    real = inspect.getdoc(getattr(_engine, name)).splitlines()[0]
    assert [a.arg for a in node.args.args + node.args.kwonlyargs] == parameters(real)


def documentation(thing):
    """The docstring without the lines of nanobind that state the types."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return "\n".join(line for line in lines if not re.match(r"\w+\(.*\) -> ", line)).strip()


def members():
    for name in caffe2rt.__all__:
        thing = getattr(caffe2rt, name)
        yield name, thing
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if not member.startswith("_") and member != "DESCRIPTOR":
                yield name + "." + member, value


@pytest.mark.parametrize("name,thing", list(members()), ids=[name for name, _ in members()])
def test_every_public_name_is_documented(name, thing):
    assert documentation(thing), name


# What nanobind's functions and classes look like to mypy, whatever their stubs say.
OF_NANOBIND = ("is not a function", "metaclass differs", "disjoint base", 'does not have *args parameter "args"')


def test_the_stub_agrees_with_mypys_tool(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    path = os.path.dirname(PACKAGE)
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--concise", "--mypy-config-file", "mypy.ini", "caffe2rt"],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, cwd=str(tmp_path),
                          env=dict(os.environ, MYPYPATH=path, PYTHONPATH=path))
    lines = done.stdout.splitlines()
    assert any("is not a function" in line for line in lines), done.stdout  # it has compared the module
    assert [line for line in lines if not any(reason in line for reason in OF_NANOBIND)] == []


def test_the_package_is_marked_as_typed():
    assert os.path.exists(os.path.join(PACKAGE, "py.typed"))


def test_a_program_passes_a_strict_check(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    program = tmp_path / "program.py"
    program.write_text(EXAMPLE)
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert done.returncode == 0, done.stdout
    program.write_text(EXAMPLE.replace("names: List[str] = model.inputs", "names: int = model.inputs"))
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    assert "Incompatible types in assignment" in done.stdout, done.stdout
