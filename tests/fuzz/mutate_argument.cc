#include "tests/fuzz/mutate_argument.h"

#include <cmath>
#include <iterator>

#include "tests/fuzz/hostile_files.h"

namespace caffe2rt::test {
namespace {

float EdgeFloat(Random* random) {
  static const float kEdges[] = {0.f,    -1.f, 1.f,      0.5f,      1e-38f, 3e38f,
                                 -3e38f, NAN,  INFINITY, -INFINITY, 1e10f};
  return kEdges[random->Below(std::size(kEdges))];
}

}  // namespace

int64_t EdgeInt(Random* random) {
  static const int64_t kEdges[] = {-1,
                                   0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   255,
                                   256,
                                   65536,
                                   INT32_MAX,
                                   INT32_MIN,
                                   INT64_MAX,
                                   INT64_MIN,
                                   int64_t{1} << 31,
                                   int64_t{1} << 32,
                                   int64_t{1} << 62,
                                   -2,
                                   4,
                                   1000000};
  return random->OneIn(2) ? static_cast<int64_t>(random->Below(6))
                          : kEdges[random->Below(std::size(kEdges))];
}

std::string EdgeString(Random* random) {
  if (random->OneIn(4)) return HostilePath(random);
  static const char* const kEdges[] = {"",        "NCHW",     "NHWC",     "nchw",   "x",
                                       "reflect", "edge",     "constant", "minidb", "lmdb",
                                       "leveldb", "\xff\xfe", "float",    "CUDNN",  "NNPACK"};
  return kEdges[random->Below(std::size(kEdges))];
}

void FillArg(Random* random, Argument* arg) {
  switch (random->Below(8)) {
    case 0:
    case 1:
    case 2:
      arg->set_i(EdgeInt(random));
      break;
    case 3:
      arg->set_f(EdgeFloat(random));
      break;
    case 4:
      arg->set_s(EdgeString(random));
      break;
    case 5:
    case 6:
      for (uint64_t n = random->Below(6); n-- > 0;) arg->add_ints(EdgeInt(random));
      break;
    default:
      for (uint64_t n = random->Below(4); n-- > 0;) arg->add_floats(EdgeFloat(random));
  }
}

void MutateArg(Random* random, Argument* arg) {
  if (random->OneIn(6)) {
    const std::string name = arg->name();
    arg->Clear();
    arg->set_name(name);
    FillArg(random, arg);
  } else if (arg->ints_size() > 0) {
    const int at = static_cast<int>(random->Below(static_cast<uint64_t>(arg->ints_size())));
    if (random->OneIn(4)) {
      arg->add_ints(EdgeInt(random));
    } else if (random->OneIn(4)) {
      arg->mutable_ints()->RemoveLast();
    } else {
      arg->set_ints(at, EdgeInt(random));
    }
  } else if (arg->floats_size() > 0) {
    if (random->OneIn(2)) {
      arg->mutable_floats()->RemoveLast();
    } else {
      arg->set_floats(static_cast<int>(random->Below(static_cast<uint64_t>(arg->floats_size()))),
                      EdgeFloat(random));
    }
  } else if (arg->has_i()) {
    arg->set_i(EdgeInt(random));
  } else if (arg->has_f()) {
    arg->set_f(EdgeFloat(random));
  } else if (arg->has_s()) {
    arg->set_s(EdgeString(random));
  } else {
    FillArg(random, arg);
  }
}

}  // namespace caffe2rt::test
