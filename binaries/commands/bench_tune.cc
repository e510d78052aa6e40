#include "binaries/commands/bench_tune.h"

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/conv_geometry.h"
#include "operators/conv/conv_tune.h"

namespace caffe2rt {
namespace {

bool IsConvolution(const std::string& type) {
  return type == "Conv" || type == "Conv1D" || type == "Conv2D" || type == "Conv3D";
}

ConvShape ShapeOf(const OperatorDef& op, const std::vector<TensorShape>& inputs) {
  const WindowArguments window = ParseWindowArguments(ArgumentHelper(op), WindowUse::kConv);
  return {.window = MakeWindowGeometry(window, GetDimsVector(inputs[0])),
          .out_channels = inputs[1].dims(0),
          .group = window.group,
          .bias = inputs.size() > 2};
}

// What a row of the table states has no bias.
bool HaveOneRow(const ConvShape& a, ConvShape b) {
  b.bias = a.bias;
  return a == b;
}

std::vector<ConvShape> ShapesOfNet(const NetDef& net, const Workspace& ws) {
  EnsureBuiltinOperators();
  ShapeMap shapes = ShapesOfWorkspace(ws);
  std::vector<ConvShape> found;
  for (const OpShapes& op : InferOpShapes({&net}, &shapes)) {
    const OperatorDef& def = net.op(op.op);
    if (!IsConvolution(def.type()) || op.inputs.size() < 2 || op.inputs[0].unknown_shape() ||
        op.inputs[1].dims_size() < 1 || op.failed) {
      continue;
    }
    const ConvShape shape = ShapeOf(def, op.inputs);
    if (shape.window.batch == 0) continue;
    const auto same = [&](const ConvShape& other) { return HaveOneRow(shape, other); };
    if (std::none_of(found.begin(), found.end(), same)) found.push_back(shape);
  }
  return found;
}

}  // namespace

std::string TuneNet(const Model& model, const Workspace& ws) {
  const std::vector<ConvShape> shapes = ShapesOfNet(model.predict_net, ws);
  CAFFE_ENFORCE(!shapes.empty(), "net \"", model.predict_net.name(),
                "\" has no convolution of a known shape to time");
  ClassicStringStream table;
  table << kConvTuningVersionLine
        << "\n# "
           "isa\torder\tinput\tfilters\tkernel\tstrides\theads\ttails\tdilations\tgroup\talgorithm"
           "\tmicroseconds\n";
  TuneConvolutions(
      shapes, ConvTuneOptions{}, table,
      [](const ConvShape& shape, const std::vector<ConvTiming>& timings) {
        std::cout << shape.in_group() * shape.group << " to " << shape.out_channels << " channels, "
                  << CountText(shape.window.batch, "image") << ": "
                  << (timings.empty() ? "none" : ConvAlgorithmName(timings[0].algorithm)) << "  "
                  << FixedText(timings.empty() ? 0 : timings[0].microseconds, 1) << " us"
                  << std::endl;
      });
  return table.str();
}

}  // namespace caffe2rt
