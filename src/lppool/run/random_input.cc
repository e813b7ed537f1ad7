#include "lppool/run/random_input.h"

#include "lppool/base/error.h"
#include "lppool/tensor/convert.h"

namespace lppool {
namespace {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
class SplitMix64 {
 public:
  explicit SplitMix64(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace

Tensor random_tensor(DataType dtype, const Shape& shape, std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  SplitMix64 random(hash ^ (seed * 0x9e3779b97f4a7c15u));
  if (is_float(dtype)) {
    const DataType made = dtype == DataType::kFloat64 ? DataType::kFloat64 : DataType::kFloat32;
    Tensor tensor = Tensor::allocate(made, shape);
    const auto fill = [&](auto values) {
      for (auto& v : values) {
        const auto steps = static_cast<std::int64_t>(random.next() >> 40) - (std::int64_t{1} << 23);
        v = static_cast<std::remove_reference_t<decltype(v)>>(steps) / (1 << 23);
      }
    };
    if (made == DataType::kFloat64) fill(tensor.mutable_data<double>());
    else fill(tensor.mutable_data<float>());
    return convert(tensor, dtype);
  }
  if (!is_integer(dtype) && dtype != DataType::kBool) {
    fail(ErrorKind::kUnsupported, "no random contents for type {}, supported are floats, integers and bool", lppool::name(dtype));
  }
  Tensor tensor = Tensor::allocate(DataType::kInt64, shape);
  const std::uint64_t range = dtype == DataType::kBool || storage_bits(dtype) == 2 ? 2 : storage_bits(dtype) == 4 ? 8 : 10;
  for (auto& v : tensor.mutable_data<std::int64_t>()) v = static_cast<std::int64_t>(random.next() % range);
  return convert(tensor, dtype);
}

}  // namespace lppool
