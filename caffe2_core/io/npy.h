#pragma once
// NumPy's files: .npy (one array) and .npz (a zip archive of them).
//
//   Tensor t = ReadNpy("in__data.npy");
//   WriteNpy("out__prob.npy", t);
//   for (auto& [name, tensor] : ReadNpz("inputs.npz")) ...
//
// Element types: bool, (u)int 8 and 16, int32, int64, float16, float32, float64. uint32 and uint64
// become int64, where every value fits; complex numbers, strings, records and Python objects are
// refused with the reason (strings are written, not read). Fortran order and big-endian data are
// brought into ours. All sizes are checked against the bytes that are there before anything is
// allocated. Writing is atomic. Thread safe.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// A CPU tensor. THROWS, naming the file, when it is no such array.
Tensor ReadNpy(const std::string& path);
// The same for bytes in memory; `subject` stands for the file in errors.
Tensor ParseNpy(std::string_view bytes, const std::string& subject);

// The tensor's elements, copied from its device; strings as bytes of one width ("|S7"). THROWS for
// types that .npy has no name for.
void WriteNpy(const std::string& path, const Tensor& tensor);
std::string NpyBytes(const Tensor& tensor);

// The arrays in their order in the archive, by name without ".npy". Entries that are no .npy are an
// error. Stored and deflated entries are read. THROWS, before anything is unpacked, if entries
// overlap, or if they unpack to more than 64 MiB and more than 100 times the bytes of the file.
std::vector<std::pair<std::string, Tensor>> ReadNpz(const std::string& path);

}  // namespace caffe2rt
