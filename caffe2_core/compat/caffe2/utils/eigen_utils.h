#pragma once
// Eigen's maps, Eigen/Dense, and functions that select elements of arrays. Empty unless Eigen
// (libeigen3-dev) is installed.
#include "caffe2_core/compat/caffe2rt_eigen/maps.h"

#ifdef CAFFE2RT_HAS_EIGEN
#if __has_include(<Eigen/Dense>)
#include <Eigen/Dense>
#else
#include <eigen3/Eigen/Dense>
#endif
#include <vector>

#include "caffe2/core/logging.h"

namespace caffe2::utils {

// A view of the elements of a vector.
template <class T>
Eigen::Map<const EArrXt<T>> AsEArrXt(const std::vector<T>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}
template <class T>
Eigen::Map<EArrXt<T>> AsEArrXt(std::vector<T>& values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// The elements of a column at `indices`. THROWS if an index is out of range.
template <class Array, class Indices, class Result>
void GetSubArray(const Eigen::ArrayBase<Array>& array, const Eigen::ArrayBase<Indices>& indices,
                 Eigen::ArrayBase<Result>* result) {
  CAFFE_ENFORCE_EQ(array.cols(), 1, "columns of the array");
  result->derived().resize(indices.size());
  for (Eigen::Index i = 0; i < indices.size(); ++i) {
    CAFFE_ENFORCE(indices[i] >= 0 && indices[i] < array.size(), "index ", indices[i],
                  " of an array of ", array.size(), " elements");
    (*result)[i] = array[indices[i]];
  }
}
template <class Array, class Indices>
EArrXt<typename Array::Scalar> GetSubArray(const Eigen::ArrayBase<Array>& array,
                                           const Eigen::ArrayBase<Indices>& indices) {
  EArrXt<typename Array::Scalar> result;
  GetSubArray(array, indices, &result);
  return result;
}
template <class Array>
EArrXt<typename Array::Scalar> GetSubArray(const Eigen::ArrayBase<Array>& array,
                                           const std::vector<int>& indices) {
  return GetSubArray(array, AsEArrXt(indices));
}

// The rows of an array at `indices`. THROWS if an index is out of range.
template <class Array, class Indices, class Result>
void GetSubArrayRows(const Eigen::ArrayBase<Array>& array, const Eigen::ArrayBase<Indices>& indices,
                     Eigen::ArrayBase<Result>* result) {
  result->derived().resize(indices.size(), array.cols());
  for (Eigen::Index i = 0; i < indices.size(); ++i) {
    CAFFE_ENFORCE(indices[i] >= 0 && indices[i] < array.rows(), "index ", indices[i],
                  " of an array of ", array.rows(), " rows");
    result->row(i) = array.row(indices[i]).template cast<typename Result::Scalar>();
  }
}

// The indices of the elements that are not zero.
template <class Array>
std::vector<int> GetArrayIndices(const Eigen::ArrayBase<Array>& array) {
  std::vector<int> indices;
  for (Eigen::Index i = 0; i < array.size(); ++i)
    if (array[i]) indices.push_back(static_cast<int>(i));
  return indices;
}

}  // namespace caffe2::utils
#endif
