#include "python/engine/errors.h"

#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {

namespace nb = nanobind;

void BindErrors(nb::module_& m) {
  nb::object error = nb::steal(PyErr_NewExceptionWithDoc(
      "caffe2rt.Error", "An error of the library. The text names what failed, what was found and what is required.",
      PyExc_RuntimeError, nullptr));
  if (!error.is_valid()) nb::raise_python_error();
  m.attr("Error") = error;
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const OutOfMemory& e) {
          PyErr_SetString(PyExc_MemoryError, OneLine(e.message()).c_str());
        } catch (const EnforceNotMet& e) {
          PyErr_SetString(static_cast<PyObject*>(type), OneLine(e.message()).c_str());
        }
      },
      error.release().ptr());  // never freed: a run may fail while the interpreter exits
}

}  // namespace caffe2rt
