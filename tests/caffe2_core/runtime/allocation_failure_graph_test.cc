// Analyses of nets while allocations fail.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_copies.h"
#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/memory_report.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/net_gradient.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::allocation_failure_graph_test {
namespace {

using test::ParseNet;

class AnalysisWithoutMemoryTest : public test::AllocationFailureTest {
 protected:
  // Sweeps over a function that returns a number of its result, and allocates nothing itself.
  static void Expect(const std::function<size_t()>& analyze, size_t want) {
    ASSERT_EQ(analyze(), want);
    Sweep([&] {
      return test::On<size_t>(
          std::make_shared<size_t>(), [&](size_t& count) { count = analyze(); },
          [&](size_t& count) { EXPECT_EQ(count, want); });
    });
  }

  const NetDef net_ = ParseNet(R"(name: "a net whose name is too long for a short string"
      op { type: "FC" input: "the input of the first layer" input: "w" input: "b" output: "h" }
      op { type: "Relu" input: "h" output: "the output of the first layer" }
      op { type: "If" input: "condition" output: "y" arg { name: "then_net" n {
           op { type: "Copy" input: "the output of the first layer" output: "y" } } } }
      op { type: "Softmax" input: "the output of the first layer" output: "z" })");
  const NetDef plain_ = ParseNet(R"(op { type: "FC" input: "x" input: "w" input: "b" output: "h" }
      op { type: "Relu" input: "h" output: "the output of the first layer" }
      op { type: "Softmax" input: "the output of the first layer" output: "z" })");
  const std::vector<const NetDef*> nets_ = {&plain_};
};

TEST_F(AnalysisWithoutMemoryTest, DrawsNets) {
  const NetSummary summary = SummarizeNet({}, plain_, {}, {});
  const std::string svg = NetAsSvg(plain_, summary), dot = NetAsDot(plain_, summary);
  const NetDrawing drawing({{&plain_, &summary, "plain"}}, {});
  const NetDrawingLayout layout = drawing.PlainLayout();
  const std::string page = drawing.Html(layout), request = drawing.DotRequest();
  Expect([&] { return NetAsSvg(plain_, summary).size(); }, svg.size());
  Expect([&] { return NetAsDot(plain_, summary).size(); }, dot.size());
  Expect([&] { return drawing.PlainLayout().nodes.size(); }, layout.nodes.size());
  Expect([&] { return drawing.Html(layout).size(); }, page.size());
  Expect([&] { return drawing.DotRequest().size(); }, request.size());
}

TEST_F(AnalysisWithoutMemoryTest, FindsTheBlobsOfNets) {
  Expect([&] { return NetBlobs(net_).size(); }, 8);
  const std::vector<const Blob*> inputs(10, nullptr);
  const std::vector<Blob*> outputs(10, nullptr);
  std::vector<BoundBlobs> bound;
  for (const OperatorDef& op : net_.op()) {
    bound.push_back({{inputs.data(), static_cast<size_t>(op.input_size())},
                     {outputs.data(), static_cast<size_t>(op.output_size())}});
  }
  Expect([&] { return NetBlobs(net_, bound).size(); }, 8);
  Expect([&] { return NetDependencies(net_).size(); }, 8);
  Expect([&] { return NestedBlobsOf(net_.op(2)).read.size(); }, 1);
  Expect([&] { return BlobsOf(net_).written.size(); }, 4);
  Expect([&] { return InputsOf(net_).size(); }, 4);
  Expect([&] { return UnfilledInputsOf(net_, nets_).size(); }, 4);
  Expect([&] { return OutputsOf(net_).size(); }, 2);
  Expect([&] { return NamesWrittenBy(net_).size(); }, 4);
  Expect([&] { return CheckNetDataflow(net_).size(); }, 0);
  Expect([&] { return OverwrittenOutputsOf(net_).size(); }, 0);
}

TEST_F(AnalysisWithoutMemoryTest, InfersShapesAndPlansMemory) {
  ShapeMap shapes;
  for (const auto& [name, dims] : std::vector<std::pair<std::string, std::vector<int64_t>>>{
           {"x", {2, 3}}, {"w", {4, 3}}, {"b", {4}}}) {
    shapes[name] = CreateTensorShape(dims, TensorProto::FLOAT);
  }
  const std::set<std::string> weights = {"w", "b"}, none;
  Expect(
      [&] {
        return static_cast<size_t>(
            ReportMemory({}, plain_, shapes, weights, none, 1).activation_bytes);
      },
      96);
  ShapeMap known = shapes;
  const std::vector<OpShapes> inferred = InferOpShapes(nets_, &known);
  Expect([&] { return static_cast<size_t>(InferBlobShapesAndTypes(nets_, &known).shapes_size()); },
         6);
  const NetDependencies blobs(plain_);
  const std::vector<BlobMemory> memory = MemoryOfShapes(plain_, blobs, inferred);
  Expect([&] { return MemoryOfShapes(plain_, blobs, inferred).size(); }, 6);
  Expect([&] { return MemoryDemand(plain_, blobs, memory, none, inferred).request().items.size(); },
         2);
  const MemoryDemand demand(plain_, blobs, memory, none, inferred);
  Expect([&] { return PlanMemory(demand.request()).arena_bytes; }, 64);
}

TEST_F(AnalysisWithoutMemoryTest, FindsGradientsAndCopies) {
  const std::vector<GradientWrapper> given = {{"the gradient of the first layer", "", ""}};
  Expect([&] { return GetGradientInNet(plain_.op(1), given).ops_.size(); }, 1);
  Expect([&] { return GetGradientForOp(plain_.op(1), given).g_input_.size(); }, 1);
  const std::vector<NetDef> both = {plain_, net_};
  Expect([&] { return InjectDeviceCopiesAmongNets(both).size(); }, 2);
  Expect([&] { return static_cast<size_t>(HasSeveralDevices(net_)); }, 0);
  const std::string path = "folder/a file with a name that is long.pbtxt";
  Expect([&] { return FileStem(path).size(); }, 31);
}

}  // namespace
}  // namespace caffe2rt::allocation_failure_graph_test
