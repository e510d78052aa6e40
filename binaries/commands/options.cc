// The options shared by several subcommands.

#include <absl/strings/ascii.h>

#include "binaries/commands/command.h"
#include "binaries/commands/file_policy.h"
#include "binaries/commands/model.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/image_resize.h"
#include "caffe2_core/runtime/module.h"
#include "contexts/cpu/cpu_allocator.h"
#include "operators/conv/conv_tuning.h"

namespace caffe2rt {

namespace {

std::vector<std::string> DatabaseTypes() { return {"minidb", "leveldb", "lmdb"}; }

std::vector<std::string> DeviceNames() {
  std::vector<std::string> names = {"auto", "cpu"};
  for (const DeviceDescriptor* device : DeviceDescriptors()) {
    names.push_back(absl::AsciiStrToLower(device->name));
  }
  return names;
}

}  // namespace

std::vector<std::string> ExecutorNames() {
  return {"simple",   "async_dag", "async_polling", "async_scheduling", "async_simple", "dag",
          "parallel", "prof_dag",  "rnn",           "simple_refcount"};
}

std::vector<Option> JoinOptions(std::initializer_list<std::vector<Option>> lists) {
  std::vector<Option> all;
  for (const std::vector<Option>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const std::vector<Option>& ModelOptions() {
  static const std::vector<Option> options = {
      {"init-net", "FILE", "", "net that fills the weights; may be repeated", true},
      {"predict-net", "FILE", "", "net to run, or a packed model (caffe2 pack)"},
      {"verify-packed", "", "",
       "compare the checksums of a packed model, whose damage is not noticed otherwise", false,
       true},
      ImportOptions()[0],
      {"predictor", "DB", "", "database of predictor_exporter, instead of the two"},
      {"db-type", "TYPE", "", "its type: minidb, leveldb, lmdb (default: detected)", false, true,
       &DatabaseTypes},
      {"device", "NAME", "auto", "auto (the net's or the CPU), cpu or cuda:N", false, false,
       &DeviceNames},
      {"root", "DIR", ".", "folder of relative `db` paths, searched before the net's", false, true},
      kAllowFilesOption,
      {"cuda-sync", "", "", "wait for the device after each operator, so that an error names it",
       false, true},
      {"cuda-graph", "", "",
       "capture a device's operators in a graph, replay it from the third run", false, true},
      ImportOptions()[1],
      ImportOptions()[2],
      ImportOptions()[3],
      ImportOptions()[4],
      ImportOptions()[5],
      ImportOptions()[6],
  };
  return options;
}

const std::vector<Option>& ImportOptions() {
  static const std::vector<Option> options = {
      {"weights", "FILE", "", "caffemodel or HDF5 of a net of Caffe (prototxt)"},
      {"input-shape", "BLOB=DIMS", "",
       "shape of an input of a model of Caffe or ONNX, instead of the one in its file; may be "
       "repeated",
       true, true},
      {"phase", "PHASE", "test", "layers of a net of Caffe: those for test or for train", false,
       true},
      {"level", "N", "0", "layers of a net of Caffe: those for this level", false, true},
      {"stage", "NAME", "", "layers of a net of Caffe: those for this stage; may be repeated", true,
       true},
      {"dim", "NAME=N", "",
       "a dimension that a model of ONNX names, such as batch=8; may be repeated", true, true},
      {"opset-tolerant", "", "", "accept operators of opsets newer than the known ones", false,
       true},
  };
  return options;
}

const std::vector<Option>& InputOptions() {
  static const std::vector<Option> options = {
      {"input", "BLOB=VALUE", "",
       "FILE (.npy, .npz, TensorProto, image), d0,d1,... (random), or numbers: 320,320,0.625",
       true},
      {"image", "FILE|DIR", "", "image(s), or BLOB=IMAGE; may be repeated; -: stdin", true},
      {"image-list", "FILE", "", "text that names an image on each line", true, true},
      kCastOption,
      {"mean", "M[,M,M]", "0",
       "subtracted from each channel, in the net's order; or a .binaryproto or .npy file"},
      {"scale", "S[,S,S]", "1", "factor applied after the mean"},
      {"std", "S[,S,S]", "1", "divisor applied after the scale", false, true},
      {"bgr", "", "", "channel order blue, green, red"},
      {"grey", "", "", "one grey channel instead of three", false, true},
      {"resize", "N|WxH", "0", "shorter side in pixels, or both sides; 0: off"},
      {"crop", "N|WxH", "0", "side or sides of a crop at the centre; 0: off"},
      {"interpolation", "NAME", "linear",
       "of --resize, as OpenCV: nearest, linear, cubic, area; as Pillow: box, bilinear, hamming, "
       "bicubic, lanczos",
       false, true, InterpolationNames},
      {"seed", "N", "1", "seed of random inputs and, if given, of the nets", false, true},
  };
  return options;
}

const std::vector<Option>& ProcessOptions() {
  static const std::vector<Option> options = {
      {"threads", "N", "1", "threads per operator; for a folder, all CPUs"},
      {"memory-limit", "BYTES", "0",
       "limit for C++ objects and tensors, such as 512M; 0: half of the memory", false, true},
      {"module", "FILE.so", "", "module with operators; may be repeated", true, true},
  };
  return options;
}

namespace {

void ApplyTuning(const std::string& file) {
  if (LoadConvTuning(file) > 0 || PrefersPlainConvLayouts()) return;
  Warn(MakeString("file \"", file, "\" has no row for the instruction set of this machine, ",
                  IsaName(CpuIsa()), ", and has no effect"));
}

}  // namespace

void ApplyProcessOptions(const CommandLine& line) {
  if (line.Has("threads")) SetNumThreads(static_cast<int>(line.Integer("threads", 1, 1024)));
  if (line.Has("memory-limit")) {
    GlobalCPUMemoryOptions().limit_bytes = static_cast<size_t>(line.Bytes("memory-limit"));
  }
  if (line.Has("tuning")) ApplyTuning(line.Text("tuning"));
}

void LoadModules(const CommandLine& line) {
  for (const std::string& file : line.All("module")) LoadModule("", file);
}

}  // namespace caffe2rt
