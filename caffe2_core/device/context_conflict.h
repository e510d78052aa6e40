#pragma once
// The conflict of StaticContextRegisterer (context.h), for the load of the module that made it.

#include <string>

namespace caffe2rt::internal {

// The last device type that was registered twice and not reported since; "" if there is none. Who
// takes it reports it.
std::string TakeContextConflict();

}  // namespace caffe2rt::internal
