#include "tests/support/device_run.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "caffe2_core/device/context.h"
#include "caffe2_core/io/file_access.h"

namespace caffe2rt::test {
namespace {

bool MayGo(const Blob& blob) {
  if (!blob.IsTensor(CPU)) return false;
  const TypeMeta type = blob.Get<Tensor>().dtype();
  return !type.IsSet() || type.IsPlainData();
}

void CopyTensor(const Tensor& from, Tensor* to) {
  if (from.dtype().IsSet() && from.HasData()) {
    to->CopyFrom(from);
  } else {
    to->ResizeLike(from);
  }
}

// The index of the input that, according to `error`, is on device `where` but must be on `wanted`.
// Returns -1 for any other error.
int InputWantedOn(DeviceType wanted, DeviceType where, const EnforceNotMet& error) {
  const std::string text = error.message();
  const size_t at = text.find(MakeString(" is a tensor on ", DeviceTypeName(where),
                                         ", want one on ", DeviceTypeName(wanted)));
  const size_t subject = at == std::string::npos ? at : text.rfind("input ", at);
  int input = -1;
  if (subject != std::string::npos) std::sscanf(text.c_str() + subject, "input %d", &input);
  return input;
}

// A workspace with the blobs of an operator, copied to a device or shared with `outside`.
class Stage {
 public:
  Stage(DeviceType device, const OperatorDef& def, const std::set<int>& stay, Workspace* outside)
      : device_(device), outside_(outside), here_(outside->RootFolder()) {
    here_.SetFileAccess(outside->file_access());
    std::set<std::string> kept;
    for (const int i : stay) kept.insert(def.input(i));
    for (const auto* names : {&def.input(), &def.output()}) {
      for (const std::string& name : *names) {
        const Blob* const from = outside->HasBlob(name) ? outside->GetBlob(name) : nullptr;
        if (from == nullptr || here_.HasBlob(name)) continue;
        Blob* const to = here_.CreateBlob(name);
        if (MayGo(*from) && !kept.contains(name)) {
          CopyTensor(from->Get<Tensor>(), to->GetMutableTensor(device));
        } else if (!from->IsEmpty()) {
          to->ShareExternal(const_cast<void*>(from->GetRaw()), from->meta());
        }
      }
    }
  }
  Workspace* workspace() { return &here_; }

  void BringBack(const OperatorDef& def) {
    const std::set<std::string> outputs(def.output().begin(), def.output().end());
    for (const std::string& name : here_.LocalBlobs()) {
      if (outside_->HasBlob(name) && !outputs.contains(name)) continue;
      Blob* const from = here_.GetBlob(name);
      Blob* const to = outside_->CreateBlob(name);
      if (from->GetRaw() == to->GetRaw()) continue;
      if (from->IsTensor(device_)) {
        CopyTensor(from->Get<Tensor>(), to->GetMutableTensor(CPU));
      } else {
        to->swap(*from);
      }
    }
  }

 private:
  const DeviceType device_;
  Workspace* const outside_;
  Workspace here_;
};

std::map<DeviceType, std::string (*)()>& TestDevices() {
  static std::map<DeviceType, std::string (*)()> devices;
  return devices;
}

}  // namespace

void AddTestDevice(DeviceType device, std::string (*problem)()) { TestDevices()[device] = problem; }

std::string ProblemOfTestDevice(DeviceType device) {
  const auto found = TestDevices().find(device);
  CAFFE_ENFORCE(found != TestDevices().end(), "this test program has no device ",
                DeviceTypeName(device), ": AddTestDevice was not called");
  return found->second();
}

DeviceType TestDevice() {
  const char* const name = std::getenv("CAFFE2_TEST_DEVICE");
  if (name == nullptr || std::string(name) == "cpu") return CPU;
  CAFFE_ENFORCE(std::string(name) == "cuda", "CAFFE2_TEST_DEVICE is \"", name,
                "\", want cpu or cuda");
  GetStaticContext(CUDA);
  return CUDA;
}

bool RunOperatorOn(DeviceType device, const OperatorDef& def, Workspace* ws) {
  OperatorDef there = def;
  there.mutable_device_option()->set_device_type(device);
  std::set<int> stay;
  while (true) {
    Stage stage(device, def, stay, ws);
    try {
      if (!stage.workspace()->RunOperatorOnce(there)) return false;
    } catch (const EnforceNotMet& error) {
      if (InputWantedOn(device, CPU, error) >= 0) throw ElementsStay(error);
      const int input = InputWantedOn(CPU, device, error);
      if (input < 0 || input >= def.input_size() || !stay.insert(input).second) throw;
      continue;
    }
    stage.BringBack(def);
    return true;
  }
}

}  // namespace caffe2rt::test
