#pragma once
// Shape inference that starts from the blobs of a workspace.

#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/blob.h"

namespace caffe2rt {

class Workspace;

// Shape and type of a blob's tensor; unknown_shape when it holds no tensor, or one that was never
// shaped.
TensorShape GetTensorShapeOfBlob(const Blob* blob);

// Shapes of all tensors that the workspace sees.
ShapeMap ShapesOfWorkspace(const Workspace& ws);

// InferBlobShapesAndTypes, seeded with ShapesOfWorkspace; built-in schemas are registered. THROWS
// as that one does.
TensorShapes InferBlobShapesAndTypesFromWorkspace(Workspace* ws, const std::vector<NetDef*>& nets);

}  // namespace caffe2rt
