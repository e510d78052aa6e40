#include "caffe2_core/model/packed_preparation.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "operators/conv/conv_tuning.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::packed_preparation_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// y = 2 * (3 * x + 1). The Mul is folded into the Conv, which gets the filter {6} and the bias {2}.
constexpr char kNet[] = R"(
    name: "n" external_input: "x" external_input: "w" external_input: "b" external_input: "m"
    external_output: "y"
    op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
    op { type: "Mul" input: "t" input: "m" output: "y" })";

void FeedImage(Workspace* ws, int64_t width) {
  Feed<float>(ws, "x", {1, 1, 1, width}, std::vector<float>(static_cast<size_t>(width), 5));
}

class PackedPreparationTest : public testing::Test {
 protected:
  PackedPreparationTest() {
    Model model;
    model.predict_net = ParseNet(kNet);
    model.inputs = {"x"};
    model.outputs = {"y"};
    Workspace ws;
    Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws, "b", {1}, {1});
    Feed<float>(&ws, "m", {1}, {2});
    ModelPacker packer(model, ws);
    FeedImage(&ws, 2);
    const Preparation prepared = packer.Prepare({.inputs = {"x"}, .kept = {"y"}}, &ws);
    PreparedNet(prepared.net, {}, nullptr, &ws).Run();
    packer.Write(path_);
  }
  ~PackedPreparationTest() override { SetNumThreads(1); }

  // What a test changes between packing and the preparation of the loaded model.
  struct Load {
    explicit Load(const std::string& path) : model(LoadModel({.predict_net = path})) {
      RunInitNets(&model, &ws);
      FeedImage(&ws, 2);
      options = {.inputs = {"x"}, .kept = {"y"}, .packed = model.packed};
    }
    Preparation Prepare() { return PrepareNet(NetDef(model.predict_net), options, &ws); }

    Model model;
    Workspace ws;
    PreparationOptions options;
  };

  // Writes the file again with another index.
  void ChangeIndex(const std::function<void(PackedIndex*)>& change) const {
    const auto file = PackFile::Open(path_);
    PackedIndex index = file->index();
    PackWriter writer(path_);
    const auto copy = [&](PackedTensor* tensor) {
      const PackedBlock block = tensor->block();
      *tensor->mutable_block() = writer.Add(file->data(block), block.size());
      tensor->clear_form();
    };
    for (PackedTensor& tensor : *index.mutable_tensor()) copy(&tensor);
    for (PackedTensor& tensor : *index.mutable_preparation()->mutable_tensor()) copy(&tensor);
    change(&index);
    writer.Finish(index);
  }

  // Whether the stored net is used: it has one operator, and its constants are in the file.
  static bool UsesStoredNet(Load* load) {
    const Preparation prepared = load->Prepare();
    if (prepared.net.op_size() != 1 || prepared.new_constants.empty() ||
        !load->model.packed->index().has_preparation()) {
      return false;
    }
    const Tensor& constant = load->ws.GetBlob(prepared.new_constants[0])->Get<Tensor>();
    const PackedTensor& stored = load->model.packed->index().preparation().tensor(0);
    return constant.raw_data() == load->model.packed->data(stored.block());
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("model.c2pack");
};

TEST_F(PackedPreparationTest, TheStoredNetAndItsConstantsAreUsed) {
  Load load(path_);
  load.options.free_constants = true;
  const Preparation prepared = load.Prepare();
  Load plain(path_);
  plain.options.packed = nullptr;
  plain.options.free_constants = true;
  const Preparation want = plain.Prepare();
  EXPECT_EQ(prepared.net.SerializeAsString(), want.net.SerializeAsString());
  EXPECT_EQ(prepared.passes, want.passes);
  EXPECT_EQ(prepared.new_constants, want.new_constants);
  EXPECT_EQ(prepared.freed_constants, want.freed_constants);
  EXPECT_THAT(prepared.freed_constants, ElementsAre("b", "m", "w"));
  const int64_t before = PreparedForms::Count().made;
  PreparedNet net(prepared.net, {}, nullptr, &load.ws);
  net.Run();
  EXPECT_EQ(PreparedForms::Count().made, before);
  ExpectTensor<float>(load.ws, "y", {1, 1, 1, 2}, {32, 32});  // 2 * (3 * 5 + 1)
}

TEST_F(PackedPreparationTest, FreedConstantsAreSortedWhateverTheFile) {
  ChangeIndex([](PackedIndex* index) {
    std::reverse(index->mutable_tensor()->begin(), index->mutable_tensor()->end());
  });
  Load load(path_);
  load.options.free_constants = true;
  EXPECT_THAT(load.Prepare().freed_constants, ElementsAre("b", "m", "w"));
}

// Constants that the net gives out are not freed, though the stored net does not read them.
TEST_F(PackedPreparationTest, ConstantsThatAreOutputsStay) {
  const std::string path = dir_.path("outputs.c2pack");
  {
    Model model;
    model.predict_net = ParseNet(std::string(kNet) + " external_output: 'w'");
    model.inputs = {"x"};
    model.outputs = {"y", "w"};
    Workspace ws;
    Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws, "b", {1}, {1});
    Feed<float>(&ws, "m", {1}, {2});
    ModelPacker packer(model, ws);
    FeedImage(&ws, 2);
    const Preparation prepared = packer.Prepare({.inputs = {"x"}, .kept = {"y"}}, &ws);
    PreparedNet(prepared.net, {}, nullptr, &ws).Run();
    packer.Write(path);
  }
  Load load(path);
  EXPECT_TRUE(UsesStoredNet(&load));
  Load freeing(path);
  freeing.options.free_constants = true;
  const Preparation prepared = freeing.Prepare();
  EXPECT_EQ(prepared.net.op_size(), 1);
  EXPECT_THAT(prepared.freed_constants, ElementsAre("b", "m"));
  EXPECT_TRUE(freeing.ws.HasBlob("w"));
  EXPECT_FALSE(freeing.ws.HasBlob("m"));
  // What is kept stays as well.
  Load keeping(path);
  keeping.options.free_constants = true;
  keeping.options.kept = {"y", "w"};
  EXPECT_THAT(keeping.Prepare().freed_constants, ElementsAre("b", "m"));
}

TEST_F(PackedPreparationTest, TheLastPreparationIsStored) {
  Model model;
  model.predict_net = ParseNet(kNet);
  model.inputs = {"x"};
  model.outputs = {"y"};
  Workspace ws;
  Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
  Feed<float>(&ws, "b", {1}, {1});
  Feed<float>(&ws, "m", {1}, {2});
  ModelPacker packer(model, ws);
  FeedImage(&ws, 2);
  const PreparationOptions options{.inputs = {"x"}, .kept = {"y"}};
  const Preparation first = packer.Prepare(options, &ws);
  for (const std::string& name : first.new_constants) ws.RemoveBlob(name);
  const Preparation second = packer.Prepare(options, &ws);
  const std::string path = dir_.path("again.c2pack");
  packer.Write(path);
  Load load(path);
  EXPECT_EQ(static_cast<size_t>(load.model.packed->index().preparation().tensor_size()),
            second.new_constants.size());
  EXPECT_TRUE(UsesStoredNet(&load));
}

TEST_F(PackedPreparationTest, IsUsedOnlyWhereItsPreparationWouldBeTheSame) {
  struct Case {
    const char* name;
    bool used;
    std::function<void(Load*)> change;
  };
  const std::vector<Case> cases = {
      {"the same", true, [](Load*) {}},
      {"an input that the net does not read", true,
       [](Load* l) { l->options.inputs.insert("other"); }},
      {"a weight that is an input", false, [](Load* l) { l->options.inputs.insert("m"); }},
      {"another blob that is kept", false, [](Load* l) { l->options.kept.insert("t"); }},
      {"a seed", true,
       [](Load* l) { l->model.predict_net.mutable_device_option()->set_random_seed(5); }},
      {"no blob that is kept besides the outputs", true, [](Load* l) { l->options.kept.clear(); }},
      {"without passes", false, [](Load* l) { l->options.optimize = false; }},
      {"without a pass", false, [](Load* l) { l->options.without_passes = {"fold_batch_norm"}; }},
      {"deterministic", false, [](Load* l) { l->options.deterministic = true; }},
      {"less memory for Winograd", false, [](Load* l) { l->options.winograd_filter_bytes = 1000; }},
      {"other threads", false, [](Load*) { SetNumThreads(2); }},
      {"another shape of the input", false, [](Load* l) { FeedImage(&l->ws, 3); }},
      {"another type of the input", false,
       [](Load* l) {
         Feed<int32_t>(&l->ws, "x", {1, 1, 1, 2}, {5, 5});
       }},
      {"another number of dimensions", false,
       [](Load* l) {
         Feed<float>(&l->ws, "x", {1, 1, 2}, {5, 5});
       }},
      {"a shape that the file does not know", false,
       [](Load* l) {
         l->options.input_shapes["z"] =
             CreateTensorShape(std::vector<int64_t>{2}, TensorProto::FLOAT);
       }},
      {"tuning of its own", false,
       [](Load* l) {
         l->options.tuning = ParseConvTuning(MakeString(kConvTuningVersionLine, "\n"));
       }},
      {"another output", false, [](Load* l) { l->model.predict_net.add_external_output("t"); }},
      {"no shape of the input", true, [](Load* l) { l->ws.RemoveBlob("x"); }},
      {"another net", false, [](Load* l) { l->model.predict_net.set_name("another"); }},
      {"another weight", false, [](Load* l) { Feed<float>(&l->ws, "m", {1}, {5}); }},
      {"a weight that is missing", false, [](Load* l) { l->ws.RemoveBlob("b"); }},
      {"a blob with the name of a constant", false,
       [](Load* l) {
         const PackedIndex& index = l->model.packed->index();
         Feed<float>(&l->ws, index.preparation().tensor(0).name(), {1}, {5});
       }},
      {"no packed model", false, [](Load* l) { l->options.packed = nullptr; }}};
  for (const Case& test_case : cases) {
    Load load(path_);
    test_case.change(&load);
    EXPECT_EQ(UsesStoredNet(&load), test_case.used) << test_case.name;
    SetNumThreads(1);
  }
}

TEST_F(PackedPreparationTest, TheStoredNetGetsTheSeed) {
  Load load(path_);
  load.model.predict_net.mutable_device_option()->set_random_seed(5);
  EXPECT_EQ(load.Prepare().net.device_option().random_seed(), 5u);
}

TEST_F(PackedPreparationTest, IsUsedTwiceInOneWorkspace) {
  Load load(path_);
  EXPECT_TRUE(UsesStoredNet(&load));
  EXPECT_TRUE(UsesStoredNet(&load));
}

TEST_F(PackedPreparationTest, ForAnotherMachineOrVersionThePackedNetIsPrepared) {
  struct Case {
    const char* name;
    std::function<void(PackedIndex*)> change;
  };
  const std::vector<Case> cases = {
      {"description",
       [](PackedIndex* index) {
         index->mutable_preparation()->set_description("caffe2rt 0.0.1 on avx2");
       }},
      {"operator",
       [](PackedIndex* index) {
         index->mutable_preparation()->mutable_net()->mutable_op(0)->set_type("NoSuchOperator");
       }},
      {"none", [](PackedIndex* index) { index->clear_preparation(); }}};
  for (const Case& test_case : cases) {
    ChangeIndex(test_case.change);
    Load load(path_);
    EXPECT_FALSE(UsesStoredNet(&load)) << test_case.name;
  }
}

// A quantized tensor whose elements count up.
template <class T>
void FeedInt8(Workspace* ws, const std::string& name, const std::vector<int64_t>& dims) {
  auto* const value = ws->CreateBlob(name)->GetMutable<Int8TensorCPU>();
  value->scale = 0.01f;
  value->zero_point = 3;
  value->t.Resize(dims);
  T* const elements = value->t.mutable_data<T>();
  for (int64_t i = 0; i < value->t.numel(); ++i) elements[i] = static_cast<T>(i % 50);
}

struct KindOfOperator {
  const char* name;
  const char* op;
  bool quantized;
  std::vector<int64_t> x, w;
  int64_t outputs;
};

std::vector<char> BytesOf(const Workspace& ws, const std::string& name) {
  const Tensor& tensor = *FindTensor(*ws.GetBlob(name));
  const auto* const bytes = static_cast<const char*>(tensor.raw_data());
  return {bytes, bytes + tensor.nbytes()};
}

void FeedInput(const KindOfOperator& kind, Workspace* ws) {
  if (kind.quantized) {
    FeedInt8<uint8_t>(ws, "x", kind.x);
  } else {
    FeedRandom(ws, "x", kind.x);
  }
}

void FeedWeights(const KindOfOperator& kind, Workspace* ws) {
  if (kind.quantized) {
    FeedInt8<uint8_t>(ws, "w", kind.w);
    FeedInt8<int32_t>(ws, "b", {kind.outputs});
  } else {
    FeedRandom(ws, "w", kind.w);
    FeedRandom(ws, "b", {kind.outputs});
  }
}

// Packs the operator after a run. Returns the output.
std::vector<char> PackKind(const KindOfOperator& kind, const std::string& path) {
  Model model;
  model.predict_net = ParseNet(MakeString(
      "name: 'n' external_input: 'x' external_input: 'w' external_input: 'b' external_output: 'y' "
      "op { input: 'x' input: 'w' input: 'b' output: 'y' ",
      kind.op, " }"));
  model.inputs = {"x"};
  Workspace ws;
  FeedWeights(kind, &ws);
  ModelPacker packer(model, ws);
  FeedInput(kind, &ws);
  const Preparation prepared = packer.Prepare({.inputs = {"x"}}, &ws);
  PreparedNet(prepared.net, {}, nullptr, &ws).Run();
  packer.Write(path);
  return BytesOf(ws, "y");
}

TEST(PackedFormsTest, AreThoseOfEveryKindOfOperator) {
  const char kInt8Args[] =
      "arg { name: 'Y_scale' f: 5 } arg { name: 'Y_zero_point' i: 7 } "
      "arg { name: 'order' s: 'NHWC' } ";
  const std::string int8_fc = MakeString("type: 'Int8FC' ", kInt8Args);
  const std::string int8_conv = MakeString("type: 'Int8Conv' arg { name: 'kernel' i: 3 } ",
                                           "arg { name: 'group' i: 2 } ", kInt8Args);
  const std::string int8_transpose =
      MakeString("type: 'Int8ConvTranspose' arg { name: 'kernel' i: 2 } ", kInt8Args);
  const std::vector<KindOfOperator> kinds = {
      {"panels", "type: 'FC'", false, {8, 24}, {20, 24}, 20},
      {"filter on the CPU or in oneDNN's layout",
       "type: 'Conv' arg { name: 'kernel' i: 3 } arg { name: 'pad' i: 1 }",
       false,
       {1, 32, 14, 14},
       {32, 32, 3, 3},
       32},
      {"quantized matrix", int8_fc.c_str(), true, {3, 9}, {5, 9}, 5},
      {"quantized filter of two groups", int8_conv.c_str(), true, {1, 5, 5, 4}, {6, 3, 3, 2}, 6},
      {"quantized depthwise filter", int8_conv.c_str(), true, {1, 5, 5, 2}, {2, 3, 3, 1}, 2},
      {"quantized transposed filter", int8_transpose.c_str(), true, {1, 3, 3, 4}, {4, 2, 2, 3}, 3}};
  const TempDir dir;
  const std::string path = dir.path("model.c2pack");
  for (const KindOfOperator& kind : kinds) {
    SCOPED_TRACE(kind.name);
    const std::vector<char> want = PackKind(kind, path);
    Model model = LoadModel({.predict_net = path});
    Workspace ws;
    RunInitNets(&model, &ws);
    FeedInput(kind, &ws);
    const PreparedForms::Counts before = PreparedForms::Count();
    const PreparationOptions options = {.inputs = {"x"}, .packed = model.packed};
    PreparedNet(PrepareNet(model.predict_net, options, &ws).net, {}, nullptr, &ws).Run();
    EXPECT_EQ(PreparedForms::Count().made, before.made);
    EXPECT_GT(PreparedForms::Count().mapped, before.mapped);
    EXPECT_EQ(BytesOf(ws, "y"), want);
  }
}

// The resident bytes of the mappings of a file.
size_t ResidentBytes(const std::string& path) {
  std::ifstream maps("/proc/self/smaps");
  size_t sum = 0;
  bool is_of_file = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find('-') < line.find(' ')) is_of_file = line.ends_with(path);
    if (is_of_file && line.starts_with("Rss:")) sum += std::stoul(line.substr(4)) * 1024;
  }
  return sum;
}

// Passes read the filter, which nobody reads afterwards.
TEST(PackedPagesTest, PagesThatPassesHaveReadAreReleased) {
  constexpr int64_t kChannels = 64;  // 147,456 bytes of filters
  Model model;
  model.predict_net = ParseNet(R"(name: "n" external_input: "x" external_output: "y"
      external_input: "w" external_input: "b" external_input: "m"
      op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 3 } }
      op { type: "Mul" input: "t" input: "m" output: "y" arg { name: "broadcast" i: 1 }
           arg { name: "axis" i: 1 } })");
  model.inputs = {"x"};
  const TempDir dir;
  const std::string path = dir.path("model.c2pack");
  Workspace ws;
  FeedRandom(&ws, "w", {kChannels, kChannels, 3, 3});
  FeedRandom(&ws, "b", {kChannels});
  FeedRandom(&ws, "m", {kChannels});
  ModelPacker(model, ws).Write(path);

  Model packed = LoadModel({.predict_net = path});
  Workspace loaded;
  RunInitNets(&packed, &loaded);
  const Tensor filter = loaded.GetBlob("w")->Get<Tensor>();  // keeps the file mapped
  const Preparation prepared =
      PrepareNet(NetDef(packed.predict_net), {.inputs = {"x"}, .free_constants = true}, &loaded);
  ASSERT_EQ(prepared.net.op_size(), 1) << "the Mul is folded into the filter";
  EXPECT_LE(ResidentBytes(path), 65536u);
  (void)filter.Clone();
  EXPECT_GT(ResidentBytes(path), 131072u) << "the pages are read from the file again";
}

TEST_F(PackedPreparationTest, DescriptionsNameVersionAndOptions) {
  SetNumThreads(1);
  const std::string plain = DescribePreparation({});
  const std::string begin = plain.substr(0, plain.find(','));
  EXPECT_TRUE(begin.starts_with("caffe2rt ")) << begin;
  EXPECT_TRUE(begin.ends_with(MakeString(" on ", IsaName(CpuIsa())))) << begin;
  EXPECT_EQ(plain, begin + ", threads 1");
  EXPECT_EQ(DescribePreparation({.inputs = {"x"}, .kept = {"y"}, .free_constants = true}), plain);
  EXPECT_EQ(DescribePreparation({.deterministic = true}), begin + ", deterministic");
  EXPECT_EQ(DescribePreparation({.without_passes = {"a", "b"}, .winograd_filter_bytes = 5}),
            begin + ", threads 1, winograd filters up to 5 bytes, without passes a b");
  EXPECT_EQ(DescribePreparation({.precision = Precision::kBfloat16}),
            begin + ", threads 1, precision bf16");
  SetNumThreads(3);
  EXPECT_EQ(DescribePreparation({}), begin + ", threads 3");
  PreparationOptions all{.deterministic = true, .precision = Precision::kInt8};
  all.winograd_filter_bytes = 0;
  all.without_passes = {"z"};
  all.tuning = ParseConvTuning(MakeString(kConvTuningVersionLine, "\nlayouts\tplain\n"));
  EXPECT_EQ(DescribePreparation(all),
            begin +
                ", deterministic, winograd filters up to 0 bytes, precision int8, tuning of "
                "its own, without passes z");
}

// Only constants of the net must be those of the file: not an input with a value of its own, not what
// the net changes, of which a workspace has copies, and not what the net does not have.
TEST_F(PackedPreparationTest, OtherBlobsOfTheFileMayHaveOtherValues) {
  const std::string path = dir_.path("state.c2pack");
  {
    Model model;
    model.predict_net = ParseNet(std::string(kNet) + R"( external_input: "c" external_output: "c"
        op { type: "Add" input: "c" input: "m" output: "c" })");
    model.inputs = {"x"};
    model.outputs = {"y", "c"};
    Workspace ws;
    Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws, "b", {1}, {1});
    Feed<float>(&ws, "m", {1}, {2});
    Feed<float>(&ws, "c", {1}, {0});
    Feed<float>(&ws, "unread", {1}, {4});
    FeedImage(&ws, 2);
    ModelPacker packer(model, ws);
    packer.Prepare({.inputs = {"x"}, .kept = {"y", "c"}}, &ws);
    packer.Write(path);
  }
  Load load(path);
  Feed<float>(&load.ws, "unread", {1}, {5});
  Feed<float>(&load.ws, "c", {1}, {10});
  load.options.kept = {"y", "c"};
  const Preparation prepared = load.Prepare();
  ASSERT_FALSE(prepared.new_constants.empty());
  EXPECT_EQ(load.ws.GetBlob(prepared.new_constants[0])->Get<Tensor>().raw_data(),
            load.model.packed->data(load.model.packed->index().preparation().tensor(0).block()));
  PreparedNet(prepared.net, {}, nullptr, &load.ws).Run();
  ExpectTensor<float>(load.ws, "y", {1, 1, 1, 2}, {32, 32});
  ExpectTensor<float>(load.ws, "c", {1}, {12});
  // A constant is another matter, whatever its value is.
  Load other(path);
  Feed<float>(&other.ws, "m", {1}, {2});
  const Preparation fresh = other.Prepare();
  ASSERT_FALSE(fresh.new_constants.empty());
  EXPECT_NE(other.ws.GetBlob(fresh.new_constants[0])->Get<Tensor>().raw_data(),
            other.model.packed->data(other.model.packed->index().preparation().tensor(0).block()));
}

// The shapes with which the file was prepared are those of inputs that have none yet.
TEST_F(PackedPreparationTest, InputsHaveTheShapesOfTheFile) {
  Load load(path_);
  load.ws.RemoveBlob("x");
  const Preparation prepared = load.Prepare();
  ASSERT_EQ(prepared.options.input_shapes.size(), 1u);
  EXPECT_THAT(prepared.options.input_shapes.at("x").dims(), ElementsAre(1, 1, 1, 2));
  EXPECT_EQ(prepared.options.input_shapes.at("x").data_type(), TensorProto::FLOAT);
}

}  // namespace
}  // namespace caffe2rt::packed_preparation_test
