"""Operators and nets that are made in Python: op() and Net."""
from typing import Any, Dict, Iterable, List, Optional, Sequence, Union

from caffe2rt import _engine

Names = Union[str, Sequence[str]]


def _names(names: Names) -> List[str]:
    return [names] if isinstance(names, str) else list(names)


class Op:
    """An operator: what Workspace.run, Workspace.net and Net.add take. op() makes it."""

    def __init__(self, definition: bytes, text: str) -> None:
        self._definition = definition
        self._text = text

    def SerializeToString(self) -> bytes:
        """The operator as a serialized OperatorDef."""
        return self._definition

    class DESCRIPTOR:
        name = "OperatorDef"

    def __repr__(self) -> str:
        return self._text


def op(
    type: str,
    inputs: Names = (),
    outputs: Names = (),
    *,
    name: str = "",
    engine: str = "",
    device: Optional[str] = None,
    **arguments: Any,
) -> Op:
    """An operator: op("Conv", ["x", "w", "b"], ["y"], kernel=3, pad=1).

    An argument is a number, a text (str or bytes), a net, or a list of numbers or texts. device is "cpu", "cuda"
    or "cuda:1".
    """
    inputs, outputs = _names(inputs), _names(outputs)
    definition = _engine.make_operator(type, inputs, outputs, name, engine, device, arguments)
    return Op(definition, "%s(%s) -> %s" % (type, ", ".join(inputs), ", ".join(outputs)))


class Net:
    """A net that is built operator by operator.

    net = Net("line", inputs=["x"], outputs=["y"])
    net.add("FC", ["x", "w", "b"], "y")
    net.Relu("y", "y")                       # the same, by the name of the type
    """

    class DESCRIPTOR:
        name = "NetDef"

    def __init__(self, name: str, inputs: Iterable[str] = (), outputs: Iterable[str] = (), type: str = "") -> None:
        self.name = name
        self.type = type
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.operators: List[Op] = []

    def add(self, operator: Union[str, Op], inputs: Names = (), outputs: Names = (), **arguments: Any) -> Op:
        """Adds an operator, or makes one of this type as op() does; returns it."""
        made = op(operator, inputs, outputs, **arguments) if isinstance(operator, str) else operator
        self.operators.append(made)
        return made

    def __getattr__(self, type: str) -> Any:
        if type.startswith("_") or not type[:1].isupper():
            raise AttributeError(type)
        return lambda inputs=(), outputs=(), **arguments: self.add(type, inputs, outputs, **arguments)

    def SerializeToString(self) -> bytes:
        """The net as a serialized NetDef."""
        return _engine.make_net(
            self.name, self.type, self.inputs, self.outputs, [o.SerializeToString() for o in self.operators]
        )

    def __len__(self) -> int:
        return len(self.operators)

    def __repr__(self) -> str:
        return "<caffe2rt.Net %r: %d operators>" % (self.name, len(self.operators))
