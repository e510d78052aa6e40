// A program of 2017 that runs the operator of this folder.
#include <caffe2/core/init.h>
#include <caffe2/core/operator.h>
#include <caffe2/utils/proto_utils.h>

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  caffe2::Workspace workspace;
  auto* x = workspace.CreateBlob("x")->GetMutable<caffe2::Tensor<caffe2::CPUContext>>();
  x->Resize(3);
  for (int i = 0; i < 3; ++i) x->mutable_data<float>()[i] = static_cast<float>(i);
  caffe2::OperatorDef def;
  def.set_type("Flip1D");
  def.add_input("x");
  def.add_output("y");
  CAFFE_ENFORCE(workspace.RunOperatorOnce(def));
  auto& y = workspace.GetBlob("y")->Get<caffe2::TensorCPU>();
  return y.data<float>()[0] == 2 && y.data<float>()[2] == 0 ? 0 : 1;
}
