// Databases, files and arguments.
#include <cstdlib>

#include "caffe2/core/db.h"  // brings proto_utils.h
#include "test.h"

using namespace caffe2;  // NOLINT: as users write

static std::string TempPath(const char* name) {
  char folder[] = "/tmp/caffe2_style_XXXXXX";
  return std::string(mkdtemp(folder)) + "/" + name;
}

STYLE_TEST(DatabasesAreWrittenAndRead) {
  const std::string path = TempPath("db");
  {
    auto db = db::CreateDB("minidb", path, db::NEW);
    auto tr = db->NewTransaction();
    tr->Put("k", "v");
    tr->Commit();
  }
  db::DBReader r("minidb", path);
  string k, v;
  r.Read(&k, &v);
  STYLE_EXPECT(k == "k" && v == "v");
  auto db = db::CreateDB("minidb", path, db::READ);
  auto cursor = db->NewCursor();
  int count = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) ++count;
  STYLE_EXPECT(count == 1);
}

STYLE_TEST(NetsAreReadAndWrittenInBothForms) {
  const std::string text = TempPath("x.pbtxt"), binary = TempPath("x.pb");
  NetDef a, copy;
  a.set_name("a");
  STYLE_EXPECT(copy.ParseFromString(SerializeAsString_EnforceCheck(a, "style")) &&
               copy.name() == "a");
  WriteProtoToTextFile(a, text);
  WriteProtoToBinaryFile(a, binary);
  NetDef b, c;
  CAFFE_ENFORCE(ReadProtoFromFile(text, &b));
  CAFFE_ENFORCE(ReadProtoFromFile(binary.c_str(), &c));
  STYLE_EXPECT(b.name() == "a" && c.name() == "a");
  STYLE_EXPECT(!ReadProtoFromFile("no such file", &b));
}

STYLE_TEST(ArgumentsAreMadeAndFound) {
  auto op = CreateOperatorDef("FC", "", {"x", "w", "b"}, {"y"}, {MakeArgument<int>("axis", 1)});
  STYLE_EXPECT(ArgumentHelper(op).GetSingleArgument<int>("axis", 0) == 1);
  AddArgument<string>("name", "n", &op);
  STYLE_EXPECT(GetArgument(op, "name").s() == "n");
  STYLE_EXPECT(ArgumentHelper::HasArgument(op, "axis"));
  STYLE_EXPECT((ArgumentHelper::GetSingleArgument<OperatorDef, int>(op, "axis", 0) == 1));
}
