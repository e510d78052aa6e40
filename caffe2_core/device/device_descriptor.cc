#include "caffe2_core/device/device_descriptor.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

bool IsUsableName(const std::string& name) {
  constexpr char kUsable[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() &&
         absl::AsciiStrToLower(name).find_first_not_of(kUsable) == std::string::npos;
}

bool Answers(const DeviceDescriptor& descriptor, std::string_view name) {
  return absl::AsciiStrToLower(descriptor.name) == name ||
         std::find(descriptor.aliases.begin(), descriptor.aliases.end(), name) !=
             descriptor.aliases.end();
}

class Table {
 public:
  Table() {
    for (DeviceDescriptor& builtin : BuiltinDeviceDescriptors()) Add(std::move(builtin));
  }

  void Add(DeviceDescriptor descriptor) {
    CAFFE_ENFORCE(descriptor.type > CPU && descriptor.type < kMaxDeviceTypes, "device \"",
                  descriptor.name, "\" has device type ", static_cast<int>(descriptor.type),
                  ", want 1 to ", kMaxDeviceTypes - 1);
    std::vector<std::string> names = descriptor.aliases;
    names.push_back(absl::AsciiStrToLower(descriptor.name));
    const MutexLock lock(mutex_);
    for (const std::string& name : names) {
      CAFFE_ENFORCE(
          IsUsableName(name) && name == absl::AsciiStrToLower(name) && name != "cpu" &&
              name != "auto",
          "device type ", static_cast<int>(descriptor.type), " cannot have the name \"", name,
          "\", want letters, digits and underscores (aliases in lower case), not cpu or auto");
      for (const auto& row : rows_) {
        const DeviceDescriptor* const other = row.load();
        CAFFE_ENFORCE(other == nullptr || !Answers(*other, name), "device type ",
                      static_cast<int>(descriptor.type), " cannot have the name \"", name,
                      "\": it is a name of \"", other != nullptr ? other->name : "", "\"");
      }
    }
    const DeviceDescriptor* const taken = rows_[descriptor.type].load();
    CAFFE_ENFORCE(taken == nullptr, "device type ", static_cast<int>(descriptor.type),
                  " is described twice: as \"", taken != nullptr ? taken->name : "", "\" and as \"",
                  descriptor.name, "\"");
    if (descriptor.module_file.empty()) {
      descriptor.module_file = "libcaffe2_" + absl::AsciiStrToLower(descriptor.name) + ".so";
    }
    if (descriptor.blob_suffix.empty())
      descriptor.blob_suffix = absl::AsciiStrToLower(descriptor.name);
    const DeviceType type = descriptor.type;
    rows_[type].store(new DeviceDescriptor(std::move(descriptor)), std::memory_order_release);
  }

  const DeviceDescriptor* row(int type) const {
    return rows_[type].load(std::memory_order_acquire);
  }

 private:
  Mutex mutex_;  // serializes writers; readers load a row atomically
  std::array<std::atomic<const DeviceDescriptor*>, kMaxDeviceTypes> rows_{};
};

Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

template <class Condition>
const DeviceDescriptor* FindIf(Condition condition) {
  for (int type = 0; type < kMaxDeviceTypes; ++type) {
    const DeviceDescriptor* const row = TheTable().row(type);
    if (row != nullptr && condition(*row)) return row;
  }
  return nullptr;
}

}  // namespace

void RegisterDeviceDescriptor(DeviceDescriptor descriptor) {
  TheTable().Add(std::move(descriptor));
}

const DeviceDescriptor* FindDeviceDescriptor(DeviceType type) {
  return IsValidDeviceType(type) ? TheTable().row(type) : nullptr;
}

const DeviceDescriptor* FindDeviceDescriptor(std::string_view name) {
  return FindIf([name](const DeviceDescriptor& descriptor) { return Answers(descriptor, name); });
}

const DeviceDescriptor* FindDeviceOfCopy(const std::string& op_type) {
  if (op_type.empty()) return nullptr;
  return FindIf([&op_type](const DeviceDescriptor& descriptor) {
    return descriptor.copy_from_cpu == op_type || descriptor.copy_to_cpu == op_type;
  });
}

std::vector<const DeviceDescriptor*> DeviceDescriptors() {
  std::vector<const DeviceDescriptor*> descriptors;
  for (int type = 0; type < kMaxDeviceTypes; ++type) {
    if (const DeviceDescriptor* const row = TheTable().row(type)) descriptors.push_back(row);
  }
  return descriptors;
}

}  // namespace caffe2rt
