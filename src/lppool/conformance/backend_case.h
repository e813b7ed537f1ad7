#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lppool/tensor/value.h"

// ONNX backend test folders: model.onnx beside test_data_set_N/ with input_K.pb and output_K.pb.
namespace lppool {

struct Model;

// Whether a result may stand for the expected one: |got - want| <= atol + rtol * |want|, NaN equal to NaN, infinities and
// strings exactly; or, with ulp, at most that many representable values apart instead.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-7;  // of ONNX's own runner
  std::optional<std::uint64_t> ulp;
};

// Where `got` first fails to match `want`, and where it is farthest from it, as a sentence with coordinates and both values; empty where it matches.
std::string mismatch(const Value& got, const Value& want, const Tolerance& tolerance);

enum class CaseStatus { kPassed, kFailed, kSkipped };

struct CaseResult {
  std::string name;                 // the folder's name
  std::filesystem::path path;
  CaseStatus status = CaseStatus::kFailed;
  double seconds = 0;
  std::string message;              // why it failed or was skipped
};

struct CaseOptions {
  std::optional<double> rtol, atol;  // stronger than the case's own tolerance file
  std::optional<std::uint64_t> ulp;
  int threads = 1;
};

// All test folders below `root`, itself included, sorted by path. Throws kIo where `root` does not exist.
std::vector<std::filesystem::path> find_cases(const std::filesystem::path& root);

// Runs all data sets of one case. Never throws but for kInterrupted: whatever goes wrong is the result. An operator, opset
// or type that is not supported gives kSkipped, and so do values that differ where the model draws random numbers. A file tolerance.json ({"rtol": 1e-5, "atol": 0, "ulp": 1}) in the folder
// replaces the default tolerance. Safe to call from several threads.
CaseResult run_case(const std::filesystem::path& path, const CaseOptions& options);

// The inputs of one data set by graph input name: input_K.pb belongs to the input of the tensor's name or, where the file
// gives none that the graph has, to the Kth input (onnx#679). Files are taken by number. Throws kIo, kParse.

std::map<std::string, Value> read_data_set_inputs(const std::filesystem::path& folder, const Model& model);

}  // namespace lppool
