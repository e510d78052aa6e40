#!/usr/bin/env python3
"""Records what the original Caffe2 computes for random nets of differentiable operators.

  DIR/bin/python tests/oracle/record_random_nets.py --count 2000 --seed 1 FOLDER
  DIR/bin/python tests/oracle/record_random_nets.py --kind control --count 1000 FOLDER
  build/release/bin/caffe2_oracle FOLDER

DIR is a Python 3.6 to 3.9 environment with torch==1.8.1, numpy==1.19.5, protobuf==3.19.6, future and six; protoc must be
installed. The nets of the kind "plain" have operators in place, shared inputs, several losses and sparse look-ups; those of
the kind "control" have If, While and Do, recurrent networks, sparse look-ups and segments. FOLDER gets two files in the
format of oracle.proto: net_gradients.pb with the backward passes, or their errors, and sequences.pb with the values of all
blobs after a forward and a backward pass. Then the original replays both, with another order of its hash tables and other
values in new memory: a backward pass that differs is marked hash_order, and nets whose values differ are dropped.
"""
import argparse
import os
import pickle
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core, workspace
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FILES = (("net_gradients.pb", "NetGradientCases"), ("sequences.pb", "SequenceCases"))
RTOL = 1e-3


def oracle_messages():
    folder = os.path.dirname(os.path.abspath(__file__))
    with tempfile.NamedTemporaryFile() as out:
        subprocess.check_call(["protoc", "-I" + folder, "--descriptor_set_out=" + out.name, "oracle.proto"])
        files = descriptor_pb2.FileDescriptorSet.FromString(out.read())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return lambda name: factory.GetPrototype(pool.FindMessageTypeByName("caffe2rt.oracle." + name))()


# numpy kind and size -> data type and field of TensorProto
FIELDS = {"float32": ("FLOAT", "float_data"), "int64": ("INT64", "int64_data"), "int32": ("INT32", "int32_data"),
          "bool": ("BOOL", "int32_data")}


def set_tensor(message, array):
    array = np.asarray(array)
    tensor = caffe2_pb2.TensorProto(dims=array.shape)
    data_type, field = FIELDS[array.dtype.name]
    tensor.data_type = caffe2_pb2.TensorProto.DataType.Value(data_type)
    getattr(tensor, field).extend(array.flatten().tolist())
    message.tensor = tensor.SerializeToString()


def get_tensor(message):
    tensor = caffe2_pb2.TensorProto.FromString(message.tensor)
    name = caffe2_pb2.TensorProto.DataType.Name(tensor.data_type)
    dtype, field = next((dtype, field) for dtype, (data_type, field) in FIELDS.items() if data_type == name)
    return np.array(getattr(tensor, field), dtype).reshape(tuple(tensor.dims))


def set_gradient(message, gradient):
    if isinstance(gradient, core.GradientSlice):
        message.indices, message.values = str(gradient.indices), str(gradient.values)
    elif gradient is not None:
        message.dense = str(gradient)


def clear_marks(net):
    """Removes the device option with which the original's backward pass marks Sums, also those of inner nets."""
    for op in net.op:
        if op.type == "Sum":
            op.ClearField("device_option")
        for argument in op.arg:
            if argument.HasField("n"):
                clear_marks(argument.n)


def add_gradients(net, losses):
    gradients = net.AddGradientOperators(losses)
    clear_marks(net.Proto())
    return gradients


def record_backward_pass(random_net, case):
    """Returns whether the original made a backward pass."""
    clear_marks(random_net.net.Proto())  # those of backward step nets
    case.net_before = random_net.net.Proto().SerializeToString()
    case.method, case.origin = "AddGradientOperators", "random"
    forward = len(random_net.net.Proto().op)
    for loss in random_net.losses:
        case.y.add().blob = loss
    try:
        gradients = add_gradients(random_net.net, random_net.losses)
    except Exception as error:  # the original raises several types
        case.throws = True
        case.error = str(error).split("\n")[0]
        return False
    case.net_after = random_net.net.Proto().SerializeToString()
    # The original adds up the gradients of one operator's inputs in the order of a hash table.
    types = [op.type for op in random_net.net.Proto().op[forward:]]
    case.hash_order = any(pair == ("Sum", "Sum") for pair in zip(types, types[1:]))
    for blob, gradient in sorted(gradients.items(), key=lambda item: str(item[0])):
        entry = case.gradient.add()
        entry.blob = str(blob)
        set_gradient(entry.gradient, gradient)
    return True


def is_rounding(value):
    """Whether there is nothing but rounding errors or zeros, as in the gradient of a softmax of one column."""
    return value.dtype.kind == "f" and value.size > 0 and np.abs(value).max() < 1e-6


def record_values(random_net, case):
    """Returns whether the values are finite."""
    workspace.ResetWorkspace()
    proto = caffe2_pb2.NetDef.FromString(random_net.net.Proto().SerializeToString())
    proto.type = "simple"
    for name, value in random_net.inputs.items():
        workspace.FeedBlob(name, value)
        blob = case.input.add()
        blob.name = name
        set_tensor(blob, value)
    case.net, case.rtol, case.origin = proto.SerializeToString(), RTOL, "random"
    workspace.RunNetOnce(proto)
    for name in sorted({name for op in proto.op for name in op.output}):
        value = workspace.FetchBlob(name)
        if not isinstance(value, np.ndarray):
            if "nullptr" not in str(value):  # a blob that no branch has written
                case.output.add(name=name, opaque=str(value))
            continue
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            return False
        if value.dtype.name in FIELDS and not is_rounding(value):
            blob = case.output.add()
            blob.name = name
            set_tensor(blob, value)
    return True


def make_net(kind, seed):
    if kind == "control":
        from random_control_nets import ControlNet as Net
    else:
        from random_nets import RandomNet as Net
    random_net = Net(seed, random.Random(seed))
    random_net.build()
    return random_net


def record(kind, seed, new):
    """Returns a record of the backward pass, one of the values or None, and an error or None."""
    random_net = make_net(kind, seed)
    case, values = new("NetGradientCase"), new("SequenceCase")
    case.id = values.id = "random-%s%d" % ("" if kind == "plain" else kind + "-", seed)
    if not record_backward_pass(random_net, case):
        return case.SerializeToString(), None, None
    try:
        if record_values(random_net, values):
            return case.SerializeToString(), values.SerializeToString(), None
        return case.SerializeToString(), None, "not finite"
    except RuntimeError as error:
        return case.SerializeToString(), None, "does not run: " + str(error).split("\n")[0]


def replay(case, values):
    """Runs the original on its own records. Marks or empties those that differ."""
    losses = [y.blob for y in case.y]
    if not case.throws:
        net = core.Net(caffe2_pb2.NetDef.FromString(case.net_before))
        gradients = {str(blob): str(gradient) for blob, gradient in add_gradients(net, losses).items()}
        want = caffe2_pb2.NetDef.FromString(case.net_after)
        recorded = {entry.blob for entry in case.gradient}
        if set(gradients) != recorded:
            raise ValueError("the gradients of other blobs")
        case.hash_order = case.hash_order or list(net.Proto().op) != list(want.op)
    if values is None:
        return
    workspace.ResetWorkspace()
    for blob in values.input:
        workspace.FeedBlob(blob.name, get_tensor(blob))
    workspace.RunNetOnce(caffe2_pb2.NetDef.FromString(values.net))
    for blob in values.output:
        if blob.WhichOneof("value") == "tensor":
            want, got = get_tensor(blob), workspace.FetchBlob(blob.name)
            bound = RTOL / 8 * np.abs(want).max(initial=0) if want.dtype.kind == "f" else 0
            if got.shape != want.shape or np.abs(got.astype(float) - want).max(initial=0) > bound:
                raise ValueError("another value of " + blob.name)


def in_child(function):
    """Calls the function in a forked process. Returns its result, or an error as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            answer = (function(), None)
        except BaseException as error:  # the parent reports it
            answer = (None, "%s: %s" % (type(error).__name__, str(error).split("\n")[0]))
        with os.fdopen(writer, "wb") as out:
            pickle.dump(answer, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    return pickle.loads(answer) if status == 0 else (None, "the process ended with status %d" % status)


def record_all(options, new):
    passes, sequences = new("NetGradientCases"), new("SequenceCases")
    reported = time.time()
    for number in range(options.count):
        seed = options.seed + number
        result, error = in_child(lambda: record(options.kind, seed, new))
        if result is not None:
            case, values, error = result
            passes.case.add().ParseFromString(case)
            if values is not None:
                sequences.case.add().ParseFromString(values)
        if error is not None:
            print("seed %d: %s" % (seed, error), file=sys.stderr)
        if time.time() - reported > 2:
            reported = time.time()
            print("%d of %d nets" % (number + 1, options.count), file=sys.stderr)
    return passes, sequences


def replay_all(options, new):
    passes, sequences = read(options.folder, new)
    values = {case.id: case for case in sequences.case}
    kept = new("NetGradientCases"), new("SequenceCases")

    def check(case):
        replay(case, values.get(case.id))
        return case.hash_order

    for case in passes.case:
        hash_order, error = in_child(lambda: check(case))
        if error is None:
            case.hash_order = hash_order
            kept[0].case.add().CopyFrom(case)
            if case.id in values:
                kept[1].case.add().CopyFrom(values[case.id])
        else:
            print("%s is dropped: %s" % (case.id, error), file=sys.stderr)
    return kept


def read(folder, new):
    result = []
    for name, message in FILES:
        result.append(new(message))
        with open(os.path.join(folder, name), "rb") as file:
            result[-1].ParseFromString(file.read())
    return result


def write(folder, messages):
    os.makedirs(folder, exist_ok=True)
    for (name, _), message in zip(FILES, messages):
        with open(os.path.join(folder, name), "wb") as out:
            out.write(message.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", help="where the two files are written")
    parser.add_argument("--kind", choices=["plain", "control"], default="plain", help="which nets (default: %(default)s)")
    parser.add_argument("--count", type=int, default=2000, help="number of nets (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="the first net's seed (default: %(default)s)")
    parser.add_argument("--replay", action="store_true", help="only replay the records in the folder")
    options = parser.parse_args()
    variables = {"PYTHONHASHSEED": "2" if options.replay else "1", "MALLOC_PERTURB_": "165" if options.replay else "0"}
    if any(os.environ.get(name) != value for name, value in variables.items()):  # they are read when a process starts
        os.execve(sys.executable, [sys.executable] + sys.argv, dict(os.environ, **variables))
    new = oracle_messages()
    passes, sequences = replay_all(options, new) if options.replay else record_all(options, new)
    write(options.folder, (passes, sequences))
    if not options.replay:
        sys.exit(subprocess.call([sys.executable] + sys.argv + ["--replay"]))
    print("%d nets, %d rejected by the original, %d with values, %d in hash order" % (
        len(passes.case), sum(case.throws for case in passes.case), len(sequences.case),
        sum(case.hash_order for case in passes.case)))


if __name__ == "__main__":
    main()
