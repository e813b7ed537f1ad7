#include "lppool/tensor/value_bytes.h"

namespace lppool {

std::size_t bytes_of(const Value& value) {
  if (value.is_tensor()) return value.tensor().bytes();
  std::size_t sum = 0;
  if (value.is_sequence()) {
    for (const Value& element : value.sequence().elements) sum += bytes_of(element);
  }
  return sum;
}

}  // namespace lppool
