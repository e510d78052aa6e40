"""Operators of detectors on an image of 600 x 800 pixels, for compare_with_original.py."""
import os

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core

HEIGHT, WIDTH = 38, 50  # the feature map of an image of 600 x 800 pixels, stride 16


def random_rois(rng, count):
    corners = rng.uniform(0, 1, (count, 2)) * [700, 500]
    sizes = np.exp(rng.uniform(np.log(20), np.log(400), (count, 2)))
    ends = np.minimum(corners + sizes, [799, 599])
    return np.concatenate([np.zeros((count, 1)), corners, ends], axis=1).astype(np.float32)


def anchors():
    boxes = []
    for size in (32, 64, 128, 256, 512):
        for ratio in (0.5, 1, 2):
            w, h = size / np.sqrt(ratio), size * np.sqrt(ratio)
            boxes.append([8 - w / 2, 8 - h / 2, 7 + w / 2, 7 + h / 2])
    return np.array(boxes, np.float32)


def detection_cases(folder):
    """Writes each net and its inputs to a folder of its own and returns the cases."""
    rng = np.random.RandomState(1)
    features = rng.uniform(-1, 1, (1, 1024, HEIGHT, WIDTH)).astype(np.float32)
    info = np.array([[600, 800, 1]], np.float32)
    scores = rng.uniform(0, 1, (1, 15, HEIGHT, WIDTH)).astype(np.float32)
    deltas = (rng.standard_normal((1, 60, HEIGHT, WIDTH)) * 0.2).astype(np.float32)
    classes = 81
    align = {"pooled_h": 14, "pooled_w": 14, "spatial_scale": 1 / 16.0}
    rois = random_rois(rng, 100)
    class_boxes = np.tile(random_rois(rng, 1000)[:, 1:], classes)
    class_scores = rng.dirichlet(np.full(classes, 0.1), 1000).astype(np.float32)
    operators = [
        ("roi_align_100", "RoIAlign", [features, rois], 1, align),
        ("roi_align_100_2", "RoIAlign", [features, rois], 1, dict(align, sampling_ratio=2)),
        ("roi_align_1000", "RoIAlign", [features[:, :256], random_rois(rng, 1000)], 1, dict(align, pooled_h=7, pooled_w=7)),
        ("roi_align_100", "RoIAlignGradient", [features, rois, rng.uniform(-1, 1, (100, 1024, 14, 14)).astype(np.float32)], 1, align),
        ("roi_pool_100", "RoIPool", [features, rois], 2, align),
        ("proposals", "GenerateProposals", [scores, deltas, info, anchors()], 2, {"post_nms_topN": 1000}),
        ("detections", "BoxWithNMSLimit", [class_scores, class_boxes], 3, {"nms": 0.5}),
        ("boxes", "BBoxTransform", [random_rois(rng, 1000), (rng.standard_normal((1000, 4 * classes)) * 0.1).astype(np.float32), info], 1, {}),
        ("affine", "AffineChannel", [features, features[0, :, 0, 0].copy(), features[0, :, 0, 1].copy()], 1, {}),
    ]
    return [write_case(os.path.join(folder, "detection", name + op_type), "detection/%s %s" % (name, op_type), *rest)
            for name, op_type, *rest in ((name, op_type, op_type, arrays, outputs, arguments)
                                         for name, op_type, arrays, outputs, arguments in operators)]


def write_case(folder, name, op_type, arrays, outputs, arguments):
    os.makedirs(folder)
    inputs = {}
    for i, array in enumerate(arrays):
        inputs["input_%d" % i] = os.path.join(folder, "input_%d.npy" % i)
        np.save(inputs["input_%d" % i], np.ascontiguousarray(array))
    op = core.CreateOperator(op_type, list(inputs), ["output_%d" % i for i in range(outputs)], **arguments)
    net = caffe2_pb2.NetDef(name="detection", op=[op], external_input=list(inputs), external_output=list(op.output))
    predict = os.path.join(folder, "predict.pb")
    with open(predict, "wb") as out:
        out.write(net.SerializeToString())
    return {"name": name, "folder": folder, "init": None, "predict": predict, "inputs": inputs}
