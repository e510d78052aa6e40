// Runs the nets of this folder, with the operators of both generations, and checks the values.
#include <iostream>

#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/utils/proto_utils.h"

namespace {

template <class T>
int Check(caffe2::Workspace* ws, const std::string& blob, const std::vector<T>& want) {
  const auto& tensor = ws->GetBlob(blob)->Get<caffe2::TensorCPU>();
  const T* data = tensor.data<T>();
  if (std::vector<T>(data, data + tensor.size()) == want) return 0;
  std::cerr << "operators: \"" << blob << "\" holds";
  for (int i = 0; i < tensor.size(); ++i) std::cerr << " " << data[i];
  std::cerr << "\n";
  return 1;
}

// The sums (old) or the greatest elements (new) of windows of min(2, 4, ..., 18; limit), then twice
// the sums of the rows of 0 1 2; 3 4 5, then the number of the run.
int RunNet(const std::string& file, const std::vector<float>& want) {
  caffe2::NetDef net;
  CAFFE_ENFORCE(caffe2::ReadProtoFromFile(file, &net), "cannot read ", file);
  caffe2::Workspace ws;
  CAFFE_ENFORCE(ws.CreateNet(net));
  CAFFE_ENFORCE(ws.RunNet(net.name()));
  return Check(&ws, "joined", want) + Check<int64_t>(&ws, "shape", {2, 2, 1, 1}) +
         Check<int>(&ws, "length", {3});
}

}  // namespace

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  const std::string folder = argv[1];
  caffe2::OperatorDef op = caffe2::CreateOperatorDef("OldScale", "", {"x"}, {"y"});
  const auto meta = caffe2::GetGradientForOp(op, {{"y_grad", "", ""}});
  if (meta.ops_.size() != 1 || meta.ops_[0].output(0) != "x_grad") return 1;
  return RunNet(folder + "/old.pbtxt", {23, 28, 35, 36, 6, 24, 1}) +
         RunNet(folder + "/new.pbtxt", {10, 12, 12, 12, 6, 24, 1});
}
