// What the front end's ONNX modules ask without converting anything: names for blobs that a conversion
// adds.
#include <nanobind/nanobind.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include <set>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// Names that no blob of a net has: "OC2_DUMMY_0", "OC2_DUMMY_1" ...
class DummyName {
 public:
  // Starts with the first number again, and leaves out the names in `used`.
  void Reset(const std::set<Text>& used) {
    used_.clear();
    for (const Text& name : used) used_.insert(name.str());
    next_ = 0;
  }
  std::string New() {
    while (true) {
      std::string name = MakeString("OC2_DUMMY_", next_++);
      if (used_.insert(name).second) return name;
    }
  }

 private:
  std::set<std::string> used_;
  int64_t next_ = 0;
};

}  // namespace

void BindFrontendOnnx(nb::module_& m) {
  nb::class_<DummyName>(m, "DummyName", "Names that no blob of a net has.")
      .def(nb::init<>())
      .def("reset", &DummyName::Reset)
      .def("new_dummy_name", &DummyName::New);
}

}  // namespace caffe2rt
