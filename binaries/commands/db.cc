// caffe2 db: makes, shows, copies and times databases of records for training.

#include "binaries/commands/db.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/command.h"
#include "binaries/commands/file_argument.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/file_kind.h"

namespace caffe2rt {
namespace {

const std::vector<DatabaseAction>& Actions() {
  static const std::vector<DatabaseAction> actions = {
      {"make",
       "mnist IMAGES LABELS | cifar FOLDER | images FOLDER | arrays X.npy Y.npy",
       "writes a data set as a new database",
       {"output", "db-type", "limit", "channels-first", "test", "cifar100", "coarse", "list", "raw",
        "size", "warp", "grey", "shuffle", "seed", "skip-damaged", "threads"},
       &MakeDatabase},
      {"list", "DB", "lists the records", {"limit"}, &ListRecords},
      {"info", "DB", "counts the records, their bytes and their labels", {}, &ShowDatabase},
      {"convert",
       "DB",
       "copies into another type; Caffe's records become Caffe2's",
       {"output", "db-type"},
       &ConvertDatabase},
      {"split",
       "DB",
       "distributes the records over several databases",
       {"output", "parts"},
       &DivideDatabase},
      {"throughput", "DB", "times the reading of records", {"readers", "repeat", "batch-size"}, &TimeDatabase}};
  return actions;
}

std::vector<std::string> ActionNames() {
  std::vector<std::string> names;
  for (const DatabaseAction& action : Actions()) names.emplace_back(action.name);
  return names;
}

const DatabaseAction& ActionNamed(const std::string& name) {
  for (const DatabaseAction& action : Actions()) {
    if (name == action.name) return action;
  }
  throw UsageError("action \"" + name +
                   "\" of db is not known, want make, list, info, convert, split or throughput" +
                   DidYouMean(name, ActionNames()));
}

// Options that all actions take.
bool IsCommon(const std::string& option) { return option == "json" || option == "memory-limit"; }

void CheckOptions(const CommandLine& line, const DatabaseAction& action) {
  for (const Option& option : DbCommand().options) {
    const bool applies =
        IsCommon(option.name) ||
        std::any_of(action.options.begin(), action.options.end(),
                    [&](const char* name) { return std::string(name) == option.name; });
    if (line.Has(option.name) && !applies) {
      throw UsageError(std::string("option --") + option.name + " does not apply to `caffe2 db " +
                       action.name + "`");
    }
  }
}

int Db(const CommandLine& line) {
  if (line.positional().empty()) {
    throw UsageError(
        "an action is missing, want caffe2 db make, list, info, convert, split or throughput");
  }
  const DatabaseAction& action = ActionNamed(line.positional()[0]);
  CheckOptions(line, action);
  return action.run(line, {line.positional().begin() + 1, line.positional().end()});
}

}  // namespace

DatabasePlace GivenDatabase(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) {
    throw UsageError(MakeString(arguments.size(), " databases are given, want one"));
  }
  const FileKindResult found = DetectFileKind(arguments[0]);
  const std::string type = DBTypeOfKind(found.kind);
  if (type.empty() && found.kind != FileKind::kUnknown)
    ThrowUnwantedKind(arguments[0], found.kind, "a database");
  CAFFE_ENFORCE(!type.empty(), "cannot read \"", arguments[0], "\" as a database: ", found.reason);
  return {type, arguments[0]};
}

std::string GivenOutput(const CommandLine& line) {
  if (!line.Has("output")) throw UsageError("the new database has no name; want --output PATH");
  return line.Text("output");
}

void PrintMade(const CommandLine& line, const std::string& path, int64_t records) {
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"database", path}, {"records", records}};
    PrintJson(*json);
  } else {
    std::cout << path << ": " << CountText(records, "record") << "\n";
  }
}

const Command& DbCommand() {
  static const Command command = {
      .name = "db",
      .purpose =
          "makes databases of records for training: of mnist IMAGES LABELS, cifar FOLDER, images "
          "FOLDER (with a folder of images for each class) or arrays X.npy Y.npy; lists their "
          "records, counts them (info), converts, splits and times them",
      .usage =
          "db make DATASET FILE ... --output DB | list DB | info DB | convert DB --output NEW | "
          "split DB | throughput DB [options]",
      .examples =
          "  caffe2 db make images binaries/demo/stripes --output stripes.lmdb\n"
          "  caffe2 db make images binaries/demo/stripes --raw --size 64 --output pixels.minidb "
          "--json\n",
      .options = JoinOptions(
          {{{"output", "DB", "",
             "make, convert: the new database; split: its name is followed by a number"},
            {"db-type", "TYPE", "",
             "type of the new database: lmdb, leveldb or minidb (by the end of its name)"},
            {"limit", "N", "", "records to write (make: all) or to list (list: 1000); 0 is all"},
            {"channels-first", "", "",
             "make mnist, cifar: shape [1, 28, 28], [3, 32, 32]; else the channels are last"},
            {"test", "", "", "make cifar: the folder's test images instead of its training images"},
            {"cifar100", "", "", "make cifar: the files are those of CIFAR-100"},
            {"coarse", "", "", "make cifar: of CIFAR-100's labels the 20 coarse ones"},
            {"list", "FILE", "",
             "make images: lines of a path below the folder and a number, instead of a folder a "
             "class"},
            {"raw", "", "", "make images: store pixels instead of the bytes of the files"},
            {"size", "N", "256", "make images --raw: the shorter side in pixels; 0: as it is"},
            {"warp", "", "", "make images --raw: both sides have the size"},
            {"grey", "", "", "make images --raw: one channel"},
            {"shuffle", "", "", "make images: in an order by lot"},
            {"seed", "N", "1701", "make images --shuffle: the order"},
            {"skip-damaged", "", "",
             "make images: leave damaged files out, with a warning for each, instead of stopping"},
            {"parts", "N", "2", "split: number of new databases"},
            {"readers", "N", "1", "throughput: threads that read"},
            {"repeat", "N", "10", "throughput: times that all records are read"},
            {"batch-size", "N", "",
             "throughput: read batches of tensors, with the operator TensorProtosDBInput"}},
           ProcessOptions(),
           {kJsonOption}}),
      .run = Db,
      .arguments = ArgumentKind::kFiles};
  return command;
}

}  // namespace caffe2rt
