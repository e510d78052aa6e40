#include "python/engine/python_error.h"

#include <string>

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// "ValueError: text".
std::string TextOf(const nb::python_error& error) {
  std::string text = nb::cast<const char*>(error.type().attr("__name__"));
  nb::object message = nb::steal(PyObject_Str(error.value().ptr()));
  if (!message.is_valid()) {
    PyErr_Clear();
    return text;
  }
  return text + ": " + nb::borrow<nb::str>(message).c_str();
}

PyObject* g_original_type = nullptr;  // null: the library's texts; never freed

void Translate(const std::exception_ptr& exception, void* /*payload*/) {
  try {
    std::rethrow_exception(exception);
  } catch (const PythonOperatorError& error) {
    error.Restore();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet& error) {
    if (g_original_type == nullptr) throw;
    PyErr_SetString(g_original_type, error.what());
  }
}

}  // namespace

PythonOperatorError::PythonOperatorError(const char* file, int line, const nb::python_error& error)
    : EnforceNotMet(file, line, "", "the Python function raised " + TextOf(error)),
      error_(std::make_shared<nb::python_error>(error)) {}

void PythonOperatorError::Restore() const {
  nb::python_error copy(*error_);
  copy.restore();
}

void UseOriginalErrorTexts(nb::object type) { g_original_type = type.release().ptr(); }

void RestorePythonErrors() { nb::register_exception_translator(Translate); }

}  // namespace caffe2rt
