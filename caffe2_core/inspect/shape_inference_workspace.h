#pragma once
// Shape inference from the blobs of a workspace.

#include <vector>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/blob.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

// The shape and type of the tensor in the blob. `unknown_shape` is set if `blob` is null, or does
// not hold a tensor with a shape.
TensorShape GetTensorShapeOfBlob(const Blob* blob);

// The shapes of all tensors that are visible in the workspace.
ShapeMap ShapesOfWorkspace(const Workspace& ws);

// Calls InferBlobShapesAndTypes, starting from ShapesOfWorkspace. Registers the built-in schemas
// first. THROWS what InferBlobShapesAndTypes throws.
TensorShapes InferBlobShapesAndTypesFromWorkspace(Workspace* ws, const std::vector<NetDef*>& nets);

}  // namespace caffe2rt
#pragma GCC visibility pop
