#include "caffe2_core/graph/builtin_operators.h"

#include <mutex>
#include <system_error>

namespace caffe2rt {
namespace {

void RegisterOnce(int part) {
  static std::once_flag once[kBuiltinOperatorParts];
  std::call_once(once[part], RegisterBuiltinOperators, part);
}

}  // namespace

void RegisterBuiltinOperatorsOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    // RegistrationAhead begins at the other end.
    for (int part = kBuiltinOperatorParts - 1; part >= 0; --part) RegisterOnce(part);
  });
}

RegistrationAhead::RegistrationAhead() {
  const auto register_all = [] {
    try {
      for (int part = 0; part < kBuiltinOperatorParts; ++part) RegisterOnce(part);
    } catch (...) {  // the first look-up has the error
    }
  };
  try {
    thread_ = std::thread(register_all);
  } catch (const std::system_error&) {
  }
}

RegistrationAhead::~RegistrationAhead() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace caffe2rt
