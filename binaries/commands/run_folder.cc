#include "binaries/commands/run_folder.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "binaries/commands/progress.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/read_ahead.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/rows.h"

namespace caffe2rt {
namespace {

// A file whose outputs have not been written yet.
struct WaitingFile {
  std::string file, source;
  Tensor input{CPU};
  std::string error;                    // of a file that failed
  bool done = false;                    // it failed, or has outputs
  bool alone = false;                   // it runs when its outputs are written
  std::map<std::string, Blob> outputs;  // its rows of the outputs of a batch
};

// The first file on which the net ran alone, or the first of the size of the first batch.
struct FirstFile {
  std::string file;
  Tensor input{CPU};
  std::map<std::string, Tensor> outputs;
};

struct LoadedFile {
  Tensor tensor{CPU};
  std::string source;
};

// Inputs with the same key share a batch.
std::string ShapeKey(const Tensor& tensor) {
  const std::vector<int64_t>& dims = tensor.dims();
  return MakeString(DataTypeName(tensor.meta()), ":",
                    dims.empty() ? "" : absl::StrJoin(dims.begin() + 1, dims.end(), ","));
}

// Whether two results are equal up to the rounding of different orders of sums.
bool AreClose(const Tensor& a, const Tensor& b) {
  constexpr float kTolerance = 1e-3f;
  if (a.dims() != b.dims() || a.dtype() != b.dtype()) return false;
  if (!a.IsType<float>()) return true;
  float largest = 0;
  for (int64_t i = 0; i < b.numel(); ++i) largest = std::max(largest, std::abs(b.data<float>()[i]));
  for (int64_t i = 0; i < a.numel(); ++i) {
    const float x = a.data<float>()[i], y = b.data<float>()[i];
    if (std::abs(x - y) > kTolerance * std::max(largest, 1e-6f) && x != y) return false;
  }
  return true;
}

class FolderRunner {
 public:
  FolderRunner(const FolderRun& run, FolderResults* results)
      : run_(run),
        results_(*results),
        reader_(run.line, run.images.packed_bgra, run.images.blob, run.images.defaults),
        batch_(static_cast<size_t>(run.line.Integer("batch", 1, 65536))),
        progress_(static_cast<int64_t>(run.images.files.size()),
                  run.images.stream != nullptr ? "images" : "files"),
        together_(batch_ > 1) {}

  int64_t Run() {
    run_.images.stream != nullptr ? TakeStream(*run_.images.stream) : TakeFiles();
    FinishWaiting();
    return failures_;
  }

 private:
  // The files behind the first one are read ahead, once the net exists and its first run has shown
  // what memory it needs.
  void TakeFiles() {
    const std::vector<std::string>& files = run_.images.files;
    const int threads = GetNumThreads();
    for (size_t i = 0; i < files.size() && !run_.interrupted(); ++i) {
      if (i == 1)
        loader_.emplace(files.size() - 1, threads, batch_ + static_cast<size_t>(threads),
                        [this](size_t next) { return Load(next + 1); });
      Take(files[i], [&] { return NextFile(i); });
      WriteWaiting();
    }
    loader_.reset();
  }

  // Several files together may need more memory than one has. Then no more are read ahead, and each
  // runs alone, those first that wait for a batch.
  LoadedFile NextFile(size_t i) {
    try {
      return loader_.has_value() ? loader_->Next() : Load(i);
    } catch (const OutOfMemory& error) {
      loader_.reset();
      if (together_) RunOneByOne(error.message());
      FinishWaiting();
    }
    return Load(i);
  }

  void FinishWaiting() {
    while (!waiting_.empty() && !run_.interrupted()) {
      RunGroup(ShapeKey(waiting_.front().input));
      WriteDone();
    }
  }

  // Images are read when the ones before have been written, because they may arrive at any time.
  void TakeStream(ImageStream& stream) {
    for (int64_t number = 1; !run_.interrupted(); ++number) {
      const std::string name = MakeString("image ", number, " of ", stream.subject());
      std::string bytes;
      try {
        if (!stream.Next(&bytes)) return;
      } catch (const EnforceNotMet& error) {
        WaitingFile& entry = waiting_.emplace_back();
        entry.file = name;
        Fail(error, &entry);
        return WriteWaiting();
      }
      Take(name, [&] {
        LoadedFile loaded;
        loaded.tensor = reader_.Decode(bytes, name, &loaded.source);
        return loaded;
      });
      WriteWaiting();
    }
  }

  void WriteWaiting() {
    // Files of other sizes may wait for their batch, but not forever.
    if (waiting_.size() >= 2 * batch_) RunGroup(ShapeKey(waiting_.front().input));
    WriteDone();
  }

  LoadedFile Load(size_t i) const {
    LoadedFile loaded;
    loaded.tensor = reader_.Read(run_.images.files[i], &loaded.source);
    return loaded;
  }

  // Adds a file to those that wait, and runs its batch if that is complete.
  template <class Next>
  void Take(const std::string& file, Next&& next) {
    WaitingFile taken;
    taken.file = file;
    try {
      LoadedFile loaded = next();
      taken.input = std::move(loaded.tensor);
      taken.source = std::move(loaded.source);
    } catch (const EnforceNotMet& error) {
      Fail(error, &taken);
    }
    WaitingFile& entry = waiting_.emplace_back(std::move(taken));
    if (entry.done) return;
    if (entry.alone = !together_ || !first_.has_value(); entry.alone) return;
    const std::string key = ShapeKey(entry.input);
    if (++group_sizes_[key] >= batch_) RunGroup(key);
  }

  void Fail(const EnforceNotMet& error, WaitingFile* entry) {
    entry->error = error.message();
    entry->done = true;
  }

  void Feed(const Tensor& input) {
    *run_.ws->CreateBlob(run_.images.blob)->GetMutableTensor(CPU) = Tensor(input);
  }

  // Runs all waiting files with inputs of this shape.
  void RunGroup(const std::string& key) {
    group_sizes_.erase(key);
    std::vector<WaitingFile*> group;
    for (WaitingFile& entry : waiting_) {
      if (!entry.done && !entry.alone && ShapeKey(entry.input) == key) group.push_back(&entry);
    }
    if (together_ && group.size() > 1) {
      try {
        RunTogether(group);
      } catch (const EnforceNotMet& error) {
        if (run_.interrupted()) {
          for (WaitingFile* entry : group) Fail(error, entry);
          return;
        }
        RunOneByOne(MakeString("a batch of ", group.size(), " fails: ", error.message()));
      }
    }
    for (WaitingFile* entry : group) entry->alone = !entry->done;
  }

  void RunOneByOne(const std::string& reason) {
    together_ = false;
    first_.reset();
    progress_.Clear();
    Warn(MakeString("net \"", run_.net, "\" runs on one file at a time: ", reason));
  }

  void RunTogether(const std::vector<WaitingFile*>& group) {
    const bool tests = !tested_;
    if (tests && ShapeKey(first_->input) != ShapeKey(group[0]->input)) {
      Feed(group[0]->input.Clone());
      RunFirst(*group[0]);
      if (!together_) return;
    }
    std::vector<const Tensor*> inputs;
    if (tests) inputs.push_back(&first_->input);
    for (const WaitingFile* entry : group) inputs.push_back(&entry->input);
    std::vector<int64_t> rows;
    for (const Tensor* input : inputs) rows.push_back(RowsOf(*input));
    Feed(JoinRows(inputs));
    run_.run_net(static_cast<int64_t>(group.size()));
    const int64_t all = std::accumulate(rows.begin(), rows.end(), int64_t{0});
    std::vector<std::map<std::string, Blob>> outputs(inputs.size());
    for (const std::string& name : run_.outputs) {
      const Blob& blob = run_.fetch(name);
      if (!blob.IsType<Tensor>() || !HasRows(blob.Get<Tensor>(), all)) {
        RunOneByOne(
            MakeString("output \"", name, "\" of a batch of ", all, " is ", BlobText(blob)));
        return;
      }
      std::vector<Tensor> parts = SplitRows(blob.Get<Tensor>(), rows);
      for (size_t i = 0; i < parts.size(); ++i)
        *outputs[i][name].GetMutableTensor(CPU) = std::move(parts[i]);
    }
    if (tests && !IsAsAlone(outputs[0])) return;
    tested_ = true;
    for (size_t i = 0; i < group.size(); ++i) {
      group[i]->outputs = std::move(outputs[i + (tests ? 1 : 0)]);
      group[i]->done = true;
    }
  }

  // Whether the first file has the same outputs in a batch as alone.
  bool IsAsAlone(const std::map<std::string, Blob>& outputs) {
    for (const auto& [name, blob] : outputs) {
      if (AreClose(blob.Get<Tensor>(), first_->outputs.at(name))) continue;
      RunOneByOne(MakeString("output \"", name, "\" for \"", first_->file,
                             "\" differs between a batch and a run alone"));
      return false;
    }
    return true;
  }

  // Writes the outputs of the files in front whose outputs are known. Runs those that run alone.
  void WriteDone() {
    for (; !waiting_.empty(); waiting_.pop_front()) {
      WaitingFile& entry = waiting_.front();
      if (!entry.done && ((!entry.alone && together_) || run_.interrupted())) break;
      if (entry.error.empty() && !entry.done) Prepare(entry);
      Write(&entry);
      progress_.Show(++written_);
    }
  }

  // Creates the net. Its errors end the run, because no file could run.
  void Prepare(const WaitingFile& entry) {
    Feed(entry.input);
    if (!prepared_) run_.prepare();
    prepared_ = true;
  }

  void Write(WaitingFile* entry) {
    if (entry->error.empty()) {
      try {
        if (!entry->done) RunAlone(entry);
        progress_.Clear();
        results_.Add(entry->file, entry->source, [&](const std::string& name) -> const Blob& {
          return entry->done ? entry->outputs.at(name) : run_.fetch(name);
        });
        return;
      } catch (const EnforceNotMet& error) {
        entry->error = MakeString("\"", entry->file, "\": ", error.message());
      }
    }
    progress_.Clear();
    results_.Fail(entry->file, entry->error);
    ++failures_;
  }

  void RunAlone(WaitingFile* entry) {
    try {
      return RunFed(*entry);
    } catch (const OutOfMemory&) {
      if (!loader_.has_value()) throw;
    }
    loader_.reset();  // what was read ahead needs memory, too
    entry->input = reader_.Read(entry->file, &entry->source);  // the net may have changed it
    Feed(entry->input);
    RunFed(*entry);
  }

  void RunFed(const WaitingFile& entry) {
    if (together_ && !first_.has_value()) return RunFirst(entry);
    run_.run_net(1);
  }

  // Runs the net on the file, which has been fed, and keeps its outputs for the comparison with those
  // in a batch.
  void RunFirst(const WaitingFile& entry) {
    // The net may change its input.
    FirstFile first{.file = entry.file, .input = entry.input.Clone(), .outputs = {}};
    run_.run_net(1);
    const int64_t rows = RowsOf(first.input);
    for (const std::string& name : run_.outputs) {
      const Blob& blob = run_.fetch(name);
      if (!blob.IsType<Tensor>() || !HasRows(blob.Get<Tensor>(), rows)) {
        RunOneByOne(MakeString("output \"", name, "\" is ", BlobText(blob), " for an input of ",
                               CountText(rows, "row")));
        return;
      }
      first.outputs.emplace(name, blob.Get<Tensor>().Clone());
    }
    first_ = std::move(first);
  }

  const FolderRun& run_;
  FolderResults& results_;
  const ImageReader reader_;
  const size_t batch_;
  Progress progress_;
  int64_t written_ = 0, failures_ = 0;
  std::optional<ReadAhead<LoadedFile>> loader_;
  bool together_;          // files may run in batches
  bool prepared_ = false;  // the net exists
  bool tested_ = false;    // the first file has the same outputs in a batch as alone
  std::optional<FirstFile> first_;
  std::deque<WaitingFile> waiting_;            // in the order of the files
  std::map<std::string, size_t> group_sizes_;  // files of each shape that wait for their batch
};

}  // namespace

int64_t RunFolder(const FolderRun& run, FolderResults* results) {
  return FolderRunner(run, results).Run();
}

}  // namespace caffe2rt
