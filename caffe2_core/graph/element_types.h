#pragma once
// Element types of blobs whose sizes are not known.
//
// Types do not depend on sizes: where sizes that only a run decides leave shape inference without an
// answer, it is asked again about inputs of one element.

#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The types of the outputs of an operator; UNDEFINED where they are not known. Of the inputs the types
// and, unless their shapes are unknown, the numbers of dims are used. Where the type of an input is not
// known, those outputs have types that do not depend on it. Empty if no schema is known.
std::vector<TensorProto::DataType> InferElementTypes(const OperatorDef& op,
                                                     const std::vector<TensorShape>& inputs);

// States the types of outputs that inference left without a shape, from the first operator to the last:
// in `of_operators` (one for each operator of the net, from InferOpShapes) and in `shapes`.
void StateElementTypes(const NetDef& net, std::vector<OpShapes>* of_operators, ShapeMap* shapes);

}  // namespace caffe2rt
#pragma GCC visibility pop
