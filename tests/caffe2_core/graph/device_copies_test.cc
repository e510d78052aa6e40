#include "caffe2_core/graph/device_copies.h"

#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/device_fallback.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::device_copies_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Returns one line per operator: "Type(inputs) -> outputs @ device".
std::vector<std::string> LinesOf(const NetDef& net) {
  std::vector<std::string> lines;
  for (const OperatorDef& op : net.op()) {
    std::string line = op.type() + "(";
    for (const std::string& input : op.input()) line += (line.back() == '(' ? "" : " ") + input;
    line += ") ->";
    for (const std::string& output : op.output()) line += " " + output;
    const DevicePlace place = PlaceOf(op.device_option());
    if (place.type == 20) {
      line += MakeString(" @ 20:", place.id);
    } else if (place.type != 0) {
      line += " @ " + PlaceName(place);
    }
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> Injected(const std::string& text, BlobDevices* blobs = nullptr) {
  return LinesOf(InjectCrossDeviceCopies(test::ParseNet(text), blobs));
}

std::vector<std::string> InputsOfNet(const NetDef& net) {
  return {net.external_input().begin(), net.external_input().end()};
}

DeviceOption Cuda(int id) {
  DeviceOption option;
  option.set_device_type(1);
  option.set_device_id(id);
  return option;
}

// Without a list of outputs, all that the net writes is one, whether the inputs are listed or not.
TEST(DeviceCopiesTest, BringsBackWhatANetWithoutOutputsWrites) {
  for (const char* inputs : {"", R"(external_input: "x" )"}) {
    EXPECT_THAT(
        Injected(MakeString(inputs, R"(
        op { type: "Relu" input: "x" output: "a" }
        op { type: "Relu" input: "a" output: "a" device_option { device_type: 1 } })")),
        ElementsAre("Relu(x) -> a", "CopyCPUToGPU(a) -> a_gpu_0 @ CUDA 0",
                    "Relu(a_gpu_0) -> a_gpu_0 @ CUDA 0", "CopyGPUToCPU(a_gpu_0) -> a @ CUDA 0"))
        << inputs;
  }
}

TEST(DeviceCopiesTest, CopiesWhatADeviceReadsOfTheCpu) {
  const NetDef net = InjectCrossDeviceCopies(test::ParseNet(R"(
    name: "test" external_input: "data" external_input: "w" external_output: "y"
    op { type: "FC" input: "data" input: "w" input: "b" output: "y"
         device_option { device_type: 1 device_id: 1 } })"));
  EXPECT_EQ(net.name(), "test_cross_device");
  EXPECT_THAT(LinesOf(net), ElementsAre("CopyCPUToGPU(data) -> data_gpu_1 @ CUDA 1",
                                        "CopyCPUToGPU(w) -> w_gpu_1 @ CUDA 1",
                                        "CopyCPUToGPU(b) -> b_gpu_1 @ CUDA 1",
                                        "FC(data_gpu_1 w_gpu_1 b_gpu_1) -> y @ CUDA 1"));
  EXPECT_THAT(InputsOfNet(net), ElementsAre("data", "w"));
}

TEST(DeviceCopiesTest, CopiesWhatTheCpuReadsOfADeviceUnderTheSource) {
  EXPECT_THAT(Injected(R"(
    op { type: "ConstantFill" output: "a" device_option { device_type: 1 device_id: 2 } }
    op { type: "Relu" input: "a" output: "b" })"),
              ElementsAre("ConstantFill() -> a @ CUDA 2", "CopyGPUToCPU(a) -> a_cpu @ CUDA 2",
                          "Relu(a_cpu) -> b"));
}

TEST(DeviceCopiesTest, CopiesBetweenGpusUnderTheDestination) {
  EXPECT_THAT(Injected(R"(
    op { type: "ConstantFill" output: "a" device_option { device_type: 1 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 device_id: 1 } })"),
              ElementsAre("ConstantFill() -> a @ CUDA 0", "Copy(a) -> a_gpu_1 @ CUDA 1",
                          "Relu(a_gpu_1) -> b @ CUDA 1"));
}

// The descriptor's copy operators are inserted in both directions, and FallBackToCPU recognizes
// them as copies.
TEST(DeviceCopiesTest, UsesTheCopyOperatorsAndTheSuffixOfADescriptor) {
  RegisterDeviceDescriptor({.type = static_cast<DeviceType>(21),
                            .name = "QUIPU",
                            .blob_suffix = "knot",
                            .copy_from_cpu = "CopyCPUToQuipu",
                            .copy_to_cpu = "CopyQuipuToCPU"});
  EXPECT_THAT(Injected(R"(
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 21 device_id: 3 } }
    op { type: "Relu" input: "a" output: "b" }
    op { type: "CopyCPUToQuipu" input: "b" output: "c" device_option { device_type: 21 } }
    op { type: "CopyQuipuToCPU" input: "c" output: "d" device_option { device_type: 21 } }
    op { type: "Relu" input: "d" output: "e" })"),
              ElementsAre("CopyCPUToQuipu(x) -> x_knot_3 @ QUIPU 3",
                          "Relu(x_knot_3) -> a @ QUIPU 3", "CopyQuipuToCPU(a) -> a_cpu @ QUIPU 3",
                          "Relu(a_cpu) -> b", "CopyCPUToQuipu(b) -> c @ QUIPU 0",
                          "CopyQuipuToCPU(c) -> d @ QUIPU 0", "Relu(d) -> e"));
  NetDef net = test::ParseNet(R"(
    op { type: "CopyCPUToQuipu" input: "a" output: "b" device_option { device_type: 21 } }
    op { type: "CopyQuipuToCPU" input: "b" output: "c" })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("QUIPU"));
  EXPECT_THAT(LinesOf(net), ElementsAre("Copy(a) -> b", "Copy(b) -> c"));
}

TEST(DeviceCopiesTest, RenamesTheInputsOfAnOperatorWithAStepNet) {
  const NetDef net = InjectCrossDeviceCopies(test::ParseNet(R"(
      op { type: "RecurrentNetwork" input: "x" output: "y" device_option { device_type: 1 }
           arg { name: "step_net" n { name: "step" } } }
      op { type: "Relu" input: "x" output: "z" device_option { device_type: 1 } })"));
  ASSERT_EQ(net.op_size(), 3);
  EXPECT_EQ(net.op(1).input(0), "x_gpu_0");
  EXPECT_EQ(GetArgument(net.op(1), "x.rename").s(), "x_gpu_0");
  EXPECT_EQ(net.op(2).arg_size(), 0);
}

TEST(DeviceCopiesTest, UsesACopyAgain) {
  EXPECT_THAT(Injected(R"(
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 device_id: 1 } }
    op { type: "Relu" input: "x" output: "b" }
    op { type: "Relu" input: "x" output: "c" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "d" device_option { device_type: 1 device_id: 0 } }
    op { type: "Relu" input: "x" output: "e" device_option { device_type: 1 device_id: 1 } })"),
              ElementsAre("CopyCPUToGPU(x) -> x_gpu_1 @ CUDA 1", "Relu(x_gpu_1) -> a @ CUDA 1",
                          "Relu(x) -> b", "CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0",
                          "Relu(x_gpu_0) -> c @ CUDA 0", "Relu(x_gpu_0) -> d @ CUDA 0",
                          "Relu(x_gpu_1) -> e @ CUDA 1"));
}

TEST(DeviceCopiesTest, CopiesAgainAfterTheSourceIsRewritten) {
  EXPECT_THAT(Injected(R"(
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "x" }
    op { type: "Relu" input: "x" output: "b" device_option { device_type: 1 } }
    op { type: "ConstantFill" output: "x" }
    op { type: "Relu" input: "x" output: "c" device_option { device_type: 1 } })"),
              ElementsAre("CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0", "Relu(x_gpu_0) -> a @ CUDA 0",
                          "Relu(x) -> x", "CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0",
                          "Relu(x_gpu_0) -> b @ CUDA 0", "ConstantFill() -> x",
                          "CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0", "Relu(x_gpu_0) -> c @ CUDA 0"));
}

TEST(DeviceCopiesTest, InPlaceOutputIsTheCopyAndIsBroughtBackAtTheEnd) {
  EXPECT_THAT(Injected(R"(
    external_input: "param" external_input: "grad" external_output: "out"
    op { type: "Adagrad" input: "param" input: "grad" output: "param"
         device_option { device_type: 1 device_id: 1 } }
    op { type: "Relu" input: "param" output: "out" device_option { device_type: 1 device_id: 1 } })"),
              ElementsAre("CopyCPUToGPU(param) -> param_gpu_1 @ CUDA 1",
                          "CopyCPUToGPU(grad) -> grad_gpu_1 @ CUDA 1",
                          "Adagrad(param_gpu_1 grad_gpu_1) -> param_gpu_1 @ CUDA 1",
                          "Relu(param_gpu_1) -> out @ CUDA 1",
                          "CopyGPUToCPU(param_gpu_1) -> param @ CUDA 1"));
}

TEST(DeviceCopiesTest, ReaderAtHomeGetsWhatWasWrittenInPlaceElsewhere) {
  EXPECT_THAT(
      Injected(R"(
    external_input: "x" external_output: "y"
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "y" })"),
      ElementsAre("CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0", "Relu(x_gpu_0) -> x_gpu_0 @ CUDA 0",
                  "CopyGPUToCPU(x_gpu_0) -> x @ CUDA 0", "Relu(x) -> y"));
}

TEST(DeviceCopiesTest, BringsBackOnlyWhatTheCallerSees) {
  const char* text = R"(
    external_input: "in" external_output: "%s"
    op { type: "ConstantFill" output: "x" }
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } })";
  const auto with_output = [&](const std::string& output) {
    std::string filled = text;
    return Injected(filled.replace(filled.find("%s"), 2, output));
  };
  EXPECT_EQ(with_output("y").size(), 4u);
  EXPECT_EQ(with_output("x").back(), "CopyGPUToCPU(x_gpu_0) -> x @ CUDA 0");
}

// The net does not list its inputs. A blob that it reads before writing therefore belongs to the
// caller and is copied back to where it was.
TEST(DeviceCopiesTest, BringsBackWhatIsReadFirstWhereNoInputsAreListed) {
  const char* text = R"(
    external_output: "y"
    op { type: "ConstantFill" output: "inside" }
    op { type: "Relu" input: "inside" output: "inside" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "y" })";
  const auto lines = ElementsAre(
      "ConstantFill() -> inside", "CopyCPUToGPU(inside) -> inside_gpu_0 @ CUDA 0",
      "Relu(inside_gpu_0) -> inside_gpu_0 @ CUDA 0", "CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0",
      "Relu(x_gpu_0) -> x_gpu_0 @ CUDA 0", "CopyGPUToCPU(x_gpu_0) -> x @ CUDA 0", "Relu(x) -> y");
  EXPECT_THAT(Injected(text), lines);
  // No operator of the net reads the blob again.
  const std::string last = R"(
    external_output: "y"
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } })";
  const auto with_copy =
      ElementsAre("CopyCPUToGPU(x) -> x_gpu_0 @ CUDA 0", "Relu(x_gpu_0) -> x_gpu_0 @ CUDA 0",
                  "Relu(x_gpu_0) -> y @ CUDA 0", "CopyGPUToCPU(x_gpu_0) -> x @ CUDA 0");
  EXPECT_THAT(Injected(last), with_copy);
  BlobDevices fed;  // as given by a workspace that has the blob
  fed.Place("x", DeviceOption());
  EXPECT_THAT(Injected(last, &fed), with_copy);
  // With a list of inputs that does not name the blob, it is not copied back.
  EXPECT_EQ(Injected("external_input: \"z\" " + last).size(), 3u);
}

TEST(DeviceCopiesTest, UnknownInputsAreOnTheNetsDevice) {
  EXPECT_THAT(Injected(R"(
    device_option { device_type: 1 device_id: 0 }
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Relu" input: "x" output: "z" device_option { device_type: 0 } })"),
              ElementsAre("Relu(x) -> y", "CopyGPUToCPU(x) -> x_cpu @ CUDA 0", "Relu(x_cpu) -> z"));
}

TEST(DeviceCopiesTest, RejectsMovingABlobToAnotherDevice) {
  const NetDef net = test::ParseNet(R"(
    name: "moves"
    op { type: "Relu" input: "x" output: "y" }
    op { type: "ConstantFill" output: "x" device_option { device_type: 1 } })");
  test::ExpectThrows(
      [&] { InjectCrossDeviceCopies(net); },
      "net \"moves\", operator 1 (ConstantFill): output \"x\" is written on CUDA 0, but "
      "the blob is on CPU");
  const NetDef moved = InjectCrossDeviceCopies(net, nullptr, {.may_move_blobs = true});
  EXPECT_THAT(LinesOf(moved), ElementsAre("Relu(x) -> y", "ConstantFill() -> x @ CUDA 0"));
}

TEST(DeviceCopiesTest, CarriesBlobsFromNetToNet) {
  BlobDevices blobs;
  blobs.Place("data", Cuda(1));
  const std::vector<NetDef> nets = InjectDeviceCopiesAmongNets({test::ParseNet(R"(
         name: "init"
         op { type: "XavierFill" output: "w" }
         op { type: "ConstantFill" output: "const" }
         op { type: "Add" input: "const" input: "const" output: "const"
              device_option { device_type: 1 device_id: 1 } })"),
                                                                test::ParseNet(R"(
         name: "test" device_option { device_type: 1 device_id: 1 }
         external_input: "data" external_input: "w" external_input: "const"
         op { type: "FC" input: "data" input: "w" output: "fc1" }
         op { type: "Add" input: "fc1" input: "const" output: "fc1" })")},
                                                               &blobs);
  ASSERT_EQ(nets.size(), 2u);
  EXPECT_THAT(LinesOf(nets[0]), ElementsAre("XavierFill() -> w", "ConstantFill() -> const",
                                            "CopyCPUToGPU(const) -> const_gpu_1 @ CUDA 1",
                                            "Add(const_gpu_1 const_gpu_1) -> const_gpu_1 @ CUDA 1",
                                            "CopyGPUToCPU(const_gpu_1) -> const @ CUDA 1"));
  EXPECT_THAT(LinesOf(nets[1]),
              ElementsAre("CopyCPUToGPU(w) -> w_gpu_1 @ CUDA 1", "FC(data w_gpu_1) -> fc1",
                          "Add(fc1 const_gpu_1) -> fc1"));
  EXPECT_EQ(nets[1].name(), "test_cross_device");
  EXPECT_THAT(InputsOfNet(nets[1]), ElementsAre("data", "w", "const", "const_gpu_1"));
  const std::map<std::string, DeviceOption> where = blobs.BlobToDevice();
  EXPECT_EQ(PlaceName(PlaceOf(where.at("w"))), "CPU");
  EXPECT_EQ(PlaceName(PlaceOf(where.at("w_gpu_1"))), "CUDA 1");
  EXPECT_EQ(PlaceName(PlaceOf(where.at("fc1"))), "CUDA 1");
}

TEST(DeviceCopiesTest, HonoursTheDeviceInferenceOfCopies) {
  EXPECT_THAT(Injected(R"(
    op { type: "CopyCPUToGPU" input: "x" output: "d" device_option { device_type: 1 } }
    op { type: "Relu" input: "d" output: "e" device_option { device_type: 1 } }
    op { type: "CopyGPUToCPU" input: "e" output: "y" device_option { device_type: 1 } }
    op { type: "Relu" input: "y" output: "z" })"),
              ElementsAre("CopyCPUToGPU(x) -> d @ CUDA 0", "Relu(d) -> e @ CUDA 0",
                          "CopyGPUToCPU(e) -> y @ CUDA 0", "Relu(y) -> z"));
}

TEST(DeviceCopiesTest, UsersDeviceHasCopiesOfItsName) {
  const std::vector<std::string> lines = Injected(R"(
    op { type: "Relu" input: "x" output: "a" device_option { device_type: 20 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 20 device_id: 1 } }
    op { type: "Relu" input: "b" output: "c" }
    op { type: "Relu" input: "b" output: "d" device_option { device_type: 1 } })");
  EXPECT_THAT(
      lines,
      ElementsAre("CopyFromCPUInput(x) -> x_device_type_20_0 @ 20:0",
                  "Relu(x_device_type_20_0) -> a @ 20:0", "Copy(a) -> a_device_type_20_1 @ 20:1",
                  "Relu(a_device_type_20_1) -> b @ 20:1", "EnsureCPUOutput(b) -> b_cpu @ 20:1",
                  "Relu(b_cpu) -> c", "CopyCPUToGPU(b_cpu) -> b_gpu_0 @ CUDA 0",
                  "Relu(b_gpu_0) -> d @ CUDA 0"));
}

TEST(DeviceCopiesTest, GoesThroughTheCpuFromOneDeviceTypeToAnother) {
  EXPECT_THAT(
      Injected(R"(
    op { type: "ConstantFill" output: "a" device_option { device_type: 20 } }
    op { type: "Relu" input: "a" output: "b" device_option { device_type: 1 } })"),
      ElementsAre("ConstantFill() -> a @ 20:0", "EnsureCPUOutput(a) -> a_cpu @ 20:0",
                  "CopyCPUToGPU(a_cpu) -> a_gpu_0 @ CUDA 0", "Relu(a_gpu_0) -> b @ CUDA 0"));
}

TEST(DeviceCopiesTest, CopyUsesNoNameOfTheNet) {
  EXPECT_THAT(Injected(R"(
    op { type: "ConstantFill" output: "x_gpu_0" }
    op { type: "Relu" input: "x" output: "y" device_option { device_type: 1 } })"),
              ElementsAre("ConstantFill() -> x_gpu_0", "CopyCPUToGPU(x) -> x_gpu_0_copy @ CUDA 0",
                          "Relu(x_gpu_0_copy) -> y @ CUDA 0"));
}

TEST(DeviceCopiesTest, LeavesWhatIsNoTensorWhereItIs) {
  BlobDevices blobs;
  blobs.PlaceAnywhere("reader");
  EXPECT_THAT(Injected(R"(
    op { type: "Read" input: "reader" output: "y" device_option { device_type: 1 } })",
                       &blobs),
              ElementsAre("Read(reader) -> y @ CUDA 0"));
}

TEST(DeviceCopiesTest, SecondPassAddsNothing) {
  const NetDef once = InjectCrossDeviceCopies(test::ParseNet(R"(
    op { type: "Relu" input: "x" output: "x" device_option { device_type: 1 } }
    op { type: "Relu" input: "x" output: "y" }
    op { type: "Relu" input: "y" output: "z" device_option { device_type: 1 device_id: 1 } })"));
  EXPECT_EQ(LinesOf(InjectCrossDeviceCopies(once)), LinesOf(once));
}

// The inner net names its blobs itself, so that its operator must not be given copies.
TEST(DeviceCopiesTest, GivesOperatorsWithNetsEachBlobOnItsHome) {
  BlobDevices blobs;
  blobs.Place("x", DeviceOption());
  blobs.Place("t", DeviceOption());
  EXPECT_THAT(
      Injected(R"(
      op { type: "Relu" input: "t" output: "t" device_option { device_type: 1 } }
      op { type: "If" input: "c" input: "x" output: "y" device_option { device_type: 1 }
        arg { name: "then_net" n { op { type: "Add" input: "x" input: "t" output: "y" } } } }
      op { type: "Copy" input: "y" output: "z" })",
               &blobs),
      ElementsAre("CopyCPUToGPU(t) -> t_gpu_0 @ CUDA 0", "Relu(t_gpu_0) -> t_gpu_0 @ CUDA 0",
                  "CopyGPUToCPU(t_gpu_0) -> t @ CUDA 0", "If(c x) -> y @ CUDA 0",
                  "CopyGPUToCPU(y) -> y_cpu @ CUDA 0", "Copy(y_cpu) -> z"));
}

TEST(DeviceCopiesTest, DetectsNetsOfSeveralDevices) {
  EXPECT_FALSE(HasSeveralDevices(test::ParseNet(R"(op { type: "Relu" input: "x" output: "y" })")));
  EXPECT_FALSE(HasSeveralDevices(test::ParseNet(R"(
    device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "y" device_option { device_id: 0 } }
    op { type: "Relu" input: "y" output: "z" })")));
  EXPECT_TRUE(HasSeveralDevices(test::ParseNet(R"(
    device_option { device_type: 1 }
    op { type: "Relu" input: "x" output: "y" device_option { device_id: 1 } }
    op { type: "Relu" input: "y" output: "z" })")));
  EXPECT_TRUE(HasSeveralDevices(test::ParseNet(R"(
    device_option { device_type: 1 }
    op { type: "CopyGPUToCPU" input: "x" output: "y" })")));
}

// Only inputs that have another name now are renamed, and a name that the file states stays.
TEST(DeviceCopiesTest, StatesNewNamesOfInputsOfAStepNetOnce) {
  const auto renames = [](const std::string& arg, const std::string& device) {
    const NetDef net = InjectCrossDeviceCopies(test::ParseNet(MakeString(
        R"(op { type: "ConstantFill" output: "w" device_option { device_type: 1 } }
           op { type: "RecurrentNetwork" input: "x" input: "w" output: "y" )",
        device, R"( arg { name: "step_net" n { name: "step" } } )", arg, "}")));
    std::string found;
    for (const Argument& a : net.op(net.op_size() - 1).arg()) {
      if (a.name() != "step_net") found += a.name() + " " + a.s() + ";";
    }
    return found;
  };
  const std::string gpu = "device_option { device_type: 1 }";
  EXPECT_EQ(renames("", gpu), "x.rename x_gpu_0;");
  EXPECT_EQ(renames(R"(arg { name: "x.rename" s: "z" } )", gpu), "x.rename z;");
  EXPECT_EQ(renames(R"(arg { name: "w.rename" s: "z" } )", gpu), "w.rename z;x.rename x_gpu_0;");
  EXPECT_EQ(renames("", ""), "w.rename w_cpu;");
}

// Its nets may leave the output as it is.
TEST(DeviceCopiesTest, BringsBackTheOutputsOfOperatorsWithNets) {
  EXPECT_THAT(
      Injected(R"(
    external_input: "b" external_input: "c" external_output: "b"
    op { type: "Relu" input: "b" output: "b" device_option { device_type: 1 } }
    op { type: "If" input: "c" output: "b" arg { name: "then_net" n { } } })"),
      ElementsAre("CopyCPUToGPU(b) -> b_gpu_0 @ CUDA 0", "Relu(b_gpu_0) -> b_gpu_0 @ CUDA 0",
                  "CopyGPUToCPU(b_gpu_0) -> b @ CUDA 0", "If(c) -> b"));
}

// What a net wrote on the CPU is copied again for the next reader on the device.
TEST(DeviceCopiesTest, CopiesAgainWhatNestedNetsWrote) {
  for (const char* output : {"output: \"b\"", ""}) {
    const auto lines = Injected(MakeString(R"(
      external_input: "b" external_input: "c" external_input: "x" external_output: "v"
      op { type: "Relu" input: "b" output: "u" device_option { device_type: 1 } }
      op { type: "If" input: "c" )",
                                           output, R"( arg { name: "then_net" n {
           op { type: "Relu" input: "x" output: "b" } } } }
      op { type: "Relu" input: "b" output: "v" device_option { device_type: 1 } })"));
    ASSERT_EQ(lines.size(), 5u) << output;
    EXPECT_EQ(lines[0], "CopyCPUToGPU(b) -> b_gpu_0 @ CUDA 0");
    EXPECT_EQ(lines[3], "CopyCPUToGPU(b) -> b_gpu_0 @ CUDA 0");
    EXPECT_EQ(lines[4], "Relu(b_gpu_0) -> v @ CUDA 0");
  }
}

// A tensor takes the place of what was no tensor.
TEST(DeviceCopiesTest, FollowsTensorsThatReplaceObjects) {
  BlobDevices blobs;
  blobs.PlaceAnywhere("t");
  EXPECT_THAT(Injected(R"(external_output: "y"
      op { type: "ConstantFill" output: "t" device_option { device_type: 1 } }
      op { type: "Relu" input: "t" output: "y" })",
                       &blobs),
              ElementsAre("ConstantFill() -> t @ CUDA 0", "CopyGPUToCPU(t) -> t_cpu @ CUDA 0",
                          "Relu(t_cpu) -> y"));
}

TEST(DeviceCopiesTest, FollowsBlobsThatMayMove) {
  const NetDef net = test::ParseNet(R"(external_output: "z"
      op { type: "Relu" input: "x" output: "y" }
      op { type: "ConstantFill" output: "x" device_option { device_type: 1 } }
      op { type: "Relu" input: "x" output: "z" })");
  DeviceCopyOptions options;
  options.may_move_blobs = true;
  EXPECT_THAT(LinesOf(InjectCrossDeviceCopies(net, nullptr, options)),
              testing::IsSupersetOf({"ConstantFill() -> x @ CUDA 0",
                                     "CopyGPUToCPU(x) -> x_cpu @ CUDA 0", "Relu(x_cpu) -> z"}));
}

TEST(DeviceCopiesTest, CopiesAreOnSeveralDevices) {
  for (const char* type : {"CopyCPUToGPU", "CopyGPUToCPU"}) {
    EXPECT_TRUE(HasSeveralDevices(test::ParseNet(MakeString(
        "op { type: \"", type, R"(" input: "x" output: "y" device_option { device_type: 1 } })"))))
        << type;
  }
  EXPECT_THAT(Injected(R"(external_output: "q" external_input: "x"
      op { type: "Relu" input: "x" output: "a" device_option { device_type: 3 } })")[0],
              "CopyFromCPUInput(x) -> x_opengl_0 @ OPENGL 0");
  const NetDef first = test::ParseNet(
                   R"(op { type: "ConstantFill" output: "t" device_option { device_type: 1 } })"),
               second = test::ParseNet(R"(op { type: "Relu" input: "t" output: "y" })");
  const std::vector<NetDef> both = InjectDeviceCopiesAmongNets({first, second});
  EXPECT_EQ(LinesOf(both[1])[0], "CopyGPUToCPU(t) -> t_cpu @ CUDA 0");
}

}  // namespace
}  // namespace caffe2rt::device_copies_test
