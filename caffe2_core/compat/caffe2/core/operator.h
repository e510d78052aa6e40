#pragma once
// Operators. Includes nearly all other headers, as Caffe2's header of this name does.
#include <array>
#include <climits>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <queue>
#include <set>
#include <typeindex>
#include <typeinfo>
#include <vector>

#include "c10/macros/Macros.h"
#include "c10/util/Registry.h"
#include "caffe2/core/blob.h"
#include "caffe2/core/common.h"
#include "caffe2/core/net.h"
#include "caffe2/core/observer.h"
#include "caffe2/core/operator_gradient.h"
#include "caffe2/core/operator_schema.h"
#include "caffe2/core/registry.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/types.h"
#include "caffe2/core/workspace.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2_core/compat/caffe2rt_templated/operator.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"

// The last Caffe2 versions could also call an operator from PyTorch, through a constructor with
// parameters of these types. Such constructors compile; nothing calls them.
#if !CAFFE2RT_TEMPLATED_TENSOR
namespace c10 {
struct FunctionSchema {};
struct IValue {};
template <class T>
class List {};
}  // namespace c10
namespace at {
using Tensor = ::caffe2rt::Tensor;
}  // namespace at
#endif

namespace caffe2 {

using ::caffe2rt::CPUOperatorRegistry;
using ::caffe2rt::CreateOperator;
using ::caffe2rt::CUDAOperatorRegistry;
using ::caffe2rt::DispatchHelper;
using ::caffe2rt::EnginePrefType;
using ::caffe2rt::FixedValues;
using ::caffe2rt::GenericTensorImplementation;
using ::caffe2rt::GetRegisteredOperators;
using ::caffe2rt::GetTensorShapeOfBlob;
using ::caffe2rt::GlobalEnginePrefType;
using ::caffe2rt::InferBlobShapesAndTypesFromMap;
using ::caffe2rt::InferBlobShapesAndTypesFromWorkspace;
using ::caffe2rt::OperatorBase;
using ::caffe2rt::OperatorRegistry;
using ::caffe2rt::OpRegistryKey;
using ::caffe2rt::PerOpEnginePrefType;
using ::caffe2rt::SetEnginePref;
using ::caffe2rt::SetGlobalEnginePref;
using ::caffe2rt::SetOpEnginePref;
using ::caffe2rt::SetOperatorLogger;
using ::caffe2rt::SetPerOpEnginePref;
using ::caffe2rt::TensorTypes;
using ::caffe2rt::TensorTypes2;
using ::caffe2rt::UnsupportedOperatorFeature;

// The operator registries of the device types that have a static context.
inline std::map<int32_t, OperatorRegistry*>* gDeviceTypeRegistry() {
  static auto* const registries = [] {
    auto* made = new std::map<int32_t, OperatorRegistry*>;
    ::caffe2rt::FindStaticContext(::caffe2rt::CUDA);  // loads its module
    for (const DeviceType type : ::caffe2rt::RegisteredDeviceTypes()) {
      (*made)[type] = ::caffe2rt::OperatorRegistryOf(type);
    }
    return made;
  }();
  return registries;
}

}  // namespace caffe2
