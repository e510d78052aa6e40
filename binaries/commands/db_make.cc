// caffe2 db make: data sets as new databases.

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <thread>

#include "binaries/commands/db.h"
#include "binaries/commands/model.h"
#include "binaries/commands/progress.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/record_order.h"
#include "caffe2_core/training/array_records.h"
#include "caffe2_core/training/cifar_records.h"
#include "caffe2_core/training/image_records.h"
#include "caffe2_core/training/mnist_records.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

int64_t Limit(const CommandLine& line) {
  return line.Has("limit") ? line.Integer("limit", 0, INT64_MAX) : 0;
}

PixelOrder Order(const CommandLine& line) {
  return line.Has("channels-first") ? PixelOrder::kChannelsFirst : PixelOrder::kChannelsLast;
}

// Writes the records that `make` passes on. The database is checked before anything is read.
int64_t WriteRecords(const CommandLine& line, int64_t total,
                     const std::function<void(const RecordAcceptor& accept)>& make) {
  const std::string path = GivenOutput(line);
  RecordDatabase database(NewDatabaseType(line.Text("db-type"), path), path);
  Progress progress(total, "records");
  const RecordAcceptor put = database.Acceptor();
  make([&](const TrainingRecord& record) {
    put(record);
    progress.Show(database.records());
  });
  database.Finish();
  return database.records();
}

int64_t MakeMnist(const CommandLine& line, const Arguments& files) {
  if (files.size() != 2) throw UsageError("db make mnist takes a file of images and one of labels");
  return WriteRecords(line, 0, [&](const RecordAcceptor& accept) {
    MnistRecords({.images = files[0], .labels = files[1]},
                 {.order = Order(line), .limit = Limit(line)}, accept);
  });
}

CifarLabels LabelsOf(const CommandLine& line) {
  if (line.Has("coarse") && !line.Has("cifar100"))
    throw UsageError("option --coarse needs --cifar100");
  if (line.Has("coarse")) return CifarLabels::kCifar100Coarse;
  return line.Has("cifar100") ? CifarLabels::kCifar100 : CifarLabels::kCifar10;
}

int64_t MakeCifar(const CommandLine& line, const Arguments& arguments) {
  if (arguments.empty())
    throw UsageError("db make cifar takes the folder of the binary files, or the files");
  const bool is_folder = arguments.size() == 1 && fs::is_directory(arguments[0]);
  if (line.Has("test") && !is_folder)
    throw UsageError("option --test chooses the files of a folder, but files are given");
  const Arguments files = is_folder ? CifarFilesOf(arguments[0], line.Has("test")) : arguments;
  return WriteRecords(line, 0, [&](const RecordAcceptor& accept) {
    CifarRecords(files, {.labels = LabelsOf(line), .order = Order(line), .limit = Limit(line)},
                 accept);
  });
}

int64_t MakeArrays(const CommandLine& line, const Arguments& files) {
  if (files.empty())
    throw UsageError("db make arrays takes .npy files with as many rows each: data and labels");
  return WriteRecords(
      line, 0, [&](const RecordAcceptor& accept) { ArrayRecords(files, Limit(line), accept); });
}

void ShuffleFiles(const CommandLine& line, std::vector<LabelledFile>* files) {
  if (!line.Has("shuffle")) return;
  const auto seed = static_cast<uint32_t>(line.Integer("seed", 0, UINT32_MAX));
  std::vector<LabelledFile> shuffled;
  for (const int64_t i : ShuffledOrder(static_cast<int64_t>(files->size()), seed))
    shuffled.push_back(std::move((*files)[static_cast<size_t>(i)]));
  *files = std::move(shuffled);
}

ImageRecordOptions OptionsOf(const CommandLine& line) {
  if (line.Has("seed") && !line.Has("shuffle")) throw UsageError("option --seed needs --shuffle");
  for (const char* const option : {"size", "warp", "grey"}) {
    if (line.Has(option) && !line.Has("raw"))
      throw UsageError(MakeString("option --", option, " needs --raw"));
  }
  ImageRecordOptions options;
  options.raw = line.Has("raw");
  options.side = static_cast<int>(line.Integer("size", 0, 100000));
  options.warp = line.Has("warp");
  if (options.warp && options.side == 0)
    throw UsageError("option --warp needs a --size of at least 1");
  options.grey = line.Has("grey");
  options.on_error = [skips = line.Has("skip-damaged")](const std::string& /*name*/,
                                                        const std::string& error) {
    CAFFE_ENFORCE(skips, error, "; --skip-damaged leaves such files out");
    Warn("skipped: " + error);
  };
  return options;
}

// The names of the classes, as `caffe2 run --labels` takes them.
void SaveClasses(const std::string& database, const std::vector<std::string>& classes) {
  if (classes.empty()) return;
  std::string text;
  for (const std::string& name : classes) text += name + "\n";
  WriteFileAtomically(database + ".labels.txt", text);
}

int64_t MakeImages(const CommandLine& line, const Arguments& arguments) {
  if (arguments.size() != 1)
    throw UsageError("db make images takes a folder with a folder of images for each class");
  const ImageRecordOptions options = OptionsOf(line);
  ImageList list = line.Has("list") ? ReadImageList(line.Text("list"), arguments[0])
                                    : ListClassFolders(arguments[0]);
  if (!list.skipped.empty()) {
    Warn(MakeString("folder \"", arguments[0],
                    "\": ", CountText(list.skipped.size(), "entry is", "entries are"),
                    " skipped, not an image in the folder of a class: ", FirstNames(list.skipped)));
  }
  ShuffleFiles(line, &list.files);
  if (const int64_t limit = Limit(line);
      limit > 0 && static_cast<size_t>(limit) < list.files.size())
    list.files.resize(static_cast<size_t>(limit));
  if (!line.Has("threads"))
    SetNumThreads(static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u)));
  const int64_t records = WriteRecords(
      line, static_cast<int64_t>(list.files.size()),
      [&](const RecordAcceptor& accept) { ImageRecords(list.files, options, accept); });
  SaveClasses(GivenOutput(line), list.classes);
  return records;
}

struct Source {
  const char* name;
  int64_t (*make)(const CommandLine& line,
                  const Arguments& arguments);  // returns the number of records
  std::vector<const char*> options;  // that apply to this source alone, or to it and others
};

const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = {
      {"mnist", &MakeMnist, {"channels-first"}},
      {"cifar", &MakeCifar, {"channels-first", "test", "cifar100", "coarse"}},
      {"images",
       &MakeImages,
       {"list", "raw", "size", "warp", "grey", "shuffle", "seed", "skip-damaged", "threads"}},
      {"arrays", &MakeArrays, {}}};
  return sources;
}

const Source& SourceNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const Source& source : Sources()) {
    if (name == source.name) return source;
    names.emplace_back(source.name);
  }
  throw UsageError("data set \"" + name + "\" is not known, want mnist, cifar, images or arrays" +
                   DidYouMean(name, names));
}

// An option of another source has no effect, which is an error.
void CheckOptions(const CommandLine& line, const Source& source) {
  const auto has = [](const Source& other, const std::string& option) {
    return std::any_of(other.options.begin(), other.options.end(),
                       [&](const char* name) { return option == name; });
  };
  for (const Source& other : Sources()) {
    for (const char* const option : other.options) {
      if (line.Has(option) && !has(source, option))
        throw UsageError(MakeString("option --", option, " does not apply to `caffe2 db make ",
                                    source.name, "`"));
    }
  }
}

}  // namespace

int MakeDatabase(const CommandLine& line, const std::vector<std::string>& arguments) {
  if (arguments.empty())
    throw UsageError("the data set is missing, want db make mnist, cifar, images or arrays");
  const Source& source = SourceNamed(arguments[0]);
  CheckOptions(line, source);
  const int64_t records = source.make(line, {arguments.begin() + 1, arguments.end()});
  PrintMade(line, GivenOutput(line), records);
  return 0;
}

}  // namespace caffe2rt
