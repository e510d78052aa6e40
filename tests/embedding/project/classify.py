"""Classifies a generated image through the C interface, from another language: classify.c with ctypes.

Usage: classify.py LIBRARY INIT_NET PREDICT_NET [MODULE]

LIBRARY is libcaffe2rt.so. MODULE, a file with operators, is loaded first.
"""
import ctypes
import sys

SIDE = 64
FLOAT = 1  # CAFFE2RT_FLOAT


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class LoadOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("init_nets", ctypes.POINTER(ctypes.c_char_p)),
                ("num_init_nets", ctypes.c_size_t), ("predict_net", ctypes.c_char_p), ("predictor_db", ctypes.c_char_p),
                ("device", ctypes.c_char_p), ("device_fallback", ctypes.c_int32), ("no_optimization", ctypes.c_int32),
                ("max_concurrent_runs", ctypes.c_int32)]


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.caffe2rt_last_error.restype = ctypes.c_char_p

    def call(name, *args):
        if getattr(library, name)(*args) != 0:
            sys.exit(f"{name}: {library.caffe2rt_last_error().decode()}")

    if len(sys.argv) > 4:
        call("caffe2rt_load_module", sys.argv[4].encode())
    options = LoadOptions(struct_size=ctypes.sizeof(LoadOptions), num_init_nets=1, predict_net=sys.argv[3].encode(),
                          init_nets=(ctypes.c_char_p * 1)(sys.argv[2].encode()))
    model, result, scores = ctypes.c_void_p(), ctypes.c_void_p(), Tensor()
    call("caffe2rt_load", ctypes.byref(options), ctypes.byref(model))

    row = [255.0 if x // 5 % 2 == 0 else 0.0 for x in range(SIDE)]
    pixels = (ctypes.c_float * (3 * SIDE * SIDE))(*row * (3 * SIDE))
    image = Tensor(type=FLOAT, ndim=4, dims=(ctypes.c_int64 * 4)(1, 3, SIDE, SIDE),
                   data=ctypes.cast(pixels, ctypes.c_void_p), bytes=ctypes.sizeof(pixels))
    call("caffe2rt_run", model, ctypes.byref(image), ctypes.c_size_t(1), ctypes.byref(result))
    call("caffe2rt_result_tensor", result, ctypes.c_size_t(0), ctypes.byref(scores))
    count = scores.bytes // ctypes.sizeof(ctypes.c_float)
    values = list(ctypes.cast(scores.data, ctypes.POINTER(ctypes.c_float))[0:count])
    print(f"{scores.name.decode()}: class {values.index(max(values))} of {count}")
    library.caffe2rt_free_result(result)
    library.caffe2rt_free_model(model)


if __name__ == "__main__":
    main()
