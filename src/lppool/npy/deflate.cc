#include "lppool/npy/deflate.h"

#include <zlib.h>

#include <algorithm>
#include <new>

namespace lppool::npy {
namespace {

// zlib counts in 32 bits: larger buffers are handed to it in steps.
constexpr std::size_t kStep = std::size_t{1} << 30;
constexpr int kRaw = -MAX_WBITS;  // no zlib or gzip header

void give_input(z_stream& stream, std::string_view& rest) {
  if (stream.avail_in != 0 || rest.empty()) return;
  const std::size_t n = std::min(rest.size(), kStep);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
  stream.avail_in = static_cast<uInt>(n);
  rest.remove_prefix(n);
}

}  // namespace

bool inflate(std::string_view compressed, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, kRaw) != Z_OK) throw std::bad_alloc();
  std::size_t filled = 0;
  int result = Z_OK;
  std::byte spare{};  // where there is no room left, the end of the stream still has to be seen
  while (result == Z_OK) {
    give_input(stream, compressed);
    const bool full = filled == out.size();
    const std::size_t room = full ? 1 : std::min(out.size() - filled, kStep);
    stream.next_out = reinterpret_cast<Bytef*>(full ? &spare : out.data() + filled);
    stream.avail_out = static_cast<uInt>(room);
    result = ::inflate(&stream, Z_NO_FLUSH);
    const std::size_t produced = room - stream.avail_out;
    if (full && produced != 0) result = Z_DATA_ERROR;
    else filled += produced;
  }
  const bool all_read = stream.avail_in == 0 && compressed.empty();
  inflateEnd(&stream);
  return result == Z_STREAM_END && filled == out.size() && all_read;
}

std::string deflate(std::span<const std::string_view> pieces) {
  z_stream stream{};
  constexpr int kMemoryLevel = 8;  // zlib's default
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kRaw, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (std::size_t i = 0; i <= pieces.size(); ++i) {
    std::string_view rest = i < pieces.size() ? pieces[i] : std::string_view();
    const int flush = i < pieces.size() ? Z_NO_FLUSH : Z_FINISH;
    int result = Z_OK;
    do {
      give_input(stream, rest);
      stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
      stream.avail_out = static_cast<uInt>(buffer.size());
      result = ::deflate(&stream, flush);
      out.append(buffer, 0, buffer.size() - stream.avail_out);
    } while (flush == Z_FINISH ? result == Z_OK : stream.avail_in != 0 || !rest.empty());
  }
  deflateEnd(&stream);
  return out;
}

std::uint32_t crc32(std::uint32_t crc, std::string_view bytes) {
  return static_cast<std::uint32_t>(::crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace lppool::npy
