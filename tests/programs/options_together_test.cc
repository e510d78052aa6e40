// Options beside others, and what few command lines have: both kinds of help, flags and words that look like them, lists
// of which one is empty, casts of files, plans whose fetched blobs look like scores, archives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::options_together_test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using namespace std::string_literals;
namespace fs = std::filesystem;

class OptionsTogetherTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
  }
  // An array of integers. Returns its path.
  std::string Integers(const std::string& name, const std::vector<int32_t>& values) const {
    Tensor tensor(std::vector<int64_t>{1, static_cast<int64_t>(values.size())}, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<int32_t>());
    dir_.Write(name, "");
    WriteNpy(dir_.path(name), tensor);
    return "DIR/" + name;
  }
  static Words Copy(const Words& more) {
    return Joined({"run", "--predict-net", "DIR/copy.pbtxt"}, more);
  }
};

struct WrongWords {
  Words words;
  int code;
  const char* err;  // without "caffe2: "
};

// --- the command line ---

TEST_F(OptionsTogetherTest, TheLongHelpComesBeforeTheShortOne) {
  const std::string help = Out({"plan", "--help"}), all = Out({"plan", "--help-all"});
  EXPECT_THAT(all, HasSubstr("\nflags of Caffe2, "));
  EXPECT_EQ(help.find("\nflags of Caffe2, "), std::string::npos);
  for (const Words& words :
       {Words{"plan", "--help", "--help-all"}, Words{"plan", "--help-all", "-h"},
        Words{"plan", "a", "b", "--help-all"}, Words{"plan", "--nothing", "--help-all"}})
    EXPECT_EQ(Out(words), all) << words[1];
  for (const Words& words : {Words{"plan", "a", "b", "-h"}, Words{"plan", "--nothing", "--help"},
                             Words{"help", "plan"}, Words{"help", "plan", "run"}})
    EXPECT_EQ(Out(words), help) << words[1];
}

TEST_F(OptionsTogetherTest, WordsThatLookLikeOptionsAreChecked) {
  const WrongWords rows[] = {
      {{"devices", "--nocaffe2_log_level"},
       2,
       "option --nocaffe2_log_level is not known; did you mean --caffe2_log_level?"},
      {{"devices", "-nocaffe2_log_level"},
       2,
       "option -nocaffe2_log_level is not known; did you mean --caffe2_log_level?"},
      {{"devices", "--caffe2_log_lvl=2"},
       2,
       "option --caffe2_log_lvl is not known; did you mean --caffe2_log_level?"},
      {{"devices", "--jsn"}, 2, "option --jsn is not known; did you mean --json?"},
      {{"ops", "--", "--Conv"},
       1,
       "operator type \"--Conv\" is not known (`caffe2 ops` lists all); did you mean Conv?"},
      {{"ops", "Conv", "--", "--", "-x"},
       1,
       "operator type \"--\" is not known (`caffe2 ops` lists all)"},
      {{"ops", "--", "--caffe2_log_level=x"},
       1,
       "operator type \"--caffe2_log_level=x\" is not known (`caffe2 ops` lists all)"},
      {{"run", "-o"}, 2, "option -o needs a value (PATH)"},
      {{"run", "--output"}, 2, "option --output needs a value (PATH)"},
      {{"run", "--json", "--top"}, 2, "option --top needs a value (N)"}};
  for (const WrongWords& row : rows) {
    const ProgramResult result = Run(row.words);
    EXPECT_EQ(result.code, row.code) << row.err;
    EXPECT_EQ(result.err, "caffe2: "s + row.err + "\n");
    EXPECT_EQ(result.out, "");
  }
  for (const char* flag : {"--caffe2_log_level=2", "--nocaffe2_keep_on_shrink",
                           "-nocaffe2_keep_on_shrink", "-caffe2_log_level=2"})
    EXPECT_EQ(Run({"ops", "Copy", flag}).err, "") << flag;
}

TEST_F(OptionsTogetherTest, AnErrorIsOneLine) {
  const ProgramResult result = Run({"run", "--predict-net", "DIR/a\rb\nc\r\nd. ."});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err, "caffe2: cannot open \"DIR/a b c  d. .\": No such file or directory\n");
  // It has no full stop at its end, here of the name of a file.
  Array("x. .", {1}, {2});
  dir_.Write("abs.pbtxt", R"(external_input: "x" op { type: "Abs" input: "x" output: "y" })");
  const ProgramResult stop = Run({"run", "--predict-net", "DIR/abs.pbtxt", "--input", "DIR/x. ."});
  EXPECT_EQ(stop.code, 2);
  EXPECT_EQ(stop.err, "caffe2: file \"DIR/x. .\" contains no blob name; want --input BLOB=DIR/x\n");
}

// --- files ---

TEST_F(OptionsTogetherTest, DamagedFilesOfAFolderAreKnownByTheirEnding) {
  Words names = {"b.JPG", "b.NPY", "b.PNG", "b.jpeg", "b.jpg", "c.JPEG", "d.npy", "e.png"};
  for (const std::string& name : names) dir_.Write("in/" + name, "bad");
  for (const char* other : {"b.txt", "jpeg", "npy"}) dir_.Write("in/"s + other, "bad");
  const ProgramResult result = Run(Copy({"--image", "DIR/in"}));
  EXPECT_EQ(result.code, 1);
  std::string err =
      "caffe2: warning: folder \"DIR/in\": 3 entries are skipped, neither a JPEG or PNG image nor "
      "a "
      ".npy file: \"b.txt\", \"jpeg\", \"npy\"\n";
  for (const std::string& name : names)
    err += "caffe2: cannot read \"DIR/in/" + name + "\" as an image: it is neither JPEG nor PNG\n";
  EXPECT_EQ(result.err, err);
}

TEST_F(OptionsTogetherTest, ArraysAmongImagesAreConvertedToo) {
  Array("in/f.npy", {1, 3}, {1, 2, 3});
  Integers("in/i.npy", {4, 5, 6});
  const auto types = [&](const Words& more) {
    const std::string json =
        Out(Joined(Copy({"--image", "DIR/in", "--threads", "1", "--json"}), more));
    std::string text;
    for (const char* at : {"/images/0/outputs/0", "/images/1/outputs/0"})
      text += JsonAt(json, at + "/type"s) + JsonAt(json, at + "/values"s);
    return text;
  };
  EXPECT_EQ(types({}), R"("float"[1,2,3]"int32"[4,5,6])");
  for (const char* batch : {"1", "2"}) {
    const Words more = {"--batch", batch};
    EXPECT_EQ(types(more), R"("float"[1,2,3]"int32"[4,5,6])");
    EXPECT_EQ(types(Joined({"--cast", "float"}, more)), R"("float"[1,2,3]"float"[4,5,6])");
    EXPECT_EQ(types(Joined({"--cast", "x=int64"}, more)), R"("int64"[1,2,3]"int64"[4,5,6])");
    EXPECT_EQ(types(Joined({"--cast", "z=int64"}, more)), R"("float"[1,2,3]"int32"[4,5,6])");
  }
  const std::string one =
      Out(Copy({"--image", "DIR/in/i.npy", "--cast", "double", "--threads", "1"}));
  EXPECT_THAT(one, StartsWith("x  double [1, 3]   i.npy\ny  double [1, 3]\n  4 5 6\n"));
}

TEST_F(OptionsTogetherTest, AMissingMeanFileIsReported) {
  Array("a.npy", {1, 1}, {7});
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  for (const char* name : {"DIR/none.binaryproto", "DIR/none.npy"}) {
    const ProgramResult result = Run(Copy({"--image", "DIR/a.png", "--mean", name}));
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("\""s + name + "\": No such file or directory\n"));
  }
  EXPECT_EQ(Run(Copy({"--image", "DIR/a.png", "--mean", "DIR/none"})).err,
            "caffe2: option --mean is \"DIR/none\", want comma-separated numbers\n");
}

TEST_F(OptionsTogetherTest, EachListNamesAFile) {
  const std::string file = Array("f.npy", {1, 1}, {7});
  dir_.Write("one", dir_.path("f.npy") + "\r\n\n");
  dir_.Write("none", "");
  dir_.Write("blank", "\n\r\n\n");
  const auto images = [&](const Words& words) {
    const ProgramResult result = Run(Joined(Copy({"--json"}), words));
    return result.code == 0 ? std::to_string(JsonSize(result.out, "/images")) : result.err;
  };
  const auto error = [](const std::string& list) {
    return "caffe2: file \"DIR/" + list + "\" names no images, want one file on each line\n";
  };
  EXPECT_EQ(images({"--image-list", "DIR/one"}), "1");
  EXPECT_EQ(images({"--image-list", "DIR/one", "--image-list", "DIR/one"}), "2");
  EXPECT_EQ(images({"--image", file, "--image-list", "DIR/one"}), "2");
  for (const char* list : {"none", "blank"}) {
    const std::string path = "DIR/"s + list;
    EXPECT_EQ(images({"--image-list", path}), error(list));
    EXPECT_EQ(images({"--image-list", "DIR/one", "--image-list", path}), error(list));
    EXPECT_EQ(images({"--image-list", path, "--image-list", "DIR/one"}), error(list));
    EXPECT_EQ(images({"--image", file, "--image-list", path}), error(list));
  }
}

TEST_F(OptionsTogetherTest, EveryOutputOfABatchIsComparedWithARunAlone) {
  for (int i = 1; i <= 3; ++i) Array("in/" + std::to_string(i) + ".npy", {1, 1}, {2.f * i});
  // Output a is that of the row, output b depends on the other rows.
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: ["b", "a"]
      op { type: "Copy" input: "x" output: "a" }
      op { type: "ReduceFrontMean" input: "x" output: "m" }
      op { type: "Sub" input: ["x", "m"] output: "b" })");
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"});
  EXPECT_EQ(result.err,
            "caffe2: warning: net \"n\" runs on one file at a time: output \"b\" for "
            "\"DIR/in/1.npy\" differs between a batch and a run alone\n");
  for (int i = 0; i < 3; ++i) {
    const std::string image = "/images/" + std::to_string(i);
    EXPECT_EQ(JsonAt(result.out, image + "/outputs/0/values"), "[0]");
    EXPECT_EQ(JsonAt(result.out, image + "/outputs/1/values"),
              "[" + std::to_string(2 * (i + 1)) + "]");
  }
}

// --- inspect ---

TEST_F(OptionsTogetherTest, EntriesAreCountedBeforeTheLimit) {
  dir_.Write("e.npz", "");
  Tensor empty(std::vector<int64_t>{0, 3}, CPU), one(std::vector<int64_t>{1}, CPU);
  empty.mutable_data<float>();
  one.mutable_data<float>()[0] = 1;
  WriteNpz(dir_.path("e.npz"), {{"empty", empty}, {"one", one}});
  const std::string head = "DIR/e.npz: a NumPy archive (.npz), 2 entries\n";
  const std::string first = "  empty  float [0, 3]\n";
  EXPECT_EQ(Out({"inspect", "DIR/e.npz"}), head + first + "  one    float [1]\n");
  EXPECT_EQ(Out({"inspect", "DIR/e.npz", "--limit", "2"}), head + first + "  one    float [1]\n");
  EXPECT_EQ(Out({"inspect", "DIR/e.npz", "--limit", "1"}),
            head + first + "  ... --limit 2 prints all\n");
  EXPECT_EQ(Out({"inspect", "DIR/e.npz", "--limit", "0"}), head + "  ... --limit 2 prints all\n");
  for (const auto& [limit, count] : {std::pair("0", 0u), {"1", 1u}, {"2", 2u}, {"3", 2u}}) {
    const std::string json = Out({"inspect", "DIR/e.npz", "--json", "--limit", limit});
    EXPECT_EQ(JsonAt(json, "/entries"), "2") << limit;
    EXPECT_EQ(JsonSize(json, "/tensors"), count) << limit;
  }
}

TEST_F(OptionsTogetherTest, FlowsAreListedUpToTheLimit) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" external_input: "i"
      op { type: "Copy" input: "i" output: "y" } op { type: "Copy" input: "y" output: "i" } }
      execution_step { name: "s" network: "n" num_iter: 2 num_concurrent_instances: 1 })");
  const auto flows = [&](const std::string& limit) {
    const std::string out = Out({"inspect", "DIR/plan.pbtxt", "--limit", limit});
    const size_t begin = out.find("  blob  written by"), end = out.find("net \"n\"");
    return out.substr(begin, end - begin);
  };
  const std::string head = "  blob  written by  read by\n", hint = "  ... --limit 2 prints all\n";
  EXPECT_EQ(flows("0"), head + hint);
  EXPECT_EQ(flows("1"), "  blob  written by  read by\n  i     (outside)   n\n" + hint);
  const std::string whole = flows("2");
  EXPECT_EQ(whole.find("--limit"), std::string::npos);
  EXPECT_THAT(whole, HasSubstr("  i     n           n (next iteration)\n"));
  EXPECT_EQ(flows("3"), whole);
  const std::string out = Out({"inspect", "DIR/plan.pbtxt"});
  EXPECT_THAT(out, HasSubstr("\n  step \"s\", 2 times: n\n")) << "one instance is not stated";
  EXPECT_EQ(JsonAt(Out({"inspect", "DIR/plan.pbtxt", "--json"}), "/blobs"),
            R"([{"blob":"i","read_by":"n"},)"
            R"({"blob":"i","written_by":"n","read_by":"n","next_iteration":true}])");
}

TEST_F(OptionsTogetherTest, OptionsOfMemoryNeedMemory) {
  for (const Words& words :
       {Words{"--fetch", "y"}, Words{"--no-optimize"}, Words{"--without-pass", "fold_constants"},
        Words{"--deterministic"}, Words{"--winograd-memory", "1M"}, Words{"--precision", "f32"},
        Words{"--min-snr", "3"}}) {
    const ProgramResult result = Run(Joined({"inspect", "DIR/copy.pbtxt"}, words));
    EXPECT_EQ(result.code, 2) << words[0];
    EXPECT_EQ(result.err, "caffe2: option " + words[0] + " is given without --memory\n");
    EXPECT_EQ(Run(Joined({"inspect", "DIR/copy.pbtxt", "--json"}, words)).err, result.err);
    EXPECT_EQ(Run(Joined({"inspect", "DIR/copy.pbtxt", "--memory", "--input", "x=2"}, words)).code,
              0)
        << words[0];
  }
}

TEST_F(OptionsTogetherTest, SeveralDrawingsMayBePrinted) {
  const std::string dot = Out({"inspect", "DIR/copy.pbtxt", "--dot", "-"});
  const std::string svg = Out({"inspect", "DIR/copy.pbtxt", "--svg", "-", "--dot-seconds", "0"});
  EXPECT_THAT(dot, StartsWith("digraph \"copy\" {"));
  EXPECT_THAT(svg, StartsWith("<svg "));
  EXPECT_EQ(Out({"inspect", "DIR/copy.pbtxt", "--svg", "-", "--dot", "-", "--dot-seconds", "0"}),
            dot + svg);
  EXPECT_EQ(Out({"inspect", "DIR/copy.pbtxt", "--svg", "DIR/s", "--dot", "DIR/d", "--html", "DIR/h",
                 "--dot-seconds", "0"}),
            "");
  EXPECT_EQ(ReadWholeFile(dir_.path("d")), dot);
  EXPECT_EQ(ReadWholeFile(dir_.path("s")), svg);
  EXPECT_THAT(ReadWholeFile(dir_.path("h")), HasSubstr("<svg "));
}

// --- plans ---

// The folder of the option comes before that of the plan.
TEST_F(OptionsTogetherTest, DatabasesOfAPlanAreThoseOfTheRoot) {
  const auto save = [&](const std::string& folder, const std::string& value) {
    fs::create_directory(dir_.path(folder));
    dir_.Write("save.pbtxt", R"(name: "s" network { name: "n"
        op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 }
             arg { name: "value" f: )" +
                                 value +
                                 R"( } }
        op { type: "Save" input: "w" arg { name: "db" s: "w.minidb" }
             arg { name: "db_type" s: "minidb" } } } execution_step { network: "n" })");
    Out({"plan", "DIR/save.pbtxt", "--root", "DIR/" + folder});
  };
  save("root", "5");
  save("plans", "7");
  fs::create_directory(dir_.path("empty"));
  dir_.Write("plans/load.pbtxt", R"(name: "l" network { name: "n"
      op { type: "Load" output: "w" arg { name: "db" s: "w.minidb" }
           arg { name: "db_type" s: "minidb" } } } execution_step { network: "n" })");
  const auto loaded = [&](const Words& more) {
    const std::string out = Out(Joined({"plan", "DIR/plans/load.pbtxt", "--fetch", "w"}, more));
    return out.substr(0, out.find("plan \"l\""));
  };
  EXPECT_EQ(loaded({"--root", "DIR/root"}), "w  float [1]\n  5\n");
  EXPECT_EQ(loaded({"--root", "DIR/plans"}), "w  float [1]\n  7\n");
  EXPECT_EQ(loaded({"--root", "DIR/empty"}), "w  float [1]\n  7\n");
  EXPECT_EQ(loaded({}), "w  float [1]\n  7\n");
}

// --- what is printed and saved ---

// The second run, which finds the operator, leaves out those that print.
TEST_F(OptionsTogetherTest, ASearchForNaNPrintsNothingAgain) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Print" input: "x" } op { type: "Log" input: "x" output: "y" })");
  const ProgramResult result = Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=[-1]"});
  EXPECT_EQ(result.code, 0);
  const std::string all = result.out + result.err, printed = "Tensor x ";
  const size_t first = all.find(printed);
  EXPECT_NE(first, std::string::npos) << all;
  EXPECT_EQ(all.find(printed, first + 1), std::string::npos) << all;
  EXPECT_THAT(result.err, HasSubstr("the first is in blob \"y\", written by operator 1 (Log)"));
}

TEST_F(OptionsTogetherTest, AColumnOfNamesHasAHundredColumnsAtMost) {
  std::string net = "name: \"n\" external_input: \"x\" ";
  for (const size_t size : {100, 101, 3}) {
    const std::string name = std::string(size, 'a');
    net += "external_output: \"" + name + "\" op { type: \"Copy\" input: \"x\" output: \"" + name +
           "\" } ";
  }
  dir_.Write("net.pbtxt", net);
  const std::string out = Out({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=[1]"});
  const auto line = [](size_t size, size_t blanks) {
    return std::string(size, 'a') + std::string(blanks, ' ') + "float [1]\n  1\n";
  };
  EXPECT_THAT(out, StartsWith("x" + std::string(101, ' ') + "float [1]   given\n" + line(100, 2) +
                              line(101, 2) + line(3, 99)));
}

TEST_F(OptionsTogetherTest, AFetchedBlobOfAPlanHasRowsAndOneEntry) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" op { type: "GivenTensorFill"
      output: "p" arg { name: "shape" ints: [2, 2] }
      arg { name: "values" floats: [0.25, 0.75, 0.5, 0.5] } } } execution_step { network: "n" })");
  EXPECT_THAT(Out({"plan", "DIR/plan.pbtxt", "--fetch", "p"}),
              StartsWith("p  float [2, 2]\n  0.25 0.75\n   0.5  0.5\nplan \"p\" done"))
      << "rows whose sums are 1 are no classes";
  EXPECT_THAT(Out({"plan", "DIR/plan.pbtxt", "--fetch", "p", "--top", "1"}),
              StartsWith("p  float [2, 2]\n  row 0\n    0.750  class 1\n  row 1\n    0.500  class "
                         "0\nplan \"p\" done"));
  Out({"plan", "DIR/plan.pbtxt", "--fetch", "p", "--fetch", "p", "--output", "DIR/p.npz"});
  const NamedTensors saved = ReadNpz(dir_.path("p.npz"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].first, "p");
  EXPECT_EQ(saved[0].second.data<float>()[1], 0.75f);
  Out({"plan", "DIR/plan.pbtxt", "--fetch", "p", "--fetch", "p", "--output", "DIR/folder"});
  EXPECT_EQ(ReadNpy(dir_.path("folder/p.npy")).data<float>()[1], 0.75f);
  // A net with the same values has classes.
  EXPECT_THAT(Out(Copy({"--input", "x=[0.25,0.75]"})),
              HasSubstr("y  float [2]\n  0.750  class 1\n  0.250  class 0\n"));
}

TEST_F(OptionsTogetherTest, AReceiptStatesHowTheNetRan) {
  Out(Copy({"--input", "x=2", "--receipt", "DIR/r", "--deterministic", "--seed", "7",
            "--no-optimize", "--iterations", "2", "--executor", "dag", "--threads", "3"}));
  const std::string all = ReadWholeFile(dir_.path("r"));
  const std::pair<const char*, const char*> fields[] = {
      {"/net", "\"copy\""},     {"/seed", "7"},
      {"/runs", "2"},           {"/threads", "3"},
      {"/executor", "\"dag\""}, {"/deterministic", "true"},
      {"/passes", "[]"},        {"/inputs/0/blob", "\"x\""}};
  for (const auto& [at, value] : fields) EXPECT_EQ(JsonAt(all, at), value) << at;
  Out(Copy({"--input", "x=2", "--receipt", "DIR/s"}));
  const std::string plain = ReadWholeFile(dir_.path("s"));
  const std::pair<const char*, const char*> defaults[] = {
      {"/seed", "null"}, {"/runs", "1"}, {"/executor", "\"simple\""}, {"/deterministic", "false"}};
  for (const auto& [at, value] : defaults) EXPECT_EQ(JsonAt(plain, at), value) << at;
  const ProgramResult compared = Run({"receipt", "compare", "DIR/r", "DIR/s"});
  EXPECT_EQ(compared.code, 1) << "other random inputs";
  for (const char* line :
       {"  seed: 7 and none\n", "  runs: 2 and 1\n", "  input \"x\"\n", "  threads: 3 and 1\n",
        "  executor: dag and simple\n", "  deterministic: 1 and 0\n"})
    EXPECT_THAT(compared.out, HasSubstr(line));
}

TEST_F(OptionsTogetherTest, NumbersOfQuantizeHaveBounds) {
  const auto error = [&](const Words& words) {
    const ProgramResult result = Run(Joined(
        {"quantize", "--predict-net", "DIR/copy.pbtxt", "--output-predict-net", "DIR/q"}, words));
    EXPECT_EQ(result.code, 2) << words[0];
    return result.err;
  };
  const std::tuple<const char*, const char*, Words> rows[] = {
      {"headroom", "1000", {"-1", "-0.5", "1000.5", "nan", "inf", "x", "1x", " 1", "1,2"}},
      {"min-snr", "200", {"-1", "200.5", "201", "nan"}},
      {"max-drop", "100", {"-1", "100.1", "-inf"}}};
  for (const auto& [option, most, wrong] : rows) {
    for (const std::string& text : wrong)
      EXPECT_EQ(error({"--"s + option + "=" + text, "--labels", "DIR/l"}),
                "caffe2: option --"s + option + " is \"" + text + "\", want a number from 0 to " +
                    most + "\n");
    // The bounds are accepted: the examples are what is missing.
    for (const std::string& text : {"0"s, std::string(most)})
      EXPECT_THAT(error({"--"s + option + "=" + text, "--labels", "DIR/l"}),
                  StartsWith("caffe2: want examples to measure ranges on: "));
  }
  EXPECT_FALSE(fs::exists(dir_.path("q")));
}

}  // namespace
}  // namespace caffe2rt::test::options_together_test
