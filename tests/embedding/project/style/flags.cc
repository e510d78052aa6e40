// Flags, read from inside and outside the namespace. They are defined before the namespace is first
// used.
#include "caffe2/core/flags.h"

#include "caffe2/core/init.h"
#include "test.h"

CAFFE2_DEFINE_int(style_k, 3, "k");
CAFFE2_DEFINE_string(style_path, "a.pb", "path");
CAFFE2_DEFINE_bool(style_on, false, "on");
CAFFE2_DEFINE_double(style_rate, 0.5, "rate") C10_DEFINE_int(style_c10, 7, "c10");
C10_DEFINE_string(style_c10_name, "x", "name");
C10_DECLARE_int(style_declared);

int Outside() { return FLAGS_style_k + FLAGS_style_c10; }
namespace caffe2 {
int Inside() { return FLAGS_style_k + FLAGS_style_c10; }
}  // namespace caffe2

STYLE_TEST(FlagsAreVariablesInBothNamespaces) {
  STYLE_EXPECT(Outside() == 10 && caffe2::Inside() == 10);
  STYLE_EXPECT(FLAGS_style_path + "txt" == "a.pbtxt");
  STYLE_EXPECT(caffe2::FLAGS_style_path.size() == 4);
  STYLE_EXPECT(c10::FLAGS_style_c10 == 7 && c10::FLAGS_style_declared == 3);
  const char* words[] = {"program",      "--style_k=5", "rest",          "--style_on",
                         "--style_path", "b",           "--style_rate=2"};
  std::vector<char*> argv;
  for (const char* word : words) argv.push_back(const_cast<char*>(word));
  int argc = static_cast<int>(argv.size());
  char** pointer = argv.data();
  STYLE_EXPECT(caffe2::GlobalInit(&argc, &pointer));
  STYLE_EXPECT(argc == 2 && std::string(pointer[1]) == "rest");
  STYLE_EXPECT(FLAGS_style_k == 5 && FLAGS_style_on && FLAGS_style_path == "b" &&
               FLAGS_style_rate == 2.0);
}

STYLE_TEST(UnknownFlagsAreErrors) {
  char program[] = "program", flag[] = "--style_q=1";
  char* words[] = {program, flag, nullptr};
  int argc = 2;
  char** argv = words;
  bool threw = false;
  try {
    caffe2::GlobalInit(&argc, &argv);
  } catch (const std::exception& error) {
    threw = std::string(error.what()).find("style_k") != std::string::npos;  // a similar name
  }
  STYLE_EXPECT(threw);
}

C10_DEFINE_int(style_declared, 3, "declared before");
