// Reads a SARIF file from standard input and says what is wrong with it. The rules are those of the SARIF 2.1.0 schema for
// the objects that `check` writes: which members exist, of which type, which are required; every object but a property bag
// is closed. Indices must point where ids say. Exit code 1 where anything is wrong.
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

// "string", "bool", "index" (an integer, 0 or more), "line" (1 or more), "=a|b" (one of these strings), "Object" (described
// below), "[Object]" (an array of it).
struct Member {
  const char* name;
  const char* type;
  bool required = false;
};

const std::map<std::string, std::vector<Member>> kObjects = {
    {"Log", {{"$schema", "string"}, {"version", "=2.1.0", true}, {"runs", "[Run]", true}}},
    {"Run",
     {{"tool", "Tool", true},
      {"columnKind", "=utf16CodeUnits|unicodeCodePoints"},
      {"invocations", "[Invocation]"},
      {"artifacts", "[Artifact]"},
      {"results", "[Result]"}}},
    {"Tool", {{"driver", "ToolComponent", true}}},
    {"ToolComponent", {{"name", "string", true}, {"version", "string"}, {"rules", "[ReportingDescriptor]"}}},
    {"ReportingDescriptor",
     {{"id", "string", true},
      {"shortDescription", "MultiformatMessageString"},
      {"fullDescription", "MultiformatMessageString"},
      {"help", "MultiformatMessageString"},
      {"defaultConfiguration", "ReportingConfiguration"}}},
    {"MultiformatMessageString", {{"text", "string", true}, {"markdown", "string"}}},
    {"ReportingConfiguration", {{"level", "=none|note|warning|error"}}},
    {"Invocation", {{"executionSuccessful", "bool", true}}},
    {"Artifact", {{"location", "ArtifactLocation"}}},
    {"ArtifactLocation", {{"uri", "string"}, {"index", "index"}}},
    {"Result",
     {{"ruleId", "string"},
      {"ruleIndex", "index"},
      {"level", "=none|note|warning|error"},
      {"message", "Message", true},
      {"locations", "[Location]"},
      {"properties", "bag"}}},
    {"Message", {{"text", "string", true}}},
    {"Location", {{"physicalLocation", "PhysicalLocation"}, {"logicalLocations", "[LogicalLocation]"}}},
    {"PhysicalLocation", {{"artifactLocation", "ArtifactLocation", true}, {"region", "Region"}}},
    {"Region", {{"startLine", "line"}}},
    {"LogicalLocation", {{"name", "string"}, {"fullyQualifiedName", "string"}}},
};

class Validator {
 public:
  int problems = 0;

  void check(const std::string& where, const Json& value, const std::string& type) {
    if (type == "string") return expect(value.is_string(), where, "a string");
    if (type == "bool") return expect(value.is_boolean(), where, "true or false");
    if (type == "bag") return expect(value.is_object(), where, "an object");
    if (type == "index") return expect(value.is_number_integer() && value >= 0, where, "an integer of 0 or more");
    if (type == "line") return expect(value.is_number_integer() && value >= 1, where, "an integer of 1 or more");
    if (type[0] == '=') {
      const std::string words = "|" + type.substr(1) + "|";
      return expect(value.is_string() && words.find("|" + value.get<std::string>() + "|") != std::string::npos, where,
                    "one of " + type.substr(1));
    }
    if (type[0] == '[') {
      expect(value.is_array(), where, "an array");
      for (std::size_t i = 0; value.is_array() && i < value.size(); ++i) {
        check(where + "/" + std::to_string(i), value[i], type.substr(1, type.size() - 2));
      }
      return;
    }
    expect(value.is_object(), where, "an object");
    if (value.is_object()) object(where, value, kObjects.at(type));
  }

  void references(const Json& run) {
    const Json& rules = run["tool"]["driver"]["rules"];
    for (const Json& result : run["results"]) {
      const auto rule = result["ruleIndex"].get<std::size_t>();
      expect(rule < rules.size() && rules[rule]["id"] == result["ruleId"], "ruleIndex", "the rule of ruleId");
      for (const Json& location : result["locations"]) {
        const Json& artifact = location["physicalLocation"]["artifactLocation"];
        const auto index = artifact["index"].get<std::size_t>();
        expect(index < run["artifacts"].size() && run["artifacts"][index]["location"]["uri"] == artifact["uri"],
               "artifactLocation/index", "the artifact of uri");
      }
    }
  }

 private:
  void object(const std::string& where, const Json& value, const std::vector<Member>& members) {
    for (const auto& [name, part] : value.items()) {
      const Member* known = nullptr;
      for (const Member& member : members) {
        if (name == member.name) known = &member;
      }
      expect(known != nullptr, where + "/" + name, "no such member");
      if (known != nullptr) check(where + "/" + name, part, known->type);
    }
    for (const Member& member : members) {
      expect(!member.required || value.contains(member.name), where, std::string("a member ") + member.name);
    }
  }

  void expect(bool holds, const std::string& where, const std::string& what) {
    if (holds) return;
    ++problems;
    std::cout << where << ": expected " << what << "\n";
  }
};

}  // namespace

int main() {
  const Json log = Json::parse(std::cin);
  Validator validator;
  validator.check("", log, "Log");
  if (validator.problems == 0) {
    for (const Json& run : log["runs"]) validator.references(run);
  }
  std::cout << (validator.problems == 0 ? "valid SARIF 2.1.0\n" : "not valid\n");
  return validator.problems == 0 ? 0 : 1;
}
