from caffe2.proto import caffe2_pb2


def MakeArgument(key, value):
    argument = caffe2_pb2.Argument(name=key)
    if isinstance(value, list):
        argument.ints.extend(value)
    else:
        argument.i = value
    return argument
