#pragma once
// Modules: shared libraries with operators that are loaded at run time.
#include <atomic>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <unordered_set>

#include "caffe2/core/common.h"
#include "caffe2/core/typeid.h"
#include "caffe2_core/runtime/module.h"

namespace caffe2 {
using ::caffe2rt::CurrentModules;
using ::caffe2rt::HasModule;
using ::caffe2rt::LoadModule;
using ::caffe2rt::ModuleSchema;
}  // namespace caffe2
