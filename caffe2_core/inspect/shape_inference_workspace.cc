#include "caffe2_core/inspect/shape_inference_workspace.h"

#include <new>
#include <utility>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {

TensorShape GetTensorShapeOfBlob(const Blob* blob) {
  const Tensor* tensor = blob != nullptr ? FindTensor(*blob) : nullptr;
  if (tensor == nullptr || !tensor->IsShaped()) return UnknownShape();
  return CreateTensorShape(tensor->dims(), TypeMetaToDataType(tensor->meta()));
}

ShapeMap ShapesOfWorkspace(const Workspace& ws) {
  ShapeMap shapes;
  for (const std::string& name : ws.Blobs()) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    TensorShape shape = GetTensorShapeOfBlob(blob.get());
    if (!shape.unknown_shape()) shapes[name] = std::move(shape);
  }
  return shapes;
}

TensorShapes InferBlobShapesAndTypesFromWorkspace(Workspace* ws,
                                                  const std::vector<NetDef*>& nets) try {
  CAFFE_ENFORCE(ws != nullptr, "argument ws of InferBlobShapesAndTypesFromWorkspace is null");
  EnsureBuiltinOperators();
  ShapeMap shapes = ShapesOfWorkspace(*ws);
  return InferBlobShapesAndTypes({nets.begin(), nets.end()}, &shapes);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
