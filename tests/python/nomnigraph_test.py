"""The names of nomnigraph: nets as graphs that are changed."""
import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin"))
sys.dont_write_bytecode = True

import caffe2rt.frontend  # noqa: E402, F401
from caffe2.proto import caffe2_pb2  # noqa: E402
from caffe2.python import extension as C  # noqa: E402


def net_of(text, inputs="", outputs=""):
    """ "FC X W > Y; Relu Y > Z" as a net."""
    net = caffe2_pb2.NetDef(name="net", external_input=inputs.split(), external_output=outputs.split())
    for line in text.split(";"):
        words, _, results = line.partition(">")
        kind, *reads = words.split()
        net.op.add(type=kind, input=reads, output=results.split())
    return net


def text_of(net):
    return "; ".join(" ".join([op.type, *op.input, ">", *op.output]) for op in net.op)


class Graph:
    def __init__(self, text="", **kept):
        self.net = net_of(text, **kept) if text else caffe2_pb2.NetDef()
        self.module, self.operators = C.NNModuleFromProtobuf(self.net.SerializeToString())
        self.flow = self.module.dataFlow()

    def op(self, kind):
        return self.flow.createNode(C.NeuralNetOperator(kind))

    def data(self, name):
        return self.flow.createNode(C.NeuralNetData(name))

    def tensor(self, name):
        return next(node for node in self.flow.tensors if node.name == name)

    def result(self, base=None):
        net = caffe2_pb2.NetDef()
        net.ParseFromString(self.module.convertToCaffe2Proto(base or caffe2_pb2.NetDef()))
        return net


CHAIN = "FC X W > Y; Relu Y > Z; Relu Y > Z2; Sum Z Z2 > S"


@pytest.mark.parametrize("text", [CHAIN, "Relu X > X; Relu X > Y; Copy Z > X; Add X X > X", "Relu B > C; Relu A > B"])
def test_net_that_was_not_changed_keeps_its_operators(text):
    assert text_of(Graph(text).result()) == text


def test_net_keeps_the_fields_of_its_base_and_its_external_blobs():
    graph = Graph(CHAIN, inputs="X W extra", outputs="S")
    base = caffe2_pb2.NetDef(name="other", type="dag", external_input=["foo"])
    net = graph.result(base)
    assert (net.name, net.type) == ("other", "dag")
    assert list(net.external_input) == ["X", "W", "extra"]
    assert list(net.external_output) == ["S"]


def test_nodes_know_their_neighbours():
    graph = Graph(CHAIN)
    fc, relu, _, total = graph.module.getExecutionOrder()
    assert [node.name for node in fc.inputs] == ["X", "W"]
    assert (fc.type, fc.inputs[0].type) == ("Operator", "Tensor")
    assert not fc.inputs[0].hasProducer()
    assert relu.inputs[0].producer == fc
    assert [node.name for node in fc.outputs[0].consumers] == ["Relu", "Relu"]
    assert total.getOperatorPredecessors() == graph.operators[1:3]
    assert fc.getOperatorSuccessors() == graph.operators[1:3]
    assert {fc: 1}[graph.operators[0]] == 1
    assert fc != relu and fc != "FC"


@pytest.mark.parametrize("ask", [lambda op, data: op.producer, lambda op, data: op.tensor, lambda op, data: data.inputs,
                                 lambda op, data: data.operator, lambda op, data: data.producer,
                                 lambda op, data: data.getOperatorPredecessors()])
def test_questions_to_a_node_of_another_kind_are_errors(ask):
    graph = Graph()
    with pytest.raises(RuntimeError, match="want an? (operator|tensor)|no operator writes"):
        ask(graph.op("FC"), graph.data("X"))


def test_edges_join_operators_and_tensors_only():
    graph = Graph()
    op, data = graph.op("FC"), graph.data("X")
    graph.flow.createEdge(data, op)
    for a, b in [(op, graph.op("Relu")), (data, graph.data("Y"))]:
        with pytest.raises(RuntimeError, match="an edge joins"):
            graph.flow.createEdge(a, b)
    with pytest.raises(RuntimeError, match="another graph"):
        graph.flow.createEdge(Graph().data("X"), op)
    graph.flow.deleteEdge(data, op)
    assert op.inputs == []


def test_deleted_node_is_an_error_and_outlives_its_graph():
    graph = Graph(CHAIN)
    fc = graph.operators[0]
    graph.flow.deleteNode(fc)
    with pytest.raises(RuntimeError, match="was deleted"):
        fc.inputs
    relu = graph.operators[1]
    del graph
    assert relu.inputs[0].name == "Y"


def replace_node(graph):
    add = graph.op("Add")
    graph.flow.replaceNode(graph.operators[0], add)
    graph.flow.deleteNode(graph.operators[0])


def replace_uses(graph):
    C.replaceAllUsesWith(graph.tensor("Y"), graph.data("T"))


def replace_consumer(graph):
    C.replaceAsConsumer(graph.operators[0], graph.op("New"))


def replace_producer(graph):
    C.replaceProducer(graph.tensor("Y"), graph.op("New"))


@pytest.mark.parametrize("change, want", [
    (replace_node, "Add X W > Y; Relu Y > Z; Relu Y > Z2; Sum Z Z2 > S"),
    (replace_uses, "FC X W > Y; Relu T > Z; Relu T > Z2; Sum Z Z2 > S"),
    (replace_consumer, "FC > Y; Relu Y > Z; Relu Y > Z2; Sum Z Z2 > S; New X W >"),
    (replace_producer, "FC X W >; New > Y; Relu Y > Z; Relu Y > Z2; Sum Z Z2 > S"),
])
def test_replacement_moves_edges(change, want):
    graph = Graph(CHAIN)
    change(graph)
    assert text_of(graph.result()) == want


def test_value_is_read_before_its_blob_is_written_again():
    graph = Graph("Relu X > Y; Copy Z > X")
    new = graph.op("Sqr")
    graph.flow.replaceNode(graph.operators[0], new)
    graph.flow.deleteNode(graph.operators[0])
    assert text_of(graph.result()) == "Sqr X > Y; Copy Z > X"


def test_operators_that_wait_for_each_other_are_an_error():
    graph = Graph("Relu X > Y")
    graph.flow.createEdge(graph.operators[0], graph.tensor("X"))
    graph.flow.createEdge(graph.tensor("Y"), graph.op("Sqr"))
    with_loop = graph.op("Exp")
    graph.flow.createEdge(graph.tensor("Y"), with_loop)
    other = graph.data("Q")
    graph.flow.createEdge(with_loop, other)
    graph.flow.createEdge(other, graph.operators[0])
    with pytest.raises(RuntimeError, match="wait for each other"):
        graph.result()


def test_unique_tensors_get_numbers():
    graph = Graph("Relu X > Y")
    assert [graph.module.createUniqueDataNode(name).name for name in ["a", "a", "X", "a"]] == ["a", "a_0", "X_0", "a_1"]


def pattern(nodes, edges=()):
    """Nodes as "FC" (an operator), "tensor" or "any"; with "!" it is strict."""
    graph = C.NNMatchGraph()
    made = []
    for name in nodes:
        strict = name.endswith("!")
        name = name.rstrip("!")
        if name == "any":
            made.append(graph.createNode(strict=strict))
        else:
            kind = C.NeuralNetData if name == "tensor" else C.NeuralNetOperator
            made.append(graph.createNode(kind(name), strict=strict))
    for a, b in edges:
        graph.createEdge(made[a], made[b])
    return graph


@pytest.mark.parametrize("nodes, edges, want", [
    (["FC"], [], [["FC"]]),
    (["FC!"], [], []),
    (["any!"], [], [["S"]]),
    (["tensor"], [], [[name] for name in ["X", "W", "Y", "Z", "Z2", "S"]]),
    (["FC", "tensor", "Relu"], [(0, 1), (1, 2)], [["FC"]]),
    (["FC!", "tensor", "Relu"], [(0, 1), (1, 2)], [["FC", "Y"]]),
    (["FC!", "tensor!", "Relu"], [(0, 1), (1, 2)], []),
    (["FC!", "tensor!", "Relu!", "Relu!", "tensor!", "tensor!", "Sum"],
     [(0, 1), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 6)], [["FC", "Relu", "Relu", "Sum", "Y", "Z", "Z2"]]),
])
def test_pattern_matches(nodes, edges, want):
    graph = Graph(CHAIN)
    found = [C.matchSubgraph(node, pattern(nodes, edges)) for node in graph.flow.nodes]
    assert [sorted(node.name for node in match.nodes) for match in found if match] == want


def test_pattern_without_nodes_is_an_error():
    with pytest.raises(RuntimeError, match="no nodes"):
        C.matchSubgraph(Graph("Relu X > Y").operators[0], C.NNMatchGraph())


def test_subgraph_is_deleted_or_replaced():
    for replace in [False, True]:
        graph = Graph(CHAIN)
        match = C.matchSubgraph(graph.operators[0], pattern(["FC!", "tensor"], [(0, 1)]))
        if replace:
            graph.module.replaceSubgraph(match, graph.op("New"), [graph.tensor("X")], [graph.tensor("Y")])
        else:
            graph.module.deleteSubgraph(match)
        want = "New X > Y; Relu Y > Z; Relu Y > Z2; Sum Z Z2 > S" if replace else "Relu > Z; Relu > Z2; Sum Z Z2 > S"
        assert text_of(graph.result()) == want


def test_drawings_are_in_graphviz_language():
    graph = Graph("Relu X > Y")
    part = C.NNSubgraph()
    for node in graph.operators[0].inputs + graph.operators:
        part.addNode(node)
    assert "->" not in str(part)
    part.induceEdges()
    assert len(part) == 2 and part.hasNode(graph.operators[0]) and not part.hasNode(graph.tensor("Y"))
    assert str(part) == 'digraph G {\nrankdir=LR\nn0 [label="X"];\nn1 [label="Relu", shape=box];\nn0 -> n1;\n}\n'
    assert str(graph.flow).count("->") == 2
    plain = C.Graph()
    plain.createEdge(plain.createNode('a "b"'), plain.createNode(7))
    assert 'label="a \\"b\\""' in str(plain) and "n0 -> n1" in str(plain)


def test_annotation_changes_the_operator():
    graph = Graph()
    node = graph.flow.createNode(caffe2_pb2.OperatorDef(type="Conv", engine="A", input=["gone"]))
    assert not node.annotation.hasDeviceOption()
    node.annotation.operator_def = caffe2_pb2.OperatorDef(type="Conv", engine="B", name="n")
    node.annotation.device_option = caffe2_pb2.DeviceOption(device_type=1)
    op = graph.result().op[0]
    assert (op.engine, op.name, op.device_option.device_type, list(op.input)) == ("B", "n", 1, [])
    assert node.annotation.operator_def.engine == "B"
    for name in ["operator_def", "device_option"]:
        with pytest.raises(RuntimeError, match="want a protobuf message"):
            setattr(node.annotation, name, 7)
    with pytest.raises(RuntimeError, match="want a protobuf message"):
        graph.flow.createNode(7)


def test_annotation_notes_nodes_and_texts():
    graph = Graph()
    note = C.Annotation()
    with pytest.raises(RuntimeError, match="no such node"):
        note.getKeyNode()
    key, node = graph.data("key"), graph.op("Op")
    note.setKeyNode(key)
    note.setDevice("where")
    note.setDeviceType(7)
    note.setComponentLevels(["", "b"])
    node.setAnnotation(note)
    kept = node.getAnnotation()
    assert kept.getKeyNode() == key
    assert (kept.getDevice(), kept.getDeviceType(), kept.getComponentLevels()) == ("where", 7, ["", "b"])


def test_device_map_declares_inputs_and_exports_outputs():
    net = net_of("FC X W > Y; Relu Y > S", inputs="X W", outputs="S").SerializeToString()
    device = caffe2_pb2.DeviceOption(node_name="n").SerializeToString()
    module = C.NNModuleFromProtobufDistributed(net, {"X": device})
    result = caffe2_pb2.NetDef.FromString(module.convertToCaffe2Proto(caffe2_pb2.NetDef()))
    assert text_of(result) == "Declare > X; Declare > W; FC X W > Y; Relu Y > S; Export S >"
    assert [op.device_option.node_name for op in result.op] == ["n", "", "", "", ""]
    assert not result.external_input and not result.external_output
    with pytest.raises(RuntimeError, match='no inputs or outputs of the net: "Fake"'):
        C.NNModuleFromProtobufDistributed(net, {"Fake": device})
