#pragma once
// The operators that fusion passes make. Passes and operators share these names.
//
//   ConvFusion   X, filter, [bias], [S]  ->  Y = activation(Conv(X) [+ S])
//   FCFusion     X, W, b                 ->  Y = activation(FC(X))
//   SpatialBNFusion  X, scale, bias, mean, var  ->  Y = activation(SpatialBN(X)), in test mode
//
// Besides the arguments of Conv, FC or SpatialBN they have those below. S is the last input if `sum` is 1. The
// activation is the type of an operator, such as Relu, or "" for none.

#include <string>
#include <string_view>

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

inline constexpr char kConvFusionType[] = "ConvFusion";
inline constexpr char kFCFusionType[] = "FCFusion";
inline constexpr char kBatchNormFusionType[] = "SpatialBNFusion";
inline constexpr char kAttentionType[] = "MultiHeadAttention";

// Besides, "activation_" and the name of an argument of the activation.
inline constexpr char kActivationArgument[] = "activation";
inline constexpr char kSumArgument[] = "sum";

// The fused type that extends operators of this type, or null. A fused type extends itself.
const char* FusedTypeFor(const std::string& type);
// Whether the operator has an activation already. THROWS if the argument has the wrong type.
bool HasFusedActivation(const OperatorDef& op);
// Whether the operator adds a tensor already. THROWS if the argument has the wrong type.
bool HasFusedSum(const OperatorDef& op);

}  // namespace caffe2rt
