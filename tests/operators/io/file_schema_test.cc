// Checks that OpSchema::AccessesFiles is set for exactly those operators that open files. The test
// reads the sources, and also runs every registered operator while the operating system reports
// each file that is opened.
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::file_schema_test {
namespace {

namespace fs = std::filesystem;
using test::SourcePath;
using test::TempDir;

std::set<std::string> TypesThatDeclareIt() {
  std::set<std::string> types;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    const OpSchema* schema = OpSchemaRegistry::Schema(type);
    if (schema != nullptr && schema->accesses_files()) types.insert(type);
  }
  return types;
}

// The sources under operators/ that open files, and the operator types that they implement. A
// source without types opens files that the user of a program names.
const std::map<std::string, std::set<std::string>>& SourcesThatOpen() {
  static const std::map<std::string, std::set<std::string>> sources = {
      {"operators/conv/conv_tuning.cc", {}},               // the table named by a program's option
      {"operators/distributed/collective_engine.cc", {}},  // modules of the library
      {"operators/distributed/connections.cc", {}},        // the number of the machine's start
      {"operators/distributed/file_store.cc", {"FileStoreHandlerCreate"}},
      {"operators/distributed/rendezvous.cc", {}},  // the state of a process of this machine
      {"operators/io/create_db.h", {"CreateDB"}},
      {"operators/io/create_text_file_reader.cc", {"CreateTextFileReader"}},
      {"operators/io/db_exists.h", {"DBExists"}},
      {"operators/io/image_input.cc", {"ImageInput"}},
      {"operators/io/load.h", {"Load"}},
      {"operators/io/load.cc", {}},  // paths that load.h has checked
      {"operators/io/save.h", {"Save", "Checkpoint", "Snapshot"}},
      {"operators/queue/create_blobs_queue_db.cc", {}},  // a reader of a queue
      {"operators/select/line_file.cc", {"Print", "Summarize"}},
  };
  return sources;
}

bool IsOfIdentifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<std::string> Words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

// Returns whether a line of code calls a function that opens a file, or names a class that does.
bool OpensFiles(const std::string& line) {
  static const std::vector<std::string> calls = Words(
      "CreateDB OpenDB OpenDatabase DBExists DBReader Open open openat creat fopen freopen popen "
      "system mkdir "
      "mkfifo rename unlink remove_all dlopen create_directory create_directories OpenForReading "
      "ReadWholeFile WriteFileAtomically ReadStringFromFile WriteStringToFile LoadProto LoadNet "
      "LoadBlobProtos LoadMetaNetDef LoadPredictor LoadModel OpenParameterReader LoadModule "
      "ReadNpy "
      "ReadNpz WriteNpy WriteNpz "
      "ReadProtoFromFile ReadProtoFromTextFile ReadProtoFromBinaryFile WriteProtoToTextFile "
      "WriteProtoToBinaryFile");
  static const std::vector<std::string> classes =
      Words("ifstream ofstream fstream filebuf AtomicFile");
  const std::string code = line.substr(0, line.find("//"));
  const auto has = [&](const std::string& word, bool is_called) {
    for (size_t at = code.find(word); at != std::string::npos; at = code.find(word, at + 1)) {
      const char after = code[at + word.size()];  // '\0' at the end of the code
      const bool is_word = (at == 0 || !IsOfIdentifier(code[at - 1])) && !IsOfIdentifier(after);
      if (is_word && (!is_called || after == '(')) return true;
    }
    return false;
  };
  return std::any_of(calls.begin(), calls.end(), [&](auto& call) { return has(call, true); }) ||
         std::any_of(classes.begin(), classes.end(), [&](auto& name) { return has(name, false); });
}

TEST(FileSchemaTest, SourcesOfOperatorsThatOpenFilesAreKnownAndAskThePolicy) {
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(SourcePath("operators"))) {
    const std::string ending = entry.path().extension();
    if (ending != ".h" && ending != ".cc" && ending != ".cu" && ending != ".cuh") continue;
    const std::string path =
        "operators/" + fs::relative(entry.path(), SourcePath("operators")).string();
    const std::string source = ReadWholeFile(entry.path());
    std::istringstream lines(source);
    for (std::string line; std::getline(lines, line);) {
      if (OpensFiles(line)) found.insert(path);
    }
    const auto known = SourcesThatOpen().find(path);
    if (known == SourcesThatOpen().end() || known->second.empty()) continue;
    EXPECT_TRUE(std::regex_search(source, std::regex("access(\\(\\))?\\.Check"))) << path;
  }
  for (const std::string& path : found) {
    EXPECT_TRUE(SourcesThatOpen().contains(path)) << path << " opens files";
  }
  for (const auto& [path, types] : SourcesThatOpen()) {
    EXPECT_TRUE(found.contains(path)) << path << " opens no files";
  }
}

TEST(FileSchemaTest, DeclaresItForTheTypesOfThoseSourcesAlone) {
  std::set<std::string> types;
  for (const auto& [path, of_source] : SourcesThatOpen())
    types.insert(of_source.begin(), of_source.end());
  EXPECT_EQ(TypesThatDeclareIt(), types);
}

TEST(FileSchemaTest, TheReaderOfSourcesSeesCalls) {
  EXPECT_TRUE(OpensFiles("  std::ifstream in(path);"));
  EXPECT_TRUE(OpensFiles("  const int fd = open(path.c_str(), O_RDONLY);"));
  EXPECT_TRUE(OpensFiles("  blob->Reset(new db::DBReader(type, path));"));
  EXPECT_FALSE(OpensFiles("  reopen(gate);  // open(x)"));
}

// A folder with a bait file. Counts how often files in the folder are opened or changed.
class BaitFolder {
 public:
  BaitFolder() : notify_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    Renew();
    CAFFE_ENFORCE(notify_, "inotify_init1");
    const int watch = inotify_add_watch(notify_.get(), dir_.path().c_str(),
                                        IN_OPEN | IN_CREATE | IN_MODIFY | IN_MOVED_TO | IN_DELETE);
    CAFFE_ENFORCE_GE(watch, 0, "inotify_add_watch");
  }
  const std::string& path() const { return dir_.path(); }
  std::string bait() const { return dir_.path("bait"); }

  // Restores the bait, a minidb with the tensor "x".
  void Renew() const {
    for (const auto& entry : fs::directory_iterator(dir_.path())) fs::remove_all(entry.path());
    Workspace ws("/");
    test::Feed<float>(&ws, "x", {1}, {7});
    ws.RunOperatorOnce(test::ParseOp("type: 'Save' input: 'x' arg { name: 'db' s: '" + bait() +
                                     "' } arg { name: 'db_type' s: 'minidb' }"));
  }
  // Returns the number of events since the previous call.
  int TakeEvents() const {
    int events = 0;
    alignas(inotify_event) char buffer[4096];
    while (true) {
      const ssize_t size = read(notify_.get(), buffer, sizeof(buffer));
      if (size <= 0) return events;
      for (ssize_t at = 0; at < size; ++events) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
        at += static_cast<ssize_t>(sizeof(*event) + event->len);
      }
    }
  }

 private:
  const TempDir dir_;
  const FileDescriptor notify_;
};

// How the arguments of an operator are set.
enum class Baits {
  kOne,        // one argument is the bait, the others have their defaults
  kAll,        // arguments without a numeric default are baits, flags are set
  kWithTypes,  // the same, but arguments named *type* are "minidb"
};

void SetArgument(const OpSchema::Argument& known, const std::string& bait, Baits baits,
                 OperatorDef* def) {
  const bool is_number = !known.default_value.empty() && known.default_value.find_first_not_of(
                                                             "-.0123456789e") == std::string::npos;
  const bool is_type = known.name.find("type") != std::string::npos;
  if (is_number && baits != Baits::kOne) {
    if (known.default_value == "0") AddArgument(known.name, 1, def);
  } else {
    AddArgument(known.name, is_type && baits == Baits::kWithTypes ? "minidb" : bait, def);
  }
}

// Returns the operator with the minimum number of inputs and outputs.
OperatorDef BareOperator(const std::string& type, const OpSchema& schema) {
  OperatorDef def;
  def.set_type(type);
  for (int i = 0; i < schema.min_input(); ++i) def.add_input("x");
  const int outputs = std::max(schema.min_output(), schema.max_output() > 0 ? 1 : 0);
  for (int i = 0; i < outputs; ++i) def.add_output("y" + std::to_string(i));
  return def;
}

// Returns all variants of an operator to be tried, with `bait` in the arguments.
std::vector<OperatorDef> Trials(const std::string& type, const std::string& bait) {
  std::vector<OperatorDef> trials;
  const OpSchema* schema = OpSchemaRegistry::Schema(type);
  if (schema == nullptr) return trials;
  const OperatorDef bare = BareOperator(type, *schema);
  for (const OpSchema::Argument& known : schema->args()) {
    SetArgument(known, bait, Baits::kOne, &trials.emplace_back(bare));
  }
  for (const Baits baits : {Baits::kAll, Baits::kWithTypes}) {
    OperatorDef& def = trials.emplace_back(bare);
    for (const OpSchema::Argument& known : schema->args()) SetArgument(known, bait, baits, &def);
  }
  // The operator's name and engine are strings too.
  OperatorDef& named = trials.emplace_back(bare);
  named.set_name(bait);
  named.set_engine(bait);
  return trials;
}

// Creates and runs the operator. Returns the message that it threw, or "".
std::string Try(const OperatorDef& def, const std::string& root, const FileAccess& access) {
  Workspace ws(root);
  ws.SetFileAccess(access);
  test::FeedRange<float>(&ws, "x", {2, 2});
  test::Feed<int64_t>(&ws, "it", {1}, {0});
  try {
    ws.RunOperatorOnce(def);
    if (def.type() == "FileStoreHandlerCreate") {  // it opens files when it stores a key
      const std::vector<std::string> inputs = {def.output(0), "x"};
      ws.RunOperatorOnce(CreateOperatorDef("StoreSet", "", inputs, std::vector<std::string>()));
    }
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

// Returns the general variants, and one that must open files according to the schemas.
std::vector<OperatorDef> OpeningTrials(const std::string& type, const std::string& bait) {
  std::vector<OperatorDef> trials = Trials(type, bait);
  OperatorDef& def = trials.emplace_back(BareOperator(type, *OpSchemaRegistry::Schema(type)));
  if (type == "Checkpoint" || type == "Snapshot") {
    def.clear_input();
    def.add_input("it");
  }
  AddArgument("db_type", std::string("minidb"), &def);
  AddArgument(type == "DBExists" ? "db_name" : "db", bait, &def);
  for (const char* flag : {"absolute_path", "to_file"}) AddArgument(flag, 1, &def);
  if (type == "CreateTextFileReader") {
    AddArgument("filename", bait, &def);
    AddArgument("field_types", std::vector<int>{TensorProto::STRING}, &def);
  }
  if (type == "FileStoreHandlerCreate") {
    AddArgument("path", fs::path(bait).parent_path().string(), &def);
  }
  if (type == "ImageInput") {
    for (const char* size : {"batch_size", "crop", "scale"}) AddArgument(size, 1, &def);
  }
  return trials;
}

TEST(FileSchemaTest, OperatorsThatDoNotDeclareItOpenNoFileThatTheirArgumentsName) {
  const BaitFolder folder;
  const std::set<std::string> declared = TypesThatDeclareIt();
  (void)folder.TakeEvents();
  size_t tried = 0;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    if (declared.contains(type)) continue;
    for (const std::string& bait : {folder.bait(), std::string("bait")}) {
      for (const OperatorDef& def : Trials(type, bait)) {
        (void)Try(def, folder.path(), FileAccess::Free());
        ++tried;
      }
    }
    EXPECT_EQ(folder.TakeEvents(), 0) << type << " opens files, its schema says no AccessesFiles";
  }
  EXPECT_GT(tried, 1000u);
}

TEST(FileSchemaTest, OperatorsThatDeclareItOpenFilesAndNoneWhenAccessIsOff) {
  const BaitFolder folder;
  for (const std::string& type : TypesThatDeclareIt()) {
    SCOPED_TRACE(type);
    folder.Renew();
    (void)folder.TakeEvents();
    int refusals = 0;
    for (const OperatorDef& def : OpeningTrials(type, folder.bait())) {
      const std::string error = Try(def, folder.path(), FileAccess::Off("a remedy"));
      refusals += error.find("nets may not access any file; a remedy") != std::string::npos;
    }
    EXPECT_GT(refusals, 0);
    EXPECT_EQ(folder.TakeEvents(), 0);
    for (const OperatorDef& def : OpeningTrials(type, folder.bait())) {
      (void)Try(def, folder.path(), FileAccess::Free());
    }
    EXPECT_GT(folder.TakeEvents(), 0) << "the watch of files sees nothing";
  }
}

// The page has rows "| `Type` | ..." under this heading.
TEST(FileSchemaTest, ThePageOnSecurityListsThem) {
  std::istringstream lines(ReadWholeFile(SourcePath("SECURITY.md")));
  std::set<std::string> listed;
  bool in_section = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## ")) in_section = line == "## Operators that open files";
    std::smatch row;
    if (in_section && std::regex_search(line, row, std::regex("^\\| `(\\w+)` \\|"))) {
      listed.insert(row[1]);
    }
  }
  EXPECT_EQ(listed, TypesThatDeclareIt());
}

}  // namespace
}  // namespace caffe2rt::file_schema_test
