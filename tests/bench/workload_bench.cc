// Times one workload directory (meta.json, x.npy) of the peer comparison; see README.md. Prints one JSON object, in the
// form the peers' own drivers use:
//   workload_bench --dir DIR [--threads N] [--seconds S] [--min-iters N] [--max-iters N] [--out FILE]
// --out writes the raw bytes of the result.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "lppool/kernels/lp_pool.h"

namespace {

using lppool::ThreadPool;
using namespace lppool::kernels;

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "%s: cannot be read\n", path.c_str());
    std::exit(3);
  }
  return {std::istreambuf_iterator<char>(in), {}};
}

// The text after `"key":` in a JSON object that holds the key once, and the numbers in an array there.
std::string value_of(const std::string& json, const std::string& key) {
  const std::size_t at = json.find("\"" + key + "\":");
  return at == std::string::npos ? "" : json.substr(json.find_first_not_of(' ', at + key.size() + 3));
}
std::vector<std::int64_t> numbers_of(const std::string& json, const std::string& key) {
  const std::string text = value_of(json, key);
  std::vector<std::int64_t> numbers;
  if (text.empty()) return numbers;
  for (const char* p = text.c_str() + 1; *p != ']';) {
    char* end;
    numbers.push_back(std::strtoll(p, &end, 10));
    p = *end == ',' ? end + 1 : end;
  }
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  const auto option = [&](const char* name, const char* fallback) -> std::string {
    for (int i = 1; i + 1 < argc; ++i) {
      if (std::strcmp(argv[i], name) == 0) return argv[i + 1];
    }
    return fallback;
  };
  const std::string dir = option("--dir", ".");
  const int threads = std::atoi(option("--threads", "1").c_str());
  const double seconds = std::atof(option("--seconds", "1").c_str());
  const auto min_iters = static_cast<std::size_t>(std::atoi(option("--min-iters", "3").c_str()));
  const auto max_iters = static_cast<std::size_t>(std::atoi(option("--max-iters", "2000").c_str()));

  const std::string meta = read_file(dir + "/meta.json");
  const std::string npy = read_file(dir + "/x.npy");
  const auto header =
      static_cast<std::size_t>(static_cast<unsigned char>(npy[8]) | static_cast<unsigned char>(npy[9]) << 8);
  // Aligned to cache lines, as the tensors of the program and of its peers are.
  const auto aligned = [](std::vector<char>& bytes, std::size_t size) {
    bytes.assign(size + 63, 0);
    return bytes.data() + (64 - reinterpret_cast<std::uintptr_t>(bytes.data()) % 64) % 64;
  };
  std::vector<char> x_bytes, y_bytes;
  char* const x = aligned(x_bytes, npy.size() - 10 - header);
  std::copy(npy.begin() + static_cast<std::ptrdiff_t>(10 + header), npy.end(), x);

  const std::string dtype = value_of(meta, "dtype").substr(1, 3);
  const ElementType type = dtype == "f64"   ? ElementType::kFloat64
                           : dtype == "f16" ? ElementType::kFloat16
                                            : ElementType::kFloat32;
  const bool global = value_of(meta, "op").rfind("\"Global", 0) == 0;
  const std::vector<std::int64_t> shape = numbers_of(meta, "shape"), out = numbers_of(meta, "out");
  const std::vector<std::int64_t> kernel = numbers_of(meta, "kernel_shape"), strides = numbers_of(meta, "strides"),
                                  pads = numbers_of(meta, "pads"), dilations = numbers_of(meta, "dilations");
  const std::string power = value_of(meta, "p");
  const LpNorm norm = power.empty() ? LpNorm{} : LpNorm::of(std::atof(power.c_str()));
  if (value_of(meta, "op").rfind("\"chain", 0) == 0) {
    std::printf("{\"ok\": false, \"error\": \"a graph, not a kernel\"}\n");
    return 0;
  }
  std::int64_t size = 1;
  for (const std::int64_t n : out) size *= n;
  const std::int64_t y_size = size * element_size(type);
  char* const y = aligned(y_bytes, static_cast<std::size_t>(y_size));
  PoolGeometry geometry{shape[0] * shape[1], {}};
  std::int64_t plane = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    plane *= shape[i + 2];
    if (global) continue;
    geometry.axes.push_back({shape[i + 2], out[i + 2], kernel[i], strides.empty() ? 1 : strides[i],
                             dilations.empty() ? 1 : dilations[i], pads.empty() ? 0 : pads[i]});
  }

  ThreadPool pool(threads);
  const auto run = [&] {
    if (global) {
      global_lp_pool(type, x, y, geometry.planes, plane, norm, pool);
    } else {
      lp_pool(type, x, y, geometry, norm, pool);
    }
  };
  using Clock = std::chrono::steady_clock;
  const auto ms = [](Clock::duration t) { return std::chrono::duration<double, std::milli>(t).count(); };
  const auto start = Clock::now();
  run();
  const double first = ms(Clock::now() - start);
  std::vector<double> times;
  double cpu = 1e300;  // of this process, for the quickest run: what is left of a busy machine's noise
  const auto begin = Clock::now();
  while (times.size() < min_iters || (ms(Clock::now() - begin) < seconds * 1e3 && times.size() < max_iters)) {
    const auto t = Clock::now();
    const std::clock_t c = std::clock();
    run();
    cpu = std::min(cpu, static_cast<double>(std::clock() - c) * 1e3 / CLOCKS_PER_SEC);
    times.push_back(ms(Clock::now() - t));
  }
  std::sort(times.begin(), times.end());
  const std::string file = option("--out", "");
  if (!file.empty()) std::ofstream(file, std::ios::binary).write(y, static_cast<std::streamsize>(y_size));
  std::printf(
      "{\"peer\": \"lppool\", \"isa\": \"%s\", \"threads\": %d, \"ok\": true, \"iters\": %zu, \"first_ms\": %.5f, "
      "\"min_ms\": %.5f, \"min_cpu_ms\": %.5f, \"median_ms\": %.5f, \"shape_ok\": true}\n",
      std::string(selected_isa()).c_str(), threads, times.size(), first, times.front(), cpu, times[times.size() / 2]);
  return 0;
}
