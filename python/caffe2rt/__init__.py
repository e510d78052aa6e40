"""Runs Caffe2 nets: a workspace runtime with Caffe2's operators.

    model = caffe2rt.load("init_net.pb", "predict_net.pb")
    y = model(x)["softmax"]                     # numpy arrays, or anything with __dlpack__

    ws = caffe2rt.Workspace()
    ws["x"] = x
    ws.run(caffe2rt.op("Relu", ["x"], ["y"]))
    ws["y"]
"""
import os
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, Union

from caffe2rt import _engine
from caffe2rt._engine import (
    Error,
    Model,
    NetView,
    Output,
    Workspace,
    WorkspaceNet,
    __version__,
    load_module,
    num_threads,
    operator_types,
    set_num_threads,
)
from caffe2rt.nets import Net, Op, op

__all__ = [
    "Error",
    "Model",
    "Net",
    "NetView",
    "Op",
    "Output",
    "Workspace",
    "WorkspaceNet",
    "bench",
    "check",
    "export_onnx",
    "gradients",
    "inspect",
    "load",
    "load_module",
    "num_threads",
    "op",
    "operator",
    "operator_types",
    "optimize",
    "set_num_threads",
]

Path = Union[str, "os.PathLike[str]"]
Shapes = Dict[str, Sequence[int]]


def load(*files: Path, weights: Optional[Path] = None, threads: Optional[int] = None, **options: Any) -> Model:
    """Loads a model from files.

    files: the init nets and the predict net, in this order; or one file: a predictor database, a packed model
        (caffe2 pack), a model of ONNX, or with `weights` a prototxt of Caffe.
    threads: sets the threads of the process (set_num_threads).
    device: "cpu", "cuda" or "cuda:1"; by default the devices that the nets name, the CPU where they are missing.
    input_shapes: {name: shape}, of a net of Caffe or a model of ONNX that does not state them; otherwise they guide
        choices.
    dims: {symbol: number} for the dimensions to which a model of ONNX gives names, such as {"batch": 8}.
    opset_tolerant: accepts operators of newer opsets of ONNX than the library knows.
    optimize, deterministic, without_passes: the graph passes.
    precision: "f32", "bf16", "int8" or "auto", the element types in which layers may compute, as of `caffe2 run`. int8
        and auto need a net that `caffe2 quantize` has written; what is not available is computed in f32.
    min_snr: with precision "auto", the least ratio of signal to noise of the outputs in dB.
    max_concurrent_calls: further calls wait.
    seed, root, db_type: as of `caffe2 run`.
    """
    if threads is not None:
        set_num_threads(threads)
    if weights is not None:
        options["weights"] = os.fspath(weights)
    return _engine.load_model([os.fspath(file) for file in files], **options)


def export_onnx(
    output: Path,
    *files: Path,
    weights: Optional[Path] = None,
    input_shapes: Optional[Shapes] = None,
    dims: Optional[Dict[str, int]] = None,
    opset: int = 17,
) -> List[str]:
    """Writes a model as one of ONNX, as `caffe2 convert --to onnx` does.

    output: the path of the model. Weights above 2 GB go into a second file, named after it.
    files, weights, dims: as of load().
    input_shapes: {name: shape} of all inputs whose shapes the files do not state.
    opset: 13 to 24.
    Returns the paths of the files. Raises Error, with a list, if operators have no ONNX form.
    """
    shapes = {name: list(shape) for name, shape in (input_shapes or {}).items()}
    return _engine.export_onnx(
        os.fspath(output),
        [os.fspath(file) for file in files],
        weights=None if weights is None else os.fspath(weights),
        input_shapes=shapes,
        dims=dims or {},
        opset=opset,
    )


def _net_of(net: Any) -> Any:
    """A net from the path of its file, or what it is: bytes, a message, an Op or a Net, or text."""
    if isinstance(net, os.PathLike) or (isinstance(net, str) and "{" not in net):
        return _engine.load_net(os.fspath(net))
    return net


def check(net: Any, init_nets: Sequence[Any] = (), input_shapes: Optional[Shapes] = None) -> List[Dict[str, Any]]:
    """Lists the problems of a net without running it, as `caffe2 check` does.

    Returns dicts with "kind" ("error", "warning", "note"), "operators" (positions) and "text".
    """
    shapes = {name: list(shape) for name, shape in (input_shapes or {}).items()}
    return _engine.check_net(_net_of(net), [_net_of(init) for init in init_nets], shapes)


def inspect(net: Any, init_nets: Sequence[Any] = (), input_shapes: Optional[Shapes] = None) -> NetView:
    """The operators, shapes and costs of a net; a notebook draws it."""
    shapes = {name: list(shape) for name, shape in (input_shapes or {}).items()}
    return _engine.inspect_net(_net_of(net), [_net_of(init) for init in init_nets], shapes)


def gradients(net: Any, losses: Union[str, Sequence[str]], wrt: Sequence[str] = ()) -> Tuple[bytes, Dict[str, Any]]:
    """Adds the backward pass to a net.

    Returns the serialized net and the names of the gradients by blob; that of a sparse one is a pair (indices,
    values).
    """
    names = [losses] if isinstance(losses, str) else list(losses)
    return _engine.add_gradients(_net_of(net), names, list(wrt))


def optimize(
    workspace: Workspace,
    net: Any,
    inputs: Sequence[str] = (),
    keep: Sequence[str] = (),
    deterministic: bool = False,
    without_passes: Sequence[str] = (),
    precision: str = "f32",
    min_snr: float = 30.0,
) -> Tuple[bytes, List[str]]:
    """Applies the graph passes to a net whose weights are in the workspace.

    inputs: blobs that change between runs; all others that the net only reads are constants. keep: blobs that are read
    after a run, besides the outputs. precision, min_snr: as of load(). Returns the serialized net and the passes that changed it.
    """
    return _engine.optimize_net(
        workspace, _net_of(net), set(inputs), set(keep), deterministic, set(without_passes), precision, min_snr
    )


def bench(workspace: Workspace, net: Any, runs: int = 20) -> Dict[str, Any]:
    """Times a net, and each of its operators, in a workspace with its inputs. Times are in ms."""
    return _engine.bench_net(workspace, _net_of(net), runs)


def operator(type: str, gradient: Optional[Callable[..., None]] = None) -> Callable[[Callable[..., None]], Any]:
    """Makes a function an operator type on the CPU.

    @caffe2rt.operator("Clamp")
    def clamp(inputs, outputs, *, limit=1.0):
        outputs[0][...] = np.minimum(inputs[0], limit)

    inputs are read-only arrays; copy what is kept after the call. Outputs are of class Output. Arguments of the operator
    are keyword arguments. gradient(inputs, outputs, **arguments) gets the inputs, the outputs and the gradients of the
    outputs, and sets the gradients of the inputs. Types exist as long as the process.
    """

    def register(function: Callable[..., None]) -> Callable[..., None]:
        _engine.register_operator(type, function, gradient, function.__doc__ or "A function of Python.")
        return function

    return register
