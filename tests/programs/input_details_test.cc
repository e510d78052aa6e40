// Details of inputs and names: files with several named tensors, numbers and their types, names of saved files, lists of
// names, and files of a folder that differ in their type.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::input_details_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using namespace std::string_literals;
namespace fs = std::filesystem;

class InputDetailsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
    dir_.Write("two.pbtxt", R"(name: "two" external_input: ["a", "b"] external_output: "y"
        op { type: "Add" input: ["a", "b"] output: "y" })");
  }
  // The sources of the inputs and the values of y.
  std::string Sum(const Words& more) const {
    const std::string json =
        Out(Joined({"run", "--predict-net", "DIR/two.pbtxt", "--json"}, more));
    std::string text;
    for (size_t i = 0; i < JsonSize(json, "/inputs"); ++i) {
      const std::string input = "/inputs/" + std::to_string(i);
      text += JsonAt(json, input + "/name") + JsonAt(json, input + "/source") + " ";
    }
    return text + JsonAt(json, "/outputs/0/values");
  }
};

// --- files ---

TEST_F(InputDetailsTest, AFileFeedsAllTensorsThatItNames) {
  Tensor a(std::vector<int64_t>{1}, CPU), b(std::vector<int64_t>{1}, CPU);
  a.mutable_data<float>()[0] = 3;
  b.mutable_data<float>()[0] = 40;
  dir_.Write("both.npz", "");
  WriteNpz(dir_.path("both.npz"), {{"a", a}, {"b", b}});
  WriteNpz(dir_.path("one.npz"), {{"c", b}});
  const auto proto = [](const std::string& name, const std::string& value) {
    return "dims: 1 data_type: FLOAT float_data: " + value + " name: \"" + name + "\" ";
  };
  dir_.Write("both.pbtxt", "protos { " + proto("b", "40") + "} protos { " + proto("a", "3") + "}");
  dir_.Write("a.pbtxt", proto("a", "3"));
  dir_.Write("blob.pbtxt", "name: \"b\" type: \"Tensor\" tensor { " + proto("b", "40") + "}");
  EXPECT_EQ(Sum({"--input", "DIR/both.npz"}), R"("a""both.npz" "b""both.npz" [43])");
  EXPECT_EQ(Sum({"--input", "DIR/both.pbtxt"}), R"("b""both.pbtxt" "a""both.pbtxt" [43])");
  EXPECT_EQ(Sum({"--input", "DIR/a.pbtxt", "--input", "DIR/blob.pbtxt"}),
            R"("a""a.pbtxt" "b""blob.pbtxt" [43])");
  EXPECT_EQ(Sum({"--input", "DIR/blob.pbtxt", "--input", "a=[5]"}),
            R"("b""blob.pbtxt" "a""given" [45])");
  // By its name, or the only one.
  EXPECT_EQ(Sum({"--input", "b=DIR/both.npz", "--input", "a=DIR/one.npz"}),
            R"("b""both.npz" "a""one.npz" [80])");
  EXPECT_EQ(Sum({"--input", "a=DIR/both.pbtxt", "--input", "b=DIR/a.pbtxt"}),
            R"("a""both.pbtxt" "b""a.pbtxt" [6])");
  // The beginning of the archive does not show that it has arrays.
  WriteNpz(dir_.path("long.npz"), {{std::string(2000, 'z'), a}, {"a", b}, {"b", a}});
  EXPECT_EQ(Sum({"--input", "a=DIR/long.npz", "--input", "b=DIR/long.npz"}),
            R"("a""long.npz" "b""long.npz" [43])");
  WriteNpz(dir_.path("long.npz"), {});
  const ProgramResult none =
      Run({"run", "--predict-net", "DIR/two.pbtxt", "--input", "a=DIR/long.npz"});
  EXPECT_EQ(none.code, 1);
  EXPECT_THAT(none.err, StartsWith("caffe2: file \"DIR/long.npz\" contains 0 tensors, none of "
                                   "them named \"a\""));
  const ProgramResult twice = Run({"run", "--predict-net", "DIR/two.pbtxt", "--input",
                                   "DIR/both.npz", "--input", "a=[1]"});
  EXPECT_EQ(twice.code, 2);
  EXPECT_EQ(twice.err, "caffe2: blob \"a\" is given by more than one --input option\n");
}

// Folders are often named after parameters.
TEST_F(InputDetailsTest, PathsMayHaveEqualsSigns) {
  Array("rate=0.1/a.npy", {1}, {3});
  Array("b=b.npy", {1}, {40});
  dir_.Write("odd.pbtxt", R"(name: "odd" external_input: "x=y" external_output: "z"
      op { type: "Copy" input: "x=y" output: "z" })");
  EXPECT_EQ(Sum({"--input", "a=DIR/rate=0.1/a.npy", "--input", "b=DIR/b=b.npy"}),
            R"("a""a.npy" "b""b=b.npy" [43])");
  EXPECT_EQ(Sum({"--input", "a=[1]", "--image", "b=DIR/rate=0.1/a.npy"}),
            R"("a""given" "b""a.npy" [4])");
  const auto odd = [&](const std::string& input) {
    return JsonAt(Out({"run", "--predict-net", "DIR/odd.pbtxt", "--input", input, "--json"}),
                  "/outputs/0/values");
  };
  EXPECT_EQ(odd("x=y=DIR/b=b.npy"), "[40]");
  EXPECT_EQ(odd("x=y=DIR/rate=0.1/a.npy"), "[3]");
  EXPECT_EQ(odd("x=y=[7,8]"), "[7,8]");
  const ProgramResult none = Run({"run", "--predict-net", "DIR/two.pbtxt", "--input", "b=[1]",
                                  "--input", "a=DIR/rate=0.1/b.npy"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, StartsWith("caffe2: option --input a is \"DIR/rate=0.1/b.npy\", which is "
                                   "neither a file that exists, "));
  dir_.Write("image.pbtxt", R"(name: "image" external_input: "x" external_output: "y"
      op { type: "Reshape" input: "x" output: ["y", "old"]
           arg { name: "shape" ints: [1, 1, 1, 1] } })");
  EXPECT_THAT(Out({"run", "--predict-net", "DIR/image.pbtxt", "--input", "x=[5]", "--save-image",
                   "y=DIR/rate=0.1/y=1.png"}),
              HasSubstr("saved as DIR/rate=0.1/y=1.png\n"));
}

// Which blob is given does not depend on the files that exist.
TEST_F(InputDetailsTest, TheNetDecidesWhereANameEnds) {
  const auto write_sum = [&](const std::string& file, const Words& names) {
    std::string text = "name: \"n\"", sum = "op { type: \"Sum\" output: \"z\" ";
    for (const std::string& name : names) {
      text += " external_input: \"" + name + "\"";
      sum += " input: \"" + name + "\"";
    }
    dir_.Write(file, text + " external_output: \"z\" " + sum + " }");
  };
  write_sum("long.pbtxt", {"a=b"});
  write_sum("short.pbtxt", {"a"});
  write_sum("both.pbtxt", {"a", "a=b"});
  Array("b=1", {1}, {70});
  Array("1", {1}, {80});
  Tensor seven(std::vector<int64_t>{1}, CPU);
  seven.mutable_data<float>()[0] = 7;
  WriteNpz(dir_.path("named.npz"), {{"a=b", seven}});
  const auto values = [&](const std::string& net, const Words& inputs) {
    Words words = {"run", "--predict-net", "DIR/" + net, "--json"};
    for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
    return JsonAt(Out(words), "/outputs/0/values");
  };
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  EXPECT_EQ(values("long.pbtxt", {"a=b=1"}), "[80]");
  EXPECT_EQ(values("short.pbtxt", {"a=b=1"}), "[70]");
  const ProgramResult result = Run({"run", "--predict-net", "DIR/both.pbtxt", "--input", "a=b=1"});
  std::filesystem::current_path(before);
  EXPECT_EQ(values("long.pbtxt", {"a=b=[5]"}), "[5]");
  EXPECT_EQ(values("both.pbtxt", {"a=[5]", "DIR/named.npz"}), "[12]");
  const std::string ambiguous =
      "caffe2: option --input is \"a=b=1\", which gives blob \"a\" the value \"b=1\", or blob "
      "\"a=b\" the value \"1\"; want another name for one of the blobs, or a .npz file, whose "
      "arrays have the names of blobs\n";
  for (const ProgramResult& there :
       {result, Run({"run", "--predict-net", "DIR/both.pbtxt", "--input", "a=b=1"})}) {
    EXPECT_EQ(there.code, 2);
    EXPECT_EQ(there.err, ambiguous);
  }
  const ProgramResult image = Run(
      {"run", "--predict-net", "DIR/both.pbtxt", "--input", "a=[5]", "--save-image", "a=b=c.png"});
  EXPECT_EQ(image.code, 2);
  EXPECT_THAT(image.err, HasSubstr("gives blob \"a\" the value \"b=c.png\", or blob \"a=b\" the "
                                   "value \"c.png\"; want another name for one of the blobs\n"));
}

// --- numbers ---

struct GivenNumbers {
  const char *text, *type, *values;
};

TEST_F(InputDetailsTest, NumbersHaveTheShapeOfTheirLists) {
  const GivenNumbers rows[] = {{"[]", "float [0]", "[]"},
                               {"[[],[]]", "float [2, 0]", "[]"},
                               {"[[[1],[2]]]", "float [1, 2, 1]", "[1,2]"},
                               {"[1e-3,-2]", "float [2]", "[0.001,-2]"},
                               {"1.", "float [1]", "[1]"},
                               {"-1.5", "float [1]", "[-1.5]"},
                               {"1e2", "float [1]", "[100]"},
                               {"1,2.", "float [1, 2]", "[1,2]"},
                               {"1E1,-0.5,3", "float [1, 3]", "[10,-0.5,3]"}};
  for (const GivenNumbers& row : rows) {
    const std::string json = Out({"run", "--predict-net", "DIR/copy.pbtxt", "--input",
                                  "x="s + row.text, "--json"});
    EXPECT_EQ(JsonAt(json, "/inputs/0/type"), "\""s + row.type + "\"") << row.text;
    EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\"given\"") << row.text;
    EXPECT_EQ(JsonAt(json, "/outputs/0/values"), row.values) << row.text;
  }
  for (const char* wrong : {"[true]", "[null]", "[1,[]]", "[[],1]", "[[1],[[2]]]", "[{}]", "[1]]",
                            "1.,", "1..", "1.5 ", "e"}) {
    const ProgramResult result =
        Run({"run", "--predict-net", "DIR/copy.pbtxt", "--input", "x="s + wrong});
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr(wrong)) << wrong;
  }
}

TEST_F(InputDetailsTest, NumbersAreConvertedToEachType) {
  for (const char* type : {"float", "double", "int32", "int64", "uint8", "int8", "int16", "uint16",
                           "bool", "uint32", "uint64", "bfloat16"}) {
    const std::string out = Out({"run", "--predict-net", "DIR/copy.pbtxt", "--input", "x=[1,0,1]",
                                 "--cast", "x="s + type});
    EXPECT_THAT(out, StartsWith("x  "s + type + " [3]   given\ny  " + type + " [3]\n  1 0 1\n"));
  }
  // The last option that applies to a blob is the one.
  const auto types = [&](const Words& casts) {
    Words words = {"run", "--predict-net", "DIR/copy.pbtxt", "--input", "x=[2]"};
    for (const std::string& cast : casts) words.insert(words.end(), {"--cast", cast});
    const std::string out = Out(words);
    return out.substr(3, out.find(' ', 3) - 3);
  };
  EXPECT_EQ(types({"int32", "x=int64"}), "int64");
  EXPECT_EQ(types({"x=int64", "int32"}), "int32");
  EXPECT_EQ(types({"x=int64", "z=int32"}), "int64");
}

// A tensor without elements gets the type too, whatever it had before.
TEST_F(InputDetailsTest, EmptyInputsAreConvertedToEachType) {
  Tensor floats(std::vector<int64_t>{0, 3}, CPU), integers(std::vector<int64_t>{2, 0}, CPU);
  floats.mutable_data<float>();
  integers.mutable_data<int64_t>();
  WriteNpy(dir_.path("float.npy"), floats);
  WriteNpy(dir_.path("int64.npy"), integers);
  for (const char* type : {"float", "double", "int32", "int64", "uint8", "int8", "int16", "uint16",
                           "bool", "uint32", "uint64", "bfloat16"}) {
    for (const auto& [input, cast, shape] : {std::tuple("[]", "x=", "[0]"),
                                             {"DIR/float.npy", "", "[0, 3]"},
                                             {"DIR/int64.npy", "x=", "[2, 0]"}}) {
      const std::string json = Out({"run", "--predict-net", "DIR/copy.pbtxt", "--input",
                                    "x="s + input, "--cast", cast + ""s + type, "--json"});
      EXPECT_EQ(JsonAt(json, "/inputs/0/type"), "\""s + type + " " + shape + "\"") << json;
      EXPECT_EQ(JsonAt(json, "/outputs/0/type"), "\""s + type + "\"") << json;
    }
  }
}

// --- names ---

TEST_F(InputDetailsTest, SavedFilesKeepLettersDigitsAndAFewSigns) {
  std::string net = "name: \"n\" external_input: \"x\" ";
  for (const char* name : {"aZ09._-", "@A[z{`", "a/b", "a:b", "a b"})
    net += "op { type: \"Copy\" input: \"x\" output: \""s + name + "\" } ";
  dir_.Write("names.pbtxt", net);
  const std::string out = Out({"run", "--predict-net", "DIR/names.pbtxt", "--input", "x=[1]",
                               "--fetch", "all", "--output", "DIR/out"});
  Words files;
  for (const auto& entry : fs::directory_iterator(dir_.path("out")))
    files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Words{"_A_z__.npy", "aZ09._-.npy", "a_b.npy", "a_b_2.npy", "a_b_3.npy",
                          "x.npy"}));
  EXPECT_THAT(out, HasSubstr("a b      float [1]   saved as DIR/out/a_b_3.npy\n"));
}

TEST_F(InputDetailsTest, ListsHaveTenNames) {
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  for (const int count : {9, 10, 11, 12}) {
    std::string net = "name: \"n\" op { type: \"Sum\" output: \"y\" ", names;
    for (int i = 0; i < count; ++i) {
      net += "input: \"i" + std::to_string(i) + "\" ";
      if (i < 10) names += (i > 0 ? ", " : "") + ("\"i" + std::to_string(i) + "\"");
    }
    dir_.Write("many.pbtxt", net + "}");
    if (count > 10) names += " and " + std::to_string(count - 10) + " more";
    const ProgramResult result =
        Run({"run", "--predict-net", "DIR/many.pbtxt", "--image", "DIR/a.png"});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.err, "caffe2: net \"n\" has " + std::to_string(count) +
                              " inputs that no init net sets: " + names +
                              "; want --init-net FILE for weights, --image BLOB=FILE for an "
                              "image\n");
  }
}

// --- folders ---

// Arrays of another type, of another shape and without dimensions are no batch with the others.
TEST_F(InputDetailsTest, FilesOfOneTypeAndShapeAreABatch) {
  fs::create_directory(dir_.path("in"));
  const auto write = [&](const std::string& name, const std::vector<int64_t>& dims, auto value) {
    Tensor tensor(dims, CPU);
    std::fill_n(tensor.mutable_data<decltype(value)>(), tensor.numel(), value);
    WriteNpy(dir_.path("in/" + name), tensor);
  };
  write("a.npy", {1, 2}, 1.f);
  write("b.npy", {1, 2}, int32_t{2});
  write("c.npy", {1, 2}, 3.f);
  write("d.npy", {1, 3}, 4.f);
  write("e.npy", {1, 2}, int32_t{5});
  write("f.npy", {2, 2}, 6.f);
  const ProgramResult result = Run({"run", "--predict-net", "DIR/copy.pbtxt", "--image", "DIR/in",
                                    "--batch", "2", "--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
  const char* const types[] = {"float", "int32", "float", "float", "int32", "float"};
  const char* const values[] = {"[1,1]", "[2,2]", "[3,3]", "[4,4,4]", "[5,5]", "[6,6,6,6]"};
  ASSERT_EQ(JsonSize(result.out, "/images"), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const std::string output = "/images/" + std::to_string(i) + "/outputs/0";
    EXPECT_EQ(JsonAt(result.out, output + "/type"), "\""s + types[i] + "\"");
    EXPECT_EQ(JsonAt(result.out, output + "/values"), values[i]);
  }
}

TEST_F(InputDetailsTest, OneImageMayBeALineOfJson) {
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  const Words run = {"run", "--predict-net", "DIR/copy.pbtxt", "--image", "DIR/a.png"};
  EXPECT_EQ(Out(Joined(run, {"--json-lines"})),
            "{\"file\": \"DIR/a.png\", \"outputs\": [{\"name\": \"y\", \"type\": \"float\", "
            "\"dims\": [1, 3, 1, 1], \"values\": [1, 2, 3]}]}\n");
  // Lines come before a document.
  EXPECT_EQ(Out(Joined(run, {"--json-lines", "--json"})), Out(Joined(run, {"--json-lines"})));
  EXPECT_THAT(Out(Joined(run, {"--json"})), StartsWith("{\"net\": \"copy\", \"inputs\": [{"));
  // The same image twice is two.
  EXPECT_THAT(Out(Joined(run, {"--image", "DIR/a.png", "--json"})),
              StartsWith("{\"net\": \"copy\", \"images\": [\n{\"file\": \"DIR/a.png\""));
}

}  // namespace
}  // namespace caffe2rt::test::input_details_test
