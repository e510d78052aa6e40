#pragma once
// PythonOperatorError: an exception of Python that passes through nets.
//
//   try { function(...); } catch (nb::python_error& error) {
//     throw PythonOperatorError(__FILE__, __LINE__, error);
//   }
//
// Nets and plans add frames to it as to every error of the library. RestorePythonErrors makes the
// module raise the exception itself, of the type that the user knows.

#include <nanobind/nanobind.h>

#include <memory>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

class PythonOperatorError final : public EnforceNotMet {
 public:
  // REQUIRES: the interpreter's lock. Copies of the error need no lock.
  PythonOperatorError(const char* file, int line, const nanobind::python_error& error);
  // Sets the exception as the interpreter's current one. REQUIRES: the lock.
  void Restore() const;

 private:
  std::shared_ptr<nanobind::python_error> error_;
};

// Registers the translator. Translators that are registered later come first: register those for
// EnforceNotMet before.
void RestorePythonErrors();
// From now on the errors of the library have the text in Caffe2's format (EnforceNotMet::what), which
// programs of the front end search. `type` is the class of the exceptions.
void UseOriginalErrorTexts(nanobind::object type);

}  // namespace caffe2rt
