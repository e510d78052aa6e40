#pragma once
// Factories of the built-in back ends of db.h, one source file each, and helpers for them. Used
// only by db.cc and the back ends.

#include <exception>
#include <memory>
#include <string>

#include "caffe2_core/io/db.h"

namespace caffe2rt {
namespace db {

std::unique_ptr<DB> NewMiniDB(const std::string& source, Mode mode);
std::unique_ptr<DB> NewLevelDB(const std::string& source, Mode mode);
std::unique_ptr<DB> NewLMDB(const std::string& source, Mode mode);
std::unique_ptr<DB> NewProtoDB(const std::string& source, Mode mode);

namespace internal {
// Detects that an exception thrown after construction is in flight. Destructors then discard
// unfinished work instead of committing it.
class UnwindingDetector {
 public:
  bool Unwinding() const { return std::uncaught_exceptions() > at_start_; }

 private:
  int at_start_ = std::uncaught_exceptions();
};

// For destructors of transactions: commits unless an exception is in flight. Never throws; failures
// are logged.
void CommitInDestructor(Transaction* transaction, const UnwindingDetector& detector) noexcept;
}  // namespace internal

}  // namespace db
}  // namespace caffe2rt
